package format

import (
	"math"
	"testing"
	"time"
)

func TestDateRange(t *testing.T) {
	origin := time.Date(2023, 1, 1, 0, 0, 0, 0, time.UTC)
	day := func(y int, m time.Month, d int) float64 {
		return time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Sub(origin).Hours() / 24
	}
	for text, want := range map[string][2]float64{
		"2023":                      {0, 365},
		"2024-02":                   {day(2024, 2, 1), day(2024, 3, 1)}, // a leap year
		"2023-03 .. 2023-05-10":     {day(2023, 3, 1), day(2023, 5, 11)},
		" 2023-03-02 to 2023-03-03": {day(2023, 3, 2), day(2023, 3, 4)},
		"2023-03-02 06":             {day(2023, 3, 2) + 0.25, day(2023, 3, 2) + 7.0/24},
		"2023-03-02T06:30..":        {day(2023, 3, 2) + 6.5/24, math.Inf(1)},
		".. 2022-12-31":             {math.Inf(-1), 0},
		"…2022":                     {math.Inf(-1), 0},
	} {
		lo, hi, err := DateRange(text, origin, 86400)
		if err != nil || lo != want[0] && !(math.Abs(lo-want[0]) < 1e-9) || hi != want[1] && !(math.Abs(hi-want[1]) < 1e-9) {
			t.Errorf("%q is %v to %v, want %v (%v)", text, lo, hi, want, err)
		}
	}
	for _, text := range []string{"yesterday", "2023-13", "2023-02-30", "2023 .. soon", "12"} {
		if lo, hi, err := DateRange(text, origin, 1); err == nil {
			t.Errorf("%q is %v to %v", text, lo, hi)
		}
	}
}

func TestRange(t *testing.T) {
	for text, want := range map[string][2]float64{"1.5 .. 3": {1.5, 3}, "−2 to 1e3": {-2, 1000}, "4..": {4, math.Inf(1)}} {
		if lo, hi, err := Range(text); err != nil || lo != want[0] || hi != want[1] {
			t.Errorf("%q is %v to %v, want %v (%v)", text, lo, hi, want, err)
		}
	}
	if _, _, err := Range("a .. b"); err == nil {
		t.Error("letters are a range")
	}
	if lo, hi, err := Within(math.Inf(-1), 3, 0, 10); err != nil || lo != 0 || hi != 3 {
		t.Errorf("%v to %v, %v", lo, hi, err)
	}
	for _, c := range [][2]float64{{3, 3}, {4, 2}, {11, 12}, {-5, -1}} {
		if _, _, err := Within(c[0], c[1], 0, 10); err == nil {
			t.Errorf("%v can be shown", c)
		}
	}
}

// A variance per second² over some years is one per year², 31556952² times as much.
func TestPerTime(t *testing.T) {
	for _, c := range []struct {
		unit, of      string
		seconds, span float64
		size          float64
		want          string
	}{
		{"1/s²", "s", 1, 3 * aYear, 31556952.0 * 31556952, "1/year²"},
		{"K/s", "s", 1, 30 * aDay, 86400, "K/day"},
		{"1/h²", "h", 3600, 24, 1, ""}, // hours are what people measure a day in
		{"1/min²", "min", 60, 1440, 3600, "1/hour²"},
		{"K²", "s", 1, aYear, 1, ""},
		{"1/m²", "s", 1, aYear, 1, ""},
	} {
		size, unit, ok := PerTime(c.unit, c.of, c.seconds, c.span)
		if ok != (c.want != "") || ok && (unit != c.want || math.Abs(size/c.size-1) > 1e-9) {
			t.Errorf("%s over %v %s: times %v, %q, %v; want %v, %q", c.unit, c.span, c.of, size, unit, ok, c.size, c.want)
		}
	}
}

func TestWhole(t *testing.T) {
	for v, want := range map[float64]string{604823: "604820", -123456789: "−123460000", 12.3456: "12.346", 1e9: "", 0.5: ""} {
		if got := Whole(v); got != want {
			t.Errorf("%v is %q, want %q", v, got, want)
		}
	}
}

// Six digits and more stand as they are; powers of ten are for what is very large or small.
func TestDigits(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 12345.6: "12346", 202941.3: "202940", -1234567: "−1234600", 1e9: "1e+09",
		1.40941e-5: "1.4094e−05", math.Inf(1): "+Inf"} {
		if got := Digits(v); got != want {
			t.Errorf("%v is %q, want %q", v, got, want)
		}
	}
}
