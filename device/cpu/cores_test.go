package cpu_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"example.com/kestrel/device"
	"example.com/kestrel/device/cpu"
	"example.com/kestrel/device/cpu/simd"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/kernelspace"
)

// workshop is a lane on which operations are tried, with all that they have made.
type workshop struct {
	t    *testing.T
	l    device.Lane
	rng  *rand.Rand
	made []device.Array
}

func (w *workshop) array(rows, cols int) device.Array {
	a := of(w.l.NewArray(1, rows, cols))(w.t)
	w.made = append(w.made, a)
	return a
}

func (w *workshop) random(rows, cols int) device.Array {
	v := make([]float64, rows*cols)
	for i := range v {
		v[i] = w.rng.NormFloat64()
	}
	a := w.array(rows, cols)
	w.l.Write(a, 0, v)
	return a
}

// of ends the test where there is an error instead of a value.
func of[T any](v T, err error) func(t testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// results runs every operation that is divided where it is large, on m inducing inputs
// and n rows, and returns the content of all arrays.
func results(t *testing.T, o cpu.Options, expr string, dim, m, n int) [][]float64 {
	dev := cpu.New(o)
	defer dev.Close()
	w := &workshop{t: t, l: dev.Lane(0), rng: rand.New(rand.NewPCG(3, 4))}
	l, sub := w.l, []int{0}
	x, y, weights := make([]float64, (m+n)*dim), make([]float64, m+n), make([]float64, m+n)
	for i := range x {
		x[i] = 20*w.rng.Float64() - 10
	}
	for i := range y {
		y[i], weights[i] = w.rng.NormFloat64(), 0.5+w.rng.Float64()
	}
	data := of(dev.NewData(x, y, dim))(t)
	scaled := of(dev.NewScaledData(x, y, weights, dim))(t)
	program := of(kernelspace.Compile(of(kernelspace.Parse(expr))(t), kernelspace.Options{Dim: dim}))(t)
	ks := of(l.NewKernels([]*kernelspace.Program{program}))(t)
	theta, grad := w.array(1, ks.Params()), w.array(1, ks.Params())
	values := make([]float64, ks.Params())
	for i := range values {
		values[i] = 1.1 + 0.1*float64(i)
	}
	l.Write(theta, 0, values)
	z := device.Points{Data: data, To: m}
	info, factor, value := w.array(1, 1), w.array(1, 1), w.array(1, 1)
	l.Fill(sub, factor, 1)
	kzz, lzz, q, prec := w.array(m, m), w.array(m, m), w.array(m, m), w.array(m, m)
	l.Kernel(sub, ks, theta, z, z, kzz)
	l.Copy(sub, lzz, kzz)
	l.AddJitter(sub, lzz, device.Jitter{Relative: 1e-3}, factor)
	l.Cholesky(sub, lzz, info)
	l.KernelGrad(sub, ks, theta, z, z, kzz, w.random(m, m), grad)
	kzx, a, ca, bar := w.array(m, n), w.array(m, n), w.array(m, n), w.random(m, n)
	mean, b, r, kdiag, mu, v := w.random(m, 1), w.array(m, 1), w.array(1, n), w.array(1, n), w.array(1, n), w.array(1, n)
	for _, d := range []device.Data{data, scaled} {
		rows := device.Points{Data: d, From: m, To: m + n}
		l.Kernel(sub, ks, theta, z, rows, kzx)
		l.KernelGrad(sub, ks, theta, z, rows, kzx, bar, grad)
		l.KernelDiag(sub, ks, theta, rows, kdiag)
		l.Copy(sub, a, kzx)
		l.Solve(sub, false, lzz, a)
		l.Syrk(sub, 1, a, 1, q)
		l.MulTargets(sub, 1, a, rows, 1, b)
		l.Residual(sub, rows, kzx, mean, r)
	}
	inputs := w.array(m, dim)
	l.KernelInputGrad(sub, ks, theta, z, device.Points{Data: data, From: m, To: m + n}, bar, inputs)
	l.MulLower(sub, true, lzz, a, ca)
	l.Predict(sub, a, ca, mean, kdiag, mu, v)
	l.Gemm(sub, false, false, 1, q, kzx, 0, ca)
	l.BarKzx(sub, ks, theta, mean, r, ca)
	l.ABar(sub, ks, theta, 1000, mean, r, a, ca)
	l.Weight(sub, ks, theta, 10, 5, 0.5, ca)
	l.Precision(sub, ks, theta, 1, q, prec)
	l.Cholesky(sub, prec, info)
	work := w.random(m, m)
	l.SolveBoth(sub, prec, work)
	l.GemmLower(sub, false, true, -0.5, a, ca, q)
	l.AddScaled(sub, q, 0.3, work)
	l.Dot(sub, q, work, value)
	l.Sum(sub, true, kzx, value)
	gradM, gradC, first, second := w.array(m, 1), w.array(m, m), w.array(m, m), w.array(m, m)
	l.GaussKL(sub, mean, prec, value, gradM, gradC)
	l.AdamLower(sub, 1, 0.1, prec, gradC, first, second)
	l.Adam(sub, 2, 0.1, nil, kzx, bar, w.array(m, n), w.array(m, n))
	must.OK(t, l.Sync())
	var out [][]float64
	for _, a := range w.made {
		_, rows, cols := a.Shape()
		content := make([]float64, rows*cols)
		must.OK(t, l.Read(a, 0, content))
		out = append(out, content)
	}
	return out
}

// TestCoresChangeNoBit runs operations on lanes that may have more cores than one.
func TestCoresChangeNoBit(t *testing.T) {
	for level := simd.Portable; level <= simd.Best(); level++ {
		for _, c := range []struct {
			expr      string
			dim, m, n int
		}{
			{"PER*RQ+SE", 1, 203, 331},
			{"CP(LIN*MATERN32[;ard],SE+PER[2])", 2, 67, 1001},
		} {
			want := results(t, cpu.Options{Lanes: 1, Level: level}, c.expr, c.dim, c.m, c.n)
			counts := []int{2, 3, 7}
			if level != simd.Best() { // slow
				counts = counts[1:2]
			}
			for _, cores := range counts {
				got := results(t, cpu.Options{Lanes: 1, Team: cpu.NewTeam(cores), Level: level}, c.expr, c.dim, c.m, c.n)
				for i := range want {
					if j := differ(got[i], want[i]); j >= 0 {
						t.Fatalf("%s, %s, %d cores: entry %d of array %d is %v, on one core %v",
							level, c.expr, cores, j, i, got[i][j], want[i][j])
					}
				}
			}
		}
	}
}

// differ returns the first place where bits differ, −1 for none.
func differ(a, b []float64) int {
	for i := range a {
		if math.Float64bits(a[i]) != math.Float64bits(b[i]) {
			return i
		}
	}
	return -1
}

// BenchmarkCores has operations on one core and on two.
func BenchmarkCores(b *testing.B) {
	for _, size := range [][2]int{{200, 128}, {800, 128}, {800, 1024}} {
		m, n := size[0], size[1]
		for _, cores := range []int{1, 2} {
			s := newBench(b, "PER*RQ+SE", 1, m, n)
			s.l = cpu.New(cpu.Options{Lanes: 1, Team: cpu.NewTeam(cores)}).Lane(0)
			s.ks = of(s.l.NewKernels(s.programs))(b)
			l, sub := s.l, s.sub
			kzz, kzx, a, bar, square := s.array(m, m), s.array(m, n), s.random(m, n), s.random(m, n), s.random(m, m)
			factor, q, work, x := s.array(m, m), s.array(m, m), s.array(m, m), s.array(m, n)
			mean, row, info := s.random(m, 1), s.random(1, n), s.array(1, 1)
			l.Kernel(sub, s.ks, s.theta, s.z, s.z, kzz)
			l.AddDiagonal(sub, kzz, 1)
			l.Copy(sub, factor, kzz)
			l.Cholesky(sub, factor, info)
			first, second := s.array(m, m), s.array(m, m)
			mu, v := s.array(1, n), s.array(1, n)
			for _, o := range []struct {
				name string
				do   func()
			}{
				{"Kernel", func() { l.Kernel(sub, s.ks, s.theta, s.z, s.x, kzx) }},
				{"KernelZZ", func() { l.Kernel(sub, s.ks, s.theta, s.z, s.z, q) }},
				{"KernelGrad", func() { l.KernelGrad(sub, s.ks, s.theta, s.z, s.x, kzx, bar, s.gradTheta) }},
				{"KernelGradZZ", func() { l.KernelGrad(sub, s.ks, s.theta, s.z, s.z, kzz, square, s.gradTheta) }},
				{"Copy", func() { l.Copy(sub, work, kzz) }},
				{"Cholesky", func() { l.Copy(sub, work, kzz); l.Cholesky(sub, work, info) }},
				{"Solve", func() { l.Copy(sub, x, a); l.Solve(sub, false, factor, x) }},
				{"SolveT", func() { l.Copy(sub, x, a); l.Solve(sub, true, factor, x) }},
				{"SolveBoth", func() { l.Copy(sub, work, kzz); l.SolveBoth(sub, factor, work) }},
				{"SolveVector", func() { l.Solve(sub, true, factor, mean) }},
				{"Syrk", func() { l.Syrk(sub, 1, a, 0, q) }},
				{"GemmLower", func() { l.GemmLower(sub, false, true, 1, a, bar, q) }},
				{"MulLower", func() { l.MulLower(sub, true, factor, a, x) }},
				{"Gemm", func() { l.Gemm(sub, false, false, 1, square, a, 0, x) }},
				{"AddScaled", func() { l.AddScaled(sub, work, 1e-3, square) }},
				{"ABar", func() { l.ABar(sub, s.ks, s.theta, 1, mean, row, a, x) }},
				{"Predict", func() { l.Predict(sub, a, bar, mean, row, mu, v) }},
				{"GaussKL", func() { l.GaussKL(sub, mean, factor, info, nil, work) }},
				{"AdamLower", func() { l.AdamLower(sub, 1, 0, work, square, first, second) }},
			} {
				b.Run(fmt.Sprintf("%dx%d/%s/%d", m, n, o.name, cores), func(b *testing.B) {
					for b.Loop() {
						o.do()
					}
				})
			}
		}
	}
}
