package vbks

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
)

const (
	// A stage of tuning takes tuneMore times the rows of the one before, for half
	// of its kernels, as long as there are more than fewestTuned: successive halving
	// (Karnin, Koren and Somekh, ICML 2013).
	tuneMore    = 4
	fewestTuned = 3
	// Further stages begin near an optimum: they take this share of the steps.
	furtherSteps = 0.25
	// They end where a pass over the rows, of all its kernels, is more than tunedWork,
	// and the stage longer than the first one.
	tunedWork = 5e9
)

// TuningStage is a part of an evaluation's tuning: how many kernels are taken
// uphill on how many rows, by how many L-BFGS iterations at most.
type TuningStage struct{ Rows, Kernels, Steps int }

// tuningStages returns how the natural-gradient route tunes the hyperparameters of
// so many live kernels once all n rows are in use: all of them on as many rows as
// its running q(v) rests on, and in the last evaluation the best on more and more,
// on all where the work allows it. A part of the rows shifts gaps: where they are
// small it must not decide. Of very many rows a part says as much of
// hyperparameters as is needed, and the time goes further with more inducing inputs.
func tuningStages(n, inducing, live, steps int, last bool) []TuningStage {
	s := TuningStage{Rows: min(n, rememberedRows*inducing), Kernels: live, Steps: steps}
	out := []TuningStage{s}
	most := math.Max(tunedWork/rowWork(inducing), float64(s.Rows)*float64(live)/furtherSteps)
	s.Steps = int(math.Ceil(furtherSteps * float64(steps)))
	for last && s.Rows < n {
		s.Kernels = min(s.Kernels, max(fewestTuned, s.Kernels/2))
		rows := tuneMore * s.Rows
		if 2*rows > n { // a stage of nearly as many
			rows = n
		}
		if rows = min(rows, int(most/float64(s.Kernels))); rows < n && rows < 2*s.Rows {
			break
		}
		s.Rows = rows
		out = append(out, s)
	}
	return out
}

// tunedOn says on which part of n rows hyperparameters have been tuned in the end, where that is not all.
func tunedOn(stages []TuningStage, n, inducing int) string {
	last := stages[len(stages)-1]
	if last.Rows >= n {
		return ""
	}
	kernels := "of the best one"
	if last.Kernels > 1 {
		kernels = fmt.Sprintf("of the best %d kernels", last.Kernels)
	}
	return fmt.Sprintf("%d rows, M = %d: hyperparameters %s are tuned on %d of the rows, of which more would take longer than all before",
		n, inducing, kernels, last.Rows)
}

// tune takes the live kernels' hyperparameters through the stages. It returns those
// that the last one was for.
func (r *round) tune(ctx context.Context, stages []TuningStage) (at []int, err error) {
	at = r.live
	for i, stage := range stages {
		o := r.order(phaseTune)
		o.Tuned, o.Steps, o.Further = r.tuneSample(stage.Rows), stage.Steps, i > 0
		if o.draws() {
			r.readyDrawer()
		}
		at = slices.DeleteFunc(slices.Clone(at), func(k int) bool { return r.outcomes[k].Failure != "" || r.outcomes[k].Best.X == nil })
		slices.SortStableFunc(at, func(a, b int) int { return cmp.Compare(r.outcomes[b].Best.Value, r.outcomes[a].Best.Value) })
		if i > 0 {
			at = at[:min(len(at), stage.Kernels)]
		}
		if err := r.each(ctx, o, r.tasks(at)); err != nil {
			return nil, err
		}
	}
	return at, nil
}

// onTuned gives the worker the unit's kernels, on the run's own inducing inputs, and returns
// their bound on the rows that hyperparameters are tuned on, with gradients and plain.
func (u *unit) onTuned() (bound *collapsed, obj, plain objective, err error) {
	if err := u.load(u.worker.group); err != nil {
		return nil, obj, plain, err
	}
	if bound, err = u.worker.ownBound(); err != nil {
		return nil, obj, plain, err
	}
	rows, err := u.rows(u.order.Tuned)
	if err != nil {
		return nil, obj, plain, err
	}
	yy := u.order.Tuned.YY
	return bound, bound.boundObjective(rows, yy, u.stop), bound.boundValue(rows, yy, u.stop), nil
}

// tune takes the hyperparameters of a unit's kernels uphill, from where they
// stand, on the run's own inducing inputs: on the collapsed bound, in the place
// of stochastic steps.
//
// Minibatches find the neighbourhood of an optimum quickly and then shake about
// it; L-BFGS on a fixed subset of the rows has no noise and sees how
// hyperparameters depend on each other. What it cannot see are columns
// along which a kernel is flat: the first stage brings them back where they pay.
func (u *unit) tune(ctx context.Context) error {
	_, obj, plain, err := u.onTuned()
	if err != nil {
		return err
	}
	starts := make([]solution, len(u.tasks))
	for i := range starts {
		starts[i] = u.outcomes[i].Best
		u.outcomes[i].Best.Value = math.Inf(-1)
	}
	// What the search has found must prove itself here, where there are more
	// inducing inputs, against what there was. The better of the two goes first: it
	// mostly stays so, and the other one is soon given up.
	trials := make([][]*ascent, len(starts))
	for i := range starts {
		if u.outcomes[i].Failure != "" {
			continue
		}
		if starts[i].X != nil {
			trials[i] = append(trials[i], &ascent{start: starts[i].X})
		}
		if last := u.tasks[i].Last; last != nil && starts[i].Source != sourceLast && !u.order.Further {
			trials[i] = append(trials[i], &ascent{start: last.Free})
		}
	}
	if err := betterFirst(trials, plain, u.stop); err != nil {
		return err
	}
	for j := range 2 {
		var sub []int
		var runs []*ascent
		for i, both := range trials {
			if j < len(both) {
				a := &ascent{start: both[j].start}
				if j > 0 {
					a.against(&u.outcomes[i].Best)
				}
				sub, runs = append(sub, i), append(runs, a)
			}
		}
		if err := u.climb(ctx, sub, runs, u.order.Steps, obj); err != nil {
			return err
		}
		for k, a := range runs {
			u.outcomes[sub[k]].offer(a, "tuned")
		}
	}
	if u.order.draws() {
		if err := u.bring(ctx, obj, obj); err != nil {
			return err
		}
	}
	for i := range u.outcomes {
		if b := &u.outcomes[i].Best; !math.IsInf(b.Value, -1) { // found here
			b.Gain = ofAll(b.Gain, len(b.X), u.order.Tuned.N, u.total)
		}
	}
	return nil
}

// betterFirst puts the better of two trials of a member first, and leaves out those that cannot be valued.
func betterFirst(trials [][]*ascent, plain objective, stop stopped) error {
	pairs := make([][]*ascent, len(trials))
	for i, both := range trials {
		if len(both) > 1 {
			pairs[i] = both
		}
	}
	best, err := foremost(pairs, plain, 2, stop)
	if err != nil {
		return err
	}
	for i := range best {
		if len(best[i]) > 0 {
			trials[i] = best[i]
		}
	}
	return nil
}

// ofAll is what is still expected of f hyperparameters that have been tuned on a part of
// n rows: where the part's gradient leaves a gain, so many times as much, and what the
// optimum of all rows is above the bound at that of a random part,
//
//	f/2 (n/part − 1),
//
// since both have the same curvature by row, and the part's optimum its covariance.
func ofAll(gain float64, f, part, n int) float64 {
	times := float64(n) / float64(part)
	return gain*times + float64(f)/2*(times-1)
}
