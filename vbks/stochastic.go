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
		case last != nil && f.Best.Source == sourceLast:
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

// moments are Adam's two for one array of parameters.
type moments struct{ first, second device.Array }

func (al *allocator) moments(rows, cols int) moments {
	return moments{al.array(rows, cols), al.array(rows, cols)}
}

// adam is the paper's stochastic gradient ascent on all of q(v), by its factor,
// and θ.
type adam struct{}

func (adam) byPrecision() bool { return false }

func (adam) allocate(l *learner, al *allocator) {
	l.meanMoments, l.cholMoments = al.moments(l.m, 1), al.moments(l.m, l.m)
	if l.q != nil {
		l.sumM, l.sumC = al.array(l.m, 1), al.array(l.m, l.m)
	}
}

func (adam) own(l *learner, al *allocator) {
	l.qm, l.qc = al.array(l.m, 1), al.array(l.m, l.m)
	l.meanMoments, l.cholMoments = al.moments(l.m, 1), al.moments(l.m, l.m)
}

func (adam) write(l *learner, k int, st *State, mean, root []float64) {
	ln, m := l.lane, l.m
	ln.Write(l.qm, k, mean)
	ln.Write(l.qc, k, root)
	ln.Write(l.meanMoments.first, k, orZeros(st.MeanM1, m))
	ln.Write(l.meanMoments.second, k, orZeros(st.MeanM2, m))
	ln.Write(l.cholMoments.first, k, orZeros(st.CholM1, m*m))
	ln.Write(l.cholMoments.second, k, orZeros(st.CholM2, m*m))
}

func (adam) read(l *learner, st *State, read func(a device.Array, n int) []float64) {
	m := l.m
	st.Mean, st.Chol = read(l.qm, m), read(l.qc, m*m)
	st.MeanM1, st.MeanM2 = read(l.meanMoments.first, m), read(l.meanMoments.second, m)
	st.CholM1, st.CholM2 = read(l.cholMoments.first, m*m), read(l.cholMoments.second, m*m)
}

func (adam) location(l *learner) device.Array { return l.qm }

func (adam) begin(*learner, []int, float64) {}

func (adam) step(l *learner, sub []int, x device.Points, n float64, _ int) { l.adamStep(sub, x, n) }

func (adam) several(l *learner, sub []int, x device.Points, skip int, n float64, _, steps int) bool {
	return l.adamSteps(sub, x, skip, n, steps)
}

func (adam) believe(*learner, []int) {}

// passed: C is the factor of S = Λ⁻¹.
func (adam) passed(l *learner, sub []int) {
	ln := l.lane
	ln.Fill(sub, l.work, 0)
	ln.AddDiagonal(sub, l.work, 1)
	ln.Solve(sub, false, l.qc, l.work)
	ln.Gemm(sub, true, false, 1, l.work, l.work, 0, l.qc)
	ln.Fill(sub, l.info, 0)
	ln.Cholesky(sub, l.qc, l.info)
	l.note(sub)
}

func (adam) ending(Settings, int, int, int, int, bool) Ending { return Ending{} }

func (adam) moving() float64 { return 1 }

// carried counts the moments of C.
func (adam) carried() int { return 3 }

// adamStep is a step of the paper's stochastic gradient ascent, with Adam, on
// (m, C, log θ, ρ), or (m, C) and q(log θ), along the gradient of the local
// ELBO of the rows x, which stand for n.
//
// C is a lower triangle whose diagonal may have either sign: S = CCᵀ stays
// positive semidefinite without a constraint, and the KL holds it off 0.
func (l *learner) adamStep(sub []int, x device.Points, n float64) {
	ln := l.lane
	if l.q == nil {
		l.refresh(sub)
		l.bound(sub, x, n, true)
		if !l.frozen {
			l.freeGradient(sub)
		}
		l.step(sub, func(same []int, t int) {
			ln.Adam(same, t, l.rate, nil, l.qm, l.gradM, l.meanMoments.first, l.meanMoments.second)
			ln.AdamLower(same, t, l.rate, l.qc, l.gradC, l.cholMoments.first, l.cholMoments.second)
			l.stepTheta(same, t)
		})
		l.outdate(sub)
		return
	}
	l.q.zero(sub)
	ln.Fill(sub, l.sumM, 0)
	ln.Fill(sub, l.sumC, 0)
	weight := 1 / float64(l.samples)
	for range l.samples {
		l.resample(sub)
		l.bound(sub, x, n, true)
		l.freeGradient(sub)
		l.q.accumulate(sub, weight)
		ln.AddScaled(sub, l.sumM, weight, l.gradM)
		ln.AddScaled(sub, l.sumC, weight, l.gradC)
	}
	l.q.finish(sub)
	l.step(sub, func(same []int, t int) {
		ln.Adam(same, t, l.rate, nil, l.qm, l.sumM, l.meanMoments.first, l.meanMoments.second)
		ln.AdamLower(same, t, l.rate, l.qc, l.sumC, l.cholMoments.first, l.cholMoments.second)
		l.stepTheta(same, t)
	})
}

// adamSteps is adamStep on so many minibatches at once, see several.
func (l *learner) adamSteps(sub []int, x device.Points, skip int, n float64, steps int) bool {
	lane, ok := l.lane.(device.SmallSteps)
	if !ok || l.frozen {
		return false
	}
	run, ok := l.smallRun(sub, x, skip, n, steps, func(int, int) bool { return true })
	if !ok || !lane.AdamSteps(sub, &device.AdamRun{
		SmallRun: run,
		Mean:     l.qm, MeanM1: l.meanMoments.first, MeanM2: l.meanMoments.second,
		Chol: l.qc, CholM1: l.cholMoments.first, CholM2: l.cholMoments.second,
		Value: l.value,
	}) {
		return false
	}
	for _, k := range sub {
		l.members[k].steps += steps
	}
	l.outdate(sub)
	return true
}

// smallRun is what steps made at once are told of whatever the rule. draws says of which steps, from 0, a member
// draws θ from q(log θ), beside the first where it has none. It is false where θ is drawn more than once for a step.
func (l *learner) smallRun(
	sub []int, x device.Points, skip int, n float64, steps int, draws func(k, t int) bool,
) (run device.SmallRun, ok bool) {
	taken := make([]int, len(sub))
	for i, k := range sub {
		taken[i] = l.members[k].steps
	}
	run = device.SmallRun{
		Kernels: l.ks, Z: l.z, X: x, Skip: skip, Steps: steps, N: n, Taken: taken, Rate: l.rate,
		NoiseFloor: l.floor, Jitter: l.jitter, Factor: l.factor,
		Free: l.free, FreeM1: l.freeMoments.first, FreeM2: l.freeMoments.second, Stride: l.stride,
		PriorMean: l.mean, PriorPrec: l.thetaPrec, Lo: l.lo, Hi: l.hi, Wall: l.wall,
		Failed: l.failed,
	}
	if l.q == nil {
		return run, true
	}
	q := &device.SmallBelief{
		Mean: l.q.centre, Chol: l.q.chol, CholM1: l.thetaMoments.first, CholM2: l.thetaMoments.second,
		CholStride: l.strideChol, Scale: l.q.scale, Diagonal: l.q.diagonal,
	}
	for _, k := range sub {
		q.Fresh = append(q.Fresh, !l.members[k].current)
	}
	q.Draw = func() []float64 {
		f := l.ks.Free()
		out := make([]float64, steps*len(sub)*f)
		for i, k := range sub { // each from its own stream, in the order of steps
			for t := range steps {
				if draws(k, t) || t == 0 && q.Fresh[i] {
					copy(out[(t*len(sub)+i)*f:][:f], l.padded(l.eta(k), 0))
				}
			}
		}
		return out
	}
	run.Belief = q
	return run, l.samples == 1
}

// stepTheta moves θ, or q(log θ).
func (l *learner) stepTheta(same []int, t int) {
	if l.frozen {
		return
	}
	ln := l.lane
	if l.q == nil {
		ln.Adam(same, t, l.rate, l.stride, l.free, l.gradFree, l.freeMoments.first, l.freeMoments.second)
		return
	}
	ln.Adam(same, t, l.rate, l.stride, l.q.centre, l.q.gradCentre, l.freeMoments.first, l.freeMoments.second)
	ln.Adam(same, t, l.rate, l.strideChol, l.q.chol, l.q.gradChol, l.thetaMoments.first, l.thetaMoments.second)
}

// freeGradient turns gradTheta into gradFree and adds log p(θ), which for a
// q(log θ) consists of the soft bounds only.
func (l *learner) freeGradient(sub []int) {
	ln := l.lane
	ln.Collect(sub, l.ks, l.floor, l.theta, l.gradTheta, l.gradFree)
	ln.LogPrior(sub, l.free, l.mean, l.thetaPrec, l.lo, l.hi, l.wall, l.value, l.gradFree)
}

// step counts a step of Adam for every member and calls update with members
// that have made equally many.
func (l *learner) step(sub []int, update func(same []int, t int)) {
	for _, k := range sub {
		l.members[k].steps++
	}
	partition(sub, func(k int) int { return l.members[k].steps }, update)
}

// partition splits sub by a key, in order of first appearance.
func partition[K comparable](sub []int, key func(k int) K, visit func(same []int, key K)) {
	if len(sub) == 1 { // without memory, as a device of small groups has it
		visit(sub, key(sub[0]))
		return
	}
	var order []K
	parts := map[K][]int{}
	for _, k := range sub {
		v := key(k)
		if _, ok := parts[v]; !ok {
			order = append(order, v)
		}
		parts[v] = append(parts[v], k)
	}
	for _, v := range order {
		visit(parts[v], v)
	}
}
