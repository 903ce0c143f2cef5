package ui

import (
	"math"
	"slices"
)

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
