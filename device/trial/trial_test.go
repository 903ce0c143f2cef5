package trial

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"example.com/kestrel/device"
	"example.com/kestrel/device/cpu"
	"example.com/kestrel/device/cpu/simd"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/kernelspace"
)

// faulty is a CPU that does one thing wrong.
type faulty struct {
	device.Device
	lane *faultyLane
}

func (d *faulty) Lane(int) device.Lane { return d.lane }

func (d *faulty) Info() device.Info {
	i := d.Device.Info()
	i.Memory = d.lane.said
	return i
}

type faultyLane struct {
	device.Lane
	kernel, cholesky, both, adam func(l device.Lane, a device.Array) // after the operation
	said, bytes, held            uint64                              // of memory: said to be free, there, in use
	sizes                        map[any]uint64
	forgets                      bool // the first array's numbers when another is filled
	first                        device.Array
}

func newFaulty(l faultyLane) *faulty {
	dev := cpu.New(cpu.Options{Lanes: 1})
	l.Lane, l.sizes = dev.Lane(0), map[any]uint64{}
	return &faulty{dev, &l}
}

func after(f func(device.Lane, device.Array), l device.Lane, a device.Array) {
	if f != nil {
		f(l, a)
	}
}

func (l *faultyLane) Kernel(sub []int, ks device.Kernels, theta device.Array, a, b device.Points, out device.Array) {
	l.Lane.Kernel(sub, ks, theta, a, b, out)
	after(l.kernel, l.Lane, out)
}

func (l *faultyLane) Cholesky(sub []int, a, info device.Array) {
	l.Lane.Cholesky(sub, a, info)
	after(l.cholesky, l.Lane, a)
}

func (l *faultyLane) SolveBoth(sub []int, lower, s device.Array) {
	l.Lane.SolveBoth(sub, lower, s)
	after(l.both, l.Lane, s)
}

func (l *faultyLane) Adam(sub []int, t int, rate float64, stride, x, grad, m1, m2 device.Array) {
	l.Lane.Adam(sub, t, rate, stride, x, grad, m1, m2)
	after(l.adam, l.Lane, x)
}

func (l *faultyLane) NewArray(count, rows, cols int) (device.Array, error) {
	n := uint64(8 * count * rows * cols)
	if l.bytes > 0 && l.held+n > l.bytes {
		return nil, device.ErrOutOfMemory
	}
	a, err := l.Lane.NewArray(count, rows, cols)
	l.held += n
	l.sizes[a] = n
	return a, err
}

func (l *faultyLane) Free(things ...any) {
	for _, t := range things {
		l.held -= l.sizes[t]
		delete(l.sizes, t)
	}
	l.Lane.Free(things...)
}

func (l *faultyLane) Fill(sub []int, a device.Array, v float64) {
	l.Lane.Fill(sub, a, v)
	if l.forgets && l.first != nil {
		l.Lane.Fill(sub, l.first, v)
	}
	if l.first == nil {
		l.first = a
	}
}

// nudge changes one number of member 1 by a relative amount.
func nudge(by float64) func(device.Lane, device.Array) {
	return func(l device.Lane, a device.Array) {
		_, rows, cols := a.Shape()
		v := make([]float64, rows*cols)
		if l.Read(a, 1, v) == nil {
			v[0] *= 1 + by
			l.Write(a, 1, v)
		}
	}
}

func compile(t *testing.T, dim int, list ...string) []*kernelspace.Program {
	t.Helper()
	programs, err := Compile(dim, list...)
	must.OK(t, err)
	return programs
}

// The forms have every base kernel, POLY of some degrees, and a change point.
func TestForms(t *testing.T) {
	all := strings.Join(Forms, " ")
	for _, b := range kernelspace.BaseKernels() {
		if !strings.Contains(all, b.Name) && !strings.HasPrefix(b.Name, "POLY") {
			t.Errorf("no %s in %s", b.Name, all)
		}
	}
	if compile(t, 3, Forms...); !strings.Contains(all, "CP(") {
		t.Error("no change point")
	}
}

// One bit of one entry is found, and which kernel's it is.
func TestBits(t *testing.T) {
	m := Matrices{Programs: compile(t, 3, Forms...), Rows: 5, Cols: 7, Inputs: true}
	compute := func(dev device.Device) *Computed {
		c, err := m.Compute(dev)
		must.OK(t, err)
		return c
	}
	want := compute(cpu.New(cpu.Options{Lanes: 1}))
	must.OK(t, compute(cpu.New(cpu.Options{Lanes: 1})).Same(want))
	err := compute(newFaulty(faultyLane{kernel: nudge(0x1p-52)})).Same(want)
	if !errors.Is(err, ErrWrong) || !strings.Contains(err.Error(), m.Programs[1].ID) {
		t.Errorf("error %v", err)
	}
}

// Instruction sets of a CPU agree as cards must; one operation that is a little wrong, of
// one kernel, is found where it shows first.
func TestAgree(t *testing.T) {
	c := Steps{Programs: compile(t, 1, "SE", "PER*LIN+RQ", "MATERN32"), Inducing: 16, Batch: 32, Rows: 100, Count: 10, Jitter: 1e-5}
	reference := cpu.New(cpu.Options{Lanes: 1})
	plain, err := simd.Choose("portable")
	must.OK(t, err)
	a, err := Agree(t.Context(), cpu.New(cpu.Options{Lanes: 1, Level: plain}), reference, c)
	must.OK(t, err)
	if simd.Best() != plain && (a.Objective == 0 || a.Gradient == 0 || a.Stepped == 0) {
		t.Errorf("two instruction sets give the same bits: %+v", a)
	}
	for want, l := range map[string]faultyLane{
		"the objective":       {cholesky: nudge(1e-6)},
		"the gradient by log": {both: nudge(1e-5)},
		"after 10 steps":      {adam: nudge(1e-6)},
	} {
		_, err := Agree(t.Context(), newFaulty(l), reference, c)
		if !errors.Is(err, ErrWrong) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), c.Programs[1].ID) {
			t.Errorf("%s: error %v", want, err)
		}
	}
	_, err = Agree(t.Context(), newFaulty(faultyLane{kernel: nudge(math.NaN())}), reference, c)
	if !errors.Is(err, ErrWrong) {
		t.Errorf("with NaN: error %v", err)
	}
	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(enough)
	if _, err := Agree(ctx, reference, reference, c); !errors.Is(err, enough) {
		t.Errorf("cancelled: error %v", err)
	}
}

// leapingLane makes several steps at once, one by one on a lane of its own kind; wrong
// is what it does to the run before.
type leapingLane struct {
	device.Lane
	t     *testing.T
	steps Steps
	dev   device.Device
	wrong func(run *device.SmallRun)
}

func (l *leapingLane) AdamSteps(sub []int, run *device.AdamRun) bool {
	from := run.X.From / run.Skip
	s := l.stepper(sub)
	defer s.close()
	s.run = *run
	s.run.Taken = slices.Clone(run.Taken) // the stepper counts from the first minibatch
	for i := range s.run.Taken {
		s.run.Taken[i] -= from
	}
	l.make(s, from)
	return true
}

func (l *leapingLane) NaturalSteps(sub []int, run *device.NaturalRun) bool {
	s := l.stepper(sub)
	defer s.close()
	s.run.SmallRun = run.SmallRun
	s.run.Taken = slices.Clone(run.Taken)
	s.natural.lambda, s.natural.lambdaM, s.natural.seen = run.Lambda, run.LambdaM, slices.Clone(run.Seen)
	l.make(s, run.First)
	return true
}

func (l *leapingLane) stepper(sub []int) *stepper {
	s, err := l.steps.start(l.dev)
	must.OK(l.t, err)
	s.sub = sub
	return s
}

func (l *leapingLane) make(s *stepper, from int) {
	if l.wrong != nil {
		l.wrong(&s.run.SmallRun)
	}
	for t := range s.run.Steps {
		must.OK(l.t, s.step(from+t))
	}
}

type leapingDevice struct {
	device.Device
	lane *leapingLane
}

func (d *leapingDevice) Lane(int) device.Lane { return d.lane }

// Steps made at once are compared with those made one by one, also with priors and steps made
// before; one that is left out, and moments that are not carried on, are found.
func TestAgreeAtOnce(t *testing.T) {
	reference := cpu.New(cpu.Options{Lanes: 1})
	for _, kind := range []struct{ priors, natural bool }{{}, {priors: true}, {natural: true}, {true, true}} {
		c := Steps{Programs: compile(t, 2, "SE", "PER*LIN+RQ", "MATERN32"), Inducing: 6, Batch: 9, Rows: 100, Count: 6, Jitter: 1e-5,
			Priors: kind.priors, Natural: kind.natural}
		for name, wrong := range map[string]func(*device.SmallRun){
			"":        nil,
			"moments": func(run *device.SmallRun) { run.FreeM1 = run.FreeM2 },
			"steps":   func(run *device.SmallRun) { run.Steps = max(1, run.Steps-1) },
			"rate":    func(run *device.SmallRun) { run.Rate *= 1 + 1e-6 },
		} {
			dev := cpu.New(cpu.Options{Lanes: 1})
			lane := &leapingLane{dev.Lane(0), t, c, dev, wrong}
			a, err := Agree(t.Context(), &leapingDevice{dev, lane}, reference, c)
			if (err != nil) != (wrong != nil) || err != nil && (!errors.Is(err, ErrWrong) || !strings.Contains(err.Error(), "made at once")) {
				t.Errorf("%+v, wrong %q: %+v, %v", kind, name, a, err)
			}
		}
	}
}

// Memory that is not there is found, and memory that forgets; what a sound lane holds is
// given back.
func TestMemory(t *testing.T) {
	const mib = 1 << 20
	sound := newFaulty(faultyLane{said: 20 * mib, bytes: 21 * mib})
	if filled, err := Memory(sound); err != nil || filled < 17*mib || filled > 20*mib || sound.lane.held != 0 {
		t.Errorf("%d bytes filled, %d still held, %v", filled, sound.lane.held, err)
	}
	if _, err := Memory(newFaulty(faultyLane{said: 20 * mib, bytes: 10 * mib})); !errors.Is(err, device.ErrOutOfMemory) {
		t.Errorf("half of it is there: %v", err)
	}
	if _, err := Memory(newFaulty(faultyLane{said: 20 * mib})); !errors.Is(err, ErrWrong) {
		t.Errorf("more than there is: %v", err)
	}
	if _, err := Memory(newFaulty(faultyLane{said: 20 * mib, bytes: 21 * mib, forgets: true})); !errors.Is(err, ErrWrong) {
		t.Errorf("forgotten: %v", err)
	}
	if filled, err := Memory(newFaulty(faultyLane{})); filled != 0 || err != nil {
		t.Errorf("without a limit: %d, %v", filled, err)
	}
}
