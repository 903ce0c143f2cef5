package vbks

import (
	"cmp"
	"context"
	"math"
	"slices"

	"example.com/kestrel/vbks/laplace"
)

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
	volumes, err := u.volumesAt(bound, sub, xs)
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
	modes := make([]laplace.Mode, len(sub))
	for j, i := range sub {
		m := u.model(i)
		modes[j] = laplace.Mode{Program: m.program, X: xs[j], Prec: m.prior.prec, Mean: m.prior.mean, Scale: u.strides(m.program, xs[j])}
	}
	obj := bound.boundObjective(u.seen(), u.seenYY(), u.stop)
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
