package cpu

import (
	"fmt"

	"kestrel/device"
)

// lane is one core's queue; it holds the scratch memory of its operations.
type lane struct {
	tile    tile
	gatherA columns
	gatherB columns
	ys      []float64 // gathered targets
	block   []float64 // panel of a transposed product
}

func (l *lane) NewArray(count, rows, cols int) (device.Array, error) {
	if count < 0 || rows < 0 || cols < 0 {
		return nil, fmt.Errorf("array of %d x (%d x %d): %w", count, rows, cols, errSize)
	}
	return &array{count: count, rows: rows, cols: cols, stride: rows * cols,
		data: make([]float64, count*rows*cols)}, nil
}

func (l *lane) NewIndex(rows []int32) (device.Index, error) {
	return &index{rows: append([]int32(nil), rows...)}, nil
}

func (l *lane) Free(things ...any) {
	for _, t := range things {
		switch t := t.(type) {
		case nil:
		case *array:
			*t = array{}
		case *index:
			t.rows = nil
		case *kernels:
			*t = kernels{}
		default:
			panic("cpu: freed what is not an array, index or kernels of this device")
		}
	}
}

func (l *lane) Write(a device.Array, k int, src []float64) {
	dst := arr(a).member(k)
	want(len(src) == len(dst))
	copy(dst, src)
}

func (l *lane) Read(a device.Array, k int, dst []float64) error {
	src := arr(a).member(k)
	want(len(src) == len(dst))
	copy(dst, src)
	return nil
}

func (l *lane) Sync() error { return nil }

func (l *lane) Copy(sub []int, dst, src device.Array) {
	d, s := arr(dst), arr(src)
	d.Reshape(s.rows, s.cols)
	for _, k := range sub {
		copy(d.member(k), s.member(k))
	}
}

func (l *lane) Fill(sub []int, a device.Array, value float64) {
	x := arr(a)
	for _, k := range sub {
		m := x.member(k)
		for i := range m {
			m[i] = value
		}
	}
}

func (l *lane) Transpose(sub []int, dst, src device.Array) {
	d, s := arr(dst), arr(src)
	if d == s {
		panic("cpu: transpose in place")
	}
	d.Reshape(s.cols, s.rows)
	for _, k := range sub {
		transpose(d.member(k), s.member(k), s.rows, s.cols)
	}
}

// transpose stores the transpose of src (rows x cols) in dst, block by block
// so that both stay in cache.
func transpose(dst, src []float64, rows, cols int) {
	const nb = 32
	for i0 := 0; i0 < rows; i0 += nb {
		i1 := min(i0+nb, rows)
		for j0 := 0; j0 < cols; j0 += nb {
			j1 := min(j0+nb, cols)
			for i := i0; i < i1; i++ {
				for j, v := range src[i*cols+j0 : i*cols+j1] {
					dst[(j0+j)*rows+i] = v
				}
			}
		}
	}
}

// mirror copies the lower triangle of a (n x n) to the upper one.
func mirror(a []float64, n int) {
	const nb = 32
	for i0 := 0; i0 < n; i0 += nb {
		i1 := min(i0+nb, n)
		for j0 := 0; j0 <= i0; j0 += nb {
			for i := i0; i < i1; i++ {
				for j := j0; j < min(j0+nb, i); j++ {
					a[j*n+i] = a[i*n+j]
				}
			}
		}
	}
}

func (l *lane) AddScaled(sub []int, dst device.Array, alpha float64, src device.Array) {
	d, s := arr(dst), arr(src)
	want(d.shaped(s.rows, s.cols))
	for _, k := range sub {
		blasImpl.Daxpy(s.rows*s.cols, alpha, s.member(k), 1, d.member(k), 1)
	}
}

func (l *lane) AddDiagonal(sub []int, a device.Array, value float64) {
	x := arr(a)
	want(x.rows == x.cols)
	for _, k := range sub {
		addDiagonal(x.member(k), x.rows, value)
	}
}

func addDiagonal(a []float64, n int, value float64) {
	for i := range n {
		a[i*n+i] += value
	}
}

func (l *lane) Triangle(sub []int, a device.Array, diag float64) {
	x := arr(a)
	want(x.rows == x.cols)
	n := x.rows
	for _, k := range sub {
		m := x.member(k)
		for i := range n {
			m[i*n+i] *= diag
			clear(m[i*n+i+1 : (i+1)*n])
		}
	}
}

// grow returns s with length n, its content undefined.
func grow(s []float64, n int) []float64 {
	if cap(s) < n {
		return make([]float64, n)
	}
	return s[:n]
}
