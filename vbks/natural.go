package vbks

import (
	"math"

	"kestrel/device"
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
)

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
	ln := l.lane
	moving, resting := l.moving[:0], l.resting[:0]
	warm := math.Min(n, float64(warmRows*l.m))
	for _, k := range sub {
		if move && !l.frozen && l.members[k].seen >= warm {
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
	l.step(moving, func(same []int, t int) {
		if l.q != nil {
			l.stepTheta(same, t)
			return
		}
		ln.Adam(same, t, l.rate, l.stride, l.free, l.gradFree, l.freeMoments.first, l.freeMoments.second)
	})
	if l.q == nil {
		l.outdate(moving)
	}
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
	least := math.Min(1, b/math.Min(n, float64(rememberedRows*l.m)))
	partition(sub, func(k int) float64 {
		return math.Max(b/(l.members[k].seen+b), least)
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
// averaged over fixed draws where θ has a belief. stop is asked between chunks
// of rows; if it ends the pass, q(v) is as it was.
func (l *learner) exact(sub []int, x device.Points, stop stopped) error {
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
			for rows := range l.chunks(x) {
				if stop != nil {
					if err := stop(); err != nil {
						return err
					}
				}
				l.project(sub, rows)
				ln.Syrk(sub, 1, l.a, 1, l.work)
				ln.MulTargets(sub, 1, l.a, rows, 1, l.target)
				if err := ln.Sync(); err != nil {
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
		if l.precision {
			return nil
		}
		// C is the factor of S = Λ⁻¹.
		ln.Fill(sub, l.work, 0)
		ln.AddDiagonal(sub, l.work, 1)
		ln.Solve(sub, false, l.qc, l.work)
		ln.Gemm(sub, true, false, 1, l.work, l.work, 0, l.qc)
		ln.Fill(sub, l.info, 0)
		ln.Cholesky(sub, l.qc, l.info)
		l.note(sub)
		return nil
	})
}
