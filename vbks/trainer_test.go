package vbks

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	"example.com/kestrel/device"
	"example.com/kestrel/internal/thorough"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks/belief"
)

// trainingSeries draws n noisy values of a sine with a trend, in random order.
func trainingSeries(seed uint64, n int) Training {
	rng := rand.New(rand.NewPCG(seed, 2))
	d := Training{Dim: 1, X: make([]float64, n), Y: make([]float64, n)}
	for i := range n {
		d.X[i] = 4 * (2*rng.Float64() - 1)
		d.Y[i] = math.Sin(2*d.X[i]) + 0.3*d.X[i] + 0.3*rng.NormFloat64()
	}
	return d
}

// candidates makes a kernel space with equal prior weights.
func candidates(t testing.TB, exprs ...string) []Candidate {
	t.Helper()
	var out []Candidate
	for _, s := range exprs {
		e, err := kernelspace.Parse(s)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, Candidate{Expr: e, Weight: 1})
	}
	return out
}

// fourKernels has kernels related by a summand, by RQ and by a replacement.
var fourKernels = []string{"SE", "LIN+SE", "LIN+RQ", "PER"}

// quickSettings makes three evaluations of a small problem.
func quickSettings(optimizer string) Settings {
	s := DefaultSettings()
	s.Optimizer, s.Inducing, s.Batch = optimizer, 8, 16
	s.EvaluateEvery, s.Refine, s.Steps, s.Starts, s.Samples = 1.0/3, 0, 8, 2, 500
	s.Bound, s.Evidence, s.AllRows = elboBound, modeEvidence, 0 // tests of the others say so
	s.Errors = "ignore"                                         // what errors make of the belief takes as long as the belief
	return s
}

// trainerOn makes a trainer on the CPU, or on the device that wrap makes of it.
func trainerOn(t testing.TB, lanes int, wrap func(device.Device) device.Device, d Training, s Settings, exprs ...string) *Trainer {
	t.Helper()
	var dev device.Device = onCPU(lanes)
	t.Cleanup(func() { dev.Close() })
	if wrap != nil {
		dev = wrap(dev)
	}
	tr, err := New(context.Background(), dev, d, candidates(t, exprs...), []string{"x", "w"}[:d.Dim], s)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// next makes an evaluation that must succeed.
func next(t testing.TB, tr *Trainer) *Evaluation {
	t.Helper()
	e, err := tr.Next(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// train makes all planned evaluations.
func train(t testing.TB, tr *Trainer) []Evaluation {
	t.Helper()
	var out []Evaluation
	for !tr.Done() {
		out = append(out, *next(t, tr))
	}
	return out
}

// snapshot is all that a trainer has learned, comparable by reflect.DeepEqual.
type snapshot struct {
	Evaluation, Rows, Extra int
	Last                    *Evaluation
	Belief                  *belief.Belief
	Leader                  string
	Notices                 []Notice
	Tensors                 map[string]Tensor
	Status                  []Status
}

func snapshotOf(tr *Trainer) snapshot {
	s := snapshot{Evaluation: tr.evaluation, Rows: tr.rows, Extra: tr.extra, Last: tr.last, Belief: tr.belief,
		Leader: tr.leader, Notices: append([]Notice{}, tr.notices...), Tensors: tr.Checkpoint()}
	for _, k := range tr.kernels {
		s.Status = append(s.Status, k.status)
	}
	return s
}

var optimizers = []string{"collapsed", "natural", "adam"}

// regrouped is a device whose lanes take several kernels at a time, as those
// of a GPU do.
type regrouped struct {
	device.Device
	group int // 0: as many as there are
}

func (d regrouped) Info() device.Info {
	info := d.Device.Info()
	info.Group = d.group
	return info
}

// Evaluations are the same bit for bit with one and two lanes, with all
// kernels in one batch or in batches that do not come out even, and when
// repeated; another seed gives others.
func TestResultsDoNotDependOnTheDevice(t *testing.T) {
	t.Parallel()
	data := trainingSeries(1, 120)
	for _, optimizer := range optimizers {
		s := quickSettings(optimizer)
		s.Errors = "integrate"
		want := train(t, trainerOn(t, 1, nil, data, s, fourKernels...))
		if len(want) != 3 || want[0].RowsSeen != 40 || want[1].RowsSeen != 80 || want[2].RowsSeen != 120 || want[2].Proportion != 1 {
			t.Fatalf("%s: not the evaluations planned: %+v", optimizer, want)
		}
		for i, e := range want {
			if e.Index != i+1 {
				t.Errorf("%s: evaluation %d is called %d", optimizer, i+1, e.Index)
			}
		}
		for _, other := range []struct {
			what  string
			lanes int
			wrap  func(device.Device) device.Device
		}{
			{"repeated", 1, nil},
			{"two lanes", 2, nil},
			{"one batch", 1, func(d device.Device) device.Device { return regrouped{d, 0} }},
			{"batches of 3 on two lanes", 2, func(d device.Device) device.Device { return regrouped{d, 3} }},
		} {
			got := train(t, trainerOn(t, other.lanes, other.wrap, data, s, fourKernels...))
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s, %s: other evaluations%s", optimizer, other.what, firstDifference(got, want))
			}
		}
		s.Seed++
		got := next(t, trainerOn(t, 1, nil, data, s, fourKernels...))
		if reflect.DeepEqual(got.Kernels, want[0].Kernels) {
			t.Errorf("%s: another seed gives the same evaluation", optimizer)
		}
	}
}

func firstDifference(got, want []Evaluation) string {
	for i := range min(len(got), len(want)) {
		for k := range want[i].Kernels {
			if a, b := got[i].Kernels[k], want[i].Kernels[k]; !reflect.DeepEqual(a, b) {
				return fmt.Sprintf(": evaluation %d\n got %+v\nwant %+v", i+1, a, b)
			}
		}
	}
	return ""
}

// An evaluation that is cancelled anywhere leaves no trace: made again, it and
// all later ones are what an undisturbed trainer gives.
func TestCancelledEvaluationLeavesNoTrace(t *testing.T) {
	thorough.AnyInstructions(t)
	data := trainingSeries(2, 120)
	errPause := errors.New("stopped by the gate")
	for _, optimizer := range optimizers {
		s := quickSettings(optimizer)
		s.EvaluateEvery = 0.5
		var asked atomic.Int64
		count := func(context.Context) error { asked.Add(1); return nil }

		calm := trainerOn(t, 2, nil, data, s, fourKernels...)
		calm.SetGate(count)
		want := []Evaluation{*next(t, calm)}
		first := asked.Swap(0)
		want = append(want, *next(t, calm))
		second := asked.Load()
		if first < 50 || second < 50 {
			t.Fatalf("%s: the gate was asked %d and %d times", optimizer, first, second)
		}

		tr := trainerOn(t, 2, nil, data, s, fourKernels...)
		disturb := func(after int64, cause error) {
			before := snapshotOf(tr)
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			asked.Store(0)
			tr.SetGate(func(context.Context) error {
				if asked.Add(1) < after {
					return nil
				}
				if cause == nil {
					cancel()
				}
				return cause
			})
			_, err := tr.Next(ctx)
			if cause == nil {
				cause = context.Canceled
			}
			if !errors.Is(err, cause) {
				t.Errorf("%s: error %v, want %v", optimizer, err, cause)
			}
			if over := asked.Load() - after; over > 4 {
				t.Errorf("%s: the gate was asked %d times after it had ended the evaluation", optimizer, over)
			}
			if !reflect.DeepEqual(snapshotOf(tr), before) {
				t.Errorf("%s: a cancelled evaluation changed the trainer", optimizer)
			}
			tr.SetGate(count)
		}
		disturb(1, nil)
		disturb(first/2, nil)
		disturb(first-2, errPause)
		got := []Evaluation{*next(t, tr)}
		disturb(second/3, errPause)
		disturb(second-2, nil)
		got = append(got, *next(t, tr))
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: not as undisturbed%s", optimizer, firstDifference(got, want))
		}
	}
}

// A trainer goes on after it was done: with more rows of a batch, more steps
// and another number of inducing inputs.
func TestReoptimize(t *testing.T) {
	data := trainingSeries(3, 120)
	for _, optimizer := range optimizers {
		s := quickSettings(optimizer)
		s.EvaluateEvery = 0.5
		tr := trainerOn(t, 2, nil, data, s, fourKernels...)
		before := train(t, tr)[1]
		if _, err := tr.Prune([]string{"PER"}); err != nil {
			t.Fatal(err)
		}
		if err := tr.Reoptimize(Change{Steps: 12, Inducing: 14, Batch: 40, Rounds: 2}); err != nil {
			t.Fatal(err)
		}
		if tr.Done() {
			t.Errorf("%s: done although two more rounds were asked for", optimizer)
		}
		if got := tr.Settings(); got.Steps != 12 || got.Inducing != 14 || got.Batch != 40 || tr.Inducing() != 14 {
			t.Errorf("%s: settings %+v, %d inducing inputs", optimizer, got, tr.Inducing())
		}
		after := train(t, tr)
		if len(after) != 2 || after[1].Index != 4 || after[1].RowsSeen != 120 {
			t.Fatalf("%s: %d more evaluations, the last %+v", optimizer, len(after), after[len(after)-1])
		}
		for i, k := range after[1].Kernels {
			if pruned := k.ID == "PER"; pruned != (k.Status == Pruned) || !pruned && k.Status != Live {
				t.Errorf("%s: %s is %s", optimizer, k.ID, k.Status)
			} else if !pruned && k.ELBO < before.Kernels[i].ELBO-5 {
				// More inducing inputs and steps do not lose what was reached.
				t.Errorf("%s: ELBO of %s fell from %.3f to %.3f", optimizer, k.ID, before.Kernels[i].ELBO, k.ELBO)
			}
		}
		// Without a number of rounds: those of the settings, at least one.
		if err := tr.Reoptimize(Change{}); err != nil {
			t.Fatal(err)
		}
		if more := train(t, tr); len(more) != 1 {
			t.Errorf("%s: %d evaluations after an empty change, want 1", optimizer, len(more))
		}
	}
}

func TestNewErrors(t *testing.T) {
	dev := onCPU(1)
	t.Cleanup(func() { dev.Close() })
	data, s := trainingSeries(4, 20), quickSettings("collapsed")
	weighted := candidates(t, "SE", "LIN")
	weighted[1].Weight = -1
	unknown := quickSettings("collapsed")
	unknown.Placement = "nowhere"
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	for _, c := range []struct {
		what, want string
		ctx        context.Context
		data       Training
		space      []Candidate
		settings   Settings
	}{
		{"no rows", "no training rows", context.Background(), Training{Dim: 1}, candidates(t, "SE"), s},
		{"ragged rows", "no training rows", context.Background(),
			Training{X: []float64{1, 2, 3}, Y: []float64{1, 2}, Dim: 1}, candidates(t, "SE"), s},
		{"no kernels", "empty", context.Background(), data, nil, s},
		{"a kernel twice", "LIN+SE", context.Background(), data, candidates(t, "SE+LIN", "LIN+SE"), s},
		{"a prior weight below 0", "LIN", context.Background(), data, weighted, s},
		{"a column that is not there", "SE", context.Background(), data, candidates(t, "SE[7]"), s},
		{"a placement that is not there", "nowhere", context.Background(), data, candidates(t, "SE"), unknown},
		{"a context that is over", "canceled", cancelled, data, candidates(t, "SE"), s},
	} {
		if _, err := New(c.ctx, dev, c.data, c.space, []string{"x"}, c.settings); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one that names %q", c.what, err, c.want)
		}
	}
}

// A prior weight that is not stated is 1.
func TestPriorWeights(t *testing.T) {
	dev := onCPU(1)
	t.Cleanup(func() { dev.Close() })
	space := candidates(t, "SE", "LIN", "PER")
	space[0].Weight, space[2].Weight = 0, 3
	tr, err := New(t.Context(), dev, trainingSeries(4, 20), space, []string{"x"}, quickSettings("collapsed"))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{0.2, 0.2, 0.6} {
		if got := math.Exp(tr.kernels[i].logPrior); math.Abs(got-want) > 1e-15 {
			t.Errorf("the prior probability of %s is %v, want %v", tr.kernels[i].id, got, want)
		}
	}
}

// The schedule covers the rows in ⌈1/e⌉ evaluations and stays at all of them.
func TestSchedule(t *testing.T) {
	data := trainingSeries(5, 100)
	s := quickSettings("collapsed")
	s.EvaluateEvery, s.Refine = 0.15, 3
	tr := trainerOn(t, 1, nil, data, s, "LIN")
	if tr.Planned() != 7+3 {
		t.Errorf("%d evaluations planned, want 10", tr.Planned())
	}
	for i, want := range []int{15, 30, 45, 60, 75, 90, 100, 100, 100, 100} {
		if got := tr.schedule(i + 1); got != want {
			t.Errorf("evaluation %d sees %d rows, want %d", i+1, got, want)
		}
	}
	s.EvaluateEvery = 0.1 // not a sum of powers of two: 3·0.1·100 must be 30, not 31
	tr = trainerOn(t, 1, nil, data, s, "LIN")
	for i := 1; i <= 10; i++ {
		if got := tr.schedule(i); got != 10*i {
			t.Errorf("evaluation %d sees %d rows, want %d", i, got, 10*i)
		}
	}
}

// The checkpoint holds every part of every kernel's state, each with a shape
// that fits its length.
func TestCheckpointIsComplete(t *testing.T) {
	data := trainingSeries(6, 90)
	for _, c := range []struct{ optimizer, hyper string }{{"collapsed", "point"}, {"natural", "full"}, {"adam", "diagonal"}} {
		s := quickSettings(c.optimizer)
		s.Hyperparameters = c.hyper
		tr := trainerOn(t, 1, nil, data, s, fourKernels...)
		before := tr.Checkpoint()
		for name := range before {
			if strings.HasPrefix(name, "kernel/") || strings.HasPrefix(name, "belief/") {
				t.Errorf("%s: %s before the first evaluation", c.optimizer, name)
			}
		}
		if before["run"].Data[0] != 0 {
			t.Errorf("%s: evaluation %v before the first", c.optimizer, before["run"].Data[0])
		}
		e := next(t, tr)
		got := tr.Checkpoint()
		for name, tensor := range got {
			size := 1
			for _, n := range tensor.Shape {
				size *= n
			}
			if size != tensor.Len() {
				t.Errorf("%s: %s of shape %v has %d entries", c.optimizer, name, tensor.Shape, tensor.Len())
			}
		}
		if run := got["run"].Data; run[0] != 1 || run[1] != 30 || run[2] != 8 {
			t.Errorf("%s: run is %v, want evaluation 1, 30 rows, 8 inducing inputs", c.optimizer, run)
		}
		if z := got["z"]; !reflect.DeepEqual(z, Tensor{Shape: []int{8, 1}, Data: tr.inducing}) {
			t.Errorf("%s: inducing inputs %v", c.optimizer, z)
		}
		if !reflect.DeepEqual(got["belief/mean"].Data, tr.Belief().Mean) || !reflect.DeepEqual(got["belief/chol"].Shape, []int{4, 4}) {
			t.Errorf("%s: the belief is not that of the evaluation", c.optimizer)
		}
		// Whatever vector a state has is found among its kernel's tensors.
		for i, k := range tr.kernels {
			prefix := fmt.Sprintf("kernel/%d/", i)
			if got[prefix+"status"].Data[0] != e.Kernels[i].ELBO {
				t.Errorf("%s: %s does not begin with the local ELBO", c.optimizer, prefix+"status")
			}
			if !reflect.DeepEqual(got[prefix+"free"].Data, k.state.Free) {
				t.Errorf("%s: %sfree is not the free vector", c.optimizer, prefix)
			}
			v := reflect.ValueOf(*k.state)
			for f := range v.NumField() {
				x, ok := v.Field(f).Interface().([]float64)
				if !ok || x == nil {
					continue
				}
				found := false
				for name, tensor := range got {
					found = found || strings.HasPrefix(name, prefix) && len(tensor.Data) == len(x) && &tensor.Data[0] == &x[0]
				}
				if !found {
					t.Errorf("%s: %s lacks the state's %s", c.optimizer, prefix, v.Type().Field(f).Name)
				}
			}
		}
	}
}

// Every base kernel can be learned, alone, in a sum and in a product.
func TestEveryBaseKernel(t *testing.T) {
	var exprs []string
	for _, b := range kernelspace.BaseKernels() {
		exprs = append(exprs, b.Name, b.Name+"+MATERN32", b.Name+"*RQ")
	}
	s := quickSettings("collapsed")
	s.EvaluateEvery, s.Steps, s.Starts = 1, 3, 4
	for _, k := range next(t, trainerOn(t, 2, nil, trainingSeries(7, 60), s, exprs...)).Kernels {
		if k.Status != Live {
			t.Errorf("%s is %s: %s", k.ID, k.Status, k.Reason)
		}
	}
}

// Where the program places the inducing inputs of one column, cycles decide: a
// season of which each cycle gets few is not sampled evenly, however few the rows;
// a slow one is, however many.
func TestPlacementByCycles(t *testing.T) {
	for _, c := range []struct {
		cycles float64
		m      int
		want   string
	}{{50, 100, "jittered"}, {50, 400, "quantiles"}, {3, 32, "quantiles"}} {
		const n = 1500
		rng := rand.New(rand.NewPCG(3, 7))
		d := Training{Dim: 1}
		for i := range n {
			x := float64(i) / n
			d.X, d.Y = append(d.X, x), append(d.Y, math.Sin(2*math.Pi*c.cycles*x)+0.1*rng.NormFloat64())
		}
		s := quickSettings("collapsed")
		s.Inducing = c.m
		tr := trainerOn(t, 1, nil, d, s, "SE")
		if got := tr.placement(c.m); got != c.want {
			t.Errorf("%v cycles, M = %d: %s", c.cycles, c.m, got)
		}
		s.Placement = "random"
		if got := trainerOn(t, 1, nil, d, s, "SE").placement(c.m); got != "random" {
			t.Errorf("asked for random: %s", got)
		}
	}
}
