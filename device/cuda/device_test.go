//go:build cuda

package cuda_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"kestrel/device"
	"kestrel/device/cuda"
	"kestrel/device/cuda/driver"
	"kestrel/device/cuda/driver/fake"
	"kestrel/kernelspace"
)

func compile(t *testing.T, dim int, list ...string) []*kernelspace.Program {
	t.Helper()
	var programs []*kernelspace.Program
	for _, s := range list {
		e, err := kernelspace.Parse(s)
		if err != nil {
			t.Fatal(err)
		}
		p, err := kernelspace.Compile(e, kernelspace.Options{Dim: dim})
		if err != nil {
			t.Fatal(err)
		}
		programs = append(programs, p)
	}
	return programs
}

func normal(r *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = r.NormFloat64()
	}
	return x
}

// TestGeneratedBits checks that generated code and the interpreter give the same
// bits, for matrices, gradients by parameters and by inputs: which of them
// runs must not decide a result.
func TestGeneratedBits(t *testing.T) {
	pretend(t, fake.Options{})
	programs := compile(t, 3, "PER*LIN*RQ", "(PER[1]+RQ[2,3;ard])*LIN[;ard]+POLY2[2]", "MATERN12[;ard]+WN", "MATERN32*COS[2]", "MATERN52[1]*POLY3[;ard]+CONST", "SE[;ard]")
	r := rand.New(rand.NewPCG(5, 5))
	x := normal(r, 90*3)
	const rows, cols = 40, 50
	bars := normal(r, len(programs)*cols*cols)
	theta := make([][]float64, len(programs))
	for k, p := range programs {
		theta[k] = make([]float64, len(p.Params))
		for i := range theta[k] {
			theta[k][i] = 0.5 + r.Float64()
		}
	}
	run := func(g cuda.Generate) []float64 {
		dev := open(t, cuda.Options{Generate: g})
		l := dev.Lane(0)
		ks, err := l.NewKernels(programs)
		if err != nil {
			t.Fatal(err)
		}
		d, err := dev.NewData(x, nil, 3)
		if err != nil {
			t.Fatal(err)
		}
		array := func(rows, cols int) device.Array {
			a, err := l.NewArray(len(programs), rows, cols)
			if err != nil {
				t.Fatal(err)
			}
			return a
		}
		th, sub := array(1, ks.Params()), []int{}
		for k := range programs {
			full := make([]float64, ks.Params())
			copy(full, theta[k])
			l.Write(th, k, full)
			sub = append(sub, k)
		}
		a := device.Points{Data: d, To: rows}
		var out []float64
		for _, b := range []device.Points{a, {Data: d, From: rows, To: rows + cols}} {
			m, bar := array(rows, b.Len()), array(rows, b.Len())
			grad, inputs, diag := array(1, ks.Params()), array(rows, 3), array(1, rows)
			for k := range programs {
				l.Write(bar, k, bars[k*rows*b.Len():(k+1)*rows*b.Len()])
			}
			l.Kernel(sub, ks, th, a, b, m)
			l.KernelGrad(sub, ks, th, a, b, m, bar, grad)
			l.KernelInputGrad(sub, ks, th, a, b, bar, inputs)
			l.KernelDiag(sub, ks, th, a, diag)
			for _, x := range []device.Array{m, grad, inputs, diag} {
				_, r, c := x.Shape()
				v := make([]float64, r*c)
				for k := range programs {
					if err := l.Read(x, k, v); err != nil {
						t.Fatal(err)
					}
					out = append(out, v...)
				}
			}
		}
		return out
	}
	got, want := run(cuda.GenerateAlways), run(cuda.GenerateNever)
	if i := slices.IndexFunc(got, func(v float64) bool { return v != 0 }); i < 0 {
		t.Fatal("all results are 0")
	}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("result %d is %.17g by generated code, %.17g by the interpreter", i, got[i], want[i])
		}
	}
}

// TestOutOfMemory checks that arrays that do not fit are refused, and that what
// was given back, or is no longer reachable, can be had again.
func TestOutOfMemory(t *testing.T) {
	pretend(t, fake.Options{Memory: 64 << 20})
	l := open(t, cuda.Options{Generate: cuda.GenerateNever}).Lane(0)
	if _, err := l.NewArray(1000, 100, 100); !errors.Is(err, driver.ErrOutOfMemory) {
		t.Fatalf("80 MB of 64 MiB: %v", err)
	}
	for i := range 6 {
		a, err := l.NewArray(6, 1000, 1000) // 48 MB: only one at a time
		if err != nil {
			t.Fatalf("array %d: %v", i, err)
		}
		if i%2 == 0 {
			l.Free(a)
		}
	}
	a, err := l.NewArray(1, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	var v [1]float64
	if err := l.Read(a, 0, v[:]); err != nil || v[0] != 0 {
		t.Fatalf("after that: %v, %v", v, err)
	}
}

// TestLostCard checks that a launch that fails is told by the next Sync or Read,
// and that all later ones say so, too.
func TestLostCard(t *testing.T) {
	pretend(t, fake.Options{Cards: 2, FailAt: 3, FailCard: 2})
	dev := open(t, cuda.Options{Generate: cuda.GenerateNever})
	for i := range 2 {
		l := dev.Lane(i)
		a, err := l.NewArray(2, 4, 4)
		if err != nil {
			t.Fatal(err)
		}
		for range 4 {
			l.Fill([]int{0, 1}, a, 1)
		}
		err = l.Sync()
		if lost := errors.Is(err, driver.ErrLost); lost != (i == 1) {
			t.Errorf("lane %d: Sync returns %v", i, err)
		}
		v := make([]float64, 16)
		err = l.Read(a, 0, v)
		if lost := errors.Is(err, driver.ErrLost); lost != (i == 1) {
			t.Errorf("lane %d: Read returns %v", i, err)
		}
	}
}

// TestTooLarge checks that a program beyond the interpreter's limits is refused
// with a reason.
func TestTooLarge(t *testing.T) {
	pretend(t, fake.Options{})
	l := open(t, cuda.Options{Generate: cuda.GenerateNever}).Lane(0)
	if _, err := l.NewKernels(compile(t, 70, "SE[;ard]+RQ[;ard]")); err == nil {
		t.Fatal("a program of 143 hyperparameters is accepted")
	} else {
		t.Log(err)
	}
}

// TestWritesAndReads checks writes that are gathered and reads served from
// one copy: in any order, between operations, at a shape smaller than the
// capacity.
func TestWritesAndReads(t *testing.T) {
	pretend(t, fake.Options{})
	l := open(t, cuda.Options{Generate: cuda.GenerateNever}).Lane(0)
	a, err := l.NewArray(5, 3, 4)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 9))
	for _, shape := range [][2]int{{3, 4}, {2, 5}, {1, 1}} {
		a.Reshape(shape[0], shape[1])
		want := make([][]float64, 5)
		for k := range want {
			want[k] = make([]float64, shape[0]*shape[1])
			l.Write(a, k, want[k])
		}
		v := make([]float64, shape[0]*shape[1])
		for range 200 {
			k := r.IntN(5)
			switch r.IntN(4) {
			case 0, 1:
				want[k] = normal(r, len(v))
				l.Write(a, k, want[k])
			case 2:
				l.Fill([]int{k}, a, 7)
				for i := range want[k] {
					want[k][i] = 7
				}
			default:
				if err := l.Read(a, k, v); err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(v, want[k]) {
					t.Fatalf("member %d of %v is %v, want %v", k, shape, v, want[k])
				}
			}
		}
	}
}
