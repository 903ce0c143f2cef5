//go:build cuda

package cuda_test

import (
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"example.com/kestrel/device"
	"example.com/kestrel/device/cpu"
	"example.com/kestrel/device/cuda"
	"example.com/kestrel/device/cuda/driver/fake"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks"
)

// trainer is one of a small problem.
func trainer(t *testing.T, dev device.Device, optimizer string, change func(*vbks.Settings)) *vbks.Trainer {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	data := vbks.Training{Dim: 1, X: make([]float64, 60), Y: make([]float64, 60)}
	for i := range data.X {
		data.X[i] = 4 * (2*rng.Float64() - 1)
		data.Y[i] = math.Sin(2*data.X[i]) + 0.3*data.X[i] + 0.3*rng.NormFloat64()
	}
	var space []vbks.Candidate
	for _, s := range []string{"SE", "LIN+RQ", "PER"} {
		e, err := kernelspace.Parse(s)
		if err != nil {
			t.Fatal(err)
		}
		space = append(space, vbks.Candidate{Expr: e, Weight: 1})
	}
	s := vbks.DefaultSettings()
	s.Optimizer, s.Inducing, s.Batch = optimizer, 8, 16
	s.Jitter = device.Jitter{Relative: 1e-6} // less tells cards and cores apart in the last digits
	s.EvaluateEvery, s.Refine, s.Steps, s.Starts, s.Samples = 0.5, 0, 6, 1, 200
	change(&s)
	tr, err := vbks.New(context.Background(), dev, data, space, []string{"x"}, s)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// training makes its planned evaluations.
func training(t *testing.T, dev device.Device, optimizer string) []vbks.Evaluation {
	t.Helper()
	tr := trainer(t, dev, optimizer, func(*vbks.Settings) {})
	var out []vbks.Evaluation
	for !tr.Done() {
		e, err := tr.Next(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, *e)
	}
	return out
}

// TestTraining runs whole evaluations: on one card and on two they are the same
// bit for bit, and kernels rank as on the CPU.
func TestTraining(t *testing.T) {
	for _, optimizer := range []string{"natural", "adam", "collapsed"} {
		if testing.Short() && optimizer != "adam" {
			continue
		}
		pretend(t, fake.Options{Cards: 2})
		one := training(t, open(t, cuda.Options{Cards: []int{0}, Generate: cuda.GenerateNever}), optimizer)
		two := training(t, open(t, cuda.Options{Generate: cuda.GenerateNever}), optimizer)
		if !reflect.DeepEqual(one, two) {
			t.Errorf("%s: one card and two give different evaluations", optimizer)
		}
		want := training(t, cpu.New(cpu.Options{Lanes: 1}), optimizer)
		for i := range want {
			for k := range want[i].Kernels {
				g, w := one[i].Kernels[k], want[i].Kernels[k]
				if g.ID != w.ID || g.Rank != w.Rank {
					t.Errorf("%s, evaluation %d: %s is of rank %d, on the CPU %s of rank %d", optimizer, i+1, g.ID, g.Rank, w.ID, w.Rank)
				}
				t.Logf("%s, evaluation %d, %s: %.6f, on the CPU %.6f", optimizer, i+1, g.ID, g.ELBO, w.ELBO)
			}
		}
	}
}

// meter counts the matrices of M x M that are copied to a device and from it.
type meter struct {
	device.Device
	m             int
	in, out       int
	read, written int // bytes of these
}

func (d *meter) Lane(i int) device.Lane { return &meteredLane{d.Device.Lane(i), d} }

type meteredLane struct {
	device.Lane
	meter *meter
}

func (l *meteredLane) square(a device.Array) bool {
	_, rows, cols := a.Shape()
	return rows == l.meter.m && cols == l.meter.m
}

func (l *meteredLane) Write(a device.Array, k int, src []float64) {
	if l.square(a) {
		l.meter.in++
		l.meter.written += 8 * len(src)
	}
	l.Lane.Write(a, k, src)
}

func (l *meteredLane) Read(a device.Array, k int, dst []float64) error {
	if l.square(a) {
		l.meter.out++
		l.meter.read += 8 * len(dst)
	}
	return l.Lane.Read(a, k, dst)
}

// TestMatricesStayOnTheCard counts what of q(v) goes over the bus in evaluations that go on from the
// one before, and in predictions behind them: each matrix once out, and none in. Before, each went in
// twice and out twice.
func TestMatricesStayOnTheCard(t *testing.T) {
	pretend(t, fake.Options{})
	for optimizer, each := range map[string]int{"natural": 1, "adam": 3} {
		if testing.Short() && optimizer != "adam" {
			continue
		}
		d := &meter{Device: open(t, cuda.Options{Generate: cuda.GenerateNever}), m: 11} // no other matrix is 11 x 11
		tr := trainer(t, d, optimizer, func(s *vbks.Settings) {
			s.Inducing, s.EvaluateEvery, s.Hyperparameters = 11, 0.25, "diagonal"
		})
		for i := range 3 {
			d.in, d.out, d.read, d.written = 0, 0, 0, 0
			if _, err := tr.Next(context.Background()); err != nil {
				t.Fatal(err)
			}
			if _, err := tr.Predict(context.Background(), []float64{0, 1}, vbks.PredictOptions{}); err != nil {
				t.Fatal(err)
			}
			t.Logf("%s, evaluation %d of 3 kernels: %d bytes of matrices in, %d out", optimizer, i+1, d.written, d.read)
			// The first two may begin at the prior: solutions are looked for.
			if want := 3 * each; d.out != want || d.in > want || i == 2 && d.in != 0 {
				t.Errorf("%s, evaluation %d: %d matrices in, %d out, want 0 and %d", optimizer, i+1, d.in, d.out, want)
			}
		}
	}
}

// told collects and removes the notices, so that the rest can be compared.
func told(es []vbks.Evaluation) (notices []string) {
	for i := range es {
		for _, n := range es[i].Notices {
			notices = append(notices, n.Text)
		}
		es[i].Notices = nil
	}
	return notices
}

// TestTrainingOnFailingCards loses one of two cards in the middle, and runs with so
// little memory that the kernels are taken one at a time: evaluations are the same
// bit for bit, and the notices say what happened.
func TestTrainingOnFailingCards(t *testing.T) {
	for _, c := range []struct {
		optimizer string
		failAt    int
		memory    int64
	}{{"adam", 400, 560 << 10}, {"natural", 500, 560 << 10}, {"collapsed", 800, 560 << 10}} {
		if testing.Short() && c.optimizer != "adam" {
			continue
		}
		var want []vbks.Evaluation
		t.Run(c.optimizer+"/sound", func(t *testing.T) {
			pretend(t, fake.Options{})
			want = training(t, open(t, cuda.Options{Generate: cuda.GenerateNever}), c.optimizer)
			told(want)
		})
		t.Run(c.optimizer+"/lost", func(t *testing.T) {
			pretend(t, fake.Options{Cards: 2, FailAt: c.failAt, FailCard: 2})
			got := training(t, open(t, cuda.Options{Generate: cuda.GenerateNever}), c.optimizer)
			if n := told(got); len(n) != 1 || !strings.Contains(n[0], "lane 2 of 2 is lost") || !strings.Contains(n[0], "fake card 1") {
				t.Errorf("notices %q", n)
			}
			if !reflect.DeepEqual(got, want) {
				t.Error("other evaluations when a card is lost")
			}
		})
		t.Run(c.optimizer+"/memory", func(t *testing.T) {
			pretend(t, fake.Options{Memory: c.memory})
			got := training(t, open(t, cuda.Options{Generate: cuda.GenerateNever}), c.optimizer)
			if n := told(got); !slices.Equal(n, []string{"card memory: kernels are taken 1 at a time"}) {
				t.Errorf("notices %q", n)
			}
			if !reflect.DeepEqual(got, want) {
				t.Error("other evaluations with little memory")
			}
		})
	}
}
