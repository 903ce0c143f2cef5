package simd

// Below solveBlock rows a triangular solve is done at once, panel by panel of
// columns; above, the triangle is divided and most of the work is a product.
const solveBlock = 96

// Solve replaces b (n x m) by L⁻¹b, or by L⁻ᵀb if trans, for a lower triangular
// L (n x n) with a diagonal without zeros. Entries above the diagonal are not
// read.
func (l Level) Solve(w *Workspace, trans bool, n, m int, lower []float64, ldl int, b []float64, ldb int) {
	if n == 0 || m == 0 {
		return
	}
	if !l.assembly() {
		if cores := w.cores(n * n / 2 * m); cores > 1 && m > panelCols {
			w.portableSolution = portableSolution{trans, n, m, l.columns(m, cores), lower, b, ldl, ldb}
			w.Divider.Divide(w.portableSolution.pieces, &w.portableSolution)
			return
		}
		solvePortable(w, trans, n, m, lower, ldl, b, ldb)
		return
	}
	t, x := matrix{data: lower, rs: ldl, cs: 1}, matrix{data: b, rs: ldb, cs: 1}
	if trans {
		// With rows and columns in reverse order Lᵀ is lower triangular.
		t = matrix{data: lower, at: (n-1)*ldl + n - 1, rs: -1, cs: -ldl}
		x = matrix{data: b, at: (n - 1) * ldb, rs: -ldb, cs: 1}
	}
	l.solveLower(w, n, m, t, x)
}

// invert stores the inverses of the diagonal of t.
func (w *Workspace) invert(n int, t matrix) {
	w.inv = grow(w.inv, n)
	for i := range n {
		w.inv[i] = 1 / t.data[t.at+i*(t.rs+t.cs)]
	}
}

// solveLower computes b = T⁻¹b, b with unit column stride.
func (l Level) solveLower(w *Workspace, n, m int, t, b matrix) {
	if cores := w.cores(n * n / 2 * m); cores > 1 && m > l.nr() {
		l.divideSolution(w, cores, n, m, t, b)
		return
	}
	if n > solveBlock {
		n1 := (n/2 + l.mr() - 1) / l.mr() * l.mr()
		l.solveLower(w, n1, m, t, b)
		l.gemm(w, Full, n-n1, m, n1, -1, t.from(n1, 0), b, true, b.from(n1, 0))
		l.solveLower(w, n-n1, m, t.from(n1, n1), b.from(n1, 0))
		return
	}
	w.invert(n, t)
	mr, columns := l.mr(), l.nr()
	if n <= 4*mr {
		columns = thinColumns
	}
	for j := 0; j < m; j += columns {
		for i := 0; i < n; i += mr {
			l.solve(min(mr, n-i), i, t.place(i, 0), t.rs*wordSize, t.cs*wordSize, &w.inv[i],
				b.place(0, j), b.rs*wordSize, min(columns, m-j))
		}
	}
}

// SolveBoth replaces a symmetric matrix s (n x n), of which the lower triangle
// is read, by the symmetric L⁻ᵀ s L⁻¹. It costs 4/3 n³ multiplications and
// additions: a solve for all of s, and one for half of the result.
func (l Level) SolveBoth(w *Workspace, n int, lower []float64, ldl int, s []float64, lds int) {
	l.MirrorUp(w, n, s, lds)
	l.Solve(w, true, n, n, lower, ldl, s, lds)
	// s is now L⁻ᵀ s; its transpose's lower triangle is enough, since column j of
	// a backward solve from the last row up to row j needs no row above j.
	l.MirrorDown(w, n, s, lds)
	l.solveSecond(w, n, lower, ldl, s, lds)
}

// solveSecond replaces the lower triangle of (L⁻ᵀs)ᵀ by the symmetric L⁻ᵀ s L⁻¹.
func (l Level) solveSecond(w *Workspace, n int, lower []float64, ldl int, s []float64, lds int) {
	if cores := w.cores(n * n / 6 * n); cores > 1 {
		w.half = half{l, n, cores, lower, s, ldl, lds}
		w.Divider.Divide(w.half.pieces, &w.half)
	} else {
		l.solveHalf(w, n, 0, n, lower, ldl, s, lds)
	}
	l.MirrorUp(w, n, s, lds)
}

// Inverse stores the symmetric L⁻ᵀL⁻¹ in s (n x n), the inverse of the matrix that has the factor L: what
// SolveBoth makes of I, in some 3/4 n³ multiplications and additions.
func (l Level) Inverse(w *Workspace, n int, lower []float64, ldl int, s []float64, lds int) {
	for i := range n {
		clear(s[i*lds : i*lds+n])
	}
	l.invertLower(w, n, lower, ldl, s, lds)
	l.solveSecond(w, n, lower, ldl, s, lds)
}

// invertLower puts L⁻¹ into s, which is 0: with L = [L₁ 0; L₂₁ L₂] it is [L₁⁻¹ 0; −L₂⁻¹L₂₁L₁⁻¹ L₂⁻¹].
func (l Level) invertLower(w *Workspace, n int, lower []float64, ldl int, s []float64, lds int) {
	if n <= solveBlock {
		for i := range n {
			s[i*lds+i] = 1
		}
		l.Solve(w, false, n, n, lower, ldl, s, lds)
		return
	}
	n1 := (n/2 + halfColumns - 1) / halfColumns * halfColumns
	l21, l22, s21 := lower[n1*ldl:], lower[n1*ldl+n1:], s[n1*lds:]
	l.invertLower(w, n1, lower, ldl, s, lds)
	// The second half of the columns of L₁⁻¹ has zeros above.
	h := (n1/2 + halfColumns - 1) / halfColumns * halfColumns
	l.Gemm(w, Full, false, false, n-n1, h, n1, -1, l21, ldl, s, lds, 0, s21, lds)
	l.Gemm(w, Full, false, false, n-n1, n1-h, n1-h, -1, l21[h:], ldl, s[h*lds+h:], lds, 0, s21[h:], lds)
	l.Solve(w, false, n-n1, n1, l22, ldl, s21, lds)
	l.invertLower(w, n-n1, l22, ldl, s21[n1:], lds)
}

// halfColumns is what columns from and to of solveHalf are multiples of.
const halfColumns = 8

// solveHalf computes columns from to to, less to itself, of the lower triangle of L⁻ᵀs
// from that of s. No column needs another, and each is computed as in all of them.
func (l Level) solveHalf(w *Workspace, n, from, to int, lower []float64, ldl int, s []float64, lds int) {
	if n <= 32 {
		for j := from; j < to; j += halfColumns {
			l.Solve(w, true, n-j, min(halfColumns, n-j), lower[j*ldl+j:], ldl, s[j*lds+j:], lds)
		}
		return
	}
	n1 := (n/2 + halfColumns - 1) / halfColumns * halfColumns
	l22 := lower[n1*ldl+n1:]
	if to > n1 {
		l.solveHalf(w, n-n1, max(0, from-n1), to-n1, l22, ldl, s[n1*lds+n1:], lds)
	}
	if from >= n1 {
		return
	}
	to = min(to, n1)
	l21, s21 := lower[n1*ldl+from:], s[n1*lds+from:]
	l.Solve(w, true, n-n1, to-from, l22, ldl, s21, lds)
	l.Gemm(w, LowerC, true, false, n1-from, to-from, n-n1, -1, l21, ldl, s21, lds, 1, s[from*lds+from:], lds)
	l.solveHalf(w, n1, from, to, lower, ldl, s, lds)
}
