package experiment

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"kestrel/vbks"
)

// camera is a Directory that keeps a copy of its files as a kill would leave
// them: before and after each event and each checkpoint.
type camera struct {
	*Directory
	t     *testing.T
	shots string // folder of the copies
	count int
	tell  func(e *Event) // nil, or told after the copy
}

func (c *camera) shoot() {
	c.count++
	copyRun(c.t, c.Path, filepath.Join(c.shots, fmt.Sprintf("%03d", c.count)))
}

func (c *camera) Record(e *Event) error {
	err := c.Directory.Record(e)
	c.shoot()
	if c.tell != nil {
		c.tell(e)
	}
	return err
}

func (c *camera) Checkpoint(arrays map[string]vbks.Tensor) error {
	err := c.Directory.Checkpoint(arrays)
	c.shoot()
	return err
}

// copyRun copies a run's directory.
func copyRun(t testing.TB, from, to string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Error(err)
	}
}

// filmed makes a run in a folder of its own with a copy of every moment. steer
// may give orders: it is told the numbers of the evaluations, and 0 at the end.
func filmed(t *testing.T, c Config, course Drive, steer func(*Run, int) error) (dir, shots string) {
	t.Helper()
	base := t.TempDir()
	dir, shots = filepath.Join(base, "run"), filepath.Join(base, "shots")
	j, err := Prepare(t.Context(), c)
	must(t, err)
	defer j.Close()
	d, err := CreateDirectory(dir)
	must(t, err)
	film := &camera{Directory: d, t: t, shots: shots}
	r := NewRun(j, film)
	var orders sync.WaitGroup
	if steer != nil {
		film.tell = func(e *Event) {
			if e.Type != EventEvaluation {
				return
			}
			at := e.Evaluation.Index
			orders.Go(func() { // the run waits for its recorder
				if err := steer(r, at); err != nil {
					t.Error(err)
				}
			})
		}
	}
	_, err = r.Drive(t.Context(), course)
	must(t, err)
	if steer != nil {
		must(t, steer(r, 0))
	}
	await(t, r)
	orders.Wait()
	await(t, r)
	must(t, r.Close())
	must(t, d.Close())
	return dir, shots
}

// takeUp resumes a run and lets it take its course.
func takeUp(t *testing.T, dir string, o ResumeOptions, recorders ...Recorder) (Snapshot, error) {
	t.Helper()
	s, err := Resume(t.Context(), dir, o, recorders...)
	if err != nil {
		return Snapshot{}, err
	}
	end, err := s.Run.Drive(t.Context(), s.Course)
	must(t, err)
	must(t, s.Close())
	return end, nil
}

// sameResults compares what must be the same byte for byte, and looks for
// scores that are gone.
func sameResults(t *testing.T, what, got, want, before string) {
	t.Helper()
	read := func(dir, name string) []byte {
		text, err := os.ReadFile(filepath.Join(dir, name))
		must(t, err)
		return text
	}
	for _, name := range []string{posteriorFile, kernelsFile} {
		if a, b := read(got, name), read(want, name); !bytes.Equal(a, b) {
			t.Errorf("%s: %s differs:\n%s\nwant\n%s", what, name, a, b)
		}
	}
	// Behind an order that is carried out again a row is made again, with a clock
	// that went on.
	timeless := func(line string) string {
		cells := strings.Split(line, ",")
		if len(cells) > 3 {
			cells = slices.Delete(cells, 2, 3)
		}
		return strings.Join(cells, ",")
	}
	var kept []string
	for line := range strings.SplitSeq(string(read(got, metricsFile)), "\n") {
		kept = append(kept, timeless(line))
	}
	for _, line := range strings.SplitAfter(string(read(before, metricsFile)), "\n") {
		if line, whole := strings.CutSuffix(line, "\n"); whole && !slices.Contains(kept, timeless(line)) {
			t.Errorf("%s: the row of %s is gone: %s", what, metricsFile, line)
		}
	}
}

// resumeAll resumes a run from each of its moments, and from each with a torn
// last line, and compares the ends. Moments before an order was written down
// are left out, and of the others all but each so manieth.
func resumeAll(t *testing.T, dir, shots string, every int) {
	t.Helper()
	moments, err := os.ReadDir(shots)
	must(t, err)
	all := orders(t, dir)
	moments = slices.DeleteFunc(moments, func(m os.DirEntry) bool { return orders(t, filepath.Join(shots, m.Name())) < all })
	resumed, tried := 0, 0
	for i, m := range moments {
		if i%every != 0 {
			continue
		}
		tried++
		for _, torn := range []bool{false, true} {
			if torn && i%4 != 0 {
				continue
			}
			what := fmt.Sprintf("moment %s, torn %v", m.Name(), torn)
			run := filepath.Join(t.TempDir(), "run")
			copyRun(t, filepath.Join(shots, m.Name()), run)
			if torn { // and another line begun
				tear(t, run)
			}
			end, err := takeUp(t, run, ResumeOptions{})
			if err != nil && strings.Contains(err.Error(), "has finished") {
				sameResults(t, what+", which is the end", run, dir, dir)
				continue
			}
			if err != nil {
				t.Errorf("%s: %v", what, err)
				continue
			}
			resumed++
			if end.State != Finished {
				t.Errorf("%s: ended %s: %s", what, end.State, end.Reason)
			}
			sameResults(t, what, run, dir, filepath.Join(shots, m.Name()))
			events, err := ReadEvents(run)
			must(t, err)
			evaluations := 0
			for k := range events {
				if k > 0 && events[k].Seconds < events[k-1].Seconds {
					t.Errorf("%s: the clock goes back from %v s to %v s", what, events[k-1].Seconds, events[k].Seconds)
				}
				if events[k].Type == EventEvaluation {
					if evaluations++; events[k].Evaluation.Index != evaluations {
						t.Errorf("%s: evaluation %d comes as number %d", what, events[k].Evaluation.Index, evaluations)
					}
				}
			}
			if i%4 != 0 {
				continue
			}
			if _, err := takeUp(t, run, ResumeOptions{}); err == nil || !strings.Contains(err.Error(), "has finished") {
				t.Errorf("%s: resumed after its end: %v", what, err)
			}
		}
	}
	if resumed < tried/2 {
		t.Errorf("%d of %d moments were resumed: the test says little", resumed, tried)
	}
}

// orders counts the orders by the user in a run's log.
func orders(t *testing.T, run string) int {
	t.Helper()
	events, err := ReadEvents(run)
	must(t, err)
	n := 0
	for i := range events {
		if e := &events[i]; e.redone() && e.Type != EventEvaluation && !e.ByItself {
			n++
		}
	}
	return n
}

// tear appends half a line to a run's event log.
func tear(t *testing.T, run string) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(run, eventsFile), os.O_APPEND|os.O_WRONLY, 0)
	must(t, err)
	_, err = f.WriteString(`{"v":1,"type":"evaluation","time":"2026-`)
	must(t, err)
	must(t, f.Close())
}

// A run that is cut off at any moment ends, resumed, as the one that was not.
func TestResumeFromEveryMoment(t *testing.T) {
	for _, c := range []struct {
		name   string
		set    []string
		course Drive
		every  int
	}{
		{"collapsed", nil, Drive{PruneTop: 2, ThenRefine: 1}, 1},
		{"natural", []string{"optimise.optimizer=natural", "schedule.batch=16", "predict.metric_rows=7"}, Drive{}, 2},
		{"adam with q(log theta)", []string{"optimise.optimizer=adam", "optimise.hyperparameters=diagonal", "schedule.batch=16"}, Drive{PruneTop: 2}, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, shots := filmed(t, small(t, c.set...), c.course, nil)
			resumeAll(t, dir, shots, c.every)
		})
	}
}

// Orders given in the run before it was cut off are part of it.
func TestResumeKeepsOrders(t *testing.T) {
	first := func(r *Run, at int) error {
		if at != 1 {
			return nil
		}
		return r.Prune([]string{"SE"})
	}
	dir, shots := filmed(t, small(t, "schedule.evaluate_every=0.4"), Drive{}, first)
	resumeAll(t, dir, shots, 3)
	dir, shots = filmed(t, small(t), Drive{}, func(r *Run, at int) error {
		if at != 0 {
			return first(r, at)
		}
		if err := r.Reoptimize(vbks.Change{Inducing: 10, Steps: 7, Rounds: 2}); err != nil {
			return err
		}
		return r.Restore([]string{"SE"})
	})
	log, err := os.ReadFile(filepath.Join(dir, eventsFile))
	must(t, err)
	for _, what := range []EventType{EventPruned, EventRestored, EventReoptimised} {
		if !bytes.Contains(log, []byte(fmt.Sprintf(`"type":"%s"`, what))) {
			t.Fatalf("no event %s: the test says nothing", what)
		}
	}
	resumeAll(t, dir, shots, 3)
	// Begun again, it is given the same orders.
	run := filepath.Join(t.TempDir(), "run")
	copyRun(t, dir, run)
	_, err = takeUp(t, run, ResumeOptions{FromStart: true})
	must(t, err)
	sameResults(t, "begun again", run, dir, filepath.Join(shots, "001"))
	aside, err := filepath.Glob(filepath.Join(run, "before-*"))
	must(t, err)
	if len(aside) != 1 {
		t.Fatalf("what was there is in %q", aside)
	}
	for _, name := range []string{eventsFile, posteriorFile, metricsFile, kernelsFile, configFile, logFile, filepath.Join(stateDir, checkpoint)} {
		a, errA := os.ReadFile(filepath.Join(aside[0], name))
		b, errB := os.ReadFile(filepath.Join(dir, name))
		if errA != nil || errB != nil || !bytes.Equal(a, b) {
			t.Errorf("%s was not kept: %v, %v", name, errA, errB)
		}
	}
}

// A run that was stopped, and one that failed for want of space, go on.
func TestResumeStoppedAndFailed(t *testing.T) {
	c := small(t)
	want := filepath.Join(t.TempDir(), "run")
	runIn(t, c, want)
	stopped := filepath.Join(t.TempDir(), "run")
	s, err := Begin(t.Context(), c, stopped)
	must(t, err)
	must(t, s.Run.Start())
	must(t, s.Run.Stop("enough"))
	must(t, s.Close())
	told := &log{}
	_, err = takeUp(t, stopped, ResumeOptions{Past: told}, told)
	must(t, err)
	sameResults(t, "stopped", stopped, want, stopped)
	if told.events[0].Type != EventStarted || told.count(EventStarted) != 1 || told.count(EventResumed) != 1 || told.count(EventEvaluation) != 3 {
		t.Errorf("the recorder was told %d starts, %d resumptions, %d evaluations", told.count(EventStarted), told.count(EventResumed), told.count(EventEvaluation))
	}

	failed := filepath.Join(t.TempDir(), "run")
	full := errors.New("no space left on device")
	_, snap := runIn(t, c, failed, RecorderFunc(func(e *Event) error {
		if e.Type == EventEvaluation && e.Evaluation.Index == 2 {
			return full
		}
		return nil
	}))
	if snap.State != Failed {
		t.Fatal(snap.State)
	}
	_, err = takeUp(t, failed, ResumeOptions{})
	must(t, err)
	sameResults(t, "failed", failed, want, failed)
	// Summaries, tables and histories are made of such a log as of others.
	events, err := ReadEvents(failed)
	must(t, err)
	h := &History{}
	for i := range events {
		h.Apply(&events[i])
	}
	if sum := Summarise(events); sum.State != Finished || sum.Made != 3 || h.State != Finished || h.Made != 3 {
		t.Errorf("summary %s after %d, history %s after %d", sum.State, sum.Made, h.State, h.Made)
	}
	again := filepath.Join(t.TempDir(), "tables")
	must(t, ExportRun(failed, again))
	sameResults(t, "exported", again, want, failed)
}

// Each thing that can be wrong is said in one line with what to do, and nothing
// is changed by it.
func TestResumeMessages(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data.csv")
	var b strings.Builder
	b.WriteString("x,y\n")
	for i := range 80 {
		fmt.Fprintf(&b, "%d,%g\n", i, math.Sin(float64(i)/5))
	}
	must(t, os.WriteFile(data, []byte(b.String()), 0o644))
	var set []Override
	for _, s := range []string{"kernels.expressions=SE,LIN", "sparse.inducing=6", "optimise.starts=1", "schedule.evaluate_every=0.5", "schedule.refine=1"} {
		o, err := ParseOverride(s)
		must(t, err)
		set = append(set, o)
	}
	c, err := FileConfig(data, "y", set)
	must(t, err)
	dir, shots := filmed(t, c, Drive{}, nil)
	moments, err := os.ReadDir(shots)
	must(t, err)
	// The last moment with two evaluations and the checkpoint of the second.
	at := slices.IndexFunc(moments, func(m os.DirEntry) bool {
		events, err := ReadEvents(filepath.Join(shots, m.Name()))
		return err == nil && events[len(events)-1].Type == EventMetrics && events[len(events)-1].Metrics[0].Evaluation == 2
	})
	if at < 0 {
		t.Fatal("no such moment")
	}
	middle := filepath.Join(shots, moments[at].Name())
	load := func(run string) map[string]vbks.Tensor {
		arrays, err := loadCheckpoint(filepath.Join(run, stateDir, checkpoint))
		must(t, err)
		return arrays
	}
	for _, x := range []struct {
		what  string
		spoil func(run string)
		want  []string
		gap   bool // ErrNoCheckpoint
	}{
		{"no run", func(run string) { must(t, os.RemoveAll(run)) }, []string{"does not exist", "name the directory of a run"}, false},
		{"an empty log", func(run string) { must(t, os.Truncate(filepath.Join(run, eventsFile), 0)) }, []string{"ended before it began", "run it again"}, false},
		{"no checkpoint", func(run string) { must(t, os.Remove(filepath.Join(run, stateDir, checkpoint))) }, []string{"2 evaluations but no checkpoint", "--from-start"}, true},
		{"a damaged checkpoint", func(run string) {
			path := filepath.Join(run, stateDir, checkpoint)
			text, err := os.ReadFile(path)
			must(t, err)
			text[len(text)/3] ^= 1
			must(t, os.WriteFile(path, text, 0o644))
		}, []string{"is damaged", "--from-start"}, true},
		{"another hash", func(run string) {
			arrays := load(run)
			arrays[hashArray] = bytesTensor(make([]byte, 32))
			text := packed(t, arrays)
			must(t, os.WriteFile(filepath.Join(run, stateDir, checkpoint), text, 0o644))
		}, []string{"is damaged", "sha256", "--from-start"}, true},
		{"an older checkpoint", func(run string) {
			arrays := load(run)
			arrays["format"] = vbks.Tensor{Shape: []int{1}, Data: []float64{1}}
			must(t, saveCheckpoint(filepath.Join(run, stateDir, checkpoint), arrays))
		}, []string{"an older version of the program", "--from-start"}, true},
		{"a newer checkpoint", func(run string) {
			arrays := load(run)
			arrays["format"] = vbks.Tensor{Shape: []int{1}, Data: []float64{99}}
			must(t, saveCheckpoint(filepath.Join(run, stateDir, checkpoint), arrays))
		}, []string{"a newer version of the program", "--from-start"}, true},
		{"a checkpoint without a place", func(run string) {
			arrays := load(run)
			delete(arrays, "log")
			must(t, saveCheckpoint(filepath.Join(run, stateDir, checkpoint), arrays))
		}, []string{"an older version of the program", "--from-start"}, true},
		{"a newer log", func(run string) {
			edit(t, filepath.Join(run, eventsFile), `{"v":1,"type":"metrics"`, `{"v":7,"type":"metrics"`)
		}, []string{"newer version of the program"}, false},
		{"a changed log", func(run string) {
			edit(t, filepath.Join(run, eventsFile), `"reason":"started"`, `"reason":"STARTED"`)
		}, []string{"not the one that the checkpoint rests on", "--from-start"}, true},
		{"a damaged log", func(run string) {
			edit(t, filepath.Join(run, eventsFile), `{"v":1,"type":"state"`, `{"v":1 "type":"state"`)
		}, []string{"line 2 is damaged"}, false},
		{"a log that is far too short", func(run string) {
			text, err := os.ReadFile(filepath.Join(run, eventsFile))
			must(t, err)
			must(t, os.Truncate(filepath.Join(run, eventsFile), int64(bytes.Index(text, []byte(`{"v":1,"type":"evaluation"`)))))
		}, []string{"ends before the evaluation that the checkpoint rests on", "--from-start"}, true},
		{"another run's checkpoint", func(run string) {
			arrays := load(run)
			arrays["kernels"] = bytesTensor([]byte("SE\nRQ"))
			must(t, saveCheckpoint(filepath.Join(run, stateDir, checkpoint), arrays))
		}, []string{"number 2 is RQ", "--from-start"}, true},
		{"a finished run", func(run string) {
			must(t, os.RemoveAll(run))
			copyRun(t, dir, run)
		}, []string{"has finished (all planned evaluations are done)", "kestrel open"}, false},
	} {
		run := filepath.Join(t.TempDir(), "run")
		copyRun(t, middle, run)
		x.spoil(run)
		before := listing(t, run)
		_, err := takeUp(t, run, ResumeOptions{})
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
		if errors.Is(err, ErrNoCheckpoint) != x.gap {
			t.Errorf("%s: of the kind ErrNoCheckpoint: %v", x.what, !x.gap)
		}
		if after := listing(t, run); !slices.Equal(before, after) {
			t.Errorf("%s: changed the directory:\n%q\n%q", x.what, before, after)
		}
		if x.gap { // what the message says helps
			if _, err := takeUp(t, run, ResumeOptions{FromStart: true}); err != nil {
				t.Errorf("%s: --from-start: %v", x.what, err)
			} else {
				sameResults(t, x.what+", begun again", run, dir, run)
			}
		}
	}

	// The log may lack what the checkpoint rests on: it is written anew.
	for _, cut := range []int64{0, 1, 40} {
		run := filepath.Join(t.TempDir(), "run")
		copyRun(t, middle, run)
		where := load(run)["log"].Data
		must(t, os.Truncate(filepath.Join(run, eventsFile), max(int64(where[0]), int64(where[1])-1-100*cut)))
		_, err := takeUp(t, run, ResumeOptions{})
		must(t, err)
		sameResults(t, "the log behind the checkpoint", run, dir, filepath.Join(shots, "001"))
	}

	// A process that writes the run.
	run := filepath.Join(t.TempDir(), "run")
	copyRun(t, middle, run)
	owner, err := WriteOwner(run)
	must(t, err)
	if _, err := takeUp(t, run, ResumeOptions{}); err == nil || !strings.Contains(err.Error(), "is being written by process") {
		t.Error(err)
	}
	must(t, owner.Close())

	// Last, as it spoils the others: data that are different, then gone.
	must(t, os.WriteFile(data, []byte(b.String()+"80,0\n"), 0o644))
	if _, err := takeUp(t, run, ResumeOptions{}); err == nil || !strings.Contains(err.Error(), "have changed since it began") || !strings.Contains(err.Error(), "put the old file back") {
		t.Error(err)
	}
	must(t, os.Remove(data))
	if _, err := takeUp(t, run, ResumeOptions{}); err == nil || !strings.Contains(err.Error(), "data.csv") {
		t.Error(err)
	}
	must(t, os.WriteFile(data, []byte(b.String()), 0o644))
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("interrupted"))
	if _, err := Resume(ctx, run, ResumeOptions{}); err == nil || err.Error() != "interrupted" {
		t.Error(err)
	}
	_, err = takeUp(t, run, ResumeOptions{})
	must(t, err)
	sameResults(t, "after all that", run, dir, middle)
}

// edit replaces the first occurrence of a text in a file.
func edit(t *testing.T, path, from, to string) {
	t.Helper()
	text, err := os.ReadFile(path)
	must(t, err)
	if !bytes.Contains(text, []byte(from)) {
		t.Fatalf("%s has no %q", path, from)
	}
	must(t, os.WriteFile(path, bytes.Replace(text, []byte(from), []byte(to), 1), 0o644))
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
	must(t, writeNPZ(&b, arrays))
	return b.Bytes()
}
