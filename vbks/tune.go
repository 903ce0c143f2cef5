package vbks

import (
	"context"
	"math"
)

// TunedRows returns the number of rows, of n, on which the natural-gradient route
// tunes hyperparameters at the end: as many as its running q(v) rests on.
func TunedRows(n, inducing int) int { return min(n, rememberedRows*inducing) }

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
	count := TunedRows(n, t.m)
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
	obj := bound.boundObjective(rows, r.tuned.yy, func() error { return r.step(ctx) })
	starts := make([]solution, len(unit))
	for i, k := range unit {
		starts[i], r.best[k].value = r.best[k], math.Inf(-1)
	}
	// What the search has found must prove itself here, where there are more
	// inducing inputs, against what there was.
	for _, found := range []bool{true, false} {
		var sub []int
		var runs []*ascent
		for i, k := range unit {
			a := &ascent{start: starts[i].x}
			if !found {
				last := r.kernels[k].state
				if last == nil || starts[i].source == "last" {
					continue
				}
				a.start = last.Free
				a.against(&r.best[k])
			}
			if r.failure[k] == "" && a.start != nil {
				sub, runs = append(sub, i), append(runs, a)
			}
		}
		if err := r.climb(ctx, unit, sub, runs, r.settings.Steps, obj); err != nil {
			return err
		}
		for i, a := range runs {
			r.offer(unit[sub[i]], a, "tuned")
		}
	}
	return nil
}
