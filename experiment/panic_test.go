package experiment

import (
	"errors"
	"strings"
	"testing"

	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/record/recordtest"
	"example.com/kestrel/internal/guard"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/vbks"
)

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
	for _, caught := range []error{nil, &guard.PanicError{Value: "mine",
		Stack: []byte("goroutine 7 [running]:\nhere in TestPanicInAnOrder")}} {
		f, l := newFake(2, "SE", "RQ"), &recordtest.Log{}
		r := fakeRun(t, f, l, nil)
		must.OK(t, r.do(func() error { r.trainer = &panickyTrainer{f, caught}; return nil }))
		must.OK(t, r.Start())
		settle(t, r)
		err := r.Prune([]string{"RQ"})
		s := r.Snapshot()
		if caught == nil {
			const want = "internal error, please report it with the run's log.txt: pruning is broken"
			if err == nil || !strings.HasSuffix(err.Error(), want) || s.State != record.Failed || s.Reason != want {
				t.Errorf("%v; %s: %s", err, s.State, s.Reason)
			}
		} else if !errors.Is(err, caught) || s.State != record.Finished {
			t.Errorf("%v; %s: %s", err, s.State, s.Reason)
		}
		if n := l.Stacks("TestPanicInAnOrder"); n != 1 {
			t.Errorf("%d stacks were told", n)
		}
	}
}

// A recorder that panics ends the run, not the program, at whatever event.
func TestRecorderPanics(t *testing.T) {
	for _, at := range []record.EventType{record.EventStarted, record.EventState, record.EventEvaluation, record.EventMetrics,
		record.EventFinished} {
		for _, always := range []bool{false, true} {
			f, l := newFake(2, "SE", "RQ"), &recordtest.Log{}
			tripped := false
			r := fakeRun(t, f, record.Recorders{l, record.RecorderFunc(func(e *record.Event) error {
				if tripped = tripped && always || e.Type == at && !tripped; tripped {
					panic("recording is broken")
				}
				return nil
			})}, nil)
			_ = r.Start() // refused where it fails at once
			if s := settle(t, r); s.State != record.Failed || s.Cause != record.CauseInternal ||
				!strings.Contains(s.Reason, "recording is broken") {
				t.Errorf("%s, always %v: %+v", at, always, s)
			}
			if err := r.Reoptimize(vbks.Change{}); err == nil || !strings.Contains(err.Error(), "the run has failed") {
				t.Errorf("%s, always %v: %v", at, always, err)
			}
			must.OK(t, r.Close())
		}
	}
}
