package vbks

import (
	"context"
	"fmt"

	"example.com/kestrel/device"
	"example.com/kestrel/kernelspace"
)

// ComponentPrediction is what one additive component of a kernel contributes
// to the prediction, standardised.
type ComponentPrediction struct {
	ID   string    // canonical expression of the component; two may have the same
	Name string    // the same for reading
	Mean []float64 // of f_c, per row
	Var  []float64 // of f_c, per row
}

// Components predicts each summand of f at the rows of x (row-major,
// standardised), under the last evaluation and one kernel, which need not be
// live. With k = Σ_c k_c, multiplied out (kernelspace.Program.Components), and
// a_c = L⁻¹k_c(Z,x),
//
//	E f_c = a_cᵀm     var f_c = k_c(x,x) − a_cᵀa_c + a_cᵀS a_c
//
// and where θ has a belief, the moments of the mixture over its draws. The means
// add up to Predict's mean; the variances do not, since components are
// correlated given the data. Predict's variance and mean are those of the
// component of a kernel that has only one.
func (t *Trainer) Components(ctx context.Context, id string, x []float64) ([]ComponentPrediction, error) {
	i, err := t.solved(id)
	if err != nil {
		return nil, err
	}
	r := t.asking()
	o := r.order(phaseComponents)
	o.X, o.Averaged = x, t.settings.averages(t.rows, t.data.Rows())
	if err := r.ask(ctx, o, []int{i}); err != nil {
		return nil, fmt.Errorf("components of %s: %w", id, err)
	}
	return r.outcomes[i].Prediction.Components, nil
}

// components predicts the components of the only kernel of a unit.
func (u *unit) components() error {
	parts, err := u.model(0).program.Components()
	if err != nil {
		return err
	}
	out := newComponents(parts, u.order.at.Rows())
	if err := u.load(u.worker.group); err != nil {
		return err
	}
	if err := u.optimizer.components(u, parts, out); err != nil {
		return err
	}
	u.outcomes[0].Prediction = &predicted{Components: out}
	return nil
}

// newComponents are those of a kernel at so many rows, of which nothing is known yet.
func newComponents(parts []kernelspace.Component, rows int) []ComponentPrediction {
	out := make([]ComponentPrediction, len(parts))
	for c := range parts {
		out[c] = ComponentPrediction{
			ID: parts[c].Expr.ID(), Name: parts[c].Expr.String(), Mean: make([]float64, rows), Var: make([]float64, rows),
		}
	}
	return out
}

// as does work with the group's only member computing k_c, with the parameters
// of its own k, in place of k.
func (g *group) as(c *kernelspace.Component, work func() error) error {
	raw := make([]float64, g.ks.Params())
	if err := g.lane.Read(g.theta, 0, raw); err != nil {
		return err
	}
	ks, err := g.lane.NewKernels([]*kernelspace.Program{c.Program})
	if err != nil {
		return err
	}
	theta, err := g.lane.NewArray(g.capacity, 1, ks.Params())
	if err != nil {
		return err
	}
	g.lane.Write(theta, 0, append(c.Theta(raw), raw[len(raw)-1]))
	whole, wholeTheta := g.ks, g.theta
	g.ks, g.theta = ks, theta
	defer func() {
		g.lane.Free(ks, theta)
		g.ks, g.theta = whole, wholeTheta
	}()
	return work()
}

// components adds the predictions of member 0's components to out, of whose mixture
// so far they are then the share w; after posterior.
func (c *collapsed) components(
	components []kernelspace.Component,
	x device.Points,
	w float64,
	stop stopped,
	out []ComponentPrediction,
) error {
	for i := range components {
		err := c.as(&components[i], func() error {
			mean, variance, err := c.predict([]int{0}, x, stop)
			if err == nil {
				mix(out[i].Mean, out[i].Var, mean[0], variance[0], w)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// components predicts the components of member 0 with q(log θ) = N(mean, CCᵀ).
func (o *thetaObjective) components(
	mean, chol []float64, components []kernelspace.Component, x device.Points, out []ComponentPrediction,
) error {
	c := o.bound
	return o.each([]int{0}, [][]float64{mean}, [][]float64{chol}, o.draws, func(s int, live, at []int) ([]int, error) {
		if err := o.posterior(live, s); err != nil {
			return nil, err
		}
		return at, c.components(components, x, 1/float64(s+1), o.stop, out)
	})
}

// components predicts the components of member 0 with the q(v) that it has.
func (l *learner) components(components []kernelspace.Component, x device.Points, stop stopped, out []ComponentPrediction) error {
	mu, v := make([]float64, l.svgp.rows), make([]float64, l.svgp.rows)
	return l.attempt([]int{0}, func(sub []int) error {
		l.rule.believe(l, sub)
		for s := range l.draws() {
			l.take(sub, s)
			for i := range components {
				err := l.as(&components[i], func() error {
					return l.pass(sub, x, stop, func(rows device.Points) error {
						b := rows.Len()
						if err := l.lane.Read(l.mu, 0, mu[:b]); err != nil {
							return err
						}
						if err := l.lane.Read(l.v, 0, v[:b]); err != nil {
							return err
						}
						from := rows.From - x.From
						mix(out[i].Mean[from:from+b], out[i].Var[from:from+b], mu, v, 1/float64(s+1))
						return nil
					})
				})
				if err != nil {
					return err
				}
			}
		}
		return nil
	})
}
