package cpu

import "example.com/kestrel/device/cpu/simd"

// Operations that go over a matrix entry by entry, or row by row, are limited by memory,
// of which several cores get more than one. They are divided from leastEntries on, in
// stretches of at least partEntries.
const (
	leastEntries = 1 << 16
	partEntries  = 1 << 14
)

// stretches is such an operation, on entries or rows from to to.
type stretches struct {
	do            func(s *stretches, from, to int)
	level         simd.Level
	n, pieces     int
	align         int // what stretches begin at multiples of; 0: of every vector
	a, b, c, d, e []float64
	x, y          float64
	cols          int
	trans         bool
	adam          simd.Adam
}

// entire reports whether an operation on so many entries is done at once.
func (l *lane) entire(entries int) bool { return entries < leastEntries || l.cores() == 1 }

// stretch does an operation on n entries, or on n rows of that many, in stretches.
func (l *lane) stretch(n, width int, s stretches) {
	s.level, s.n = l.level, n
	if s.align == 0 {
		s.align = 8
	}
	s.pieces = max(1, min(4*l.cores(), n*width/partEntries))
	l.stretched = s
	l.divide(s.pieces, &l.stretched)
	l.stretched = stretches{}
}

func (s *stretches) part(_ *scratch, i int) {
	panels := (s.n + s.align - 1) / s.align
	from, to := min(s.n, panels*i/s.pieces*s.align), min(s.n, panels*(i+1)/s.pieces*s.align)
	if from < to {
		s.do(s, from, to)
	}
}

func stretchCopy(s *stretches, from, to int) { copy(s.a[from:to], s.b[from:to]) }

func stretchFill(s *stretches, from, to int) { fill(s.a[from:to], s.x) }

func stretchAxpy(s *stretches, from, to int) { s.level.Axpy(s.x, s.b[from:to], s.a[from:to]) }

func stretchScale(s *stretches, from, to int) { scale(s.level, s.x, s.b[from:to], s.a[from:to]) }

// gemv is Level.Gemv in stretches of y, which add the same in the same order; gonum's
// does not.
func (l *lane) gemv(trans bool, rows, cols int, alpha float64, a, x []float64, beta float64, y []float64) {
	if l.level == simd.Portable || l.entire(rows*cols) {
		l.level.Gemv(trans, rows, cols, alpha, a, cols, x, beta, y)
		return
	}
	n, width := rows, cols
	if trans {
		n, width = cols, rows
	}
	l.stretch(n, width, stretches{do: stretchGemv, a: a, b: x, c: y, x: alpha, y: beta, cols: cols, trans: trans})
}

func stretchGemv(s *stretches, from, to int) {
	if s.trans {
		s.level.Gemv(true, len(s.b), to-from, s.x, s.a[from:], s.cols, s.b, s.y, s.c[from:to])
		return
	}
	s.level.Gemv(false, to-from, s.cols, s.x, s.a[from*s.cols:], s.cols, s.b, s.y, s.c[from:to])
}

// dotEntries is how many entries a sum of products has in each of its parts, which are
// then added in order, on one core, too.
const dotEntries = 1 << 16

// dot is Level.Dot.
func (l *lane) dot(x, y []float64) float64 {
	if len(x) <= dotEntries {
		return l.level.Dot(x, y)
	}
	n := (len(x) + dotEntries - 1) / dotEntries
	l.terms = grow(l.terms, n)
	s := stretches{do: stretchDot, level: l.level, align: 1, a: l.terms, b: x, c: y}
	if l.entire(len(x)) {
		stretchDot(&s, 0, n)
	} else {
		l.stretch(n, dotEntries, s)
	}
	return sum(l.terms)
}

func stretchDot(s *stretches, from, to int) {
	for i := from; i < to; i++ {
		at, end := i*dotEntries, min((i+1)*dotEntries, len(s.b))
		s.a[i] = s.level.Dot(s.b[at:end], s.c[at:end])
	}
}
