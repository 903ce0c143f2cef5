package datasets

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/kestrel/internal/must"
)

// civil counts days, hours and days of the week from 1970-01-01, a Thursday, 0:00 UTC
// without package time: by the rule of leap years alone.
func civil(hours int) (yearday, weekday, year int) {
	days := hours / 24
	weekday = (days+3)%7 + 1
	for year = 1970; ; year++ {
		long := 365
		if year%4 == 0 && year%100 != 0 || year%400 == 0 {
			long++
		}
		if days < long {
			return days + 1, weekday, year
		}
		days -= long
	}
}

// Hour, day of the week and of the year are those of a count by hand, and in Zürich an
// hour later, two from the last Sunday of March to that of October, 1:00 UTC.
func TestCalendarColumns(t *testing.T) {
	var rows []string
	from := time.Date(2023, 12, 30, 0, 0, 0, 0, time.UTC)
	for i := range 24 * 400 {
		rows = append(rows, from.Add(time.Duration(i)*time.Hour).Format("2006-01-02 15:04Z"))
	}
	for _, zone := range []string{"", "Europe/Zurich"} {
		d := seriesOf(t, "at", rows, func(s *Spec) { s.Calendar, s.Zone = CalendarNames(), zone })
		if d.Dim != 4 || !slices.Equal(d.Calendar(), CalendarNames()) || d.Series == nil || d.SplitBy != "x" {
			t.Fatalf("%d inputs, made %q, series %v, split by %s", d.Dim, d.Calendar(), d.Series, d.SplitBy)
		}
		for i := range rows {
			at := int(from.Unix()/3600) + i
			if zone != "" {
				yearday, _, year := civil(at)
				at++
				// 2024-03-31 is day 91, 2024-10-27 day 301.
				if since := yearday*24 + (at-1)%24; year == 2024 && since >= 91*24+1 && since < 301*24+1 {
					at++
				}
			}
			yearday, weekday, _ := civil(at)
			want := []float64{d.Row(i)[0], float64(at % 24), float64(weekday), float64(yearday)}
			if !equalFloats(d.Row(i), want) {
				t.Fatalf("%s in %q: %v, want %v", rows[i], zone, d.Row(i), want)
			}
		}
	}
	d := seriesOf(t, "at", []string{"2024-01-01T06:45:36", "2024-01-01T12:45:36", "2024-01-01T18:45:36"},
		func(s *Spec) { s.Calendar = []string{"hour"} })
	if got := d.Row(1)[1]; math.Abs(got-12.76) > 1e-12 {
		t.Errorf("12:45:36 is hour %v", got)
	}
}

const feastDays = "\xef\xbb\xbfday;name\n2024-01-03;a feast\n\n# by decree\n\"07.01.2024\"\r\n"

// What is known of the future is the same at a row of the data, of a table of points, of
// a window and beyond the end.
func TestCalendarIsTheSameEverywhere(t *testing.T) {
	days := func(from, n int) (out []string) {
		for i := range n {
			out = append(out, time.Date(2024, 1, from+i, 0, 0, 0, 0, time.UTC).Format("2006-01-02"))
		}
		return out
	}
	spec := func(s *Spec) {
		s.Calendar, s.Holidays, s.TestFraction = []string{"weekday"}, writeFile(t, "days.csv", feastDays), 0.2
	}
	d := seriesOf(t, "day", days(1, 20), spec)
	long := seriesOf(t, "day", days(1, 30), spec)
	if got := d.Calendar(); !slices.Equal(got, []string{"weekday", "holiday"}) {
		t.Fatalf("%q", got)
	}
	for i := range d.N() {
		if want := i == 2 || i == 6; (d.Row(i)[2] == 1) != want || d.Row(i)[1] != float64(i%7+1) {
			t.Errorf("day %d: %v", i+1, d.Row(i))
		}
	}
	h, err := ParseHorizon("10")
	must.OK(t, err)
	p, err := d.Beyond(h)
	must.OK(t, err)
	if p.Dim != 3 || !equalFloats(p.X, long.X[60:]) {
		t.Errorf("beyond the end %v, want %v", p.X, long.X[60:])
	}
	// A column of the name is not read: what is known is made.
	r, err := OpenPoints(t.Context(), Spec{Path: writeFile(t, "new.csv", "holiday,day\n5,"+strings.Join(days(1, 30), "\n5,")+"\n")}, d)
	must.OK(t, err)
	var x []float64
	for {
		b, err := r.Next(t.Context(), 7)
		if err == io.EOF {
			break
		}
		must.OK(t, err)
		x = append(x, b.X...)
	}
	if !equalFloats(x, long.X) {
		t.Errorf("points are %v, want %v", x, long.X)
	}
	s := Spec{Source: "csv", Path: long.Path, Time: "yes"}
	spec(&s)
	groups, err := Groups(t.Context(), s)
	must.OK(t, err)
	w, err := groups[0].Data.Window(s, 15, 5)
	must.OK(t, err)
	if w.Dim != 3 || !equalFloats(w.X, long.X[:60]) || groups[0].Data.Dim != 1 {
		t.Errorf("a window has %d inputs, %v", w.Dim, w.X)
	}
	if along, ok := d.Along(d.Times([]int32{2, 3})); !ok || !equalFloats(along, d.X[6:12]) {
		t.Errorf("along time %v", along)
	}
	if path, sum := d.Holidays(); len(sum) != 64 || path != mustPath(t, path) {
		t.Errorf("holidays %q %q", path, sum)
	}
}

func mustPath(t *testing.T, path string) string {
	t.Helper()
	p, err := Resolve(path, nil)
	must.OK(t, err)
	return p
}

// What is wrong is told in a line.
func TestCalendarRefused(t *testing.T) {
	stamps := "day,y\n2024-01-01,1\n2024-01-02,2\n2024-01-03,4\n"
	for _, c := range []struct {
		table, holidays string
		set             func(*Spec)
		want            string
	}{
		{"day,y\n1,1\n2,2\n3,4\n", "", nil, `data.csv: "day" holds no time stamps`},
		{"day,z,y\n2024-01-01,1,1\n2024-01-02,1,2\n", "", nil, "there are 2 inputs"},
		{strings.Replace(stamps, "day", "weekday", 1), "", nil, `the input is called "weekday"`},
		{stamps, "", func(s *Spec) { s.Time = "no" }, "a series in time, which this is not known to be"},
		{stamps, "", func(s *Spec) { s.Calendar = []string{"month"} }, `calendar = "month": allowed are`},
		{stamps, "", func(s *Spec) { s.Zone = "Europe/Zurch" }, `data.zone = "Europe/Zurch" is no time zone`},
		{stamps, "2024-01-01\n2024-13-01,x\n", nil, `days.txt: line 2: "2024-13-01" is no date`},
		{stamps, "day\nname\n2024-01-01\n", nil, `days.txt: line 2: "name" is no date`},
		{stamps, "day\n", nil, "days.txt has no dates"},
		{stamps, "", func(s *Spec) { s.Holidays = "XX" }, `data.holidays = "XX": the holidays of that country or part of one are not known`},
		{stamps, "03/04/2024\n", nil, `days.txt: line 1: "03/04/2024" is no date`},
		{"", "", func(s *Spec) { s.Source, s.Kernel = "synthetic", "SE" }, `source = "synthetic"`},
	} {
		s := Spec{Source: "csv", Path: writeFile(t, "data.csv", c.table), Calendar: []string{"weekday"}}
		if c.holidays != "" {
			s.Holidays = writeFile(t, "days.txt", c.holidays)
		}
		if c.set != nil {
			c.set(&s)
		}
		_, err := Load(t.Context(), s)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v", c.want, err)
		}
		var line *LineError
		if strings.Contains(c.want, ": line ") && !errors.As(err, &line) {
			t.Errorf("%q names no line", err)
		}
	}
	// A line that tells day from month tells it for all.
	d := loadText(t, stamps, Spec{Source: "csv", Holidays: writeFile(t, "days.txt", "02/01/2024\n25/12/2024\n")})
	if got := fmt.Sprint(d.Row(0)[1], d.Row(1)[1], d.Row(2)[1]); got != "0 1 0" {
		t.Error(got)
	}
}

// A country's holidays are what a file of them would be, at rows and beyond them.
func TestHolidaysOfACountry(t *testing.T) {
	var days []string
	for i := range 380 {
		days = append(days, time.Date(2023, 12, 20+i, 0, 0, 0, 0, time.UTC).Format(time.DateOnly))
	}
	file := writeFile(t, "de.txt", "2023-12-25\n2023-12-26\n2024-01-01\n2024-03-29\n2024-04-01\n2024-05-01\n2024-05-09\n2024-05-20\n"+
		"2024-10-03\n2024-12-25\n2024-12-26\n2025-01-01\n2025-04-18\n2025-04-21\n2025-05-01\n2025-05-29\n2025-06-09\n2025-10-03\n")
	var at [2]*Dataset
	var beyond [2]*Points
	h, err := ParseHorizon("300d")
	must.OK(t, err)
	for i, from := range []string{file, "DE"} {
		at[i] = seriesOf(t, "day", days, func(s *Spec) { s.Holidays = from })
		beyond[i], err = at[i].Beyond(h)
		must.OK(t, err)
	}
	if !equalFloats(at[0].X, at[1].X) {
		t.Error("rows differ")
	}
	if !equalFloats(beyond[0].X, beyond[1].X) {
		t.Error("beyond the rows they differ")
	}
	if path, sum := at[1].Holidays(); path != "" || sum != "" {
		t.Errorf("a country has no file: %q, %q", path, sum)
	}
}
