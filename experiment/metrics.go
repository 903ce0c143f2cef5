package experiment

import (
	"context"
	"fmt"
	"slices"

	"kestrel/vbks"
)

// Methods of prediction that a run scores.
const (
	MethodAverage = "vbks"   // Bayesian model averaging
	MethodSingle  = "vbks-s" // the best kernel alone
)

// MethodName is what a method is called in charts.
func MethodName(method string) string {
	switch method {
	case MethodAverage:
		return "averaged"
	case MethodSingle:
		return "best kernel"
	}
	return method
}

// testSet is the test rows, standardised.
type testSet struct {
	x     []float64 // rows x dim
	y     []float64
	dim   int
	scale float64 // of the targets
	most  int     // rows scored at each evaluation; 0: all
}

// choose returns the rows that are scored: at every evaluation the same ones,
// spread evenly over the test rows.
func (t *testSet) choose(all bool) (x, y []float64) {
	n := len(t.y)
	if all || t.most == 0 || n <= t.most {
		return t.x, t.y
	}
	for i := range t.most {
		r := i * n / t.most
		x = append(x, t.x[r*t.dim:(r+1)*t.dim]...)
		y = append(y, t.y[r])
	}
	return x, y
}

// sampled reports whether the evaluations score a part of the test rows only.
func (t *testSet) sampled() bool { return t.most > 0 && len(t.y) > t.most }

// score predicts the test rows by averaging and by the best kernel.
func (t *testSet) score(ctx context.Context, tr trainer, top int, weights string, all bool) ([]Metric, error) {
	e := tr.Last()
	if len(t.y) == 0 || e == nil || e.Leader() < 0 {
		return nil, nil
	}
	x, y := t.choose(all)
	p, err := tr.Predict(ctx, x, vbks.PredictOptions{Top: top, Weights: weights})
	if err != nil {
		return nil, err
	}
	leader := e.Kernels[e.Leader()].ID
	var single *vbks.Prediction
	if k := slices.Index(p.IDs, leader); k >= 0 {
		single = p.Single(k)
	} else if single, err = tr.Predict(ctx, x, vbks.PredictOptions{IDs: []string{leader}}); err != nil {
		return nil, err
	}
	var out []Metric
	for _, m := range []struct {
		name string
		p    *vbks.Prediction
	}{{MethodAverage, p}, {MethodSingle, single}} {
		s, err := m.p.Score(y)
		if err != nil {
			return nil, fmt.Errorf("scoring the test rows: %w", err)
		}
		s = s.InUnits(t.scale)
		out = append(out, Metric{
			Evaluation: e.Index, Proportion: e.Proportion, Method: m.name, Kernels: len(m.p.IDs),
			RMSE: Number(s.RMSE), MAE: Number(s.MAE), NLPD: Number(s.NLPD), TestRows: s.Rows,
			Coverage50: Number(s.Coverage[vbks.Coverage50]), Coverage80: Number(s.Coverage[vbks.Coverage80]), Coverage95: Number(s.Coverage[vbks.Coverage95]),
		})
	}
	return out, nil
}
