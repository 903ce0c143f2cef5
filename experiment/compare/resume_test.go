package compare

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/config/configtest"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/record/recordtest"
	"example.com/kestrel/experiment/rundir"
	"example.com/kestrel/experiment/runtest"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/internal/thorough"
)

// comparedTelling makes a comparison whose runs of VBKS tell a log; cut, if not
// nil, is asked at each event of them whether to stop there.
func comparedTelling(t *testing.T, c config.Config, dir string, cut func(*record.Event) bool) (told *recordtest.Log, said []string,
	err error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	told = &recordtest.Log{}
	m, err := Begin(ctx, c, dir, Options{
		Say: func(line string) { said = append(said, line) },
		Recorder: func() record.Recorder {
			return record.RecorderFunc(func(e *record.Event) error {
				if cut != nil && cut(e) {
					cancel()
				}
				return told.Record(e)
			})
		},
	})
	if err != nil {
		return told, said, err
	}
	defer func() { must.OK(t, m.Close()) }()
	_, err = m.Run(ctx)
	return told, said, err
}

// A comparison that is stopped in the middle of a run of VBKS goes on in the
// middle of it, and the run ends as one that was never stopped; one that cannot
// go on is made anew, and one that had ended is only put in its place.
func TestComparisonGoesOnInTheMiddleOfARun(t *testing.T) {
	thorough.Unraced(t)
	c := configtest.Compared(t, "compare.methods=vbks,vbks-s,random", "compare.runs=1", "compare.random_runs=2", "schedule.evaluate_every=0.2")
	whole := filepath.Join(t.TempDir(), "whole")
	_, _, err := comparedTelling(t, c, whole, nil)
	must.OK(t, err)
	run := filepath.Join(config.MethodAverage, "1")
	partial := filepath.Join(config.MethodAverage, ".1.partial")
	want := filepath.Join(whole, run)
	all := 0 // evaluations
	events, err := recordtest.Read(want)
	must.OK(t, err)
	for i := range events {
		if events[i].Type == record.EventEvaluation {
			all++
		}
	}
	begin := func() (dir string) {
		dir = filepath.Join(t.TempDir(), "c")
		told, _, err := comparedTelling(t, c, dir, func(e *record.Event) bool {
			return e.Type == record.EventMetrics &&
				e.Metrics[0].Evaluation == 2
		})
		if !errors.Is(err, context.Canceled) || told.Count(record.EventEvaluation) < 2 || told.Count(record.EventEvaluation) == all {
			t.Fatalf("cut after %d of %d evaluations: %v", told.Count(record.EventEvaluation), all, err)
		}
		if _, err := os.Stat(filepath.Join(dir, run)); !errors.Is(err, fs.ErrNotExist) {
			t.Fatal("a run that was cut is in its place:", err)
		}
		return dir
	}
	for what, spoil := range map[string]func(dir string){
		"as it was": func(string) {},
		"a damaged checkpoint": func(dir string) {
			must.OK(t, os.Truncate(filepath.Join(dir, partial, record.StateDir, record.CheckpointFile), 100))
		},
		"an empty log": func(dir string) { must.OK(t, os.Truncate(filepath.Join(dir, partial, record.EventsFile), 0)) },
		"ended": func(dir string) {
			must.OK(t, os.RemoveAll(filepath.Join(dir, partial)))
			runtest.CopyRun(t, want, filepath.Join(dir, partial))
		},
	} {
		dir := begin()
		before, err := recordtest.Read(filepath.Join(dir, partial))
		must.OK(t, err)
		spoil(dir)
		told, said, err := comparedTelling(t, c, dir, nil)
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		runtest.SameResults(t, what, filepath.Join(dir, run), want, filepath.Join(dir, run))
		lines := strings.Join(said, "\n")
		after, err := recordtest.Read(filepath.Join(dir, run))
		must.OK(t, err)
		switch what {
		case "as it was":
			const goesOn = "goes on where it was cut"
			if !strings.HasPrefix(lines, goesOn+": 0 of 2 runs finished\nvbks, run 1, seed 1\n  "+goesOn+"\n") ||
				told.Count(record.EventStarted) != 1 ||
				told.Count(record.EventResumed) != 1 || told.Count(record.EventEvaluation) != all {
				t.Errorf("%s: %s; told %d starts, %d resumptions, %d evaluations of %d", what, lines, told.Count(record.EventStarted),
					told.Count(record.EventResumed), told.Count(record.EventEvaluation), all)
			}
			if !after[0].Time.Equal(before[0].Time) {
				t.Errorf("%s: the run has begun again", what)
			}
		case "ended":
			if told.Count(record.EventEvaluation) != 0 {
				t.Errorf("%s: %d evaluations were made", what, told.Count(record.EventEvaluation))
			}
		default:
			if !strings.Contains(lines, "made anew: ") || told.Count(record.EventResumed) != 0 || after[0].Time.Equal(before[0].Time) {
				t.Errorf("%s: %s; told %d resumptions", what, lines, told.Count(record.EventResumed))
			}
		}
		if _, err := os.Stat(filepath.Join(dir, partial)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", what, err)
		}
		text, err := os.ReadFile(filepath.Join(dir, record.FinalsFile))
		must.OK(t, err)
		if n := bytes.Count(text, []byte("\n")); n != 5 { // a header, vbks, vbks-s and two of random
			t.Errorf("%s: %d lines in\n%s", what, n, text)
		}
	}
	// What is only in the way for now does not cost the run.
	dir := begin()
	owner, err := rundir.Claim(filepath.Join(dir, partial))
	must.OK(t, err)
	if _, _, err := comparedTelling(t, c, dir, nil); err == nil || !strings.Contains(err.Error(), "is being written by process") ||
		strings.Contains(err.Error(), "\n") {
		t.Errorf("owned by another: %v", err)
	}
	must.OK(t, owner.Close())
	if _, said, err := comparedTelling(t, c, dir, nil); err != nil || !slices.Contains(said, "  goes on where it was cut") {
		t.Errorf("then: %v, %q", err, said)
	}
	runtest.SameResults(t, "then", filepath.Join(dir, run), want, filepath.Join(dir, run))
}
