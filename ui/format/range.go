package format

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// periods are the ways to write a moment, with the time that each names.
var periods = []struct {
	layout              string
	years, months, days int
	rest                time.Duration
}{
	{"2006", 1, 0, 0, 0}, {"2006-01", 0, 1, 0, 0}, {"2006-01-02", 0, 0, 1, 0},
	{"2006-01-02 15", 0, 0, 0, time.Hour}, {"2006-01-02 15:04", 0, 0, 0, time.Minute}, {"2006-01-02 15:04:05", 0, 0, 0, time.Second},
}

// split cuts a range in two, both the same where it is one place; an empty end is ""
// in the answer.
func split(text string) (from, to string) {
	text = strings.TrimSpace(text)
	for _, sep := range []string{"..", "…", " to ", "–"} {
		if a, b, ok := strings.Cut(text, sep); ok {
			return strings.TrimSpace(a), strings.TrimSpace(strings.TrimLeft(b, ". "))
		}
	}
	return text, text
}

// DateRange reads a range of dates, "2023-03 .. 2023-05-10", or one year, month, day or
// hour, as values that count from an origin in a unit of so many seconds. The last
// date is included. An end that is left out is infinite.
func DateRange(text string, origin time.Time, unit float64) (lo, hi float64, err error) {
	from, to := split(text)
	value := func(t time.Time) float64 {
		return (float64(t.Unix()-origin.Unix()) - float64(origin.Nanosecond())/1e9) / unit
	}
	read := func(s string, end bool) (float64, error) {
		s = strings.Replace(s, "T", " ", 1)
		for _, p := range periods {
			t, err := time.Parse(p.layout, s)
			if err != nil {
				continue
			}
			if end {
				t = t.AddDate(p.years, p.months, p.days).Add(p.rest)
			}
			return value(t), nil
		}
		return 0, fmt.Errorf("%q is no date: write 2023, 2023-03, 2023-03-18 or 2023-03-18 14:30, and .. between two", s)
	}
	lo, hi = math.Inf(-1), math.Inf(1)
	if from != "" {
		if lo, err = read(from, false); err != nil {
			return 0, 0, err
		}
	}
	if to != "" {
		hi, err = read(to, true)
	}
	return lo, hi, err
}

// Range reads a range of numbers, "1.5 .. 3". An end that is left out is infinite.
func Range(text string) (lo, hi float64, err error) {
	from, to := split(text)
	lo, hi = math.Inf(-1), math.Inf(1)
	for _, end := range []struct {
		text string
		to   *float64
	}{{from, &lo}, {to, &hi}} {
		if end.text == "" {
			continue
		}
		v, err := strconv.ParseFloat(strings.ReplaceAll(end.text, "−", "-"), 64)
		if err != nil || math.IsNaN(v) {
			return 0, 0, fmt.Errorf("%q is no number: write 1.5 .. 3", end.text)
		}
		*end.to = v
	}
	return lo, hi, nil
}

// Within cuts a range to what can be shown; an error if nothing is left of it.
func Within(lo, hi, least, most float64) (float64, float64, error) {
	if a, b := max(lo, least), min(hi, most); a < b {
		return a, b, nil
	}
	if hi <= lo {
		return 0, 0, fmt.Errorf("the range ends where it begins, or before")
	}
	return 0, 0, fmt.Errorf("there is nothing to show there: the data are elsewhere")
}
