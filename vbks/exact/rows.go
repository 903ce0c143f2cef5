// Package exact computes log evidences with all of k(X,X), which local ELBOs are
// bounds of, and draws functions: n³ operations, for up to a few thousand rows.
package exact

import (
	"fmt"
	"math"

	"example.com/kestrel/device"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks/params"
	"example.com/kestrel/vbks/starts"
)

// Options say what belongs to an evidence besides the likelihood.
type Options struct {
	NoiseFloor float64 // least σ_n², as a fraction of var(y)
	ThetaPrior bool    // log p(θ) is added; without it there are the soft bounds alone
}

// Rows are data on the first lane of a device, with room for matrices of n x n.
// They are for one goroutine.
type Rows struct {
	lane   device.Lane
	points device.Points
	n      int
	y      []float64
	scales kernelspace.Scales
	floor  float64
	prior  bool

	k, l, bar      device.Array // k(X,X); the factor of it with the noise; ∂/∂k(X,X)
	column, second device.Array // n x 1
	info, sum, one device.Array // 1 x 1
	square         []float64    // n x n, on the host
}

// New places rows, N x dim inputs (row-major) and their targets; without targets
// (nil) functions can be drawn at them, with priors as for targets of variance 1.
func New(dev device.Device, x, y []float64, dim int, o Options) (*Rows, error) {
	data, err := dev.NewData(x, y, dim)
	if err != nil {
		return nil, err
	}
	r := &Rows{
		lane: dev.Lane(0), points: device.All(data), n: data.Rows(), y: y,
		scales: starts.Summarise(x, y, dim), prior: o.ThetaPrior,
	}
	if y == nil {
		r.scales.YVar = 1
	}
	r.floor = o.NoiseFloor * r.scales.YVar
	for _, a := range []struct {
		to         *device.Array
		rows, cols int
	}{
		{&r.k, r.n, r.n}, {&r.l, r.n, r.n}, {&r.bar, r.n, r.n}, {&r.column, r.n, 1}, {&r.second, r.n, 1},
		{&r.info, 1, 1}, {&r.sum, 1, 1}, {&r.one, 1, 1},
	} {
		if *a.to, err = r.lane.NewArray(1, a.rows, a.cols); err != nil {
			return nil, fmt.Errorf("memory for the exact evidence of %d rows: %w", r.n, err)
		}
	}
	r.lane.Fill(only(), r.one, 1)
	return r, nil
}

// only names the one member of all arrays here.
func only() []int { return []int{0} }

// scalar reads a 1 x 1 array.
func (r *Rows) scalar(a device.Array) (float64, error) {
	var v [1]float64
	err := r.lane.Read(a, 0, v[:])
	return v[0], err
}

// Prior is params.Prior of a kernel of these rows.
func (r *Rows) Prior(p *kernelspace.Program) (mean, sd, lo, hi []float64) {
	return params.Prior(p, r.scales, r.floor)
}

// Kernel is a kernel whose evidence can be asked for.
type Kernel struct {
	*Rows
	program *kernelspace.Program
	ks      device.Kernels

	free, gradFree, mean, prec, lo, hi device.Array
	theta, gradTheta, value            device.Array
}

// Kernel makes a kernel ready.
func (r *Rows) Kernel(p *kernelspace.Program) (*Kernel, error) {
	k := &Kernel{Rows: r, program: p}
	var err error
	if k.ks, err = r.lane.NewKernels([]*kernelspace.Program{p}); err != nil {
		return nil, err
	}
	for _, a := range []struct {
		to   *device.Array
		cols int
	}{
		{&k.free, k.ks.Free()}, {&k.gradFree, k.ks.Free()}, {&k.mean, k.ks.Free()}, {&k.prec, k.ks.Free()},
		{&k.lo, k.ks.Free()}, {&k.hi, k.ks.Free()}, {&k.theta, k.ks.Params()}, {&k.gradTheta, k.ks.Params()}, {&k.value, 1},
	} {
		if *a.to, err = r.lane.NewArray(1, 1, a.cols); err != nil {
			return nil, err
		}
	}
	mean, sd, lo, hi := r.Prior(p)
	prec := make([]float64, len(sd))
	if r.prior {
		for i, w := range sd {
			prec[i] = 1 / (w * w)
		}
	}
	for _, a := range []struct {
		to   device.Array
		from []float64
	}{{k.mean, mean}, {k.prec, prec}, {k.lo, lo}, {k.hi, hi}} {
		r.lane.Write(a.to, 0, a.from)
	}
	return k, nil
}

// Program is what the kernel is compiled to.
func (k *Kernel) Program() *kernelspace.Program { return k.program }

// Strides is params.Strides of the kernel at a free vector.
func (k *Kernel) Strides(free []float64) []float64 {
	return params.Strides(k.program, free, k.scales.Span)
}

// Free is the free vector of raw parameters and a noise variance.
func (k *Kernel) Free(raw []float64, noise float64) []float64 {
	return params.Free(k.program, raw, noise, k.floor)
}

// The diagonal of a matrix whose factorisation fails by rounding is raised by
// leastJitter times its mean, then by ten times as much, up to mostJitter.
const (
	leastJitter = 1e-13
	mostJitter  = 1e-5
)

// factorise computes k(X,X) and leaves the factor of k(X,X) + noise·I in l. ok is
// false where that cannot be had with any jitter.
func (k *Kernel) factorise(free []float64, noise float64) (jitter device.Jitter, ok bool, err error) {
	ln, sub := k.lane, only()
	ln.Write(k.free, 0, free)
	ln.Expand(sub, k.ks, k.floor, k.free, k.theta)
	ln.Kernel(sub, k.ks, k.theta, k.points, k.points, k.k)
	for ; jitter.Relative <= mostJitter; jitter.Relative = math.Max(leastJitter, 10*jitter.Relative) {
		ln.Copy(sub, k.l, k.k)
		ln.AddJitter(sub, k.l, jitter, k.one)
		ln.AddDiagonal(sub, k.l, noise)
		ln.Fill(sub, k.info, 0)
		ln.Cholesky(sub, k.l, k.info)
		failed, err := k.scalar(k.info)
		if err != nil || failed == 0 {
			return jitter, err == nil, err
		}
	}
	return jitter, false, nil
}

// Draw returns the function Lz, LLᵀ = k(X,X): drawn from the process where z is
// standard normal. ok is false where k(X,X) is beyond arithmetic.
func (k *Kernel) Draw(free, z []float64) (f []float64, ok bool, err error) {
	ln, sub := k.lane, only()
	if _, ok, err = k.factorise(free, 0); err != nil || !ok {
		return nil, false, err
	}
	ln.Write(k.column, 0, z)
	ln.MulLower(sub, false, k.l, k.column, k.second)
	f = make([]float64, k.n)
	err = ln.Read(k.second, 0, f)
	for _, v := range f {
		ok = ok && !math.IsNaN(v) && !math.IsInf(v, 0)
	}
	return f, ok, err
}
