package vbks

import (
	"context"
	"math"

	"kestrel/device"
)

// thetaUnit widens the point estimates of a unit to beliefs q(log θ), for the
// collapsed bound, and takes the local ELBOs from them.
func (r *round) thetaUnit(ctx context.Context, w *worker, unit []int) error {
	if err := r.load(w.bound.group, unit); err != nil {
		return err
	}
	o, err := r.thetaObjective(ctx, w, unit)
	if err != nil {
		return err
	}
	var sub []int
	var runs []*ascent
	for i, k := range unit {
		st := r.states[k]
		if r.failure[k] != "" || st == nil {
			continue
		}
		chol := r.thetaStart(k, st.Free)
		if last := r.kernels[k].state; last != nil && last.ThetaChol != nil && r.best[k].source == "last" {
			chol = last.ThetaChol
		}
		sub, runs = append(sub, i), append(runs, &ascent{start: o.pack(st.Free, chol)})
	}
	if err := ascend(ctx, r.gate, sub, runs, r.settings.Steps, o.objective()); err != nil {
		return err
	}
	var found []int
	var xs [][]float64
	for j, i := range sub {
		r.breaks(unit[i], runs[j], r.states[unit[i]].Free)
		if r.failure[unit[i]] != "" {
			continue
		}
		if runs[j].x == nil {
			r.failure[unit[i]] = "no belief over the hyperparameters could be found, at " +
				r.formatParams(r.kernels[unit[i]], r.states[unit[i]].Free)
			continue
		}
		found, xs = append(found, i), append(xs, runs[j].x)
	}
	values, ok, err := o.report(found, xs)
	if err != nil {
		return err
	}
	for j, i := range found {
		k := unit[i]
		if !ok[j] {
			values[j] = math.NaN()
		}
		r.elbo[k] = values[j]
		r.states[k].Free, r.states[k].ThetaChol = o.unpack(xs[j])
	}
	return nil
}

// thetaStart is the factor of a narrow q(log θ), diagonal.
func (r *round) thetaStart(k int, free []float64) []float64 {
	n := len(free)
	chol := make([]float64, n*n)
	for i, d := range r.strides(r.kernels[k].program, free) {
		chol[i*n+i] = thetaStart * d
	}
	return chol
}

// thetaChol is the factor of a kernel's q(log θ), narrow where it has none yet.
func (r *round) thetaChol(k int) []float64 {
	if st := r.kernels[k].state; st.ThetaChol == nil {
		return r.thetaStart(k, st.Free)
	}
	return r.kernels[k].state.ThetaChol
}

// thetaObjective is the objective of a unit's beliefs over hyperparameters.
func (r *round) thetaObjective(ctx context.Context, w *worker, unit []int) (*thetaObjective, error) {
	names, priors := make([]string, len(unit)), make([]prior, len(unit))
	for i, k := range unit {
		names[i], priors[i] = r.kernels[k].id, r.kernels[k].prior
	}
	rows := device.Points{Data: r.train, To: r.n}
	return newThetaObjective(w.bound, rows, r.cumYY[r.n], r.settings.Hyperparameters == "diagonal",
		r.settings.Seed, names, priors, func() error { return r.step(ctx) })
}

// predictTheta predicts with beliefs over hyperparameters and the collapsed
// bound.
func (r *round) predictTheta(ctx context.Context, w *worker, unit []int, x device.Points) (mean, variance [][]float64, noise []float64, err error) {
	o, err := r.thetaObjective(ctx, w, unit)
	if err != nil {
		return nil, nil, nil, err
	}
	all := make([]int, len(unit))
	var means, chols [][]float64
	for i, k := range unit {
		all[i] = i
		means, chols = append(means, r.kernels[k].state.Free), append(chols, r.thetaChol(k))
	}
	return o.predict(all, means, chols, x)
}
