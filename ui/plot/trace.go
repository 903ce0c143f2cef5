package plot

import (
	"math"
	"sort"
)

// xIndex is what lines with the same X share: whether it increases, which part
// of it is within the limits, and which points share a column of dots.
type xIndex struct {
	xs          []float64
	sorted      bool
	lo, hi      float64 // finite ones; lo > hi without any
	first, last int     // [first, last) is within the limits, where sorted
	runs        []xRun  // of [first, last), and one at the end
}

// xRun is a run of points that share a column of dots.
type xRun struct{ col, start int32 }

// index returns the place in ra.xs of the index of xs; xs nil is 0, 1, ..., n-1.
func (ra *Raster) index(xs []float64, n int, log bool) int {
	if xs == nil {
		for len(ra.counter) < n {
			ra.counter = append(ra.counter, float64(len(ra.counter)))
		}
		xs = ra.counter
	}
	xs = xs[:min(n, len(xs))]
	for i := range ra.xs {
		if o := ra.xs[i].xs; len(o) == len(xs) && (len(xs) == 0 || &o[0] == &xs[0]) {
			return i
		}
	}
	var runs []xRun
	if len(ra.xs) < cap(ra.xs) {
		runs = ra.xs[:len(ra.xs)+1][len(ra.xs)].runs[:0]
	}
	x := xIndex{xs: xs, sorted: true, lo: math.Inf(1), hi: math.Inf(-1), runs: runs}
	floor := math.Inf(-1)
	if log {
		floor = 0
	}
	before := math.Inf(-1)
	for _, v := range xs {
		if !(v >= before) || v > math.MaxFloat64 {
			x.sorted = false
		}
		before = v
		if v > floor && v < x.lo && v >= -math.MaxFloat64 {
			x.lo = v
		}
		if v > x.hi && v > floor && v <= math.MaxFloat64 {
			x.hi = v
		}
	}
	ra.xs = append(ra.xs, x)
	return len(ra.xs) - 1
}

// within finds the part of x between two limits.
func (x *xIndex) within(lo, hi float64) {
	x.first, x.last = 0, len(x.xs)
	if x.sorted {
		x.first = sort.SearchFloat64s(x.xs, lo)
		x.last = max(x.first, sort.Search(len(x.xs), func(i int) bool { return x.xs[i] > hi }))
	}
}

// columns finds the runs.
func (x *xIndex) columns(s scale) {
	x.runs = x.runs[:0]
	if !x.sorted {
		return
	}
	col, last := int32(-1), int32(s.n-1)
	for i := x.first; i < x.last; i++ {
		c := int32(s.place(x.xs[i]) + 0.5)
		if c != col {
			col = c
			x.runs = append(x.runs, xRun{min(c, last), int32(i)})
		}
	}
	x.runs = append(x.runs, xRun{-1, int32(x.last)})
}

// arrow stands at the edge where a line is beyond it.
type arrow struct {
	first, last int // columns of dots
	peak        int // the column farthest out
	far         int // rows beyond the edge there
	up          bool
	owner       uint16
}

// tracer draws one line.
type tracer struct {
	ra     *Raster
	x      *xIndex
	sx, sy scale // sy grows downwards: dot 0 is the largest value
	floor  float64
	line   *Line
	out    LineLayout

	open        bool // the last point is connected to the next
	broken      bool // points were missing since the last one drawn
	col         int
	top, bottom int // rows of its column
	point       int // the last one
	marked      int // column of the last mark

	arrows int // those of ra that other lines made
}

// number is what values come as.
type number interface{ float32 | float64 }

// missing counts a value that cannot be drawn.
func (t *tracer) missing(v float64) {
	if v <= t.floor && v >= -math.MaxFloat64 {
		t.out.NonPositive++
	}
	t.open, t.broken = false, t.out.Drawn
}

// rowOf returns the row of a value that is finite and above the floor.
func (t *tracer) rowOf(v float64) int {
	f := t.sy.place(v) + 0.5
	switch {
	case f < 0:
		return int(max(f, -farDot)) - 1
	case f > farDot:
		return farDot
	}
	return int(f)
}

// valid returns point i as a range, false where it is a gap. Where only the
// upper end is above the floor, it stands for the range.
func valid[T number](t *tracer, y, hi []T, i int) (float64, float64, bool) {
	lo := float64(y[i])
	up := lo
	if hi != nil {
		up = float64(hi[i])
		if up < lo {
			lo, up = up, lo
		}
		if lo <= t.floor && lo >= -math.MaxFloat64 {
			lo = up
		}
	}
	return lo, up, lo-lo == 0 && up-up == 0 && lo > t.floor
}

// trace draws the values of a line.
func trace[T number](t *tracer, y, hi []T) {
	n := min(len(t.x.xs), len(y))
	if len(hi) > 0 {
		n = min(n, len(hi))
		hi = hi[:n]
	} else {
		hi = nil
	}
	y = y[:n]
	if !t.x.sorted {
		scribble(t, y, hi)
		return
	}
	ra := t.ra
	first, last := min(t.x.first, n), min(t.x.last, n)
	// Lines that run together have their marks at different places.
	t.marked = -t.markEvery() + int(ra.owner)*4%t.markEvery()
	enter(t, y, hi, first)
	floor := T(t.floor)
	runs, sy := t.x.runs, t.sy
	plain := !t.line.Step && t.line.Mark == 0 && ra.dash == 0
	height := float64(ra.dotsY)
	for k := 1; k < len(runs); k++ {
		col, i, end := int(runs[k-1].col), int(runs[k-1].start), min(int(runs[k].start), last)
		if i >= end {
			break
		}
		lo, up := reach(y[i:end], y[i], y[i])
		if hi != nil {
			lo, up = reach(hi[i:end], lo, up)
		}
		// What cannot be drawn has become an end, or NaN.
		if lo > floor && up-up == 0 {
			if plain && t.open && col == t.col+1 {
				// What put does, where nothing is special.
				top, bottom := sy.place(float64(up))+0.5, sy.place(float64(lo))+0.5
				if top >= 0 && bottom < height {
					from, to := t.join(int(top), int(bottom))
					ra.span(col, from, to) // the last column may lie beyond the plot
					t.col, t.top, t.bottom, t.point = col, int(top), int(bottom), end-1
					continue
				}
			}
			put(t, y, hi, col, i, end, float64(lo), float64(up))
			continue
		}
		pieces(t, y, hi, col, i, end)
	}
	leave(t, y, hi, last)
}

// reach widens lo..up by values; both are NaN where one of them is.
func reach[T number](values []T, lo, up T) (T, T) {
	// Two chains of comparisons, as one would wait for itself.
	lo2, up2 := lo, up
	for len(values) >= 2 {
		lo, up = min(lo, values[0]), max(up, values[0])
		lo2, up2 = min(lo2, values[1]), max(up2, values[1])
		values = values[2:]
	}
	if len(values) == 1 {
		lo, up = min(lo, values[0]), max(up, values[0])
	}
	return min(lo, lo2), max(up, up2)
}

// pieces draws the points i to end of a column that has gaps.
func pieces[T number](t *tracer, y, hi []T, col, i, end int) {
	for i < end {
		lo, up, ok := valid(t, y, hi, i)
		if !ok {
			t.missing(float64(y[i]))
			i++
			continue
		}
		from := i
		if hi != nil && min(y[i], hi[i]) <= T(t.floor) {
			t.out.NonPositive++
		}
		for i++; i < end; i++ {
			a, b, ok := valid(t, y, hi, i)
			if !ok || hi != nil && min(y[i], hi[i]) <= T(t.floor) {
				break
			}
			lo, up = min(lo, a), max(up, b)
		}
		put(t, y, hi, col, from, i, lo, up)
	}
}

// middle returns the middle row of point i, which is valid.
func middle[T number](t *tracer, y, hi []T, i int) int {
	if hi == nil {
		return t.rowOf(float64(y[i]))
	}
	lo, up, _ := valid(t, y, hi, i)
	return (t.rowOf(lo) + t.rowOf(up)) / 2
}

// put draws the connected points i to end of a column, which lie between lo
// and up, and the way to them.
func put[T number](t *tracer, y, hi []T, col, i, end int, lo, up float64) {
	ra := t.ra
	top := t.rowOf(up)
	bottom := top
	if lo != up {
		bottom = t.rowOf(lo)
	}
	from, to := top, bottom
	switch {
	case !t.open:
		if t.broken {
			t.out.Gaps++
		}
	case t.line.Step:
		row := middle(t, y, hi, t.point)
		ra.line(t.col, row, col, row)
		from, to = min(from, row), max(to, row)
	case col-t.col > 1:
		ra.line(t.col, middle(t, y, hi, t.point), col, middle(t, y, hi, i))
	default:
		from, to = t.join(top, bottom)
	}
	ra.span(col, from, to)
	if top < 0 || bottom >= ra.dotsY {
		beyond(t, y, hi, col, i, end, top, bottom)
	}
	t.open, t.broken, t.out.Drawn = true, false, true
	t.col, t.top, t.bottom, t.point = col, top, bottom, end-1
	if t.line.Mark != 0 && col-t.marked >= t.markEvery() {
		t.marked = col
		ra.mark(col, middle(t, y, hi, t.point), t.line.Mark)
	}
}

// join draws the way from the last column to the rows top to bottom of the one
// next to it, and returns the rows that are left to draw there. Where the rows
// of the two do not touch, each takes half of the way.
func (t *tracer) join(top, bottom int) (from, to int) {
	if top > t.bottom+1 {
		half := (top - t.bottom + 1) / 2
		if half > 1 {
			t.ra.span(t.col, t.bottom+1, t.bottom+half-1)
		}
		top = t.bottom + half
	} else if bottom < t.top-1 {
		half := (t.top - bottom + 1) / 2
		if half > 1 {
			t.ra.span(t.col, t.top-half+1, t.top-1)
		}
		bottom = t.top - half
	}
	return top, bottom
}

// markEvery is the distance of the marks on a line, in dots.
func (t *tracer) markEvery() int {
	across, _ := t.ra.glyphs.dots()
	return 9 * across
}

// beyond counts the points of a column that are above or below the plot, and
// puts up an arrow; a run of columns has one, where it is farthest out.
func beyond[T number](t *tracer, y, hi []T, col, i, end, top, bottom int) {
	for ; i < end; i++ {
		if lo, up, ok := valid(t, y, hi, i); ok && (t.rowOf(up) < 0 || t.rowOf(lo) >= t.ra.dotsY) {
			t.out.Clipped++
		}
	}
	across, _ := t.ra.glyphs.dots()
	add := func(up bool, far int) {
		for k := t.arrows; k < len(t.ra.arrows); k++ {
			a := &t.ra.arrows[k]
			if a.up == up && col >= a.first && col-a.last <= across {
				a.last = col
				if far > a.far {
					a.far, a.peak = far, col
				}
				return
			}
		}
		t.ra.arrows = append(t.ra.arrows, arrow{col, col, col, far, up, t.ra.owner})
	}
	if top < 0 {
		add(true, -top)
	}
	if bottom >= t.ra.dotsY {
		add(false, bottom-t.ra.dotsY)
	}
}

// place returns the place of point i in dots, bounded.
func place[T number](t *tracer, y, hi []T, i int) (x, row float64, ok bool) {
	lo, up, ok := valid(t, y, hi, i)
	at := t.x.xs[i]
	if !ok || at-at != 0 || t.sx.log && at <= 0 {
		return 0, 0, false
	}
	bound := func(f float64) float64 { return min(max(f, -farDot), farDot) }
	return bound(t.sx.place(at)), (bound(t.sy.place(lo)) + bound(t.sy.place(up))) / 2, true
}

// enter draws the way from the last point left of the limits.
func enter[T number](t *tracer, y, hi []T, first int) {
	if first == 0 || first >= len(y) {
		return
	}
	x0, r0, ok0 := place(t, y, hi, first-1)
	x1, r1, ok1 := place(t, y, hi, first)
	switch {
	case !ok0 || !ok1:
	case t.line.Step && x1 < float64(t.sx.n):
		t.open, t.col, t.point = true, 0, first-1
	case t.line.Step:
		row := middle(t, y, hi, first-1)
		t.ra.line(0, row, t.sx.n-1, row)
	default:
		t.ra.segment(x0, r0, x1, r1)
	}
}

// leave draws the way to the first point right of the limits and remembers
// where the line ends.
func leave[T number](t *tracer, y, hi []T, last int) {
	if t.out.Drawn {
		across, down := t.ra.glyphs.dots()
		t.out.EndX, t.out.EndY = t.col/across, min(max(middle(t, y, hi, t.point), 0), t.ra.dotsY-1)/down
	}
	if !t.open || last >= len(y) || last == 0 {
		return
	}
	x0, r0, ok0 := place(t, y, hi, last-1)
	x1, r1, ok1 := place(t, y, hi, last)
	switch {
	case !ok0 || !ok1:
	case t.line.Step:
		row := middle(t, y, hi, t.point)
		t.ra.line(t.col, row, t.sx.n-1, row)
	default:
		t.ra.segment(x0, r0, x1, r1)
	}
}

// scribble draws a line whose x does not increase, point by point.
func scribble[T number](t *tracer, y, hi []T) {
	var lastX, lastRow float64
	across, down := t.ra.glyphs.dots()
	for i := range y {
		x, row, ok := place(t, y, hi, i)
		if !ok {
			t.missing(float64(y[i]))
			continue
		}
		if t.open {
			if t.line.Step {
				t.ra.segment(lastX, lastRow, x, lastRow)
				t.ra.segment(x, lastRow, x, row)
			} else {
				t.ra.segment(lastX, lastRow, x, row)
			}
		} else if t.broken {
			t.out.Gaps++
		}
		lo, up, _ := valid(t, y, hi, i)
		top, bottom := t.rowOf(up), t.rowOf(lo)
		if col := int(math.Floor(x + 0.5)); col >= 0 && col < t.ra.dotsX {
			t.ra.span(col, top, bottom)
			if top < 0 || bottom >= t.ra.dotsY {
				beyond(t, y, hi, col, i, i+1, top, bottom)
			}
			t.out.Drawn = true
			t.out.EndX = col / across
			t.out.EndY = min(max(int(row), 0), t.ra.dotsY-1) / down
		}
		lastX, lastRow = x, row
		t.open, t.broken = true, false
	}
}
