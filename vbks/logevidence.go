package vbks

import (
	"cmp"
	"context"
	"math"
	"slices"

	"example.com/kestrel/device"
)

// Evidence bounds log p(y|θ) of all rows seen at a kernel's hyperparameters, nats
// of the standardised targets, with log p(θ) where the local ELBO has it. It says
// nothing of what other hyperparameters would give.
type Evidence struct {
	Lower, Upper float64 // the local ELBO is at most Lower
	Tight        bool    // from products with all of k(X,X): Upper is close, too
}

// Slack is what the inducing inputs leave open: 0 where they are all of the rows.
func (e Evidence) Slack() float64 { return e.Upper - e.Lower }

// below reports whether the evidence is known to be less than another one.
func (e *Evidence) below(other *Evidence) bool {
	return e != nil && other != nil && e.Upper < other.Lower
}

// with adds a volume; where nothing is known, nothing is.
func (e *Evidence) with(volume float64) *Evidence {
	if e == nil {
		return nil
	}
	b := e.plus(volume)
	return &b
}

// plus adds log p(θ), or a volume.
func (e Evidence) plus(v float64) Evidence { return Evidence{e.Lower + v, e.Upper + v, e.Tight} }

// known reports whether these are numbers.
func (e Evidence) known() bool { return finite([]float64{e.Lower, e.Upper}) }

// evidencer computes bounds on the log evidence from what one pass over the rows
// leaves. With Q̂ = Q + σ²I, T = tr(K − k(X,Z)k(Z,Z)⁻¹k(Z,X)) ≥ 0, which bounds
// every eigenvalue of the difference, and B = I + AAᵀ/σ²,
//
//	ELBO  = log N(y; 0, Q̂) − T/2σ²                         (Titsias 2009)
//	lower = log N(y; 0, Q̂) − n/2 log(1 + T/nσ²)            (Artemev, Burt and van der Wilk 2021, lemma 2)
//	upper = −½ log|2πQ̂| − ½ yᵀ(Q̂ + TI)⁻¹y                  (Titsias 2014)
//
// so that one more factorisation of an M x M matrix is all that the upper bound
// costs.
type evidencer struct {
	g                  *group
	prec, solved, sums device.Array
}

func newEvidencer(g *group) (*evidencer, error) {
	al := &allocator{g: g}
	e := &evidencer{g: g, prec: al.array(g.m, g.m), solved: al.array(g.m, 1), sums: al.array(1, 1)}
	return e, al.err
}

// of returns the ELBO and the bounds of the members sub, without log p(θ): from
// their θ, Q = AAᵀ, b = Ay and Σ k(x,x) of n rows with yᵀy = yy. A member of
// which a factorisation has failed, k(Z,Z)'s before or one here, gets NaN.
func (e *evidencer) of(sub []int, q, b, sumDiag device.Array, n, yy float64) (elbo []float64, bounds []Evidence, err error) {
	g, ln := e.g, e.g.lane
	elbo, bounds = make([]float64, len(sub)), make([]Evidence, len(sub))
	ln.Fill(sub, g.value, 0)
	if _, err := e.solve(sub, 1, q, b); err != nil {
		return nil, nil, err
	}
	ln.Bound(sub, g.ks, g.theta, n, yy, e.prec, e.solved, q, sumDiag, g.value)
	ln.Fill(sub, e.sums, 0)
	ln.LogDiag(sub, e.prec, e.sums)
	theta, square := make([]float64, g.ks.Params()), make([]float64, g.m*g.m)
	for i, k := range sub {
		if elbo[i], err = g.scalar(g.value, k); err != nil {
			return nil, nil, err
		}
		half, err := g.scalar(e.sums, k) // ½ log|B|
		if err != nil {
			return nil, nil, err
		}
		diag, err := g.scalar(sumDiag, k)
		if err != nil {
			return nil, nil, err
		}
		if err := ln.Read(g.theta, k, theta); err != nil {
			return nil, nil, err
		}
		if err := ln.Read(q, k, square); err != nil {
			return nil, nil, err
		}
		trace := 0.0
		for j := range g.m {
			trace += square[j*g.m+j]
		}
		noise := theta[len(theta)-1]
		rest := math.Max(0, diag-trace) // T, but for rounding
		bounds[i].Lower = elbo[i] + 0.5*rest/noise - 0.5*n*math.Log1p(rest/(n*noise))
		// The second system is (Q + (σ²+T)I) = (σ²+T)(I + wQ/σ²), w = σ²/(σ²+T).
		wide := noise + rest
		quadratic, err := e.solve([]int{k}, noise/wide, q, b)
		if err != nil {
			return nil, nil, err
		}
		bounds[i].Upper = -0.5*n*math.Log(2*math.Pi*noise) - half - 0.5*(yy-quadratic[0]/wide)/wide
		// Rounding must not turn them round where they meet.
		bounds[i].Upper = math.Max(bounds[i].Upper, bounds[i].Lower)
		failed, err := g.scalar(g.info, k)
		if err != nil {
			return nil, nil, err
		}
		if failed != 0 {
			elbo[i], bounds[i] = math.NaN(), Evidence{Lower: math.NaN(), Upper: math.NaN()}
		}
	}
	return elbo, bounds, nil
}

// solve factorises I + wQ/σ² into prec and returns |L⁻¹b|², which solved then
// holds the root of.
func (e *evidencer) solve(sub []int, w float64, q, b device.Array) ([]float64, error) {
	g, ln := e.g, e.g.lane
	ln.Precision(sub, g.ks, g.theta, w, q, e.prec)
	ln.Cholesky(sub, e.prec, g.info)
	ln.Copy(sub, e.solved, b)
	ln.Solve(sub, false, e.prec, e.solved)
	ln.Fill(sub, e.sums, 0)
	ln.Sum(sub, true, e.solved, e.sums)
	out := make([]float64, len(sub))
	for i, k := range sub {
		v, err := g.scalar(e.sums, k)
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

const (
	// At least fewestTightened kernels' bounds are worth products with all of k(X,X),
	// and as many as have tightEntries of it together; within tightNats of the leader
	// they may matter.
	fewestTightened = 3
	tightEntries    = 2e8
	tightNats       = 3
)

// tighten closes in on the log evidence of the kernels that may be the best, in
// the run's last evaluation, by products with all of k(X,X).
func (r *round) tighten(ctx context.Context) error {
	if r.n < r.data.Rows() || r.n > ProductRows || !r.concluding(r.number) || !r.settings.pointEstimates() {
		return nil
	}
	best := math.Inf(-1)
	for _, k := range r.live {
		if b := r.outcomes[k].Evidence; b != nil {
			best = math.Max(best, b.Lower)
		}
	}
	at := slices.DeleteFunc(slices.Clone(r.live), func(k int) bool {
		b := r.outcomes[k].Evidence
		return b == nil || b.Upper < best-tightNats || b.Slack() <= openNats
	})
	slices.SortStableFunc(at, func(a, b int) int { return cmp.Compare(r.outcomes[b].Evidence.Lower, r.outcomes[a].Evidence.Lower) })
	o := r.order(phaseEvidence)
	o.Tight = true
	most := max(fewestTightened, int(tightEntries/(float64(r.n)*float64(r.n))))
	return r.each(ctx, o, r.tasks(at[:min(len(at), most)]))
}

// evidence bounds the log evidence of a unit's kernels at what the search has
// found. A kernel that cannot be bounded, whose local ELBO is not in question,
// has none.
func (u *unit) evidence() error {
	if u.order.Tight {
		if err := u.load(u.worker.group); err != nil {
			return err
		}
		for i := range u.outcomes {
			f := &u.outcomes[i]
			u.worker.group.setFree(i, f.State.Free)
			prior, err := u.worker.group.logPrior(i)
			if err != nil {
				return err
			}
			better, err := u.tighten(i, *f.Evidence, prior)
			if err != nil {
				return err
			}
			f.Evidence = &better
		}
		return nil
	}
	bound, err := u.worker.ownBound()
	if err != nil {
		return err
	}
	if err := u.load(u.worker.group); err != nil {
		return err
	}
	var sub []int
	for i := range u.outcomes {
		if f := &u.outcomes[i]; f.Failure == "" && f.State != nil {
			bound.setFree(i, f.State.Free)
			sub = append(sub, i)
		}
	}
	if len(sub) == 0 {
		return nil
	}
	if err := u.steady(bound, sub); err != nil {
		return err
	}
	if err := bound.gather(sub, u.seen(), false, u.stop); err != nil {
		return err
	}
	e, err := u.worker.evidencer()
	if err != nil {
		return err
	}
	n := u.order.Rows
	elbos, bounds, err := e.of(sub, bound.q, bound.b, bound.sumDiag, float64(n), u.seenYY())
	if err != nil {
		return err
	}
	for j, i := range sub {
		f := &u.outcomes[i]
		prior, err := u.worker.group.logPrior(i)
		if err != nil {
			return err
		}
		found := f.ELBO
		if v := elbos[j] + prior; bound.tight && !math.IsNaN(v) && !math.IsInf(v, 0) { // what was searched on is another bound
			f.ELBO = v
		}
		if b := bounds[j].plus(prior); b.known() {
			// What the search has found was evaluated in another order.
			b.Lower = math.Max(b.Lower, found)
			b.Upper = math.Max(b.Upper, b.Lower)
			f.Evidence = &b
		}
	}
	if u.order.Volumes {
		return u.volumes(bound, sub)
	}
	return nil
}
