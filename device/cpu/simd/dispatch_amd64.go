package simd

import "unsafe"

// product is the microkernel of products: rows x cols of c, at most l.mr() rows,
// strides in bytes.
func (l Level) product(rows, k int, a *float64, ars, acs int, b *float64, brs int, c *float64, crs, cols int, alpha float64, add bool) {
	if l == AVX512 {
		switch rows {
		case 8:
			productAVX512_8(k, a, ars, acs, b, brs, c, crs, cols, alpha, add)
		case 7:
			productAVX512_7(k, a, ars, acs, b, brs, c, crs, cols, alpha, add)
		case 6:
			productAVX512_6(k, a, ars, acs, b, brs, c, crs, cols, alpha, add)
		case 5:
			productAVX512_5(k, a, ars, acs, b, brs, c, crs, cols, alpha, add)
		case 4:
			productAVX512_4(k, a, ars, acs, b, brs, c, crs, cols, alpha, add)
		case 3:
			productAVX512_3(k, a, ars, acs, b, brs, c, crs, cols, alpha, add)
		case 2:
			productAVX512_2(k, a, ars, acs, b, brs, c, crs, cols, alpha, add)
		case 1:
			productAVX512_1(k, a, ars, acs, b, brs, c, crs, cols, alpha, add)
		}
		return
	}
	switch rows {
	case 4:
		productAVX2_4(k, a, ars, acs, b, brs, c, crs, cols, alpha, add)
	case 3:
		productAVX2_3(k, a, ars, acs, b, brs, c, crs, cols, alpha, add)
	case 2:
		productAVX2_2(k, a, ars, acs, b, brs, c, crs, cols, alpha, add)
	case 1:
		productAVX2_1(k, a, ars, acs, b, brs, c, crs, cols, alpha, add)
	}
}

// solve is the microkernel of triangular solves, on rows k to k+rows of b.
func (l Level) solve(rows, k int, a *float64, ars, acs int, inv, b *float64, brs, cols int) {
	if l == AVX512 {
		switch rows {
		case 8:
			solveAVX512_8(k, a, ars, acs, inv, b, brs, cols)
		case 7:
			solveAVX512_7(k, a, ars, acs, inv, b, brs, cols)
		case 6:
			solveAVX512_6(k, a, ars, acs, inv, b, brs, cols)
		case 5:
			solveAVX512_5(k, a, ars, acs, inv, b, brs, cols)
		case 4:
			solveAVX512_4(k, a, ars, acs, inv, b, brs, cols)
		case 3:
			solveAVX512_3(k, a, ars, acs, inv, b, brs, cols)
		case 2:
			solveAVX512_2(k, a, ars, acs, inv, b, brs, cols)
		case 1:
			solveAVX512_1(k, a, ars, acs, inv, b, brs, cols)
		}
		return
	}
	switch rows {
	case 4:
		solveAVX2_4(k, a, ars, acs, inv, b, brs, cols)
	case 3:
		solveAVX2_3(k, a, ars, acs, inv, b, brs, cols)
	case 2:
		solveAVX2_2(k, a, ars, acs, inv, b, brs, cols)
	case 1:
		solveAVX2_1(k, a, ars, acs, inv, b, brs, cols)
	}
}

// The functions below do whole vectors of a row and return how many entries.

func (l Level) adam(x, g, m, v []float64, b1, b2, rate, c1, c2 float64) int {
	switch l {
	case AVX512:
		if n := len(x) / 8; n > 0 {
			adamAVX512(n, &x[0], &g[0], &m[0], &v[0], b1, b2, rate, c1, c2)
			return 8 * n
		}
	case AVX2:
		if n := len(x) / 4; n > 0 {
			adamAVX2(n, &x[0], &g[0], &m[0], &v[0], b1, b2, rate, c1, c2)
			return 4 * n
		}
	}
	return 0
}

func (l Level) dot(x, y []float64) (sum float64, n int) {
	switch l {
	case AVX512:
		if n := len(x) / 32; n > 0 {
			return dotAVX512(n, &x[0], &y[0]), 32 * n
		}
	case AVX2:
		if n := len(x) / 16; n > 0 {
			return dotAVX2(n, &x[0], &y[0]), 16 * n
		}
	}
	return 0, 0
}

func (l Level) axpy(alpha float64, x, y []float64) int {
	switch l {
	case AVX512:
		if n := len(x) / 8; n > 0 {
			axpyAVX512(n, alpha, &x[0], &y[0])
			return 8 * n
		}
	case AVX2:
		if n := len(x) / 4; n > 0 {
			axpyAVX2(n, alpha, &x[0], &y[0])
			return 4 * n
		}
	}
	return 0
}

func (l Level) axpby(alpha, beta float64, x, y []float64) int {
	switch l {
	case AVX512:
		if n := len(x) / 8; n > 0 {
			axpbyAVX512(n, alpha, beta, &x[0], &y[0])
			return 8 * n
		}
	case AVX2:
		if n := len(x) / 4; n > 0 {
			axpbyAVX2(n, alpha, beta, &x[0], &y[0])
			return 4 * n
		}
	}
	return 0
}

func (l Level) marginals(m float64, a, ca, mu, v []float64) int {
	switch l {
	case AVX512:
		if n := len(a) / 8; n > 0 {
			marginalsAVX512(n, m, &a[0], &ca[0], &mu[0], &v[0])
			return 8 * n
		}
	case AVX2:
		if n := len(a) / 4; n > 0 {
			marginalsAVX2(n, m, &a[0], &ca[0], &mu[0], &v[0])
			return 4 * n
		}
	}
	return 0
}

func (l Level) abar(w, m float64, r, a, sa []float64) int {
	switch l {
	case AVX512:
		if n := len(r) / 8; n > 0 {
			abarAVX512(n, w, m, &r[0], &a[0], &sa[0])
			return 8 * n
		}
	case AVX2:
		if n := len(r) / 4; n > 0 {
			abarAVX2(n, w, m, &r[0], &a[0], &sa[0])
			return 4 * n
		}
	}
	return 0
}

// transposeBlock stores the transpose of a block of l.block() x l.block().
func (l Level) transposeBlock(dst []float64, ldd int, src []float64, lds int) {
	const size = int(unsafe.Sizeof(float64(0)))
	if l == AVX512 {
		transposeAVX512(&dst[0], ldd*size, &src[0], lds*size)
		return
	}
	transposeAVX2(&dst[0], ldd*size, &src[0], lds*size)
}

func (l Level) peak(n int) (flops float64) {
	if l == AVX512 {
		peakAVX512(n)
		return float64(n) * 12 * 8 * 2
	}
	peakAVX2(n)
	return float64(n) * 12 * 4 * 2
}

// panel copies n rows of l.nr() columns, srs bytes apart, one after the other.
func (l Level) panel(n int, dst, src *float64, srs int) {
	if l == AVX512 {
		panelAVX512(n, dst, src, srs)
		return
	}
	panelAVX2(n, dst, src, srs)
}
