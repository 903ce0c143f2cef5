package vbks

import (
	"context"
	"fmt"
	"slices"

	"kestrel/device"
	"kestrel/kernelspace"
	"kestrel/vbks/mixture"
)

// Thawed predicts with a Frozen on the first lane of a device, as the trainer that it
// came from does, kernel by kernel. It is not safe for concurrent use.
type Thawed struct {
	of    *Frozen
	bound *collapsed // of one kernel
	rows  device.Points
}

// On makes what predicts with f, on a device that it has for itself from now on.
// Errors: parts that do not fit together.
func (f *Frozen) On(dev device.Device) (*Thawed, error) {
	if err := f.Check(); err != nil {
		return nil, err
	}
	c := &common{dev: dev, dim: f.Dim, m: len(f.Z) / f.Dim, jitter: f.Jitter}
	z, err := dev.NewData(f.Z, nil, f.Dim)
	if err != nil {
		return nil, err
	}
	c.z = device.All(z)
	if f.Y != nil {
		if c.train, err = dev.NewData(f.X, f.Y, f.Dim); err != nil {
			return nil, err
		}
	}
	params := 1
	for i := range f.Kernels {
		params = max(params, len(f.Kernels[i].Program.Params)+1)
	}
	g, err := newGroup(c, dev.Lane(0), 1, params)
	if err != nil {
		return nil, err
	}
	t := &Thawed{of: f}
	if t.bound, err = newCollapsed(g); err != nil {
		return nil, err
	}
	t.bound.byRoot = f.ByRoot
	if c.train != nil {
		t.rows = device.All(c.train)
	}
	return t, nil
}

// choose is Trainer.chosen.
func (f *Frozen) choose(o PredictOptions) (kernels []int, weights []float64, err error) {
	var all []weighed
	for i := range f.Kernels {
		k := &f.Kernels[i]
		if o.IDs == nil || slices.Contains(o.IDs, k.Program.ID) {
			kernels = append(kernels, i)
			all = append(all, weighed{k.Rank, k.Posterior, k.Bayes, k.Worth})
		}
	}
	if len(kernels) == 0 {
		return nil, nil, fmt.Errorf("none of the kernels %v is in the model", o.IDs)
	}
	order, weights := weigh(all, o)
	for i, j := range order {
		order[i] = kernels[j]
	}
	return order, weights, nil
}

// Predict is that of the trainer.
func (t *Thawed) Predict(ctx context.Context, x []float64, o PredictOptions) (*mixture.Prediction, error) {
	kernels, weights, err := t.of.choose(o)
	if err != nil {
		return nil, err
	}
	at, err := t.bound.dev.NewData(x, nil, t.of.Dim)
	if err != nil {
		return nil, err
	}
	p := &mixture.Prediction{Weights: weights}
	for j, i := range kernels {
		k := &t.of.Kernels[i]
		mean, variance, noise := make([]float64, at.Rows()), make([]float64, at.Rows()), 0.0
		err := t.each(ctx, k, weights[j], func(s *FrozenState, weight, share float64) error {
			mu, v, err := t.bound.predict([]int{0}, device.All(at), stopOf(ctx))
			if err == nil {
				noise += weight * s.Noise
				mix(mean, variance, mu[0], v[0], share)
			}
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", k.Program.ID, err)
		}
		p.IDs, p.Noise = append(p.IDs, k.Program.ID), append(p.Noise, noise)
		p.Mean, p.Var = append(p.Mean, mean), append(p.Var, variance)
	}
	return p, nil
}

// Components is that of the trainer, of a kernel of the model.
func (t *Thawed) Components(ctx context.Context, id string, x []float64) ([]ComponentPrediction, error) {
	i := slices.IndexFunc(t.of.Kernels, func(k FrozenKernel) bool { return k.Program.ID == id })
	if i < 0 {
		return nil, fmt.Errorf("kernel %s is not in the model", id)
	}
	k := &t.of.Kernels[i]
	parts, err := k.Program.Components()
	if err != nil {
		return nil, err
	}
	at, err := t.bound.dev.NewData(x, nil, t.of.Dim)
	if err != nil {
		return nil, err
	}
	out := newComponents(parts, at.Rows())
	err = t.each(ctx, k, 1, func(_ *FrozenState, _, share float64) error {
		return t.bound.components(parts, device.All(at), share, stopOf(ctx), out)
	})
	if err != nil {
		return nil, fmt.Errorf("components of %s: %w", id, err)
	}
	return out, nil
}

func stopOf(ctx context.Context) stopped {
	return func() error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return nil
	}
}

// each has the lane hold one after the other of a kernel's states that count where the
// kernel has a weight, and tells visit the state's own and the share that it is of the
// weights so far.
func (t *Thawed) each(ctx context.Context, k *FrozenKernel, kernel float64, visit func(s *FrozenState, weight, share float64) error) error {
	c, p := t.bound, k.Program
	none := make([]float64, len(p.Free)+1)
	if err := c.load([]*kernelspace.Program{p}, []prior{{none, none, none, none}}); err != nil {
		return err
	}
	c.lane.Write(c.factor, 0, []float64{k.Factor})
	so := 0.0
	for i := range k.States {
		s := &k.States[i]
		weight := s.Share
		if k.States[0].Share == 0 && kernel < AveragedWeight {
			weight = 0
			if i == 0 {
				weight = 1
			}
		}
		if weight == 0 {
			continue
		}
		if err := t.hold(ctx, s); err != nil {
			return err
		}
		so += weight
		if err := visit(s, weight, weight/so); err != nil {
			return err
		}
	}
	return nil
}

// hold gives the lane θ, L and q(v) of a state, found from the rows where it does not
// have them.
func (t *Thawed) hold(ctx context.Context, s *FrozenState) error {
	c, only := t.bound, []int{0}
	c.lane.Write(c.theta, 0, append(slices.Clone(s.Theta), s.Noise))
	if s.Root != nil {
		c.lane.Write(c.l, 0, s.L)
		c.lane.Write(c.mean, 0, s.Mean)
		c.lane.Write(c.prec, 0, s.Root)
		return nil
	}
	c.factoriseAt(only)
	if err := c.gather(only, t.rows, false, stopOf(ctx)); err != nil {
		return err
	}
	c.optimum(only, float64(t.rows.Len()), sumSquares(t.of.Y))
	c.belief(only)
	_, ok, err := c.result(0, nil)
	if err == nil && !ok {
		err = fmt.Errorf("it cannot be evaluated at its hyperparameters %v", s.Theta)
	}
	return err
}
