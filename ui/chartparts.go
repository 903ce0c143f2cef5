package ui

import (
	"math"
	"slices"

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

// bracket returns the interval of ascending xs that x is in and where in it,
// from 0 to 1; −1 if it is outside.
func bracket(xs []float64, x float64) (i int, u float64) {
	n := len(xs)
	if n < 2 || !(x >= xs[0] && x <= xs[n-1]) {
		return -1, 0
	}
	i, found := slices.BinarySearch(xs, x)
	if !found || i == n-1 {
		i--
	}
	i = max(0, min(i, n-2))
	if w := xs[i+1] - xs[i]; w > 0 {
		u = (x - xs[i]) / w
	}
	return i, u
}

// polyline is a quantity along an axis, which ascends. NaN is a gap.
type polyline struct{ x, y []float64 }

// at returns the value at x, linearly between the points next to it; NaN
// outside and beside gaps.
func (l polyline) at(x float64) float64 {
	if len(l.x) == 1 && l.x[0] == x {
		return l.y[0]
	}
	i, u := bracket(l.x, x)
	switch {
	case i < 0:
		return math.NaN()
	case u == 0:
		return l.y[i]
	case u == 1:
		return l.y[i+1]
	}
	return (1-u)*l.y[i] + u*l.y[i+1]
}

// meanSD averages several polylines. The common axis is the points of all of
// them as far as every one reaches, so that none enters or leaves the mean on
// the way, thinned evenly to at most so many; on it every one has the value
// that at gives. The standard deviation is that of a sample (n − 1), NaN for
// one line. Where one has a gap there is none of either.
func meanSD(lines []polyline, most int) (x, mean, sd []float64) {
	lo, hi := math.Inf(-1), math.Inf(1)
	for _, l := range lines {
		if len(l.x) == 0 {
			return nil, nil, nil
		}
		lo, hi = max(lo, l.x[0]), min(hi, l.x[len(l.x)-1])
	}
	for _, l := range lines {
		for _, v := range l.x {
			if v >= lo && v <= hi {
				x = append(x, v)
			}
		}
	}
	slices.Sort(x)
	x = slices.Compact(x)
	if len(x) > most && most > 1 {
		for i := range most {
			x[i] = x[i*(len(x)-1)/(most-1)]
		}
		x = x[:most]
	}
	n := float64(len(lines))
	for _, at := range x {
		m, s := 0.0, 0.0
		for _, l := range lines {
			m += l.at(at) / n
		}
		for _, l := range lines {
			d := l.at(at) - m
			s += d * d
		}
		mean, sd = append(mean, m), append(sd, math.Sqrt(s/(n-1)))
	}
	return x, mean, sd
}
