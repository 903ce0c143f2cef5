package vbks

import (
	"slices"
	"testing"
)

// The table names every optimiser once, "auto" chooses by the number of rows, and
// no other name is taken.
func TestOptimizerTable(t *testing.T) {
	if got := OptimizerNames(); !slices.Equal(got, append([]string{"auto"}, optimizers...)) {
		t.Errorf("names %q", got)
	}
	s := Settings{Optimizer: "auto", Hyperparameters: "point"}
	for rows, want := range map[int]string{1: "collapsed", 4000: "collapsed", 4001: "natural"} {
		if got := s.resolved(rows); got != want {
			t.Errorf("%d rows: %q, want %q", rows, got, want)
		}
	}
	if s.Optimizer = "adam"; s.resolved(10) != "adam" {
		t.Error("a choice is not kept")
	}
	s.Optimizer = "newton"
	if _, err := s.Effort(10); err == nil {
		t.Error("an effort of an unknown optimiser")
	}
	dev := onCPU(1)
	defer dev.Close()
	if _, err := New(t.Context(), dev, trainingSeries(1, 20), candidates(t, "SE"), []string{"x"}, s); err == nil {
		t.Error("a trainer with an unknown optimiser")
	}
}

// What an estimate is told of the optimisers is what rounds do.
func TestEffort(t *testing.T) {
	of := func(optimizer, theta string) Effort {
		e, err := Settings{Optimizer: optimizer, Hyperparameters: theta, Steps: 40, Batch: 16, ELBORows: 1000}.Effort(5000)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	exact, natural, wide, adam := of("collapsed", "point"), of("auto", "point"), of("natural", "full"), of("adam", "point")
	if !exact.Exact() || natural.Exact() || adam.Exact() {
		t.Error("only the collapsed bound is exact")
	}
	if exact.Carried() != 0 || natural.Carried() != 1 || adam.Carried() != 3 {
		t.Error("matrices of a state")
	}
	if natural.Moving() != 0.5 || adam.Moving() != 1 || exact.Moving() != 0 {
		t.Error("steps that move θ")
	}
	tunes := func(e Effort, seen, all, live int) bool { return e.Ending(seen, all, live, 64, false).Stages != nil }
	passes := func(e Effort, seen, live int, last bool) bool {
		return e.Ending(seen, 1e6, live, 64, last).Exact == live
	}
	for _, c := range []struct {
		what      string
		got, want bool
	}{
		{"tuning at the end", tunes(natural, 5000, 5000, 4000), true},
		{"tuning of many", tunes(natural, 5000, 5000, 4001), true},
		{"tuning while data arrive", tunes(natural, 4999, 5000, 1), false},
		{"tuning of a belief", tunes(wide, 5000, 5000, 1), false},
		{"tuning by adam", tunes(adam, 5000, 5000, 1), false},
		{"a pass over few", passes(natural, 5000, 20, false), true},
		{"a pass over more", passes(natural, 5000, 21, false), false},
		{"a pass that costs what the steps do", passes(natural, 4*40*16, 1000, false), true},
		{"the last pass", passes(wide, 1e6, 20, true), true},
		{"a last pass over too many", passes(natural, 1e6, 21, true), false},
		{"a pass by adam", passes(adam, 1, 1, true), false},
		{"a pass of the bound", passes(exact, 1, 1, true), false},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v", c.what, c.got)
		}
	}
}
