package baseline

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Interpolate fills with the line between the neighbours a < x < b, before the first and
// behind the last training input with their target. The standard deviation is what
// leaving rows out gives at this distance: rows i are interpolated from i − k and i + k, for k
// = 1, 2, 4, …, and their mean squared errors S_k belong to the mean of
//
//	v = (x − a)(b − x)/(b − a)
//
// to which the variance of a random walk between two known points is proportional; between
// these v the logarithm of S is linear in that of v, below the least it is S_1, and beyond the
// greatest S grows as v. Outside of the inputs v is the distance. Errors: fewer than three rows,
// an input that is not finite.
func Interpolate(s *Series, _ int, at []float64) ([]Normal, error) {
	if len(s.x) < 3 {
		return nil, errors.New("interpolation needs three training rows at least")
	}
	bridge := s.bridge()
	out := make([]Normal, len(at))
	for i, x := range at {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return nil, fmt.Errorf("an input is %v", x)
		}
		b, known := slices.BinarySearch(s.x, x)
		var mean, v float64
		switch {
		case known:
			mean = s.y[b]
		case b == 0:
			mean, v = s.y[0], s.x[0]-x
		case b == len(s.x):
			mean, v = s.y[b-1], x-s.x[b-1]
		default:
			mean, v = s.between(b-1, b, x)
		}
		out[i] = Normal{mean, math.Sqrt(bridge.at(v))}
	}
	return out, nil
}

// between interpolates rows a and b and returns v, too.
func (s *Series) between(a, b int, x float64) (mean, v float64) {
	w := (x - s.x[a]) / (s.x[b] - s.x[a])
	return s.y[a] + w*(s.y[b]-s.y[a]), w * (s.x[b] - x)
}

// bridge has mean squared errors of interpolation by v, ascending.
type bridge struct{ v, square []float64 }

func (s *Series) bridge() (b bridge) {
	for k := 1; 2*k < len(s.x); k *= 2 {
		v, square, n := 0.0, 0.0, float64(len(s.x)-2*k)
		for i := k; i+k < len(s.x); i++ {
			mean, at := s.between(i-k, i+k, s.x[i])
			v += at / n
			square += (s.y[i] - mean) * (s.y[i] - mean) / n
		}
		b.v, b.square = append(b.v, v), append(b.square, square)
	}
	return b
}

func (b bridge) at(v float64) float64 {
	last := len(b.v) - 1
	i, _ := slices.BinarySearch(b.v, v)
	switch {
	case i == 0:
		return b.square[0]
	case i > last:
		return b.square[last] * v / b.v[last]
	case b.square[i-1] == 0 || b.square[i] == 0: // no logarithm
		return b.square[i]
	}
	w := math.Log(v/b.v[i-1]) / math.Log(b.v[i]/b.v[i-1])
	return b.square[i-1] * math.Pow(b.square[i]/b.square[i-1], w)
}
