package vbks

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"example.com/kestrel/vbks/params"
)

// Once all data are in use, natural gradients end at a stationary point of the
// collapsed bound, and the local ELBO is the bound there: by dense matrices.
func TestTunedHyperparametersAreStationary(t *testing.T) {
	data := trainingSeries(31, 120)
	s := quickSettings("natural")
	s.ThetaPrior, s.Steps, s.Refine = false, 80, 1
	s.ELBORows = 40 // of 120: what was estimated on them would be nats off
	tr := trainerOn(t, 2, nil, data, s, fourKernels...)
	var last Evaluation
	for _, e := range train(t, tr) {
		last = e
	}
	for i, k := range tr.kernels {
		bound := func(free []float64) float64 {
			raw, noise := params.Raw(k.program, free, tr.floor)
			return naiveCollapsed(k.program, raw, noise, data.X, data.Y, tr.inducing, 1, s.Jitter)
		}
		top := bound(k.state.Free)
		near := 1e-8
		if k.id == "PER" { // of a period that is never seen: its k(Z,Z) is nearly singular, and sines of small angles are rounded
			near = 2e-6
		}
		if got := last.Kernels[i].ELBO; math.Abs(got-top) > near*math.Abs(top) || last.Kernels[i].ELBORows != 120 {
			t.Errorf("%s: local ELBO %.6f, the bound at its hyperparameters is %.6f", k.id, got, top)
		}
		for a := range k.state.Free {
			if v := k.state.Free[a]; v < k.prior.lo[a] || v > k.prior.hi[a] {
				continue // held by a soft bound
			}
			for _, h := range []float64{-0.02, 0.02} {
				x := slices.Clone(k.state.Free)
				x[a] += h * tr.strides(k.program, x)[a]
				if gain := bound(x) - top; gain > 0.05 {
					t.Errorf("%s: a step of %+g in hyperparameter %d gains %.3g nats", k.id, h, a, gain)
				}
			}
		}
	}
}

// The rows that hyperparameters are tuned on are distinct, none of those that
// local ELBOs are estimated on while there are enough, and Σ y² is theirs.
func TestTuneSample(t *testing.T) {
	const n = 500
	data := trainingSeries(32, n)
	for _, c := range []struct{ m, rows int }{{8, 160}, {24, 480}, {40, n}} {
		s := quickSettings("natural")
		s.Inducing, s.ELBORows = c.m, n-160
		tr := trainerOn(t, 1, nil, data, s, "SE")
		set := tr.tuneSample(tuningStages(n, c.m, 1, 40, false)[0].Rows)
		if set.N != c.rows || set.Rows != nil && len(set.Rows) != c.rows {
			t.Fatalf("M = %d: %d rows, %d listed; want %d", c.m, set.N, len(set.Rows), c.rows)
		}
		rows := set.Rows
		if rows == nil {
			for i := range int32(n) {
				rows = append(rows, i)
			}
		}
		var yy float64
		seen := map[int32]bool{}
		for _, i := range rows {
			seen[i] = true
			yy += data.Y[i] * data.Y[i]
		}
		if len(seen) != c.rows || math.Abs(yy-set.YY) > 1e-9*yy {
			t.Errorf("M = %d: %d distinct rows, Σy² %g, want %d and %g", c.m, len(seen), set.YY, c.rows, yy)
		}
		for _, i := range tr.elboSample(n).Rows {
			if c.m == 8 && seen[i] {
				t.Fatalf("row %d is both tuned and estimated on", i)
			}
		}
	}
}

// Every stage has at least twice the rows of the one before and no more kernels, three
// where there are so many. The last has all rows, where all data decide, unless that is
// too much work: then none is longer than the first, or little in any case.
func TestTuningStages(t *testing.T) {
	for _, c := range []struct {
		n, m, live int
		all        bool
	}{
		{100, 64, 12, true}, {5000, 64, 144, true}, {250_000, 64, 1, true}, {15_000, 512, 3, true}, {190_336, 128, 3, false}, {1281, 64, 1, true},
		{190_336, 512, 3, false}, {190_000, 800, 2, false}, {8_000_000, 64, 144, false}, {30_000_000, 64, 144, false}, {30_000_000, 64, 1, false},
	} {
		stages := tuningStages(c.n, c.m, c.live, 40, true)
		first := stages[0]
		if first.Kernels != c.live || first.Rows != min(c.n, 20*c.m) {
			t.Errorf("%v: begins with %v", c, first)
		}
		work := func(s TuningStage) float64 { return float64(s.Rows) * float64(s.Kernels) * float64(s.Steps) }
		for i := 1; i < len(stages); i++ {
			a, b := stages[i-1], stages[i]
			if b.Rows < 2*a.Rows && b.Rows < c.n || b.Rows <= a.Rows || b.Kernels > a.Kernels || b.Kernels < min(3, c.live) {
				t.Errorf("%v: %v after %v", c, b, a)
			}
			if little := 10 * tunedWork / float64(c.m*(c.m+200)); work(b) > max(work(first), little) {
				t.Errorf("%v: %v takes longer than %v", c, b, first)
			}
		}
		if last := stages[len(stages)-1]; (last.Rows == c.n) != c.all {
			t.Errorf("%v: ends with %v", c, last)
		}
		told := tunedOn(stages, c.n, c.m)
		if part := stages[len(stages)-1].Rows; (told == "") != c.all || !c.all && !strings.Contains(told, fmt.Sprintf("tuned on %d of", part)) {
			t.Errorf("%v: told %q of %d rows", c, told, part)
		}
		if some := tuningStages(c.n, c.m, c.live, 40, false); len(some) != 1 || some[0] != stages[0] {
			t.Errorf("%v: %v before the last evaluation", c, some)
		}
	}
}

// Of two trials the better one goes first; one that cannot be valued goes nowhere, and a single one costs no evaluation.
func TestBetterFirst(t *testing.T) {
	wall := func(x, grad []float64) (float64, bool) {
		if x[0] > 10 {
			return 0, false
		}
		return quadratic(0)(x, grad)
	}
	o := &testObjective{functions: slices.Repeat([]testFunction{wall}, 5)}
	at := func(xs ...float64) (out []*ascent) {
		for _, x := range xs {
			out = append(out, &ascent{start: []float64{x}})
		}
		return out
	}
	trials := [][]*ascent{at(3, 1), at(1, 3), at(20, 2), at(7), nil}
	if err := betterFirst(trials, o.objective(), func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	want := [][]float64{{1, 3}, {1, 3}, {2}, {7}, nil}
	for i, both := range trials {
		var got []float64
		for _, a := range both {
			got = append(got, a.start[0])
		}
		if !slices.Equal(got, want[i]) {
			t.Errorf("member %d: trials from %v, want %v", i, got, want[i])
		}
	}
	for _, b := range o.batches {
		if slices.Contains(b, 3) {
			t.Error("a single trial was valued")
		}
	}
	if err := betterFirst(trials, o.objective(), func() error { return errDevice }); !errors.Is(err, errDevice) {
		t.Errorf("stopped: %v", err)
	}
}
