package simd

// Large operations are divided into parts that may be done on several cores at once.
// No bit of a result depends on how: an entry of a product, of a solution or of a factor
// is the same sum in the same order in whatever part it is computed, since parts begin
// where tiles of the microkernels (panels of gonum's loops) would begin anyway, and k is
// never divided.

// Divider has an operation done in parts.
type Divider interface {
	// Cores returns how many cores there are at this moment, the caller's among them.
	Cores() int
	// Divide has parts 0 to n−1 done, in any order and each with a workspace that no
	// other has meanwhile, and returns when all are done.
	Divide(n int, p Parts)
}

// Parts is an operation in parts. A workspace that a part gets has no Divider.
type Parts interface{ Part(w *Workspace, i int) }

const (
	// leastDivided is the number of multiplications from which on an operation is
	// divided, some 30 µs, and leastPart what a part has at least: to hand one over
	// takes microseconds.
	leastDivided = 1 << 20
	leastPart    = 1 << 17
	// leastMoved is the same in entries for what only moves them.
	leastMoved = 1 << 17
	// partsEach is how many parts there are for each core where there is room for so
	// many, so that cores that differ end together.
	partsEach = 3
)

// cores returns how many cores an operation of so many multiplications is worth.
func (w *Workspace) cores(work int) int {
	if work < leastDivided {
		return 1
	}
	return w.most(work)
}

//go:noinline
func (w *Workspace) most(work int) int { // so that the questions above are inlined
	if w.Divider == nil {
		return 1
	}
	return min(w.Divider.Cores(), work/leastPart)
}

// moves reports whether an operation that moves so many entries is divided.
func (w *Workspace) moves(entries int) bool {
	return entries >= leastMoved && w.most(entries) > 1
}

// cut returns where piece i of n entries begins: all pieces but the last are multiples of
// align.
func cut(n, align, pieces, i int) int {
	return min(n, (n+align-1)/align*i/pieces*align)
}

// align returns the multiples of which rows and columns parts of a product must begin.
func (l Level) align() (rows, cols int) {
	if l.assembly() {
		return l.mr(), l.nr()
	}
	return panelRows, panelCols
}

// blocks is how the result of a product is divided.
type blocks struct {
	part         Part
	m, n         int
	rows, cols   int // what blocks begin at multiples of
	down, across int // blocks
}

// divides reports whether a product of m x n can be divided: triangles are square.
func (p Part) divides(m, n int) bool { return p != LowerC && p != UpperC || m == n }

func (l Level) blocks(part Part, m, n, k, cores int) blocks {
	b := blocks{part: part, m: m, n: n, down: 1}
	b.rows, b.cols = l.align()
	count := max(1, min(partsEach*cores, m*n*k/leastPart))
	rowPanels, colPanels := (m+b.rows-1)/b.rows, (n+b.cols-1)/b.cols
	switch part {
	case LowerC, UpperC:
		// Square blocks, of which those on the diagonal are halves.
		b.rows = max(b.rows, b.cols)
		b.cols = b.rows
		for b.down < (n+b.cols-1)/b.cols && b.down*b.down < 2*count {
			b.down++
		}
		b.across = b.down
	case LowerA, UpperA:
		b.across = min(count, colPanels)
	default:
		// As nearly square as they can be.
		for b.across = 1; b.across < min(count, colPanels) && b.across*b.across*m < count*n; {
			b.across++
		}
		b.down = max(1, min(count/b.across, rowPanels))
	}
	return b
}

func (b *blocks) count() int {
	if b.part == LowerC || b.part == UpperC {
		return b.down * (b.down + 1) / 2
	}
	return b.down * b.across
}

// block returns rows i0 to i1 and columns j0 to j1 of block i, and which part of it counts.
func (b *blocks) block(i int) (i0, i1, j0, j1 int, part Part) {
	down, across := i/b.across, i%b.across
	part = b.part
	if part == LowerC || part == UpperC {
		for down = 0; i > down; down++ {
			i -= down + 1
		}
		across = i
		if across < down {
			part = Full
		}
		if b.part == UpperC {
			down, across = across, down
		}
	}
	return cut(b.m, b.rows, b.down, down), cut(b.m, b.rows, b.down, down+1),
		cut(b.n, b.cols, b.across, across), cut(b.n, b.cols, b.across, across+1), part
}

// product is a product in parts.
type product struct {
	blocks
	l     Level
	k     int
	alpha float64
	a, b  matrix
	add   bool
	c     matrix
}

func (l Level) divideProduct(w *Workspace, cores int, part Part, m, n, k int, alpha float64, a, b matrix, add bool, c matrix) {
	w.product = product{l.blocks(part, m, n, k, cores), l, k, alpha, a, b, add, c}
	w.Divider.Divide(w.product.count(), &w.product)
}

func (p *product) Part(w *Workspace, i int) {
	i0, i1, j0, j1, part := p.block(i)
	if i0 < i1 && j0 < j1 {
		p.l.gemm(w, part, i1-i0, j1-j0, p.k, p.alpha, p.a.from(i0, 0), p.b.from(0, j0), p.add, p.c.from(i0, j0))
	}
}

// portableProduct is that of gonum.
type portableProduct struct {
	blocks
	transA, transB bool
	k              int
	alpha, beta    float64
	a, b, c        []float64
	lda, ldb, ldc  int
}

func (p *portableProduct) Part(w *Workspace, i int) {
	i0, i1, j0, j1, part := p.block(i)
	if i0 == i1 || j0 == j1 {
		return
	}
	a, b := p.a, p.b
	if p.transA {
		a = a[i0:]
	} else {
		a = a[i0*p.lda:]
	}
	if p.transB {
		b = b[j0*p.ldb:]
	} else {
		b = b[j0:]
	}
	gemmPortable(w, part, p.transA, p.transB, i1-i0, j1-j0, p.k, p.alpha, a, p.lda, b, p.ldb, p.beta, p.c[i0*p.ldc+j0:], p.ldc)
}

// columns divides m columns on which the same is done, and returns into how many pieces:
// few and wide ones, since each reads all of a triangle.
func (l Level) columns(m, cores int) int {
	_, align := l.align()
	panels := (m + align - 1) / align
	const wide = 16
	return min(panels, cores*min(partsEach, max(1, panels/(wide*cores))))
}

// solution is a triangular solve in parts, by columns.
type solution struct {
	l            Level
	n, m, pieces int
	t, b         matrix
}

func (l Level) divideSolution(w *Workspace, cores, n, m int, t, b matrix) {
	w.solution = solution{l, n, m, l.columns(m, cores), t, b}
	w.Divider.Divide(w.solution.pieces, &w.solution)
}

func (s *solution) Part(w *Workspace, i int) {
	_, align := s.l.align()
	if j0, j1 := cut(s.m, align, s.pieces, i), cut(s.m, align, s.pieces, i+1); j0 < j1 {
		s.l.solveLower(w, s.n, j1-j0, s.t, s.b.from(0, j0))
	}
}

// portableSolution is that of gonum.
type portableSolution struct {
	trans        bool
	n, m, pieces int
	lower, b     []float64
	ldl, ldb     int
}

func (s *portableSolution) Part(w *Workspace, i int) {
	if j0, j1 := cut(s.m, panelCols, s.pieces, i), cut(s.m, panelCols, s.pieces, i+1); j0 < j1 {
		solvePortable(w, s.trans, s.n, j1-j0, s.lower, s.ldl, s.b[j0:], s.ldb)
	}
}

// half is solveHalf in parts, by columns.
type half struct {
	l         Level
	n, pieces int
	lower, s  []float64
	ldl, lds  int
}

func (h *half) Part(w *Workspace, i int) {
	if j0, j1 := halfCut(h.n, h.pieces, i), halfCut(h.n, h.pieces, i+1); j0 < j1 {
		h.l.solveHalf(w, h.n, j0, j1, h.lower, h.ldl, h.s, h.lds)
	}
}

// halfCut is cut for columns whose work falls with the square of what is left of them:
// piece i begins where i/pieces of n³/3 are done.
func halfCut(n, pieces, i int) int {
	const align = 2 * halfColumns
	for at := 0; at < n; at += align {
		if left := float64(n-at) / float64(n); left*left*left <= 1-float64(i)/float64(pieces) {
			return at
		}
	}
	return n
}

// triangle is what moves the entries of half a square matrix, in parts by rows.
type triangle struct {
	l      Level
	do     func(l Level, from, to, n int, a []float64, lda int)
	n      int
	pieces int
	a      []float64
	lda    int
}

func (t *triangle) Part(_ *Workspace, i int) {
	// A multiple of every tile, and of a line of the caches.
	const align = 8
	t.do(t.l, cut(t.n, align, t.pieces, i), cut(t.n, align, t.pieces, i+1), t.n, t.a, t.lda)
}

// half of a matrix has so many pieces for each core, since they are not equal.
const piecesEach = 4

func (l Level) onTriangle(w *Workspace, do func(l Level, from, to, n int, a []float64, lda int), n int, a []float64, lda int) {
	w.triangle = triangle{l: l, do: do, n: n, pieces: piecesEach * w.Divider.Cores(), a: a, lda: lda}
	w.Divider.Divide(w.triangle.pieces, &w.triangle)
}
