// Package windows computes the log evidence of many rows in one order, of functions that are smooth at large and rough
// at close range, by windows of neighbours beside inducing inputs.
package windows

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"example.com/kestrel/device"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks/params"
)

// Width says how far rows see their neighbours: a block of Block rows is conditioned on the block before it. One of Every
// blocks is taken, for as many; 0 is 1.
type Width struct{ Block, Every int }

// Rows are rows on a device whose only input ascends.
type Rows struct {
	Data  device.Data
	X, Y  []float64 // their inputs and targets
	Scale []float64 // their factors, see device.Scaler; nil: 1
}

// Evidence computes the log evidence of one kernel, block after block of the rows,
//
//	log p̃(y|θ) = log ∫ p(u) Π_b p(y_b | y_b', u) du
//
// where u is f at the inducing inputs and b' is the block just before b, in the place of all before it: the
// full-scale approximation (Sang and Huang, J. R. Stat. Soc. B 2012), with neighbours (Vecchia, J. R. Stat. Soc. B
// 1988) for what u leaves, as in Gyger, Furrer and Sigrist (2024). Long memory is in u, short memory in the windows
// b' ∪ b. It is the log evidence of up to two blocks, where Z = X, and of Markov processes without noise. It is no
// bound. With A_b = L⁻¹k(Z,b) and R = k(X,X) − AᵀA + σ_n²I, what b' leaves of b is
//
//	G = R_bb' R_b'b'⁻¹    D = R_bb − G R_b'b    B = A_b − A_b'Gᵀ    e = y_b − G y_b'
//
// and the sums over blocks, each of which counts s times, are
//
//	P = I + Σ s B D⁻¹Bᵀ    h = Σ s B D⁻¹e
//	log p̃ = −½[n log 2π + Σ s (log|D| + eᵀD⁻¹e) + log|P| − hᵀP⁻¹h]
//
// and, with m = P⁻¹h, r = D⁻¹(e − Bᵀm) and W = BD⁻¹,
//
//	D̄ = ½s [rrᵀ + WᵀP⁻¹W − D⁻¹]    B̄ = s (m rᵀ − P⁻¹W)    X = R_b'b'⁻¹(s y_b'rᵀ − A_b'ᵀB̄)    Y = GᵀD̄
//	R̄_bb = D̄    R̄_b'b = X − 2Y    R̄_b'b' = Gᵀ(Y − X)ᵀ, of which the symmetric part counts
//	Ā_b = B̄ − 2A_bD̄ − A_b'R̄_b'b    Ā_b' = −B̄G − A_bR̄_b'bᵀ − 2A_b'R̄_b'b'
//	∂/∂k(a,b) = R̄_ab,   ∂/∂σ_n² = Σ tr R̄_bb,   ∂/∂k(Z,b) = L⁻ᵀĀ_b
//	∂/∂k(Z,Z) = −½ L⁻ᵀ (Σ ĀAᵀ) L⁻¹
//
// since it depends on A through products that no rotation of u changes, so that Σ ĀAᵀ is symmetric. Where f is a sum,
// summands PER are not in u, but weights of their harmonics are beside it: lines of A that are these functions, see
// repeating.
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
	apart  apart

	freeVector, theta, gradTheta, gradFree, factor device.Array
	kzz, l, info                                   device.Array
	blocks                                         [2]block // the one at hand, and the one before it
	kab, gt, d, bt, e                              device.Array
	x, y, inv, turned                              device.Array
	white, solved, eps, r, w, sw, bbar             device.Array
	half, square, trace, eye                       device.Array
	p, h, pinv, t, mean                            device.Array
	squares                                        int     // rows and columns of eye as it stands
	noise                                          float64 // of the last free vector
}

// block is some rows: K = k(b,b), k(Z,b), A, Aᵀ, R, its factor, y, and R̄ and Ā as they grow.
type block struct {
	points                                   device.Points
	kss, kzs, a, at, rr, chol, ys, bar, abar device.Array
	part                                     device.Array // of A the lines of inducing inputs, where others are beside them
}

// New prepares for one kernel; its arrays are given back by Free. With together summands PER are in u like others.
func New(
	lane device.Lane, program *kernelspace.Program, rows Rows, z device.Points, width Width, together bool, floor float64,
	jitter device.Jitter,
) (*Evidence, error) {
	ks, err := lane.NewKernels([]*kernelspace.Program{program})
	if err != nil {
		return nil, err
	}
	e := &Evidence{lane: lane, ks: ks, rows: rows, z: z, m: z.Len(), width: width, floor: floor, jitter: jitter,
		params: ks.Params(), free: ks.Free(), held: []any{ks}}
	s, m := min(width.Block, len(rows.Y)), e.m
	if !together {
		own := program.Own()
		leaves, alone := params.Repeating(own)
		e.apart.alone = alone && program == own // not beside a line
		for _, leaf := range leaves {
			e.apart.all = append(e.apart.all, &repeating{off: params.Leaves(own)[leaf].Off, middle: (rows.X[0] + rows.X[len(rows.X)-1]) / 2})
		}
	}
	all := e.m + len(e.apart.all)*(2*mostHarmonics+1)
	type wanted struct {
		to         *device.Array
		rows, cols int
	}
	wants := []wanted{
		{&e.freeVector, 1, e.free}, {&e.theta, 1, e.params}, {&e.gradTheta, 1, e.params}, {&e.gradFree, 1, e.free}, {&e.factor, 1, 1},
		{&e.kzz, m, m}, {&e.l, m, m}, {&e.info, 1, 1},
		{&e.kab, s, s}, {&e.gt, s, s}, {&e.d, s, s}, {&e.bt, s, all}, {&e.e, s, 1},
		{&e.x, s, s}, {&e.y, s, s}, {&e.inv, s, s}, {&e.turned, s, s},
		{&e.white, s, all}, {&e.solved, s, 1}, {&e.eps, s, 1}, {&e.r, s, 1}, {&e.w, all, s}, {&e.sw, all, s}, {&e.bbar, all, s},
		{&e.half, 1, 1}, {&e.square, 1, 1}, {&e.trace, 1, 1}, {&e.eye, s, s},
		{&e.p, all, all}, {&e.h, all, 1}, {&e.pinv, all, all}, {&e.t, m, m}, {&e.mean, all, 1},
	}
	for i := range e.blocks {
		b := &e.blocks[i]
		wants = append(wants, wanted{&b.kss, s, s}, wanted{&b.kzs, m, s}, wanted{&b.a, all, s}, wanted{&b.at, s, all}, wanted{&b.rr, s, s},
			wanted{&b.chol, s, s}, wanted{&b.ys, s, 1}, wanted{&b.bar, s, s}, wanted{&b.abar, all, s})
		if e.apart.all != nil {
			wants = append(wants, wanted{&b.part, m, s})
		}
	}
	if e.apart.all != nil {
		wants = append(wants, wanted{&e.apart.theta, 1, e.params}, wanted{&e.apart.cut, m, s})
		e.apart.buffer = make([]float64, all*s)
	}
	for _, a := range wants {
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

// rank is how many numbers stand for f beside windows: u and the weights of what repeats.
func (e *Evidence) rank() int { return e.m + e.apart.size() }

// seen is θ as u has it: without what repeats.
func (e *Evidence) seen() device.Array {
	if e.apart.all != nil {
		return e.apart.theta
	}
	return e.theta
}

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
	if e.apart.all != nil {
		e.apart.set(theta)
		ln.Write(e.apart.theta, 0, theta)
	}
	ln.Fill(only, e.info, 0)
	ln.Kernel(only, e.ks, e.seen(), e.z, e.z, e.kzz)
	ln.Copy(only, e.l, e.kzz)
	if e.apart.alone { // u is of nothing
		ln.AddDiagonal(only, e.l, 1)
	}
	ln.AddJitter(only, e.l, e.jitter, e.factor)
	ln.Cholesky(only, e.l, e.info)
	e.p.Reshape(e.rank(), e.rank())
	e.h.Reshape(e.rank(), 1)
	ln.Fill(only, e.p, 0)
	ln.Fill(only, e.h, 0)
	sum := 0.0
	err = e.each(stop, func(b, behind *block, times float64) error {
		ln.Copy(only, e.white, e.bt)
		ln.Copy(only, e.solved, e.e)
		ln.Solve(only, false, e.d, e.white)
		ln.Solve(only, false, e.d, e.solved)
		ln.Gemm(only, true, false, times, e.white, e.white, 1, e.p)
		ln.Gemm(only, true, false, times, e.white, e.solved, 1, e.h)
		ln.Fill(only, e.square, 0)
		ln.Sum(only, true, e.solved, e.square)
		ln.LogDiag(only, e.d, e.half)
		var square, half [1]float64
		if err := ln.Read(e.square, 0, square[:]); err != nil {
			return err
		}
		if err := ln.Read(e.half, 0, half[:]); err != nil {
			return err
		}
		sum -= times * (half[0] + 0.5*square[0] + 0.5*float64(b.points.Len())*math.Log(2*math.Pi))
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

// Belief returns what the rows say of v = L⁻¹u, N(P⁻¹h, P⁻¹) with its prior, at a free vector: h and P, row by row. All
// summands must be together in u.
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

// Weighed returns α of log p̃ = const − ½yᵀα, which is linear in the targets y, at a free vector: what the kernel leaves
// of them, as (k(X,X) + σ_n²I)⁻¹y would be.
func (e *Evidence) Weighed(free []float64, factor float64, stop func() error) (alpha []float64, ok bool, err error) {
	if _, ok, err = e.valued(free, factor, stop, nil); err != nil || !ok {
		return nil, false, err
	}
	ln := e.lane
	ln.Solve(only, true, e.p, e.mean)
	alpha = make([]float64, len(e.rows.Y))
	some := make([]float64, e.width.Block)
	err = e.each(stop, func(b, behind *block, times float64) error {
		s := b.points.Len()
		ln.Gemm(only, false, false, -1, e.bt, e.mean, 1, e.e)
		ln.Solve(only, false, e.d, e.e)
		ln.Solve(only, true, e.d, e.e)
		if err := ln.Read(e.e, 0, some[:s]); err != nil {
			return err
		}
		floats.AddScaled(alpha[b.points.From:b.points.To], times, some[:s])
		if behind == nil {
			return nil
		}
		ln.Gemm(only, false, false, 1, e.gt, e.e, 0, e.r)
		if err := ln.Read(e.r, 0, some[:behind.points.Len()]); err != nil {
			return err
		}
		floats.AddScaled(alpha[behind.points.From:behind.points.To], -times, some[:behind.points.Len()])
		return nil
	})
	return alpha, err == nil && !floats.HasNaN(alpha), err
}

// gradient is the second half of At.
func (e *Evidence) gradient(value float64, grad []float64, stop func() error) (float64, bool, error) {
	ln := e.lane
	ln.Solve(only, true, e.p, e.mean)
	ln.Inverse(only, e.p, e.pinv)
	ln.Fill(only, e.gradTheta, 0)
	ln.Fill(only, e.trace, 0)
	ln.Fill(only, e.t, 0)
	every := max(1, e.width.Every)
	err := e.each(stop, func(b, behind *block, times float64) error {
		ln.Inverse(only, e.d, e.inv)
		ln.Copy(only, e.eps, e.e)
		ln.Gemm(only, false, false, -1, e.bt, e.mean, 1, e.eps)
		ln.Gemm(only, false, false, 1, e.inv, e.eps, 0, e.r)
		ln.Gemm(only, true, false, 1, e.bt, e.inv, 0, e.w)
		ln.Gemm(only, false, false, 1, e.pinv, e.w, 0, e.sw)
		ln.Copy(only, b.bar, e.inv)
		ln.Gemm(only, true, false, 0.5*times, e.w, e.sw, -0.5*times, b.bar)
		ln.Gemm(only, false, true, 0.5*times, e.r, e.r, 1, b.bar)
		ln.Gemm(only, false, true, times, e.mean, e.r, 0, e.bbar)
		ln.AddScaled(only, e.bbar, -times, e.sw)
		ln.Copy(only, b.abar, e.bbar)
		ln.Gemm(only, false, false, -2, b.a, b.bar, 1, b.abar)
		if behind != nil {
			ln.Gemm(only, false, true, times, behind.ys, e.r, 0, e.x)
			ln.Gemm(only, true, false, -1, behind.a, e.bbar, 1, e.x)
			ln.Solve(only, false, behind.chol, e.x)
			ln.Solve(only, true, behind.chol, e.x)
			ln.Gemm(only, false, false, 1, e.gt, b.bar, 0, e.y)
			ln.AddScaled(only, e.x, -1, e.y) // X − Y
			ln.Gemm(only, false, true, -0.5, e.gt, e.x, 0, e.inv)
			ln.Transpose(only, e.turned, e.inv)
			ln.AddScaled(only, e.inv, 1, e.turned)
			ln.AddScaled(only, behind.bar, 1, e.inv)
			ln.AddScaled(only, e.x, -1, e.y) // R̄_b'b
			ln.Gemm(only, false, false, -1, behind.a, e.x, 1, b.abar)
			ln.Gemm(only, false, true, -1, e.bbar, e.gt, 1, behind.abar)
			ln.Gemm(only, false, true, -1, b.a, e.x, 1, behind.abar)
			ln.Gemm(only, false, false, -2, behind.a, e.inv, 1, behind.abar)
			ln.KernelGrad(only, e.ks, e.theta, behind.points, b.points, e.kab, e.x, e.gradTheta)
			if err := e.collect(behind); err != nil {
				return err
			}
		}
		if every > 1 || b.points.To == len(e.rows.Y) {
			return e.collect(b)
		}
		return nil
	})
	if err != nil {
		return 0, false, err
	}
	ln.SolveBoth(only, e.l, e.t)
	e.pinv.Reshape(e.m, e.m)
	ln.Fill(only, e.pinv, 0)
	ln.AddScaled(only, e.pinv, -0.5, e.t)
	ln.JitterGrad(only, e.pinv, e.jitter, e.factor)
	ln.KernelGrad(only, e.ks, e.seen(), e.z, e.z, e.kzz, e.pinv, e.gradTheta)
	byTheta, trace := make([]float64, e.params), make([]float64, 1)
	if err := ln.Read(e.gradTheta, 0, byTheta); err != nil {
		return 0, false, err
	}
	if err := ln.Read(e.trace, 0, trace); err != nil {
		return 0, false, err
	}
	byTheta[e.params-1] += trace[0]
	for _, r := range e.apart.all {
		floats.Add(byTheta[r.off:r.off+len(r.grad)], r.grad[:])
	}
	ln.Write(e.gradTheta, 0, byTheta)
	ln.Collect(only, e.ks, e.floor, e.theta, e.gradTheta, e.gradFree)
	if err := ln.Read(e.gradFree, 0, grad); err != nil {
		return 0, false, err
	}
	return value, !floats.HasNaN(grad) && !math.IsInf(floats.Norm(grad, 1), 0), nil
}

// collect adds what a block's R̄ and Ā, which nothing is added to any more, give.
func (e *Evidence) collect(b *block) error {
	ln, s := e.lane, b.points.Len()
	abar, a := b.abar, b.a
	if e.apart.all != nil {
		if err := e.collectRepeating(b); err != nil {
			return err
		}
		abar, a = e.apart.cut, b.part
	}
	ln.Gemm(only, false, true, 1, abar, a, 1, e.t)
	ln.Solve(only, true, e.l, abar)
	ln.KernelGrad(only, e.ks, e.theta, b.points, b.points, b.kss, b.bar, e.gradTheta)
	ln.KernelGrad(only, e.ks, e.seen(), e.z, b.points, b.kzs, abar, e.gradTheta)
	if e.squares != s {
		e.eye.Reshape(s, s)
		ln.Fill(only, e.eye, 0)
		ln.AddDiagonal(only, e.eye, 1)
		e.squares = s
	}
	ln.Dot(only, e.eye, b.bar, e.trace)
	return nil
}

// take computes k(b,b), k(Z,b), A and R of rows; R̄ and Ā are 0.
func (e *Evidence) take(b *block, x device.Points) error {
	ln := e.lane
	b.points = x
	ln.Kernel(only, e.ks, e.theta, x, x, b.kss)
	ln.Kernel(only, e.ks, e.seen(), e.z, x, b.kzs)
	if e.apart.all != nil {
		ln.Copy(only, b.part, b.kzs)
		ln.Solve(only, false, e.l, b.part)
		if err := e.extend(b); err != nil {
			return err
		}
	} else {
		ln.Copy(only, b.a, b.kzs)
		ln.Solve(only, false, e.l, b.a)
	}
	ln.Transpose(only, b.at, b.a)
	ln.Copy(only, b.rr, b.kss)
	ln.Syrk(only, -1, b.at, 1, b.rr)
	ln.AddDiagonal(only, b.rr, e.noise)
	b.ys.Reshape(x.Len(), 1)
	ln.Write(b.ys, 0, e.rows.Y[x.From:x.To])
	b.bar.Reshape(x.Len(), x.Len())
	b.abar.Reshape(e.rank(), x.Len())
	ln.Fill(only, b.bar, 0)
	ln.Fill(only, b.abar, 0)
	return nil
}

// condition computes, of a block given the one behind it, if any, Gᵀ, Bᵀ, e and the factor of D; k(b',b) stays in kab.
func (e *Evidence) condition(b, behind *block) {
	ln := e.lane
	ln.Copy(only, e.d, b.rr)
	ln.Copy(only, e.bt, b.at)
	ln.Copy(only, e.e, b.ys)
	if behind != nil {
		ln.Copy(only, behind.chol, behind.rr)
		ln.Cholesky(only, behind.chol, e.info)
		ln.Kernel(only, e.ks, e.theta, behind.points, b.points, e.kab)
		ln.Copy(only, e.gt, e.kab)
		ln.Gemm(only, true, false, -1, behind.a, b.a, 1, e.gt)
		ln.Solve(only, false, behind.chol, e.gt)
		ln.Gemm(only, true, false, -1, e.gt, e.gt, 1, e.d)
		ln.Solve(only, true, behind.chol, e.gt)
		ln.Gemm(only, true, false, -1, e.gt, behind.ys, 1, e.e)
		ln.Gemm(only, true, true, -1, e.gt, behind.a, 1, e.bt)
	}
	ln.Cholesky(only, e.d, e.info)
}

// each calls do for every block that is taken, conditioned, with the one behind it, nil of the first, and how often it counts.
func (e *Evidence) each(stop func() error, do func(b, behind *block, times float64) error) error {
	n, every, size := len(e.rows.Y), max(1, e.width.Every), e.width.Block
	rows := func(from int) device.Points {
		return device.Points{Data: e.rows.Data, From: from, To: min(from+size, n)}
	}
	b, behind := &e.blocks[0], &e.blocks[1]
	for from := every / 2 * size; from < n; from += every * size {
		if stop != nil {
			if err := stop(); err != nil {
				return err
			}
		}
		before := behind
		switch {
		case from == 0:
			before = nil
		case every > 1:
			if err := e.take(behind, rows(from-size)); err != nil {
				return err
			}
		}
		if err := e.take(b, rows(from)); err != nil {
			return err
		}
		e.condition(b, before)
		if err := do(b, before, float64(every)); err != nil {
			return err
		}
		b, behind = behind, b
	}
	return nil
}
