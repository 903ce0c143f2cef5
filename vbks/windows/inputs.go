package windows

import (
	"math"
	"slices"
	"sort"
)

// Halved returns ascending inputs with the middles between them.
func Halved(z []float64) (out []float64) {
	for i, v := range z {
		if i > 0 {
			out = append(out, (z[i-1]+v)/2)
		}
		out = append(out, v)
	}
	return out
}

// mostAtEnd inducing inputs lie ever closer towards a series' end for forecasts, a quarter of them at most.
const mostAtEnd = 8

// TowardsEnd returns ascending inducing inputs z of rows x with the last ones moved: to the last row, and to rows before it
// at distances that grow by a factor, up to where those lay that were moved. What a series has come to last is known from there.
func TowardsEnd(z, x []float64) []float64 {
	out, n := slices.Clone(z), len(x)
	count := min(mostAtEnd, len(z)/4)
	if count < 1 {
		return out
	}
	first := len(z) - count
	reach := n - 1 - sort.SearchFloat64s(x, z[first]) // rows from there to the end
	for i := range count {
		back := 0
		if i > 0 {
			back = max(i, int(math.Pow(float64(reach), float64(i)/float64(count))))
		}
		out[len(z)-1-i] = x[max(0, n-1-back)]
	}
	return out
}
