package simd

import (
	"math"

	"gonum.org/v1/gonum/blas"
	gonum "gonum.org/v1/gonum/blas/gonum"
)

// blasImpl is called directly, not through the exchangeable blas64.
var blasImpl gonum.Implementation

// gonum's Dgemm starts goroutines from four blocks of 64 x 64 up. Panels of
// panelRows x panelCols hold three, so that a caller keeps to its core;
// panelDepth keeps a panel of b in the second-level cache.
const (
	panelRows  = 64
	panelCols  = 192
	panelDepth = 256
)

// diagonalBlock is the size of the diagonal blocks of solves and factorisations.
const diagonalBlock = 64

func trans(t bool) blas.Transpose {
	if t {
		return blas.Trans
	}
	return blas.NoTrans
}

// gemmPortable is Gemm by gonum, on the calling goroutine. Of the parts it
// leaves out whole panels.
func gemmPortable(w *Workspace, part Part, transA, transB bool, m, n, k int, alpha float64,
	a []float64, lda int, b []float64, ldb int, beta float64, c []float64, ldc int) {
	if cores := w.cores(m * n * k); cores > 1 && part.divides(m, n) {
		w.portableProduct = portableProduct{Portable.blocks(part, m, n, k, cores), transA, transB, k, alpha, beta, a, b, c, lda, ldb, ldc}
		w.Divider.Divide(w.portableProduct.count(), &w.portableProduct)
		return
	}
	if transA && transB {
		// gonum's loop for this case has stride ldb inside; transposing b once
		// costs little.
		w.b = grow(w.b, n*k)
		for j := range n {
			for i, v := range b[j*ldb : j*ldb+k] {
				w.b[i*n+j] = v
			}
		}
		b, ldb, transB = w.b, n, false
	}
	for k0 := 0; k0 < k; k0 += panelDepth {
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
				if part == LowerC && j0 >= i0+mc || part == UpperC && j0+nc <= i0 {
					continue
				}
				ap := i0*lda + k0
				if transA {
					ap = k0*lda + i0
				}
				blasImpl.Dgemm(trans(transA), trans(transB), mc, nc, kc, alpha, a[ap:], lda, b[bp:], ldb, beta, c[i0*ldc+j0:], ldc)
			}
		}
	}
}

// choleskyPortable is Cholesky, left-looking: every block column takes all
// earlier ones off at once. Entries above the diagonal are scratch.
func choleskyPortable(w *Workspace, n int, a []float64, lda int) int {
	const nb = diagonalBlock
	for j0 := 0; j0 < n; j0 += nb {
		jb := min(nb, n-j0)
		d := a[j0*lda+j0:]
		if j0 > 0 {
			gemmPortable(w, Full, false, true, jb, jb, j0, -1, a[j0*lda:], lda, a[j0*lda:], lda, 1, d, lda)
		}
		if i := choleskySmall(jb, d, lda); i > 0 {
			return j0 + i
		}
		i0 := j0 + jb
		if rest := n - i0; rest > 0 {
			if j0 > 0 {
				gemmPortable(w, Full, false, true, rest, jb, j0, -1, a[i0*lda:], lda, a[j0*lda:], lda, 1, a[i0*lda+j0:], lda)
			}
			blasImpl.Dtrsm(blas.Right, blas.Lower, blas.Trans, blas.NonUnit, rest, jb, 1, d, lda, a[i0*lda+j0:], lda)
		}
	}
	return 0
}

// choleskySmall is the unblocked form, row by row so that all products are of
// contiguous rows.
func choleskySmall(n int, a []float64, lda int) int {
	for i := range n {
		row := a[i*lda : i*lda+i+1]
		for j := range i {
			row[j] = (row[j] - blasImpl.Ddot(j, row, 1, a[j*lda:], 1)) / a[j*lda+j]
		}
		p := row[i] - blasImpl.Ddot(i, row, 1, row, 1)
		if !(p > 0) || math.IsInf(p, 1) {
			return i + 1
		}
		row[i] = math.Sqrt(p)
	}
	return 0
}

// solvePortable is Solve, block row by block row.
func solvePortable(w *Workspace, tr bool, n, m int, a []float64, lda int, b []float64, ldb int) {
	const nb = diagonalBlock
	if m > panelCols {
		for j0 := 0; j0 < m; j0 += panelCols {
			solvePortable(w, tr, n, min(panelCols, m-j0), a, lda, b[j0:], ldb)
		}
		return
	}
	if tr {
		for i0 := (n - 1) / nb * nb; i0 >= 0; i0 -= nb {
			ib := min(nb, n-i0)
			if i1 := i0 + ib; i1 < n {
				gemmPortable(w, Full, true, false, ib, m, n-i1, -1, a[i1*lda+i0:], lda, b[i1*ldb:], ldb, 1, b[i0*ldb:], ldb)
			}
			blasImpl.Dtrsm(blas.Left, blas.Lower, blas.Trans, blas.NonUnit, ib, m, 1, a[i0*lda+i0:], lda, b[i0*ldb:], ldb)
		}
		return
	}
	for i0 := 0; i0 < n; i0 += nb {
		ib := min(nb, n-i0)
		if i0 > 0 {
			gemmPortable(w, Full, false, false, ib, m, i0, -1, a[i0*lda:], lda, b, ldb, 1, b[i0*ldb:], ldb)
		}
		blasImpl.Dtrsm(blas.Left, blas.Lower, blas.NoTrans, blas.NonUnit, ib, m, 1, a[i0*lda+i0:], lda, b[i0*ldb:], ldb)
	}
}

// gemvPortable computes y = alpha op(a) x + beta y.
func gemvPortable(transA bool, rows, cols int, alpha float64, a []float64, lda int, x []float64, beta float64, y []float64) {
	blasImpl.Dgemv(trans(transA), rows, cols, alpha, a, lda, x, 1, beta, y, 1)
}
