package conformance

import (
	"math"
	"math/rand/v2"

	"example.com/kestrel/device"
	"example.com/kestrel/kernelspace"
)

func (h *harness) compile(expr string, opt kernelspace.Options) *kernelspace.Program {
	h.Helper()
	e, err := kernelspace.Parse(expr)
	h.check(err)
	p, err := kernelspace.Compile(e, opt)
	h.check(err)
	return p
}

// points are points on the device and on the host.
type points struct {
	device.Points
	x [][]float64
}

// cloud is a set of random inputs.
type cloud struct {
	data device.Data
	x    [][]float64
}

func (h *harness) cloud(r *rand.Rand, n, dim int) cloud {
	h.Helper()
	flat := make([]float64, n*dim)
	for i := range flat {
		flat[i] = 2 * r.NormFloat64()
	}
	return h.cloudOf(flat, dim)
}

func (h *harness) cloudOf(flat []float64, dim int) cloud {
	c := cloud{data: h.data(flat, nil, dim)}
	for i := 0; i < len(flat); i += dim {
		c.x = append(c.x, flat[i:i+dim])
	}
	return c
}

func (c cloud) rows(from, to int) points {
	return points{device.Points{Data: c.data, From: from, To: to}, c.x[from:to]}
}

func (c cloud) pick(x device.Index, rows []int32, from, to int) points {
	p := points{Points: device.Points{Data: c.data, Index: x, From: from, To: to}}
	for _, r := range rows[from:to] {
		p.x = append(p.x, c.x[r])
	}
	return p
}

// hyperparameters are random values around 1.
func hyperparameters(r *rand.Rand, p *kernelspace.Program) []float64 {
	theta := make([]float64, len(p.Params))
	for i := range theta {
		theta[i] = math.Exp(0.4 * r.NormFloat64())
	}
	return theta
}

// pad puts a kernel's parameters and the noise into a vector of the batch's length.
func pad(theta []float64, noise float64, n int) []float64 {
	out := make([]float64, n)
	copy(out, theta)
	out[n-1] = noise
	return out
}

// batch is a batch of programs with their hyperparameters.
type batch struct {
	programs []*kernelspace.Program
	theta    [][]float64
	ks       device.Kernels
	dtheta   device.Array
	sub      []int
}

func (h *harness) batch(r *rand.Rand, programs []*kernelspace.Program) *batch {
	h.Helper()
	b := &batch{programs: programs, ks: h.kernels(programs...), sub: all(len(programs))}
	longest := 0
	members := make([][]float64, len(programs))
	for _, p := range programs {
		b.theta = append(b.theta, hyperparameters(r, p))
		longest = max(longest, len(p.Params))
	}
	if b.ks.Params() != longest+1 {
		h.Fatalf("Params() is %d, want %d", b.ks.Params(), longest+1)
	}
	for k := range members {
		members[k] = pad(b.theta[k], 0.1, longest+1)
	}
	b.dtheta = h.upload(members, 1, longest+1)
	return b
}

// verifyKernels compares Kernel, KernelGrad, KernelDiag, KernelDiagGrad and
// KernelInputGrad with the naive evaluation and its finite differences.
func (h *harness) verifyKernels(bt *batch, a, b points, same bool) {
	h.Helper()
	h.verifyMatrix(bt, a, b, same)
	h.verifyDiagonal(bt, a)
	h.verifyInputGrad(bt, a, b, same)
}

// naive evaluates a kernel matrix entry by entry, of the same points the lower
// half, which is slow enough.
func naive(p *kernelspace.Program, theta []float64, a, b points, same bool) []float64 {
	n := len(b.x)
	out := make([]float64, len(a.x)*n)
	for i, x := range a.x {
		for j, y := range b.x {
			if same && j > i {
				break
			}
			out[i*n+j] = p.Eval(theta, x, y, same && i == j)
			if same {
				out[j*n+i] = out[i*n+j]
			}
		}
	}
	return out
}

// slopes returns Σ bar ∂f/∂log θ by central differences of fourth order; those of
// second order are too coarse for points many periods apart.
func slopes(p *kernelspace.Program, theta, bar []float64, f func(theta []float64) []float64) []float64 {
	g := make([]float64, len(theta))
	moved := append([]float64(nil), theta...)
	for i := range theta {
		step := 1e-4
		if p.Params[i].Name == "origin" {
			step = 1e-6 // there is a kink where it passes a point, and polynomials on both sides
		}
		at := func(steps float64) []float64 {
			moved[i] = theta[i] * math.Exp(steps*step)
			return f(moved)
		}
		up, down, up2, down2 := at(1), at(-1), at(2), at(-2)
		moved[i] = theta[i]
		for j := range bar {
			g[i] += bar[j] * (8*(up[j]-down[j]) - (up2[j] - down2[j])) / (12 * step)
		}
	}
	return g
}

func (h *harness) verifyMatrix(bt *batch, a, b points, same bool) {
	h.Helper()
	r := rand.New(rand.NewPCG(11, 4))
	n := len(bt.programs)
	rows, cols := len(a.x), len(b.x)
	k := h.array(n, rows+1, cols+1)
	h.lane.Kernel(bt.sub, bt.ks, bt.dtheta, a.Points, b.Points, k)
	h.shape("Kernel", k, rows, cols)
	bars := make([][]float64, n)
	grads := make([][]float64, n)
	for i := range bars {
		bars[i] = normal(r, rows, cols)
		grads[i] = normal(r, 1, bt.ks.Params())
	}
	bar := h.upload(bars, rows, cols)
	grad := h.upload(grads, 1, bt.ks.Params())
	h.lane.KernelGrad(bt.sub, bt.ks, bt.dtheta, a.Points, b.Points, k, bar, grad)
	for i, p := range bt.programs {
		f := func(theta []float64) []float64 { return naive(p, theta, a, b, same) }
		got := h.read(k, i)
		// A single entry may be where a cosine passes 0.
		size := 1e-3 * math.Abs(p.Eval(bt.theta[i], a.x[0], a.x[0], true))
		h.within("Kernel of "+p.ID, got, f(bt.theta[i]), size, 1e-12)
		if same {
			for r := range rows {
				for c := range r {
					if got[r*cols+c] != got[c*cols+r] {
						h.Fatalf("Kernel of %s: not symmetric at (%d, %d)", p.ID, r, c)
					}
				}
			}
		}
		h.added("KernelGrad of "+p.ID, h.read(grad, i), grads[i], slopes(p, bt.theta[i], bars[i], f))
	}
}

// added checks a gradient that was added to what was there; what lies beyond
// it must not have changed.
func (h *harness) added(what string, got, before, gradient []float64) {
	h.Helper()
	n := len(gradient)
	diff := make([]float64, n)
	for i := range diff {
		diff[i] = got[i] - before[i]
	}
	// Finite differences cannot see what is far below the kernel's own size.
	size := 1e-3
	for _, g := range gradient {
		size = math.Max(size, math.Abs(g))
	}
	for i := range diff {
		if !(math.Abs(diff[i]-gradient[i]) <= 1e-6*size) {
			h.Fatalf("%s: entry %d is %.12g, finite differences say %.12g (all: %v, want %v)", what, i, diff[i], gradient[i], diff, gradient)
		}
	}
	h.equal(what+": beyond the gradient", got[n:], before[n:])
}

func (h *harness) verifyDiagonal(bt *batch, a points) {
	h.Helper()
	r := rand.New(rand.NewPCG(12, 4))
	n, rows := len(bt.programs), len(a.x)
	d := h.array(n, rows+3, 1)
	h.lane.KernelDiag(bt.sub, bt.ks, bt.dtheta, a.Points, d)
	h.shape("KernelDiag", d, 1, rows)
	bars := make([][]float64, n)
	grads := make([][]float64, n)
	for i := range bars {
		bars[i] = normal(r, 1, rows)
		grads[i] = normal(r, 1, bt.ks.Params())
	}
	grad := h.upload(grads, 1, bt.ks.Params())
	h.lane.KernelDiagGrad(bt.sub, bt.ks, bt.dtheta, a.Points, h.upload(bars, 1, rows), grad)
	for i, p := range bt.programs {
		f := func(theta []float64) []float64 {
			out := make([]float64, rows)
			for j, x := range a.x {
				out[j] = p.Eval(theta, x, x, true)
			}
			return out
		}
		h.near("KernelDiag of "+p.ID, h.read(d, i), f(bt.theta[i]), 1e-12)
		h.added("KernelDiagGrad of "+p.ID, h.read(grad, i), grads[i], slopes(p, bt.theta[i], bars[i], f))
	}
}

func (h *harness) verifyInputGrad(bt *batch, a, b points, same bool) {
	h.Helper()
	const step = 1e-4
	r := rand.New(rand.NewPCG(13, 4))
	n, rows, cols, dim := len(bt.programs), len(a.x), len(b.x), len(a.x[0])
	bars := make([][]float64, n)
	grads := make([][]float64, n)
	for i := range bars {
		bars[i] = normal(r, rows, cols)
		grads[i] = normal(r, rows, dim)
	}
	grad := h.upload(grads, rows, dim)
	h.lane.KernelInputGrad(bt.sub, bt.ks, bt.dtheta, a.Points, b.Points, h.upload(bars, rows, cols), grad)
	x := make([]float64, dim)
	for k, p := range bt.programs {
		want := make([]float64, rows*dim)
		for i := range rows {
			copy(x, a.x[i])
			for c := range dim {
				for j, y := range b.x {
					slope := func(step float64) float64 {
						x[c] = a.x[i][c] + step
						up := p.Eval(bt.theta[k], x, y, same && i == j)
						x[c] = a.x[i][c] - step
						down := p.Eval(bt.theta[k], x, y, same && i == j)
						return (up - down) / (2 * step)
					}
					// Without their terms in step and its square; beside a kink there is a first one.
					s := 8./3*slope(step) - 2*slope(2*step) + 1./3*slope(4*step)
					x[c] = a.x[i][c]
					want[i*dim+c] += bars[k][i*cols+j] * s
				}
			}
		}
		got := h.read(grad, k)
		for _, c := range levelColumns(p) { // whoever moves along it leaves the level: nothing to compare with
			for i := range rows {
				want[i*dim+c] = got[i*dim+c] - grads[k][i*dim+c]
			}
		}
		h.added("KernelInputGrad of "+p.ID, got, grads[k], want)
	}
}

// levelColumns are those that a program takes as levels.
func levelColumns(p *kernelspace.Program) (columns []int) {
	for i := range p.Instrs {
		if p.Instrs[i].Op.ByLevel() {
			columns = append(columns, p.Instrs[i].Cols...)
		}
	}
	return columns
}

func testJitter(h *harness) {
	for _, n := range []int{1, 2, 16, 31, 200} {
		for _, j := range []device.Jitter{{Relative: 1e-3}, {Absolute: 0.01}, {Relative: 0.1, Absolute: 0.2}} {
			mean := func(a []float64) float64 {
				s := 0.0
				for i := range n {
					s += a[i*n+i] / float64(n)
				}
				return s
			}
			addTo := func(a []float64, v float64) {
				for i := range n {
					a[i*n+i] += v
				}
			}
			h.verify(operation{
				name: "AddJitter", args: []arg{with(n, n, definite), in(1, 1)},
				run: func(sub []int, a []device.Array) { h.lane.AddJitter(sub, a[0], j, a[1]) },
				ref: func(a [][]float64) { addTo(a[0], a[1][0]*(j.Relative*mean(a[0])+j.Absolute)) },
			})
			h.jitterGrad(n, j)
		}
	}
}

// jitterGrad compares JitterGrad with differences of Σ W∘(K+εI), which is
// linear in K.
func (h *harness) jitterGrad(n int, j device.Jitter) {
	h.Helper()
	r := rand.New(rand.NewPCG(9, 9))
	k, w := definite(r, n, n), normal(r, n, n)
	sub := []int{0}
	factor := h.scalar(3)
	value := func(k []float64) float64 {
		a := h.upload([][]float64{k}, n, n)
		h.lane.AddJitter(sub, a, j, factor)
		s := 0.0
		for i, v := range h.read(a, 0) {
			s += v * w[i]
		}
		return s
	}
	bar := h.upload([][]float64{w}, n, n)
	h.lane.JitterGrad(sub, bar, j, factor)
	got := h.read(bar, 0)
	for _, at := range []int{0, n/2*n + n/2, n*n - 1, n - 1} {
		const step = 0.5
		up, down := append([]float64(nil), k...), append([]float64(nil), k...)
		up[at] += step
		down[at] -= step
		h.near("JitterGrad", got[at:at+1], []float64{(value(up) - value(down)) / (2 * step)}, 1e-8)
	}
}
