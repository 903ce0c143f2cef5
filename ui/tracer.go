package ui

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"example.com/kestrel/experiment/history"
	"example.com/kestrel/ui/plot"
)

// tracer is the state of a chart over the time of the run.
type tracer struct {
	quantity history.Quantity
	axis     history.Axis
	log      bool
	lo, hi   float64 // limits of x; equal: all of it
	hold     bool    // do not follow new points
	sawEnd   float64 // end of x at the last drawing
	layout   plot.Layout
	chart    plot.Chart
	raster   plot.Raster

	cached    cached
	xs        []float64
	low, high [][]float32
	wide      bool // some point has a range

	former   []int  // kernels that led, of the memory's state formerOf
	formerOf cached // the zero value: none
}

// mostFormer is how many former leaders have their names on a chart.
const mostFormer = 3

// formerLeaders are the series of a probability that were the largest for a while,
// those of the highest peak first: for at least two points and a fiftieth of them. Of
// other quantities there are none.
func (t *tracer) formerLeaders() []int {
	if t.quantity != history.QuantityPosterior && t.quantity != history.QuantityBayes {
		return nil
	}
	if t.formerOf == t.cached {
		return t.former
	}
	t.formerOf, t.former = t.cached, t.former[:0]
	led, peak := make([]int, len(t.high)), make([]float32, len(t.high))
	for i := range t.xs {
		first := -1
		for k := range t.high {
			if i >= len(t.high[k]) {
				continue
			}
			v := t.high[k][i]
			if peak[k] = max(peak[k], v); v == v && (first < 0 || v > t.high[first][i]) {
				first = k
			}
		}
		if first >= 0 {
			led[first]++
		}
	}
	for k, n := range led {
		if n >= max(2, len(t.xs)/50) {
			t.former = append(t.former, k)
		}
	}
	slices.SortStableFunc(t.former, func(a, b int) int { return cmp.Compare(peak[b], peak[a]) })
	t.former = t.former[:min(len(t.former), mostFormer)]
	return t.former
}

// mostKept is how many points of a series are drawn: several to a column of dots.
// What is more is put together, several neighbours as the range of their values.
const mostKept = 512

// cached says what a tracer's memory holds.
type cached struct {
	version  int
	quantity history.Quantity
	axis     history.Axis
	count    int
	from, n  int     // the points [from, n) of the series
	block    int     // so many to one that is kept
	end      float64 // place of the last
}

// zoomed reports whether only a part of x is shown.
func (t *tracer) zoomed() bool { return t.hi > t.lo }

// fill copies series into the tracer's memory unless they are there already;
// version counts what has happened to them. Of long ones, several points become one;
// then only what has come since is read, so that a frame of a long run costs what one of a
// short run does.
func (t *tracer) fill(version, count int, series func(i int) history.Series) {
	was := t.cached
	now := cached{version: version, quantity: t.quantity, axis: t.axis, count: count, block: 1}
	var first history.Series
	if count > 0 {
		first = series(0)
		now.n = first.Len()
	}
	to := now.n
	if t.zoomed() { // a point more on either side, for the lines that lead there
		at := func(x float64) int {
			return sort.Search(now.n, func(i int) bool { return first.X(i, t.axis) >= x })
		}
		now.from, to = max(0, at(t.lo)-1), min(now.n, at(t.hi)+1)
	}
	for (to-now.from)/now.block > mostKept {
		now.block *= 2
	}
	now.from -= now.from % now.block // blocks are the same wherever they begin
	now.n = to
	if to > 0 {
		now.end = first.X(to-1, t.axis)
	}
	if was == now && len(t.low) == count {
		return
	}
	t.cached = now
	for len(t.low) < count {
		t.low, t.high = append(t.low, nil), append(t.high, nil)
	}
	t.low, t.high = t.low[:count], t.high[:count]
	keep := 0 // blocks that stay: all but the last, to which points may have come
	grown := was.n <= to && was.n > 0 && first.X(was.n-1, t.axis) == was.end
	was.version, was.n, was.end = now.version, now.n, now.end
	if was == now && grown && now.block > 1 {
		keep = max(0, len(t.xs)-1)
	} else {
		t.wide = now.block > 1
	}
	t.xs = t.xs[:keep]
	start := now.from + keep*now.block
	for i := start; i < to; i += now.block {
		t.xs = append(t.xs, first.X(min(i+now.block, to)-1, t.axis))
	}
	for k := range count {
		s := series(k)
		lo, hi := t.low[k][:min(keep, len(t.low[k]))], t.high[k][:min(keep, len(t.high[k]))]
		for i := start; i < min(s.Len(), to); i += now.block {
			a, b := within(s, i, min(i+now.block, s.Len(), to))
			t.wide = t.wide || a < b
			lo, hi = append(lo, float32(a)), append(hi, float32(b))
		}
		t.low[k], t.high[k] = lo, hi
	}
}

// within returns the least and the greatest value of the points i to end of a series;
// NaN where none has one.
func within(s history.Series, i, end int) (lo, hi float64) {
	lo, hi = s.At(i)
	for i++; i < end; i++ {
		a, b := s.At(i)
		if a < lo || math.IsNaN(lo) {
			lo = a
		}
		if b > hi || math.IsNaN(hi) {
			hi = b
		}
	}
	return lo, hi
}

// follow keeps a zoomed part at the end of what there is, unless it is held.
func (t *tracer) follow(hi float64) {
	if t.zoomed() && !t.hold && hi > t.hi && t.sawEnd >= t.hi {
		w := t.hi - t.lo
		t.lo, t.hi = hi-w, hi
	}
	t.sawEnd = hi
}
