package vbks

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	"example.com/kestrel/device"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/internal/thorough"
)

// meter is a device like a card's, which counts the matrices of M x M that are copied to it
// and from it.
type meter struct {
	device.Device
	m       int
	most    int // kernels that a batch has room for; 0: any number
	in, out atomic.Int64
	lanes   map[int]*meteredLane
}

func (d *meter) Info() device.Info {
	info := d.Device.Info()
	info.Group = 0
	return info
}

func (d *meter) Lane(i int) device.Lane {
	if d.lanes == nil {
		d.lanes = map[int]*meteredLane{}
	}
	if d.lanes[i] == nil {
		d.lanes[i] = &meteredLane{d.Device.Lane(i), d}
	}
	return d.lanes[i]
}

func (d *meter) wrap(dev device.Device) device.Device {
	d.Device = dev
	return d
}

// taken returns what was copied since it was last called.
func (d *meter) taken() (in, out int) { return int(d.in.Swap(0)), int(d.out.Swap(0)) }

type meteredLane struct {
	device.Lane
	meter *meter
}

func (l *meteredLane) NewArray(count, rows, cols int) (device.Array, error) {
	if l.meter.most > 0 && count > l.meter.most {
		return nil, device.ErrOutOfMemory
	}
	return l.Lane.NewArray(count, rows, cols)
}

func (l *meteredLane) square(a device.Array) bool {
	_, rows, cols := a.Shape()
	return rows == l.meter.m && cols == l.meter.m
}

func (l *meteredLane) Write(a device.Array, k int, src []float64) {
	if l.square(a) {
		l.meter.in.Add(1)
	}
	l.Lane.Write(a, k, src)
}

func (l *meteredLane) Read(a device.Array, k int, dst []float64) error {
	if l.square(a) {
		l.meter.out.Add(1)
	}
	return l.Lane.Read(a, k, dst)
}

// From evaluation to evaluation, and for predictions in between, the matrices of a kernel that stays
// in its place on its lane are not copied there again; what an evaluation has made of them is read
// once. Before, they were written twice and read twice.
func TestMatricesStayOnTheLane(t *testing.T) {
	thorough.AnyInstructions(t)
	data := trainingSeries(3, 90)
	for optimizer, each := range map[string]int{"natural": 1, "adam": 3} { // matrices of a kernel
		for _, hyper := range []string{"point", "diagonal"} {
			s := quickSettings(optimizer)
			s.Hyperparameters, s.Inducing, s.EvaluateEvery, s.ELBORows = hyper, 13, 0.25, 20 // no other matrix is 13 x 13
			d := &meter{m: 13}
			tr := trainerOn(t, 1, d.wrap, data, s, fourKernels...)
			kernels := len(tr.kernels)
			for i := range 3 {
				next(t, tr)
				in, out := d.taken()
				wantIn, wantOut := 0, each*kernels
				if i < 2 { // new solutions begin at the prior, or may
					wantIn = in
				}
				if optimizer == "natural" && hyper == "point" {
					wantOut += kernels // for the bounds on the evidence
				}
				if in != wantIn || in > each*kernels || out != wantOut {
					t.Errorf("%s %s, evaluation %d: %d matrices of %d kernels were written, %d read, want %d and %d", optimizer, hyper, i+1, in,
						kernels, out, wantIn, wantOut)
				}
				_, err := tr.Predict(context.Background(), []float64{0, 1}, PredictOptions{})
				must.OK(t, err)
				if in, out := d.taken(); in != 0 || out != 0 {
					t.Errorf("%s %s, prediction after evaluation %d: %d matrices were written, %d read", optimizer, hyper, i+1, in, out)
				}
			}
		}
	}
}

// Whether matrices were on the lane decides nothing: trainers that were just made of a checkpoint go
// on as the one that was not, with kernels pruned and restored, more inducing inputs, two lanes, and
// too little memory for all kernels.
func TestMatricesOnTheLaneDecideNothing(t *testing.T) {
	thorough.AnyInstructions(t)
	thorough.Unraced(t)
	t.Parallel()
	data := trainingSeries(4, 90)
	for _, c := range []struct{ lanes, most int }{{1, 0}, {2, 0}, {1, 2}} {
		for _, optimizer := range []string{"natural", "adam"} {
			s := quickSettings(optimizer)
			s.Steps, s.Starts, s.ELBORows, s.Refine, s.EvaluateEvery = 4, 1, 50, 3, 0.5
			tr := trainerOn(t, c.lanes, (&meter{most: c.most}).wrap, data, s, fourKernels...)
			step := func(what string, change func(x *Trainer) error) {
				t.Helper()
				other := resumed(t, tr, s)
				for _, x := range []*Trainer{tr, other} {
					must.OK(t, change(x))
					next(t, x)
				}
				if c.most == 0 {
					same(t, optimizer+" "+what, other, tr)
					return
				}
				got := other.Checkpoint()
				for name, want := range tr.Checkpoint() { // but for the notice of the memory
					if strings.HasPrefix(name, "kernel/") && !reflect.DeepEqual(got[name], want) {
						t.Fatalf("%s %s: array %s differs", optimizer, what, name)
					}
				}
			}
			step("at first", func(*Trainer) error { return nil })
			step("going on", func(*Trainer) error { return nil })
			ids := []string{tr.kernels[1].id}
			step("pruned", func(x *Trainer) error { _, err := x.Prune(ids); return err })
			step("restored", func(x *Trainer) error { _, err := x.Restore(ids); return err })
			step("with more inducing inputs", func(x *Trainer) error { return x.Reoptimize(Change{Inducing: 11, Rounds: 2}) })
			step("and on", func(*Trainer) error { return nil })
		}
	}
}

// An evaluation that is interrupted, wherever that is, leaves on the lane what is no state's; begun
// again it is the one that nobody interrupted.
func TestMatricesAfterInterruptions(t *testing.T) {
	thorough.AnyInstructions(t)
	t.Parallel()
	data, stopped := trainingSeries(5, 60), errors.New("stopped")
	for _, optimizer := range []string{"natural", "adam"} {
		for _, hyper := range []string{"point", "diagonal"} {
			s := quickSettings(optimizer)
			s.Hyperparameters, s.Steps, s.Starts, s.ELBORows, s.EvaluateEvery = hyper, 4, 1, 20, 0.25
			tr := trainerOn(t, 1, (&meter{}).wrap, data, s, "SE", "LIN")
			next(t, tr)
			next(t, tr)
			other := resumed(t, tr, s)
			next(t, other)
			times := 0
			for n := 1; ; n += 1 + n/20 {
				calls := 0
				tr.SetGate(func(context.Context) error {
					if calls++; calls == n {
						return stopped
					}
					return nil
				})
				_, err := tr.Next(context.Background())
				if err == nil {
					break
				}
				if times++; !errors.Is(err, stopped) {
					t.Fatal(err)
				}
			}
			tr.SetGate(nil)
			if times < 4 {
				t.Errorf("%s %s: interrupted %d times", optimizer, hyper, times)
			}
			same(t, optimizer+" "+hyper+" interrupted", tr, other)
		}
	}
}

// What changes q(v) on a lane has it copied there again.
func TestWhatChangesMatrices(t *testing.T) {
	x, y, z := testData(18, 100, 5, 1)
	for _, optimizer := range []string{"natural", "adam"} {
		s := testSettings(optimizer, "point", 25)
		b := newBench(t, x, y, z, 1, s, "SE+LIN")
		must.OK(t, b.train([]int{0}, drawMinibatches(1, 1, 80, 25, 4), nil))
		want, err := b.end(0)
		must.OK(t, err)
		for what, change := range map[string]func() error{
			"training": func() error { return b.train([]int{0}, drawMinibatches(1, 2, 100, 25, 2), nil) },
			"a pass":   func() error { return b.exact([]int{0}, b.rows(), sumSquares(y), nil) },
			"a fit":    func() error { return b.fit([]int{0}, b.rows(), sumSquares(y), 200, nil) },
			"nothing":  func() error { return nil },
		} {
			must.OK(t, b.begin(0, want, "SE+LIN"))
			must.OK(t, change())
			must.OK(t, b.begin(0, want, "SE+LIN"))
			got, err := b.end(0)
			must.OK(t, err)
			if !reflect.DeepEqual(got.matrices(), want.matrices()) {
				t.Errorf("%s: after %s the lane does not have the state that it was begun with", optimizer, what)
			}
		}
	}
}
