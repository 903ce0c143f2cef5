package baseline

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// grid looks for a step of which all gaps between ascending inputs are multiples, about:
// time stamps of months, quarters and years count, of which the steps are unequal (28 to
// 31 days). It returns the mean step and the number of steps from the first input, or an
// error that says what does not fit.
func grid(x []float64) (step float64, steps []float64, err error) {
	gaps := make([]float64, len(x)-1)
	for i := range gaps {
		gaps[i] = x[i+1] - x[i]
	}
	// The least gap is too short for months; counting with it gives a better one.
	step = slices.Min(gaps)
	span := x[len(x)-1] - x[0]
	for range 20 {
		count := 0.0
		for _, g := range gaps {
			count += max(1, math.Round(g/step))
		}
		if span/count == step {
			break
		}
		step = span / count
	}
	steps = make([]float64, len(x))
	low, high, single := math.Inf(1), 0.0, 0
	for i, g := range gaps {
		k := max(1, math.Round(g/step))
		if math.Abs(g/step-k) > mostOff(k) {
			return 0, nil, fmt.Errorf("the inputs lie on no grid: from %v to %v is no multiple of the step %v", x[i], x[i+1], step)
		}
		if k == 1 {
			low, high = min(low, g), max(high, g)
			single++
		}
		steps[i+1] = steps[i] + k
	}
	if high-low > 0.06*(high+low) {
		return 0, nil, fmt.Errorf("the inputs lie on no grid: steps are from %v to %v long", low, high)
	}
	if 10*single < len(gaps) {
		return 0, nil, errors.New("the inputs lie on no grid: most of its steps would have no row")
	}
	return step, steps, nil
}

// mostOff is by how much of a step an input may be beside its place k steps away: a
// February is 0.92 of a mean month.
func mostOff(k float64) float64 {
	if math.Abs(k) <= 1 {
		return 0.085
	}
	return 0.25
}
