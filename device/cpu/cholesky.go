package cpu

import (
	"math"

	"gonum.org/v1/gonum/blas"

	"kestrel/device"
)

// diagonalBlock is the size of the diagonal blocks of Cholesky and Solve.
const diagonalBlock = 64

// cholesky replaces the lower triangle of a (n x n) by its factor and returns
// 0, or 1 plus the index of the first pivot that is not positive and finite.
// Left-looking: every block column takes all earlier ones off at once.
func (l *lane) cholesky(n int, a []float64) int {
	const nb = diagonalBlock
	for j0 := 0; j0 < n; j0 += nb {
		jb := min(nb, n-j0)
		d := a[j0*n+j0:]
		if j0 > 0 {
			l.syrk(jb, j0, -1, a[j0*n:], n, 1, d, n)
		}
		if i := cholesky2(jb, d, n); i > 0 {
			return j0 + i
		}
		i0 := j0 + jb
		if rest := n - i0; rest > 0 {
			if j0 > 0 {
				l.gemm(false, true, rest, jb, j0, -1, a[i0*n:], n, a[j0*n:], n, 1, a[i0*n+j0:], n)
			}
			blasImpl.Dtrsm(blas.Right, blas.Lower, blas.Trans, blas.NonUnit, rest, jb, 1, d, n, a[i0*n+j0:], n)
		}
	}
	return 0
}

// cholesky2 is the unblocked form, row by row so that all products are of
// contiguous rows.
func cholesky2(n int, a []float64, lda int) int {
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

func (l *lane) Cholesky(sub []int, a, info device.Array) {
	x, f := arr(a), arr(info)
	want(x.rows == x.cols && (f == nil || f.shaped(1, 1)))
	n := x.rows
	for _, k := range sub {
		m := x.member(k)
		failed := l.cholesky(n, m)
		if failed > 0 {
			clear(m)
			addDiagonal(m, n, 1)
			if f != nil && f.member(k)[0] == 0 {
				f.member(k)[0] = float64(failed)
			}
			continue
		}
		for i := range n {
			clear(m[i*n+i+1 : (i+1)*n])
		}
	}
}

func (l *lane) Solve(sub []int, tr bool, lower, b device.Array) {
	x, y := arr(lower), arr(b)
	if x == y {
		panic("cpu: solve in place")
	}
	n := x.rows
	want(x.cols == n && y.rows == n)
	if n == 0 || y.cols == 0 {
		return
	}
	for _, k := range sub {
		if y.cols == 1 {
			blasImpl.Dtrsv(blas.Lower, trans(tr), blas.NonUnit, n, x.member(k), n, y.member(k), 1)
			continue
		}
		for j0 := 0; j0 < y.cols; j0 += panelCols {
			l.solve(tr, n, min(panelCols, y.cols-j0), x.member(k), y.member(k)[j0:], y.cols)
		}
	}
}

// solve replaces b (n x m, a panel of columns) by L⁻¹b or L⁻ᵀb, block row by
// block row.
func (l *lane) solve(tr bool, n, m int, a, b []float64, ldb int) {
	const nb = diagonalBlock
	if tr {
		for i0 := (n - 1) / nb * nb; i0 >= 0; i0 -= nb {
			ib := min(nb, n-i0)
			if i1 := i0 + ib; i1 < n {
				l.gemm(true, false, ib, m, n-i1, -1, a[i1*n+i0:], n, b[i1*ldb:], ldb, 1, b[i0*ldb:], ldb)
			}
			blasImpl.Dtrsm(blas.Left, blas.Lower, blas.Trans, blas.NonUnit, ib, m, 1, a[i0*n+i0:], n, b[i0*ldb:], ldb)
		}
		return
	}
	for i0 := 0; i0 < n; i0 += nb {
		ib := min(nb, n-i0)
		if i0 > 0 {
			l.gemm(false, false, ib, m, i0, -1, a[i0*n:], n, b, ldb, 1, b[i0*ldb:], ldb)
		}
		blasImpl.Dtrsm(blas.Left, blas.Lower, blas.NoTrans, blas.NonUnit, ib, m, 1, a[i0*n+i0:], n, b[i0*ldb:], ldb)
	}
}

func (l *lane) LogDiag(sub []int, a, out device.Array) {
	x, o := arr(a), arr(out)
	want(x.rows == x.cols)
	o.Reshape(1, 1)
	for _, k := range sub {
		m := x.member(k)
		s := 0.0
		for i := range x.rows {
			s += math.Log(m[i*x.rows+i])
		}
		o.member(k)[0] = s
	}
}
