package vbks

import (
	"context"
	"reflect"
	"testing"

	"example.com/kestrel/internal/must"
	"example.com/kestrel/internal/thorough"
)

// A kernel that is left alone has the cores of all lanes: its results are those of one
// core, bit for bit, and so are predictions.
func TestOneKernelOnManyCores(t *testing.T) {
	thorough.AnyInstructions(t)
	t.Parallel()
	data := trainingSeries(5, 701)
	at := make([]float64, 0, 433)
	for i := range cap(at) {
		at = append(at, -1.2+2.4*float64(i)/float64(cap(at)))
	}
	for optimizer, cores := range map[string][]int{"collapsed": {1, 3, 7}, "natural": {1, 2}} {
		s := quickSettings(optimizer)
		s.Inducing, s.Batch, s.EvaluateEvery, s.Starts, s.Steps = 61, 256, 1, 1, 4
		var want []Evaluation
		var means, variances []float64
		for _, lanes := range cores {
			tr := trainerOn(t, lanes, nil, data, s, "SE+PER")
			got := train(t, tr)
			p, err := tr.Predict(context.Background(), at, PredictOptions{})
			must.OK(t, err)
			if lanes == 1 {
				want, means, variances = got, p.Mean[0], p.Var[0]
				continue
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s, %d cores: other evaluations%s", optimizer, lanes, firstDifference(got, want))
			}
			if !reflect.DeepEqual(p.Mean[0], means) || !reflect.DeepEqual(p.Var[0], variances) {
				t.Errorf("%s, %d cores: other predictions", optimizer, lanes)
			}
		}
	}
}
