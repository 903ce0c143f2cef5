package vbks

import (
	"context"
	"errors"
	"math"

	"kestrel/device"
	"kestrel/vbks/periods"
)

// A natural-gradient evaluation ends with an exact pass over all rows seen
// where that costs little, at most exactRows rows times live kernels, and when
// all data are used, where it decides the result, at most finalExactRows.
const (
	exactRows      = 1e5
	finalExactRows = 4e6
)

// ending reports whether this evaluation ends with an exact pass.
func (r *round) ending() bool {
	work := float64(r.n) * float64(len(r.live))
	return work <= exactRows || work <= finalExactRows && r.number >= r.Planned()
}

// columnPeriods finds candidate periods for every input column.
func columnPeriods(d Training, seed uint64) [][]float64 {
	out := make([][]float64, d.Dim)
	for c, peaks := range periods.Columns(d.X, d.Y, d.Dim, periods.Options{Seed: seed}) {
		for _, p := range peaks {
			out[c] = append(out[c], p.Period)
		}
	}
	return out
}

// learner returns the worker's learner, loaded with the group's kernels.
func (r *round) learner(w *worker, unit []int) (*learner, error) {
	// Its chunks must not depend on batches of the past.
	if w.learn == nil || w.learn.batch != r.settings.Batch {
		l, err := newLearner(w.group, r.settings.Batch, r.settings)
		if err != nil {
			return nil, err
		}
		w.learn = l
	}
	priors := make([]prior, len(unit))
	for i, k := range unit {
		priors[i] = r.kernels[k].prior
	}
	return w.learn, w.learn.adopt(priors)
}

// learnUnit takes the kernels of a unit through the evaluation's stochastic
// steps and estimates their local ELBOs.
func (r *round) learnUnit(ctx context.Context, w *worker, unit []int) error {
	if err := r.load(w.group, unit); err != nil {
		return err
	}
	l, err := r.learner(w, unit)
	if err != nil {
		return err
	}
	var sub []int
	for i, k := range unit {
		if r.failure[k] != "" || r.best[k].x == nil {
			continue
		}
		st := &State{Free: r.best[k].x, Factor: r.factor[k]}
		if last := r.kernels[k].state; last != nil && r.best[k].source == "last" {
			st = last.clone() // q(v) and the moments go on
		}
		if err := l.begin(i, st, r.kernels[k].id); err != nil {
			return err
		}
		sub = append(sub, i)
	}
	stop := func() error { return r.step(ctx) }
	if r.tuned == nil {
		batches := drawMinibatches(r.settings.Seed, r.number, r.n, r.settings.Batch, r.settings.Steps)
		if err := l.train(sub, batches, stop); err != nil {
			return err
		}
	}
	if r.tuned != nil || l.precision && r.ending() {
		if err := l.exact(sub, device.Points{Data: r.train, To: r.n}, stop); err != nil {
			return err
		}
	}
	rows, err := w.points(r.train, r.sample)
	if err != nil {
		return err
	}
	estimates, err := l.estimate(sub, rows, r.n, stop)
	if err != nil {
		return err
	}
	for j, i := range sub {
		k := unit[i]
		if err := l.err(i); err != nil {
			r.failure[k] = err.Error() + ", at " + r.formatParams(r.kernels[k], r.best[k].x)
			continue
		}
		if r.states[k], err = l.end(i); err != nil {
			return err
		}
		r.factor[k] = math.Max(r.states[k].Factor, 1)
		r.elbo[k] = estimates[j].ELBO
		if len(estimates[j].Rows) < r.n {
			r.terms[k] = estimates[j].Rows
		}
	}
	return nil
}

// elboSample is the common subsample of the first n rows: those of a fixed
// permutation that have been seen, at most ELBORows.
func (t *Trainer) elboSample(n int) *rowSet {
	count := t.settings.ELBORows
	if count <= 0 || count >= n {
		return &rowSet{n: n}
	}
	s := &rowSet{n: count}
	for _, i := range t.elboRows {
		if int(i) < n {
			s.rows = append(s.rows, i)
			if len(s.rows) == count {
				break
			}
		}
	}
	return s
}

// ask returns the worker's learner with the kernels of a unit as the last
// evaluation left them.
func (r *round) ask(w *worker, unit []int, stop stopped) (*learner, error) {
	l, err := r.learner(w, unit)
	if err != nil {
		return nil, err
	}
	var unfitted []int // after a change of the inducing inputs
	for i, k := range unit {
		st := r.kernels[k].state
		if err := l.begin(i, st, r.kernels[k].id); err != nil {
			return nil, err
		}
		if st.Mean == nil {
			unfitted = append(unfitted, i)
		}
	}
	if len(unfitted) > 0 {
		if err := l.exact(unfitted, device.Points{Data: r.train, To: r.n}, stop); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// predictLearned predicts with the stochastic optimisers' q(v).
func (r *round) predictLearned(ctx context.Context, w *worker, unit []int, x device.Points) (mean, variance [][]float64, noise []float64, err error) {
	stop := func() error { return r.step(ctx) }
	l, err := r.ask(w, unit, stop)
	if err != nil {
		return nil, nil, nil, err
	}
	all := make([]int, len(unit))
	for i := range unit {
		all[i] = i
	}
	mean, variance, noise, err = l.predict(all, x, stop)
	if err != nil {
		return nil, nil, nil, err
	}
	var failures []error
	for i := range unit {
		failures = append(failures, l.err(i))
	}
	return mean, variance, noise, errors.Join(failures...)
}
