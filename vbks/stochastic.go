package vbks

import (
	"context"
	"errors"
	"math"
	"slices"

	"example.com/kestrel/device"
	"example.com/kestrel/kernelspace"
)

// stochastic is an optimiser that takes the solutions of a search on a scout, the
// collapsed bound on few rows and inducing inputs, through steps on minibatches
// by a rule, and estimates local ELBOs on the common subsample.
type stochastic struct{ rule }

// rule is how a learner makes steps on minibatches, and what of q(v) a kernel
// carries from one to the next.
type rule interface {
	// byPrecision is the form of q(v), see svgp.
	byPrecision() bool
	// allocate makes the arrays that only this rule needs; own those, of a learner
	// that shares the others with another one, that kernels carry.
	allocate(l *learner, al *allocator)
	own(l *learner, al *allocator)
	// write gives member k the q(v) of a state, mean and root being its own or the
	// prior's, and what else the rule carries; read is the reverse.
	write(l *learner, k int, st *State, mean, root []float64)
	read(l *learner, st *State, read func(a device.Array, n int) []float64)
	// location is what is not finite where a member has diverged.
	location(l *learner) device.Array
	// begin prepares members for minibatches that stand for n rows, and step makes
	// step number t, from 0, on one of them.
	begin(l *learner, sub []int, n float64)
	step(l *learner, sub []int, x device.Points, n float64, t int)
	// several makes so many steps at once, from number t and the minibatch x on, of which
	// the next ones lie skip places further each. It reports false, with nothing done,
	// where the lane makes them one by one.
	several(l *learner, sub []int, x device.Points, skip int, n float64, t, steps int) bool
	// believe brings m and the factor of q(v) up to date; passed does after an exact
	// pass, which leaves Λ, Λm and their m and F.
	believe(l *learner, sub []int)
	passed(l *learner, sub []int)

	// ending is what an evaluation ends with, see Effort.
	ending(s Settings, seen, all, live, inducing int, last bool) Ending
	// moving is the share of the steps that move θ, carried the number of M x M
	// matrices of a state.
	moving() float64
	carried() int
}

// ScoutSize returns the rows and inducing inputs on which the stochastic
// optimisers search for solutions, in a run with so many live kernels and
// inducing inputs. The work, rows times m², is shared: the fewer kernels are
// left, down to ten, the larger they are.
func ScoutSize(live, inducing int) (rows, m int) {
	c := math.Max(1, math.Cbrt(scoutKernels/float64(max(live, scoutFewest))))
	return int(scoutRows * c), min(int(scoutInducing*c), inducing)
}

func (stochastic) scout(live, _, m int) (rows, inducing int) { return ScoutSize(live, m) }

// A restart forgets q(v): it must be worth it.
func (stochastic) search() searchTerms { return searchTerms{restart: 5, transplant: 2} }

func (s stochastic) stepping() rule { return s.rule }

func (stochastic) bounded() bool { return false }

func (s stochastic) complete(ctx context.Context, r *round) error {
	end := s.ending(r.settings, r.n, r.data.Rows(), len(r.live), r.m, r.concluding(r.number))
	best, err := r.tune(ctx, end.Stages)
	if err != nil {
		return err
	}
	if n := len(end.Stages); n > 0 {
		if err := r.own(ctx, best, end.Stages[n-1].Rows); err != nil {
			return err
		}
		if text := tunedOn(end.Stages, r.n, r.m); text != "" && r.concluding(r.number) && (r.told || r.rung+1 == len(r.rungs)) {
			r.remarks = append(r.remarks, Notice{Text: text})
		}
	}
	o := r.order(phaseLearn)
	o.Settled, o.Estimated, o.Pass = end.Stages != nil, r.elboSample(r.n), end.Exact == len(r.live)
	if end.Fitted > 0 {
		o.Fitted = r.tuneSample(end.Fitted)
	}
	late, others := r.late()
	if len(late) > 0 && !o.Pass && end.Fitted == 0 {
		// Kernels that come late see the rows that the others have seen.
		whole := *o
		whole.Fitted = r.spreadRows(r.n, r.n)
		if err := r.each(ctx, &whole, r.tasks(late)); err != nil {
			return err
		}
	} else {
		others = r.live
	}
	if err := r.each(ctx, o, r.tasks(others)); err != nil {
		return err
	}
	if end.Exact > 0 && !o.Pass {
		if err := r.confirm(ctx, end.Exact); err != nil {
			return err
		}
	}
	if err := r.tighten(ctx); err != nil {
		return err
	}
	if err := r.look(ctx); err != nil {
		return err
	}
	return r.audible(ctx)
}

// learner returns the worker's learner, loaded with the group's kernels.
func (u *unit) learner() (*learner, error) {
	w := u.worker
	// Its chunks must not depend on batches of the past.
	if w.learn == nil || w.learn.batch != u.settings.Batch {
		l, err := newLearner(w.group, u.settings.Batch, u.settings)
		if err != nil {
			return nil, err
		}
		w.learn = l
	}
	return w.learn, w.learn.adopt(u.priors())
}

// learn takes the kernels of a unit through the evaluation's stochastic steps and
// estimates their local ELBOs.
func (u *unit) learn() error {
	if err := u.load(u.worker.group); err != nil {
		return err
	}
	l, err := u.learner()
	if err != nil {
		return err
	}
	var sub []int
	for i := range u.outcomes {
		f := &u.outcomes[i]
		if f.Failure != "" || f.Best.X == nil {
			continue
		}
		st := &State{Free: f.Best.X, Factor: f.Factor}
		switch last := u.tasks[i].Last; {
		case f.State != nil: // from an earlier phase
			st = f.State
		case last != nil && f.Best.Source == "last":
			if st = last; !slices.Equal(last.Z, f.Own) {
				st = last.unplaced()
			} // else q(v) and the moments go on
		}
		if err := l.begin(i, st, u.model(i).id); err != nil {
			return err
		}
		sub = append(sub, i)
	}
	if !u.order.Settled {
		batches := drawMinibatches(u.settings.Seed, u.order.Number, u.order.Rows, u.settings.Batch, u.settings.Steps)
		if err := l.train(sub, batches, u.stop); err != nil {
			return err
		}
	}
	if u.order.Fitted != nil {
		rows, err := u.rows(u.order.Fitted)
		if err != nil {
			return err
		}
		if err := l.fit(sub, rows, u.order.Fitted.YY, float64(u.order.Rows), u.stop); err != nil {
			return err
		}
	}
	if u.order.Pass {
		if err := l.exact(sub, u.seen(), u.seenYY(), u.stop); err != nil {
			return err
		}
	}
	estimates := make([]*elboEstimate, len(sub))
	if !u.order.Pass || l.q != nil { // else the pass has said what they are
		rows, err := u.rows(u.order.Estimated)
		if err != nil {
			return err
		}
		if estimates, err = l.estimate(sub, rows, u.order.Rows, u.stop); err != nil {
			return err
		}
	}
	for j, i := range sub {
		f := &u.outcomes[i]
		if err := l.err(i); err != nil {
			f.Failure = err.Error() + ", at " + u.formatParams(u.model(i), f.Best.X)
			continue
		}
		if f.State, err = l.end(i); err != nil {
			return err
		}
		f.State.Z = f.Own
		f.Factor, f.Terms = math.Max(f.State.Factor, 1), nil
		if !u.order.Settled && u.order.Rows == u.total {
			f.Best.Gain = gainUnknown // steps on minibatches end near an optimum, nobody knows how near
		}
		if estimates[j] == nil {
			exact := l.members[i].settled
			f.ELBO = exact.elbo
			if exact.bounds.known() {
				f.Evidence = &exact.bounds
			}
			continue
		}
		f.ELBO = estimates[j].ELBO
		if len(estimates[j].Rows) < u.order.Rows {
			f.Terms = estimates[j].Rows
		}
	}
	return nil
}

// ask returns the worker's learner with the kernels of a unit as the last
// evaluation left them.
func (u *unit) ask() (*learner, error) {
	l, err := u.learner()
	if err != nil {
		return nil, err
	}
	var unfitted []int // after a change of the inducing inputs
	for i, st := range u.last() {
		if err := l.begin(i, st, u.model(i).id); err != nil {
			return nil, err
		}
		if st.Mean == nil {
			unfitted = append(unfitted, i)
		}
	}
	if len(unfitted) > 0 {
		if err := l.exact(unfitted, u.seen(), u.seenYY(), u.stop); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// predict predicts with the q(v) that the steps have led to.
func (stochastic) predict(u *unit) error {
	l, err := u.ask()
	if err != nil {
		return err
	}
	mean, variance, noise, err := l.predict(u.all(), u.queried(), u.stop)
	if err != nil {
		return err
	}
	var failures []error
	for i := range u.tasks {
		failures = append(failures, l.err(i))
	}
	u.foretell(mean, variance, noise)
	return errors.Join(failures...)
}

func (stochastic) components(u *unit, parts []kernelspace.Component, out []ComponentPrediction) error {
	l, err := u.ask()
	if err != nil {
		return err
	}
	if err := l.components(parts, u.queried(), u.stop, out); err != nil {
		return err
	}
	return l.err(0)
}
