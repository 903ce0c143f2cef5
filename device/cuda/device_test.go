//go:build cuda

package cuda_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"

	"example.com/kestrel/device"
	"example.com/kestrel/device/conformance"
	"example.com/kestrel/device/cpu"
	"example.com/kestrel/device/cuda"
	"example.com/kestrel/device/cuda/driver"
	"example.com/kestrel/device/cuda/driver/fake"
	"example.com/kestrel/device/cuda/source"
	"example.com/kestrel/device/trial"
	"example.com/kestrel/kernelspace"
)

func compile(t *testing.T, dim int, list ...string) []*kernelspace.Program {
	t.Helper()
	programs, err := trial.Compile(dim, list...)
	if err != nil {
		t.Fatal(err)
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
	generatedBits(t)
}

func generatedBits(t *testing.T) {
	m := trial.Matrices{Programs: compile(t, 3, trial.Forms...), Rows: 40, Cols: 50, Inputs: true}
	var both []*trial.Computed
	for _, g := range []cuda.Generate{cuda.GenerateAlways, cuda.GenerateNever} {
		c, err := m.Compute(open(t, cuda.Options{Generate: g}))
		if err != nil {
			t.Fatal(err)
		}
		both = append(both, c)
	}
	if err := both[0].Same(both[1]); err != nil {
		t.Fatal(err)
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

// TestUnfitCard checks that a card without the shared memory that the kernels need
// is refused with a reason, and left out where there are others.
func TestUnfitCard(t *testing.T) {
	for _, o := range []fake.Options{{Arch: 75, Shared: 60 << 10}, {Arch: 61, Shared: 64 << 10}} {
		pretend(t, o)
		_, err := cuda.Open(cuda.Options{Generate: cuda.GenerateNever})
		if !errors.Is(err, cuda.ErrUnfit) || !strings.Contains(err.Error(), "fake card 0") ||
			!strings.Contains(err.Error(), "7.0 and later with 63 KiB") {
			t.Errorf("capability %d: %v", o.Arch, err)
		}
		o.Cards, o.OddCard = 2, 1
		pretend(t, o)
		dev := open(t, cuda.Options{Generate: cuda.GenerateNever})
		if info := dev.Info(); info.Lanes != 1 || !strings.Contains(info.Details, "fake card 0) left out") {
			t.Errorf("capability %d beside a sound card: %+v", o.Arch, info)
		}
		if _, err := cuda.Open(cuda.Options{Cards: []int{0}}); !errors.Is(err, cuda.ErrUnfit) {
			t.Errorf("capability %d, asked for: %v", o.Arch, err)
		}
	}
}

// TestNarrowCard checks factorisations and solves of a card with 64 KiB of shared memory, which the
// fake driver does not let a block exceed.
func TestNarrowCard(t *testing.T) {
	pretend(t, fake.Options{Arch: 75, Shared: 64 << 10})
	dev := open(t, cuda.Options{Generate: cuda.GenerateNever})
	factors := func(part string) bool {
		return slices.Contains([]string{"Cholesky", "CholeskyFailure", "Solve", "SolveBoth", "Inverse", "SVGP"}, part)
	}
	if err := conformance.Check(t.Context(), dev, factors, nil); err != nil {
		t.Error(err)
	}
}

// TestShapesBeyond32Bits checks that what the kernels cannot count is refused.
func TestShapesBeyond32Bits(t *testing.T) {
	pretend(t, fake.Options{})
	l := open(t, cuda.Options{Generate: cuda.GenerateNever}).Lane(0)
	for _, shape := range [][3]int{{1, 1 << 16, 1 << 15}, {1, 1, 1<<31 - 1}, {1, 1 << 40, 1 << 40}, {1 << 16, 1, 1}} {
		if _, err := l.NewArray(shape[0], shape[1], shape[2]); err == nil || !strings.Contains(err.Error(), "too large for a card") {
			t.Errorf("shape %v: %v", shape, err)
		}
	}
	a, err := l.NewArray(1, 2, 2)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if recover() == nil {
			t.Error("a shape of 2^64 entries is taken for one of none")
		}
	}()
	a.Reshape(1<<32, 1<<32)
}

// TestDataComesLater checks that data which found no room when they were first
// read are copied when they are read again.
func TestDataComesLater(t *testing.T) {
	pretend(t, fake.Options{Memory: 8 << 20})
	dev := open(t, cuda.Options{Generate: cuda.GenerateNever})
	l := dev.Lane(0)
	const n = 1 << 18 // 2 MiB
	x, y := make([]float64, n), make([]float64, n)
	for i := range y {
		y[i] = float64(i % 7)
	}
	a, err := l.NewArray(1, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	out, err := l.NewArray(1, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	l.Write(a, 0, []float64{1, 10})
	full, err := l.NewArray(1, 9<<10, 64) // 4.5 MiB: room for the inputs only
	if err != nil {
		t.Fatal(err)
	}
	d, err := dev.NewData(x, y, 1)
	if err != nil {
		t.Fatal(err)
	}
	rows := device.Points{Data: d, From: 2, To: 4}
	var v [1]float64
	l.MulTargets([]int{0}, 1, a, rows, 0, out)
	if err := l.Read(out, 0, v[:]); !errors.Is(err, device.ErrOutOfMemory) {
		t.Fatalf("the targets found room: %v", err)
	}
	l.Free(full)
	l.MulTargets([]int{0}, 1, a, rows, 0, out)
	if err := l.Read(out, 0, v[:]); err != nil || v[0] != 2+30 {
		t.Errorf("afterwards: %v, %v", v, err)
	}
}

// TestArgumentsStay checks that what an operation reads is not collected when it
// makes room for itself, though nobody else holds it any more.
func TestArgumentsStay(t *testing.T) {
	programs := compile(t, 1, "SE+PER")
	const n, m = 3000, 40
	gradient := func(full bool) []float64 {
		pretend(t, fake.Options{Memory: 8 << 20})
		dev := open(t, cuda.Options{Generate: cuda.GenerateNever})
		l := dev.Lane(0)
		ks, err := l.NewKernels(programs)
		if err != nil {
			t.Fatal(err)
		}
		array := func(rows, cols int) device.Array {
			a, err := l.NewArray(1, rows, cols)
			if err != nil {
				t.Fatal(err)
			}
			return a
		}
		theta, grad, sub := array(1, ks.Params()), array(1, ks.Params()), []int{0}
		l.Fill(sub, theta, 1.5)
		d, err := dev.NewData(normal(rand.New(rand.NewPCG(4, 4)), n), nil, 1)
		if err != nil {
			t.Fatal(err)
		}
		z, x, k, bar := device.Points{Data: d, To: m}, device.All(d), array(m, n), array(m, n)
		l.Kernel(sub, ks, theta, z, x, k)
		l.Fill(sub, bar, 0.25)
		var held []device.Array
		for size := 1 << 16; full && size > 8; size /= 2 {
			for {
				a, err := l.NewArray(1, 1, size)
				if err != nil {
					break
				}
				held = append(held, a)
			}
		}
		runtime.KeepAlive(held)
		l.KernelGrad(sub, ks, theta, z, x, k, bar, grad)
		out := make([]float64, ks.Params())
		if err := l.Read(grad, 0, out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	if got, want := gradient(true), gradient(false); !slices.Equal(got, want) || want[0] == 0 {
		t.Errorf("on a full card the gradient is %v, want %v", got, want)
	}
}

// TestRefusedStructures checks that code which the compiler refuses is left to the
// interpreter, with the other modules as they are.
func TestRefusedStructures(t *testing.T) {
	pretend(t, fake.Options{Refuse: "// MATERN12"})
	var list []string
	for c := range 12 {
		list = append(list, fmt.Sprintf("LIN[%d]", c%6+1)) // six structures
	}
	list = append(list[:6], "CONST", "WN", "POLY2[1]", "POLY2[2]", "POLY2[3]", "POLY2[4]", "MATERN12", "SE")
	programs := compile(t, 6, list...)
	run := func(g cuda.Generate) []float64 {
		dev := open(t, cuda.Options{Generate: g})
		l := dev.Lane(0)
		ks, err := l.NewKernels(programs)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.NewKernels(programs); err != nil { // another batch, of which nothing new is to be told
			t.Fatal(err)
		}
		told := dev.Notices()
		if g == cuda.GenerateNever && len(told) > 0 {
			t.Errorf("where the interpreter is asked for: notices %q", told)
		}
		if g == cuda.GenerateAuto {
			if len(told) != 1 || !strings.Contains(told[0], "refused") || !strings.Contains(dev.Info().Details, told[0]) {
				t.Errorf("notices %q, details %q", told, dev.Info().Details)
			}
			if again := dev.Notices(); len(again) > 0 {
				t.Errorf("told again: %q", again)
			}
		}
		d, err := dev.NewData(normal(rand.New(rand.NewPCG(4, 4)), 60), nil, 6)
		if err != nil {
			t.Fatal(err)
		}
		theta, err := l.NewArray(len(programs), 1, ks.Params())
		if err != nil {
			t.Fatal(err)
		}
		k, err := l.NewArray(len(programs), 10, 10)
		if err != nil {
			t.Fatal(err)
		}
		var sub []int
		for i := range programs {
			sub = append(sub, i)
		}
		l.Fill(sub, theta, 1.5)
		l.Kernel(sub, ks, theta, device.All(d), device.All(d), k)
		out := make([]float64, 100*len(programs))
		for i := range programs {
			if err := l.Read(k, i, out[100*i:][:100]); err != nil {
				t.Fatal(err)
			}
		}
		return out
	}
	if got, want := run(cuda.GenerateAuto), run(cuda.GenerateNever); !slices.Equal(got, want) {
		t.Error("other values where the compiler refuses a structure")
	}
	l := open(t, cuda.Options{Generate: cuda.GenerateAlways}).Lane(0)
	if _, err := l.NewKernels(programs[12:]); err == nil || !strings.Contains(err.Error(), "refused") {
		t.Errorf("where code must be generated: %v", err)
	}
}

// fakeLibrary is the file of what the fake driver runs for the library.
func fakeLibrary(t *testing.T) string {
	t.Helper()
	c, err := driver.OpenCompiler(0)
	if err != nil {
		t.Fatal(err)
	}
	object, err := c.Compile("kestrel.cu", source.Library(), "sm_90", source.Options...)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Trim(strings.TrimPrefix(string(object.Code), "KESTREL-FAKE-MODULE "), "\x00\n")
}

// TestImage checks that where there is no compiler the library compiled beforehand
// serves, with the interpreter, on old cards and new ones; with -short on the oldest and the newest.
func TestImage(t *testing.T) {
	pretend(t, fake.Options{})
	path := fakeLibrary(t)
	archs := []int{70, 86, 90, 100}
	if testing.Short() {
		archs = []int{70, 100}
	}
	for _, arch := range archs {
		cmd := exec.Command(os.Args[0], "-test.run=^TestChildImage$", "-test.v", "-test.count=1")
		cmd.Env = append(os.Environ(), imageVariable+"=1", "KESTREL_FAKE_PTX="+path, fmt.Sprintf("KESTREL_FAKE_ARCH=%d", arch),
			driver.NVRTCVariable+"=/nowhere/libnvrtc.so")
		if out, err := cmd.CombinedOutput(); err != nil || !bytes.Contains(out, []byte("--- PASS: TestChildImage")) {
			t.Errorf("capability %d: %v\n%s", arch, err, out)
		}
	}
}

// TestRefusedLibrary checks that a compiler which is there and of no use does not
// keep the program from the card, and is told of.
func TestRefusedLibrary(t *testing.T) {
	pretend(t, fake.Options{})
	path := fakeLibrary(t)
	pretend(t, fake.Options{Refuse: "interpret_forward", PTX: path})
	t.Setenv("XDG_CACHE_HOME", t.TempDir()) // without what other tests have compiled
	if _, err := cuda.Open(cuda.Options{Generate: cuda.GenerateAlways}); err == nil || !strings.Contains(err.Error(), "refused") {
		t.Errorf("where code must be generated: %v", err)
	}
	dev := open(t, cuda.Options{})
	if told := dev.Notices(); len(told) != 1 || !strings.Contains(told[0], "refused") {
		t.Errorf("notices %q", told)
	}
	l := dev.Lane(0)
	a, err := l.NewArray(1, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	var v [1]float64
	l.Fill([]int{0}, a, 2.5)
	if err := l.Read(a, 0, v[:]); err != nil || v[0] != 2.5 {
		t.Errorf("%g, %v", v[0], err)
	}
}

const imageVariable = "KESTREL_TEST_IMAGE"

// TestChildImage runs in a process of its own, where no compiler is loaded, with
// the parent's fake driver.
func TestChildImage(t *testing.T) {
	if os.Getenv(imageVariable) == "" {
		t.Skip("runs in a process of its own")
	}
	programs := compile(t, 1, "SE+PER*LIN", "RQ")
	run := func(dev device.Device) []float64 {
		l := dev.Lane(0)
		ks, err := l.NewKernels(programs)
		if err != nil {
			t.Fatal(err)
		}
		d, err := dev.NewData([]float64{-1, 0.25, 2}, nil, 1)
		if err != nil {
			t.Fatal(err)
		}
		theta, err := l.NewArray(2, 1, ks.Params())
		if err != nil {
			t.Fatal(err)
		}
		k, err := l.NewArray(2, 3, 3)
		if err != nil {
			t.Fatal(err)
		}
		l.Fill([]int{0, 1}, theta, 1.5)
		l.Kernel([]int{0, 1}, ks, theta, device.All(d), device.All(d), k)
		out := make([]float64, 18)
		for i := range 2 {
			if err := l.Read(k, i, out[9*i:][:9]); err != nil {
				t.Fatal(err)
			}
		}
		return out
	}
	if _, err := driver.OpenCompiler(0); !errors.Is(err, driver.ErrNoCompiler) {
		t.Fatalf("there is a compiler: %v", err)
	}
	dev := open(t, cuda.Options{})
	if told := dev.Notices(); len(told) != 1 || !strings.Contains(told[0], "no CUDA compiler") {
		t.Errorf("notices %q", told)
	}
	got, want := run(dev), run(cpu.New(cpu.Options{Lanes: 1}))
	for i := range want {
		if math.Abs(got[i]-want[i]) > 1e-13*math.Abs(want[i]) {
			t.Fatalf("entry %d is %.17g, on the CPU %.17g", i, got[i], want[i])
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

// TestCholeskyPanels: where a panel's rows below are more blocks than run at once the triangle is
// factored in a launch of its own; factor, failure and bits are those of a matrix alone.
func TestCholeskyPanels(t *testing.T) {
	pretend(t, fake.Options{}) // four multiprocessors
	l := open(t, cuda.Options{Generate: cuda.GenerateNever}).Lane(0)
	const n, count = 200, 4
	var bad = []int{1, 150} // of member 1 the pivot 150 fails
	factored := func(members []int) (launches int, all [][]float64) {
		a, err := l.NewArray(len(members), n, n)
		if err != nil {
			t.Fatal(err)
		}
		info, err := l.NewArray(len(members), 1, 1)
		if err != nil {
			t.Fatal(err)
		}
		var sub []int
		for i, k := range members {
			x := make([]float64, n*n)
			for r := range n {
				for c := range r + 1 {
					x[r*n+c] = math.Cos(float64(k+1)*float64(r-c)) / float64(1+r-c)
				}
				x[r*n+r] += 3
			}
			if k == bad[0] {
				x[bad[1]*n+bad[1]] = -1
			}
			l.Write(a, i, x)
			sub = append(sub, i)
		}
		before := cuda.Launches(l)
		l.Cholesky(sub, a, info)
		launches = cuda.Launches(l) - before
		for i := range members {
			out := make([]float64, n*n+1)
			if err := errors.Join(l.Read(a, i, out[:n*n]), l.Read(info, i, out[n*n:])); err != nil {
				t.Fatal(err)
			}
			all = append(all, out)
		}
		return launches, all
	}
	launches, together := factored([]int{0, 1, 2, 3})
	if want := 3 + 2 + 3 + 1; launches != want { // products, two for the first panel, the other panels, the end
		t.Errorf("%d launches of %d matrices, want %d", launches, count, want)
	}
	for k, got := range together {
		launches, alone := factored([]int{k})
		if want := 3 + 4 + 1; launches != want {
			t.Errorf("%d launches of a matrix alone, want %d", launches, want)
		}
		if !slices.Equal(got, alone[0]) {
			t.Errorf("matrix %d: other bits among %d than alone", k, count)
		}
		want := 0.0
		if k == bad[0] {
			want = float64(bad[1] + 1)
		}
		if got[n*n] != want {
			t.Errorf("matrix %d: info %g, want %g", k, got[n*n], want)
		}
	}
}
