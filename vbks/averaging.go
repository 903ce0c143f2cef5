package vbks

import (
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"kestrel/device"
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
	// averagedWeight is the weight in a prediction from which on a kernel's
	// hyperparameters are averaged over.
	averagedWeight = 1e-3
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

// averaged predicts with the unit's kernels, averaged over their hyperparameters:
// over draws about the mode, from Laplace's normal density of its curvature made
// wider, by their densities, see thetaObjective.weighted. ok is false where that cannot be
// done.
func (u *unit) averaged() (mean, variance [][]float64, noise []float64, ok bool, err error) {
	bound, all := u.worker.bound, u.all()
	modes := make([][]float64, len(all))
	chols := make([][]float64, len(all))
	known := true
	for i, st := range u.last() {
		modes[i], chols[i] = st.Free, u.outcomes[i].Spread
		known = known && chols[i] != nil
	}
	if !known {
		volumes, err := u.volumesAt(bound, all, modes)
		if err != nil {
			return nil, nil, nil, false, err
		}
		for i, v := range volumes {
			if v.Chol == nil {
				return nil, nil, nil, false, nil
			}
			chols[i], u.outcomes[i].Spread = v.Chol, v.Chol
		}
	}
	names := make([]string, len(all))
	for i := range names {
		names[i] = u.model(i).id
	}
	for i, c := range chols {
		chols[i] = slices.Clone(c)
		floats.Scale(math.Pow(wider, 1/float64(len(modes[i]))), chols[i])
	}
	o, err := newThetaObjective(bound, u.seen(), u.seenYY(), false, u.settings.Seed, names, u.priors(), u.stop)
	if err != nil {
		return nil, nil, nil, false, err
	}
	mean, variance, noise, err = o.weighted(all, modes, chols, u.queried())
	if errors.Is(err, errNoDraw) {
		return nil, nil, nil, false, nil
	}
	return mean, variance, noise, err == nil, err
}

// errNoDraw is why hyperparameters cannot be averaged over.
var errNoDraw = errors.New("no draw of the hyperparameters can be evaluated")

// weighted computes the mean and the variance of f at the points x, and the mean of
// σ_n², for the members sub over draws θ_s from N(means[i], CCᵀ), C = chols[i]: the
// moments of the mixture with the weights
//
//	w_s ∝ min(r_s, r̄ √S),  r_s = p(y|θ_s) p(θ_s) / N(θ_s; mean, CCᵀ)
//
// of importance sampling, truncated (Ionides 2008, J. Comput. Graph. Stat. 17): the
// density may have another shape than its curvature at the mode says. A draw that
// cannot be evaluated has none.
func (o *thetaObjective) weighted(
	sub []int, means, chols [][]float64, x device.Points,
) (mean, variance [][]float64, noise []float64, err error) {
	c := o.bound
	type draw struct {
		ratio, noise   float64
		mean, variance []float64
	}
	drawn := make([][]draw, len(sub))
	theta := make([]float64, c.ks.Params())
	err = o.each(sub, means, chols, o.others, func(s int, live, at []int) ([]int, error) {
		if err := c.statistics(live, o.rows, false, o.stop); err != nil {
			return nil, err
		}
		c.optimum(live, float64(o.rows.Len()), o.yy)
		c.belief(live)
		var good, places []int
		var ratios []float64
		for i, k := range live {
			value, ok, err := c.result(k, nil)
			if err != nil {
				return nil, err
			}
			if !ok || math.IsNaN(value) || math.IsInf(value, 0) {
				continue
			}
			for _, e := range o.others[k][s] {
				value += e * e / 2
			}
			good, places, ratios = append(good, k), append(places, at[i]), append(ratios, value)
		}
		if len(good) == 0 {
			return at, nil
		}
		mu, v, err := c.predict(good, x, o.stop)
		if err != nil {
			return nil, err
		}
		for i, k := range good {
			if err := c.lane.Read(c.theta, k, theta); err != nil {
				return nil, err
			}
			drawn[places[i]] = append(drawn[places[i]], draw{ratios[i], theta[len(theta)-1], mu[i], v[i]})
		}
		return at, nil
	})
	if err != nil {
		return nil, nil, nil, err
	}
	mean, variance, noise = make([][]float64, len(sub)), make([][]float64, len(sub)), make([]float64, len(sub))
	for i, draws := range drawn {
		if len(draws) == 0 {
			return nil, nil, nil, errNoDraw
		}
		ratios := make([]float64, len(draws))
		for s := range draws {
			ratios[s] = draws[s].ratio
		}
		mean[i], variance[i] = make([]float64, x.Len()), make([]float64, x.Len())
		for s, w := range truncated(ratios) {
			d := &draws[s]
			noise[i] += w * d.noise
			for b, m := range d.mean {
				mean[i][b] += w * m
			}
		}
		for s, w := range truncated(ratios) {
			d := &draws[s]
			for b, v := range d.variance {
				off := d.mean[b] - mean[i][b]
				variance[i][b] += w * (v + off*off)
			}
		}
	}
	return mean, variance, noise, nil
}

// truncated turns logarithms of importance ratios into weights of sum 1, none of
// which began above √S times the mean.
func truncated(logs []float64) []float64 {
	top := math.Inf(-1)
	for _, v := range logs {
		top = math.Max(top, v)
	}
	out, sum := make([]float64, len(logs)), 0.0
	for i, v := range logs {
		out[i] = math.Exp(v - top)
		sum += out[i]
	}
	n := float64(len(logs))
	most := sum / n * math.Sqrt(n)
	sum = 0
	for i, v := range out {
		out[i] = math.Min(v, most)
		sum += out[i]
	}
	for i := range out {
		out[i] /= sum
	}
	return out
}
