package ui

import (
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

	cachedVersion int
	cachedAs      [2]int
	xs            []float64
	low, high     [][]float32
	wide          bool // some point has a range
}

// zoomed reports whether only a part of x is shown.
func (t *tracer) zoomed() bool { return t.hi > t.lo }

// fill copies series into the tracer's memory unless they are there already;
// version counts what has happened to them.
func (t *tracer) fill(version, count int, series func(i int) history.Series) {
	as := [2]int{int(t.quantity), int(t.axis)}
	if t.cachedVersion == version && t.cachedAs == as && len(t.low) == count {
		return
	}
	t.cachedVersion, t.cachedAs, t.wide = version, as, false
	for len(t.low) < count {
		t.low, t.high = append(t.low, nil), append(t.high, nil)
	}
	t.low, t.high = t.low[:count], t.high[:count]
	t.xs = t.xs[:0]
	for k := range count {
		s := series(k)
		if k == 0 {
			for i := range s.Len() {
				t.xs = append(t.xs, s.X(i, t.axis))
			}
		}
		lo, hi := t.low[k][:0], t.high[k][:0]
		for i := range min(s.Len(), len(t.xs)) {
			a, b := s.At(i)
			t.wide = t.wide || a < b
			lo, hi = append(lo, float32(a)), append(hi, float32(b))
		}
		t.low[k], t.high[k] = lo, hi
	}
}

// follow keeps a zoomed part at the end of what there is, unless it is held.
func (t *tracer) follow(hi float64) {
	if t.zoomed() && !t.hold && hi > t.hi && t.sawEnd >= t.hi {
		w := t.hi - t.lo
		t.lo, t.hi = hi-w, hi
	}
	t.sawEnd = hi
}
