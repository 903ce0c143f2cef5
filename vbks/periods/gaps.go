package periods

import "slices"

// Gaps returns the gaps between neighbouring distinct values of a
// sorted column with a positive range, in its order.
func Gaps(sorted []float64) []float64 {
	last := sorted[0]
	tie := 1e-9 * (sorted[len(sorted)-1] - last)
	gaps := make([]float64, 0, len(sorted))
	for _, v := range sorted {
		if v-last > tie {
			gaps = append(gaps, v-last)
			last = v
		}
	}
	return gaps
}

// GapQuantile returns the q-quantile of the gaps (one of them), of long lists
// from evenly taken ones.
func GapQuantile(gaps []float64, q float64) float64 {
	const most = 50000
	step := (len(gaps) + most - 1) / most
	some := make([]float64, 0, len(gaps)/step+1)
	for i := 0; i < len(gaps); i += step {
		some = append(some, gaps[i])
	}
	slices.Sort(some)
	return some[int(q*float64(len(some)-1))]
}
