package history

import (
	"math"
	"slices"
)

// Quantity says what the values of a Series are.
type Quantity uint8

// Quantities of kernels, then of methods of prediction.
const (
	QuantityPosterior Quantity = iota
	QuantityBayes
	QuantityELBO // nats
	QuantityGap  // local ELBO, with the volume, less the leader's, nats; seldom above 0
	QuantityRank

	QuantityRMSE
	QuantityMAE
	QuantityNLPD
	QuantityCoverage
)

// Series is one quantity along a run. It costs no allocation and is valid
// until the History is told another event. The zero Series is empty.
type Series struct {
	Moments []Moment
	narrow  *track[float32]
	wide    *track[float64]
}

// Len returns the number of points.
func (s Series) Len() int { return len(s.Moments) }

// Moment returns where point i stands.
func (s Series) Moment(i int) *Moment { return &s.Moments[i] }

// X returns the coordinate of point i on an axis.
func (s Series) X(i int, a Axis) float64 { return s.Moments[i].On(a) }

// At returns the least and the greatest value at point i: equal unless
// evaluations have been merged, NaN if there is none.
func (s Series) At(i int) (lo, hi float64) {
	if s.narrow != nil {
		l, h := s.narrow.at(i)
		return float64(l), float64(h)
	}
	return s.wide.at(i)
}

// Last returns the value of the last evaluation in point i, NaN if there is
// none.
func (s Series) Last(i int) float64 {
	if s.narrow != nil {
		return float64(s.narrow.latest(i))
	}
	return s.wide.latest(i)
}

// track holds the values of a series: the first points with their extremes and
// last values, those behind them, which are single evaluations, once.
type track[T float32 | float64] struct {
	lo, hi, last []T
	single       []T
}

func (t *track[T]) at(i int) (lo, hi T) {
	if i < len(t.lo) {
		return t.lo[i], t.hi[i]
	}
	v := t.single[i-len(t.lo)]
	return v, v
}

func (t *track[T]) latest(i int) T {
	if i < len(t.last) {
		return t.last[i]
	}
	return t.single[i-len(t.last)]
}

// grow appends a point without a value.
func (t *track[T]) grow() { t.single = append(t.single, T(math.NaN())) }

// set gives the last point a value.
func (t *track[T]) set(v float64) { t.single[len(t.single)-1] = T(v) }

// merge makes one point of each group; ends are the groups' ends.
func (t *track[T]) merge(ends []int, room int) {
	n := len(ends)
	flat := make([]T, 3*n)
	lo, hi, last := flat[:n:n], flat[n:2*n:2*n], flat[2*n:]
	from := 0
	for g, to := range ends {
		l, h := t.at(from)
		for i := from + 1; i < to; i++ {
			a, b := t.at(i)
			// A comparison with NaN is false.
			if a < l || l != l {
				l = a
			}
			if b > h || h != h {
				h = b
			}
		}
		lo[g], hi[g], last[g] = l, h, t.latest(to-1)
		from = to
	}
	t.lo, t.hi, t.last = lo, hi, last
	t.single = make([]T, 0, room)
}

// absent makes a track of points without a value, merged ones first.
func absent[T float32 | float64](merged, single int) (t track[T]) {
	nan := []T{T(math.NaN())}
	t.lo, t.hi, t.last = slices.Repeat(nan, merged), slices.Repeat(nan, merged), slices.Repeat(nan, merged)
	t.single = slices.Repeat(nan, single)
	return t
}

// timeline is where the points of some series stand, and how wide they may be.
type timeline struct {
	moments []Moment
	width   int // of a merged point, at most
}

// groups says, when there are as many points as there may be, which neighbours
// become one: the older ones keep their width and the younger ones get it; it
// doubles only where that frees too little.
func (t *timeline) groups() (ends []int) {
	n := len(t.moments)
	t.width = max(2, t.width)
	for {
		ends = ends[:0]
		held := 0
		for i := range t.moments {
			if held > 0 && held+t.moments[i].Merged > t.width {
				ends = append(ends, i)
				held = 0
			}
			held += t.moments[i].Merged
		}
		ends = append(ends, n)
		if len(ends) <= (n+1)/2 {
			break
		}
		t.width *= 2
	}
	from := 0
	for g, to := range ends {
		m := t.moments[to-1]
		m.First = t.moments[from].First
		m.Merged = 0
		for i := from; i < to; i++ {
			m.Merged += t.moments[i].Merged
		}
		t.moments[g] = m
		from = to
	}
	t.moments = t.moments[:len(ends)]
	return ends
}
