package cpu

import (
	"gonum.org/v1/gonum/blas"
	gonum "gonum.org/v1/gonum/blas/gonum"

	"kestrel/device"
)

// blasImpl is called directly, not through the exchangeable blas64.
var blasImpl gonum.Implementation

// gonum's Dgemm starts goroutines from four blocks of 64 x 64 up. Panels of
// panelRows x panelCols hold three, so that a lane keeps to its core; panelDepth
// keeps a panel of b in the second-level cache.
const (
	panelRows  = 64
	panelCols  = 192
	panelDepth = 256
)

func trans(t bool) blas.Transpose {
	if t {
		return blas.Trans
	}
	return blas.NoTrans
}

// gemm computes c = alpha op(a) op(b) + beta c for c of m x n, op(a) of m x k,
// row-major with the leading dimensions lda, ldb, ldc, on the calling
// goroutine. With beta = 0 the old content of c is not read.
func (l *lane) gemm(transA, transB bool, m, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int, beta float64, c []float64, ldc int) {
	if m == 0 || n == 0 {
		return
	}
	if transA && transB {
		// gonum's loop for this case has stride ldb inside; transposing b once
		// costs little.
		l.block = grow(l.block, n*k)
		for j := range n {
			for i, v := range b[j*ldb : j*ldb+k] {
				l.block[i*n+j] = v
			}
		}
		b, ldb, transB = l.block, n, false
	}
	for k0 := 0; k0 == 0 || k0 < k; k0 += panelDepth {
		kc := min(panelDepth, k-k0)
		if k0 > 0 {
			beta = 1
		}
		for j0 := 0; j0 < n; j0 += panelCols {
			nc := min(panelCols, n-j0)
			bp := k0*ldb + j0
			if transB {
				bp = j0*ldb + k0
			}
			for i0 := 0; i0 < m; i0 += panelRows {
				mc := min(panelRows, m-i0)
				ap := i0*lda + k0
				if transA {
					ap = k0*lda + i0
				}
				blasImpl.Dgemm(trans(transA), trans(transB), mc, nc, kc, alpha, from(a, ap), lda, from(b, bp), ldb, beta, c[i0*ldc+j0:], ldc)
			}
		}
	}
}

// from is a[i:], also where nothing is left of a.
func from(a []float64, i int) []float64 {
	if i >= len(a) {
		return nil
	}
	return a[i:]
}

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
		case k == 0 || m == 0:
			scale(beta, zi)
		case n == 1:
			// One column is contiguous whether or not b is transposed.
			gemv(transA, x.rows, x.cols, alpha, xi, yi, beta, zi)
		case m == 1:
			gemv(!transB, y.rows, y.cols, alpha, yi, xi, beta, zi)
		default:
			l.gemm(transA, transB, m, n, k, alpha, xi, x.cols, yi, y.cols, beta, zi, n)
		}
	}
}

func gemv(transA bool, rows, cols int, alpha float64, a, x []float64, beta float64, y []float64) {
	if len(y) == 0 {
		return
	}
	if beta == 0 {
		clear(y)
	}
	blasImpl.Dgemv(trans(transA), rows, cols, alpha, a, cols, x, 1, beta, y, 1)
}

// scale computes a *= beta, where beta = 0 does not read a.
func scale(beta float64, a []float64) {
	if beta == 0 {
		clear(a)
		return
	}
	for i := range a {
		a[i] *= beta
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
		zi := z.member(i)
		if x.cols == 0 {
			scale(beta, zi)
			continue
		}
		if n > 0 {
			l.syrk(n, x.cols, alpha, x.member(i), x.cols, beta, zi, n)
			mirror(zi, n)
		}
	}
}

// syrk computes the lower triangle of c = alpha a aᵀ + beta c, c of n x n, a of n x k.
func (l *lane) syrk(n, k int, alpha float64, a []float64, lda int, beta float64, c []float64, ldc int) {
	for k0 := 0; k0 < k; k0 += panelDepth {
		kc := min(panelDepth, k-k0)
		if k0 > 0 {
			beta = 1
		}
		for i0 := 0; i0 < n; i0 += panelRows {
			nc := min(panelRows, n-i0)
			if i0 > 0 {
				l.gemm(false, true, nc, i0, kc, alpha, a[i0*lda+k0:], lda, a[k0:], lda, beta, c[i0*ldc:], ldc)
			}
			if beta == 0 {
				for i := i0; i < i0+nc; i++ {
					clear(c[i*ldc+i0 : i*ldc+i+1])
				}
			}
			blasImpl.Dsyrk(blas.Lower, blas.NoTrans, nc, kc, alpha, a[i0*lda+k0:], lda, beta, c[i0*ldc+i0:], ldc)
		}
	}
}
