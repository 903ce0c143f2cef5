package experiment

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/record/recordtest"
	"example.com/kestrel/internal/guard"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/vbks"
)

func TestRunFinishes(t *testing.T) {
	l := &recordtest.Log{}
	r := fakeRun(t, newFake(3, "SE", "LIN"), l, nil)
	if s := r.Snapshot(); s.State != record.Ready {
		t.Fatal(s.State)
	}
	must.OK(t, r.Start())
	s := settle(t, r)
	if s.State != record.Finished || s.Evaluation.Index != 3 || s.Reason != "all planned evaluations are done" {
		t.Errorf("%+v", s)
	}
	if got := l.States(); !reflect.DeepEqual(got, []record.State{record.Running, record.Finished}) {
		t.Error(got)
	}
	for what, want := range map[record.EventType]int{record.EventStarted: 1, record.EventNotice: 1, record.EventEvaluation: 3,
		record.EventMetrics: 3, record.EventFinished: 1} {
		if n := l.Count(what); n != want {
			t.Errorf("%d events %s, want %d", n, what, want)
		}
	}
	// ỹ − 0 = ±1 in units of 3.
	if m := s.Metrics[0]; m.Method != "vbks" || m.RMSE != 3 || m.TestRows != 4 {
		t.Errorf("%+v", m)
	}
	// A density of ỹ ~ N(0, 1) at ±1, in units of 3.
	if m := s.Metrics[1]; m.Method != "vbks-s" || math.Abs(float64(m.NLPD)-(0.5*math.Log(2*math.Pi)+0.5+math.Log(3))) > 1e-12 {
		t.Errorf("%+v", m)
	}
	if f := s.Evaluation.Kernels[0].Fit; !reflect.DeepEqual(f.Params, []files.Number{4.5, 20, 2.25}) {
		t.Errorf("parameters in data units: %v", f.Params)
	}
	if err := r.Start(); err == nil || err.Error() != "the run is finished and cannot be started" {
		t.Error(err)
	}
}

// A paused run takes no further step, and time does not count.
func TestPause(t *testing.T) {
	f := newFake(1, "SE")
	f.steps, f.passed = make(chan struct{}), make(chan int)
	l := &recordtest.Log{}
	r := fakeRun(t, f, l, nil)
	must.OK(t, r.Start())
	f.steps <- struct{}{}
	<-f.passed
	must.OK(t, r.Pause())
	before := r.Snapshot()
	f.steps <- struct{}{} // the step comes to the gate
	select {
	case <-f.passed:
		t.Fatal("a step passed the gate of a paused run")
	case <-time.After(30 * time.Millisecond):
	}
	after := r.Snapshot()
	if after.State != record.Paused || after.Elapsed != before.Elapsed {
		t.Errorf("%s, %v then %v", after.State, before.Elapsed, after.Elapsed)
	}
	if after.Progress.Done != 1 {
		t.Errorf("progress %+v", after.Progress)
	}
	if err := r.Pause(); err == nil {
		t.Error("paused twice")
	}
	must.OK(t, r.Resume())
	<-f.passed
	f.steps <- struct{}{}
	<-f.passed
	if s := settle(t, r); s.State != record.Finished || s.Evaluation.Index != 1 {
		t.Errorf("%+v", s)
	}
	if got := l.States(); !reflect.DeepEqual(got, []record.State{record.Running, record.Paused, record.Running, record.Finished}) {
		t.Error(got)
	}
}

// A stop in the middle abandons the evaluation, running or paused.
func TestStop(t *testing.T) {
	for _, pause := range []bool{false, true} {
		f := newFake(3, "SE")
		f.steps = make(chan struct{})
		l := &recordtest.Log{}
		r := fakeRun(t, f, l, nil)
		must.OK(t, r.Start())
		for range 4 { // the first evaluation and a step of the second
			f.steps <- struct{}{}
		}
		if pause {
			must.OK(t, r.Pause())
		}
		must.OK(t, r.Stop("enough"))
		s := settle(t, r)
		if s.State != record.Stopped || s.Reason != "enough" || s.Evaluation.Index != 1 || l.Count(record.EventEvaluation) != 1 {
			t.Errorf("pause %v: %+v", pause, s)
		}
		must.OK(t, r.Stop("again"))
		if s := r.Snapshot(); s.Reason != "enough" {
			t.Error("stopped twice")
		}
	}
	r := fakeRun(t, newFake(3, "SE"), &recordtest.Log{}, nil)
	must.OK(t, r.Stop("never begun"))
	if s := settle(t, r); s.State != record.Stopped {
		t.Error(s.State)
	}
}

// Pruning during an evaluation begins it anew with the kernels left.
func TestPruneRestoreReoptimize(t *testing.T) {
	f := newFake(2, "SE", "LIN", "PER")
	f.steps = make(chan struct{})
	l := &recordtest.Log{}
	r := fakeRun(t, f, l, nil)
	must.OK(t, r.Start())
	if err := r.Prune([]string{"LIN"}); !errors.Is(err, record.ErrNoResults) {
		t.Error(err)
	}
	for range 4 {
		f.steps <- struct{}{}
	}
	if err := r.Prune([]string{"RQ"}); err == nil {
		t.Error("pruned a kernel that is not there")
	}
	f.steps <- struct{}{}
	must.OK(t, r.Prune(r.Snapshot().Evaluation.Below(2)))
	if e := r.Snapshot().Evaluation; e.Index != 1 || e.Kernels[2].Status != vbks.Pruned || e.Kernels[2].Fit != nil {
		t.Errorf("%+v", e)
	}
	for range 3 {
		f.steps <- struct{}{}
	}
	if s := settle(t, r); s.State != record.Finished || s.Evaluation.Index != 2 || l.Count(record.EventEvaluation) != 2 {
		t.Errorf("%+v", s)
	}
	must.OK(t, r.Restore([]string{"PER"}))
	s := settle(t, r)
	if s.State != record.Finished || s.Evaluation.Kernels[2].Fit == nil || l.Count(record.EventRestored) != 1 {
		t.Errorf("%+v", s)
	}
	close(f.steps)
	must.OK(t, r.Reoptimize(vbks.Change{Rounds: 2}))
	if s := settle(t, r); s.State != record.Finished || s.Evaluation.Index != 4 || s.Planned != 4 || l.Count(record.EventReoptimised) != 1 {
		t.Errorf("%+v", s)
	}
	if got := l.States(); !reflect.DeepEqual(got, []record.State{record.Running, record.Finished, record.Running, record.Finished}) {
		t.Error(got)
	}
}

func TestBudgets(t *testing.T) {
	r := fakeRun(t, newFake(9, "SE"), &recordtest.Log{}, func(c *config.Config) { c.Evaluations = 2 })
	must.OK(t, r.Start())
	if s := settle(t, r); s.State != record.Finished || s.Evaluation.Index != 2 || s.Planned != 2 ||
		s.Reason != "the budget of 2 evaluations is used up" {
		t.Errorf("%+v", s)
	}
	must.OK(t, r.Reoptimize(vbks.Change{Rounds: 3}))
	if s := settle(t, r); s.State != record.Finished || s.Evaluation.Index != 5 {
		t.Errorf("%+v", s)
	}

	// The time runs out in the second evaluation, which waits for a step.
	f := newFake(9, "SE")
	f.steps = make(chan struct{}, 4)
	for range 4 {
		f.steps <- struct{}{}
	}
	r = fakeRun(t, f, &recordtest.Log{}, func(c *config.Config) { c.Settings.TimeBudget = 50 * time.Millisecond; c.MetricRows = 3 })
	must.OK(t, r.Start())
	s := settle(t, r)
	if s.State != record.Finished || s.Evaluation.Index != 1 || s.Reason != "the time budget of 50ms is used up" ||
		s.Elapsed < 50*time.Millisecond {
		t.Errorf("%+v", s)
	}
	if s.Metrics[0].TestRows != 4 {
		t.Error("the last evaluation was not scored on all test rows")
	}

	f = newFake(9, "SE")
	f.steps = make(chan struct{})
	r = fakeRun(t, f, &recordtest.Log{}, func(c *config.Config) { c.Settings.TimeBudget = time.Millisecond })
	must.OK(t, r.Start())
	if s := settle(t, r); s.State != record.Failed || !strings.Contains(s.Reason, "before the first evaluation") {
		t.Errorf("%+v", s)
	}
}

func TestFailures(t *testing.T) {
	f := newFake(3, "SE")
	f.fail = func(i int) error {
		if i == 2 {
			return errors.New("no kernel is left")
		}
		return nil
	}
	l := &recordtest.Log{}
	r := fakeRun(t, f, l, nil)
	must.OK(t, r.Start())
	if s := settle(t, r); s.State != record.Failed || s.Reason != "no kernel is left" || l.Count(record.EventFinished) != 1 {
		t.Errorf("%+v", s)
	}
	if err := r.Reoptimize(vbks.Change{}); err == nil || err.Error() != "the run has failed: no kernel is left" {
		t.Error(err)
	}

	f = newFake(3, "SE")
	f.fail = func(int) error { panic("out of range") }
	r = fakeRun(t, f, &recordtest.Log{}, nil)
	must.OK(t, r.Start())
	if s := settle(t, r); s.State != record.Failed || s.Reason != "internal error, please report it with the run's log.txt: out of range" {
		t.Errorf("%+v", s)
	}

	// A mistake that has cost a kernel only: its stack is for the log.
	f, l = newFake(3, "SE"), &recordtest.Log{}
	f.broken = []*guard.PanicError{{Value: "out of range", Stack: []byte("goroutine 7 [running]:\nhere\n")}}
	r = fakeRun(t, f, l, nil)
	must.OK(t, r.Start())
	if s := settle(t, r); s.State != record.Finished {
		t.Errorf("%+v", s)
	}
	var stacks []string
	for _, e := range l.Events { // nobody writes any more
		if e.Type == record.EventNotice && strings.Contains(e.Notice, "goroutine 7 [running]:\nhere") {
			stacks = append(stacks, e.Notice)
		}
	}
	if len(stacks) != 1 || !strings.HasPrefix(stacks[0], "the stack of the internal error is in log.txt\n") {
		t.Errorf("stacks told: %q", stacks)
	}

	r = fakeRun(t, newFake(3, "SE"), &recordtest.Log{Err: errors.New("disk full")}, nil)
	if err := r.Start(); err == nil || err.Error() != "the results cannot be written: disk full" {
		t.Error(err)
	}
	if s := settle(t, r); s.State != record.Failed {
		t.Errorf("%+v", s)
	}
}

// An event names the kernel of a notice only where that has failed: that is what
// makes it an error to readers.
func TestNoticesOfFailuresNameTheKernel(t *testing.T) {
	f, l := newFake(1, "SE", "RQ"), &recordtest.Log{}
	f.notices = []vbks.Notice{
		{Text: "a lane is lost"}, {Text: "SE: jitter raised", Kernel: "SE"}, {Text: "RQ is gone", Kernel: "RQ", Failed: true},
	}
	r := fakeRun(t, f, l, nil)
	must.OK(t, r.Start())
	settle(t, r)
	told := map[string]string{}
	for _, e := range l.Events { // nobody writes any more
		if e.Type == record.EventNotice {
			told[e.Notice] = e.Kernel
		}
	}
	if want := map[string]string{"a notice": "", "a lane is lost": "", "SE: jitter raised": "", "RQ is gone": "RQ"}; !maps.Equal(told, want) {
		t.Errorf("kernels of notices: %q, want %q", told, want)
	}
}

// Closing a run stops it; its methods answer all the same.
func TestClose(t *testing.T) {
	f := newFake(3, "SE")
	f.steps = make(chan struct{})
	l := &recordtest.Log{}
	r := fakeRun(t, f, l, nil)
	must.OK(t, r.Start())
	must.OK(t, r.Close())
	if s := r.Snapshot(); s.State != record.Stopped {
		t.Error(s.State)
	}
	if err := r.Pause(); !errors.Is(err, errClosed) {
		t.Error(err)
	}
	must.OK(t, r.Close())
}

func TestWaitEndsWithContext(t *testing.T) {
	f := newFake(3, "SE")
	f.steps = make(chan struct{})
	r := fakeRun(t, f, &recordtest.Log{}, nil)
	must.OK(t, r.Start())
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(fmt.Errorf("interrupted"))
	if s, err := r.Wait(ctx); err == nil || err.Error() != "interrupted" || s.State != record.Running {
		t.Error(s.State, err)
	}
}

func TestStopwatch(t *testing.T) {
	now := time.Unix(100, 0)
	w := stopwatch{now: func() time.Time { return now }}
	w.start()
	now = now.Add(3 * time.Second)
	w.stop()
	now = now.Add(5 * time.Second)
	w.start()
	now = now.Add(time.Second)
	if w.elapsed() != 4*time.Second {
		t.Error(w.elapsed())
	}
}
