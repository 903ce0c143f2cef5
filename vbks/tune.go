package vbks

import "context"

// tuneRows times M is the number of rows on which the natural-gradient route
// tunes hyperparameters at the end: as many as its running q(v) rests on.
const tuneRows = rememberedRows

// tuning reports whether this evaluation tunes hyperparameters on the collapsed
// bound, in the place of stochastic steps: with point estimates, once all data
// are in use and few enough kernels are left for exact passes.
//
// Minibatches find the neighbourhood of an optimum quickly and then shake about
// it; L-BFGS on a fixed subset of the rows has no noise and sees how
// hyperparameters depend on each other.
func (r *round) tuning() bool {
	return r.settings.Optimizer == "natural" && r.settings.Hyperparameters == "point" &&
		r.n == r.data.Rows() && float64(r.n)*float64(len(r.live)) <= finalExactRows
}

// tuneSample is the last rows of the permutation whose first are what local
// ELBOs are estimated on, so that the two have none in common where there are
// enough.
func (t *Trainer) tuneSample() *rowSet {
	n := t.data.Rows()
	count := min(n, tuneRows*t.m)
	if count == n {
		return &rowSet{n: n, yy: t.cumYY[n]}
	}
	s := &rowSet{n: count, rows: t.elboRows[n-count:]}
	for _, i := range s.rows {
		s.yy += t.data.Y[i] * t.data.Y[i]
	}
	return s
}

// tuneUnit takes the hyperparameters of a unit's kernels uphill, from where
// they stand, on the run's own inducing inputs.
func (r *round) tuneUnit(ctx context.Context, w *worker, unit []int) error {
	if err := r.load(w.group, unit); err != nil {
		return err
	}
	bound, err := w.ownBound()
	if err != nil {
		return err
	}
	rows, err := w.points(r.train, r.tuned)
	if err != nil {
		return err
	}
	var sub []int
	var runs []*ascent
	for i, k := range unit {
		if r.failure[k] == "" && r.best[k].x != nil {
			sub, runs = append(sub, i), append(runs, &ascent{start: r.best[k].x})
		}
	}
	obj := bound.boundObjective(rows, r.tuned.yy, func() error { return r.step(ctx) })
	if err := r.climb(ctx, unit, sub, runs, r.settings.Steps, obj); err != nil {
		return err
	}
	for i, a := range runs {
		if a.x != nil {
			r.best[unit[sub[i]]] = solution{x: a.x, value: a.value, source: "tuned", fresh: true}
		}
	}
	return nil
}
