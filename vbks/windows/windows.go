// Package windows computes the log evidence of many rows in one order, of functions that are smooth at large and rough
// at close range, by windows of neighbours beside inducing inputs.
package windows

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"example.com/kestrel/device"
	"example.com/kestrel/kernelspace"
)

// Width says how far rows see their neighbours: a block of Block rows is conditioned on the Behind rows before it.
type Width struct{ Block, Behind int }

// Rows are rows on a device whose only input ascends.
type Rows struct {
	Data device.Data
	Y    []float64 // their targets
}

// Evidence computes the log evidence of one kernel, block after block of the rows,
//
//	log p̃(y|θ) = log ∫ p(u) Π_b p(y_b | y_b', u) du
//
// where u is f at the inducing inputs and b' are the rows just before the block b, in the place of all before it: the
// full-scale approximation (Sang and Huang, J. R. Stat. Soc. B 2012), with neighbours (Vecchia, J. R. Stat. Soc. B
// 1988) for what u leaves, as in Gyger, Furrer and Sigrist (2024). Long memory is in u, short memory in the windows
// w = b' ∪ b. It is the log evidence where a window holds all rows, where Z = X, and of Markov processes
// without noise; with no rows behind it is that of partially independent conditionals (Snelson and Ghahramani, 2007).
// It is no bound. With A_w = L⁻¹k(Z,w), R_w = k(w,w) − A_wᵀA_w + σ_n²I, the sums over windows less those over the
// rows behind, with sign s,
//
//	P = I + Σ s A R⁻¹Aᵀ    h = Σ s A R⁻¹y
//	log p̃ = −½[n log 2π + Σ s (log|R| + yᵀR⁻¹y) + log|P| − hᵀP⁻¹h]
//
// and, with m = P⁻¹h, e = y − Aᵀm, r = R⁻¹e and W = AR⁻¹,
//
//	∂/∂k(w,w) = ½s [rrᵀ + WᵀP⁻¹W − R⁻¹] = R̄,   ∂/∂σ_n² = Σ tr R̄
//	Ā = s (m rᵀ − P⁻¹W) − 2AR̄,   ∂/∂k(Z,w) = L⁻ᵀĀ
//	∂/∂k(Z,Z) = −½ L⁻ᵀ (Σ ĀAᵀ) L⁻¹
//
// since it depends on A through products that no rotation of u changes, so that Σ ĀAᵀ is symmetric.
type Evidence struct {
	lane   device.Lane
	ks     device.Kernels
	rows   Rows
	z      device.Points
	m      int
	width  Width
	floor  float64
	jitter device.Jitter
	params int
	free   int
	held   []any

	freeVector, theta, gradTheta, gradFree, factor device.Array
	kzz, l, info                                   device.Array
	kss, kzs, a, at, r, inv, bar, w, sw, abar      device.Array
	y, e, re, half, square, trace, eye             device.Array
	p, h, pinv, t, mean                            device.Array
	squares                                        int     // rows and columns of eye as it stands
	noise                                          float64 // of the last free vector
}

// New prepares for one kernel; its arrays are given back by Free.
func New(
	lane device.Lane, program *kernelspace.Program, rows Rows, z device.Points, width Width, floor float64, jitter device.Jitter,
) (*Evidence, error) {
	ks, err := lane.NewKernels([]*kernelspace.Program{program})
	if err != nil {
		return nil, err
	}
	e := &Evidence{lane: lane, ks: ks, rows: rows, z: z, m: z.Len(), width: width, floor: floor, jitter: jitter,
		params: ks.Params(), free: ks.Free(), held: []any{ks}}
	s, m := min(width.Block+width.Behind, len(rows.Y)), e.m
	for _, a := range []struct {
		to         *device.Array
		rows, cols int
	}{
		{&e.freeVector, 1, e.free}, {&e.theta, 1, e.params}, {&e.gradTheta, 1, e.params}, {&e.gradFree, 1, e.free}, {&e.factor, 1, 1},
		{&e.kzz, m, m}, {&e.l, m, m}, {&e.info, 1, 1},
		{&e.kss, s, s}, {&e.kzs, m, s}, {&e.a, m, s}, {&e.at, s, m}, {&e.r, s, s}, {&e.inv, s, s}, {&e.bar, s, s},
		{&e.w, m, s}, {&e.sw, m, s}, {&e.abar, m, s},
		{&e.y, s, 1}, {&e.e, s, 1}, {&e.re, s, 1}, {&e.half, 1, 1}, {&e.square, 1, 1}, {&e.trace, 1, 1}, {&e.eye, s, s},
		{&e.p, m, m}, {&e.h, m, 1}, {&e.pinv, m, m}, {&e.t, m, m}, {&e.mean, m, 1},
	} {
		if *a.to, err = lane.NewArray(1, a.rows, a.cols); err != nil {
			e.Free()
			return nil, err
		}
		e.held = append(e.held, *a.to)
	}
	return e, nil
}

// Free gives the memory back.
func (e *Evidence) Free() { e.lane.Free(e.held...) }

// only is the batch of one kernel.
var only = []int{0}

// At computes the log evidence at a free vector, with factor times the jitter, and, into grad if not nil, its gradient by
// that vector. ok is false where a covariance is not positive definite or a number not finite. stop is asked now and then.
func (e *Evidence) At(free []float64, factor float64, grad []float64, stop func() error) (value float64, ok bool, err error) {
	value, ok, err = e.valued(free, factor, stop, nil)
	if err != nil || !ok || grad == nil {
		return value, ok, err
	}
	return e.gradient(value, grad, stop)
}

// valued is At without the gradient; believed is called where P and h stand, P not factorised yet.
func (e *Evidence) valued(free []float64, factor float64, stop func() error, believed func() error) (value float64, ok bool, err error) {
	ln := e.lane
	ln.Write(e.freeVector, 0, free)
	ln.Write(e.factor, 0, []float64{factor})
	ln.Expand(only, e.ks, e.floor, e.freeVector, e.theta)
	theta := make([]float64, e.params)
	if err := ln.Read(e.theta, 0, theta); err != nil {
		return 0, false, err
	}
	e.noise = theta[e.params-1]
	ln.Fill(only, e.info, 0)
	ln.Kernel(only, e.ks, e.theta, e.z, e.z, e.kzz)
	ln.Copy(only, e.l, e.kzz)
	ln.AddJitter(only, e.l, e.jitter, e.factor)
	ln.Cholesky(only, e.l, e.info)
	ln.Fill(only, e.p, 0)
	ln.Fill(only, e.h, 0)
	n := len(e.rows.Y)
	sum := -0.5 * float64(n) * math.Log(2*math.Pi)
	err = e.each(stop, func(x device.Points, sign float64) error {
		e.residual(x)
		ln.Write(e.y, 0, e.rows.Y[x.From:x.To])
		ln.Solve(only, false, e.r, e.at)
		ln.Solve(only, false, e.r, e.y)
		ln.Gemm(only, true, false, sign, e.at, e.at, 1, e.p)
		ln.Gemm(only, true, false, sign, e.at, e.y, 1, e.h)
		ln.Fill(only, e.square, 0)
		ln.Sum(only, true, e.y, e.square)
		ln.LogDiag(only, e.r, e.half)
		var square, half [1]float64
		if err := ln.Read(e.square, 0, square[:]); err != nil {
			return err
		}
		if err := ln.Read(e.half, 0, half[:]); err != nil {
			return err
		}
		sum -= sign * (half[0] + 0.5*square[0])
		return nil
	})
	if err != nil {
		return 0, false, err
	}
	ln.AddDiagonal(only, e.p, 1)
	if believed != nil {
		if err := believed(); err != nil {
			return 0, false, err
		}
	}
	ln.Cholesky(only, e.p, e.info)
	ln.Copy(only, e.mean, e.h)
	ln.Solve(only, false, e.p, e.mean)
	ln.Fill(only, e.square, 0)
	ln.Sum(only, true, e.mean, e.square)
	ln.LogDiag(only, e.p, e.half)
	var square, half, failed [1]float64
	for _, r := range []struct {
		a  device.Array
		to []float64
	}{{e.square, square[:]}, {e.half, half[:]}, {e.info, failed[:]}} {
		if err := ln.Read(r.a, 0, r.to); err != nil {
			return 0, false, err
		}
	}
	value = sum - half[0] + 0.5*square[0]
	return value, failed[0] == 0 && !math.IsNaN(value) && !math.IsInf(value, 0), nil
}

// Belief returns what the rows say of v = L⁻¹u, N(P⁻¹h, P⁻¹) with its prior, at a free vector: h and P, row by row.
func (e *Evidence) Belief(free []float64, factor float64, stop func() error) (h, p []float64, ok bool, err error) {
	if _, ok, err = e.valued(free, factor, stop, func() error {
		h, p = make([]float64, e.m), make([]float64, e.m*e.m)
		if err := e.lane.Read(e.h, 0, h); err != nil {
			return err
		}
		err := e.lane.Read(e.p, 0, p)
		for i := range e.m { // symmetric to the last bit
			for j := range i {
				p[j*e.m+i] = p[i*e.m+j]
			}
		}
		return err
	}); err != nil || !ok {
		return nil, nil, false, err
	}
	return h, p, true, nil
}

// gradient is the second half of At.
func (e *Evidence) gradient(value float64, grad []float64, stop func() error) (float64, bool, error) {
	ln := e.lane
	ln.Solve(only, true, e.p, e.mean)
	ln.Inverse(only, e.p, e.pinv)
	ln.Fill(only, e.gradTheta, 0)
	ln.Fill(only, e.trace, 0)
	ln.Fill(only, e.t, 0)
	err := e.each(stop, func(x device.Points, sign float64) error {
		e.residual(x)
		s := x.Len()
		ln.Inverse(only, e.r, e.inv)
		ln.Write(e.e, 0, e.rows.Y[x.From:x.To])
		ln.Gemm(only, true, false, -1, e.a, e.mean, 1, e.e)
		ln.Gemm(only, false, false, 1, e.inv, e.e, 0, e.re)
		ln.Gemm(only, false, false, 1, e.a, e.inv, 0, e.w)
		ln.Gemm(only, false, false, 1, e.pinv, e.w, 0, e.sw)
		ln.Copy(only, e.bar, e.inv)
		ln.Gemm(only, true, false, 0.5*sign, e.w, e.sw, -0.5*sign, e.bar)
		ln.Gemm(only, false, true, 0.5*sign, e.re, e.re, 1, e.bar)
		ln.Gemm(only, false, false, -2, e.a, e.bar, 0, e.abar)
		ln.Gemm(only, false, true, sign, e.mean, e.re, 1, e.abar)
		ln.AddScaled(only, e.abar, -sign, e.sw)
		ln.Gemm(only, false, true, 1, e.abar, e.a, 1, e.t)
		ln.Solve(only, true, e.l, e.abar)
		ln.KernelGrad(only, e.ks, e.theta, x, x, e.kss, e.bar, e.gradTheta)
		ln.KernelGrad(only, e.ks, e.theta, e.z, x, e.kzs, e.abar, e.gradTheta)
		if e.squares != s {
			e.eye.Reshape(s, s)
			ln.Fill(only, e.eye, 0)
			ln.AddDiagonal(only, e.eye, 1)
			e.squares = s
		}
		ln.Dot(only, e.eye, e.bar, e.trace)
		return nil
	})
	if err != nil {
		return 0, false, err
	}
	ln.SolveBoth(only, e.l, e.t)
	ln.Fill(only, e.pinv, 0)
	ln.AddScaled(only, e.pinv, -0.5, e.t)
	ln.JitterGrad(only, e.pinv, e.jitter, e.factor)
	ln.KernelGrad(only, e.ks, e.theta, e.z, e.z, e.kzz, e.pinv, e.gradTheta)
	byTheta, trace := make([]float64, e.params), make([]float64, 1)
	if err := ln.Read(e.gradTheta, 0, byTheta); err != nil {
		return 0, false, err
	}
	if err := ln.Read(e.trace, 0, trace); err != nil {
		return 0, false, err
	}
	byTheta[e.params-1] += trace[0]
	ln.Write(e.gradTheta, 0, byTheta)
	ln.Collect(only, e.ks, e.floor, e.theta, e.gradTheta, e.gradFree)
	if err := ln.Read(e.gradFree, 0, grad); err != nil {
		return 0, false, err
	}
	return value, !floats.HasNaN(grad) && !math.IsInf(floats.Norm(grad, 1), 0), nil
}

// residual computes, of the rows x, A into a, its transpose into at, and the factor of R into r; k(x,x) stays in kss,
// k(Z,x) in kzs.
func (e *Evidence) residual(x device.Points) {
	ln := e.lane
	ln.Kernel(only, e.ks, e.theta, x, x, e.kss)
	ln.Kernel(only, e.ks, e.theta, e.z, x, e.kzs)
	ln.Copy(only, e.a, e.kzs)
	ln.Solve(only, false, e.l, e.a)
	ln.Transpose(only, e.at, e.a)
	ln.Copy(only, e.r, e.kss)
	ln.Syrk(only, -1, e.at, 1, e.r)
	ln.AddDiagonal(only, e.r, e.noise)
	ln.Cholesky(only, e.r, e.info)
	e.y.Reshape(x.Len(), 1)
	e.e.Reshape(x.Len(), 1)
}

// each calls do for every window, with sign 1, and for the rows behind every block, with −1.
func (e *Evidence) each(stop func() error, do func(x device.Points, sign float64) error) error {
	n := len(e.rows.Y)
	for from := 0; from < n; from += e.width.Block {
		if stop != nil {
			if err := stop(); err != nil {
				return err
			}
		}
		x := device.Points{Data: e.rows.Data, From: max(0, from-e.width.Behind), To: min(from+e.width.Block, n)}
		if err := do(x, 1); err != nil {
			return err
		}
		if x.To = from; x.Len() > 0 {
			if err := do(x, -1); err != nil {
				return err
			}
		}
	}
	return nil
}
