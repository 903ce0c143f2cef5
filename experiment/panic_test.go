package experiment

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"kestrel/datasets"
	"kestrel/internal/guard"
	"kestrel/vbks"
)

// stacks counts the notices that hold a stack with that in it.
func (l *log) stacks(with string) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range l.events {
		if e := &l.events[i]; e.Type == EventNotice && strings.HasPrefix(e.Notice, "the stack of the internal error is in log.txt\ngoroutine ") && strings.Contains(e.Notice, with) {
			n++
		}
	}
	return n
}

// panickyTrainer panics or fails with a mistake when it is asked to prune.
type panickyTrainer struct {
	*fake
	caught error // nil: it panics
}

func (p *panickyTrainer) Prune([]string) (*vbks.Evaluation, error) {
	if p.caught == nil {
		panic("pruning\nis broken")
	}
	return nil, p.caught
}

// A panic on the goroutine that owns the run fails the run, and every order is
// answered; one that was caught below refuses the order only.
func TestPanicInAnOrder(t *testing.T) {
	for _, caught := range []error{nil, &guard.PanicError{Value: "mine", Stack: []byte("goroutine 7 [running]:\nhere in TestPanicInAnOrder")}} {
		f, l := newFake(2, "SE", "RQ"), &log{}
		r := fakeRun(t, f, l, nil)
		must(t, r.do(func() error { r.trainer = &panickyTrainer{f, caught}; return nil }))
		must(t, r.Start())
		settle(t, r)
		err := r.Prune([]string{"RQ"})
		s := r.Snapshot()
		if caught == nil {
			const want = "internal error, please report it with the run's log.txt: pruning is broken"
			if err == nil || !strings.HasSuffix(err.Error(), want) || s.State != Failed || s.Reason != want {
				t.Errorf("%v; %s: %s", err, s.State, s.Reason)
			}
		} else if !errors.Is(err, caught) || s.State != Finished {
			t.Errorf("%v; %s: %s", err, s.State, s.Reason)
		}
		if n := l.stacks("TestPanicInAnOrder"); n != 1 {
			t.Errorf("%d stacks were told", n)
		}
	}
}

// A recorder that panics ends the run, not the program, at whatever event.
func TestRecorderPanics(t *testing.T) {
	for _, at := range []EventType{EventStarted, EventState, EventEvaluation, EventMetrics, EventFinished} {
		for _, always := range []bool{false, true} {
			f, l := newFake(2, "SE", "RQ"), &log{}
			tripped := false
			r := fakeRun(t, f, Recorders{l, RecorderFunc(func(e *Event) error {
				if tripped = tripped && always || e.Type == at && !tripped; tripped {
					panic("recording is broken")
				}
				return nil
			})}, nil)
			_ = r.Start() // refused where it fails at once
			if s := settle(t, r); s.State != Failed || !strings.Contains(s.Reason, "recording is broken") {
				t.Errorf("%s, always %v: %+v", at, always, s)
			}
			if err := r.Reoptimize(vbks.Change{}); err == nil || !strings.Contains(err.Error(), "the run has failed") {
				t.Errorf("%s, always %v: %v", at, always, err)
			}
			must(t, r.Close())
		}
	}
}

// What waits for room on the disk is written from a timer's goroutine.
func TestPanicWhileWaitingForRoom(t *testing.T) {
	broken := make(chan error, 1)
	p := &roomWaiter{poll: time.Millisecond, changed: func() {}, broken: func(err error) { broken <- err }}
	tries := 0
	must(t, p.write(func() error {
		if tries++; tries < 3 {
			return syscall.ENOSPC
		}
		panic("writing is broken")
	}))
	var mistake *guard.PanicError
	if err := <-broken; !errors.As(err, &mistake) {
		t.Error(err)
	}
}

// panickyPoints panics at one of its batches.
type panickyPoints struct {
	dim, left int
}

func (p *panickyPoints) HasTarget() bool { return false }

func (p *panickyPoints) Next(_ context.Context, most int) (*datasets.Points, error) {
	switch p.left--; {
	case p.left == 0:
		panic("reading is broken")
	case p.left == 1: // too few inputs for what it says
		return &datasets.Points{Dim: p.dim, X: []float64{}, Rows: []int32{1}}, nil
	}
	return &datasets.Points{Dim: p.dim, X: make([]float64, p.dim), Rows: []int32{1}}, nil
}

// A panic on the goroutines that read and predict is an error of the prediction.
func TestPanicWhilePredicting(t *testing.T) {
	_, c := maskedData(t)
	run := filepath.Join(t.TempDir(), "run")
	if _, end := runIn(t, c, run); end.State != Finished {
		t.Fatal(end.Reason)
	}
	p, err := OpenPredictor(t.Context(), run)
	must(t, err)
	defer func() { must(t, p.Close()) }()
	for left, where := range map[int]string{1: "panickyPoints", 4: "predict"} {
		_, err := p.Write(t.Context(), &panickyPoints{1, left}, p.DefaultQuery(), io.Discard, nil)
		var mistake *guard.PanicError
		if !errors.As(err, &mistake) || !strings.Contains(string(mistake.Stack), where) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%d: %v", left, err)
		}
	}
}
