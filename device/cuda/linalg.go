//go:build cuda

package cuda

import (
	"example.com/kestrel/device"
	"example.com/kestrel/device/cuda/driver"
)

// panel, pitch and rowsBelow are those of factor.cu.
const (
	panel     = 64
	pitch     = panel + 1
	rowsBelow = 56
	// panelsResident is how many blocks of cholesky_panel a multiprocessor has registers for.
	panelsResident = 2
)

// forWide are the kernels that cards with 64 KiB of shared memory for a block do without.
var forWide = []string{"solve64", "solve64_back", "solve_both", "gemm128_nn", "gemm128_nt", "gemm128_tn"}

// Doubles of a slice of 16 of an operand of products in shared memory, see Tile in gemm.cu: with the
// inner dimension in columns 20 a row, else 4 more than rows.
const (
	slice128  = 128 * 20
	slice128t = 16 * (128 + 4)
	slice64   = 16 * (64 + 4)
	slice64t  = 64 * 20
)

// sharedBytes is the dynamic shared memory of the library's kernels.
var sharedBytes = map[string]int{
	"solve64":          8 * panel * 2 * pitch,
	"solve64_back":     8 * panel * 2 * pitch,
	"solve32":          8 * panel * (33 + pitch),
	"solve32_back":     8 * panel * (33 + pitch),
	"solve1":           8 * panel * pitch,
	"solve1_back":      8 * panel * pitch,
	"solve_both":       8 * panel * 2 * pitch,
	"invert_triangles": 8 * panel * (33 + pitch),
	"cholesky":         8 * panel * pitch,
	"cholesky_panel":   8 * (panel + rowsBelow) * pitch,

	"gemm128_nn": 8 * 3 * (slice128 + slice64),
	"gemm128_nt": 8 * 3 * (slice128 + slice64t),
	"gemm128_tn": 8 * 3 * (slice128t + slice64),

	"cholesky_triangle": 8 * panel * pitch,
	"cholesky_below":    8 * (panel + rowsBelow) * pitch,
}

// part says what of a product is wanted or known, as enum Part in gemm.cu.
type part int

const (
	lowerC part = 1 << iota
	mirrored
	lowerA
	upperA
	lowerB

	whole part = 0
)

// operand is a matrix or a block of one.
type operand struct {
	*array
	offset, pitch int // first entry, numbers from row to row
	trans         bool
}

func full(a *array, trans bool) operand { return operand{array: a, pitch: a.cols, trans: trans} }

// rows and columns of op(a).
func (o operand) shape() (rows, cols int) {
	if o.trans {
		return o.cols, o.rows
	}
	return o.rows, o.cols
}

func (o operand) begin() uint64 { return uint64(o.ptr.Add(8 * o.offset)) }

// paired reports whether rows of every member begin at multiples of 16 bytes.
func (o operand) paired() bool { return o.begin()%16 == 0 && o.stride%2 == 0 && o.pitch%2 == 0 }

// multiplyVector computes c = alpha a x + beta c for the entries of x that index
// lists, or the first; skip is from member to member of x.
func (l *lane) multiplyVector(sub []int, alpha float64, a *array, x, skip, index uint64, beta float64, c *array) {
	const warps = blockThreads / 32
	l.blocks("gemv", sub, ceilDiv(a.rows, warps), blockThreads, driver.Int(a.rows), driver.Int(a.cols), driver.Float(alpha),
		a.at(), a.skip(), x, skip, index, driver.Float(beta), c.at(), c.skip())
}

// shapeOf gives c its shape, which it must have already if beta is not 0.
func shapeOf(c *array, rows, cols int, beta float64) {
	if beta == 0 {
		c.Reshape(rows, cols)
	} else {
		want(c.shaped(rows, cols))
	}
}

func (l *lane) Gemm(sub []int, transA, transB bool, alpha float64, a, b device.Array, beta float64, c device.Array) {
	x, y, z := l.arr(a), l.arr(b), l.arr(c)
	if z == x || z == y {
		panic("cuda: product in place")
	}
	m, k := full(x, transA).shape()
	kb, n := full(y, transB).shape()
	want(k == kb)
	shapeOf(z, m, n, beta)
	if n == 1 && !transA {
		// One column is contiguous whether or not b is transposed.
		l.multiplyVector(sub, alpha, x, y.at(), y.skip(), 0, beta, z)
		return
	}
	l.product(sub, whole, m, n, k, alpha, full(x, transA), full(y, transB), beta, full(z, false))
}

func (l *lane) GemmLower(sub []int, transA, transB bool, alpha float64, a, b, c device.Array) {
	x, y, z := l.arr(a), l.arr(b), l.arr(c)
	if z == x || z == y {
		panic("cuda: product in place")
	}
	n, k := full(x, transA).shape()
	kb, nb := full(y, transB).shape()
	want(k == kb && n == nb)
	z.Reshape(n, n)
	l.product(sub, lowerC, n, n, k, alpha, full(x, transA), full(y, transB), 0, full(z, false))
}

func (l *lane) MulLower(sub []int, trans bool, lower, b, c device.Array) {
	x, y, z := l.arr(lower), l.arr(b), l.arr(c)
	if z == x || z == y {
		panic("cuda: product in place")
	}
	n := x.rows
	want(x.cols == n && y.rows == n)
	z.Reshape(n, y.cols)
	p := lowerA
	if trans {
		p = upperA
	}
	l.product(sub, p, n, y.cols, n, 1, full(x, trans), full(y, false), 0, full(z, false))
}

func (l *lane) Syrk(sub []int, alpha float64, a device.Array, beta float64, c device.Array) {
	x, z := l.arr(a), l.arr(c)
	if z == x {
		panic("cuda: product in place")
	}
	n := x.rows
	shapeOf(z, n, n, beta)
	l.product(sub, mirrored, n, n, x.cols, alpha, full(x, false), full(x, true), beta, full(z, false))
}

func (l *lane) Cholesky(sub []int, a, info device.Array) {
	x, f := l.arr(a), l.arr(info)
	want(x.rows == x.cols && (f == nil || f.shaped(1, 1)))
	n := x.rows
	if n == 0 || len(sub) == 0 {
		return
	}
	if n <= panel {
		l.blocks("cholesky", sub, 1, blockThreads, driver.Int(n), x.at(), x.skip(), f.at(), f.skip())
		return
	}
	diag := uint64(l.grow(&l.diagonals, 8*len(sub)*n*panel))
	status := l.grow(&l.status, 4*len(sub))
	if l.err != nil {
		return
	}
	l.card.Memset(status, 0, 4*len(sub))
	for p := 0; p < n; p += panel {
		// What the columns before contribute to the panel's.
		rows := operand{array: x, offset: p * n, pitch: n}
		if p > 0 {
			here := operand{array: x, offset: p*n + p, pitch: n}
			top := rows
			top.trans = true
			l.product(sub, whole, n-p, min(panel, n-p), p, -1, rows, top, 1, here)
		}
		blocks := ceilDiv(max(0, n-p-panel), rowsBelow)
		if blocks*len(sub) <= l.places {
			l.blocks("cholesky_panel", sub, max(1, blocks), blockThreads, driver.Int(n), driver.Int(p), x.at(), x.skip(), diag, uint64(status))
			continue
		}
		l.blocks("cholesky_triangle", sub, 1, blockThreads, driver.Int(n), driver.Int(p), x.at(), x.skip(), diag, uint64(status))
		l.blocks("cholesky_below", sub, blocks, blockThreads, driver.Int(n), driver.Int(p), x.at(), x.skip(), diag)
	}
	l.square("cholesky_end", sub, n, x.at(), x.skip(), diag, uint64(status), f.at(), f.skip())
}

// solve replaces y by L⁻¹y or L⁻ᵀy; lower: only the lower triangle is wanted.
func (l *lane) solve(sub []int, trans, lower bool, x, y *array) {
	n, cols := x.rows, y.cols
	name := "solve32"
	blocks := ceilDiv(cols, 32)
	args := []uint64{driver.Int(n), driver.Int(cols), x.at(), x.skip(), y.at(), y.skip(), 0}
	threads := 128
	switch {
	case cols == 1:
		name, blocks, threads = "solve1", 1, blockThreads
		args = []uint64{driver.Int(n), x.at(), x.skip(), y.at(), y.skip()}
	case cols > 32 && !l.narrow:
		name, blocks = "solve64", ceilDiv(cols, 64)
	}
	if lower && cols > 1 {
		args[6] = 1
	}
	if trans {
		name += "_back"
	}
	l.blocks(name, sub, blocks, threads, args...)
}

func (l *lane) Solve(sub []int, trans bool, lower, b device.Array) {
	x, y := l.arr(lower), l.arr(b)
	if x == y {
		panic("cuda: solve in place")
	}
	want(x.cols == x.rows && y.rows == x.rows)
	l.solve(sub, trans, false, x, y)
}

func (l *lane) LogDiag(sub []int, a, out device.Array) {
	x, o := l.arr(a), l.arr(out)
	want(x.rows == x.cols)
	o.Reshape(1, 1)
	l.blocks("log_diag", sub, 1, blockThreads, driver.Int(x.rows), x.at(), x.skip(), o.at(), o.skip())
}
