package vbks

import (
	"iter"
	"math"
)

// Tensor is a named array of a checkpoint, row-major.
type Tensor struct {
	Shape []int     // sizes, of which Pieces has the product
	Data  []float64 // the last index runs fastest
	// Lower: Data is a square matrix, of which only the lower triangle counts, row by row: of M
	// rows Shape is M(M+1)/2. Where it is read from a file Data is no more than that.
	Lower bool
}

// lowerOf is the lower triangle of an m x m matrix, without copying it.
func lowerOf(matrix []float64, m int) Tensor {
	return Tensor{Shape: []int{triangle(m)}, Data: matrix, Lower: true}
}

// triangle is how many numbers a triangle of m rows has, with the diagonal.
func triangle(m int) int { return m * (m + 1) / 2 }

// Pieces are the numbers of the array, in their order.
func (t Tensor) Pieces() iter.Seq[[]float64] {
	return func(yield func([]float64) bool) {
		if !t.Lower {
			yield(t.Data)
			return
		}
		m := int(math.Sqrt(float64(len(t.Data))))
		for i := range m {
			if !yield(t.Data[i*m : i*m+i+1]) {
				return
			}
		}
	}
}

// Len is how many they are.
func (t Tensor) Len() int {
	n := len(t.Data)
	if t.Lower {
		n = triangle(int(math.Sqrt(float64(n))))
	}
	return n
}

// unpackLower makes an m x m matrix of its lower triangle: a symmetric one, or with zeros above.
func unpackLower(packed []float64, m int, symmetric bool) []float64 {
	out := make([]float64, m*m)
	for i := range m {
		copy(out[i*m:i*m+i+1], packed[triangle(i):])
		if !symmetric {
			continue
		}
		for j := range i {
			out[j*m+i] = out[i*m+j]
		}
	}
	return out
}
