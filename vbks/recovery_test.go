package vbks

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"example.com/kestrel/device"
	"example.com/kestrel/device/cpu"
	"example.com/kestrel/internal/thorough"
	"example.com/kestrel/kernelspace"
)

// frailDevice is a device like a card's: a lane takes all kernels at once, may
// have little memory, and may be lost.
type frailDevice struct {
	device.Device
	most  int  // kernels that a batch has room for; 0: any number
	late  bool // which shows only when kernels are loaded, after some reads
	after int  // reads after which a lane is lost; 0: never
	bad   int  // the lane that is lost, −1 for all
	lanes map[int]*frailLane
}

func (d *frailDevice) Info() device.Info {
	info := d.Device.Info()
	info.Group = 0
	return info
}

func (d *frailDevice) Lane(i int) device.Lane {
	if d.lanes[i] == nil {
		d.lanes[i] = &frailLane{Lane: d.Device.Lane(i), device: d, number: i}
	}
	return d.lanes[i]
}

type frailLane struct {
	device.Lane
	device *frailDevice
	number int
	reads  int
	units  [][]string // what was loaded
}

// The messages stand for a driver's; below them is what vbks looks for.
func (l *frailLane) fault(count int) error {
	d := l.device
	switch {
	case d.after > 0 && l.reads > d.after && (d.bad == l.number || d.bad < 0):
		return fmt.Errorf("card %d fell off the bus: %w", l.number, device.ErrLost)
	case d.most > 0 && count > d.most:
		return fmt.Errorf("card %d is full: %w", l.number, device.ErrOutOfMemory)
	}
	return nil
}

func (l *frailLane) NewArray(count, rows, cols int) (device.Array, error) {
	n := count
	if l.device.late {
		n = 0
	}
	if err := l.fault(n); err != nil {
		return nil, err
	}
	return l.Lane.NewArray(count, rows, cols)
}

func (l *frailLane) NewIndex(rows []int32) (device.Index, error) {
	if err := l.fault(0); err != nil {
		return nil, err
	}
	return l.Lane.NewIndex(rows)
}

func (l *frailLane) NewKernels(programs []*kernelspace.Program) (device.Kernels, error) {
	n := len(programs)
	if l.device.late && l.reads < 300 {
		n = 0
	}
	if err := l.fault(n); err != nil {
		return nil, err
	}
	var unit []string
	for _, p := range programs {
		unit = append(unit, p.ID)
	}
	l.units = append(l.units, unit)
	return l.Lane.NewKernels(programs)
}

func (l *frailLane) Read(a device.Array, k int, dst []float64) error {
	l.reads++
	if err := l.fault(0); err != nil {
		return err
	}
	return l.Lane.Read(a, k, dst)
}

func (l *frailLane) Sync() error {
	if err := l.fault(0); err != nil {
		return err
	}
	return l.Lane.Sync()
}

func frail(d *frailDevice) func(device.Device) device.Device {
	return func(dev device.Device) device.Device {
		d.Device, d.lanes = dev, map[int]*frailLane{}
		return d
	}
}

// told collects and removes the notices of evaluations, so that the rest can be
// compared.
func told(es []Evaluation) (notices []string) {
	for i := range es {
		for _, n := range es[i].Notices {
			notices = append(notices, n.Text)
		}
		es[i].Notices = nil
	}
	return notices
}

var sixKernels = append(slices.Clone(fourKernels), "RQ", "LIN")

// With little memory, from the start or found out in the middle, evaluations
// and predictions are the same bit for bit, kernels being taken fewer at a time,
// which is told once.
func TestLittleMemory(t *testing.T) {
	thorough.AnyInstructions(t)
	t.Parallel()
	data := trainingSeries(21, 90)
	for _, optimizer := range optimizers {
		for _, late := range []bool{false, true} {
			s := quickSettings(optimizer)
			sound := trainerOn(t, 1, nil, data, s, sixKernels...)
			want := train(t, sound)
			d := &frailDevice{most: 3, late: late}
			tr := trainerOn(t, 1, frail(d), data, s, sixKernels...)
			got := train(t, tr)
			if n := told(got); !slices.Equal(n, []string{"card memory: kernels are taken 3 at a time"}) {
				t.Errorf("%s, late %v: notices %q", optimizer, late, n)
			}
			told(want)
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s, late %v: other evaluations with little memory", optimizer, late)
			}
			if !reflect.DeepEqual(snapshotOf(tr).Tensors["kernel/0/free"], snapshotOf(sound).Tensors["kernel/0/free"]) {
				t.Errorf("%s, late %v: another state", optimizer, late)
			}
			if late && !slices.ContainsFunc(d.lanes[0].units, func(u []string) bool { return len(u) == 6 }) {
				t.Errorf("%s: memory was not short in the middle", optimizer)
			}
			samePrediction(t, optimizer, sound, tr)
		}
	}
}

func samePrediction(t *testing.T, what string, want, got *Trainer) {
	t.Helper()
	x := []float64{-3, -0.5, 0, 1.25, 5}
	a, err := want.Predict(context.Background(), x, PredictOptions{})
	if err != nil {
		t.Fatal(err)
	}
	b, err := got.Predict(context.Background(), x, PredictOptions{})
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if !reflect.DeepEqual(a, b) {
		t.Errorf("%s: other predictions", what)
	}
}

// narrowDevice has no room for matrices of more entries than most.
type narrowDevice struct {
	device.Device
	most int
}

func (d narrowDevice) Lane(i int) device.Lane { return narrowLane{d.Device.Lane(i), d.most} }

type narrowLane struct {
	device.Lane
	most int
}

func (l narrowLane) NewArray(count, rows, cols int) (device.Array, error) {
	if rows*cols > l.most {
		return nil, fmt.Errorf("array of %d x %d: %w", rows, cols, device.ErrOutOfMemory)
	}
	return l.Lane.NewArray(count, rows, cols)
}

func narrow(most int) func(device.Device) device.Device {
	return func(dev device.Device) device.Device { return narrowDevice{dev, most} }
}

// Where not even one kernel fits, that is said.
func TestNoMemory(t *testing.T) {
	for _, optimizer := range optimizers {
		dev := cpu.New(cpu.Options{Lanes: 2})
		space, s := candidates(t, fourKernels...), quickSettings(optimizer)
		_, err := New(context.Background(), narrow(20)(dev), trainingSeries(1, 30), space, []string{"x"}, s)
		if !errors.Is(err, device.ErrOutOfMemory) || !strings.Contains(err.Error(), "not even one kernel") ||
			!strings.Contains(err.Error(), "fewer inducing inputs") {
			t.Errorf("%s: error %v", optimizer, err)
		}
		dev.Close()
	}
}

// A number of inducing inputs that does not fit is refused, and the trainer goes
// on with that of before.
func TestTooManyInducingInputs(t *testing.T) {
	thorough.AnyInstructions(t)
	for _, optimizer := range optimizers {
		s := quickSettings(optimizer)
		data := trainingSeries(4, 60)
		tr := trainerOn(t, 2, narrow(10*chunkRows), data, s, fourKernels...)
		plain := trainerOn(t, 2, nil, data, s, fourKernels...)
		next(t, tr)
		next(t, plain)
		if err := tr.Reoptimize(Change{Inducing: 24}); !errors.Is(err, device.ErrOutOfMemory) || !strings.Contains(err.Error(), "24 inducing") {
			t.Errorf("%s: error %v", optimizer, err)
		}
		if tr.Inducing() != 8 || tr.Settings().Inducing != 8 {
			t.Errorf("%s: %d inducing inputs", optimizer, tr.Inducing())
		}
		if got, want := next(t, tr), next(t, plain); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: another evaluation after the refusal", optimizer)
		}
	}
}

// A lane that is lost in the middle, in whatever phase, leaves its kernels to the
// other: evaluations and predictions are the same bit for bit, and it is told.
func TestLostLane(t *testing.T) {
	thorough.AnyInstructions(t)
	t.Parallel()
	data := trainingSeries(22, 45)
	for _, optimizer := range append(slices.Clone(optimizers), "collapsed diagonal") {
		s := quickSettings(strings.Fields(optimizer)[0])
		if strings.HasSuffix(optimizer, "diagonal") {
			s.Hyperparameters = "diagonal"
		}
		sound := trainerOn(t, 1, nil, data, s, sixKernels...)
		want := train(t, sound)
		told(want)
		// How often a lane is read, so that it can be lost anywhere.
		d := &frailDevice{}
		if got := train(t, trainerOn(t, 2, frail(d), data, s, sixKernels...)); told(got) != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%s: two sound lanes give something else", optimizer)
		}
		reads := d.lanes[1].reads
		for _, share := range []float64{0, 0.1, 0.35, 0.6, 0.9} {
			d := &frailDevice{after: 1 + int(share*float64(reads)), bad: 1}
			tr := trainerOn(t, 2, frail(d), data, s, sixKernels...)
			got := train(t, tr)
			n := told(got)
			// Which lane takes what is a race: it may be read less often than before.
			if d.lanes[1].reads > d.after && (len(n) != 1 || !strings.Contains(n[0], "lane 2 of 2 is lost") ||
				!strings.Contains(n[0], "fell off the bus")) {
				t.Errorf("%s, after %d reads: notices %q", optimizer, d.after, n)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s, lost after %d reads: other evaluations", optimizer, d.after)
			}
			samePrediction(t, optimizer, sound, tr)
		}
	}
}

// Where all lanes are lost the evaluation fails, and what was committed stays.
func TestAllLanesLost(t *testing.T) {
	for _, optimizer := range optimizers {
		d := &frailDevice{bad: -1}
		tr := trainerOn(t, 2, frail(d), trainingSeries(23, 60), quickSettings(optimizer), fourKernels...)
		e := next(t, tr)
		before := snapshotOf(tr)
		d.after = 1
		for range 2 {
			_, err := tr.Next(context.Background())
			if !errors.Is(err, device.ErrLost) || !strings.Contains(err.Error(), "no lane of the device is left") {
				t.Errorf("%s: error %v", optimizer, err)
			}
		}
		after := snapshotOf(tr)
		after.Notices, before.Notices = nil, nil
		delete(after.Tensors, "notices")
		if tr.Last() != e || !reflect.DeepEqual(before, after) {
			t.Errorf("%s: the failed evaluation changed the trainer", optimizer)
		}
	}
}

// A phase that concerns fewer kernels than lanes can take at once is divided by
// the lanes, the costly ones evenly.
func TestUnitsAreDividedByTheLanes(t *testing.T) {
	for _, c := range []struct {
		lanes, group, kernels int
		want                  [][]int
	}{
		{2, 3, 6, [][]int{{0, 2, 4}, {1, 3, 5}}},
		{2, 72, 5, [][]int{{0, 2, 4}, {1, 3}}},
		{3, 10, 2, [][]int{{0}, {1}}},
		{1, 2, 5, [][]int{{0, 3}, {1, 4}, {2}}},
		{2, 1, 3, [][]int{{0}, {1}, {2}}},
	} {
		var kernels []int
		for k := range c.kernels {
			kernels = append(kernels, k)
		}
		if got := divide(kernels, c.lanes, c.group); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%d kernels on %d lanes of %d: %v, want %v", c.kernels, c.lanes, c.group, got, c.want)
		}
	}
}

// tightDevice takes all kernels at once and, from some moment on, has no room
// for matrices of so many rows for more than three of them.
type tightDevice struct {
	device.Device
	rows    int
	tight   bool
	refused int
}

func (d *tightDevice) Info() device.Info {
	info := d.Device.Info()
	info.Group = 0
	return info
}

func (d *tightDevice) Lane(i int) device.Lane { return &tightLane{d.Device.Lane(i), d} }

type tightLane struct {
	device.Lane
	device *tightDevice
}

func (l *tightLane) NewArray(count, rows, cols int) (device.Array, error) {
	if l.device.tight && count > 3 && rows == l.device.rows {
		l.device.refused++
		return nil, fmt.Errorf("no room for %d matrices of %d x %d: %w", count, rows, cols, device.ErrOutOfMemory)
	}
	return l.Lane.NewArray(count, rows, cols)
}

// Where there is no memory for the bound that hyperparameters are tuned on,
// fewer kernels are taken at a time, with the same results.
func TestTuningWithLittleMemory(t *testing.T) {
	thorough.AnyInstructions(t)
	thorough.Unraced(t)
	t.Parallel()
	data := trainingSeries(21, 400)
	s := quickSettings("natural")
	s.Inducing, s.Refine = 160, 1
	want := train(t, trainerOn(t, 1, nil, data, s, fourKernels...))
	d := &tightDevice{rows: 160}
	tr := trainerOn(t, 1, func(dev device.Device) device.Device { d.Device = dev; return d }, data, s, fourKernels...)
	got := []Evaluation{*next(t, tr)}
	d.tight = true
	for !tr.Done() {
		got = append(got, *next(t, tr))
	}
	if d.refused == 0 || tr.group > 3 {
		t.Fatalf("memory was refused %d times, groups are of %d", d.refused, tr.group)
	}
	for i := range got {
		got[i].Notices, want[i].Notices = nil, nil
	}
	if !reflect.DeepEqual(got, want) {
		t.Error("other results with little memory")
	}
}
