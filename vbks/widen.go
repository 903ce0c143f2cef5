package vbks

import (
	"context"
	"math"
)

// widen turns the point estimates of a unit into beliefs q(log θ), for the
// collapsed bound, and takes the local ELBOs from them.
func (u *unit) widen(ctx context.Context) error {
	if err := u.load(u.worker.bound.group); err != nil {
		return err
	}
	o, err := u.thetaObjective()
	if err != nil {
		return err
	}
	var sub []int
	var runs []*ascent
	for i := range u.outcomes {
		f := &u.outcomes[i]
		if f.Failure != "" || f.State == nil {
			continue
		}
		chol := u.narrow(i, f.State.Free)
		if last := u.tasks[i].Last; last != nil && last.ThetaChol != nil && f.Best.Source == "last" {
			chol = last.ThetaChol
		}
		sub, runs = append(sub, i), append(runs, &ascent{start: o.pack(f.State.Free, chol)})
	}
	if err := ascend(ctx, u.gate, sub, runs, u.settings.Steps, o.objective()); err != nil {
		return err
	}
	var widened []int
	var xs [][]float64
	for j, i := range sub {
		f := &u.outcomes[i]
		u.breaks(i, runs[j], f.State.Free)
		if f.Failure != "" {
			continue
		}
		if runs[j].x == nil {
			f.Failure = "no belief over the hyperparameters could be found, at " + u.formatParams(u.model(i), f.State.Free)
			continue
		}
		widened, xs = append(widened, i), append(xs, runs[j].x)
	}
	values, ok, err := o.report(widened, xs)
	if err != nil {
		return err
	}
	for j, i := range widened {
		f := &u.outcomes[i]
		if !ok[j] {
			values[j] = math.NaN()
		}
		f.ELBO = values[j]
		f.State.Free, f.State.ThetaChol = o.unpack(xs[j])
	}
	return nil
}

// narrow is the factor of a narrow q(log θ) of member i, diagonal.
func (u *unit) narrow(i int, free []float64) []float64 {
	n := len(free)
	chol := make([]float64, n*n)
	for j, d := range u.strides(u.model(i).program, free) {
		chol[j*n+j] = thetaStart * d
	}
	return chol
}

// thetaChol is the factor of the q(log θ) that member i had last, narrow where
// there was none yet.
func (u *unit) thetaChol(i int) []float64 {
	st := u.tasks[i].Last
	if st.ThetaChol == nil {
		return u.narrow(i, st.Free)
	}
	return st.ThetaChol
}

// thetaObjective is the objective of a unit's beliefs over hyperparameters.
func (u *unit) thetaObjective() (*thetaObjective, error) {
	names := make([]string, len(u.tasks))
	for i := range names {
		names[i] = u.model(i).id
	}
	return newThetaObjective(u.worker.bound, u.seen(), u.seenYY(), u.settings.Hyperparameters == "diagonal",
		u.settings.Seed, names, u.priors(), u.stop)
}
