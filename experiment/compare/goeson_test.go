package compare

import (
	"context"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"example.com/kestrel/experiment/config/configtest"
	"example.com/kestrel/experiment/files/filestest"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/internal/thorough"
)

// While a comparison goes on with another method, its tables hold all that is
// there.
func TestComparisonWithOneMethodMore(t *testing.T) {
	thorough.Unraced(t)
	dir := filepath.Join(t.TempDir(), "c")
	_, _, err := compareIn(t.Context(), t, configtest.Compared(t, "compare.methods=vbks,bo", "compare.runs=1", "compare.budget=2"), dir, nil)
	must.OK(t, err)
	_, _, err = compareIn(t.Context(), t, configtest.Compared(t, "compare.methods=vbks,bo", "compare.runs=3", "compare.budget=2"), dir, nil)
	must.OK(t, err)
	before := tablesOf(t, dir)
	rows := func() (have []string) {
		table, err := filestest.ReadTable(filepath.Join(dir, record.FinalsFile))
		must.OK(t, err)
		for i := range table.Rows {
			have = append(have, table.Text(i, "method")+" "+table.Text(i, "run"))
		}
		must.OK(t, table.Err)
		return have
	}
	old := []string{"vbks 1", "vbks 2", "vbks 3", "bo 1", "bo 2", "bo 3"}
	heard := 0
	_, _, err = compareIn(t.Context(), t, configtest.Compared(t, "compare.methods=vbks,bo,vbks-prune", "compare.runs=3", "compare.budget=2"),
		dir, func(line string) {
			heard++
			switch line {
			case "goes on where it was cut: 6 of 9 runs finished":
			case "vbks-prune, run 1, seed 1":
				if tablesOf(t, dir) != before {
					t.Error("the tables have changed before anything was made")
				}
			case "vbks-prune, run 2, seed 2":
				if have, want := rows(), append(slices.Clone(old), "vbks-prune 1"); !slices.Equal(have, want) {
					t.Errorf("after the first new run the table has %v, want %v", have, want)
				}
			case "vbks-prune, run 3, seed 3":
			default:
				t.Errorf("done again: %s", line)
			}
		})
	must.OK(t, err)
	if have, want := rows(), append(slices.Clone(old), "vbks-prune 1", "vbks-prune 2", "vbks-prune 3"); !slices.Equal(have, want) ||
		heard != 4 {
		t.Errorf("in the end the table has %v, want %v", have, want)
	}
}

// A comparison that is stopped keeps what is there in its tables.
func TestStoppedComparisonKeepsItsTables(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "c")
	set := []string{"compare.budget=2", "compare.random_runs=4"}
	_, _, err := compareIn(t.Context(), t, configtest.Compared(t, append(set, "compare.methods=vbks,random")...), dir, nil)
	must.OK(t, err)
	before := tablesOf(t, dir)
	ctx, cancel := context.WithCancel(t.Context())
	_, _, err = compareIn(ctx, t, configtest.Compared(t, append(set, "compare.methods=vbks,random,cks")...), dir, func(string) { cancel() })
	if err == nil {
		t.Fatal("it was not stopped")
	}
	if tablesOf(t, dir) != before {
		t.Error("the tables have changed though nothing was made")
	}
}

// slowSearcher takes its time: a minute to load, a second to choose.
type slowSearcher struct{ prepared bool }

func (*slowSearcher) over([]searchStep) bool { return false }

func (*slowSearcher) score(r *finishedRun) float64 { return r.ELBO }

func (s *slowSearcher) prepare(context.Context, []searchStep) error {
	time.Sleep(time.Minute)
	s.prepared = true
	return nil
}

func (s *slowSearcher) next(_ context.Context, done []searchStep) (string, error) {
	if !s.prepared {
		time.Sleep(time.Hour)
	}
	time.Sleep(time.Second)
	return "k", nil
}

// Of a choice only the choosing counts: neither what is loaded for it nor what
// earlier choices rest on.
func TestLoadingIsNotChoosing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, goesOn := range []bool{false, true} {
			step, err := choose(t.Context(), &slowSearcher{}, make([]searchStep, 1), goesOn)
			if err != nil || step.ID != "k" || step.Choosing != 1 {
				t.Errorf("going on %v: %+v, %v", goesOn, step, err)
			}
		}
	})
}

// Bayesian optimisation opens what gives the distances when it is to choose by
// them, and not while it chooses.
func TestBayesianOptimisationIsPrepared(t *testing.T) {
	s, value := toySpace(boFirst+2, 2, 1)
	opened := 0
	s.open = func(context.Context) error { opened++; return nil }
	var done []searchStep
	for !s.over(done) {
		must.OK(t, s.prepare(t.Context(), done))
		if before := opened; (len(done) >= boFirst) != (before > 0) {
			t.Errorf("opened %d times before choice %d", opened, len(done)+1)
		}
		id, err := s.next(t.Context(), done)
		must.OK(t, err)
		done = append(done, searchStep{ID: id, Score: value(id)})
	}
}
