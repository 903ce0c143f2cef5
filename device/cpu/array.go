package cpu

import "example.com/kestrel/device"

// array is a batch of matrices, member k at k*stride.
type array struct {
	count, rows, cols int
	stride            int // capacity of a member
	data              []float64
	tapes             []tape // of Kernel, made when first needed
	taped             int    // entries of all tapes together
}

func (a *array) Shape() (count, rows, cols int) { return a.count, a.rows, a.cols }

func (a *array) Reshape(rows, cols int) {
	if rows < 0 || cols < 0 || rows*cols > a.stride {
		panic("cpu: reshape exceeds the array's capacity")
	}
	a.rows, a.cols = rows, cols
}

// member returns the entries of member k.
func (a *array) member(k int) []float64 {
	n := a.rows * a.cols
	return a.data[k*a.stride : k*a.stride+n : k*a.stride+n]
}

func (a *array) shaped(rows, cols int) bool { return a.rows == rows && a.cols == cols }

// arr converts an argument; a nil argument stays nil.
func arr(a device.Array) *array {
	if a == nil {
		return nil
	}
	x, ok := a.(*array)
	if !ok {
		panic("cpu: array of another device")
	}
	return x
}

func want(ok bool) {
	if !ok {
		panic("cpu: shapes do not fit")
	}
}
