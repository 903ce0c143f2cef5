package vbks

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"example.com/kestrel/device"
	"example.com/kestrel/vbks/belief"
)

const (
	// rememberedRows times M is the number of rows that a running q(v) averages
	// over: enough to determine it, few enough to follow θ.
	rememberedRows = 20
	// warmRows times M is the number of rows that q(v) must rest on before θ
	// follows it.
	warmRows = 5
	// thetaEvery is the number of steps of which one moves θ.
	thetaEvery = 2

	// An evaluation ends with an exact pass over all rows seen where that costs
	// little: at most exactRows rows times live kernels, or, since a row of a pass is
	// cheaper than one of a step, passedSteps times the rows of its minibatches. When
	// all data are in use, where it decides the result, up to mostExactRows; beyond
	// that for as many of the best kernels as that is enough for.
	exactRows     = 1e5
	passedSteps   = 4
	mostExactRows = 2e7
)

// natural steps along the natural gradient of q(v), held by its precision, and
// along Adam's in θ every other time. While rows are few its evaluations end with
// exact passes, and point estimates are tuned once all data are in use: minibatches
// find the neighbourhood of an optimum, not it.
//
// most is how many rows times kernels the passes that end a run may take.
type natural struct{ most float64 }

func (natural) byPrecision() bool { return true }

func (natural) allocate(*learner, *allocator) {}

func (natural) own(l *learner, al *allocator) {
	l.lambda, l.lambdaM = al.array(l.m, l.m), al.array(l.m, 1)
}

func (natural) write(l *learner, k int, _ *State, mean, root []float64) {
	l.lane.Write(l.lambdaM, k, mean)
	l.lane.Write(l.lambda, k, root)
}

func (natural) read(l *learner, st *State, read func(a device.Array, n int) []float64) {
	st.Mean, st.Chol = read(l.lambdaM, l.m), read(l.lambda, l.m*l.m)
}

func (natural) location(l *learner) device.Array { return l.lambdaM }

func (natural) begin(l *learner, sub []int, n float64) { l.rescale(sub, n) }

func (natural) step(l *learner, sub []int, x device.Points, n float64, t int) {
	l.naturalStep(sub, x, n, (t+1)%l.every == 0)
}

func (natural) several(l *learner, sub []int, x device.Points, skip int, n float64, t, steps int) bool {
	return l.naturalSteps(sub, x, skip, n, t, l.every, steps)
}

func (natural) believe(l *learner, sub []int) { l.factoriseBelief(sub) }

func (natural) passed(*learner, []int) {}

// ending: exact passes for all kernels while rows and kernels are few. Where they
// are many and all data are in use, point estimates are tuned all the same, since
// that begins on few rows; then q(v) is fitted to as many rows as there are for
// each kernel, and in the last evaluation to all rows for the best ones, at least
// those that predict where their number is known.
func (r natural) ending(s Settings, seen, all, live, inducing int, last bool) Ending {
	var e Ending
	if s.pointEstimates() && seen == all {
		e.Stages = tuningStages(seen, inducing, live, s.Steps, last)
	}
	deciding := e.Stages != nil || last
	work := float64(seen) * float64(live)
	switch {
	case work <= min(exactRows, r.most), seen <= passedSteps*s.Steps*s.Batch, deciding && (work <= r.most || s.sampled(seen) == seen):
		e.Exact = live
	case last:
		e.Exact = min(live, max(1, s.Top, int(r.most/float64(seen))))
	}
	if e.Stages != nil && e.Exact < live {
		e.Fitted = min(seen, max(e.Stages[0].Rows, int(r.most/float64(live))))
	}
	return e
}

func (natural) moving() float64 { return 1.0 / thetaEvery }

func (natural) carried() int { return 1 }

// naturalStep is a step of size γ along the natural gradient of the local
// ELBO by q(v), which for a Gaussian likelihood is a step towards the minibatch's
// optimum in the natural parameters (Hensman, Fusi and Lawrence 2013, section 3.1):
//
//	Λ ← (1−γ)Λ + γ(I + wAAᵀ)     Λm ← (1−γ)Λm + γwAy     w = n/(Bσ_n²)
//
// With move set, members whose q(v) rests on enough rows first take a step of
// Adam on log θ and ρ, or q(log θ), at q(v) as the earlier batches left it: the
// gradient is then that of rows that q(v) has not just been fitted to.
func (l *learner) naturalStep(sub []int, x device.Points, n float64, move bool) {
	moving, resting := l.moving[:0], l.resting[:0]
	for _, k := range sub {
		if move && !l.frozen && l.members[k].seen >= l.warm(n) {
			moving = append(moving, k)
		} else {
			resting = append(resting, k)
		}
	}
	l.moving, l.resting = moving, resting
	if len(resting) > 0 {
		l.refresh(resting)
		l.project(resting, x)
	}
	if len(moving) > 0 {
		l.factoriseBelief(moving)
		if l.q == nil {
			l.refresh(moving)
			l.bareGradient(moving, x, n)
		} else {
			l.q.zero(moving)
			for range l.samples {
				l.resample(moving)
				l.bareGradient(moving, x, n)
				l.q.accumulate(moving, 1/float64(l.samples))
			}
			l.q.finish(moving)
		}
	}
	l.towards(sub, x, n)
	l.step(moving, l.stepTheta)
	if l.q == nil {
		l.outdate(moving)
	}
}

// warm is the number of rows that q(v) must rest on before θ follows it, of n.
func (l *learner) warm(n float64) float64 { return math.Min(n, float64(warmRows*l.m)) }

// least is the least size of a step on a minibatch of b rows of n.
func (l *learner) least(b, n float64) float64 {
	return math.Min(1, b/math.Min(n, float64(rememberedRows*l.m)))
}

// naturalSteps is naturalStep on so many minibatches at once, of which those whose number,
// from first + 1 on, is a multiple of every move θ: see several.
func (l *learner) naturalSteps(sub []int, x device.Points, skip int, n float64, first, every, steps int) bool {
	lane, ok := l.lane.(device.SmallSteps)
	if !ok {
		return false
	}
	if l.frozen {
		every = 0
	}
	b := float64(x.Len())
	moves := func(k, t int) bool {
		return every > 0 && (first+t+1)%every == 0 && math.Min(l.members[k].seen+float64(t)*b, n) >= l.warm(n)
	}
	small, ok := l.smallRun(sub, x, skip, n, steps, moves)
	if !ok {
		return false
	}
	run := &device.NaturalRun{
		SmallRun: small, Lambda: l.lambda, LambdaM: l.lambdaM,
		Seen: make([]float64, len(sub)), First: first, Every: every, Warm: l.warm(n), Least: l.least(b, n),
	}
	for i, k := range sub {
		run.Seen[i] = l.members[k].seen
	}
	if !lane.NaturalSteps(sub, run) {
		return false
	}
	for _, k := range sub {
		m := &l.members[k]
		for t := range steps {
			if moves(k, t) {
				m.steps++
				m.current = false
			}
		}
		m.seen = math.Min(m.seen+float64(steps)*b, n)
		if l.q != nil { // of what the lane made of the sample nothing is left, but that stands until the next one is drawn
			m.current = true
		}
	}
	return true
}

// bareGradient computes the gradient by the free vector at fixed q(v).
func (l *learner) bareGradient(sub []int, x device.Points, n float64) {
	l.project(sub, x)
	l.marginals(sub, x)
	l.expected(sub, x, n, true)
	l.thetaGradient(sub, x, n)
	l.freeGradient(sub)
}

// towards moves Λ and Λm towards the optimum for the rows x, for which A has
// been computed. γ makes Λ the mean over all batches so far, until that many
// rows are remembered; it is 1 for a first batch and for one of all rows.
func (l *learner) towards(sub []int, x device.Points, n float64) {
	ln := l.lane
	b := float64(x.Len())
	ln.Syrk(sub, 1, l.a, 0, l.work)
	ln.Precision(sub, l.ks, l.theta, n/b, l.work, l.kbar)
	ln.MulTargets(sub, 1, l.a, x, 0, l.target)
	ln.Weight(sub, l.ks, l.theta, n, x.Len(), 1, l.target)
	partition(sub, func(k int) float64 {
		return math.Max(b/(l.members[k].seen+b), l.least(b, n))
	}, func(same []int, gamma float64) {
		if gamma == 1 {
			ln.Copy(same, l.lambda, l.kbar)
			ln.Copy(same, l.lambdaM, l.target)
			return
		}
		ln.AddScaled(same, l.kbar, -1, l.lambda)
		ln.AddScaled(same, l.lambda, gamma, l.kbar)
		ln.AddScaled(same, l.target, -1, l.lambdaM)
		ln.AddScaled(same, l.lambdaM, gamma, l.target)
	})
	for _, k := range sub {
		l.members[k].seen = math.Min(l.members[k].seen+b, n)
	}
}

// rescale lets Λ and Λm stand for n rows: the data's share of both grows with
// the number of rows, as if the new ones were like those seen.
func (l *learner) rescale(sub []int, n float64) {
	ln := l.lane
	partition(sub, func(k int) float64 {
		if l.members[k].rows == 0 {
			return 1
		}
		return n / l.members[k].rows
	}, func(same []int, ratio float64) {
		if ratio == 1 {
			return
		}
		ln.Copy(same, l.work, l.lambda)
		ln.AddScaled(same, l.lambda, ratio-1, l.work)
		ln.AddDiagonal(same, l.lambda, 1-ratio)
		ln.Copy(same, l.target, l.lambdaM)
		ln.AddScaled(same, l.lambdaM, ratio-1, l.target)
	})
	for _, k := range sub {
		l.members[k].rows = n
	}
}

// factoriseBelief computes the factor F of Λ and m from Λ and Λm.
func (l *learner) factoriseBelief(sub []int) {
	ln := l.lane
	ln.Copy(sub, l.qc, l.lambda)
	ln.Fill(sub, l.info, 0)
	ln.Cholesky(sub, l.qc, l.info)
	l.note(sub)
	ln.Copy(sub, l.qm, l.lambdaM)
	ln.Solve(sub, false, l.qc, l.qm)
	ln.Solve(sub, true, l.qc, l.qm)
}

// exact sets q(v) to its optimum for the hyperparameters as they are, from all
// the rows x:
//
//	Λ = I + AAᵀ/σ_n²     Λm = Ay/σ_n²
//
// averaged over fixed draws where θ has a belief. A point estimate's local ELBO is
// then the collapsed bound on these rows, whose squared targets sum to yy, and is
// kept with the bounds on its evidence: see passed. stop is asked between chunks
// of rows; if it ends the pass, q(v) is as it was.
func (l *learner) exact(sub []int, x device.Points, yy float64, stop stopped) error {
	l.changes(sub)
	return l.attempt(sub, func(sub []int) error {
		ln := l.lane
		draws := l.draws()
		weight := 1 / float64(draws)
		// gradC and gradM gather Λ and Λm until the pass is complete.
		ln.Fill(sub, l.gradC, 0)
		ln.Fill(sub, l.gradM, 0)
		for i := range draws {
			l.take(sub, i)
			ln.Fill(sub, l.work, 0)
			ln.Fill(sub, l.target, 0)
			ln.Fill(sub, l.sumDiag, 0)
			for rows := range l.chunks(x) {
				if err := stop.ask(); err != nil {
					return err
				}
				l.project(sub, rows)
				ln.Syrk(sub, 1, l.a, 1, l.work)
				ln.MulTargets(sub, 1, l.a, rows, 1, l.target)
				ln.KernelDiag(sub, l.ks, l.theta, rows, l.kdiag)
				ln.Sum(sub, false, l.kdiag, l.sumDiag)
				if err := ln.Sync(); err != nil {
					return err
				}
			}
			if l.q == nil {
				if err := l.settle(sub, float64(x.Len()), yy); err != nil {
					return err
				}
			}
			ln.Precision(sub, l.ks, l.theta, 1, l.work, l.kbar)
			ln.AddScaled(sub, l.gradC, weight, l.kbar)
			ln.Weight(sub, l.ks, l.theta, 1, 1, 1, l.target)
			ln.AddScaled(sub, l.gradM, weight, l.target)
		}
		ln.Copy(sub, l.lambda, l.gradC)
		ln.Copy(sub, l.lambdaM, l.gradM)
		l.factoriseBelief(sub)
		for _, k := range sub {
			l.members[k].seen, l.members[k].rows = float64(x.Len()), float64(x.Len())
		}
		l.rule.passed(l, sub)
		return nil
	})
}

// fit is exact for rows x that are a sample of n: Λ and Λm stand for all of them.
func (l *learner) fit(sub []int, x device.Points, yy, n float64, stop stopped) error {
	if err := l.exact(sub, x, yy, stop); err != nil {
		return err
	}
	l.rescale(l.live(sub), n)
	return nil
}

// settle keeps the collapsed bound and the bounds on the log evidence, of which
// the pass over n rows has gathered what they are made of.
func (l *learner) settle(sub []int, n, yy float64) error {
	if l.open == nil {
		e, err := newEvidencer(l.group)
		if err != nil {
			return err
		}
		l.open = e
	}
	elbo, bounds, err := l.open.of(sub, l.work, l.target, l.sumDiag, n, yy)
	if err != nil {
		return err
	}
	l.note(sub)
	for i, k := range sub {
		prior, err := l.logPrior(k)
		if err != nil {
			return err
		}
		l.members[k].settled = &settled{elbo: elbo[i] + prior, bounds: bounds[i].plus(prior)}
	}
	return nil
}

// confirm makes exact passes over all rows seen for the best count of the live
// kernels, which have been estimated, and then for those that are equal to the best
// one within the error of sampling, up to as many again. What the others' local
// ELBOs are is told by the best one's, see anchor.
func (r *round) confirm(ctx context.Context, count int) error {
	estimated := slices.Clone(r.outcomes)
	worse := func(a, b int) int { return cmp.Compare(r.outcomes[b].ELBO, r.outcomes[a].ELBO) }
	failed := func(k int) bool { return r.outcomes[k].Failure != "" }
	left := slices.DeleteFunc(slices.Clone(r.live), failed)
	slices.SortStableFunc(left, worse)
	next := left[:min(count, len(left))]
	var known []int
	for len(next) > 0 {
		o := r.order(phaseLearn)
		o.Settled, o.Estimated, o.Pass = true, r.elboSample(r.n), true
		if err := r.each(ctx, o, r.tasks(next)); err != nil {
			return err
		}
		first := len(known) == 0
		known = slices.DeleteFunc(slices.Concat(known, next), failed)
		left = slices.DeleteFunc(slices.Clone(left), func(k int) bool { return slices.Contains(next, k) })
		if len(known) == 0 {
			next = left[:min(count, len(left))]
			continue
		}
		best := slices.MinFunc(known, worse)
		anchor(r.outcomes, estimated, left, best)
		slices.SortStableFunc(left, worse)
		next = nil
		for _, k := range left {
			a, b := &r.outcomes[k], &r.outcomes[best]
			if first && len(next) < count && b.ELBO-a.ELBO <= math.Max(1, 2*belief.PairedSE(a.Terms, b.Terms, r.n)) {
				next = append(next, k)
			}
		}
	}
	if len(left) > 0 {
		r.remarks = append(r.remarks, Notice{Text: r.confirmed(len(known))})
	}
	return nil
}

// confirmed says what the local ELBOs rest on.
func (r *round) confirmed(exact int) string {
	best := "the best one is"
	if exact > 1 {
		best = fmt.Sprintf("the best %d are", exact)
	}
	text := fmt.Sprintf("%d rows x %d kernels: %s", r.n, len(r.live), best)
	if r.settings.pointEstimates() {
		return text + " exact, of the others local ELBOs are estimates"
	}
	return text + " fitted to all rows, the others to minibatches"
}
