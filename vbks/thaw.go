package vbks

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"example.com/kestrel/device"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks/mixture"
	"example.com/kestrel/vbks/noise"
	"example.com/kestrel/vbks/random"
)

// Thawed predicts with a Frozen on the first lane of a device, as the trainer that it
// came from does, kernel by kernel. It is not safe for concurrent use.
type Thawed struct {
	of    *Frozen
	bound *collapsed // of one kernel
	rows  device.Points
	y     []float64 // of rows, weighted
}

// On makes what predicts with f, on a device that it has for itself from now on.
// Errors: parts that do not fit together.
func (f *Frozen) On(dev device.Device) (*Thawed, error) {
	if err := f.Check(); err != nil {
		return nil, err
	}
	t := &Thawed{of: f}
	c := &common{dev: dev, dim: f.Dim, m: len(f.Z) / f.Dim, jitter: f.Jitter}
	z, err := dev.NewData(f.Z, nil, f.Dim)
	if err != nil {
		return nil, err
	}
	c.z = device.All(z)
	if f.Y != nil {
		if c.train, t.y, err = weighted(dev, f.X, f.Y, f.Weights, f.Dim); err != nil {
			return nil, err
		}
		if sameRows(f.Z, f.X, f.Dim) {
			c.whole = len(f.Y)
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
	if t.bound, err = newCollapsed(g); err != nil {
		return nil, err
	}
	t.bound.byRoot = f.ByRoot
	if c.train != nil {
		t.rows = device.All(c.train)
	}
	return t, nil
}

// CheckOptions returns an error if f cannot predict with options.
func (f *Frozen) CheckOptions(o PredictOptions) error {
	_, _, err := f.choose(o)
	return err
}

// choose is Trainer.chosen.
func (f *Frozen) choose(o PredictOptions) (kernels []int, weights []float64, err error) {
	foreseen := slices.ContainsFunc(f.Kernels, func(k FrozenKernel) bool { return k.Origins > 0 })
	var all []weighed
	for i := range f.Kernels {
		k := &f.Kernels[i]
		if o.IDs == nil || slices.Contains(o.IDs, k.Program.ID) {
			kernels = append(kernels, i)
			all = append(all, weighed{k.Rank, k.Posterior, k.Bayes, k.Worth, k.LOO, k.Origins, foreseen})
		}
	}
	if len(kernels) == 0 {
		return nil, nil, fmt.Errorf("none of the kernels %v is in the model", o.IDs)
	}
	if o.Weights == looWeights && !slices.ContainsFunc(f.Kernels, func(k FrozenKernel) bool { return k.LOO > 0 }) {
		return nil, nil, errors.New(`the model has no weights "loo"; one of a run with predict.weights = "loo" has`)
	}
	if o.Weights == OriginsWeights && !foreseen {
		return nil, nil, errors.New(`the model has no weights "origins"; one of a series with predict.weights = "origins" has`)
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
	defer device.Occupy(t.bound.lane)()
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
	t.of.Noise.Put(p, x, squares(o.NoiseSD), t.of.Dim)
	if c := t.of.Calibration; c != nil {
		p.Widen(c.Factor)
	}
	if t.of.Local != nil && o.IDs == nil {
		if err := t.of.Local.Predict(p, x, t.of.Dim); err != nil {
			return nil, fmt.Errorf("predictions by neighbours: %w", err)
		}
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
	if err := c.put(k.Z); err != nil {
		return err
	}
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
		c.exactly[0] = false
		c.lane.Write(c.l, 0, s.L)
		c.lane.Write(c.mean, 0, s.Mean)
		c.lane.Write(c.prec, 0, s.Root)
		return nil
	}
	if err := c.posterior(only, t.rows, sumSquares(t.y), stopOf(ctx)); err != nil {
		return err
	}
	_, ok, err := c.result(0, nil)
	if err == nil && !ok {
		err = fmt.Errorf("it cannot be evaluated at its hyperparameters %v", s.Theta)
	}
	return err
}

// MostJoint is the number of points whose covariance is computed at most.
const MostJoint = 2000

// Joint is what is believed of f at several points together, standardised.
type Joint struct {
	Mean, Covariance []float64   // of the mixture: B, B x B
	Draws            [][]float64 // of y = f + noise, each of B
}

// Joint predicts at the rows of x together. With A = L⁻¹k(Z,x) a state has
//
//	cov f = k(x,x) − AᵀA + AᵀSA
//
// and the mixture of all states Σ w (cov + (μ_s − μ)(μ_s − μ)ᵀ), whose diagonal is the
// variance that Predict's moments have. Each draw is of one state, taken by its weight,
// with the noise of that. Draws depend on the seed, the number of them and the model.
func (t *Thawed) Joint(ctx context.Context, x []float64, o PredictOptions, draws int, seed uint64) (*Joint, error) {
	kernels, weights, err := t.of.choose(o)
	if err != nil {
		return nil, err
	}
	at, err := t.bound.dev.NewData(x, nil, t.of.Dim)
	if err != nil {
		return nil, err
	}
	b := at.Rows()
	if b == 0 || b > MostJoint {
		return nil, fmt.Errorf("%d points: the covariance of 1 to %d is computed", b, MostJoint)
	}
	out := &Joint{Mean: make([]float64, b), Covariance: make([]float64, b*b), Draws: make([][]float64, draws)}
	rng := random.Stream(seed, "joint draws", draws)
	rows := rowNoise{t.of.Noise, t.of.Noise.Scales(x, squares(o.NoiseSD), t.of.Dim)}
	places := make([]float64, draws) // on the line of all weights
	for i := range places {
		places[i] = (1 - 1e-12) * rng.Float64() // weights sum to 1 but for rounding
	}
	so := 0.0
	for j, i := range kernels {
		k := &t.of.Kernels[i]
		err := t.each(ctx, k, weights[j], func(s *FrozenState, weight, _ float64) error {
			w := weights[j] * weight
			mean, covariance, err := t.covariance(device.All(at))
			if err != nil {
				return err
			}
			before := so
			so += w
			out.add(mean, covariance, w/so)
			return out.draw(rng, places, before, so, mean, covariance, func(row int) float64 { return s.Noise * rows.at(rng, row) })
		})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", k.Program.ID, err)
		}
	}
	if c := t.of.Calibration; c != nil {
		out.widen(c.Factor)
	}
	return out, nil
}

// JointComponents predicts each additive component of a kernel of the model at rows of its
// own together, standardised: what Components predicts, with covariances. A component
// that has no rows has nil.
func (t *Thawed) JointComponents(ctx context.Context, id string, x [][]float64) ([]*Joint, error) {
	i := slices.IndexFunc(t.of.Kernels, func(k FrozenKernel) bool { return k.Program.ID == id })
	if i < 0 {
		return nil, fmt.Errorf("kernel %s is not in the model", id)
	}
	k := &t.of.Kernels[i]
	parts, err := k.Program.Components()
	if err != nil {
		return nil, err
	}
	out, at := make([]*Joint, len(parts)), make([]device.Points, len(parts))
	for c := range min(len(parts), len(x)) {
		if len(x[c]) == 0 {
			continue
		}
		rows, err := t.bound.dev.NewData(x[c], nil, t.of.Dim)
		if err != nil {
			return nil, err
		}
		b := rows.Rows()
		if b > MostJoint {
			return nil, fmt.Errorf("%d points: the covariance of 1 to %d is computed", b, MostJoint)
		}
		out[c], at[c] = &Joint{Mean: make([]float64, b), Covariance: make([]float64, b*b)}, device.All(rows)
	}
	err = t.each(ctx, k, 1, func(_ *FrozenState, _, share float64) error {
		for c := range parts {
			if out[c] == nil {
				continue
			}
			err := t.bound.as(&parts[c], func() error {
				mean, covariance, err := t.covariance(at[c])
				if err == nil {
					out[c].add(mean, covariance, share)
				}
				return err
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("components of %s: %w", id, err)
	}
	for _, j := range out {
		if c := t.of.Calibration; c != nil && j != nil {
			j.widen(c.Factor)
		}
	}
	return out, nil
}

// widen is that of a prediction: it stretches all about the mean.
func (j *Joint) widen(c float64) {
	for i := range j.Covariance {
		j.Covariance[i] *= c * c
	}
	for _, d := range j.Draws {
		for i, mean := range j.Mean {
			d[i] = mean + c*(d[i]-mean)
		}
	}
}

// covariance returns mean and covariance of f at points for the state that the lane holds.
func (t *Thawed) covariance(x device.Points) (mean, covariance []float64, err error) {
	c, only, b := t.bound, []int{0}, x.Len()
	al := &allocator{g: c.group}
	a, ca, mu, cov := al.array(c.m, b), al.array(c.m, b), al.array(b, 1), al.array(b, b)
	if al.err != nil {
		return nil, nil, al.err
	}
	ln := c.lane
	defer ln.Free(a, ca, mu, cov)
	c.project(only, x, a, ca)
	ln.Kernel(only, c.ks, c.theta, x, x, cov)
	ln.Gemm(only, true, false, -1, a, a, 1, cov)
	ln.Gemm(only, true, false, 1, ca, ca, 1, cov)
	ln.Gemm(only, true, false, 1, a, c.mean, 0, mu)
	mean, covariance = make([]float64, b), make([]float64, b*b)
	return mean, covariance, errors.Join(ln.Read(mu, 0, mean), ln.Read(cov, 0, covariance))
}

// add takes a state into the mixture, of which it is then the share w; see mix.
func (j *Joint) add(mean, covariance []float64, w float64) {
	b := len(mean)
	d := make([]float64, b)
	for i := range d {
		d[i] = mean[i] - j.Mean[i]
		j.Mean[i] += w * d[i]
	}
	for i := range b {
		for k := range b {
			at := i*b + k
			j.Covariance[at] += w * (covariance[at] - j.Covariance[at] + (1-w)*d[i]*d[k])
		}
	}
}

// draw makes the draws whose places are from one sum of weights to the next.
func (j *Joint) draw(rng *rand.Rand, places []float64, from, to float64, mean, covariance []float64, noise func(row int) float64) error {
	b := len(mean)
	var chol mat.Cholesky
	var lower mat.TriDense
	made := false
	for i, p := range places {
		if p < from || p >= to {
			continue
		}
		if !made {
			if err := factorise(&chol, covariance, b); err != nil {
				return err
			}
			chol.LTo(&lower)
			made = true
		}
		eta, f := mat.NewVecDense(b, nil), mat.NewVecDense(b, nil)
		for r := range b {
			eta.SetVec(r, rng.NormFloat64())
		}
		f.MulVec(&lower, eta)
		d := make([]float64, b)
		for r := range d {
			d[r] = mean[r] + f.AtVec(r) + math.Sqrt(noise(r))*rng.NormFloat64()
		}
		j.Draws[i] = d
	}
	return nil
}

// rowNoise is the noise of rows to come.
type rowNoise struct {
	model  *noise.Model
	scales []float64 // nil: 1
}

// at is a draw of what σ² is multiplied by in a row.
func (n rowNoise) at(rng *rand.Rand, row int) float64 {
	if n.scales == nil {
		return 1
	}
	return n.scales[row] * n.model.Draw(rng)
}

// factorise finds the factor of a covariance that rounding may have made indefinite: with
// as little on the diagonal as it takes, at most a millionth of its mean.
func factorise(chol *mat.Cholesky, covariance []float64, b int) error {
	trace := 0.0
	for i := range b {
		trace += covariance[i*b+i]
	}
	for relative := 0.0; relative <= 1e-6; relative = max(1e-14, 10*relative) {
		s := mat.NewSymDense(b, slices.Clone(covariance))
		for i := range b {
			s.SetSym(i, i, s.At(i, i)+relative*trace/float64(b))
		}
		if chol.Factorize(s) {
			return nil
		}
	}
	return errors.New("the covariance of the points is not positive definite")
}
