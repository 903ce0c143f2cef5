package simd

import "math"

// factorBlock is the size below which a factorisation goes on row by row of
// microkernels.
const factorBlock = 64

// Cholesky replaces a symmetric matrix a (n x n), of which the lower triangle is
// read, by its lower factor with zeros above, and returns 0; or 1 plus the
// index of the first pivot that is not positive and finite, a being then
// undefined.
//
// The factor is computed as K = UᵀU in the upper triangle: row by row its
// operations are along contiguous memory, with no product of the form a bᵀ and
// no solve from the right.
func (l Level) Cholesky(w *Workspace, n int, a []float64, lda int) int {
	if !l.assembly() {
		failed := choleskyPortable(w, n, a, lda)
		l.ClearUp(w, n, a, lda)
		return failed
	}
	l.MirrorUp(w, n, a, lda)
	w.inv = grow(w.inv, n)
	if failed := l.factorise(w, n, a, lda); failed > 0 {
		return failed
	}
	l.MirrorDown(w, n, a, lda)
	l.ClearUp(w, n, a, lda)
	return 0
}

// factorise computes U in the upper triangle of a; entries below are scratch.
func (l Level) factorise(w *Workspace, n int, a []float64, lda int) int {
	if n > factorBlock {
		n1 := (n/2 + l.mr() - 1) / l.mr() * l.mr()
		if failed := l.factorise(w, n1, a, lda); failed > 0 {
			return failed
		}
		u12 := matrix{data: a, at: n1, rs: lda, cs: 1}
		l.solveLower(w, n1, n-n1, matrix{data: a, rs: 1, cs: lda}, u12)
		l.gemm(w, UpperC, n-n1, n-n1, n1, -1, u12.transposed(), u12, true, matrix{data: a, at: n1*lda + n1, rs: lda, cs: 1})
		if failed := l.factorise(w, n-n1, a[n1*lda+n1:], lda); failed > 0 {
			return n1 + failed
		}
		return 0
	}
	mr, nr := l.mr(), l.nr()
	inv := grow(w.inv, n)
	w.inv = inv
	for i := 0; i < n; i += mr {
		rows := min(mr, n-i)
		d := a[i*lda+i:]
		if i > 0 {
			l.product(rows, i, &a[i], wordSize, lda*wordSize, &a[i], lda*wordSize, &d[0], lda*wordSize, rows, -1, true)
		}
		if failed := factoriseSmall(rows, d, lda, inv[i:]); failed > 0 {
			return i + failed
		}
		for j := i + rows; j < n; j += nr {
			l.solve(rows, i, &a[i], wordSize, lda*wordSize, &inv[i], &a[j], lda*wordSize, min(nr, n-j))
		}
	}
	return 0
}

// factoriseSmall is the unblocked form; inv gets the inverses of the diagonal.
func factoriseSmall(n int, a []float64, lda int, inv []float64) int {
	for i := range n {
		row := a[i*lda : i*lda+n]
		p := row[i]
		if !(p > 0) || math.IsInf(p, 1) {
			return i + 1
		}
		r := math.Sqrt(p)
		v := 1 / r
		row[i], inv[i] = r, v
		for j := i + 1; j < n; j++ {
			row[j] *= v
		}
		for k := i + 1; k < n; k++ {
			f := row[k]
			below := a[k*lda : k*lda+n]
			for j := k; j < n; j++ {
				below[j] -= f * row[j]
			}
		}
	}
	return 0
}
