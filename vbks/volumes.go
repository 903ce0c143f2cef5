package vbks

import (
	"cmp"
	"context"
	"math"
	"slices"

	"example.com/kestrel/vbks/laplace"
	"example.com/kestrel/vbks/starts"
)

const (
	// The integrals of kernels within integralNats of the best are estimated by draws,
	// as long as a product of all rows with the inducing inputs is at most integralWork.
	integralNats = 15
	// Where solutions are only taken up that is so of so many kernels at most.
	integralWork    = 1e8
	integralKernels = 12
	// At the last evaluation a product may be ten times as much; then only kernels within
	// closeNats of the best are looked at, by their densities alone, too: at most closeKernels, and
	// closeModes of each. Rough integrals are about dearModes.
	lastWork     = 1e9
	closeNats    = 7
	closeKernels = 12
	closeModes   = 4
	dearModes    = 3
	// Where a product is less than drawnWork draws are as many times as many, up to mostTimes.
	drawnWork = 1e6
	mostTimes = 8
	// Modes within modeNats of the best one count: of the weighedModes densest those that have
	// the most mass, at most mostModes. A wide one of low density may have more than all the others.
	modeNats     = 14
	weighedModes = 30
	mostModes    = 10
	hiddenSteps  = 20 // L-BFGS iterations from where a part is hidden
)

// keepVolumes gives the kernels the volumes of the evaluation before whose mode is where
// it was, if the density is not integrated anew: that is too much work with so many
// inducing inputs, or solutions were only taken up.
func (r *round) keepVolumes() {
	if !r.settings.laplace() || r.integrates() {
		return
	}
	for _, i := range r.live {
		k, f := r.kernels[i], &r.outcomes[i]
		if f.State == nil || k.state == nil || k.crude || k.volume == 0 || k.rows != r.n {
			continue
		}
		if r.stays(i) {
			f.Volume = laplace.Volume{Nats: k.volume, Known: true}
		}
	}
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
// ELBO moves by with other settings, or rows weighed in another way, is more than sameNats.
func (r *round) integrated(i int) (volume float64, ok bool) {
	const sameNats = 1e-3
	k := r.kernels[i]
	if len(k.modes) == 0 || len(k.past) == 0 || k.state == nil || k.past[0].evaluation+1 != r.number ||
		k.past[0].rows != r.n || k.past[0].inducing != r.m || !slices.Equal(k.modes[0].X, k.state.Free) {
		return 0, false
	}
	return k.volume, r.stays(i) && math.Abs(r.outcomes[i].ELBO-k.elbo) <= sameNats
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
	if r.heavy() {
		at = slices.DeleteFunc(at, func(k int) bool { return value(k) < best-closeNats && density(k) < densest-closeNats })
		slices.SortStableFunc(at, func(a, b int) int { return cmp.Compare(value(b), value(a)) })
		at = at[:min(closeKernels, len(at))]
	} else {
		at = slices.DeleteFunc(at, func(k int) bool { return value(k) < best-integralNats })
	}
	tasks := r.tasks(at)
	for i := range tasks {
		known := &tasks[i].Known
		known.Modes = slices.Clone(known.Modes)
		for _, m := range r.kernels[tasks[i].Kernel].modes {
			m.Stale = true
			known.Modes = append(known.Modes, m)
		}
		tasks[i].Integrated, tasks[i].Again = r.integrated(tasks[i].Kernel)
	}
	// Where all kernels are searched for again with more inducing inputs, a rough estimate does until then.
	o := r.order(phaseIntegral)
	o.Dear, o.Heavy = r.searchedAgain(len(r.live)), r.heavy()
	return r.each(ctx, o, tasks)
}

// priorOf is the prior of a member's hyperparameters.
func (u *unit) priorOf(i int) laplace.Prior {
	p := u.model(i).prior
	return laplace.Prior{Mean: p.mean, Prec: p.prec}
}

// modes are those of a member's density: the ends of ascents, the best first, each
// once.
func (u *unit) modes(i int) []solution {
	f, program := &u.outcomes[i], u.model(i).program
	all := slices.DeleteFunc(slices.Clone(f.Modes), func(s solution) bool { return s.Stale })
	slices.SortStableFunc(all, func(a, b solution) int { return cmp.Compare(b.Value, a.Value) })
	orders := laplace.Exchanges(program, len(f.State.Free), u.priorOf(i))
	out := []solution{{X: f.State.Free, Value: f.Best.Value}}
	for _, s := range all {
		if out[0].Chol == nil && slices.Equal(s.X, out[0].X) {
			out[0].Chol, out[0].Volume = s.Chol, s.Volume
		}
	}
	for _, s := range all {
		if len(out) == weighedModes || s.Value < f.Best.Value-modeNats {
			break
		}
		same := slices.ContainsFunc(out, func(o solution) bool {
			strides := u.strides(program, o.X)
			return slices.ContainsFunc(orders, func(order []int) bool {
				for a, b := range order {
					if math.Abs(s.X[b]-o.X[a]) > oneMode*strides[a] {
						return false
					}
				}
				return true
			})
		})
		if !same {
			out = append(out, s)
		}
	}
	return out
}

// heaviest are at most mostModes of modes: the first one, then by mass.
func heaviest(modes []solution) []solution {
	if len(modes) < 2 {
		return modes
	}
	slices.SortStableFunc(modes[1:], func(a, b solution) int { return cmp.Compare(b.Value+b.Volume, a.Value+a.Volume) })
	return modes[:min(mostModes, len(modes))]
}

// revalue evaluates the points of earlier evaluations.
func (u *unit) revalue(plain objective) error {
	most := 0
	for i := range u.outcomes {
		u.outcomes[i].Modes = slices.Clone(u.outcomes[i].Modes)
		most = max(most, len(u.outcomes[i].Modes))
	}
	for place := range most {
		var sub []int
		var runs []*ascent
		for i := range u.outcomes {
			if all := u.outcomes[i].Modes; place < len(all) && all[place].Stale {
				sub, runs = append(sub, i), append(runs, &ascent{start: all[place].X})
			}
		}
		if len(sub) == 0 {
			continue
		}
		if err := value(sub, runs, plain); err != nil {
			return err
		}
		for j, i := range sub {
			if m := &u.outcomes[i].Modes[place]; runs[j].x != nil {
				m.Value, m.Stale = runs[j].value, false
			}
		}
	}
	return nil
}

// oneMode is within how many strides of each other two ends are of one mode.
const oneMode = 0.5

// unchanged says of which members the integral is known: nothing was found since but where
// their modes are. These are what has been integrated about again.
func (u *unit) unchanged() []bool {
	out := make([]bool, len(u.tasks))
	for i := range u.tasks {
		t, f := &u.tasks[i], &u.outcomes[i]
		if !t.Again {
			continue
		}
		modes := u.modes(i)
		if slices.ContainsFunc(modes[1:], func(m solution) bool { return m.Chol == nil }) {
			continue
		}
		first := slices.IndexFunc(f.Modes, func(m solution) bool { return m.Chol != nil })
		if first < 0 {
			continue
		}
		modes[0].Chol, modes[0].Volume = f.Modes[first].Chol, f.Modes[first].Volume
		f.Modes, f.Chosen = modes[:min(mostModes, len(modes))], true
		f.Volume = laplace.Volume{Nats: t.Integrated, Known: true}
		out[i] = true
	}
	return out
}

// hide looks for modes in which a part of a kernel is as good as not there. Where the rest explains
// the data, too, such a mode is wide and may have most of the mass, however low it is.
func (u *unit) hide(ctx context.Context, bound *collapsed, again []bool) error {
	obj := bound.boundObjective(u.seen(), u.seenYY(), u.stop)
	hidden, most := make([][][]float64, len(u.tasks)), 0
	for i := range u.tasks {
		if again[i] {
			continue
		}
		p := u.model(i).prior
		hidden[i] = starts.Hidden(u.model(i).program, u.outcomes[i].State.Free, p.mean, p.prec)
		most = max(most, len(hidden[i]))
	}
	for place := range most {
		var sub []int
		var runs []*ascent
		for i := range hidden {
			if place < len(hidden[i]) {
				sub, runs = append(sub, i), append(runs, &ascent{start: hidden[i][place]})
			}
		}
		if err := u.climb(ctx, sub, runs, hiddenSteps, obj); err != nil {
			return err
		}
		for j, i := range sub {
			u.outcomes[i].see(runs[j])
		}
	}
	return nil
}

// integrals estimates the volumes of the unit's kernels by draws.
func (u *unit) integrals(ctx context.Context) error {
	bound, err := u.worker.ownBound()
	if err != nil {
		return err
	}
	if err := u.load(u.worker.group); err != nil {
		return err
	}
	plain := bound.boundValue(u.seen(), u.seenYY(), u.stop)
	if err := u.revalue(plain); err != nil {
		return err
	}
	again := u.unchanged()
	if !u.order.Dear {
		if err := u.hide(ctx, bound, again); err != nil {
			return err
		}
	}
	densities := make([]laplace.Density, len(u.tasks))
	found := make([][]solution, len(u.tasks))
	most := 0
	for i := range u.tasks {
		if again[i] {
			continue
		}
		densities[i] = laplace.Density{Program: u.model(i).program, Name: u.model(i).id, Prior: u.priorOf(i), Dear: u.order.Dear,
			Times: min(mostTimes, int(drawnWork/(float64(u.order.Rows)*float64(bound.m)*float64(bound.m))))}
		found[i] = u.modes(i)
		if u.order.Dear {
			found[i] = found[i][:min(dearModes, len(found[i]))]
		} else if u.order.Heavy {
			found[i] = found[i][:min(closeModes, len(found[i]))]
		}
		most = max(most, len(found[i]))
	}
	for place := range most {
		var sub []int
		var xs [][]float64
		for i := range found {
			if place < len(found[i]) && found[i][place].Chol == nil {
				sub, xs = append(sub, i), append(xs, found[i][place].X)
			}
		}
		if len(sub) == 0 {
			continue
		}
		volumes, err := u.volumesAt(bound, sub, xs)
		if err != nil {
			return err
		}
		for j, i := range sub {
			found[i][place].Chol, found[i][place].Volume = volumes[j].Chol, volumes[j].Nats
		}
	}
	for i := range found {
		if again[i] {
			continue
		}
		found[i] = heaviest(slices.DeleteFunc(found[i], func(m solution) bool { return m.Chol == nil }))
		u.outcomes[i].Modes, u.outcomes[i].Chosen = found[i], true
		for _, m := range found[i] {
			densities[i].Modes = append(densities[i].Modes, laplace.Peak{X: m.X, Value: m.Value, Volume: m.Volume, Chol: m.Chol})
		}
	}
	var sub []int
	for i := range densities {
		if len(densities[i].Modes) > 0 {
			sub = append(sub, i)
		}
	}
	chosen := make([]laplace.Density, len(sub))
	for j, i := range sub {
		chosen[j] = densities[i]
	}
	integrals, err := laplace.Integrate(chosen, func(at []int, xs [][]float64) ([]float64, error) {
		members, out := make([]int, len(at)), make([]float64, len(at))
		for j, a := range at {
			members[j] = sub[a]
		}
		if err := plain.eval(members, xs); err != nil {
			return nil, err
		}
		for j, k := range members {
			v, ok, err := plain.result(k, nil)
			if err != nil {
				return nil, err
			}
			if out[j] = v; !ok {
				out[j] = math.Inf(-1)
			}
		}
		return out, nil
	}, u.settings.Seed)
	if err != nil {
		return err
	}
	for j, i := range sub {
		// With few effective draws an estimate is too low as a rule, but hardly ever by as much as that
		// of Laplace where that is wrong.
		if g := integrals[j]; !math.IsNaN(g.Nats) {
			f := &u.outcomes[i]
			f.Volume = laplace.Volume{Nats: g.Nats - f.Best.Value, Known: true}
		}
	}
	return nil
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
