package wire

import (
	"encoding/binary"
	"math"
	"reflect"
)

// How the numbers of a square matrix are written.
const (
	whole    = 0
	mirrored = 1 // the lower triangle, whose mirror image the rest is
	lower    = 2 // the lower triangle; the rest is 0
)

// leastSide is that of matrices which are looked at for it.
const leastSide = 8

// side is the n of n x n numbers, 0 where they are not so many or too few to look at.
func side(n int) int {
	s := int(math.Sqrt(float64(n)) + 0.5)
	if s < leastSide || s*s != n {
		return 0
	}
	return s
}

// triangle says what of n x n numbers is enough to know all of them, bit by bit.
func triangle(x []float64, n int) byte {
	zero, mirror := true, true
	for i := range n {
		for j := i + 1; j < n && (zero || mirror); j++ {
			above := math.Float64bits(x[i*n+j])
			zero = zero && above == 0
			mirror = mirror && above == math.Float64bits(x[j*n+i])
		}
	}
	switch {
	case zero:
		return lower
	case mirror:
		return mirrored
	}
	return whole
}

func appendNumbers(b []byte, x []float64) []byte {
	for _, v := range x {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
	}
	return b
}

func (r *reader) numbers(x []float64) {
	b := r.bytes(8 * len(x))
	if r.err != nil {
		return
	}
	for i := range x {
		x[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
	}
}

func numbers() *codec {
	return &codec{
		put: func(b []byte, v reflect.Value) []byte {
			x := v.Interface().([]float64)
			if x == nil {
				return append(b, 0)
			}
			b = binary.AppendUvarint(b, uint64(len(x))+1)
			n := side(len(x))
			if n == 0 {
				return appendNumbers(b, x)
			}
			how := triangle(x, n)
			b = append(b, how)
			if how == whole {
				return appendNumbers(b, x)
			}
			for i := range n {
				b = appendNumbers(b, x[i*n:i*n+i+1])
			}
			return b
		},
		take: func(r *reader, v reflect.Value) {
			n := r.length(4) // half of 8 bytes, of a triangle
			if n < 0 {
				return
			}
			s, how := side(n), byte(whole)
			if s > 0 {
				how = r.bytes(1)[0]
			}
			stored := n
			if how == mirrored || how == lower {
				stored = s * (s + 1) / 2
			} else if how != whole {
				r.fail("numbers in an unknown form %d", how)
			}
			if r.err != nil || 8*stored > len(r.left) {
				r.fail("%d numbers where there is no room for them", n)
				return
			}
			x := make([]float64, n)
			if how == whole {
				r.numbers(x)
			} else {
				r.triangle(x, s, how == mirrored)
			}
			v.Set(reflect.ValueOf(x))
		},
		least: 1, size: 24,
	}
}

// triangle takes the lower triangle of n x n numbers.
func (r *reader) triangle(x []float64, n int, mirror bool) {
	for i := range n {
		r.numbers(x[i*n : i*n+i+1])
		if mirror {
			for j := range i {
				x[j*n+i] = x[i*n+j]
			}
		}
	}
}
