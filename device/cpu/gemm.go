package cpu

import (
	"example.com/kestrel/device"
	"example.com/kestrel/device/cpu/simd"
)

func opShape(a *array, t bool) (rows, cols int) {
	if t {
		return a.cols, a.rows
	}
	return a.rows, a.cols
}

func (l *lane) Gemm(sub []int, transA, transB bool, alpha float64, a, b device.Array, beta float64, c device.Array) {
	x, y, z := arr(a), arr(b), arr(c)
	if z == x || z == y {
		panic("cpu: product in place")
	}
	m, k := opShape(x, transA)
	kb, n := opShape(y, transB)
	want(k == kb)
	if beta == 0 {
		z.Reshape(m, n)
	} else {
		want(z.shaped(m, n))
	}
	for _, i := range sub {
		xi, yi, zi := x.member(i), y.member(i), z.member(i)
		switch {
		case n == 1:
			// One column is contiguous whether or not b is transposed.
			l.gemv(transA, x.rows, x.cols, alpha, xi, yi, beta, zi)
		case m == 1:
			l.gemv(!transB, y.rows, y.cols, alpha, yi, xi, beta, zi)
		default:
			l.level.Gemm(&l.work, simd.Full, transA, transB, m, n, k, alpha, xi, x.cols, yi, y.cols, beta, zi, n)
		}
	}
}

func (l *lane) GemmLower(sub []int, transA, transB bool, alpha float64, a, b, c device.Array) {
	x, y, z := arr(a), arr(b), arr(c)
	if z == x || z == y {
		panic("cpu: product in place")
	}
	n, k := opShape(x, transA)
	kb, nb := opShape(y, transB)
	want(k == kb && n == nb)
	z.Reshape(n, n)
	for _, i := range sub {
		zi := z.member(i)
		l.level.Gemm(&l.work, simd.LowerC, transA, transB, n, n, k, alpha, x.member(i), x.cols, y.member(i), y.cols, 0, zi, n)
		l.level.ClearUp(&l.work, n, zi, n)
	}
}

func (l *lane) MulLower(sub []int, trans bool, lower, b, c device.Array) {
	x, y, z := arr(lower), arr(b), arr(c)
	if z == x || z == y {
		panic("cpu: product in place")
	}
	n := x.rows
	want(x.cols == n && y.rows == n)
	z.Reshape(n, y.cols)
	part := simd.LowerA
	if trans {
		part = simd.UpperA
	}
	for _, i := range sub {
		l.level.Gemm(&l.work, part, trans, false, n, y.cols, n, 1, x.member(i), n, y.member(i), y.cols, 0, z.member(i), y.cols)
	}
}

func (l *lane) Syrk(sub []int, alpha float64, a device.Array, beta float64, c device.Array) {
	x, z := arr(a), arr(c)
	if z == x {
		panic("cpu: product in place")
	}
	n := x.rows
	if beta == 0 {
		z.Reshape(n, n)
	} else {
		want(z.shaped(n, n))
	}
	for _, i := range sub {
		xi, zi := x.member(i), z.member(i)
		l.level.Gemm(&l.work, simd.LowerC, false, true, n, n, x.cols, alpha, xi, x.cols, xi, x.cols, beta, zi, n)
		l.level.MirrorUp(&l.work, n, zi, n)
	}
}
