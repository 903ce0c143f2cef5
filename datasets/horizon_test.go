package datasets

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/kestrel/internal/must"
)

// seriesOf loads a table of one column of times, one row a line.
func seriesOf(t *testing.T, name string, rows []string, set func(*Spec)) *Dataset {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "%s,y\n", name)
	for i, r := range rows {
		fmt.Fprintf(&b, "%s,%d\n", r, i*i%7)
	}
	path := filepath.Join(t.TempDir(), "series.csv")
	must.OK(t, os.WriteFile(path, []byte(b.String()), 0o600))
	spec := Spec{Source: "csv", Path: path, TestFraction: 0.1}
	if set != nil {
		set(&spec)
	}
	d, err := Load(t.Context(), spec)
	must.OK(t, err)
	return d
}

// ahead is what comes beyond the last row, as it is written.
func ahead(t *testing.T, d *Dataset, horizon string) []string {
	t.Helper()
	h, err := ParseHorizon(horizon)
	must.OK(t, err)
	p, err := d.Beyond(h)
	must.OK(t, err)
	var out []string
	for i, v := range p.X {
		if p.Rows[i] != int32(i) {
			t.Errorf("row %d is called %d", i, p.Rows[i])
		}
		out = append(out, strings.TrimSuffix(d.Inputs[0].Format(v), "T00:00:00Z"))
	}
	return out
}

// dates are so many dates, a number of months apart, whose day of the month is the
// given one or the last one before it.
func dates(year, month, day, each, count int) (out []string) {
	for i := range count {
		first := time.Date(year, time.Month(month+i*each), 1, 0, 0, 0, 0, time.UTC)
		last := first.AddDate(0, 1, -1).Day() // by other means than Beyond's
		out = append(out, first.AddDate(0, 0, min(day, last)-1).Format(time.DateOnly))
	}
	return out
}

// Months, quarters and years go on by the calendar: what comes beyond a part of a
// series is its rest, over leap years.
func TestBeyondByTheCalendar(t *testing.T) {
	for _, c := range []struct{ month, day, each int }{
		{1, 1, 1}, {1, 31, 1}, {4, 30, 1}, {3, 15, 1}, {1, 1, 3}, {3, 31, 3}, {2, 28, 3}, {1, 31, 6}, {1, 1, 12}, {2, 28, 12}, {2, 31, 12},
	} {
		all := dates(2014, c.month, c.day, c.each, 60)
		for _, known := range []int{12, 13, 14, 23, 24, 30} {
			d := seriesOf(t, "date", all[:known], nil)
			if got, want := ahead(t, d, "20"), all[known:known+20]; !slices.Equal(got, want) {
				t.Errorf("%+v after %s: %v, want %v", c, all[known-1], got, want)
			}
		}
	}
	// January's last day to February's, of this year and of a leap year.
	d := seriesOf(t, "date", dates(2022, 1, 31, 1, 13), nil)
	if got := ahead(t, d, "3"); !slices.Equal(got, []string{"2023-02-28", "2023-03-31", "2023-04-30"}) {
		t.Error(got)
	}
	d = seriesOf(t, "date", dates(2023, 1, 30, 1, 13), nil) // the 30th is no month's end
	if got := ahead(t, d, "3"); !slices.Equal(got, []string{"2024-02-29", "2024-03-30", "2024-04-30"}) {
		t.Error(got)
	}
	// Other steps are equal, though they are as long as months.
	var fours []string
	for i := range 20 {
		fours = append(fours, time.Date(2023, 1, 2+28*i, 6, 30, 0, 0, time.UTC).Format("2006-01-02 15:04"))
	}
	if got := ahead(t, seriesOf(t, "date", fours, nil), "2"); !slices.Equal(got, []string{"2024-07-15T06:30:00Z", "2024-08-12T06:30:00Z"}) {
		t.Error(got)
	}
}

// A gap in the middle and rows out of order change nothing, and the last row is that
// of all rows, whether held out or not.
func TestBeyondTheLastRow(t *testing.T) {
	all := dates(2020, 1, 31, 1, 40)
	rows := append(slices.Clone(all[20:30]), all[:16]...)
	d := seriesOf(t, "date", rows, nil)
	if len(d.Test) == 0 {
		t.Fatal("no row is held out")
	}
	if got := ahead(t, d, "10"); !slices.Equal(got, all[30:]) {
		t.Error(got)
	}
}

// A length of time holds as many steps as there are up to its end.
func TestBeyondForATime(t *testing.T) {
	stamps := func(step time.Duration, n int) (out []string) {
		for i := range n {
			out = append(out, time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(i)*step).Format("2006-01-02 15:04:05"))
		}
		return out
	}
	numbers := func(from, step float64, digits, n int) (out []string) {
		for i := range n {
			out = append(out, fmt.Sprintf("%.*f", digits, from+float64(i)*step))
		}
		return out
	}
	hour := time.Hour
	for _, c := range []struct {
		name, horizon string
		rows          []string
		want          int
		last          string
	}{
		{"t", "12h", stamps(hour, 50), 12, "2024-01-03T13:00:00Z"},
		{"t", "2w", stamps(24*hour, 31), 14, "2024-02-14"},
		{"t", "90d", stamps(24*hour, 31), 90, "2024-04-30"},
		{"t", "1mo", stamps(24*hour, 31), 29, "2024-02-29"}, // from January 31
		{"t", "1y", stamps(7*24*hour, 30), 52, "2025-07-21"},
		{"t", "90min", stamps(hour/2, 50), 3, "2024-01-02T02:00:00Z"},
		{"t", "45s", stamps(10*time.Second, 50), 4, "2024-01-01T00:08:50Z"},
		{"t", "6mo", dates(2020, 1, 31, 1, 25), 6, "2022-07-31"},
		{"t", "1y", dates(2020, 1, 31, 1, 25), 12, "2023-01-31"},
		{"t", "2y", dates(2020, 3, 31, 3, 25), 8, "2028-03-31"},
		{"t", "3q", dates(2020, 3, 31, 3, 25), 3, "2026-12-31"},
		{"t", "90d", dates(2020, 1, 31, 1, 25), 3, "2022-04-30"},
		{"year", "1y", numbers(1949, 1./12, 3, 144), 12, "1961.917"},
		{"x", "6mo", numbers(1949, 1./12, 3, 144), 6, "1961.417"},
		{"year", "5y", numbers(1950, 1, 0, 40), 5, "1994"},
		{"month", "1y", numbers(1, 1, 0, 40), 12, "52"},
		{"day", "2w", numbers(0, 0.5, 1, 40), 28, "33.5"},
		{"hour", "1d", numbers(0, 0.1, 1, 99), 240, "33.8"},
	} {
		d := seriesOf(t, c.name, c.rows, func(s *Spec) { s.Time = "yes" })
		got := ahead(t, d, c.horizon)
		if len(got) != c.want || got[len(got)-1] != c.last {
			t.Errorf("%s, %s after %s: %d up to %s, want %d up to %s",
				c.name, c.horizon, c.rows[len(c.rows)-1], len(got), got[len(got)-1], c.want, c.last)
		}
		if again := ahead(t, d, fmt.Sprint(len(got))); !slices.Equal(got, again) {
			t.Errorf("%s: %v, in steps %v", c.horizon, got, again)
		}
	}
}

// Dates with weekends between them go on as dates, a day each.
func TestBeyondIsOnTheGrid(t *testing.T) {
	start := time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC)
	var rows []string
	for i := range 400 { // of weekdays
		if d := start.AddDate(0, 0, i); d.Weekday() != time.Saturday && d.Weekday() != time.Sunday {
			rows = append(rows, d.Format(time.DateOnly))
		}
	}
	for i, s := range ahead(t, seriesOf(t, "date", rows, nil), "40") {
		if want := start.AddDate(0, 0, 400+i).Format(time.DateOnly); s != want {
			t.Errorf("step %d: %s, want %s", i+1, s, want)
		}
	}
}

func TestNothingBeyond(t *testing.T) {
	for text, want := range map[string]string{
		"": "neither", "0": "neither", "-3": "neither", "1.5y": "neither", "d": "neither", "3m": "units s, min, h, d, w, mo, q, y",
		"3 parsecs": "neither", "10000000": "at most 1000000", "99999999999999999999": "neither",
	} {
		if _, err := ParseHorizon(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if h, err := ParseHorizon(" 12 h "); err != nil || h.String() != "12h" {
		t.Error(h, err)
	}
	plain := seriesOf(t, "x", []string{"1", "5", "2", "9", "4", "7", "3", "8", "6", "10", "12"}, nil)
	daily := seriesOf(t, "t", dates(2020, 1, 1, 1, 30), nil)
	depth := seriesOf(t, "depth", []string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11"}, func(s *Spec) { s.Time = "yes" })
	for _, c := range []struct {
		d             *Dataset
		horizon, want string
	}{
		{plain, "3", `series.csv is not known to be a series in time, which could be continued; run it with data.time = "yes" if it is one`},
		{&Dataset{Path: "hall.csv", Inputs: []Column{{Name: "weather"}, {Name: "date", Time: true}, {Name: "rain"}}, Dim: 3}, "3",
			"hall.csv is not known to be a series in time, which could be continued; if it is one, run it with one input only: " +
				`--set data.time=yes --set data.inputs=date, which leaves out "weather", "rain"; or predict --data with a table of ` +
				`"weather", "date", "rain"`},
		{daily, "12h", "series.csv: 12h is less than a step, which is 30.4 days; count steps"},
		{daily, "9000y", "series.csv: 9000y goes beyond the year 9999"},
		{daily, "900000y", "series.csv: 900000y is more than 1000000 steps"},
		{depth, "3d", `series.csv: the unit of "depth" is not known; count steps, for example 18`},
	} {
		h, err := ParseHorizon(c.horizon)
		must.OK(t, err)
		if _, err := c.d.Beyond(h); err == nil || !strings.HasPrefix(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", c.horizon, err)
		}
	}
}
