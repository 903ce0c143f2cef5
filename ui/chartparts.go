package ui

import (
	"math"

	"example.com/kestrel/experiment/history"
	"example.com/kestrel/ui/plot"
	"example.com/kestrel/ui/theme"
)

// traced is a series as a line over an axis; nothing is left out.
func traced(s history.Series, a history.Axis) plot.Line {
	l := plot.Line{X: make([]float64, s.Len()), Y: make([]float64, s.Len()), Hi: make([]float64, s.Len())}
	for i := range s.Len() {
		l.X[i] = s.X(i, a)
		l.Y[i], l.Hi[i] = s.At(i)
	}
	return l
}

// finiteRange returns the least and greatest finite value of some slices; false
// if there is none.
func finiteRange(lists ...[]float64) (lo, hi float64, ok bool) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, values := range lists {
		for _, v := range values {
			if !math.IsNaN(v) && !math.IsInf(v, 0) {
				lo, hi = min(lo, v), max(hi, v)
			}
		}
	}
	return lo, hi, lo <= hi
}

// markers appends what was done to the run, for a chart of it over time.
func (b *bench) markers(to []plot.Marker, a history.Axis, th *theme.Theme) []plot.Marker {
	for _, m := range b.hist.MarksOn(a) {
		to = append(to, plot.Marker{X: m.X, Text: m.Text, Short: m.Short, Priority: m.Weight, Style: th.Faint})
	}
	return to
}
