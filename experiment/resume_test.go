package experiment_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.com/kestrel/experiment"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/config/configtest"
	"example.com/kestrel/experiment/history"
	"example.com/kestrel/experiment/history/historytest"
	"example.com/kestrel/experiment/npz"
	"example.com/kestrel/experiment/npz/npztest"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/record/recordtest"
	"example.com/kestrel/experiment/rundir"
	"example.com/kestrel/experiment/runtest"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/internal/thorough"
	"example.com/kestrel/vbks"
)

// A run that is cut off at any moment ends, resumed, as the one that was not.
func TestResumeFromEveryMoment(t *testing.T) {
	thorough.Unraced(t)
	for _, c := range []struct {
		name   string
		set    []string
		course record.Course
		every  int // of all moments
		share  int // of those in a sample: no product of the two is one of three, the moments that each evaluation has
	}{
		{"collapsed", configtest.Integrated, record.Course{PruneTop: 2, ThenRefine: 1}, 1, 8},
		{"natural", []string{"optimise.optimizer=natural", "schedule.batch=16", "predict.metric_rows=7"}, record.Course{}, 1, 10},
		{"adam with q(log theta)", []string{"optimise.optimizer=adam", "optimise.hyperparameters=diagonal", "schedule.batch=16"},
			record.Course{PruneTop: 2}, 1, 11},
		// Checkpoints beside the work, of the first evaluation, before orders and at the end.
		{"late checkpoints", []string{"schedule.checkpoint=3600", "schedule.evaluate_every=0.25"},
			record.Course{PruneTop: 2, ThenRefine: 2}, 1, 10},
		{"late checkpoints, natural", []string{"schedule.checkpoint=3600", "schedule.evaluate_every=0.25", "optimise.optimizer=natural",
			"schedule.batch=16"}, record.Course{}, 1, 10},
		{"growing", growing(), record.Course{PruneTop: 2, ThenRefine: 1}, 5, 4},
		{"inducing inputs by themselves", rungs(), record.Course{PruneTop: 2, ThenRefine: 1, Inducing: 20}, 4, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			if racing && (c.course.Inducing > 0 || c.name == "late checkpoints, natural") {
				t.Skip("takes long with the race detector")
			}
			dir, shots := filmed(t, configtest.Small(t, c.set...), c.course, nil)
			if c.course.Inducing > 0 {
				mustRise(t, dir, []int{64, 140, 20})
			}
			if strings.HasPrefix(c.name, "late") {
				mustLag(t, shots)
			}
			resumeAll(t, dir, shots, c.every*thorough.OneIn(t, c.share, "moments"))
		})
	}
}

// growing are settings of a run whose space grows.
func growing(more ...string) []string {
	return append([]string{"kernels.expressions=SE,LIN,PER", "kernels.grow=true", "kernels.grow_live=6", "kernels.grow_leaves=2"}, more...)
}

// The tables of a growing run are the same whatever the lanes, and its log tells of every kernel
// from where it came, in time for what is told of it.
func TestGrowingRun(t *testing.T) {
	thorough.Unraced(t)
	base := t.TempDir()
	one, two := filepath.Join(base, "one"), filepath.Join(base, "two")
	runtest.In(t, configtest.Small(t, growing("device.lanes=1")...), one)
	runtest.In(t, configtest.Small(t, growing("device.lanes=2")...), two)
	runtest.SameResults(t, "two lanes", two, one, one)
	events, err := recordtest.Read(one)
	must.OK(t, err)
	known, come, gone := map[string]bool{}, 0, 0
	for i := range events {
		e := &events[i]
		switch e.Type {
		case record.EventStarted:
			for _, k := range e.Start.Kernels {
				known[k.ID] = true
			}
		case record.EventEntered:
			for _, k := range e.Entered {
				if !known[k.Parent] || k.Step == "" || !(k.LogPrior < 0) || len(k.Kernel.Params) == 0 {
					t.Errorf("%+v", k)
				}
				known[k.Kernel.ID] = true
				come++
			}
		case record.EventLeft:
			for _, id := range e.Kernels {
				if !known[id] {
					t.Errorf("%s has gone, but was never there", id)
				}
				delete(known, id)
				gone++
			}
		case record.EventEvaluation:
			if len(e.Evaluation.Kernels) != len(known) {
				t.Errorf("evaluation %d tells of %d kernels, there are %d", e.Evaluation.Index, len(e.Evaluation.Kernels), len(known))
			}
			for _, k := range e.Evaluation.Kernels {
				if !known[k.ID] || k.Fit != nil && len(k.Fit.Params) == 0 {
					t.Errorf("evaluation %d: %+v", e.Evaluation.Index, k)
				}
			}
		}
	}
	if come < 5 || gone < 1 {
		t.Errorf("%d kernels have come, %d gone: the test says little", come, gone)
	}
	s, err := history.ReadSummary(one)
	must.OK(t, err)
	if n := len(s.Grown); n > 0 && (s.Grown[n-1].ID != s.Evaluation.Leader().ID || s.Grown[0].Step != "" || s.Grown[1].Step == "") {
		t.Errorf("the way to the leader is %+v", s.Grown)
	}
	text, err := os.ReadFile(filepath.Join(one, record.KernelsFile))
	must.OK(t, err)
	if head, _, _ := strings.Cut(string(text), "\n"); !strings.HasSuffix(head, ",parent,step") {
		t.Errorf("the columns of %s are %s", record.KernelsFile, head)
	}
	// What was told is told again by an export.
	to := filepath.Join(base, "again")
	must.OK(t, rundir.Export(one, to))
	runtest.SameResults(t, "exported", to, one, one)
	// A run that did not grow does by order.
	order := func(r *experiment.Run, at int) error {
		if at == 0 {
			return r.Reoptimize(vbks.Change{Grow: vbks.GrowOn})
		}
		return nil
	}
	dir, shots := filmed(t, configtest.Small(t, growing("kernels.grow=false")...), record.Course{}, order)
	resumeAll(t, dir, shots, 10)
	events, err = recordtest.Read(dir) // what that takes is told beforehand
	must.OK(t, err)
	at := slices.IndexFunc(events, func(e record.Event) bool { return e.Type == record.EventReoptimised })
	told := regexp.MustCompile(`^the space of kernels grows: some \d+ come as a rule, which with what follows takes about .*s, \d+ MB$`)
	if at < 0 || events[at+1].Type != record.EventNotice || !told.MatchString(events[at+1].Notice) {
		t.Errorf("of the order it is said: %+v", events[at+1])
	}
}

// rungs are settings of a run that needs two numbers of inducing inputs: of data
// without noise much jitter is open. The second is of the best alone, without LIN.
func rungs(more ...string) []string {
	return append([]string{"sparse.inducing=auto", "data.outputs=140", "data.noise=0", "kernels.expressions=MATERN12,SE,LIN,MATERN32,RQ",
		"schedule.steps=3", "optimise.transplants=false", "sparse.jitter=1e-6", "sparse.compare_all=100"}, more...)
}

// mustRise fails the test unless a run has had these numbers of inducing inputs.
func mustRise(t *testing.T, dir string, want []int) {
	t.Helper()
	events, err := recordtest.Read(dir)
	must.OK(t, err)
	var s record.Standing
	for i := range events {
		s.Apply(&events[i])
	}
	if !slices.Equal(s.Inducing, want) {
		t.Fatalf("inducing inputs %v, want %v: the test says little", s.Inducing, want)
	}
}

// Between two numbers of inducing inputs, as well.
func TestResumeKeepsOrdersBetweenRungs(t *testing.T) {
	thorough.Unraced(t)
	dir, shots := filmed(t, configtest.Small(t, rungs("schedule.refine=0")...), record.Course{}, func(r *experiment.Run, at int) error {
		switch at {
		case 2:
			return r.Prune([]string{"RQ"})
		case 0:
			if err := r.Restore([]string{"RQ", "LIN"}); err != nil {
				return err
			}
			return r.Reoptimize(vbks.Change{Rounds: 1})
		}
		return nil
	})
	mustRise(t, dir, []int{64, 140})
	resumeAll(t, dir, shots, 2*thorough.OneIn(t, 2, "moments"))
}

// Orders given in the run before it was cut off are part of it.
func TestResumeKeepsOrders(t *testing.T) {
	thorough.Unraced(t)
	first := func(r *experiment.Run, at int) error {
		if at != 1 {
			return nil
		}
		return r.Prune([]string{"SE"})
	}
	dir, shots := filmed(t, configtest.Small(t, "schedule.evaluate_every=0.4"), record.Course{}, first)
	resumeAll(t, dir, shots, 3)
	dir, shots = filmed(t, configtest.Small(t), record.Course{}, func(r *experiment.Run, at int) error {
		if at != 0 {
			return first(r, at)
		}
		if err := r.Reoptimize(vbks.Change{Inducing: 10, Steps: 7, Rounds: 2}); err != nil {
			return err
		}
		return r.Restore([]string{"SE"})
	})
	log, err := os.ReadFile(filepath.Join(dir, record.EventsFile))
	must.OK(t, err)
	for _, what := range []record.EventType{record.EventPruned, record.EventRestored, record.EventReoptimised} {
		if !bytes.Contains(log, []byte(fmt.Sprintf(`"type":"%s"`, what))) {
			t.Fatalf("no event %s: the test says nothing", what)
		}
	}
	resumeAll(t, dir, shots, 3)
	// Begun again, it is given the same orders.
	run := filepath.Join(t.TempDir(), "run")
	runtest.CopyRun(t, dir, run)
	_, err = runtest.TakeUp(t, run, experiment.ResumeOptions{FromStart: true})
	must.OK(t, err)
	runtest.SameResults(t, "begun again", run, dir, dir)
	aside, err := filepath.Glob(filepath.Join(run, "before-*"))
	must.OK(t, err)
	if len(aside) != 1 {
		t.Fatalf("what was there is in %q", aside)
	}
	for _, name := range []string{record.EventsFile, record.PosteriorFile, record.MetricsFile, record.KernelsFile, record.ConfigFile,
		record.LogFile, filepath.Join(record.StateDir, record.CheckpointFile)} {
		a, errA := os.ReadFile(filepath.Join(aside[0], name))
		b, errB := os.ReadFile(filepath.Join(dir, name))
		if errA != nil || errB != nil || !bytes.Equal(a, b) {
			t.Errorf("%s was not kept: %v, %v", name, errA, errB)
		}
	}
}

// A run that was stopped, and one that failed for want of space, go on.
func TestResumeStoppedAndFailed(t *testing.T) {
	thorough.Unraced(t)
	c := configtest.Small(t)
	want := filepath.Join(t.TempDir(), "run")
	runtest.In(t, c, want)
	stopped := filepath.Join(t.TempDir(), "run")
	s, err := experiment.Begin(t.Context(), c, stopped)
	must.OK(t, err)
	must.OK(t, s.Run.Start())
	must.OK(t, s.Run.Stop("enough"))
	must.OK(t, s.Close())
	told := &recordtest.Log{}
	_, err = runtest.TakeUp(t, stopped, experiment.ResumeOptions{Past: told}, told)
	must.OK(t, err)
	runtest.SameResults(t, "stopped", stopped, want, stopped)
	if told.Events[0].Type != record.EventStarted || told.Count(record.EventStarted) != 1 || told.Count(record.EventResumed) != 1 ||
		told.Count(record.EventEvaluation) != 3 {
		t.Errorf("the recorder was told %d starts, %d resumptions, %d evaluations", told.Count(record.EventStarted),
			told.Count(record.EventResumed), told.Count(record.EventEvaluation))
	}

	failed := filepath.Join(t.TempDir(), "run")
	full := errors.New("no space left on device")
	_, snap := runtest.In(t, c, failed, record.RecorderFunc(func(e *record.Event) error {
		if e.Type == record.EventEvaluation && e.Evaluation.Index == 2 {
			return full
		}
		return nil
	}))
	if snap.State != record.Failed {
		t.Fatal(snap.State)
	}
	_, err = runtest.TakeUp(t, failed, experiment.ResumeOptions{})
	must.OK(t, err)
	runtest.SameResults(t, "failed", failed, want, failed)
	// Summaries, tables and histories are made of such a log as of others.
	events, err := recordtest.Read(failed)
	must.OK(t, err)
	h := &history.History{}
	for i := range events {
		h.Apply(&events[i])
	}
	if sum := historytest.Summarise(events); sum.State != record.Finished || sum.Made != 3 || h.State != record.Finished || h.Made != 3 {
		t.Errorf("summary %s after %d, history %s after %d", sum.State, sum.Made, h.State, h.Made)
	}
	again := filepath.Join(t.TempDir(), "tables")
	must.OK(t, rundir.Export(failed, again))
	runtest.SameResults(t, "exported", again, want, failed)
}

// Each thing that can be wrong is said in one line with what to do, and nothing
// is changed by it.
func TestResumeMessages(t *testing.T) {
	thorough.Unraced(t)
	data := filepath.Join(t.TempDir(), "data.csv")
	var b strings.Builder
	b.WriteString("x,y\n")
	for i := range 80 {
		fmt.Fprintf(&b, "%d,%g\n", i, math.Sin(float64(i)/5))
	}
	must.OK(t, os.WriteFile(data, []byte(b.String()), 0o644))
	var set []config.Override
	for _, s := range []string{"kernels.expressions=SE,LIN", "sparse.inducing=6", "optimise.starts=1", "schedule.evaluate_every=0.5",
		"schedule.refine=1"} {
		o, err := config.ParseOverride(s)
		must.OK(t, err)
		set = append(set, o)
	}
	c, err := config.ForTable(data, "y", set)
	must.OK(t, err)
	dir, shots := filmed(t, c, record.Course{}, nil)
	moments, err := os.ReadDir(shots)
	must.OK(t, err)
	// The last moment with two evaluations and the checkpoint of the second.
	at := slices.IndexFunc(moments, func(m os.DirEntry) bool {
		events, err := recordtest.Read(filepath.Join(shots, m.Name()))
		return err == nil && events[len(events)-1].Type == record.EventMetrics && events[len(events)-1].Metrics[0].Evaluation == 2
	})
	if at < 0 {
		t.Fatal("no such moment")
	}
	middle := filepath.Join(shots, moments[at].Name())
	load := func(run string) map[string]vbks.Tensor {
		arrays, err := npztest.Load(t, filepath.Join(run, record.StateDir, record.CheckpointFile))
		must.OK(t, err)
		return arrays
	}
	for _, x := range []struct {
		what  string
		spoil func(run string)
		want  []string
		gap   bool // ErrNoCheckpoint
	}{
		{"no run", func(run string) { must.OK(t, os.RemoveAll(run)) }, []string{"does not exist", "name the directory of a run"}, false},
		{"an empty log", func(run string) { must.OK(t, os.Truncate(filepath.Join(run, record.EventsFile), 0)) },
			[]string{"ended before it began", "run it again"}, false},
		{"no checkpoint", func(run string) { must.OK(t, os.Remove(filepath.Join(run, record.StateDir, record.CheckpointFile))) },
			[]string{"2 evaluations but no checkpoint", "--from-start"}, true},
		{"a damaged checkpoint", func(run string) {
			path := filepath.Join(run, record.StateDir, record.CheckpointFile)
			text, err := os.ReadFile(path)
			must.OK(t, err)
			// A bit of an array, not of what surrounds it in the file, which readers may pass over.
			at := bytes.LastIndex(text[:len(text)/2], []byte("\x93NUMPY"))
			text[at+10+int(text[at+8])+256*int(text[at+9])] ^= 1 // its first number
			must.OK(t, os.WriteFile(path, text, 0o644))
		}, []string{"is damaged", "--from-start"}, true},
		{"another hash", func(run string) {
			arrays := load(run)
			arrays[npz.HashArray] = npz.Bytes(make([]byte, 32))
			text := packed(t, arrays)
			must.OK(t, os.WriteFile(filepath.Join(run, record.StateDir, record.CheckpointFile), text, 0o644))
		}, []string{"is damaged", "sha256", "--from-start"}, true},
		{"an older checkpoint", func(run string) {
			arrays := load(run)
			arrays["format"] = vbks.Tensor{Shape: []int{1}, Data: []float64{1}}
			must.OK(t, npztest.Save(t, filepath.Join(run, record.StateDir, record.CheckpointFile), arrays))
		}, []string{"an older version of the program", "--from-start"}, true},
		{"a newer checkpoint", func(run string) {
			arrays := load(run)
			arrays["format"] = vbks.Tensor{Shape: []int{1}, Data: []float64{99}}
			must.OK(t, npztest.Save(t, filepath.Join(run, record.StateDir, record.CheckpointFile), arrays))
		}, []string{"a newer version of the program", "--from-start"}, true},
		{"a checkpoint without a place", func(run string) {
			arrays := load(run)
			delete(arrays, "log")
			must.OK(t, npztest.Save(t, filepath.Join(run, record.StateDir, record.CheckpointFile), arrays))
		}, []string{"an older version of the program", "--from-start"}, true},
		{"a newer log", func(run string) {
			edit(t, filepath.Join(run, record.EventsFile), `{"v":1,"type":"metrics"`, `{"v":7,"type":"metrics"`)
		}, []string{"newer version of the program"}, false},
		{"a changed log", func(run string) {
			edit(t, filepath.Join(run, record.EventsFile), `"reason":"started"`, `"reason":"STARTED"`)
		}, []string{"not the one that the checkpoint rests on", "--from-start"}, true},
		{"a damaged log", func(run string) {
			edit(t, filepath.Join(run, record.EventsFile), `{"v":1,"type":"state"`, `{"v":1 "type":"state"`)
		}, []string{"line 3 is damaged"}, false},
		{"a log that is far too short", func(run string) {
			text, err := os.ReadFile(filepath.Join(run, record.EventsFile))
			must.OK(t, err)
			must.OK(t, os.Truncate(filepath.Join(run, record.EventsFile), int64(bytes.Index(text, []byte(`{"v":1,"type":"evaluation"`)))))
		}, []string{"ends before the evaluation that the checkpoint rests on", "--from-start"}, true},
		{"another run's checkpoint", func(run string) {
			arrays := load(run)
			arrays["kernels"] = npz.Bytes([]byte("SE\nRQ"))
			must.OK(t, npztest.Save(t, filepath.Join(run, record.StateDir, record.CheckpointFile), arrays))
		}, []string{"number 2 is RQ", "--from-start"}, true},
		{"a finished run", func(run string) {
			must.OK(t, os.RemoveAll(run))
			runtest.CopyRun(t, dir, run)
		}, []string{"has finished (all planned evaluations are done)", "kestrel open"}, false},
	} {
		run := filepath.Join(t.TempDir(), "run")
		runtest.CopyRun(t, middle, run)
		x.spoil(run)
		before := listing(t, run)
		_, err := runtest.TakeUp(t, run, experiment.ResumeOptions{})
		if err == nil {
			t.Errorf("%s: resumed", x.what)
			continue
		}
		for _, part := range append(x.want, run) {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s: the message lacks %q: %v", x.what, part, err)
			}
		}
		if strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: more than one line: %v", x.what, err)
		}
		if errors.Is(err, rundir.ErrNoCheckpoint) != x.gap {
			t.Errorf("%s: of the kind ErrNoCheckpoint: %v", x.what, !x.gap)
		}
		if after := listing(t, run); !slices.Equal(before, after) {
			t.Errorf("%s: changed the directory:\n%q\n%q", x.what, before, after)
		}
		if x.gap { // what the message says helps
			if _, err := runtest.TakeUp(t, run, experiment.ResumeOptions{FromStart: true}); err != nil {
				t.Errorf("%s: --from-start: %v", x.what, err)
			} else {
				runtest.SameResults(t, x.what+", begun again", run, dir, run)
			}
		}
	}

	// The log may lack what the checkpoint rests on: it is written anew.
	for _, cut := range []int64{0, 1, 40} {
		run := filepath.Join(t.TempDir(), "run")
		runtest.CopyRun(t, middle, run)
		where := load(run)["log"].Data
		must.OK(t, os.Truncate(filepath.Join(run, record.EventsFile), max(int64(where[0]), int64(where[1])-1-100*cut)))
		_, err := runtest.TakeUp(t, run, experiment.ResumeOptions{})
		must.OK(t, err)
		runtest.SameResults(t, "the log behind the checkpoint", run, dir, filepath.Join(shots, "001"))
	}

	// A process that writes the run.
	run := filepath.Join(t.TempDir(), "run")
	runtest.CopyRun(t, middle, run)
	owner, err := rundir.Claim(run)
	must.OK(t, err)
	if _, err := runtest.TakeUp(t, run, experiment.ResumeOptions{}); err == nil ||
		!strings.Contains(err.Error(), "is being written by process") {
		t.Error(err)
	}
	must.OK(t, owner.Close())

	// Last, as it spoils the others: data that are different, then gone.
	must.OK(t, os.WriteFile(data, []byte(b.String()+"80,0\n"), 0o644))
	if _, err := runtest.TakeUp(t, run, experiment.ResumeOptions{}); err == nil ||
		!strings.Contains(err.Error(), "have changed since it began") || !strings.Contains(err.Error(), "put the old file back") {
		t.Error(err)
	}
	must.OK(t, os.Remove(data))
	if _, err := runtest.TakeUp(t, run, experiment.ResumeOptions{}); err == nil || !strings.Contains(err.Error(), "data.csv") {
		t.Error(err)
	}
	must.OK(t, os.WriteFile(data, []byte(b.String()), 0o644))
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("interrupted"))
	if _, err := experiment.Resume(ctx, run, experiment.ResumeOptions{}); err == nil || err.Error() != "interrupted" {
		t.Error(err)
	}
	_, err = runtest.TakeUp(t, run, experiment.ResumeOptions{})
	must.OK(t, err)
	runtest.SameResults(t, "after all that", run, dir, middle)
}

// edit replaces the first occurrence of a text in a file.
func edit(t *testing.T, path, from, to string) {
	t.Helper()
	text, err := os.ReadFile(path)
	must.OK(t, err)
	if !bytes.Contains(text, []byte(from)) {
		t.Fatalf("%s has no %q", path, from)
	}
	must.OK(t, os.WriteFile(path, bytes.Replace(text, []byte(from), []byte(to), 1), 0o644))
}

// listing names the files below a folder with their sizes and sums, except the
// owner's note.
func listing(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "owner.json" {
			return err
		}
		text, err := os.ReadFile(path)
		sum := uint64(len(text))
		for len(text) > 0 {
			var word [8]byte
			text = text[copy(word[:], text):]
			sum = sum*1099511628211 ^ binary.LittleEndian.Uint64(word[:])
		}
		out = append(out, fmt.Sprintf("%s %x", path, sum))
		return err
	})
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return out
}

// packed is a file of arrays, with no other hash than theirs.
func packed(t *testing.T, arrays map[string]vbks.Tensor) []byte {
	t.Helper()
	var b bytes.Buffer
	must.OK(t, npz.Write(&b, arrays))
	return b.Bytes()
}
