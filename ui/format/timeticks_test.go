package format

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
)

func TestDateTicks(t *testing.T) {
	origin := time.Date(2020, 2, 28, 18, 0, 0, 0, time.UTC)
	at := func(v float64) time.Time { return origin.Add(time.Duration(v * 24 * float64(time.Hour))) }
	for _, c := range []struct {
		lo, hi float64
		most   int
		want   string
	}{
		{0, 0.5, 5, "18:00 21:00 02-29 03:00 06:00"}, // over midnight
		{0, 3, 5, "2020-02-29 03-01 03-02"},
		{0, 30, 5, "2020-03-05 03-12 03-19 03-26"}, // weeks, all on one day of them
		{0, 100, 4, "2020-03 2020-04 2020-05 2020-06"},
		{0, 1500, 5, "2021 2022 2023 2024"},
		{-100, 30, 10, "2019-11-28 12-12 12-26 2020-01-09 01-23 02-06 02-20 03-05 03-19"}, // 14 days from 1970-01-01 on
		{0, 0, 5, ""},
	} {
		ticks := DateTicks(origin, 86400, c.lo, c.hi, c.most)
		var got []string
		for _, k := range ticks {
			got = append(got, k.Text)
			if k.At < c.lo || k.At > c.hi {
				t.Errorf("tick %v outside %v … %v", k, c.lo, c.hi)
			}
			// A tick is where its text says, as far as that goes.
			text := at(k.At).Round(time.Millisecond).Format("2006-01-02 15:04")
			if k.Text != text[11:] && !strings.Contains(text, k.Text) {
				t.Errorf("tick %q stands at %s", k.Text, text)
			}
		}
		if s := strings.Join(got, " "); c.want != s {
			t.Errorf("%v … %v: %s, want %s", c.lo, c.hi, s, c.want)
		}
	}
	for _, c := range [][2]float64{{0, 0}, {1, 0}, {0, math.Inf(1)}, {math.NaN(), 1}, {0, 1e300}, {-1e12, 1e12}} {
		if ticks := DateTicks(origin, 1, c[0], c[1], 5); len(ticks) > 6 {
			t.Errorf("%v: %d ticks", c, len(ticks))
		}
	}
}

func TestLagTicks(t *testing.T) {
	var got []string
	for _, k := range LagTicks(3600, 0, 50, 5) { // hours
		got = append(got, fmt.Sprint(k.At, "=", k.Text))
	}
	if s := strings.Join(got, ", "); s != "0=0, 12=12 h, 24=24 h, 36=36 h, 48=48 h" {
		t.Errorf("got %s", s)
	}
}
