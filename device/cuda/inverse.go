//go:build cuda

package cuda

import (
	"example.com/kestrel/device"
	"example.com/kestrel/device/cuda/driver"
)

// leastInverted is the size from which on SolveBoth multiplies by the inverse of L: more than two
// panels, whose substitutions would follow one another. It decides by the size alone, since the
// last digits of the two ways differ.
const leastInverted = 2*panel + 1

func (l *lane) SolveBoth(sub []int, lower, s device.Array) {
	x, y := l.arr(lower), l.arr(s)
	if x == y {
		panic("cuda: solve in place")
	}
	n := x.rows
	want(x.cols == n && y.shaped(n, n))
	switch {
	case n == 0 || len(sub) == 0:
	case n <= panel && !l.narrow:
		l.blocks("solve_both", sub, 1, panel, driver.Int(n), x.at(), x.skip(), y.at(), y.skip())
	case n >= l.inverts:
		l.solveBothByInverse(sub, x, y)
	default:
		// L⁻ᵀ s, transposed s L⁻¹, then the lower triangle of L⁻ᵀ of that.
		l.tiled("mirror", sub, y)
		l.solve(sub, true, false, x, y)
		l.tiled("transpose_square", sub, y)
		l.solve(sub, true, true, x, y)
		l.tiled("mirror", sub, y)
	}
}

// Inverse is SolveBoth of I, or WᵀW where that has W = L⁻¹.
func (l *lane) Inverse(sub []int, lower, s device.Array) {
	x, y := l.arr(lower), l.arr(s)
	if x == y {
		panic("cuda: inverse in place")
	}
	n := x.rows
	want(x.cols == n)
	y.Reshape(n, n)
	if n < l.inverts || len(sub) == 0 {
		l.Fill(sub, s, 0)
		l.AddDiagonal(sub, s, 1)
		l.SolveBoth(sub, lower, s)
		return
	}
	if w, work, ok := l.forInverse(x); ok {
		l.invert(sub, x, w, work)
		l.product(sub, mirrored|upperA, n, n, n, 1, full(w, true), full(w, false), 0, full(y, false))
	}
}

// forInverse are two arrays as x is, in scratch memory; not ok where there is none.
func (l *lane) forInverse(x *array) (w, work *array, ok bool) {
	bytes := 8 * x.count * x.rows * x.rows
	p := l.grow(&l.inverses, 2*bytes)
	at := func(p driver.Ptr) *array {
		return &array{lane: l, count: x.count, rows: x.rows, cols: x.rows, stride: x.rows * x.rows, ptr: p}
	}
	return at(p), at(p.Add(bytes)), l.err == nil
}

// tiled runs a kernel (sub, n, a) with a block for each 32 x 32 tile of the lower triangle of a.
func (l *lane) tiled(name string, sub []int, a *array) {
	tiles := ceilDiv(a.rows, 32)
	l.blocks(name, sub, tiles*(tiles+1)/2, blockThreads, driver.Int(a.rows), a.at(), a.skip())
}

// solveBothByInverse replaces y by L⁻ᵀ y L⁻¹ as products with W = L⁻¹, all n x n:
//
//	V = tril(y W)    L⁻ᵀ y L⁻¹ = Wᵀ V on and below the diagonal
//
// where entry (i, j) of the second, i >= j, takes entries (k, j) of V with k >= i alone. With the
// inverse that is n³/3 + 2n³/3 + n³/3 operations, as many as the two solves have, but all tiles of a
// product at once where a solve's block goes from panel to panel.
func (l *lane) solveBothByInverse(sub []int, x, y *array) {
	n := x.rows
	w, v, ok := l.forInverse(x)
	if !ok {
		return
	}
	l.invert(sub, x, w, v)
	l.tiled("mirror", sub, y)
	l.product(sub, lowerC|lowerB, n, n, n, 1, full(y, false), full(w, false), 0, full(v, false))
	l.product(sub, mirrored|upperA, n, n, n, 1, full(w, true), full(v, false), 0, full(y, false))
}

// invert computes w = L⁻¹ on and below the diagonal and in diagonal blocks of 2 panels, where it
// has zeros above; other blocks above are left as they are. work is scratch, all n x n. Of two
// diagonal blocks of L that are inverted and L₂₁ between them
//
//	W₂₁ = −W₂₂ (L₂₁ W₁₁)
//
// makes one of twice the size: panels first, and all pairs of a size at once.
func (l *lane) invert(sub []int, x, w, work *array) {
	n := x.rows
	l.blocks("invert_triangles", sub, 2*ceilDiv(n, panel), 128, driver.Int(n), x.at(), x.skip(), w.at(), w.skip())
	for h := panel; h < n; h *= 2 {
		below := 8 * h * n // bytes from a diagonal block to the one below it
		second := below + 8*h
		l.pairs(sub, lowerB, n, h, 1, x, below, w, 0, work, below)
		l.pairs(sub, lowerA, n, h, -1, w, second, work, below, w, below)
	}
}

// pairs computes c = alpha a b for all pairs of diagonal blocks of h rows, see gemm64_pairs; the
// first pair's operands begin so many bytes into the matrices.
func (l *lane) pairs(sub []int, p part, n, h int, alpha float64, a *array, fromA int, b *array, fromB int, c *array, fromC int) {
	l.begin(sub)
	l.args = append(l.args, driver.Int(n), driver.Int(h), driver.Float(alpha), uint64(a.ptr.Add(fromA)), a.skip(),
		uint64(b.ptr.Add(fromB)), b.skip(), uint64(c.ptr.Add(fromC)), c.skip(), driver.Int(int(p)))
	tiles := ceilDiv(h, 64)
	l.launchMany(l.library["gemm64_pairs"], sub, tiles*tiles, ceilDiv(n-h, 2*h), 128, 0)
}
