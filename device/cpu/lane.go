package cpu

import (
	"fmt"
	"weak"

	"example.com/kestrel/device"
	"example.com/kestrel/device/cpu/simd"
)

// lane is one core's queue; it holds the scratch memory of its operations. Large ones are
// done in parts, for which it has helpers while there are cores without work.
type lane struct {
	gang
	level   simd.Level
	tile    tile
	gatherA columns
	gatherB columns
	ys      []float64 // gathered targets
	terms   []float64 // of a sum
	left    func()    // what Occupy returns
	work    simd.Workspace
	// Arrays with tapes, entries of all of these, and the most that they may have.
	withTapes        []weak.Pointer[array]
	taped, mostTaped int
	// Operations in parts.
	algebra   algebra
	tiles     tileParts
	stretched stretches
}

func newLane(level simd.Level, t *Team, mostTaped int) *lane {
	l := &lane{gang: newGang(t), level: level, mostTaped: mostTaped}
	l.left = func() {
		l.busy = false
		l.team.leave()
	}
	if t.size > 1 {
		l.algebra.gang = &l.gang
		l.work.Divider = &l.algebra
	}
	return l
}

// Occupy says that the lane is at work from now on, with what is between its operations,
// until leave is called.
func (l *lane) Occupy() (leave func()) {
	if l.busy {
		return func() {}
	}
	l.busy = true
	l.team.enter()
	return l.left
}

// algebra lets a lane's products, solves and factorisations be divided.
type algebra struct {
	gang *gang
	of   simd.Parts // in hand
}

func (a *algebra) Cores() int { return a.gang.cores() }

func (a *algebra) Divide(n int, of simd.Parts) {
	a.of = of
	a.gang.divide(n, a)
}

func (a *algebra) part(s *scratch, i int) { a.of.Part(&s.work, i) }

func (l *lane) NewArray(count, rows, cols int) (device.Array, error) {
	if count < 0 || rows < 0 || cols < 0 {
		return nil, fmt.Errorf("array of %d x (%d x %d): %w", count, rows, cols, errSize)
	}
	return &array{count: count, rows: rows, cols: cols, stride: rows * cols,
		data: make([]float64, count*rows*cols)}, nil
}

func (l *lane) NewIndex(rows []int32) (device.Index, error) {
	return &index{rows: append([]int32(nil), rows...)}, nil
}

func (l *lane) Free(things ...any) {
	for _, t := range things {
		switch t := t.(type) {
		case nil:
		case *array:
			*t = array{}
		case *index:
			t.rows = nil
		case *kernels:
			*t = kernels{}
		default:
			panic("cpu: freed what is not an array, index or kernels of this device")
		}
	}
}

func (l *lane) Write(a device.Array, k int, src []float64) {
	dst := arr(a).member(k)
	want(len(src) == len(dst))
	copy(dst, src)
}

func (l *lane) Read(a device.Array, k int, dst []float64) error {
	src := arr(a).member(k)
	want(len(src) == len(dst))
	copy(dst, src)
	return nil
}

func (l *lane) Sync() error { return nil }

func (l *lane) Copy(sub []int, dst, src device.Array) {
	d, s := arr(dst), arr(src)
	d.Reshape(s.rows, s.cols)
	for _, k := range sub {
		to, from := d.member(k), s.member(k)
		if l.entire(len(to)) {
			copy(to, from)
		} else {
			l.stretch(len(to), 1, stretches{do: stretchCopy, a: to, b: from})
		}
	}
}

func (l *lane) Fill(sub []int, a device.Array, value float64) {
	x := arr(a)
	for _, k := range sub {
		m := x.member(k)
		if l.entire(len(m)) {
			fill(m, value)
		} else {
			l.stretch(len(m), 1, stretches{do: stretchFill, a: m, x: value})
		}
	}
}

func (l *lane) Transpose(sub []int, dst, src device.Array) {
	d, s := arr(dst), arr(src)
	if d == s {
		panic("cpu: transpose in place")
	}
	d.Reshape(s.cols, s.rows)
	for _, k := range sub {
		l.level.Transpose(s.rows, s.cols, d.member(k), s.rows, s.member(k), s.cols)
	}
}

func (l *lane) AddScaled(sub []int, dst device.Array, alpha float64, src device.Array) {
	d, s := arr(dst), arr(src)
	want(d.shaped(s.rows, s.cols))
	for _, k := range sub {
		to, from := d.member(k), s.member(k)
		if l.entire(len(to)) {
			l.level.Axpy(alpha, from, to)
		} else {
			l.stretch(len(to), 1, stretches{do: stretchAxpy, a: to, b: from, x: alpha})
		}
	}
}

func (l *lane) AddDiagonal(sub []int, a device.Array, value float64) {
	x := arr(a)
	want(x.rows == x.cols)
	for _, k := range sub {
		addDiagonal(x.member(k), x.rows, value)
	}
}

func addDiagonal(a []float64, n int, value float64) {
	for i := range n {
		a[i*n+i] += value
	}
}

func (l *lane) Triangle(sub []int, a device.Array, diag float64) {
	x := arr(a)
	want(x.rows == x.cols)
	n := x.rows
	for _, k := range sub {
		m := x.member(k)
		for i := range n {
			m[i*n+i] *= diag
			clear(m[i*n+i+1 : (i+1)*n])
		}
	}
}

// grow returns s with length n, its content undefined.
func grow(s []float64, n int) []float64 {
	if cap(s) < n {
		return make([]float64, n)
	}
	return s[:n]
}
