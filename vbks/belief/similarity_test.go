package belief

import (
	"math"
	"testing"
)

func TestBeliefCorrelation(t *testing.T) {
	// Covariance [4 3; 3 9]: factor [2 0; 1.5 √6.75].
	b := &Belief{IDs: []string{"a", "b"}, Mean: make([]float64, 2), Chol: []float64{2, 0, 1.5, math.Sqrt(6.75)}}
	if c := b.Covariance(); math.Abs(c.At(0, 1)-3) > 1e-14 || math.Abs(c.At(1, 1)-9) > 1e-14 {
		t.Errorf("covariance %v", c)
	}
	c := b.Correlation()
	if c.At(0, 0) != 1 || c.At(1, 1) != 1 || math.Abs(c.At(1, 0)-0.5) > 1e-14 {
		t.Errorf("correlation %v", c)
	}
}

func TestMeanCorrelation(t *testing.T) {
	x := []float64{1, 2, 4, 7, 11}
	n := float64(len(x))
	other := []float64{3, -1, 0, 2, 5}
	affine, opposite, flat := make([]float64, 5), make([]float64, 5), make([]float64, 5)
	var sx, so, sxx, soo, sxo float64
	for i, v := range x {
		affine[i] = 1e6 + 3*v
		opposite[i] = -1e200 * v
		flat[i] = 0.1
		sx += v
		so += other[i]
		sxx += v * v
		soo += other[i] * other[i]
		sxo += v * other[i]
	}
	c, err := MeanCorrelation([][]float64{x, affine, opposite, flat, other})
	if err != nil {
		t.Fatal(err)
	}
	textbook := (n*sxo - sx*so) / math.Sqrt((n*sxx-sx*sx)*(n*soo-so*so))
	for j, want := range []float64{1, 1, -1, 0, textbook} {
		if got := c.At(0, j); math.Abs(got-want) > 1e-9 {
			t.Errorf("correlation with %d is %v, want %v", j, got, want)
		}
	}
	if c.At(3, 3) != 1 {
		t.Errorf("a constant has correlation %v with itself", c.At(3, 3))
	}
	for name, means := range map[string][][]float64{
		"none": nil, "no rows": {{}}, "lengths": {{1, 2}, {1}}, "NaN": {{1, math.NaN()}}, "infinite": {{1, math.Inf(1)}},
	} {
		if _, err := MeanCorrelation(means); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
