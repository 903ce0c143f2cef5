package series

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/kestrel/experiment/config/configtest"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/record/recordtest"
	"example.com/kestrel/experiment/rundir"
	"example.com/kestrel/experiment/runtest"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/internal/thorough"
)

// repeat makes repeats; cut, if not nil, is asked at each event whether to stop.
func repeat(t *testing.T, n int, dir string, cut func(run int, e *record.Event) bool) (said []string, made int, err error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, err := BeginRepeats(ctx, configtest.Small(t, "schedule.evaluate_every=0.25"), record.Course{PruneTop: 2, ThenRefine: 1}, n, dir,
		func(line string) { said = append(said, line) })
	if err != nil {
		return nil, 0, err
	}
	defer func() { must.OK(t, r.Close()) }()
	for i := 1; i <= n && err == nil; i++ {
		if r.Finished(i) {
			continue
		}
		err = r.Make(ctx, i, record.RecorderFunc(func(e *record.Event) error {
			if cut != nil && cut(i, e) {
				cancel()
			}
			return nil
		}))
		if err == nil {
			made++
		}
	}
	if done := r.Done(); err == nil && done != n {
		t.Errorf("%d of %d done", done, n)
	}
	return said, made, err
}

// Repeats that are cut in the middle of a run, before and behind the course, go on
// in the middle of it and end as those that never were; finished ones are not
// touched, and there may be more of them.
func TestRepeatsGoOn(t *testing.T) {
	thorough.Unraced(t)
	whole := filepath.Join(t.TempDir(), "whole")
	_, _, err := repeat(t, 3, whole, nil)
	must.OK(t, err)
	for what, at := range map[string]struct {
		event record.EventType
		count int
	}{"an evaluation": {record.EventMetrics, 2}, "the pruning": {record.EventPruned, 1}, "the start": {record.EventStarted, 1}} {
		dir := filepath.Join(t.TempDir(), "d")
		seen := 0
		_, made, err := repeat(t, 2, dir, func(run int, e *record.Event) bool {
			if run == 2 && e.Type == at.event {
				seen++
			}
			return seen == at.count
		})
		if !errors.Is(err, context.Canceled) || made != 1 || rundir.IsRun(filepath.Join(dir, "002")) {
			t.Fatalf("%s: %d made, %v", what, made, err)
		}
		first, err := os.ReadFile(filepath.Join(dir, "001", record.EventsFile))
		must.OK(t, err)
		said, made, err := repeat(t, 3, dir, nil)
		if err != nil || made != 2 || !slices.Equal(said, []string{"  goes on where it was cut"}) {
			t.Errorf("%s: %d made, %q, %v", what, made, said, err)
		}
		if now, err := os.ReadFile(filepath.Join(dir, "001", record.EventsFile)); err != nil || string(now) != string(first) {
			t.Errorf("%s: the first run has changed: %v", what, err)
		}
		for _, run := range []string{"001", "002", "003"} {
			runtest.SameResults(t, what+", "+run, filepath.Join(dir, run), filepath.Join(whole, run), filepath.Join(whole, run))
		}
		if a, b := names(t, dir), names(t, whole); a != b {
			t.Errorf("%s: files\n%s\nwant\n%s", what, a, b)
		}
	}
}

// What cannot be gone on with is made anew, where nothing is lost by that; what has
// ended is only put in its place.
func TestCutRuns(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d")
	_, _, err := repeat(t, 1, dir, nil)
	must.OK(t, err)
	run, partial := filepath.Join(dir, "001"), filepath.Join(dir, ".001.partial")
	want := filepath.Join(t.TempDir(), "want")
	runtest.CopyRun(t, run, want)
	for what, c := range map[string]struct {
		spoil func() error
		said  string
	}{
		"ended": {func() error { return nil }, ""},
		"an empty log": {func() error { return os.Truncate(filepath.Join(partial, record.EventsFile), 0) },
			"  made anew: run " + `"` + partial + `" ended before it began`},
		"no log": {func() error { return os.Remove(filepath.Join(partial, record.EventsFile)) }, ""},
	} {
		must.OK(t, os.Rename(run, partial))
		must.OK(t, c.spoil())
		said, _, err := repeat(t, 1, dir, nil)
		if err != nil || !strings.HasPrefix(strings.Join(said, "\n"), c.said) || (c.said == "") != (len(said) == 0) {
			t.Errorf("%s: %q, %v", what, said, err)
		}
		runtest.SameResults(t, what, run, want, want)
	}
	// Only its own process writes a run.
	must.OK(t, os.Rename(run, partial))
	owner, err := rundir.Claim(partial)
	must.OK(t, err)
	if _, _, err := repeat(t, 1, dir, nil); err == nil || !strings.Contains(err.Error(), "is being written by process") {
		t.Errorf("owned by another: %v", err)
	}
	must.OK(t, owner.Close())
	events, err := recordtest.Read(partial)
	if err != nil || len(events) == 0 {
		t.Errorf("%d events are left: %v", len(events), err)
	}
}

// Another config or course is not gone on with.
func TestOtherRepeats(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d")
	_, _, err := repeat(t, 1, dir, nil)
	must.OK(t, err)
	for _, c := range []struct {
		set    string
		course record.Course
		want   string
	}{
		{"seed=2", record.Course{PruneTop: 2, ThenRefine: 1}, "seed = 1, now it is 2"},
		{"schedule.steps=7", record.Course{PruneTop: 2, ThenRefine: 1}, "schedule.steps = 6, now it is 7"},
		{"seed=1", record.Course{PruneTop: 1, ThenRefine: 1}, "--prune-top = 2, now it is 1"},
		{"seed=1", record.Course{PruneTop: 2}, "--then-refine = 1, now it is nothing"},
		{"seed=1", record.Course{PruneTop: 2, ThenRefine: 1, Inducing: 9}, "--then-inducing = nothing, now it is 9"},
	} {
		_, err := BeginRepeats(t.Context(), configtest.Small(t, "schedule.evaluate_every=0.25", c.set), c.course, 2, dir, func(string) {})
		if err == nil || err.Error() != `series of runs "`+dir+`" was begun with `+c.want+
			"; choose another directory with --out, or state the same" {
			t.Errorf("%s, %+v: %v", c.set, c.course, err)
		}
	}
}
