package periods

import (
	"cmp"
	"math"
	"slices"
)

// Alike is by how many standard deviations values at neighbouring inputs are more alike
// than independent ones would be: with the values sorted by x, and m of the pairs of neighbours,
//
//	Σ r_i r_i+1 / (√m Σ_i r_i² / n),
//
// which is about standard normal where the r are independent of mean 0 (Bartlett 1946). It is
// the largest of that of all pairs and those of the closest half, quarter and eighth, where
// some are closer than others: a function that changes from one row to the next is only
// seen there. 0 for fewer than 12 values.
func Alike(x, r []float64) float64 {
	if len(x) < fewestInputs {
		return 0
	}
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(x[a], x[b]) })
	square := 0.0
	for _, v := range r {
		square += v * v / float64(len(r))
	}
	if square == 0 {
		return 0
	}
	type pair struct{ apart, product float64 }
	pairs := make([]pair, len(order)-1)
	for i := range pairs {
		a, b := order[i], order[i+1]
		pairs[i] = pair{x[b] - x[a], r[a] * r[b]}
	}
	slices.SortStableFunc(pairs, func(a, b pair) int { return cmp.Compare(a.apart, b.apart) })
	most, counted := math.Inf(-1), math.MaxInt
	for share := 1; share <= closestShare; share *= 2 {
		m := len(pairs) / share
		for m < len(pairs) && pairs[m].apart <= pairs[m-1].apart*(1+1e-9) { // equally far apart
			m++
		}
		if m < fewestInputs-1 || m >= counted {
			continue
		}
		sum := 0.0
		for _, p := range pairs[:m] {
			sum += p.product
		}
		most, counted = max(most, sum/(square*math.Sqrt(float64(m)))), m
	}
	return most
}

// closestShare is of how many pairs one is among the closest.
const closestShare = 8
