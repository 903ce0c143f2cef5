package format

import (
	"fmt"
	"math"
	"time"

	"example.com/kestrel/ui/plot"
)

// Lengths of time in seconds.
const (
	aMinute = 60.0
	anHour  = 60 * aMinute
	aDay    = 24 * anHour
	aYear   = 365.2425 * aDay
	aMonth  = aYear / 12
)

// timeSteps are the distances of ticks that people can read off.
var timeSteps = []float64{
	1e-3, 2e-3, 5e-3, 1e-2, 2e-2, 5e-2, .1, .2, .5, 1, 2, 5, 10, 15, 30,
	aMinute, 2 * aMinute, 5 * aMinute, 10 * aMinute, 15 * aMinute, 30 * aMinute,
	anHour, 2 * anHour, 3 * anHour, 6 * anHour, 12 * anHour,
	aDay, 2 * aDay, 7 * aDay, 14 * aDay,
	aMonth, 2 * aMonth, 3 * aMonth, 6 * aMonth,
	aYear, 2 * aYear, 5 * aYear, 10 * aYear, 20 * aYear, 50 * aYear, 100 * aYear, 200 * aYear, 500 * aYear,
}

// timeStep returns the least step that leaves at most so many ticks on a range
// in seconds; 0 if there is none.
func timeStep(span float64, most int) float64 {
	for _, s := range timeSteps {
		if span/s <= float64(most) {
			return s
		}
	}
	return 0
}

// Instant is the time of a value that counts from an origin in a unit of so
// many seconds.
func Instant(origin time.Time, unit, v float64) time.Time {
	whole := math.Floor(v * unit)
	return time.Unix(origin.Unix()+int64(whole), int64(origin.Nanosecond())+int64((v*unit-whole)*1e9)).UTC()
}

// DateText writes an instant as exactly as it can be told on an axis of a range.
func DateText(at time.Time, span, unit float64) string {
	switch seconds := span * unit; {
	case seconds > 100*aDay:
		return at.Format("2006-01-02")
	case seconds > anHour:
		return at.Format("01-02 15:04")
	}
	return at.Format("15:04:05")
}

// DateTicks returns ticks at round dates for values lo to hi that count from an
// origin in a unit of so many seconds; none where dates have no meaning.
func DateTicks(origin time.Time, unit, lo, hi float64, most int) []plot.Tick {
	step := timeStep((hi-lo)*unit, most)
	if step == 0 || !(hi > lo) || most < 1 || math.Abs(lo*unit) > 1000*aYear || math.Abs(hi*unit) > 1000*aYear {
		return nil
	}
	first := Instant(origin, unit, lo)
	var at time.Time
	var next func(time.Time) time.Time
	layout := "2006"
	switch {
	case step >= aMonth*0.99:
		months := int(math.Round(step / aMonth))
		if step < aYear*0.99 {
			layout = "2006-01"
		}
		n := first.Year()*12 + int(first.Month()) - 1
		at = time.Date(0, time.Month(n-n%months+1), 1, 0, 0, 0, 0, time.UTC)
		next = func(t time.Time) time.Time { return t.AddDate(0, months, 0) }
	case step >= aDay:
		layout = "01-02"
		days := int(step / aDay)
		n := int(math.Floor(float64(first.Unix()) / aDay))
		at = time.Unix(int64((n-n%days)*aDay), 0).UTC()
		next = func(t time.Time) time.Time { return t.AddDate(0, 0, days) }
	default:
		layout = "15:04"
		switch {
		case step < 1:
			layout = "15:04:05.000"
		case step < aMinute:
			layout = "15:04:05"
		}
		d := time.Duration(step * float64(time.Second))
		at = first.Truncate(d)
		next = func(t time.Time) time.Time { return t.Add(d) }
	}
	var out []plot.Tick
	for ; len(out) <= most; at = next(at) {
		since := at.Sub(origin).Seconds()
		if at.Sub(origin) == math.MaxInt64 || at.Sub(origin) == math.MinInt64 {
			since = float64(at.Unix() - origin.Unix()) // beyond what a Duration holds
		}
		v := since / unit
		if v > hi {
			break
		}
		if v < lo {
			continue
		}
		text := at.Format(layout)
		switch {
		case layout == "15:04" && at.Hour() == 0 && at.Minute() == 0:
			text = at.Format("01-02")
		case layout == "01-02" && (len(out) == 0 || at.YearDay() <= int(step/aDay)):
			text = at.Format("2006-01-02")
		}
		out = append(out, plot.Tick{At: v, Text: text})
	}
	return out
}

// LagTicks returns ticks at round lengths of time, all in the unit of the step between
// them: 15 s to 75 s, 12 h to 48 h.
func LagTicks(unit, lo, hi float64, most int) []plot.Tick {
	step := timeStep((hi-lo)*unit, most)
	if step == 0 || !(hi > lo) || most < 1 {
		return nil
	}
	size, name := lagUnit(step)
	var out []plot.Tick
	for n := math.Ceil(lo * unit / step); len(out) <= most; n++ {
		v := n * step / unit
		if v > hi {
			break
		}
		text := "0"
		if n != 0 {
			text = plot.Minus(fmt.Sprintf("%.4g %s", n*step/size, name))
		}
		out = append(out, plot.Tick{At: v, Text: text})
	}
	return out
}

// lagUnit is the largest unit that a length of time is a whole number of, nearly.
func lagUnit(seconds float64) (size float64, name string) {
	for _, u := range []struct {
		size float64
		name string
	}{{aYear, "y"}, {aMonth, "mo"}, {aDay, "d"}, {anHour, "h"}, {aMinute, "min"}} {
		if n := seconds / u.size; n >= 1-1e-9 && math.Abs(n-math.Round(n)) < 1e-6 {
			return u.size, u.name
		}
	}
	return 1, "s"
}
