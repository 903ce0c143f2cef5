package vbks

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"example.com/kestrel/device"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks/laplace"
)

// What PredictTheta may be.
const (
	autoTheta    = "auto"
	modeTheta    = "mode"
	laplaceTheta = "laplace"
)

// PredictThetaNames lists what Settings.PredictTheta may be.
func PredictThetaNames() []string { return []string{autoTheta, modeTheta, laplaceTheta} }

const (
	// averagedRows is the number of rows up to which "auto" averages predictions
	// over hyperparameters: with more these are known well, and it costs as much as
	// half of a search.
	averagedRows = 2000
	// AveragedWeight is the weight in a prediction from which on a kernel's
	// hyperparameters are averaged over.
	AveragedWeight = 1e-3
	// BriefWeight is the same where others will be asked for soon, see PredictOptions.Brief.
	BriefWeight = 0.05
	// wider is how many times the volume of Laplace's density draws are spread over:
	// posteriors of hyperparameters, of the noise above all, have longer tails than it.
	wider = 4
)

// averages reports whether predictions after so many of all rows are averaged over
// the hyperparameters of a kernel that has a point estimate of them.
func (s Settings) averages(seen, all int) bool {
	if !s.pointEstimates() || !s.ThetaPrior || s.resolved(all) != "collapsed" {
		return false
	}
	return s.PredictTheta == laplaceTheta || s.PredictTheta == autoTheta && seen <= averagedRows
}

// Spread is what predictions know of the hyperparameters of a kernel about their
// mode: how they are drawn, and how much each draw counts.
type Spread struct {
	Chol    []float64 // C, F x F: draws are mode + Cη, with the η of thetaObjective.others
	Weights []float64 // of the draws, of sum 1; 0 of those that matter to nobody
}

// errNoDraw is why hyperparameters cannot be averaged over.
var errNoDraw = errors.New("no draw of the hyperparameters can be evaluated")

// spreads makes those of the unit's kernels that are lacking, and the objective
// whose draws they weigh; ok is false where one cannot be had.
func (u *unit) spreads() (o *thetaObjective, ok bool, err error) {
	bound, all := u.worker.bound, u.all()
	names, modes := make([]string, len(all)), make([][]float64, len(all))
	known := true
	for i, st := range u.last() {
		names[i], modes[i] = u.model(i).id, st.Free
		known = known && u.outcomes[i].Spread != nil
	}
	o, err = newThetaObjective(bound, u.seen(), u.seenYY(), false, u.settings.Seed, names, u.priors(), u.stop)
	if err != nil || known {
		return o, err == nil, err
	}
	volumes, err := u.volumesAt(bound, all, modes)
	if err != nil {
		return nil, false, err
	}
	chols := make([][]float64, len(all))
	for i, v := range volumes {
		if v.Chol == nil {
			return nil, false, nil
		}
		chols[i] = slices.Clone(v.Chol)
		floats.Scale(math.Pow(wider, 1/float64(len(modes[i]))), chols[i])
	}
	weights, err := o.importance(all, modes, chols)
	if errors.Is(err, errNoDraw) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	for i := range all {
		u.outcomes[i].Spread = &Spread{chols[i], weights[i]}
	}
	return o, true, nil
}

// averaged predicts with the unit's kernels, averaged over their hyperparameters:
// over draws about the mode, from Laplace's normal density of its curvature made
// wider, by their densities. ok is false where that cannot be done.
func (u *unit) averaged() (mean, variance [][]float64, noise []float64, ok bool, err error) {
	o, ok, err := u.spreads()
	if err != nil || !ok {
		return nil, nil, nil, false, err
	}
	all, x := u.all(), u.queried()
	mean, variance, noise = make([][]float64, len(all)), make([][]float64, len(all)), make([]float64, len(all))
	for i := range all {
		mean[i], variance[i] = make([]float64, x.Len()), make([]float64, x.Len())
	}
	theta := make([]float64, o.bound.ks.Params())
	err = u.eachDraw(o, func(live []int, weights, shares []float64) error {
		mu, v, err := o.bound.predict(live, x, u.stop)
		if err != nil {
			return err
		}
		for j, k := range live {
			if err := o.bound.lane.Read(o.bound.theta, k, theta); err != nil {
				return err
			}
			noise[k] += weights[j] * theta[len(theta)-1]
			mix(mean[k], variance[k], mu[j], v[j], shares[j])
		}
		return nil
	})
	return mean, variance, noise, err == nil, err
}

// averagedComponents is averaged for the components of a unit's only kernel.
func (u *unit) averagedComponents(parts []kernelspace.Component, out []ComponentPrediction) (ok bool, err error) {
	o, ok, err := u.spreads()
	if err != nil || !ok {
		return false, err
	}
	err = u.eachDraw(o, func(_ []int, _, shares []float64) error {
		return o.bound.components(parts, u.queried(), shares[0], u.stop, out)
	})
	return err == nil, err
}

// eachDraw finds what is predicted with at one draw after another that counts, and has
// visit look at the members that have it, with their weights and the share that
// these are of the weights so far.
func (u *unit) eachDraw(o *thetaObjective, visit func(live []int, weights, shares []float64) error) error {
	return u.eachCounted(o, func(s int, counted []int, weights, shares []float64) error {
		if err := o.posterior(counted, s); err != nil {
			return err
		}
		return visit(counted, weights, shares)
	})
}

// eachCounted is eachDraw without that: free vectors are the draw's.
func (u *unit) eachCounted(o *thetaObjective, visit func(s int, live []int, weights, shares []float64) error) error {
	all := u.all()
	modes, chols, so := make([][]float64, len(all)), make([][]float64, len(all)), make([]float64, len(all))
	for i, st := range u.last() {
		modes[i], chols[i] = st.Free, u.outcomes[i].Spread.Chol
	}
	return o.each(all, modes, chols, o.others, func(s int, live, at []int) ([]int, error) {
		var counted []int
		var weights, shares []float64
		for _, k := range live {
			if w := u.outcomes[k].Spread.Weights[s]; w > 0 {
				so[k] += w
				counted, weights, shares = append(counted, k), append(weights, w), append(shares, w/so[k])
			}
		}
		if len(counted) == 0 {
			return at, nil
		}
		return at, visit(s, counted, weights, shares)
	})
}

// predict computes the mean and the variance of f at the points x, and the mean
// of σ_n², for the members sub with q(log θ) = N(means[i], CCᵀ) and C =
// chols[i]: the moments of the even mixture over the draws. It is an error if a
// factorisation fails at a draw.
func (o *thetaObjective) predict(
	sub []int, means, chols [][]float64, x device.Points,
) (mean, variance [][]float64, noise []float64, err error) {
	c := o.bound
	mean, variance = make([][]float64, len(sub)), make([][]float64, len(sub))
	noise = make([]float64, len(sub))
	for i := range sub {
		mean[i], variance[i] = make([]float64, x.Len()), make([]float64, x.Len())
	}
	theta := make([]float64, c.ks.Params())
	err = o.each(sub, means, chols, o.draws, func(s int, live, at []int) ([]int, error) {
		if err := o.posterior(live, s); err != nil {
			return nil, err
		}
		mu, v, err := c.predict(live, x, o.stop)
		if err != nil {
			return nil, err
		}
		for i, k := range live {
			if err := c.lane.Read(c.theta, k, theta); err != nil {
				return nil, err
			}
			noise[at[i]] += theta[len(theta)-1] / float64(len(o.draws[k]))
			mix(mean[at[i]], variance[at[i]], mu[i], v[i], 1/float64(s+1))
		}
		return at, nil
	})
	if err != nil {
		return nil, nil, nil, err
	}
	return mean, variance, noise, nil
}

// posterior finds what the members live predict with at draw s, where their free vectors stand.
func (o *thetaObjective) posterior(live []int, s int) error {
	c := o.bound
	c.lane.Expand(live, c.ks, c.floor, c.free, c.theta)
	if err := c.posterior(live, o.rows, o.yy, o.stop); err != nil {
		return err
	}
	return o.sound(live, s)
}

// optimum finds their optimal q(v), which predictions do not need where all rows are inducing inputs.
func (o *thetaObjective) optimum(live []int, s int) error {
	c := o.bound
	c.lane.Expand(live, c.ks, c.floor, c.free, c.theta)
	if err := c.fit(live, o.rows, o.yy, o.stop); err != nil {
		return err
	}
	return o.sound(live, s)
}

// sound is an error where a member could not be evaluated at draw s.
func (o *thetaObjective) sound(live []int, s int) error {
	c := o.bound
	for _, k := range live {
		_, ok, err := c.result(k, nil)
		if err != nil {
			return err
		}
		if !ok {
			return fmt.Errorf("%s: cannot be evaluated at draw %d of q(θ)", c.programs[k].ID, s+1)
		}
	}
	return nil
}

// least is the weight below which a draw is left out.
const least = 1e-4

// importance returns the weights of draws θ_s from N(means[i], CCᵀ), C = chols[i], of
// the members sub:
//
//	w_s ∝ min(r_s, r̄ √S),  r_s = p(y|θ_s) p(θ_s) / N(θ_s; mean, CCᵀ)
//
// those of importance sampling, truncated (Ionides 2008, J. Comput. Graph. Stat. 17):
// the density may have another shape than its curvature at the mode says. A draw
// that cannot be evaluated has none.
func (o *thetaObjective) importance(sub []int, means, chols [][]float64) ([][]float64, error) {
	c := o.bound
	ratios := make([][]float64, len(sub))
	for i, k := range sub {
		ratios[i] = make([]float64, len(o.others[k]))
	}
	err := o.each(sub, means, chols, o.others, func(s int, live, at []int) ([]int, error) {
		if err := c.eval(live, o.rows, o.yy, false, o.stop); err != nil {
			return nil, err
		}
		for i, k := range live {
			value, ok, err := c.result(k, nil)
			if err != nil {
				return nil, err
			}
			if !ok || math.IsNaN(value) {
				value = math.Inf(-1)
			}
			for _, e := range o.others[k][s] {
				value += e * e / 2
			}
			ratios[at[i]][s] = value
		}
		return at, nil
	})
	if err != nil {
		return nil, err
	}
	for i := range ratios {
		if ratios[i] = truncated(ratios[i]); ratios[i] == nil {
			return nil, errNoDraw
		}
	}
	return ratios, nil
}

// truncated turns logarithms of importance ratios into weights of sum 1, none of
// which began above √S times the mean; nil if all are −∞.
func truncated(logs []float64) []float64 {
	out, top := laplace.Truncated(logs)
	if math.IsInf(top, 0) {
		return nil
	}
	floats.Scale(1/floats.Sum(out), out)
	for i, v := range out {
		if v < least {
			out[i] = 0
		}
	}
	floats.Scale(1/floats.Sum(out), out)
	return out
}

const (
	// Of kernels with so much of the belief it is told what their hyperparameters lie between, where predictions
	// average over these anyhow, if the draws are worth so many independent ones.
	toldBelief = 0.05
	toldDraws  = 10
	// normal95 is how many standard deviations an interval of 95 % has on each side.
	normal95 = 1.96
)

// spreadNext finds, after the last planned evaluation, what the hyperparameters of the likely kernels lie between, where no
// integral over them has told, by the draws that predictions average over.
func (t *Trainer) spreadNext(ctx context.Context) error {
	if !t.Done() || t.settings.Evidence == drawsEvidence || !t.settings.averages(t.rows, t.data.Rows()) {
		return nil
	}
	var likely []int
	for i := range t.last.Kernels {
		if k := &t.last.Kernels[i]; k.Status == Live && !k.LeftOut && (k.Rank == 1 || k.Posterior >= toldBelief) {
			likely = append(likely, i)
		}
	}
	r, waiting := t.asking(), len(t.notices)
	if err := r.each(ctx, r.order(phaseSpread), r.tasks(likely)); err != nil {
		return err
	}
	// What has become of a lane meanwhile no later evaluation may come to tell.
	t.last.Notices = append(t.last.Notices, t.notices[waiting:]...)
	t.notices = t.notices[:waiting:waiting]
	for _, i := range likely {
		k, res := t.kernels[i], &t.last.Kernels[i]
		if k.spread = (spread{t.evaluation, t.m, r.outcomes[i].Spread}); k.spread.of == nil {
			continue
		}
		k.between = k.spread.of.between(k.state.Free, predictionDraws(t.settings.Seed, k.id, len(k.state.Free)))
		res.Params, res.Noise, res.NoiseBetween = t.values(k)
	}
	return nil
}

// widths makes the unit's spreads.
func (u *unit) widths() error {
	if err := u.load(u.worker.group); err != nil {
		return err
	}
	_, _, err := u.spreads()
	return err
}

// between is what the entries of a free vector lie between with 95 % of the belief: the mean of the weighted draws, and
// 1.96 of their standard deviations to either side.
func (s *Spread) between(mode []float64, eta [][]float64) (out [2][]float64) {
	f := len(mode)
	square := 0.0
	for _, w := range s.Weights {
		square += w * w
	}
	if !(square > 0) || 1/square < toldDraws {
		return out
	}
	out = [2][]float64{make([]float64, f), make([]float64, f)}
	for j := range f {
		mean, second := 0.0, 0.0
		for d, w := range s.Weights {
			if w > 0 {
				x := floats.Dot(s.Chol[j*f:j*f+j+1], eta[d][:j+1])
				mean, second = mean+w*x, second+w*x*x
			}
		}
		sd := math.Sqrt(math.Max(0, second-mean*mean))
		out[0][j], out[1][j] = mode[j]+mean-normal95*sd, mode[j]+mean+normal95*sd
	}
	return out
}
