//go:build cuda

package cuda_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"example.com/kestrel/device"
	"example.com/kestrel/device/cpu"
	"example.com/kestrel/device/cuda"
	"example.com/kestrel/device/cuda/driver/fake"
	"example.com/kestrel/device/trial"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks"
)

// TestSmallSteps compares up to 50 steps made at once with the operations of the CPU one by one:
// all base kernels in three columns, priors, limits, bounded and fixed parameters, sizes that
// fill no warp and those that fill all there is. Larger ones are left to the operations.
func TestSmallSteps(t *testing.T) {
	pretend(t, fake.Options{})
	dev, reference := open(t, cuda.Options{Generate: cuda.GenerateNever}), cpu.New(cpu.Options{Lanes: 1})
	programs := append(compile(t, 3, trial.Forms...), known(t)...)
	for _, c := range []struct {
		m, b, count int
		leaps       bool
	}{
		{1, 1, 50, true}, {5, 11, 50, true}, {8, 64, 9, true}, {17, 33, 50, true}, {31, 7, 50, true}, {32, 64, 9, true},
		{33, 8, 3, false}, {8, 65, 3, false},
	} {
		for _, natural := range []bool{false, true} {
			s := trial.Steps{Programs: programs, Inducing: c.m, Batch: c.b, Rows: 200, Count: c.count, Jitter: 1e-4, Priors: true, Natural: natural}
			if testing.Short() {
				s.Count = min(7, c.count)
			}
			name := fmt.Sprintf("M = %d, B = %d, %d steps, natural: %v", c.m, c.b, s.Count, natural)
			a, err := trial.Agree(t.Context(), dev, reference, s)
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if a.Leaps != c.leaps {
				t.Errorf("%s: made at once: %v", name, a.Leaps)
			}
			t.Logf("%s: one by one %.1e apart, at once %.1e", name, a.Stepped, a.AtOnce)
		}
	}
}

// known are kernels of which a period is fixed, other parameters are bounded, and the noise is
// open, fixed or bounded.
func known(t *testing.T) (programs []*kernelspace.Program) {
	t.Helper()
	for _, noise := range []kernelspace.Known{
		{}, {How: kernelspace.Fixed, Value: 0.3}, {How: kernelspace.Bounded, Low: -3, High: -1},
	} {
		p := compile(t, 3, "SE+PER*RQ")[0]
		of := make([]kernelspace.Known, len(p.Params)+1)
		for i, q := range p.Params {
			if q.Name == "period" {
				of[i] = kernelspace.Known{How: kernelspace.Fixed, Value: 2.5}
			} else if q.Free && i%2 == 0 {
				of[i] = kernelspace.Known{How: kernelspace.Bounded, Low: -float64(i+1) / 3, High: 1.5}
			}
		}
		of[len(p.Params)] = noise
		p, err := p.Know(of)
		must.OK(t, err)
		programs = append(programs, p)
	}
	return programs
}

// steps are a run of small steps on a lane, whose arrays hold what a seed gives each kernel.
type steps struct {
	t    *testing.T
	lane device.Lane
	run  device.AdamRun
	b    int
}

const (
	stepRows  = 90
	mostSteps = 100
)

// newSteps places kernels of one column. Where collapsed is set their inducing inputs are
// all the same.
func newSteps(t *testing.T, dev device.Device, programs []*kernelspace.Program, seeds []uint64, m, b int, collapsed bool) *steps {
	t.Helper()
	s := &steps{t: t, lane: dev.Lane(0), b: b}
	r := rand.New(rand.NewPCG(1, 1))
	z := normal(r, m)
	if collapsed {
		clear(z)
	}
	places, err := dev.NewData(z, nil, 1)
	must.OK(t, err)
	train, err := dev.NewData(normal(r, stepRows), normal(r, stepRows), 1)
	must.OK(t, err)
	rows := make([]int32, mostSteps*b)
	for i := range rows {
		rows[i] = int32(r.IntN(stepRows))
	}
	list, err := s.lane.NewIndex(rows)
	must.OK(t, err)
	ks, err := s.lane.NewKernels(programs)
	must.OK(t, err)
	array := func(rows, cols int) device.Array {
		a, err := s.lane.NewArray(len(programs), rows, cols)
		must.OK(t, err)
		return a
	}
	f := ks.Free()
	s.run = device.AdamRun{SmallRun: device.SmallRun{
		Kernels: ks, Z: device.All(places), X: device.Points{Data: train, Index: list, To: b}, Skip: b, N: 1000, Rate: 0.02, Wall: 2,
		NoiseFloor: 1e-3, Jitter: device.Jitter{Relative: 1e-6}, Factor: array(1, 1),
		Free: array(1, f), FreeM1: array(1, f), FreeM2: array(1, f), Stride: array(1, f),
		PriorMean: array(1, f), PriorPrec: array(1, f), Lo: array(1, f), Hi: array(1, f),
		Failed: array(1, 1),
	},
		Mean: array(m, 1), MeanM1: array(m, 1), MeanM2: array(m, 1), Chol: array(m, m), CholM1: array(m, m), CholM2: array(m, m),
		Value: array(1, 1),
	}
	for k, p := range programs {
		r := rand.New(rand.NewPCG(seeds[k], 2))
		// What pads a shorter vector does not draw; the noise is last.
		padded := func(draw func() float64, fill float64) []float64 {
			x := slices.Repeat([]float64{fill}, f)
			for i := range p.Free {
				x[i] = draw()
			}
			x[f-1] = draw()
			return x
		}
		chol := normal(r, m*m)
		for i := range m {
			clear(chol[i*m+i+1 : (i+1)*m])
			chol[i*m+i] += 3
		}
		s.lane.Write(s.run.Free, k, padded(r.NormFloat64, 0))
		s.lane.Write(s.run.Stride, k, padded(r.Float64, 0))
		s.lane.Write(s.run.PriorMean, k, padded(r.NormFloat64, 0))
		s.lane.Write(s.run.PriorPrec, k, padded(r.Float64, 0))
		s.lane.Write(s.run.Lo, k, padded(func() float64 { return -0.5 }, -1e3))
		s.lane.Write(s.run.Hi, k, padded(func() float64 { return 0.5 }, 1e3))
		s.lane.Write(s.run.Mean, k, normal(r, m))
		s.lane.Write(s.run.Chol, k, chol)
		s.lane.Write(s.run.Factor, k, []float64{1})
	}
	return s
}

// make makes steps from the from-th minibatch on.
func (s *steps) make(sub []int, from, count int) {
	s.t.Helper()
	run := s.run
	run.X.From, run.X.To, run.Steps, run.Taken = from*s.b, (from+1)*s.b, count, slices.Repeat([]int{from}, len(sub))
	if !s.lane.(device.SmallSteps).AdamSteps(sub, &run) {
		s.t.Fatal("the lane does not make several steps at once")
	}
}

// makeNatural makes natural steps from the first minibatch on, of which every other one moves θ; Λ
// is in C's first moment, made symmetric, and Λm in that of m.
func (s *steps) makeNatural(sub []int, count int) {
	s.t.Helper()
	run := s.run.SmallRun
	run.Steps, run.Taken = count, make([]int, len(sub))
	s.lane.Syrk(sub, 1, s.run.Chol, 0, s.run.CholM1)
	if !s.lane.(device.SmallSteps).NaturalSteps(sub, &device.NaturalRun{SmallRun: run, Lambda: s.run.CholM1, LambdaM: s.run.MeanM1,
		Seen: make([]float64, len(sub)), Every: 2, Warm: float64(2 * s.b), Least: 0.2}) {
		s.t.Fatal("the lane does not make several natural steps at once")
	}
}

// state is all that the steps leave of kernel k.
func (s *steps) state(k int) []float64 {
	s.t.Helper()
	var all []float64
	r := &s.run
	for _, a := range []device.Array{r.Mean, r.MeanM1, r.MeanM2, r.Chol, r.CholM1, r.CholM2, r.Value, r.Failed} {
		all = append(all, s.read(a, k)...)
	}
	// Of free vectors what does not pad them.
	f := r.Kernels.Free()
	for _, a := range []device.Array{r.Free, r.FreeM1, r.FreeM2} {
		x := s.read(a, k)
		all = append(append(all, x[f-1]), slices.DeleteFunc(x[:f-1], func(v float64) bool { return v == 0 })...)
	}
	return all
}

func (s *steps) read(a device.Array, k int) []float64 {
	s.t.Helper()
	_, rows, cols := a.Shape()
	x := make([]float64, rows*cols)
	must.OK(s.t, s.lane.Read(a, k, x))
	return x
}

func sameBits(x, y []float64) bool {
	return slices.EqualFunc(x, y, func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) })
}

var smallKernels = []string{"SE", "PER*LIN+RQ", "MATERN32+WN"}

// Threads in the opposite order leave the same bits: none reads what another has yet to write.
func TestSmallStepsReversed(t *testing.T) {
	pretend(t, fake.Options{})
	dev := open(t, cuda.Options{Generate: cuda.GenerateNever})
	programs := compile(t, 1, smallKernels...)
	for _, size := range [][2]int{{5, 7}, {16, 32}, {32, 64}} {
		made := func(order string) (all [][]float64) {
			t.Setenv("KESTREL_EMULATE_ORDER", order)
			s := newSteps(t, dev, programs, []uint64{1, 2, 3}, size[0], size[1], false)
			s.make([]int{0, 1, 2}, 0, 5)
			for k := range programs {
				all = append(all, s.state(k))
			}
			s.makeNatural([]int{0, 1, 2}, 6)
			for k := range programs {
				all = append(all, s.state(k))
			}
			return all
		}
		if !slices.EqualFunc(made(""), made("reverse"), sameBits) {
			t.Errorf("sizes %v: other bits where threads run in the opposite order", size)
		}
	}
}

// Not a bit of a kernel's state depends on how many steps are made at once, nor on which kernels
// are beside it; those that are not named stay as they are.
func TestSmallStepsBits(t *testing.T) {
	pretend(t, fake.Options{})
	dev := open(t, cuda.Options{Generate: cuda.GenerateNever})
	programs := compile(t, 1, smallKernels...)
	for _, size := range [][2]int{{5, 7}, {16, 32}} {
		start := func() *steps { return newSteps(t, dev, programs, []uint64{1, 2, 3}, size[0], size[1], false) }
		atOnce, apart := start(), start()
		untouched := atOnce.state(1)
		atOnce.make([]int{0, 2}, 0, 9)
		if !sameBits(atOnce.state(1), untouched) {
			t.Errorf("sizes %v: a kernel that was not named has changed", size)
		}
		atOnce.make([]int{1}, 0, 9)
		for from, count := range []int{0: 1, 1: 2, 3: 6} {
			if count > 0 {
				apart.make([]int{0, 1, 2}, from, count)
			}
		}
		for k := range programs {
			got := atOnce.state(k)
			if !sameBits(got, apart.state(k)) {
				t.Errorf("sizes %v, %s: other bits in several launches", size, smallKernels[k])
			}
			alone := newSteps(t, dev, programs[k:k+1], []uint64{uint64(k + 1)}, size[0], size[1], false)
			alone.make([]int{0}, 0, 9)
			if !sameBits(got, alone.state(0)) {
				t.Errorf("sizes %v, %s: other bits alone", size, smallKernels[k])
			}
			if slices.ContainsFunc(got, math.IsNaN) {
				t.Errorf("sizes %v, %s: not finite: %v", size, smallKernels[k], got)
			}
		}
	}
}

// A matrix that is not positive definite is told as Cholesky tells it, for each step, and leaves
// the other kernels alone.
func TestSmallStepsFail(t *testing.T) {
	pretend(t, fake.Options{})
	dev := open(t, cuda.Options{Generate: cuda.GenerateNever})
	programs := compile(t, 1, smallKernels...) // white noise makes the last one's regular
	const m, b, count = 6, 9, 4
	s := newSteps(t, dev, programs, []uint64{1, 2, 3}, m, b, true)
	s.run.Jitter = device.Jitter{}
	sub := []int{0, 1, 2}
	lane := s.lane
	theta, err := lane.NewArray(3, 1, s.run.Kernels.Params())
	must.OK(t, err)
	k, err := lane.NewArray(3, m, m)
	must.OK(t, err)
	info, err := lane.NewArray(3, 1, 1)
	must.OK(t, err)
	lane.Expand(sub, s.run.Kernels, s.run.NoiseFloor, s.run.Free, theta)
	lane.Kernel(sub, s.run.Kernels, theta, s.run.Z, s.run.Z, k)
	lane.Cholesky(sub, k, info)
	s.make(sub, 0, count)
	for k := range sub {
		want := s.read(info, k)[0]
		if got := s.read(s.run.Failed, k)[0]; (want == 0) != (k == 2) || want != 0 && got < want || want == 0 && got != 0 {
			t.Errorf("%s: %g of %d steps failed, Cholesky of the first one tells %g", smallKernels[k], got, count, want)
		}
	}
	alone := newSteps(t, dev, programs[2:], []uint64{3}, m, b, true)
	alone.run.Jitter = device.Jitter{}
	alone.make([]int{0}, 0, count)
	if !sameBits(s.state(2), alone.state(0)) {
		t.Error("a kernel is not what it is without those that fail")
	}
	once := newSteps(t, dev, programs, []uint64{1, 2, 3}, m, b, true)
	once.run.Jitter = device.Jitter{}
	once.make(sub, 0, 1)
	for k := range sub {
		if got, want := once.read(once.run.Failed, k)[0], s.read(info, k)[0]; got != want {
			t.Errorf("%s: a step tells %g, Cholesky %g", smallKernels[k], got, want)
		}
	}
}

// oneByOne hides that lanes make several steps at once.
type oneByOne struct{ device.Device }

func (d oneByOne) Lane(i int) device.Lane { return struct{ device.Lane }{d.Device.Lane(i)} }

// TestSmallLaunches counts: a step of Adam is 37 launches, a natural one 47 with θ and 11
// without, and any number of them is one; and they lead to the same objective.
func TestSmallLaunches(t *testing.T) {
	pretend(t, fake.Options{})
	dev := open(t, cuda.Options{Generate: cuda.GenerateNever})
	lane := dev.Lane(0)
	counted := func(f func()) int {
		before := cuda.Launches(lane)
		f()
		return cuda.Launches(lane) - before
	}
	programs := compile(t, 1, "SE", "PER*LIN")
	s := newSteps(t, dev, programs, []uint64{1, 2}, 16, 32, false)
	if n := counted(func() { s.make([]int{0, 1}, 0, mostSteps); must.OK(t, lane.Sync()) }); n != 1 {
		t.Errorf("%d steps made at once: %d launches", mostSteps, n)
	}
	r := rand.New(rand.NewPCG(4, 4))
	setup := vbks.StepSetup{Kind: vbks.StepAdam, Programs: programs, Noise: 0.1, X: normal(r, 300), Y: normal(r, 300), Dim: 1,
		Z:    normal(r, 16),
		Mean: make([]float64, 16), Chol: make([]float64, 256), Batch: 32, Jitter: device.Jitter{Relative: 1e-4}, Rate: 0.01, Seed: 1}
	for i := range 16 {
		setup.Chol[17*i] = 1
	}
	for _, p := range programs {
		setup.Theta = append(setup.Theta, slices.Repeat([]float64{1}, len(p.Params)))
	}
	for kind, each := range map[vbks.StepKind]int{vbks.StepAdam: 37, vbks.StepTheta: 47, vbks.StepFrozen: 11} {
		elbo := map[string]float64{}
		for name, d := range map[string]device.Device{"one by one": oneByOne{dev}, "at once": dev} {
			setup.Kind = kind
			b, err := vbks.NewStepBench(d, setup)
			must.OK(t, err)
			defer b.Close()
			must.OK(t, b.Steps(1))
			const steps = 12
			n := counted(func() { must.OK(t, b.Steps(steps)) })
			if want := map[string]int{"one by one": each * steps, "at once": 1}[name]; n != want {
				t.Errorf("kind %d, %d steps %s: %d launches, want %d", kind, steps, name, n, want)
			}
			if elbo[name], err = b.ELBO(300); err != nil {
				t.Fatal(err)
			}
		}
		if a, b := elbo["one by one"], elbo["at once"]; !(math.Abs(a-b) <= 1e-9*math.Abs(a)) {
			t.Errorf("kind %d: ELBO %v one by one, %v at once", kind, a, b)
		}
	}
}

// TestSmallNarrow: sizes for which a card has no memory are left to the operations.
func TestSmallNarrow(t *testing.T) {
	for shared, most := range map[int][2]int{64 << 10: {16, 32}, 99 << 10: {32, 64}, 227 << 10: {32, 64}} {
		t.Run(fmt.Sprint(shared>>10), func(t *testing.T) {
			pretend(t, fake.Options{Arch: 75, Shared: shared})
			dev, reference := open(t, cuda.Options{Generate: cuda.GenerateNever}), cpu.New(cpu.Options{Lanes: 1})
			for _, size := range [][2]int{{16, 32}, {32, 32}, {32, 64}} {
				a, err := trial.Agree(t.Context(), dev, reference, trial.Steps{Programs: compile(t, 1, "SE", "PER"), Inducing: size[0], Batch: size[1],
					Rows: 100, Count: 2, Jitter: 1e-4})
				must.OK(t, err)
				if want := size[0] <= most[0] && size[1] <= most[1]; a.Leaps != want {
					t.Errorf("M = %d, B = %d: made at once: %v", size[0], size[1], a.Leaps)
				}
			}
		})
	}
}
