package vbks

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"example.com/kestrel/device"
	"example.com/kestrel/kernelspace"
)

const (
	// exactProductRows is the number of rows up to which products with k(X,X) are
	// worth their n² values of the kernel each; productEntries bounds how much of it
	// is held at a time, 32 MiB.
	exactProductRows = 20_000
	productEntries   = 4 << 20
	// Conjugate gradients end when what they leave open of the log evidence is below
	// openNats, and after so many products.
	openNats     = 0.02
	mostProducts = 40
)

// conjugate finds the quadratic term of one kernel's log evidence by products
// with the whole of K̂ = k(X,X) + σ²I, which are never stored if rows are many. For
// any v, with r = y − K̂v and Q̂ ⪯ K̂ as evidencer has it,
//
//	½vᵀ(y + r) ≤ ½yᵀK̂⁻¹y ≤ ½vᵀ(y + r) + ½rᵀQ̂⁻¹r
//
// (Artemev, Burt and van der Wilk 2021, section 3.2); v comes from conjugate
// gradients preconditioned by Q̂, which begin at its own solution.
type conjugate struct {
	ln    device.Lane
	ks    device.Kernels
	x     device.Points
	y     []float64
	noise float64
	rows  int // of k(X,X) at a time

	theta, a, prec, kxx, long, short, part device.Array
	whole                                  bool // kxx holds all of k(X,X)
}

// product returns K̂p. stop is asked between parts of k(X,X), which of many rows are much work.
func (c *conjugate) product(p []float64, stop stopped) ([]float64, error) {
	sub := []int{0}
	c.ln.Write(c.long, 0, p)
	out := make([]float64, len(p))
	for from := 0; from < len(p); from += c.rows {
		if err := stop.ask(); err != nil {
			return nil, err
		}
		rows := c.x
		rows.From, rows.To = from, min(from+c.rows, len(p))
		if !c.whole {
			c.ln.Kernel(sub, c.ks, c.theta, rows, c.x, c.kxx)
		}
		c.ln.Gemm(sub, false, false, 1, c.kxx, c.long, 0, c.part)
		if err := c.ln.Read(c.part, 0, out[rows.From:rows.To]); err != nil {
			return nil, err
		}
	}
	floats.AddScaled(out, c.noise, p)
	return out, nil
}

// precondition returns Q̂⁻¹r = (r − AᵀB⁻¹Ar/σ²)/σ².
func (c *conjugate) precondition(r []float64) ([]float64, error) {
	sub := []int{0}
	c.ln.Write(c.long, 0, r)
	c.ln.Gemm(sub, false, false, 1, c.a, c.long, 0, c.short)
	c.ln.Solve(sub, false, c.prec, c.short)
	c.ln.Solve(sub, true, c.prec, c.short)
	c.ln.Gemm(sub, true, false, 1, c.a, c.short, 0, c.long)
	out := make([]float64, len(r))
	if err := c.ln.Read(c.long, 0, out); err != nil {
		return nil, err
	}
	for i, v := range out {
		out[i] = (r[i] - v/c.noise) / c.noise
	}
	return out, nil
}

// quadratic returns ½vᵀ(y + r) and ½rᵀQ̂⁻¹r. stop is asked within every product.
func (c *conjugate) quadratic(stop stopped) (value, open float64, err error) {
	v, err := c.precondition(c.y)
	if err != nil {
		return 0, 0, err
	}
	residual := func() ([]float64, error) {
		r, err := c.product(v, stop)
		if err == nil {
			floats.SubTo(r, c.y, r)
		}
		return r, err
	}
	r, err := residual()
	if err != nil {
		return 0, 0, err
	}
	z, err := c.precondition(r)
	if err != nil {
		return 0, 0, err
	}
	p := append([]float64(nil), z...)
	rz := floats.Dot(r, z)
	for i := 0; i < mostProducts && 0.5*rz > openNats; i++ {
		kp, err := c.product(p, stop)
		if err != nil {
			return 0, 0, err
		}
		step := rz / floats.Dot(p, kp)
		floats.AddScaled(v, step, p)
		floats.AddScaled(r, -step, kp)
		if z, err = c.precondition(r); err != nil {
			return 0, 0, err
		}
		before := rz
		rz = floats.Dot(r, z)
		floats.Scale(rz/before, p)
		floats.Add(p, z)
	}
	// The recurrence's residual drifts from v's: the bounds are v's.
	if r, err = residual(); err != nil {
		return 0, 0, err
	}
	if z, err = c.precondition(r); err != nil {
		return 0, 0, err
	}
	return 0.5 * (floats.Dot(v, c.y) + floats.Dot(v, r)), 0.5 * math.Max(0, floats.Dot(r, z)), nil
}

// tighten replaces a kernel's bounds by those of products with all of k(X,X),
// where they are better. What a kernel's white noise has on the diagonal is seen
// only where k(X,X) is one matrix: without that it keeps its bounds.
func (u *unit) tighten(i int, known Evidence, prior float64) (Evidence, error) {
	n, program, free := u.order.Rows, u.model(i).program, u.outcomes[i].State.Free
	whole := n <= productEntries/n
	if !whole && whiteNoise(program) {
		return known, nil
	}
	ln, m := u.worker.lane, u.m
	ks, err := ln.NewKernels([]*kernelspace.Program{program})
	if err != nil {
		return known, err
	}
	held := []any{ks}
	defer func() { ln.Free(held...) }()
	array := func(r, c int) device.Array {
		if err != nil {
			return nil
		}
		var a device.Array
		if a, err = ln.NewArray(1, r, c); err == nil {
			held = append(held, a)
		}
		return a
	}
	c := &conjugate{ln: ln, ks: ks, x: u.seen(), y: u.y[:n], whole: whole, rows: min(n, max(1, productEntries/n))}
	if whole {
		c.rows = n
	}
	freeVector, factor, info, sum := array(1, ks.Free()), array(1, 1), array(1, 1), array(1, 1)
	l, q, kdiag := array(m, m), array(m, m), array(1, n)
	c.theta, c.a, c.prec = array(1, ks.Params()), array(m, n), array(m, m)
	c.kxx, c.long, c.short, c.part = array(c.rows, n), array(n, 1), array(m, 1), array(c.rows, 1)
	if err != nil {
		return known, err
	}
	sub := []int{0}
	ln.Write(freeVector, 0, free)
	ln.Write(factor, 0, []float64{u.outcomes[i].Factor})
	ln.Expand(sub, ks, u.floor, freeVector, c.theta)
	theta := make([]float64, ks.Params())
	if err := ln.Read(c.theta, 0, theta); err != nil {
		return known, err
	}
	c.noise = theta[len(theta)-1]
	z := u.worker.group.z
	ln.Kernel(sub, ks, c.theta, z, z, l)
	ln.AddJitter(sub, l, u.jitter, factor)
	ln.Cholesky(sub, l, info)
	ln.Kernel(sub, ks, c.theta, z, c.x, c.a)
	ln.Solve(sub, false, l, c.a)
	ln.Syrk(sub, 1, c.a, 0, q)
	ln.Precision(sub, ks, c.theta, 1, q, c.prec)
	ln.Cholesky(sub, c.prec, info)
	ln.LogDiag(sub, c.prec, sum)
	if c.whole {
		ln.Kernel(sub, ks, c.theta, c.x, c.x, c.kxx)
	}
	ln.KernelDiag(sub, ks, c.theta, c.x, kdiag)
	diag, square := make([]float64, n), make([]float64, m*m)
	var half, failed [1]float64
	for _, r := range []struct {
		a  device.Array
		to []float64
	}{{sum, half[:]}, {info, failed[:]}, {kdiag, diag}, {q, square}} {
		if err := ln.Read(r.a, 0, r.to); err != nil {
			return known, err
		}
	}
	if failed[0] != 0 {
		return known, nil
	}
	value, open, err := c.quadratic(u.stop)
	if err != nil {
		return known, err
	}
	rest := floats.Sum(diag)
	for j := range m {
		rest -= square[j*m+j]
	}
	rest = math.Max(0, rest)
	rows := float64(n)
	upper := -0.5*rows*math.Log(2*math.Pi*c.noise) - half[0] - value + prior
	better := Evidence{upper - open - 0.5*rows*math.Log1p(rest/(rows*c.noise)), upper, true}
	if !better.known() {
		return known, nil
	}
	better = Evidence{math.Max(known.Lower, better.Lower), math.Min(known.Upper, better.Upper), true}
	better.Upper = math.Max(better.Upper, better.Lower) // rounding
	return better, nil
}

// whiteNoise reports whether a kernel has a leaf of white noise.
func whiteNoise(p *kernelspace.Program) bool {
	for _, l := range p.Expr.Leaves() {
		if l.Base() == "WN" {
			return true
		}
	}
	return false
}
