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

// track holds the values of a series from the first point that has one to the last: a
// kernel of a space that grows is there for a part of the run. Points that have been
// merged, which come first, have their extremes and last values, those behind them, which
// are single evaluations, their values once.
type track[T float32 | float64] struct {
	from         int // point of the first value
	lo, hi, last []T
	single       []T
}

// end is the point behind the last value.
func (t *track[T]) end() int { return t.from + len(t.lo) + len(t.single) }

func (t *track[T]) at(i int) (lo, hi T) {
	if i -= t.from; i >= 0 && i < len(t.lo) {
		return t.lo[i], t.hi[i]
	}
	v := t.alone(i)
	return v, v
}

func (t *track[T]) latest(i int) T {
	if i -= t.from; i >= 0 && i < len(t.last) {
		return t.last[i]
	}
	return t.alone(i)
}

// alone is the value of the i-th point from the first one that has one, which is not merged.
func (t *track[T]) alone(i int) T {
	if i -= len(t.lo); i < 0 || i >= len(t.single) {
		return T(math.NaN())
	}
	return t.single[i]
}

// set gives point at a value, which is not before the last one that has one.
func (t *track[T]) set(at int, v float64) {
	if at == t.end()-1 {
		t.single[len(t.single)-1] = T(v)
		return
	}
	if math.IsNaN(v) {
		return
	}
	if t.end() == t.from {
		t.from = at
	}
	for t.end() < at {
		t.single = append(t.single, T(math.NaN()))
	}
	t.single = append(t.single, T(v))
}

// merge makes one point of each group; ends are the groups' ends, in all of the points that
// there are.
func (t *track[T]) merge(ends []int) {
	first, n := spanned(ends, t.from, t.end())
	flat := make([]T, 0, 3*n)
	lo, hi, last := flat[:0:n], flat[n:n:2*n], flat[2*n:2*n]
	for g := first; g < first+n; g++ {
		i, to := 0, ends[g]
		if g > 0 {
			i = ends[g-1]
		}
		l, h := t.at(i)
		for i++; i < to; i++ {
			a, b := t.at(i)
			// A comparison with NaN is false.
			if a < l || l != l {
				l = a
			}
			if b > h || h != h {
				h = b
			}
		}
		lo, hi, last = append(lo, l), append(hi, h), append(last, t.latest(to-1))
	}
	*t = track[T]{from: first, lo: lo, hi: hi, last: last}
}

// spanned returns the first of the groups with these ends that has a point of [from, to), and
// how many have.
func spanned(ends []int, from, to int) (first, n int) {
	if to <= from {
		return 0, 0
	}
	first, _ = slices.BinarySearch(ends, from+1)
	last, _ := slices.BinarySearch(ends, to)
	return first, last + 1 - first
}

// statusTrack holds what a kernel was from the first point at which it was in the space to
// the last.
type statusTrack struct {
	from int
	held []statusCode
}

func (t *statusTrack) at(i int) statusCode {
	if i -= t.from; i < 0 || i >= len(t.held) {
		return 0
	}
	return t.held[i]
}

func (t *statusTrack) set(at int, code statusCode) {
	if len(t.held) == 0 {
		t.from = at
	}
	for t.from+len(t.held) <= at {
		t.held = append(t.held, 0)
	}
	t.held[at-t.from] = code
}

// merge keeps the last status of each group.
func (t *statusTrack) merge(ends []int) {
	first, n := spanned(ends, t.from, t.from+len(t.held))
	held := make([]statusCode, 0, n)
	for g := first; g < first+n; g++ {
		held = append(held, t.at(ends[g]-1))
	}
	*t = statusTrack{first, held}
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
