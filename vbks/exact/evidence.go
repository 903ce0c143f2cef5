package exact

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/optimize"

	"example.com/kestrel/device"
	"example.com/kestrel/internal/guard"
	"example.com/kestrel/vbks/params"
)

// At returns log p(y|θ), with log p(θ) where the rows have it, at a free vector;
// ok is false where it is beyond arithmetic.
func (k *Kernel) At(free []float64) (nats float64, ok bool, err error) { return k.eval(free, nil) }

// Gradient returns that of what At returns.
func (k *Kernel) Gradient(free []float64) (grad []float64, ok bool, err error) {
	grad = make([]float64, len(free))
	_, ok, err = k.eval(free, grad)
	return grad, ok, err
}

// eval computes, with K = k(X,X) + σ_n²I = LLᵀ and α = K⁻¹y,
//
//	log p(y|θ) = −½ yᵀα − Σ_j log L_jj − n/2 log 2π
//	∂/∂K       = ½ (ααᵀ − K⁻¹)
//
// and the prior, and, if grad is not nil, its gradient.
func (k *Kernel) eval(free, grad []float64) (nats float64, ok bool, err error) {
	ln, sub := k.lane, only()
	_, noise := params.Raw(k.program, free, k.floor)
	jitter, ok, err := k.factorise(free, noise)
	if err != nil || !ok {
		return math.NaN(), false, err
	}
	ln.Write(k.column, 0, k.y)
	ln.Solve(sub, false, k.l, k.column)
	ln.Fill(sub, k.sum, 0)
	ln.Sum(sub, true, k.column, k.sum)
	square, err := k.scalar(k.sum)
	if err != nil {
		return 0, false, err
	}
	ln.LogDiag(sub, k.l, k.sum)
	half, err := k.scalar(k.sum)
	if err != nil {
		return 0, false, err
	}
	var gradFree device.Array
	if grad != nil {
		if err := k.gradient(jitter); err != nil {
			return 0, false, err
		}
		gradFree = k.gradFree
	}
	ln.Fill(sub, k.value, 0)
	ln.LogPrior(sub, k.free, k.mean, k.prec, k.lo, k.hi, params.Wall, k.value, gradFree)
	prior, err := k.scalar(k.value)
	if err != nil {
		return 0, false, err
	}
	nats = -0.5*square - half - 0.5*float64(k.n)*math.Log(2*math.Pi) + prior
	ok = !math.IsNaN(nats) && !math.IsInf(nats, 0)
	if grad != nil {
		if err := ln.Read(k.gradFree, 0, grad); err != nil {
			return 0, false, err
		}
		for _, g := range grad {
			ok = ok && !math.IsNaN(g) && !math.IsInf(g, 0)
		}
	}
	return nats, ok, nil
}

// gradient computes that of log p(y|θ) by the free vector from L and L⁻¹y.
func (k *Kernel) gradient(jitter device.Jitter) error {
	ln, sub := k.lane, only()
	ln.Solve(sub, true, k.l, k.column)
	ln.Inverse(sub, k.l, k.bar)
	ln.Gemm(sub, false, true, 0.5, k.column, k.column, -0.5, k.bar)
	if k.square == nil {
		k.square = make([]float64, k.n*k.n)
	}
	if err := ln.Read(k.bar, 0, k.square); err != nil {
		return err
	}
	trace := 0.0 // ∂/∂σ_n²
	for i := range k.n {
		trace += k.square[i*k.n+i]
	}
	ln.JitterGrad(sub, k.bar, jitter, k.one)
	ln.Fill(sub, k.gradTheta, 0)
	ln.KernelGrad(sub, k.ks, k.theta, k.points, k.points, k.k, k.bar, k.gradTheta)
	byTheta := make([]float64, k.ks.Params())
	if err := ln.Read(k.gradTheta, 0, byTheta); err != nil {
		return err
	}
	byTheta[len(byTheta)-1] += trace
	ln.Write(k.gradTheta, 0, byTheta)
	ln.Collect(sub, k.ks, k.floor, k.theta, k.gradTheta, k.gradFree)
	return nil
}

const (
	climbIterations = 200
	climbNats       = 1e-3 // in climbPatience iterations: it is at the top
	climbPatience   = 6
)

// Climb maximises what At returns by L-BFGS from a start, and returns the best that
// it saw, and where: NaN, at the start, if that cannot be evaluated.
func (k *Kernel) Climb(ctx context.Context, start []float64) (best []float64, nats float64, err error) {
	best, nats = slices.Clone(start), math.NaN()
	for left := climbIterations; left > 0; {
		c := climber{kernel: k, ctx: ctx, scale: k.Strides(best), best: best, nats: nats}
		before := nats
		result, err := c.run(left)
		best, nats = c.best, c.nats
		if err != nil || math.IsNaN(nats) || result == nil {
			return best, nats, err
		}
		left -= max(result.MajorIterations, 1)
		// A line search that finds no better point ends a run, often only because
		// the curvature memory is stale: on from the best point while that gains.
		if result.Status != optimize.Failure || nats < before+climbNats {
			return best, nats, nil
		}
	}
	return best, nats, nil
}

// climber is one run of L-BFGS, which sees a free vector divided by scale.
type climber struct {
	kernel *Kernel
	ctx    context.Context
	scale  []float64
	best   []float64
	nats   float64 // at best; NaN before the first evaluation

	at, x, grad []float64
	value       float64
	err         error
}

func (c *climber) run(iterations int) (*optimize.Result, error) {
	start := slices.Clone(c.best)
	for i, s := range c.scale {
		start[i] /= s
	}
	c.x, c.grad = make([]float64, len(start)), make([]float64, len(start))
	problem := optimize.Problem{
		Func: func(z []float64) float64 { c.look(z); return c.value },
		Grad: func(dst, z []float64) { c.look(z); copy(dst, c.grad) },
		Status: func() (optimize.Status, error) {
			if c.err == nil {
				c.err = context.Cause(c.ctx)
			}
			if c.err != nil || math.IsNaN(c.nats) {
				return optimize.RuntimeLimit, nil
			}
			return optimize.NotTerminated, nil
		},
	}
	result, err := guard.Minimise(problem, start, &optimize.Settings{
		MajorIterations: iterations, FuncEvaluations: 3*iterations + 10, GradientThreshold: 1e-5,
		Converger: &optimize.FunctionConverge{Absolute: climbNats, Iterations: climbPatience},
	}, &optimize.LBFGS{Store: 12})
	if c.err != nil {
		return nil, c.err
	}
	if mistake, ok := err.(*guard.PanicError); ok {
		return nil, mistake
	}
	if result != nil && err != nil {
		result.Status = optimize.Failure
	}
	return result, nil
}

// look evaluates a point, unless it is the last one.
func (c *climber) look(z []float64) {
	if c.err != nil || c.at != nil && slices.Equal(c.at, z) {
		return
	}
	c.at = append(c.at[:0], z...)
	for i, s := range c.scale {
		c.x[i] = z[i] * s
	}
	nats, ok, err := c.kernel.eval(c.x, c.grad)
	if err != nil {
		c.err = err
		return
	}
	if !ok {
		// A wall above the best point, so that the line search turns back.
		c.value = 1e3
		if !math.IsNaN(c.nats) {
			c.value += math.Abs(c.nats) - c.nats
		}
		for i, s := range c.scale {
			d := c.x[i] - c.best[i]
			c.grad[i] = d * s
			c.value += d * d / 2
		}
		return
	}
	if !(c.nats >= nats) {
		c.nats, c.best = nats, slices.Clone(c.x)
	}
	c.value = -nats
	for i, s := range c.scale {
		c.grad[i] *= -s
	}
}
