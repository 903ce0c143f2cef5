package simd

// Transpose stores the transpose of src (rows x cols) in dst.
func (l Level) Transpose(rows, cols int, dst []float64, ldd int, src []float64, lds int) {
	v := l.tile()
	// Blocks of 32 x 32 keep both sides in the first-level cache.
	const nb = 32
	for i0 := 0; i0 < rows; i0 += nb {
		i1 := min(i0+nb, rows)
		for j0 := 0; j0 < cols; j0 += nb {
			j1 := min(j0+nb, cols)
			for i := i0; i < i1; i += v {
				for j := j0; j < j1; j += v {
					l.transposeTile(min(v, i1-i), min(v, j1-j), dst[j*ldd+i:], ldd, src[i*lds+j:], lds)
				}
			}
		}
	}
}

// tile is the size of the blocks that are transposed at once.
func (l Level) tile() int {
	if l == AVX2 {
		return 4
	}
	return 8
}

func (l Level) transposeTile(rows, cols int, dst []float64, ldd int, src []float64, lds int) {
	if v := l.tile(); l.assembly() && rows == v && cols == v {
		l.transposeBlock(dst, ldd, src, lds)
		return
	}
	for i := range rows {
		for j, x := range src[i*lds : i*lds+cols] {
			dst[j*ldd+i] = x
		}
	}
}

// MirrorUp copies the lower triangle of a (n x n) to the upper one.
func (l Level) MirrorUp(w *Workspace, n int, a []float64, lda int) {
	if w.moves(n * n / 2) {
		l.onTriangle(w, mirrorUp, n, a, lda)
		return
	}
	mirrorUp(l, 0, n, n, a, lda)
}

// mirrorUp copies rows of the lower triangle, from on a multiple of the tiles.
func mirrorUp(l Level, from, to, n int, a []float64, lda int) {
	v := l.tile()
	for i := from; i < to; i += v {
		rows := min(v, n-i)
		for j := 0; j < i; j += v {
			l.transposeTile(rows, v, a[j*lda+i:], lda, a[i*lda+j:], lda)
		}
		for r := i; r < i+rows; r++ {
			for c := i; c < r; c++ {
				a[c*lda+r] = a[r*lda+c]
			}
		}
	}
}

// MirrorDown copies the upper triangle of a (n x n) to the lower one.
func (l Level) MirrorDown(w *Workspace, n int, a []float64, lda int) {
	if w.moves(n * n / 2) {
		l.onTriangle(w, mirrorDown, n, a, lda)
		return
	}
	mirrorDown(l, 0, n, n, a, lda)
}

func mirrorDown(l Level, from, to, n int, a []float64, lda int) {
	v := l.tile()
	for i := from; i < to; i += v {
		rows := min(v, n-i)
		for j := 0; j < i; j += v {
			l.transposeTile(v, rows, a[i*lda+j:], lda, a[j*lda+i:], lda)
		}
		for r := i; r < i+rows; r++ {
			for c := i; c < r; c++ {
				a[r*lda+c] = a[c*lda+r]
			}
		}
	}
}

// ClearUp zeroes what is above the diagonal of a (n x n).
func (l Level) ClearUp(w *Workspace, n int, a []float64, lda int) {
	if w.moves(n * n / 2) {
		l.onTriangle(w, clearUp, n, a, lda)
		return
	}
	clearUp(l, 0, n, n, a, lda)
}

func clearUp(_ Level, from, to, n int, a []float64, lda int) {
	for i := from; i < to; i++ {
		clear(a[i*lda+i+1 : i*lda+n])
	}
}
