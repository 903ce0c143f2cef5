package datasets

import "math"

// OnGrid returns the period that values on an even grid of so long steps show of what repeats: the
// shortest multiple of it that is whole steps, as nearly as the span of the grid tells, where it is shorter than four
// steps. A pattern of 7/3 days is on whole days one of a week, and no other.
func OnGrid(period, step, span float64) float64 {
	if !(step > 0 && period > 0 && period < finestSteps*step) {
		return period
	}
	for k := 1.0; k <= mostMultiples; k++ {
		whole := math.Round(k*period/step) * step
		if whole > 0 && math.Abs(k*period-whole)*span/(k*period) < driftSteps*step {
			return whole
		}
	}
	return period
}

const (
	finestSteps   = 4    // of a grid that show a period's shape between them
	mostMultiples = 8    // of a period are looked at
	driftSteps    = 0.25 // that multiples may be off at the end of the grid
)
