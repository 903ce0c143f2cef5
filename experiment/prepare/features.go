package prepare

import (
	"math"
	"time"

	"example.com/kestrel/datasets"
)

// mostProducts bounds the work of a regression: rows times the square of its columns.
const mostProducts = 1_000_000_000

// features are what a linear function of a table's inputs sees beside their values: a
// column for each level, and of time stamps the year as two waves, and days of the week and hours,
// as far as rows have several.
type features struct {
	d                *datasets.Dataset
	parts            []func(row []float64, out []float64) []float64
	levels, calendar bool // some are of these
}

const (
	yearDays  = 365.25
	mostDummy = 50 // levels that have a column each
)

// newFeatures looks at the training rows.
func newFeatures(d *datasets.Dataset) *features {
	f := &features{d: d}
	for j := range d.Inputs {
		in := &d.Inputs[j]
		f.parts = append(f.parts, func(row, out []float64) []float64 { return append(out, row[j]) })
		switch {
		case in.Time:
			f.ofTime(j)
		case in.Categorical() || in.Type == datasets.TypeFew:
			f.levels = f.dummies(func(row []float64) float64 { return row[j] }) || f.levels
		}
	}
	return f
}

// name is that of a ridge regression on them: it claims no more than they have.
func (f *features) name() string {
	name := "ridge regression"
	switch {
	case f.levels && f.calendar:
		return name + " with levels and the calendar"
	case f.levels:
		return name + " with levels"
	case f.calendar:
		return name + " with the calendar"
	}
	return name
}

// dummies adds a column for each value of the training rows, if there are few but several.
func (f *features) dummies(of func(row []float64) float64) bool {
	places := map[float64]int{}
	for _, r := range f.d.Train {
		v := of(f.d.Row(int(r)))
		if _, ok := places[v]; !ok {
			if len(places) == mostDummy {
				return false
			}
			places[v] = len(places)
		}
	}
	if len(places) < 2 {
		return false
	}
	f.parts = append(f.parts, func(row, out []float64) []float64 {
		at := len(out)
		out = append(out, make([]float64, len(places))...)
		if i, ok := places[of(row)]; ok {
			out[at+i] = 1
		}
		return out
	})
	return true
}

// ofTime adds what the calendar says of a column of time stamps.
func (f *features) ofTime(column int) {
	in := &f.d.Inputs[column]
	low, high := math.Inf(1), math.Inf(-1)
	for _, r := range f.d.Train {
		v := f.d.Row(int(r))[column]
		low, high = min(low, v), max(high, v)
	}
	days := in.Seconds(high-low) / 86400
	at := func(row []float64) time.Time { return in.At(row[column]) }
	if days >= yearDays {
		f.calendar = true
		f.parts = append(f.parts, func(row, out []float64) []float64 {
			turn := 2 * math.Pi * in.Seconds(row[column]-low) / 86400 / yearDays
			return append(out, math.Sin(turn), math.Cos(turn), math.Sin(2*turn), math.Cos(2*turn))
		})
	}
	if days >= 14 {
		f.calendar = f.dummies(func(row []float64) float64 { return float64(at(row).Weekday()) }) || f.calendar
	}
	if days >= 2 {
		f.calendar = f.dummies(func(row []float64) float64 { return float64(at(row).Hour()) }) || f.calendar
	}
}

// of returns the features of rows of inputs, and how many there are of each.
func (f *features) of(x []float64) (out []float64, dim int) {
	for i := 0; i < len(x); i += f.d.Dim {
		before := len(out)
		for _, p := range f.parts {
			out = p(x[i:i+f.d.Dim], out)
		}
		dim = len(out) - before
	}
	return out, dim
}
