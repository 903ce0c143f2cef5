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

// training makes the planned evaluations of a small problem.
func training(t *testing.T, dev device.Device, optimizer string) []vbks.Evaluation {
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
	tr, err := vbks.New(context.Background(), dev, data, space, []string{"x"}, s)
	if err != nil {
		t.Fatal(err)
	}
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
