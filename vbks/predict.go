package vbks

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"kestrel/device"
)

// PredictOptions say over which kernels to average.
type PredictOptions struct {
	Top     int      // the highest-ranked kernels; 0: all live ones
	Weights string   // "posterior" (default) or "bayes"
	IDs     []string // these kernels instead
}

// chosen returns the kernels to predict with and their weights, best first.
func (t *Trainer) chosen(o PredictOptions) (kernels []int, weights []float64, err error) {
	if t.last == nil {
		return nil, nil, fmt.Errorf("there is no evaluation yet")
	}
	for _, id := range o.IDs {
		if !slices.ContainsFunc(t.kernels, func(k *kernel) bool { return k.id == id }) {
			return nil, nil, fmt.Errorf("kernel %s is not in the space", id)
		}
	}
	for i := range t.last.Kernels {
		res := &t.last.Kernels[i]
		if res.Status == Live && (o.IDs == nil || slices.Contains(o.IDs, res.ID)) {
			kernels = append(kernels, i)
		}
	}
	if len(kernels) == 0 {
		return nil, nil, fmt.Errorf("no live kernel to predict with")
	}
	weight := func(i int) float64 {
		if o.Weights == "bayes" {
			return t.last.Kernels[i].Bayes
		}
		return t.last.Kernels[i].Posterior
	}
	slices.SortStableFunc(kernels, func(a, b int) int {
		return cmp.Or(cmp.Compare(weight(b), weight(a)), t.last.Kernels[a].Rank-t.last.Kernels[b].Rank)
	})
	if o.Top > 0 && len(kernels) > o.Top {
		kernels = kernels[:o.Top]
	}
	var total float64
	for _, i := range kernels {
		total += weight(i)
	}
	for _, i := range kernels {
		w := 1 / float64(len(kernels))
		if total > 0 {
			w = weight(i) / total
		}
		weights = append(weights, w)
	}
	return kernels, weights, nil
}

// Predict computes the predictive belief at the rows of x (row-major,
// standardised) under the last evaluation. Kernels whose weight could not
// change any figure (below 1e-9 of the whole) are left out.
func (t *Trainer) Predict(ctx context.Context, x []float64, o PredictOptions) (*Prediction, error) {
	kernels, weights, err := t.chosen(o)
	if err != nil {
		return nil, err
	}
	for n := len(kernels); n > 1 && o.IDs == nil && weights[n-1] < 1e-9; n-- {
		kernels, weights = kernels[:n-1], weights[:n-1]
	}
	data, err := t.dev.NewData(x, nil, t.dim)
	if err != nil {
		return nil, err
	}
	p := &Prediction{
		IDs: make([]string, len(kernels)), Weights: weights, Noise: make([]float64, len(kernels)),
		Mean: make([][]float64, len(kernels)), Var: make([][]float64, len(kernels)),
	}
	place := make(map[int]int, len(kernels))
	for j, i := range kernels {
		k := t.kernels[i]
		p.IDs[j] = k.id
		place[i] = j
	}
	r := t.asking()
	var mu sync.Mutex
	err = r.each(ctx, "predict", kernels, func(ctx context.Context, w *worker, unit []int) error {
		mean, variance, noise, err := r.predictUnit(ctx, w, unit, device.All(data))
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		for i, k := range unit {
			p.Mean[place[k]], p.Var[place[k]], p.Noise[place[k]] = mean[i], variance[i], noise[i]
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return p, nil
}

// asking is a round that only predicts, under the last evaluation.
func (t *Trainer) asking() *round {
	r := &round{Trainer: t, number: t.evaluation, n: t.rows, factor: make([]float64, len(t.kernels))}
	for i, k := range t.kernels {
		r.factor[i] = 1
		if k.state != nil && k.state.Factor > 0 {
			r.factor[i] = k.state.Factor
		}
	}
	return r
}

// predictUnit predicts with the kernels of a unit: mean and variance of f, and
// σ_n², averaged over θ where it has a belief.
func (r *round) predictUnit(ctx context.Context, w *worker, unit []int, x device.Points) (mean, variance [][]float64, noise []float64, err error) {
	if err := r.load(w.group, unit); err != nil {
		return nil, nil, nil, err
	}
	if !r.exact {
		return r.predictLearned(ctx, w, unit, x)
	}
	if r.settings.Hyperparameters != "point" {
		return r.predictTheta(ctx, w, unit, x)
	}
	all := make([]int, len(unit))
	for i, k := range unit {
		all[i] = i
		st := r.kernels[k].state
		w.group.setFree(i, st.Free)
		_, s2 := rawParams(r.kernels[k].program, st.Free, r.floor)
		noise = append(noise, s2)
	}
	rows := device.Points{Data: r.train, To: r.n}
	stop := func() error { return r.step(ctx) }
	if err := w.bound.statistics(all, rows, false, stop); err != nil {
		return nil, nil, nil, err
	}
	w.bound.optimum(all, float64(r.n), r.cumYY[r.n])
	w.bound.belief(all)
	mean, variance, err = w.bound.predict(all, x, stop)
	return mean, variance, noise, err
}

// predict computes the mean and variance of f at the points x under the
// optimal q(v), after statistics, optimum and belief.
func (c *collapsed) predict(sub []int, x device.Points, stop stopped) (mean, variance [][]float64, err error) {
	ln := c.lane
	mean, variance = make([][]float64, len(sub)), make([][]float64, len(sub))
	for i := range sub {
		mean[i], variance[i] = make([]float64, x.Len()), make([]float64, x.Len())
	}
	for from := x.From; from < x.To; from += chunkRows {
		if stop != nil {
			if err := stop(); err != nil {
				return nil, nil, err
			}
		}
		rows := x
		rows.From, rows.To = from, min(from+chunkRows, x.To)
		ln.Kernel(sub, c.ks, c.theta, c.z, rows, c.a)
		ln.Solve(sub, false, c.l, c.a)
		ln.Copy(sub, c.bar, c.a)
		ln.Solve(sub, false, c.prec, c.bar)
		ln.KernelDiag(sub, c.ks, c.theta, rows, c.kdiag)
		ln.Predict(sub, c.a, c.bar, c.mean, c.kdiag, c.r, c.diagBar)
		for i, k := range sub {
			if err := ln.Read(c.r, k, mean[i][from-x.From:][:rows.Len()]); err != nil {
				return nil, nil, err
			}
			if err := ln.Read(c.diagBar, k, variance[i][from-x.From:][:rows.Len()]); err != nil {
				return nil, nil, err
			}
		}
	}
	return mean, variance, nil
}
