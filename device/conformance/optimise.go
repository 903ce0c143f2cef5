package conformance

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"

	"example.com/kestrel/device"
	"example.com/kestrel/kernelspace"
)

// testExpand checks Expand's values, and Collect by differences of
// Σ c_j log θ_j + d σ_n² along the free vector.
func testExpand(h *harness) {
	r := rand.New(rand.NewPCG(21, 1))
	var programs []*kernelspace.Program
	for _, e := range []string{"SE", "PER*LIN*RQ", "(PER+RQ)*LIN", "WN", "LIN[;ard]*SE[;ard]"} {
		programs = append(programs, h.compile(e, kernelspace.Options{Dim: 3}))
	}
	for noise := range 3 { // of which a period is fixed and the others bounded, and the noise open, fixed or bounded
		p := h.compile("SE+PER*RQ", kernelspace.Options{Dim: 3, SharedPeriod: true})
		known := make([]kernelspace.Known, len(p.Params)+1)
		for i, q := range p.Params {
			switch {
			case q.Name == "period":
				known[i] = kernelspace.Known{How: kernelspace.Fixed, Value: 7.25}
			case q.Free && i%2 == 0:
				known[i] = kernelspace.Known{How: kernelspace.Bounded, Low: -float64(i) / 3, High: 1.5}
			case q.Free:
				known[i] = kernelspace.Known{How: kernelspace.Expected, Mean: 3, SD: 0.1}
			}
		}
		known[len(p.Params)] = []kernelspace.Known{
			{}, {How: kernelspace.Fixed, Value: 0.3}, {How: kernelspace.Bounded, Low: -3, High: -1},
		}[noise]
		p, err := p.Know(known)
		h.check(err)
		programs = append(programs, p)
	}
	ks := h.kernels(programs...)
	longest := 0
	for _, p := range programs {
		longest = max(longest, len(p.Free))
	}
	if ks.Free() != longest+1 {
		h.Fatalf("Free() is %d, want %d", ks.Free(), longest+1)
	}
	const floor = 0.02
	n, f, p := len(programs), ks.Free(), ks.Params()
	free, weight := make([][]float64, n), make([][]float64, n)
	for k := range free {
		free[k], weight[k] = normal(r, 1, f), normal(r, 1, p)
	}
	expand := func(free [][]float64) device.Array {
		theta := h.array(n, 1, p+1)
		h.lane.Expand(all(n), ks, floor, h.upload(free, 1, f), theta)
		h.shape("Expand", theta, 1, p)
		return theta
	}
	theta := expand(free)
	grad := h.array(n, f+2, 1)
	h.lane.Collect(all(n), ks, floor, theta, h.upload(weight, 1, p), grad)
	h.shape("Collect", grad, 1, f)
	for k, prog := range programs {
		want := make([]float64, len(prog.Params))
		for i := range want {
			want[i] = 1
		}
		between := func(k kernelspace.Known, x float64) float64 {
			return math.Exp(k.Low + (k.High-k.Low)/(1+math.Exp(-x)))
		}
		for j, q := range prog.Params {
			if q.Known.How == kernelspace.Fixed {
				want[j] = q.Known.Value
			}
		}
		for i, j := range prog.Free {
			if want[j] = math.Exp(free[k][i]); prog.Params[j].Known.How == kernelspace.Bounded {
				want[j] = between(prog.Params[j].Known, free[k][i])
			}
		}
		got := h.read(theta, k)
		h.near("Expand", got[:len(want)], want, 1e-14)
		noise := floor + math.Exp(free[k][f-1])
		switch prog.Noise.How {
		case kernelspace.Fixed:
			noise = prog.Noise.Value
		case kernelspace.Bounded:
			noise = between(prog.Noise, free[k][f-1])
		}
		h.near("Expand: noise", got[p-1:], []float64{noise}, 1e-14)

		value := func(free []float64) float64 {
			moved := make([][]float64, n)
			for i := range moved {
				moved[i] = free
			}
			theta := h.read(expand(moved), k)
			v := weight[k][p-1] * theta[p-1]
			for j := range prog.Params {
				v += weight[k][j] * math.Log(theta[j])
			}
			return v
		}
		slope := make([]float64, f)
		for i := range f {
			const step = 1e-5
			up, down := append([]float64(nil), free[k]...), append([]float64(nil), free[k]...)
			up[i] += step
			down[i] -= step
			slope[i] = (value(up) - value(down)) / (2 * step)
		}
		h.near("Collect", h.read(grad, k), slope, 1e-8)
	}
	// Members not named stay.
	before := h.read(grad, 1)
	h.lane.Collect([]int{0, 2}, ks, 0, theta, h.upload(weight, 1, p), grad)
	h.equal("Collect", h.read(grad, 1), before)
}

func testAdam(h *harness) {
	const rate, beta1, beta2, eps = 0.05, 0.9, 0.999, 1e-8
	for i, t := range []int{1, 2, 1000} {
		strided := i == 1
		h.verify(operation{
			name: "Adam", args: []arg{in(5, 7), in(5, 7), in(5, 7), with(5, 7, positive), with(5, 7, positive)},
			run: func(sub []int, a []device.Array) {
				stride := a[4]
				if !strided {
					stride = nil
				}
				h.lane.Adam(sub, t, rate, stride, a[0], a[1], a[2], a[3])
			},
			ref: func(a [][]float64) {
				for i, g := range a[1] {
					a[2][i] = beta1*a[2][i] + (1-beta1)*g
					a[3][i] = beta2*a[3][i] + (1-beta2)*g*g
					m := a[2][i] / (1 - math.Pow(beta1, float64(t)))
					v := a[3][i] / (1 - math.Pow(beta2, float64(t)))
					step := rate * m / (math.Sqrt(v) + eps)
					if strided {
						step *= a[4][i]
					}
					a[0][i] += step
				}
			},
		})
	}
	for _, n := range []int{1, 7, 17, 40} {
		h.verify(operation{
			name: fmt.Sprintf("AdamLower %d", n), args: []arg{in(n, n), in(n, n), in(n, n), with(n, n, positive)},
			run: func(sub []int, a []device.Array) {
				h.lane.AdamLower(sub, 2, rate, a[0], a[1], a[2], a[3])
			},
			ref: func(a [][]float64) {
				for i := range n {
					for k := i * n; k <= i*n+i; k++ {
						g := a[1][k]
						a[2][k] = beta1*a[2][k] + (1-beta1)*g
						a[3][k] = beta2*a[3][k] + (1-beta2)*g*g
						a[0][k] += rate * a[2][k] / (1 - beta1*beta1) / (math.Sqrt(a[3][k]/(1-beta2*beta2)) + eps)
					}
				}
			},
		})
	}
	// Uphill on −(x−3)²/2 it comes to the top.
	x, g, m1, m2 := h.scalar(0), h.scalar(0), h.scalar(0), h.scalar(0)
	top := h.scalar(3)
	sub := []int{0}
	for t := 1; t <= 400; t++ {
		h.lane.Copy(sub, g, top)
		h.lane.AddScaled(sub, g, -1, x)
		h.lane.Adam(sub, t, rate, nil, x, g, m1, m2)
	}
	h.near("Adam's optimum", h.read(x, 0), []float64{3}, 0.01)
}

func testLogPrior(h *harness) {
	const wall = 2.5
	for _, n := range []int{1, 2, 15, 17} {
		precision := func(r *rand.Rand, rows, cols int) []float64 {
			p := positive(r, rows, cols)
			if n > 1 {
				p[1] = 0 // no prior
			}
			return p
		}
		bound := func(at float64) func(r *rand.Rand, rows, cols int) []float64 {
			return func(r *rand.Rand, rows, cols int) []float64 {
				b := make([]float64, rows*cols)
				for i := range b {
					b[i] = at
				}
				if n > 2 {
					b[2] = math.Copysign(math.Inf(1), at)
				}
				return b
			}
		}
		value := func(x, mean, prec, lo, hi []float64) float64 {
			v := 0.0
			for i := range x {
				if prec[i] > 0 {
					v += 0.5*math.Log(prec[i]/(2*math.Pi)) - prec[i]*(x[i]-mean[i])*(x[i]-mean[i])/2
				}
				e := math.Max(0, x[i]-hi[i]) + math.Max(0, lo[i]-x[i])
				v -= wall * e * e / 2
			}
			return v
		}
		args := []arg{in(1, n), in(1, n), with(1, n, precision), with(1, n, bound(-0.4)), with(1, n, bound(0.3)), in(1, 1), in(1, n)}
		ref := func(a [][]float64) {
			const step = 1e-4 // piecewise quadratic: exact but for rounding
			x := a[0]
			a[5][0] += value(x, a[1], a[2], a[3], a[4])
			for i := range x {
				at := x[i]
				x[i] = at + step
				up := value(x, a[1], a[2], a[3], a[4])
				x[i] = at - step
				down := value(x, a[1], a[2], a[3], a[4])
				x[i] = at
				a[6][i] += (up - down) / (2 * step)
			}
		}
		h.verify(operation{
			name: "LogPrior", args: args, ref: ref, tol: 1e-9,
			run: func(sub []int, a []device.Array) {
				h.lane.LogPrior(sub, a[0], a[1], a[2], a[3], a[4], wall, a[5], a[6])
			},
		})
		h.verify(operation{
			name: "LogPrior without gradient", args: args[:6],
			run: func(sub []int, a []device.Array) {
				h.lane.LogPrior(sub, a[0], a[1], a[2], a[3], a[4], wall, a[5], nil)
			},
			ref: func(a [][]float64) { a[5][0] += value(a[0], a[1], a[2], a[3], a[4]) },
		})
	}
}

func testSample(h *harness) {
	for _, n := range []int{1, 2, 15, 17} {
		h.verify(operation{
			name: "Sample", args: []arg{in(1, n), with(n, n, lower), in(n, 1), out(1, n)},
			run: func(sub []int, a []device.Array) { h.lane.Sample(sub, a[0], a[1], a[2], a[3]) },
			ref: func(a [][]float64) {
				for i := range n {
					a[3][i] = a[0][i]
					for j := range n {
						a[3][i] += a[1][i*n+j] * a[2][j]
					}
				}
			},
		})
		h.verify(operation{
			name: "SampleGrad", args: []arg{in(1, n), in(n, 1), in(1, n), in(n, n)},
			run: func(sub []int, a []device.Array) { h.lane.SampleGrad(sub, a[0], a[1], a[2], a[3]) },
			ref: func(a [][]float64) {
				for i := range n {
					a[2][i] += a[0][i]
					for j := range i + 1 {
						a[3][i*n+j] += a[0][i] * a[1][j]
					}
				}
			},
		})
	}
}

// testLanes runs the same work on several lanes at once, on shared data.
func testLanes(h *harness) {
	r := rand.New(rand.NewPCG(31, 1))
	p := h.compile("PER*LIN*RQ+SE", kernelspace.Options{Dim: 2})
	theta := pad(hyperparameters(r, p), 0.1, len(p.Params)+1)
	d := h.data(normal(r, 120, 2), normal(r, 120, 1), 2)
	work := func(l device.Lane) ([]float64, error) {
		sub := []int{0}
		ks, err := l.NewKernels([]*kernelspace.Program{p})
		if err != nil {
			return nil, err
		}
		var arrays []device.Array
		for _, s := range [][2]int{{1, ks.Params()}, {1, ks.Params()}, {40, 40}, {40, 80}, {1, 1}} {
			a, err := l.NewArray(1, s[0], s[1])
			if err != nil {
				return nil, err
			}
			arrays = append(arrays, a)
		}
		th, g, kzz, kzx, info := arrays[0], arrays[1], arrays[2], arrays[3], arrays[4]
		l.Write(th, 0, theta)
		z, x := device.Points{Data: d, To: 40}, device.Points{Data: d, From: 40, To: 120}
		for range 5 {
			l.Kernel(sub, ks, th, z, z, kzz)
			l.AddDiagonal(sub, kzz, 0.1)
			l.Cholesky(sub, kzz, info)
			l.Kernel(sub, ks, th, z, x, kzx)
			l.KernelGrad(sub, ks, th, z, x, kzx, kzx, g)
			l.Solve(sub, false, kzz, kzx)
		}
		out := make([]float64, ks.Params()+40*80)
		if err := l.Read(g, 0, out[:ks.Params()]); err != nil {
			return nil, err
		}
		err = l.Read(kzx, 0, out[ks.Params():])
		l.Free(ks, th, g, kzz, kzx, info)
		return out, err
	}
	want, err := work(h.lane)
	h.check(err)
	lanes := min(h.dev.Info().Lanes, 4)
	results := make([][]float64, lanes)
	errs := make([]error, lanes)
	var wg sync.WaitGroup
	for i := range lanes {
		wg.Go(func() { results[i], errs[i] = work(h.dev.Lane(i)) })
	}
	wg.Wait()
	for i := range lanes {
		h.check(errs[i])
		h.equal("the same work on another lane", results[i], want)
	}
}
