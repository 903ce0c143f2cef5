package inspect

import (
	"math"
	"math/rand/v2"
	"testing"

	"example.com/kestrel/datasets"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/vbks/mixture"
)

// Rows scored in batches are scored as all at once, also where batches have none and
// targets are missing.
func TestBatchesAreScoredAsTheWhole(t *testing.T) {
	const rows = 60
	rng := rand.New(rand.NewPCG(3, 1))
	y, mean, variance := make([]float64, rows), make([]float64, rows), make([]float64, rows)
	for i := range rows {
		y[i], mean[i], variance[i] = 2*rng.NormFloat64(), rng.NormFloat64(), rng.ExpFloat64()
	}
	y[7], y[40] = math.NaN(), math.NaN()
	scored := func(from, to int) *tally {
		p := &mixture.Prediction{IDs: []string{"A"}, Weights: []float64{1}, Noise: []float64{.3},
			Mean: [][]float64{mean[from:to]}, Var: [][]float64{variance[from:to]}}
		var out tally
		must.OK(t, out.add(p.In(&datasets.Scaler{YShift: 1, YScale: 2}), y[from:to]))
		return &out
	}
	want := scored(0, rows).accuracy()
	if want.Rows != rows-2 || want.Missing != 2 {
		t.Fatalf("%+v", want)
	}
	for _, cuts := range [][]int{{30}, {1, 2, 59}, {7, 8, 8, 40}} {
		var sum tally
		from := 0
		for _, to := range append(cuts, rows) {
			sum.merge(scored(from, to))
			from = to
		}
		got := sum.accuracy()
		near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-12*math.Abs(b) }
		if got.Rows != want.Rows || got.Missing != want.Missing || got.Coverage != want.Coverage || !near(got.RMSE, want.RMSE) ||
			!near(got.MAE, want.MAE) || !near(got.NLPD, want.NLPD) || !near(got.CRPS, want.CRPS) || !near(got.Interval, want.Interval) {
			t.Errorf("cut at %v: %+v, as one %+v", cuts, got, want)
		}
	}
}
