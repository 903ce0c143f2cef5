package average

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// MeanSD returns the mean, NaN of none, and the standard deviation of a sample,
// NaN of fewer than two.
func MeanSD(values []float64) (mean, sd float64) {
	switch len(values) {
	case 0:
		return math.NaN(), math.NaN()
	case 1:
		return values[0], math.NaN()
	}
	return stat.MeanStdDev(values, nil)
}

// Median returns the middle of the values, the mean of the two middle ones of
// an even number, NaN of none.
func Median(values []float64) float64 {
	n := len(values)
	if n == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
