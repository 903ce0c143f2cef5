package vbks

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"example.com/kestrel/internal/thorough"
)

// A kernel is flagged for what its hyperparameters show, and for nothing else.
func TestFlags(t *testing.T) {
	data := trainingSeries(61, 60) // x from −4 to 4, about sin 2x
	s := quickSettings("collapsed")
	tr := trainerOn(t, 1, nil, data, s, "PER+SE", "PER*PER")
	next(t, tr)
	span := slices.Max(data.X) - slices.Min(data.X)
	for _, c := range []struct {
		name   string
		kernel int
		change func(k *kernel, set func(name string, nth int, v float64))
		want   []Flag
	}{
		{"nothing", 0, func(*kernel, func(string, int, float64)) {}, nil},
		{"a long period", 0, func(_ *kernel, set func(string, int, float64)) { set("period", 0, 0.51*span) }, []Flag{PeriodOnce}},
		{"a period just short enough", 0, func(_ *kernel, set func(string, int, float64)) { set("period", 0, 0.49*span) }, nil},
		{"equal periods", 1, func(_ *kernel, set func(string, int, float64)) { set("period", 1, 1.505) }, []Flag{PeriodsEqual}},
		{"unequal periods", 1, func(_ *kernel, set func(string, int, float64)) { set("period", 1, 1.53) }, nil},
		{"an idle summand", 0, func(_ *kernel, set func(string, int, float64)) { set("variance", 1, 0.0009) }, []Flag{IdleSummand}},
		{"little noise", 0, func(k *kernel, _ func(string, int, float64)) { k.state.Free[len(k.state.Free)-1] = -40 }, []Flag{NoiseAtFloor}},
		{"a climb", 0, func(k *kernel, _ func(string, int, float64)) { k.gain = 2 }, []Flag{StillMoving}},
	} {
		k := *tr.kernels[c.kernel]
		k.state, k.gain = k.state.clone(), 0
		set := func(name string, nth int, v float64) {
			for a, i := range k.program.Free {
				if k.program.Params[i].Name == name {
					if nth == 0 {
						k.state.Free[a] = math.Log(v)
						return
					}
					nth--
				}
			}
			t.Fatalf("%s: no %s", c.name, name)
		}
		for a := range k.state.Free {
			k.state.Free[a] = 0
		}
		k.state.Free[len(k.state.Free)-1] = math.Log(0.1)
		set("period", 0, 1.5)
		if c.kernel == 1 {
			set("period", 1, 2.5)
		}
		c.change(&k, set)
		if got := tr.flags(&k); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// Where the kernel that the data were drawn from is known and another one leads,
// the leader is flagged after the last evaluation, and it is told where the true one
// is; nothing else changes.
func TestKnownTruth(t *testing.T) {
	thorough.Unraced(t)
	data, s := trainingSeries(62, 60), quickSettings("collapsed")
	plain := train(t, trainerOn(t, 1, nil, data, s, fourKernels...))
	last := plain[len(plain)-1]
	leader := last.Leader()
	for _, k := range append(slices.Clone(fourKernels), "LIN", "") {
		data.Truth = k
		tr := trainerOn(t, 1, nil, data, s, fourKernels...)
		i := slices.Index(fourKernels, k)
		for _, e := range train(t, tr) {
			want := e.Index == len(plain) && i >= 0 && i != leader
			if got := slices.Contains(e.Kernels[leader].Flags, NotTheTruth); got != want {
				t.Errorf("truth %q, leader %s, evaluation %d: flagged %v", k, last.Kernels[leader].ID, e.Index, got)
			}
			text := fmt.Sprintf("the data were drawn from %s, which is ", k)
			got := slices.ContainsFunc(e.Notices, func(n Notice) bool { return strings.HasPrefix(n.Text, text) && n.Kernel == k })
			if got != want {
				t.Errorf("truth %q, evaluation %d: notices %+v", k, e.Index, e.Notices)
			}
			for j := range e.Kernels {
				if a, b := e.Kernels[j].Posterior, plain[e.Index-1].Kernels[j].Posterior; a != b {
					t.Errorf("truth %q changes a posterior from %v to %v", k, b, a)
				}
			}
		}
		same(t, "resumed with truth "+k, resumed(t, tr, s), tr)
	}
	data.Truth = fourKernels[leader]
	tr := trainerOn(t, 1, nil, data, s, fourKernels...)
	train(t, tr)
	e, err := tr.Prune(fourKernels[leader : leader+1])
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(e.Kernels[e.Leader()].Flags, NotTheTruth) {
		t.Error("the true kernel is pruned, but the leader not flagged")
	}
}

// It is told of a true kernel that was left out how far behind it was then.
func TestKnownTruthThatWasLeftOut(t *testing.T) {
	s := quickSettings("collapsed")
	s.EvaluateEvery = 1
	tr := trainerOn(t, 1, nil, trainingSeries(5, 40), s, "SE", "PER", "RQ", "LIN")
	next(t, tr)
	_, e := climbing(t, tr, []float64{0, -3, -4, -5.25}, 3, 2)
	if got, want := tr.missed(e, 0, 3), "the data were drawn from LIN, which was left out at M = 128, 5.2 nats behind then"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	e.Kernels[3].LeftOut, e.Kernels[3].Reason = false, ByRequest
	if got, want := tr.missed(e, 0, 3), "the data were drawn from LIN, which is pruned: pruned by request"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
