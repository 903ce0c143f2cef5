package cpu_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"example.com/kestrel/device"
	"example.com/kestrel/device/cpu"
	"example.com/kestrel/kernelspace"
)

// bench is one kernel's data and arrays on a lane.
type bench struct {
	tb         testing.TB
	l          device.Lane
	d          device.Data
	programs   []*kernelspace.Program
	ks         device.Kernels
	theta      device.Array
	gradTheta  device.Array
	sub        []int
	z, x       device.Points
	inducing   int
	parameters int
}

func newBench(tb testing.TB, expr string, dim, inducing, rows int) *bench {
	tb.Helper()
	r := rand.New(rand.NewPCG(1, 1))
	dev := cpu.New(cpu.Options{Lanes: 1})
	e, err := kernelspace.Parse(expr)
	if err != nil {
		tb.Fatal(err)
	}
	p, err := kernelspace.Compile(e, kernelspace.Options{Dim: dim})
	if err != nil {
		tb.Fatal(err)
	}
	x, y := make([]float64, (inducing+rows)*dim), make([]float64, inducing+rows)
	for i := range x {
		x[i] = 20*r.Float64() - 10
	}
	for i := range y {
		y[i] = r.NormFloat64()
	}
	d, err := dev.NewData(x, y, dim)
	if err != nil {
		tb.Fatal(err)
	}
	b := &bench{tb: tb, l: dev.Lane(0), d: d, sub: []int{0}, inducing: inducing, programs: []*kernelspace.Program{p}}
	if b.ks, err = b.l.NewKernels(b.programs); err != nil {
		tb.Fatal(err)
	}
	b.z = device.Points{Data: d, To: inducing}
	b.x = device.Points{Data: d, From: inducing, To: inducing + rows}
	b.parameters = b.ks.Params()
	b.theta, b.gradTheta = b.array(1, b.parameters), b.array(1, b.parameters)
	theta := make([]float64, b.parameters)
	for i := range theta {
		theta[i] = 1.1 + 0.1*float64(i)
	}
	b.l.Write(b.theta, 0, theta)
	return b
}

func (b *bench) array(rows, cols int) device.Array {
	a, err := b.l.NewArray(1, rows, cols)
	if err != nil {
		b.tb.Fatal(err)
	}
	return a
}

func (b *bench) random(rows, cols int) device.Array {
	r := rand.New(rand.NewPCG(uint64(rows), uint64(cols)))
	v := make([]float64, rows*cols)
	for i := range v {
		v[i] = r.NormFloat64()
	}
	a := b.array(rows, cols)
	b.l.Write(a, 0, v)
	return a
}

// TestStepAllocatesNothing runs the operations of a step of the local ELBO and
// its gradients over and over: after the first, no memory is allocated. (That
// gonum starts no goroutine follows: it would allocate.)
func TestStepAllocatesNothing(t *testing.T) {
	for _, size := range [][2]int{{16, 32}, {200, 300}} {
		b := newBench(t, "PER*LIN*RQ+SE[1]*MATERN32[;ard]", 2, size[0], size[1])
		m, n := size[0], size[1]
		rows := make([]int32, n)
		for i := range rows {
			rows[i] = int32(i * 7 % (m + n))
		}
		index, err := b.l.NewIndex(rows)
		if err != nil {
			t.Fatal(err)
		}
		x := device.Points{Data: b.d, Index: index, To: n}
		kzz, lzz, g, info, factor := b.array(m, m), b.array(m, m), b.array(m, m), b.array(1, 1), b.array(1, 1)
		kzx, a, sa, bar := b.array(m, n), b.array(m, n), b.array(m, n), b.array(m, n)
		mean, root, value := b.random(m, 1), b.array(m, m), b.array(1, 1)
		kd, mu, v, r, barKd := b.array(1, n), b.array(1, n), b.array(1, n), b.array(1, n), b.array(1, n)
		gm, gc, gz, mom1, mom2 := b.array(m, 1), b.array(m, m), b.array(m, 2), b.array(m, m), b.array(m, m)
		b.l.AddDiagonal(b.sub, root, 1)
		j := device.Jitter{Relative: 1e-6}
		const rowsAll = 1000
		step := func() {
			l, s := b.l, b.sub
			l.Kernel(s, b.ks, b.theta, b.z, b.z, kzz)
			l.Copy(s, lzz, kzz)
			l.AddJitter(s, lzz, j, factor)
			l.AddDiagonal(s, lzz, 0.1)
			l.Cholesky(s, lzz, info)
			l.Kernel(s, b.ks, b.theta, b.z, x, kzx)
			l.KernelDiag(s, b.ks, b.theta, x, kd)
			l.Copy(s, a, kzx)
			l.Solve(s, false, lzz, a)
			l.Gemm(s, true, false, 1, root, a, 0, sa)
			l.Predict(s, a, sa, mean, kd, mu, v)
			l.Likelihood(s, b.ks, b.theta, x, rowsAll, mu, v, r, value, b.gradTheta)
			l.Gemm(s, false, false, 1, root, sa, 0, bar)
			l.ABar(s, b.ks, b.theta, rowsAll, mean, r, a, bar)
			l.Gemm(s, false, true, -1, bar, a, 0, g)
			l.Gemm(s, true, true, -1, root, g, 0, gc)
			l.Triangle(s, g, 0.5)
			l.Solve(s, true, lzz, g)
			l.Solve(s, true, lzz, bar)
			l.KernelGrad(s, b.ks, b.theta, b.z, x, kzx, bar, b.gradTheta)
			l.KernelGrad(s, b.ks, b.theta, b.z, b.z, kzz, g, b.gradTheta)
			l.KernelInputGrad(s, b.ks, b.theta, b.z, x, bar, gz)
			l.Fill(s, barKd, -0.5)
			l.KernelDiagGrad(s, b.ks, b.theta, x, barKd, b.gradTheta)
			l.Gemm(s, false, true, 1, a, r, 0, gm)
			l.Syrk(s, 1, a, 0, gc)
			l.GaussKL(s, mean, root, value, gm, gc)
			l.Adam(s, 1, 1e-3, nil, root, gc, mom1, mom2)
		}
		step()
		if got := testing.AllocsPerRun(3, step); got != 0 {
			t.Errorf("M = %d, B = %d: a step allocates %v times", m, n, got)
		}
	}
}

// TestTape compares gradients from what Kernel kept with those computed anew,
// where another kernel matrix has been written in between, or where it is too
// large to be kept: the bits are the same.
func TestTape(t *testing.T) {
	b := newBench(t, "(PER+RQ)*LIN*MATERN12[;ard]", 2, 40, 300)
	bar, k := b.random(40, 300), b.array(40, 300)
	theta := b.array(1, b.parameters)
	other := make([]float64, b.parameters)
	if err := b.l.Read(b.theta, 0, other); err != nil {
		t.Fatal(err)
	}
	other[1] *= 2
	b.l.Write(theta, 0, other)
	grad := func(prepare func()) []float64 {
		b.l.Fill(b.sub, b.gradTheta, 0)
		prepare()
		b.l.KernelGrad(b.sub, b.ks, b.theta, b.z, b.x, k, bar, b.gradTheta)
		out := make([]float64, b.parameters)
		if err := b.l.Read(b.gradTheta, 0, out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	want := grad(func() {}) // Kernel has not been called
	kept := func() { b.l.Kernel(b.sub, b.ks, b.theta, b.z, b.x, k) }
	cases := map[string]func(){
		"kept": kept,
		"other hyperparameters since": func() {
			kept()
			b.l.Kernel(b.sub, b.ks, theta, b.z, b.x, k)
		},
		"other points since": func() {
			kept()
			b.l.Kernel(b.sub, b.ks, b.theta, b.z, b.z, k)
			k.Reshape(40, 300)
		},
		"other rows of the same number since": func() {
			kept()
			b.l.Kernel(b.sub, b.ks, b.theta, device.Points{Data: b.d, From: 1, To: 41}, b.x, k)
		},
		"hyperparameters changed in place": func() {
			b.l.Copy(b.sub, theta, b.theta)
			b.l.Write(b.theta, 0, other)
			kept()
			b.l.Copy(b.sub, b.theta, theta)
		},
	}
	for name, prepare := range cases {
		if got := grad(prepare); !slices.Equal(got, want) {
			t.Errorf("%s: gradient %v, want %v", name, got, want)
		}
	}
}

// TestTooLargeForTape fills a matrix whose leaves' values would take more than
// the tape's limit.
func TestTooLargeForTape(t *testing.T) {
	if testing.Short() {
		t.Skip("a large matrix is skipped with -short")
	}
	const m, n = 100, 50_000 // 2 slots x 40 MB
	b := newBench(t, "SE+LIN", 1, m, n)
	k, bar := b.array(m, n), b.array(m, n)
	b.l.Fill(b.sub, bar, 1e-3)
	b.l.Kernel(b.sub, b.ks, b.theta, b.z, b.x, k)
	b.l.KernelGrad(b.sub, b.ks, b.theta, b.z, b.x, k, bar, b.gradTheta)
	got := make([]float64, b.parameters)
	if err := b.l.Read(b.gradTheta, 0, got); err != nil {
		t.Fatal(err)
	}
	// The variances' gradients are the sums of the summands: together Σ bar k.
	sum := b.array(1, 1)
	b.l.Dot(b.sub, bar, k, sum)
	total := []float64{0}
	if err := b.l.Read(sum, 0, total); err != nil {
		t.Fatal(err)
	}
	if v := got[0] + got[2]; math.Abs(v-total[0]) > 1e-9*math.Abs(total[0]) {
		t.Errorf("variances' gradients add up to %v, want %v", v, total[0])
	}
}

func TestNewDataErrors(t *testing.T) {
	d := cpu.New(cpu.Options{})
	if d.Info().Lanes < 1 {
		t.Errorf("%d lanes by default", d.Info().Lanes)
	}
	for name, f := range map[string]func() (device.Data, error){
		"no columns":    func() (device.Data, error) { return d.NewData([]float64{1}, nil, 0) },
		"half a row":    func() (device.Data, error) { return d.NewData([]float64{1, 2, 3}, nil, 2) },
		"targets":       func() (device.Data, error) { return d.NewData([]float64{1, 2}, []float64{1}, 1) },
		"empty and nil": func() (device.Data, error) { return d.NewData(nil, []float64{1}, 3) },
	} {
		if _, err := f(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func BenchmarkKernel(b *testing.B) {
	for _, expr := range []string{"PER*RQ+SE", "PER*LIN*RQ", "SE", "RQ", "PER", "LIN", "MATERN52"} {
		for _, size := range [][2]int{{16, 16}, {16, 32}, {64, 1000}, {800, 128}, {800, 800}} {
			for _, grad := range []bool{false, true} {
				m, n := size[0], size[1]
				name := fmt.Sprintf("%s/%dx%d", expr, m, n)
				if grad {
					name += "+grad"
				}
				b.Run(name, func(b *testing.B) {
					s := newBench(b, expr, 1, m, n)
					k, bar, x := s.array(m, n), s.random(m, n), s.x
					if m == n {
						x = s.z // symmetric
					}
					for b.Loop() {
						s.l.Kernel(s.sub, s.ks, s.theta, s.z, x, k)
						if grad {
							s.l.KernelGrad(s.sub, s.ks, s.theta, s.z, x, k, bar, s.gradTheta)
						}
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(m*n), "ns/entry")
				})
			}
		}
	}
}

func BenchmarkLinearAlgebra(b *testing.B) {
	for _, n := range []int{16, 64, 200} {
		run := func(name string, flops float64, setup func(s *bench) func()) {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				f := setup(newBench(b, "SE", 1, 1, 1))
				for b.Loop() {
					f()
				}
				b.ReportMetric(flops*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "gflops")
			})
		}
		cube := float64(n) * float64(n) * float64(n)
		for _, t := range []struct {
			name   string
			ta, tb bool
		}{{"GemmNN", false, false}, {"GemmTN", true, false}, {"GemmNT", false, true}} {
			run(t.name, 2*cube, func(s *bench) func() {
				x, y, z := s.random(n, n), s.random(n, n), s.array(n, n)
				return func() { s.l.Gemm(s.sub, t.ta, t.tb, 1, x, y, 0, z) }
			})
		}
		run("Syrk", cube, func(s *bench) func() {
			x, z := s.random(n, n), s.array(n, n)
			return func() { s.l.Syrk(s.sub, 1, x, 0, z) }
		})
		run("Cholesky", cube/3, func(s *bench) func() {
			x, z, a, info := s.random(n, n), s.array(n, n), s.array(n, n), s.array(1, 1)
			s.l.Syrk(s.sub, 1, x, 0, z)
			s.l.AddDiagonal(s.sub, z, 1)
			return func() {
				s.l.Copy(s.sub, a, z)
				s.l.Cholesky(s.sub, a, info)
			}
		})
		run("Solve", cube, func(s *bench) func() {
			x, z, y := s.random(n, n), s.random(n, n), s.array(n, n)
			s.l.AddDiagonal(s.sub, z, 10*math.Sqrt(float64(n)))
			return func() {
				s.l.Copy(s.sub, y, x)
				s.l.Solve(s.sub, false, z, y)
			}
		})
	}
}
