package recordtest

import "math"

// LeastAndGreatest returns the least and greatest number, NaN if there is none.
func LeastAndGreatest(values []float64) (lo, hi float64) {
	lo, hi = math.NaN(), math.NaN()
	for _, v := range values {
		if math.IsNaN(v) {
			continue
		}
		if math.IsNaN(lo) || v < lo {
			lo = v
		}
		if math.IsNaN(hi) || v > hi {
			hi = v
		}
	}
	return lo, hi
}

// Same is equality in which NaN equals itself.
func Same(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }
