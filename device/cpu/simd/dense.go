package simd

//go:generate sh -c "cd gen && go run ./dense -out ../dense_amd64.s -stubs ../dense_amd64.go -pkg simd"

// Workspace is the memory that products and solves need between calls: packed
// panels of the operands, inverses of a diagonal. The zero value works; it must
// not be used by two goroutines at once.
type Workspace struct {
	// Divider has large operations done in parts; nil: they are done at once.
	Divider Divider

	a, b, inv        []float64
	product          product // operations in parts
	portableProduct  portableProduct
	solution         solution
	portableSolution portableSolution
	half             half
	triangle         triangle
}

func grow(s []float64, n int) []float64 {
	if cap(s) < n {
		return make([]float64, n)
	}
	return s[:n]
}

// Part says which entries of a product count.
type Part uint8

// Parts of a product c = a b.
const (
	Full   Part = iota
	LowerA      // op(a) is lower triangular, zeros above stored
	UpperA      // op(a) is upper triangular, zeros below stored
	LowerC      // c's lower triangle is wanted; entries above may change
	UpperC      // c's upper triangle is wanted; entries below may change
)

// mr and nr are the rows and columns of a microkernel's tile.
func (l Level) mr() int {
	if l == AVX512 {
		return 8
	}
	return 4
}

func (l Level) nr() int { return 2 * l.mr() }

func (l Level) assembly() bool { return l > Portable }

// matrix is a matrix of any strides, also negative ones: entry (i, j) is
// data[at + i·rs + j·cs].
type matrix struct {
	data   []float64
	at     int
	rs, cs int
}

func (m matrix) from(i, j int) matrix {
	m.at += i*m.rs + j*m.cs
	return m
}

func (m matrix) transposed() matrix {
	m.rs, m.cs = m.cs, m.rs
	return m
}

// place returns the address of entry (i, j). What is done for each tile takes places and no
// matrices: copying these took a tenth of the time.
func (m *matrix) place(i, j int) *float64 { return &m.data[m.at+i*m.rs+j*m.cs] }

const wordSize = 8 // bytes

// Blocks of a product, as in Goto and van de Geijn (2008) and BLIS: a panel of
// b of blockK x nr stays in the first-level cache while blockM rows of a, held
// in the second level, pass by it.
const (
	blockM = 96
	blockN = 256
	blockK = 192
)

// Gemm computes c = alpha op(a) op(b) + beta c for c of m x n and op(a) of m x
// k, row-major with the leading dimensions lda, ldb, ldc. With beta = 0 the old
// content of c is not read. c must not overlap a or b.
func (l Level) Gemm(w *Workspace, part Part, transA, transB bool, m, n, k int, alpha float64,
	a []float64, lda int, b []float64, ldb int, beta float64, c []float64, ldc int) {
	if m == 0 || n == 0 {
		return
	}
	if k == 0 {
		for i := range m {
			Scale(beta, c[i*ldc:i*ldc+n])
		}
		return
	}
	if !l.assembly() {
		gemmPortable(w, part, transA, transB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
		return
	}
	x, y := matrix{data: a, rs: lda, cs: 1}, matrix{data: b, rs: ldb, cs: 1}
	if transA {
		x = x.transposed()
	}
	if transB {
		y = y.transposed()
	}
	if beta != 0 && beta != 1 {
		for i := range m {
			Scale(beta, c[i*ldc:i*ldc+n])
		}
	}
	l.gemm(w, part, m, n, k, alpha, x, y, beta != 0, matrix{data: c, rs: ldc, cs: 1})
}

// gemm computes c = alpha a b, or c += alpha a b; c has unit column stride.
func (l Level) gemm(w *Workspace, part Part, m, n, k int, alpha float64, a, b matrix, add bool, c matrix) {
	if cores := w.cores(m * n * k); cores > 1 && part.divides(m, n) {
		l.divideProduct(w, cores, part, m, n, k, alpha, a, b, add, c)
		return
	}
	mr, nr := l.mr(), l.nr()
	packB := b.cs != 1 || m > 4*mr && k*n > 4096
	packA := a.cs != 1 && k > 48 && n > nr
	if !packB && !packA && part == Full && k <= blockK {
		l.gemmThin(m, n, k, alpha, a, b, add, c)
		return
	}
	for k0 := 0; k0 < k; k0 += blockK {
		kc := min(blockK, k-k0)
		// The rows that this part of k concerns.
		first, last := 0, m
		if part == LowerA {
			first = min(k0/mr*mr, m)
		}
		if part == UpperA {
			last = min(m, k0+kc)
		}
		if packA {
			l.packA(w, a.from(first, k0), last-first, kc)
		}
		for j0 := 0; j0 < n; j0 += blockN {
			nc := min(blockN, n-j0)
			bb := b.from(k0, j0)
			if packB {
				l.packB(w, bb, kc, nc)
			}
			for i0 := first; i0 < last; i0 += blockM {
				mc := min(blockM, last-i0)
				if part == LowerC && j0 >= i0+mc || part == UpperC && j0+nc <= i0 {
					continue
				}
				ad, ars, acs := a.data, a.rs, a.cs
				bd, brs := bb.data, bb.rs
				if packA {
					ad, ars, acs = w.a, 1, mr
				}
				if packB {
					bd, brs = w.b, nr
				}
				for j := 0; j < nc; j += nr {
					cols := min(nr, nc-j)
					col := j0 + j
					bAt := bb.at + j*bb.cs
					if packB {
						bAt = j * kc
					}
					for i := 0; i < mc; i += mr {
						rows := min(mr, mc-i)
						row := i0 + i
						from, to, more := 0, kc, add || k0 > 0
						switch part {
						case LowerC:
							if col >= row+rows {
								continue
							}
						case UpperC:
							if col+cols <= row {
								continue
							}
						case LowerA:
							if to = min(kc, row+rows-k0); to <= 0 {
								continue
							}
						case UpperA:
							if from = max(0, row-k0); from >= kc {
								continue
							}
							more = add || row < k0
						}
						aAt := a.at + row*ars + (k0+from)*acs
						if packA {
							aAt = (row-first)*kc + from*mr
						}
						l.product(rows, to-from, &ad[aAt], ars*wordSize, acs*wordSize, &bd[bAt+from*brs], brs*wordSize,
							c.place(row, col), c.rs*wordSize, cols, alpha, more)
					}
				}
			}
		}
	}
}

// thinColumns is how many columns of b and c gemmThin keeps in the first-level
// cache.
const thinColumns = 128

// gemmThin is gemm for few rows, with nothing packed: the microkernel runs over
// many columns at a time.
func (l Level) gemmThin(m, n, k int, alpha float64, a, b matrix, add bool, c matrix) {
	mr := l.mr()
	for j := 0; j < n; j += thinColumns {
		for i := 0; i < m; i += mr {
			l.product(min(mr, m-i), k, a.place(i, 0), a.rs*wordSize, a.cs*wordSize, b.place(0, j), b.rs*wordSize,
				c.place(i, j), c.rs*wordSize, min(thinColumns, n-j), alpha, add)
		}
	}
}

// packA copies rows of a in panels of mr, column by column.
func (l Level) packA(w *Workspace, a matrix, rows, k int) {
	mr := l.mr()
	w.a = grow(w.a, (rows+mr-1)/mr*mr*k)
	for i0 := 0; i0 < rows; i0 += mr {
		dst := w.a[i0*k : (i0+mr)*k]
		n := min(mr, rows-i0)
		at := a.at + i0*a.rs
		switch {
		case n == 8 && a.rs == 1:
			for p := range k {
				*(*[8]float64)(dst[p*8:]) = *(*[8]float64)(a.data[at:])
				at += a.cs
			}
		case n == 8 && a.rs == -1:
			for p := range k {
				d, s := (*[8]float64)(dst[p*8:]), (*[8]float64)(a.data[at-7:])
				d[0], d[1], d[2], d[3], d[4], d[5], d[6], d[7] = s[7], s[6], s[5], s[4], s[3], s[2], s[1], s[0]
				at += a.cs
			}
		case mr == 4 && n == 4 && a.rs == 1:
			for p := range k {
				*(*[4]float64)(dst[p*4:]) = *(*[4]float64)(a.data[at:])
				at += a.cs
			}
		case mr == 4 && n == 4 && a.rs == -1:
			for p := range k {
				d, s := (*[4]float64)(dst[p*4:]), (*[4]float64)(a.data[at-3:])
				d[0], d[1], d[2], d[3] = s[3], s[2], s[1], s[0]
				at += a.cs
			}
		default:
			for p := range k {
				for i := range n {
					dst[p*mr+i] = a.data[at+i*a.rs]
				}
				at += a.cs
			}
		}
	}
}

// packB copies columns of b in panels of nr, row by row.
func (l Level) packB(w *Workspace, b matrix, k, cols int) {
	nr := l.nr()
	w.b = grow(w.b, (cols+nr-1)/nr*nr*k)
	for j0 := 0; j0 < cols; j0 += nr {
		dst := w.b[j0*k : (j0+nr)*k]
		n := min(nr, cols-j0)
		at := b.at + j0*b.cs
		switch {
		case b.cs != 1:
			l.packTransposed(dst, nr, b.from(0, j0), k, n)
		case n == nr:
			_ = b.data[at+(k-1)*b.rs+nr-1]
			l.panel(k, &dst[0], &b.data[at], b.rs*wordSize)
		default:
			for p := range k {
				copy(dst[p*nr:p*nr+n], b.data[at:at+n])
				at += b.rs
			}
		}
	}
}

// packTransposed copies a panel of b, k x n, whose columns are contiguous.
func (l Level) packTransposed(dst []float64, nr int, b matrix, k, n int) {
	v := l.mr()
	if b.rs != 1 {
		for p := range k {
			for j := range n {
				dst[p*nr+j] = b.data[b.at+p*b.rs+j*b.cs]
			}
		}
		return
	}
	for j0 := 0; j0 < n; j0 += v {
		p := 0
		if j0+v <= n {
			for ; p+v <= k; p += v {
				l.transposeBlock(dst[p*nr+j0:], nr, b.data[b.at+p+j0*b.cs:], b.cs)
			}
		}
		for ; p < k; p++ {
			for j := j0; j < min(j0+v, n); j++ {
				dst[p*nr+j] = b.data[b.at+p+j*b.cs]
			}
		}
	}
}

// Scale computes x *= beta, where beta = 0 does not read x.
func Scale(beta float64, x []float64) {
	if beta == 0 {
		clear(x)
		return
	}
	for i := range x {
		x[i] *= beta
	}
}
