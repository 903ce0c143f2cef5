package plot

import (
	"math"
	"slices"
)

// Limits of axes stay where distances between dots are normal numbers.
const (
	largest  = 1e300
	smallest = 1e-290
	relative = 1e-9 // the least width, as a part of the limits
)

// extent collects the values that an axis should show.
type extent struct {
	lo, hi       float64
	above, below float64 // only values between count
}

func newExtent(log bool) extent {
	e := extent{above: math.Inf(-1), below: math.Inf(1)}
	if log {
		e.above = 0
	}
	e.lo, e.hi = e.below, e.above
	return e
}

func (e *extent) empty() bool { return e.lo > e.hi }

// add takes values in; what is not finite or not within above and below does
// not count.
func add[T number](e *extent, values []T) {
	above, below := T(e.above), T(e.below)
	lo, hi := T(min(e.lo, e.below)), T(max(e.hi, e.above))
	for _, v := range values {
		if v < lo && v > above {
			lo = v
		}
		if v > hi && v < below {
			hi = v
		}
	}
	e.lo, e.hi = min(e.lo, float64(lo)), max(e.hi, float64(hi))
}

// fixed returns whether the limits of an axis are given, and these.
func (a *Axis) fixed() (lo, hi float64, ok bool) {
	lo, hi = a.Min, a.Max
	ok = lo < hi && !math.IsInf(hi-lo, 0) && (!a.Log || lo > 0)
	if ok {
		lo, hi = widen(lo, hi, a.Log)
	}
	return lo, hi, ok
}

// widen makes limits usable: finite, apart, and positive for log axes.
func widen(lo, hi float64, log bool) (float64, float64) {
	if log {
		lo, hi = min(max(lo, smallest), largest), min(max(hi, smallest), largest)
		if hi < lo*(1+relative) {
			lo, hi = lo/2, hi*2
		}
		return lo, hi
	}
	lo, hi = min(max(lo, -largest), largest), min(max(hi, -largest), largest)
	size := max(math.Abs(lo), math.Abs(hi))
	if hi-lo >= max(size*relative, smallest) {
		return lo, hi
	}
	pad := size / 10
	if size < smallest {
		pad = 1
	}
	if hi > lo {
		pad = max(size*relative, smallest)
	}
	return lo - pad, hi + pad
}

// outwards rounds limits of a linear axis to halves of what n ticks would be
// apart, so that live data do not move it with every value.
func outwards(lo, hi float64, n int) (float64, float64) {
	_, step := linearTicks(lo, hi, n)
	if step /= 2; step < smallest {
		return lo, hi
	}
	a, b := math.Floor(lo/step+1e-9)*step, math.Ceil(hi/step-1e-9)*step
	if !(a <= lo+step && b >= hi-step) { // too large for whole steps
		return lo, hi
	}
	return min(a, lo), max(b, hi)
}

// logOutwards rounds the limits of a log axis to 1, 2 or 5 times a power of ten.
func logOutwards(lo, hi float64) (float64, float64) {
	a, b := 0.0, math.Inf(1)
	for e := exponent(lo) - 1; e <= exponent(lo)+1; e++ {
		for _, m := range [...]float64{1, 2, 5} {
			if v := times10(m, e); v <= lo*(1+1e-9) {
				a = v
			}
		}
	}
	for e := exponent(hi) + 1; e >= exponent(hi)-1; e-- {
		for _, m := range [...]float64{5, 2, 1} {
			if v := times10(m, e); v >= hi*(1-1e-9) {
				b = v
			}
		}
	}
	if a <= 0 || math.IsInf(b, 1) {
		return lo, hi
	}
	return a, b
}

// outlying keeps the middle of values, also as float32, inside their fence.
const outlying = 1e-6

// fence returns limits that far outliers among values are outside of: the
// range of the middle 96 %, and as much again on both sides. It sorts values.
func fence(values []float64, log bool) (lo, hi float64) {
	slices.Sort(values)
	n := len(values)
	lo, hi = values[n/50], values[n-1-n/50]
	if log {
		return lo * (lo / hi) * (1 - outlying), hi * (hi / lo) * (1 + outlying)
	}
	spread := (hi - lo) + max(math.Abs(lo), math.Abs(hi))*outlying
	return lo - spread, hi + spread
}

// sampleSize bounds the values from which a fence is found.
const sampleSize = 4096

// sampled appends about every stride-th usable value.
func sampled[T number](to []float64, values []T, stride int, above float64) []float64 {
	for i := 0; i < len(values); i += stride {
		if v := float64(values[i]); v-v == 0 && v > above {
			to = append(to, v)
		}
	}
	return to
}

// limitsX returns the limits of x; false where there is nothing to show.
func (ch *Chart) limitsX(ra *Raster) (lo, hi float64, ok bool) {
	if lo, hi, ok = ch.X.fixed(); ok {
		return lo, hi, true
	}
	e := newExtent(ch.X.Log)
	for i := range ra.xs {
		if x := &ra.xs[i]; x.lo <= x.hi {
			e.lo, e.hi = min(e.lo, x.lo), max(e.hi, x.hi)
		}
	}
	for i := range ch.Scatters {
		add(&e, ch.Scatters[i].X)
	}
	if e.empty() {
		return 0, 0, false
	}
	add(&e, ch.X.Include)
	lo, hi = widen(e.lo, e.hi, ch.X.Log)
	return lo, hi, true
}

// limitsY returns the limits of y for what is shown between the limits of x,
// in a plot of h rows.
func (ch *Chart) limitsY(ra *Raster, xLo, xHi float64, h int) (lo, hi float64, ok bool) {
	if lo, hi, ok = ch.Y.fixed(); ok {
		return lo, hi, true
	}
	e := newExtent(ch.Y.Log)
	if ch.Y.Robust {
		ra.sample = ra.sample[:0]
		total := 0
		for i := range ch.Lines {
			total += len(ch.Lines[i].Y) + len(ch.Lines[i].Y32)
		}
		for i := range ch.Scatters {
			total += len(ch.Scatters[i].Y)
		}
		stride := 1 + total/sampleSize
		for i := range ch.Lines {
			l, x := &ch.Lines[i], &ra.xs[ra.lineX[i]]
			ra.sample = sampled(ra.sample, inView(l.Y, x), stride, e.above)
			ra.sample = sampled(ra.sample, inView(l.Hi, x), stride, e.above)
			ra.sample = sampled(ra.sample, inView(l.Y32, x), stride, e.above)
			ra.sample = sampled(ra.sample, inView(l.Hi32, x), stride, e.above)
		}
		for i := range ch.Scatters {
			ra.sample = sampled(ra.sample, ch.Scatters[i].Y, stride, e.above)
		}
		if len(ra.sample) > 0 {
			e.above, e.below = fence(ra.sample, ch.Y.Log)
			e.lo, e.hi = e.below, e.above
		}
	}
	for i := range ch.Lines {
		l, x := &ch.Lines[i], &ra.xs[ra.lineX[i]]
		if l.Y != nil {
			add(&e, inView(l.Y, x))
			add(&e, inView(l.Hi, x))
		} else {
			add(&e, inView(l.Y32, x))
			add(&e, inView(l.Hi32, x))
		}
	}
	for i := range ch.Bands {
		b, x := &ch.Bands[i], &ra.xs[ra.bandX[i]]
		add(&e, inView(b.Lo, x))
		add(&e, inView(b.Hi, x))
	}
	for i := range ch.Scatters {
		s := &ch.Scatters[i]
		for k := range min(len(s.X), len(s.Y)) {
			if s.X[k] >= xLo && s.X[k] <= xHi {
				add(&e, s.Y[k:k+1])
			}
		}
	}
	if e.empty() {
		return 0, 0, false
	}
	e.above, e.below = newExtent(ch.Y.Log).above, math.Inf(1)
	add(&e, ch.Y.Include)
	lo, hi = widen(e.lo, e.hi, ch.Y.Log)
	if ch.Y.Log {
		lo, hi = logOutwards(lo, hi)
	} else {
		lo, hi = outwards(lo, hi, ticksDown(h))
	}
	return lo, hi, true
}

// inView returns the values at the places of x within its limits.
func inView[T number](values []T, x *xIndex) []T {
	return values[min(x.first, len(values)):min(x.last, len(values))]
}

// ticksDown returns how many ticks are wanted on a vertical axis of h rows.
func ticksDown(h int) int {
	if h < 9 {
		return max(2, (h+1)/2)
	}
	return min(2*h/5+1, 10)
}
