//go:build cuda

package cuda_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"example.com/kestrel/device"
	"example.com/kestrel/device/cpu"
	"example.com/kestrel/device/cuda"
	"example.com/kestrel/device/devicetest"
	"example.com/kestrel/device/trial"
	"example.com/kestrel/kernelspace"
)

// cardVariable set to 1 lets the tests and benchmarks of this file use a real
// card. They must run in a process of their own, since the others' fake driver
// stays:
//
//	KESTREL_TEST_CARD=1 go test -tags cuda -run TestCard -bench Card ./device/cuda
const cardVariable = "KESTREL_TEST_CARD"

// definesVariable holds further options of the compiler for the benchmarks, to
// compare variants of the sources on a card:
//
//	KESTREL_TEST_DEFINES=-DRESIDENT=3
const definesVariable = "KESTREL_TEST_DEFINES"

func needCard(t testing.TB) {
	t.Helper()
	if os.Getenv(cardVariable) != "1" {
		t.Skipf("no card: %s is not 1", cardVariable)
	}
}

// TestCard runs the suite on the cards of this machine, by generated code and by
// the interpreter; and checks that both give the same bits, since the number of
// modules in a batch decides which of them runs, and agree with the CPU.
func TestCard(t *testing.T) {
	needCard(t)
	t.Run("bits", generatedBits)
	for name, g := range map[string]cuda.Generate{"generated": cuda.GenerateAlways, "interpreted": cuda.GenerateNever} {
		t.Run("agreement/"+name, func(t *testing.T) { agreesWithCPU(t, g) })
	}
	t.Run("small", smallSteps)
	for name, g := range map[string]cuda.Generate{"auto": cuda.GenerateAuto, "generated": cuda.GenerateAlways,
		"interpreted": cuda.GenerateNever} {
		t.Run(name, func(t *testing.T) {
			devicetest.Run(t, func() (device.Device, error) { return cuda.Open(cuda.Options{Generate: g}) })
		})
	}
}

// smallSteps makes some steps at once at sizes up to the largest, few enough that
// tools which look at every access to memory get through.
func smallSteps(t *testing.T) {
	dev, reference := open(t, cuda.Options{Generate: cuda.GenerateNever}), cpu.New(cpu.Options{Lanes: 1})
	programs := compile(t, 1, "SE", "PER*LIN*RQ", "(PER+RQ)*LIN")
	for _, size := range [][2]int{{1, 1}, {5, 7}, {16, 32}, {32, 64}} {
		for _, natural := range []bool{false, true} {
			a, err := trial.Agree(t.Context(), dev, reference, trial.Steps{
				Programs: programs, Inducing: size[0], Batch: size[1], Rows: 100, Count: 3, Jitter: 1e-5, Natural: natural,
			})
			if err != nil || !a.Leaps {
				t.Errorf("%d inducing inputs, %d rows, natural: %v: at once: %v, %v", size[0], size[1], natural, a.Leaps, err)
			}
		}
	}
}

// BenchmarkCard times operations on K144 at the sizes of the workloads a, b and
// c, a batch of all kernels at a time.
func BenchmarkCard(b *testing.B) {
	needCard(b)
	dev, err := cuda.Open(cuda.Options{Defines: strings.Fields(os.Getenv(definesVariable))})
	if err != nil {
		b.Fatal(err)
	}
	defer dev.Close()
	b.Log(dev.Info().Details)
	exprs, err := kernelspace.Set("K144")
	if err != nil {
		b.Fatal(err)
	}
	var programs []*kernelspace.Program
	var sub []int
	for k, e := range exprs {
		p, err := kernelspace.Compile(e, kernelspace.Options{Dim: 1})
		if err != nil {
			b.Fatal(err)
		}
		programs, sub = append(programs, p), append(sub, k)
	}
	l := dev.Lane(0)
	ks, err := l.NewKernels(programs)
	if err != nil {
		b.Fatal(err)
	}
	x := normal(rand.New(rand.NewPCG(1, 1)), 4000)
	d, err := dev.NewData(x, x, 1)
	if err != nil {
		b.Fatal(err)
	}
	for _, size := range [][2]int{{16, 32}, {200, 128}, {800, 128}} {
		m, n := size[0], size[1]
		array := func(rows, cols int) device.Array {
			a, err := l.NewArray(len(sub), rows, cols)
			if err != nil {
				b.Fatal(err)
			}
			return a
		}
		theta, info, factor := array(1, ks.Params()), array(1, 1), array(1, 1)
		kzz, chol, s, kzx, a, grad := array(m, m), array(m, m), array(m, m), array(m, n), array(m, n), array(1, ks.Params())
		l.Fill(sub, theta, 1)
		l.Fill(sub, factor, 1)
		z, rows := device.Points{Data: d, To: m}, device.Points{Data: d, From: 2000, To: 2000 + n}
		l.Kernel(sub, ks, theta, z, z, kzz)
		l.AddDiagonal(sub, kzz, 1)
		l.Copy(sub, chol, kzz)
		l.Cholesky(sub, chol, info)
		l.Kernel(sub, ks, theta, z, rows, kzx)
		f, g := float64(m), float64(n)
		for _, o := range []struct {
			name  string
			flops float64 // of a member; 0: not counted
			run   func()
		}{
			{"launch", 0, func() { l.Fill(sub, info, 0) }},
			{"Gemm", 2 * f * f * g, func() { l.Gemm(sub, false, false, 1, kzz, kzx, 0, a) }},
			{"GemmLower", f * f * g, func() { l.GemmLower(sub, false, true, 1, kzx, kzx, s) }},
			{"Cholesky", f * f * f / 3, func() { l.Copy(sub, s, kzz); l.Cholesky(sub, s, info) }},
			{"Solve", f * f * g, func() { l.Solve(sub, false, chol, a) }},
			{"SolveBoth", 4.0 / 3 * f * f * f, func() { l.SolveBoth(sub, chol, s) }},
			{"Kernel", 0, func() { l.Kernel(sub, ks, theta, z, rows, kzx) }},
			{"KernelSymmetric", 0, func() { l.Kernel(sub, ks, theta, z, z, s) }},
			{"KernelGrad", 0, func() { l.KernelGrad(sub, ks, theta, z, rows, kzx, a, grad) }},
			{"KernelGradSymmetric", 0, func() { l.KernelGrad(sub, ks, theta, z, z, kzz, s, grad) }},
		} {
			b.Run(fmt.Sprintf("%s/M=%d", o.name, m), func(b *testing.B) {
				for range b.N {
					o.run()
				}
				if err := l.Sync(); err != nil {
					b.Fatal(err)
				}
				if o.flops > 0 {
					b.ReportMetric(o.flops*float64(len(sub))*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOPS")
				}
			})
		}
		l.Free(theta, info, factor, kzz, chol, s, kzx, a, grad)
	}
}

// BenchmarkCardReads copies the matrices of K144 at c from the card, as the end
// of an evaluation does: into memory of their own, while that of the time before
// is still held, and into what was used before.
func BenchmarkCardReads(b *testing.B) {
	needCard(b)
	dev, err := cuda.Open(cuda.Options{Generate: cuda.GenerateNever})
	if err != nil {
		b.Fatal(err)
	}
	defer dev.Close()
	const count, m = 144, 800
	l := dev.Lane(0)
	a, err := l.NewArray(count, m, m)
	if err != nil {
		b.Fatal(err)
	}
	for _, fresh := range []bool{true, false} {
		b.Run(fmt.Sprintf("fresh=%v", fresh), func(b *testing.B) {
			b.SetBytes(8 * count * m * m)
			var before [][]float64
			for range b.N {
				now := before
				if fresh || now == nil {
					now = make([][]float64, count)
				}
				for k := range now {
					if fresh || now[k] == nil {
						now[k] = make([]float64, m*m)
					}
					if err := l.Read(a, k, now[k]); err != nil {
						b.Fatal(err)
					}
				}
				before = now
			}
		})
	}
}
