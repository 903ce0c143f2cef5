package baseline

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat"

	"example.com/kestrel/internal/must"
)

// One input: gonum's regression, and the textbook's standard error of a prediction.
func TestLeastSquaresOfOneInput(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	x, y := make([]float64, 30), make([]float64, 30)
	for i := range x {
		x[i] = 1e6 + 10*rng.Float64()
		y[i] = 3 - 2*(x[i]-1e6) + rng.NormFloat64()
	}
	at := []float64{1e6 - 5, 1e6 + 4}
	got, err := LeastSquares(x, 1, y, at)
	must.OK(t, err)
	a, b := stat.LinearRegression(x, y, nil, false)
	square := 0.0
	for i := range x {
		e := y[i] - a - b*x[i]
		square += e * e / 28
	}
	mean, variance := stat.MeanVariance(x, nil)
	for i, v := range at {
		sd := math.Sqrt(square * (1 + 1./30 + (v-mean)*(v-mean)/(29*variance)))
		if math.Abs(got[i].Mean-a-b*v) > 1e-6 || math.Abs(got[i].SD-sd) > 1e-6 {
			t.Errorf("at %v: %+v, want %v ± %v", v, got[i], a+b*v, sd)
		}
	}
}

// A plane without noise is found, whatever inputs repeat others or are constant; the mean
// is that of the targets with the deviation of one more.
func TestRegressionsOfSeveralInputs(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var x, y []float64
	for range 12 {
		u, v := rng.Float64(), 100*rng.Float64()
		x = append(x, u, 7.3, v, 2*u-v)
		y = append(y, 5+u-v)
	}
	got, err := LeastSquares(x, 4, y, []float64{2, 7.3, 3, 1})
	must.OK(t, err)
	if math.Abs(got[0].Mean-4) > 1e-9 || got[0].SD > 1e-9 {
		t.Errorf("%+v, want 4 ± 0", got[0])
	}
	got, err = Mean(x, 4, y, make([]float64, 8))
	must.OK(t, err)
	mean, sd := stat.MeanStdDev(y, nil)
	if sd *= math.Sqrt(1 + 1./12); len(got) != 2 || math.Abs(got[1].Mean-mean) > 1e-12 || math.Abs(got[1].SD-sd) > 1e-12 {
		t.Errorf("%+v, want %v ± %v", got, mean, sd)
	}
	for name, x := range map[string][]float64{"few rows": {1, 2, 2, 5}, "infinite": {1, 2, 3, 4, 5, math.Inf(1), 1, 3}} {
		if _, err := LeastSquares(x, 2, make([]float64, len(x)/2), []float64{0, 0}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
