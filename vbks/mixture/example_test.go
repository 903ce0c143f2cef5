package mixture_test

import (
	"fmt"

	"example.com/kestrel/vbks/mixture"
)

// Two kernels that disagree: the average is less sure than either of them. Its variance
// is theirs and what lies between their means.
func ExamplePrediction() {
	p := &mixture.Prediction{
		IDs:     []string{"SE", "LIN"},
		Weights: []float64{0.5, 0.5},
		Noise:   []float64{0.25, 0.25},
		Mean:    [][]float64{{-1, 0}, {1, 0}}, // at two rows
		Var:     [][]float64{{0.75, 0.75}, {0.75, 0.75}},
	}
	if err := p.Check(); err != nil {
		panic(err)
	}
	for row := range p.Rows() {
		mean, variance := p.Moments(row, true) // of an observation, with noise
		fmt.Printf("mean %g, variance %g, 95 %% of y below %.3f\n", mean, variance, p.Quantile(row, 0.95, true))
	}
	s, err := p.Score([]float64{0.5, 0})
	if err != nil {
		panic(err)
	}
	fmt.Printf("rmse %.4f\n", s.RMSE)
	// Output:
	// mean 0, variance 2, 95 % of y below 2.284
	// mean 0, variance 1, 95 % of y below 1.645
	// rmse 0.3536
}
