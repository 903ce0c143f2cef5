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
				if stop != nil {
					if err := stop(); err != nil {
						return err
					}
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
