package vbks

import (
	"context"
	"fmt"
	"math"

	"example.com/kestrel/device"
	"example.com/kestrel/vbks/params"
	"example.com/kestrel/vbks/stacking"
)

// leavesOut reports whether rows can be left out in closed form after so many of all
// rows: q(v) is the optimum of the collapsed bound, at point estimates.
func (s Settings) leavesOut(all int) bool {
	return s.pointEstimates() && s.resolved(all) == "collapsed"
}

// leaveOut computes, after statistics, optimum and belief of the rows x with targets y,
// mean and variance of f at each of them as q(v) would be without it, at the same
// hyperparameters and inducing inputs. With the column a of A = L⁻¹k(Z,X) of a row,
// B = I + AAᵀ/σ², s = aᵀB⁻¹a, the mean μ with the row and its share h = s/σ²,
//
//	μ₋ = (μ − h y)/(1 − h),   v₋ = s/(1 − h) + k(x,x) − aᵀa
//
// by the formula of Sherman and Morrison; with Z = X they are those of exact Gaussian
// processes (Rasmussen and Williams 2006, equations 5.10 to 5.12).
func (c *collapsed) leaveOut(
	sub []int, noise []float64, x device.Points, y []float64, stop stopped,
) (mean, variance [][]float64, err error) {
	ln := c.lane
	mean, variance = make([][]float64, len(sub)), make([][]float64, len(sub))
	for i := range sub {
		mean[i], variance[i] = make([]float64, x.Len()), make([]float64, x.Len())
	}
	solved := make([]float64, c.m*chunkRows)
	for from := x.From; from < x.To; from += chunkRows {
		if stop != nil {
			if err := stop(); err != nil {
				return nil, nil, err
			}
		}
		rows := x
		rows.From, rows.To = from, min(from+chunkRows, x.To)
		n := rows.Len()
		ln.Kernel(sub, c.ks, c.theta, c.z, rows, c.a)
		ln.Solve(sub, false, c.l, c.a)
		ln.Copy(sub, c.bar, c.a)
		ln.Solve(sub, false, c.prec, c.bar)
		ln.KernelDiag(sub, c.ks, c.theta, rows, c.kdiag)
		ln.Predict(sub, c.a, c.bar, c.mean, c.kdiag, c.r, c.diagBar)
		for i, k := range sub {
			mu, v := mean[i][from-x.From:][:n], variance[i][from-x.From:][:n]
			if err := ln.Read(c.r, k, mu); err != nil {
				return nil, nil, err
			}
			if err := ln.Read(c.diagBar, k, v); err != nil {
				return nil, nil, err
			}
			if err := ln.Read(c.bar, k, solved[:c.m*n]); err != nil {
				return nil, nil, err
			}
			for r := range n {
				s := 0.0
				for at := r; at < c.m*n; at += n {
					s += solved[at] * solved[at]
				}
				h := s / noise[i]
				mu[r] = (mu[r] - h*y[from-x.From+r]) / (1 - h)
				v[r] = s/(1-h) + math.Max(0, v[r]-s)
			}
		}
	}
	return mean, variance, nil
}

// leftOut predicts the rows seen with the unit's kernels, each without itself.
func (u *unit) leftOut() error {
	last := u.last()
	if err := u.optimum(last); err != nil {
		return err
	}
	var noise []float64
	for i, st := range last {
		_, s2 := params.Raw(u.model(i).program, st.Free, u.floor)
		noise = append(noise, s2)
	}
	mean, variance, err := u.worker.bound.leaveOut(u.all(), noise, u.seen(), u.y[:u.order.Rows], u.stop)
	if err != nil {
		return err
	}
	for i := range mean {
		for row := range mean[i] {
			if u.weights != nil { // they are of √w f
				w := u.weights[row]
				mean[i][row] /= math.Sqrt(w)
				variance[i][row] /= w
			}
		}
	}
	u.foretell(mean, variance, noise)
	return nil
}

// leaveOneOut returns the log densities of the targets of the rows seen, in their order,
// under each of some kernels at its hyperparameters and given the rows' weights, each row
// left out: nats of the
// standardised targets. It needs the optimiser "collapsed" and point estimates.
func (t *Trainer) leaveOneOut(ctx context.Context, ids []string) (map[string][]float64, error) {
	if !t.settings.leavesOut(t.data.Rows()) {
		return nil, fmt.Errorf("rows are left out in closed form only with optimise.optimizer = \"collapsed\" and point estimates")
	}
	kernels, _, err := t.chosen(PredictOptions{IDs: ids})
	if err != nil {
		return nil, err
	}
	r := t.asking()
	o := r.order(phasePredict)
	o.LeaveOut = true
	if err := r.ask(ctx, o, kernels); err != nil {
		return nil, err
	}
	out := map[string][]float64{}
	for _, i := range kernels {
		p := r.outcomes[i].Prediction
		terms := make([]float64, t.rows)
		for row, y := range t.data.Y[:t.rows] {
			v := p.Var[row] + p.Noise/t.weighing.of(row)
			d := y - p.Mean[row]
			terms[row] = -(math.Log(2*math.Pi*v) + d*d/v) / 2
		}
		out[t.kernels[i].id] = terms
	}
	return out, nil
}

// weigh finds the weights of "loo" under the last evaluation: those for which the average
// of the live kernels has the greatest log density of the rows seen, each left out. A
// trainer that only predicts keeps those that it came with.
func (t *Trainer) weigh(ctx context.Context, o PredictOptions) error {
	if o.Weights != looWeights || t.last == nil || t.weighed == t.last || t.predicts || !t.settings.leavesOut(t.data.Rows()) {
		return nil
	}
	kernels, _, err := t.chosen(PredictOptions{})
	if err != nil {
		return err
	}
	var ids []string
	for _, i := range kernels {
		ids = append(ids, t.kernels[i].id)
	}
	densities, err := t.leaveOneOut(ctx, ids)
	if err != nil {
		return err
	}
	logp := make([][]float64, len(ids))
	for j, id := range ids {
		logp[j] = densities[id]
	}
	t.stacked = make([]float64, len(t.kernels))
	for j, w := range stacking.Weights(logp) {
		t.stacked[kernels[j]] = w
	}
	t.weighed = t.last
	return nil
}
