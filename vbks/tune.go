package vbks

import (
	"context"
	"math"
)

// TunedRows returns the number of rows, of n, on which the natural-gradient route
// tunes hyperparameters at the end: as many as its running q(v) rests on.
func TunedRows(n, inducing int) int { return min(n, rememberedRows*inducing) }

// tune takes the hyperparameters of a unit's kernels uphill, from where they
// stand, on the run's own inducing inputs: on the collapsed bound, in the place
// of stochastic steps.
//
// Minibatches find the neighbourhood of an optimum quickly and then shake about
// it; L-BFGS on a fixed subset of the rows has no noise and sees how
// hyperparameters depend on each other.
func (u *unit) tune(ctx context.Context) error {
	if err := u.load(u.worker.group); err != nil {
		return err
	}
	bound, err := u.worker.ownBound()
	if err != nil {
		return err
	}
	rows, err := u.rows(u.order.Tuned)
	if err != nil {
		return err
	}
	obj := bound.boundObjective(rows, u.order.Tuned.YY, u.stop)
	starts := make([]solution, len(u.tasks))
	for i := range starts {
		starts[i] = u.outcomes[i].Best
		u.outcomes[i].Best.Value = math.Inf(-1)
	}
	// What the search has found must prove itself here, where there are more
	// inducing inputs, against what there was.
	for _, searched := range []bool{true, false} {
		var sub []int
		var runs []*ascent
		for i := range starts {
			a := &ascent{start: starts[i].X}
			if !searched {
				last := u.tasks[i].Last
				if last == nil || starts[i].Source == "last" {
					continue
				}
				a.start = last.Free
				a.against(&u.outcomes[i].Best)
			}
			if u.outcomes[i].Failure == "" && a.start != nil {
				sub, runs = append(sub, i), append(runs, a)
			}
		}
		if err := u.climb(ctx, sub, runs, u.settings.Steps, obj); err != nil {
			return err
		}
		for j, a := range runs {
			u.outcomes[sub[j]].offer(a, "tuned")
		}
	}
	return nil
}
