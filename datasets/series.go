package datasets

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"kestrel/baseline"
)

// Series is what a dataset is as a series in time: one input, of time.
type Series struct {
	Step    float64   // between neighbouring rows as a rule, in the unit of X
	Season  int       // the shortest one, in steps; 1: none is known
	Seasons []float64 // what repeats by the calendar, or as stated: lengths in the unit of X, the shortest first; nil: nothing is known to
}

const (
	// Of a series in time so many steps at least are as long as the median, within
	// stepsOff, see baseline for the calendar's.
	regularSteps = 0.6
	stepsOff     = 0.105  // February is shorter than others
	mostSteps    = 20_000 // are looked at
	year         = 365.25 // days
)

// timeWords are names of columns that are time.
var timeWords = []string{
	"time", "date", "datetime", "timestamp", "t", "ds", "year", "month", "quarter", "week", "day", "hour", "minute", "second",
	"jahr", "monat", "quartal", "woche", "tag", "stunde", "datum", "zeit", "yr", "years", "months", "days", "hours",
}

// daysOf is how many days the unit of a column of numbers has that is called by it.
var daysOf = map[string]float64{
	"year": year, "years": year, "yr": year, "jahr": year, "quarter": year / 4, "quartal": year / 4, "month": year / 12, "months": year / 12,
	"monat": year / 12, "week": 7, "woche": 7, "day": 1, "days": 1, "tag": 1, "hour": 1. / 24, "hours": 1. / 24, "stunde": 1. / 24,
	"minute": 1. / 1440, "second": 1. / 86400,
}

// findSeries finds out whether the rows are a series in time: time stamps, or a
// column that its name or Spec.Time calls time and that ascends in steps that are
// nearly equal. Metres are never taken for it.
func (d *Dataset) findSeries(s *Spec) error {
	if s.Time == "no" || d.Dim != 1 || d.Source == "synthetic" && s.Time != "yes" {
		if s.Time == "yes" {
			return fmt.Errorf("%s: data.time = \"yes\", but there are %d inputs; name the one that is time (data.inputs)", d.file(), d.Dim)
		}
		return nil
	}
	in := &d.Inputs[0]
	x := d.X
	ascends := slices.IsSorted(x)
	if !ascends {
		x = slices.Clone(x)
		slices.Sort(x)
	}
	step, regular := typicalStep(x)
	word := timeWord(in.Name)
	if s.Time != "yes" && !in.Time && !(word != "" && ascends && regular) || step == 0 {
		return nil
	}
	series := &Series{Step: step, Season: 1}
	if s.Season > 1 {
		series.Season, series.Seasons = s.Season, []float64{float64(s.Season) * step}
	} else if unit := daysPerUnit(in, word, step); s.Season == 0 && regular && unit > 0 {
		series.calendar(unit, x[len(x)-1]-x[0])
	}
	d.Series = series
	return nil
}

// typicalStep is the mean of the steps that are near their median, and whether
// most are. x ascends.
func typicalStep(x []float64) (step float64, regular bool) {
	var steps []float64
	for i := 1; i < len(x); i += 1 + len(x)/mostSteps {
		if x[i] > x[i-1] {
			steps = append(steps, x[i]-x[i-1])
		}
	}
	if len(steps) == 0 {
		return 0, false
	}
	slices.Sort(steps)
	median := steps[len(steps)/2]
	sum, near := 0.0, 0
	for _, v := range steps {
		if math.Abs(v-median) <= stepsOff*median {
			sum += v
			near++
		}
	}
	return sum / float64(near), float64(near) >= regularSteps*float64(len(steps))
}

// timeWord is the word of a column's name by which it is time, "" if there is none.
func timeWord(name string) string {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return !unicode.IsLetter(r) })
	for _, w := range words {
		if slices.Contains(timeWords, w) {
			return w
		}
	}
	return ""
}

// daysPerUnit is how many days a unit of a column has, 0 if that cannot be told: by
// its unit, its name, or because its steps are an even part of a year or a day.
func daysPerUnit(in *Column, word string, step float64) float64 {
	if unit := baseline.Days(in.Unit); unit > 0 {
		return unit
	}
	parts := math.Round(1 / step)
	even := math.Abs(1/step-parts) < 0.01*parts
	switch {
	case even && slices.Contains([]float64{4, 12, 52}, parts):
		return year // "1949.083", whatever its name
	case daysOf[word] > 0:
		return daysOf[word]
	case even && slices.Contains([]float64{24, 48, 96, 144, 288, 1440}, parts):
		return 1
	}
	return 0
}

// calendar finds the seasons of a series by its step: of months, quarters and weeks
// a year, of days a week, of parts of a day a day and a week, and a year where at
// least two have been seen. unit is in days, span in units.
func (s *Series) calendar(unit, span float64) {
	steps := baseline.Seasons(s.Step * unit)
	if len(steps) == 0 {
		return
	}
	s.Season = steps[0]
	days := []float64{1, 7}
	switch {
	case s.Step*unit > 6: // weeks, months and quarters have a year
		days = []float64{year}
	case s.Step*unit > 0.9:
		days = []float64{7}
	}
	if days[0] != year && span*unit >= 2*year {
		days = append(days, year)
	}
	for _, v := range days {
		s.Seasons = append(s.Seasons, v/unit)
	}
}
