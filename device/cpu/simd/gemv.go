package simd

// Gemv computes y = alpha op(a) x + beta y for a of rows x cols; with beta = 0
// the old content of y is not read.
func (l Level) Gemv(transA bool, rows, cols int, alpha float64, a []float64, lda int, x []float64, beta float64, y []float64) {
	if len(y) == 0 {
		return
	}
	if beta == 0 {
		clear(y)
		beta = 1
	}
	if rows == 0 || cols == 0 {
		Scale(beta, y)
		return
	}
	if !l.assembly() {
		gemvPortable(transA, rows, cols, alpha, a, lda, x, beta, y)
		return
	}
	if beta != 1 {
		Scale(beta, y)
	}
	for i := range rows {
		row := a[i*lda : i*lda+cols]
		if transA {
			l.Axpy(alpha*x[i], row, y[:cols])
		} else {
			y[i] += alpha * l.Dot(row, x[:cols])
		}
	}
}

// SolveVector replaces b by L⁻¹b, or by L⁻ᵀb if trans, for a lower triangular L.
func (l Level) SolveVector(trans bool, n int, lower []float64, ldl int, b []float64) {
	if trans {
		for i := n - 1; i >= 0; i-- {
			b[i] /= lower[i*ldl+i]
			l.Axpy(-b[i], lower[i*ldl:i*ldl+i], b[:i])
		}
		return
	}
	for i := range n {
		b[i] = (b[i] - l.Dot(lower[i*ldl:i*ldl+i], b[:i])) / lower[i*ldl+i]
	}
}
