package vbks

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"example.com/kestrel/device"
	"example.com/kestrel/vbks/laplace"
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
// found, which where all rows are inducing inputs is what has been found. A kernel that cannot be bounded, whose local ELBO is
// not in question, has none.
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
	whole, others := bound.wholly(sub, u.seen())
	for _, i := range whole {
		if b := (Evidence{Lower: u.outcomes[i].ELBO, Upper: u.outcomes[i].ELBO}); b.known() {
			u.outcomes[i].Evidence = &b
		}
	}
	if err := u.enclose(bound, others); err != nil {
		return err
	}
	if u.order.Volumes {
		return u.volumes(bound, slices.DeleteFunc(sub, func(i int) bool { return u.outcomes[i].ELBO < u.order.Least }))
	}
	return nil
}

// enclose bounds the log evidence of some members by what the inducing inputs show.
func (u *unit) enclose(bound *collapsed, sub []int) error {
	if len(sub) == 0 {
		return nil
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
	return nil
}

const (
	// IntegralNats is how far behind the best kernels' integrals are estimated by draws,
	// as long as a product of all rows with the inducing inputs is at most integralWork.
	IntegralNats = 15
	integralWork = 1e8
	// Where solutions are only taken up that is so of so many kernels at most.
	integralKernels = 12
	// At the last evaluation a product may be ten times as much; then only kernels within
	// closeNats of the best are looked at, by their densities alone, too: at most closeKernels.
	lastWork     = 1e9
	closeNats    = 7
	closeKernels = 12
	// All but the briefAfter best are done with fewer values where each is much work.
	briefAfter = 5
)

// keepVolumes gives the kernels the volumes of the evaluation before whose mode is where
// it was, if the density is not integrated anew: that is too much work with so many
// inducing inputs, or solutions were only taken up. While the space grows it is for few.
func (r *round) keepVolumes() {
	if !r.settings.laplace() || r.integrates() && !(r.growing() && r.Trainer.compared == r.m) {
		return
	}
	for _, i := range r.live {
		k, f := r.kernels[i], &r.outcomes[i]
		if f.State == nil || k.state == nil || k.crude || k.volume == 0 || k.rows != r.n {
			continue
		}
		if r.stays(i) {
			f.Volume = k.known()
		}
	}
}

// assumeVolumes gives the kernels that are too far behind for one the least volume of the others, lest they come closer for it. It
// is known anew as soon as it is worth its gradients.
func (r *round) assumeVolumes(least float64) {
	low := 0.0
	for _, i := range r.live {
		if v := r.outcomes[i].Volume; v.Known {
			low = min(low, v.Nats)
		}
	}
	for _, i := range r.live {
		if f := &r.outcomes[i]; !f.Volume.Known && f.ELBO < least {
			f.Volume.Nats = low
		}
	}
}

// known is what the last evaluation has found of the volume of a kernel's mode.
func (k *kernel) known() laplace.Volume {
	return laplace.Volume{Nats: k.volume, Known: true, Low: k.between[0], High: k.between[1]}
}

// stays reports whether a kernel's mode is where it was at the last evaluation.
func (r *round) stays(i int) bool {
	k, f := r.kernels[i], &r.outcomes[i]
	stays := true
	for j, s := range r.strides(k.program, k.state.Free) {
		stays = stays && math.Abs(f.State.Free[j]-k.state.Free[j]) <= oneMode*s
	}
	return stays
}

// integrated is the volume that the last evaluation has found for a kernel, from as many rows and
// inducing inputs and about the mode that it has now, of the same density: what a local
// ELBO moves by with other settings, or rows weighed in another way, is more than sameNats. What was found
// while a space grew is rough, and not enough once it has grown.
func (r *round) integrated(i int) (v laplace.Volume, ok bool) {
	const sameNats = 1e-3
	k := r.kernels[i]
	if r.expansion.grammar != nil && !r.growing() {
		return v, false
	}
	if len(k.modes) == 0 || len(k.past) == 0 || k.state == nil || k.past[0].evaluation+1 != r.number ||
		k.past[0].rows != r.n || k.past[0].inducing != r.m || !slices.Equal(k.modes[0].X, k.state.Free) {
		return v, false
	}
	return k.known(), r.stays(i) && math.Abs(r.outcomes[i].ELBO-k.elbo) <= sameNats
}

// integrates reports whether densities are integrated in this evaluation.
func (r *round) integrates() bool {
	if r.settings.Evidence != drawsEvidence || r.n < r.data.Rows() {
		return false
	}
	if r.heavy() {
		return r.work() <= lastWork && r.rung+1 == len(r.rungs) && r.concluding(r.number)
	}
	return r.researches(len(r.live)) || len(r.live) <= integralKernels
}

// work is that of a product of all rows with the inducing inputs.
func (r *round) work() float64 { return float64(r.n) * float64(r.m) * float64(r.m) }

// heavy reports whether only the last belief is worth so much work.
func (r *round) heavy() bool { return r.work() > integralWork }

// integrate finds volumes that count all modes and shapes other than normal ones, of
// the kernels that may be the best, once all data are in use.
func (r *round) integrate(ctx context.Context) error {
	if !r.integrates() {
		return nil
	}
	value := func(k int) float64 {
		f := &r.outcomes[k]
		if f.State == nil || f.Failure != "" {
			return math.Inf(-1)
		}
		if b := f.Evidence; b != nil {
			return b.Lower + f.Volume.Nats
		}
		return f.ELBO + f.Volume.Nats
	}
	at := slices.DeleteFunc(slices.Clone(r.live), func(k int) bool { return math.IsInf(value(k), -1) })
	best, densest := math.Inf(-1), math.Inf(-1)
	density := func(k int) float64 { return value(k) - r.outcomes[k].Volume.Nats }
	for _, k := range at {
		best, densest = math.Max(best, value(k)), math.Max(densest, density(k))
	}
	if r.growing() {
		at = r.promising(at, value)
	} else if r.heavy() {
		at = slices.DeleteFunc(at, func(k int) bool { return value(k) < best-closeNats && density(k) < densest-closeNats })
		slices.SortStableFunc(at, func(a, b int) int { return cmp.Compare(value(b), value(a)) })
		at = at[:min(closeKernels, len(at))]
	} else {
		at = slices.DeleteFunc(at, func(k int) bool { return value(k) < best-IntegralNats })
	}
	tasks := r.tasks(at)
	for i := range tasks {
		tasks[i].Brief = r.heavy() && slices.Index(at, tasks[i].Kernel) >= briefAfter
		known := &tasks[i].Known
		known.Modes = slices.Clone(known.Modes)
		for _, m := range r.kernels[tasks[i].Kernel].modes {
			m.Stale = true
			known.Modes = append(known.Modes, m)
		}
		tasks[i].Integrated, tasks[i].Again = r.integrated(tasks[i].Kernel)
	}
	// Where all kernels are searched for again with more inducing inputs, or the space still grows, a rough
	// estimate does until then.
	o := r.order(phaseIntegral)
	o.Dear, o.Heavy = r.searchedAgain(len(r.live)) || r.growing(), r.heavy()
	return r.each(ctx, o, tasks)
}

// promising are those of some kernels of a growing space that may be among its leaders, whose
// integrals say where it grows, and those whose integrals are known. All are compared once it has grown.
func (r *round) promising(at []int, value func(k int) float64) []int {
	worth := func(k int) float64 { return value(k)/r.settings.EvidenceScale + r.kernels[k].logPrior }
	best := math.Inf(-1)
	for _, k := range at {
		best = math.Max(best, worth(k))
	}
	return slices.DeleteFunc(at, func(k int) bool {
		_, known := r.integrated(k)
		return !known && worth(k) < best-closeNats
	})
}

// volumes estimates those of the members' modes that are not known.
func (u *unit) volumes(bound *collapsed, sub []int) error {
	sub = slices.DeleteFunc(slices.Clone(sub), func(i int) bool { return u.outcomes[i].Volume.Known })
	xs := make([][]float64, len(sub))
	for j, i := range sub {
		xs[j] = u.outcomes[i].State.Free
	}
	obj := bound.boundObjective(u.seen(), u.seenYY(), u.stop)
	var falls [][]float64
	if s := u.order.Curved; s != nil && len(sub) > 0 {
		var err error
		if falls, err = u.fallsOn(s, sub, xs); err != nil {
			return err
		}
	}
	volumes, err := u.volumesBy(obj, sub, xs, falls)
	for j, i := range sub {
		if err == nil {
			u.outcomes[i].Volume = volumes[j]
		}
	}
	return err
}

// volumesAt estimates the volumes of the modes of some members at xs, from all rows
// seen.
func (u *unit) volumesAt(bound *collapsed, sub []int, xs [][]float64) ([]laplace.Volume, error) {
	return u.volumesBy(bound.boundObjective(u.seen(), u.seenYY(), u.stop), sub, xs, nil)
}

// fallsOn says about how fast the evidence of all rows falls along each entry, by that of n' of the n, n/n' times as fast.
func (u *unit) fallsOn(s *rowSet, sub []int, xs [][]float64) ([][]float64, error) {
	curved, _, err := u.onPart(s)
	if err != nil {
		return nil, err
	}
	volumes, err := u.volumesBy(curved, sub, xs, nil)
	if err != nil {
		return nil, err
	}
	out := make([][]float64, len(sub))
	for j := range volumes {
		if out[j] = volumes[j].Falls(); out[j] != nil {
			floats.Scale(float64(u.order.Rows)/float64(s.N), out[j])
		}
	}
	return out, nil
}

// volumesBy is volumesAt by the gradients of an objective, with how fast its density falls along each entry where that is known.
func (u *unit) volumesBy(obj objective, sub []int, xs, falls [][]float64) ([]laplace.Volume, error) {
	modes := make([]laplace.Mode, len(sub))
	for j, i := range sub {
		m := u.model(i)
		modes[j] = laplace.Mode{Program: m.program, X: xs[j], Prec: m.prior.prec, Mean: m.prior.mean, Scale: u.strides(m.program, xs[j])}
		if falls != nil {
			modes[j].Falls = falls[j]
		}
	}
	return laplace.Volumes(modes, func(at []int, xs [][]float64) ([][]float64, error) {
		members, out := make([]int, len(at)), make([][]float64, len(at))
		for j, i := range at {
			members[j] = sub[i]
		}
		if err := obj.eval(members, xs); err != nil {
			return nil, err
		}
		for j, k := range members {
			grad := make([]float64, len(xs[j]))
			_, ok, err := obj.result(k, grad)
			if err != nil {
				return nil, err
			}
			if ok {
				out[j] = grad
			}
		}
		return out, nil
	})
}
