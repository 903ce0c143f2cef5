package prepare

import (
	"context"
	"fmt"
	"slices"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/vbks"
	"example.com/kestrel/vbks/mixture"
)

// TestSet is the test rows.
type TestSet struct {
	X     []float64 // rows x dim, standardised
	Y     []float64 // in the units of the data
	Dim   int
	Units mixture.Units // of the predictions
	Most  int           // rows scored at each evaluation; 0: all

	NoiseSD []float64 // standard deviations of the noise, where they are known

	Percent bool // sMAPE is scored, too
}

// choose returns the rows that are scored: at every evaluation the same ones,
// spread evenly over the test rows.
func (t *TestSet) choose(all bool) (x, y, sds []float64) {
	n := len(t.Y)
	if all || t.Most == 0 || n <= t.Most {
		return t.X, t.Y, t.NoiseSD
	}
	for i := range t.Most {
		r := i * n / t.Most
		x = append(x, t.X[r*t.Dim:(r+1)*t.Dim]...)
		y = append(y, t.Y[r])
		if t.NoiseSD != nil {
			sds = append(sds, t.NoiseSD[r])
		}
	}
	return x, y, sds
}

// Sampled reports whether the evaluations score a part of the test rows only.
func (t *TestSet) Sampled() bool { return t.Most > 0 && len(t.Y) > t.Most }

// Score predicts the test rows by averaging and by the best kernel, briefly where evaluations follow.
func (t *TestSet) Score(ctx context.Context, tr Trainer, top int, weights string, all bool) ([]record.Metric, error) {
	e := tr.Last()
	if len(t.Y) == 0 || e == nil || e.Leader() < 0 {
		return nil, nil
	}
	x, y, sds := t.choose(all)
	p, err := tr.Predict(ctx, x, vbks.PredictOptions{Top: top, Weights: weights, NoiseSD: sds, Brief: !all && !tr.Done()})
	if err != nil {
		return nil, err
	}
	leader := e.Kernels[e.Leader()].ID
	var single *mixture.Prediction
	if k := slices.Index(p.IDs, leader); k >= 0 && p.NoiseAt == nil { // no row is of neighbours
		single = p.Single(k)
	} else if single, err = tr.Predict(ctx, x, vbks.PredictOptions{IDs: []string{leader}, NoiseSD: sds}); err != nil {
		return nil, err
	}
	var out []record.Metric
	for _, m := range []struct {
		name string
		p    *mixture.Prediction
	}{{config.MethodAverage, p}, {config.MethodSingle, single}} {
		s, err := m.p.In(t.Units).Score(y)
		if err != nil {
			return nil, fmt.Errorf("scoring the test rows: %w", err)
		}
		var percent *files.Number
		if t.Percent {
			percent = smape(y, points(m.p.In(t.Units), len(y)))
		}
		out = append(out, record.Metric{
			Evaluation: e.Index, Proportion: e.Proportion, Method: m.name, Kernels: len(m.p.IDs),
			RMSE: files.Number(s.RMSE), MAE: files.Number(s.MAE), NLPD: files.Number(s.NLPD), TestRows: s.Rows,
			Coverage50: files.Number(s.Coverage[mixture.Coverage50]),
			Coverage80: files.Number(s.Coverage[mixture.Coverage80]),
			Coverage95: files.Number(s.Coverage[mixture.Coverage95]),
			CRPS:       files.Number(s.CRPS), Interval: files.Number(s.Interval), SMAPE: percent,
		})
	}
	return out, nil
}

// points are the forecasts that absolute errors are of: means, of transformed targets
// medians.
func points(m mixture.Mapped, rows int) []float64 {
	out := make([]float64, rows)
	_, linear := m.Units.Linear()
	for row := range out {
		if out[row], _ = m.Moments(row, true); !linear {
			out[row] = m.Quantile(row, 0.5, true)
		}
	}
	return out
}
