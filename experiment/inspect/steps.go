package inspect

import "math"

const (
	fewestSteps = 20   // of a curve: one between fewer is looked at closely
	offStep     = 1e-3 // of a step, that a row may lie off it
)

// steps are those of the series within the range of a query that asks for them, nil where
// it has no even ones, or too many or too few.
func (i *Inspector) steps(q *FitQuery) (x []float64) {
	d := i.subject.Data
	if !q.Steps || q.Column != 0 || d.Series == nil || !(d.Series.Step > 0) {
		return nil
	}
	start, step := i.Inputs()[0].Low, d.Series.Step
	first, last := math.Ceil((q.Low-start)/step-offStep), math.Floor((q.High-start)/step+offStep)
	if n := last - first + 1; !(n >= fewestSteps && n <= float64(min(q.Points, mostPoints))) {
		return nil
	}
	for _, rows := range [...][]int32{d.Train, d.Test} {
		for _, at := range d.Times(rows) {
			if n := (at - start) / step; math.Abs(n-math.Round(n)) > offStep {
				return nil
			}
		}
	}
	for k := first; k <= last; k++ {
		x = append(x, start+k*step)
	}
	return x
}
