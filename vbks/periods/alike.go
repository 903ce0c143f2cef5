package periods

import (
	"cmp"
	"math"
	"slices"
)

// Alike is by how many standard deviations values at neighbouring inputs are more alike
// than independent ones would be: with the values sorted by x,
//
//	√n Σ_i r_i r_i+1 / Σ_i r_i²,
//
// which is about standard normal where the r are independent of mean 0 (Bartlett 1946); 0 for
// fewer than 12.
func Alike(x, r []float64) float64 {
	if len(x) < fewestInputs {
		return 0
	}
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(x[a], x[b]) })
	next, square := 0.0, 0.0
	for i, at := range order {
		square += r[at] * r[at]
		if i > 0 {
			next += r[order[i-1]] * r[at]
		}
	}
	if square == 0 {
		return 0
	}
	return math.Sqrt(float64(len(x))) * next / square
}
