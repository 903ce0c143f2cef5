package experiment

import (
	"reflect"
	"testing"

	"kestrel/datasets"
	"kestrel/vbks"
)

func summaryOf(train, test int) *datasets.Summary {
	return &datasets.Summary{Train: train, Test: test}
}

// eventful is a run in which everything happens, event by event.
func eventful() []Event {
	state := func(from, to State, cause Cause) Event {
		return Event{Type: EventState, State: &StateChange{From: from, To: to, Reason: "because"}, Cause: cause}
	}
	evaluation := func(what EventType, index int, kernels ...string) Event {
		return Event{Type: what, Evaluation: evaluationOf(index, 4, 1, []float64{1, 2}), Kernels: kernels}
	}
	metrics := func(rows int) Event {
		return Event{Type: EventMetrics, Metrics: []Metric{{Method: MethodAverage, TestRows: rows}}}
	}
	events := []Event{
		{Type: EventStarted, Start: &Start{Name: "a", Data: summaryOf(20, 10), Inducing: 5, Kernels: []KernelInfo{{ID: "k0"}, {ID: "k1"}}}},
		state(Ready, Running, ""),
		evaluation(EventEvaluation, 1),
		{Type: EventNotice, Notice: "kernel k1 failed: so it was", Kernel: "k1"},
		metrics(4),
		state(Running, Paused, CauseDiskFull),
		evaluation(EventPruned, 1, "k1"),
		state(Paused, Running, ""),
		{Type: EventReoptimised, Change: &vbks.Change{Inducing: 9}, Inducing: 8},
		{Type: EventNotice, Notice: "no row", Cause: CauseUnscored},
		evaluation(EventEvaluation, 2),
		metrics(10),
		state(Running, Finished, CauseTimeBudget),
		{Type: EventFinished, State: &StateChange{From: Running, To: Finished, Reason: "because"}},
		{Type: EventReoptimised, Change: &vbks.Change{Rounds: 1}, Inducing: 8, ByItself: true},
	}
	for i := range events {
		events[i].Seconds = Number(i)
	}
	return events
}

// What events change, one after the other.
func TestStanding(t *testing.T) {
	type stands struct {
		state       State
		cause       Cause
		made        int
		owed, moved bool
		scored      int
		ended       bool
		inducing    int
		worked      Number
		orders      int
	}
	want := []stands{
		{state: Ready, inducing: 5},
		{state: Running, inducing: 5},
		{Running, "", 1, true, false, 0, false, 5, 2, 0},
		{Running, "", 1, true, false, 0, false, 5, 2, 0},
		{Running, "", 1, false, false, 4, false, 5, 2, 0},
		{Paused, CauseDiskFull, 1, false, false, 4, false, 5, 2, 0},
		{Paused, CauseDiskFull, 1, true, false, 0, false, 5, 6, 1},
		{Running, "", 1, true, false, 0, false, 5, 6, 1},
		{Running, "", 1, true, true, 0, false, 8, 6, 2},
		{Running, "", 1, false, true, 0, false, 8, 6, 2},
		{Running, "", 2, true, false, 0, false, 8, 10, 2},
		{Running, "", 2, false, false, 10, false, 8, 10, 2},
		{Finished, CauseTimeBudget, 2, false, false, 10, false, 8, 10, 2},
		{Finished, CauseTimeBudget, 2, false, false, 10, true, 8, 10, 2},
		{Finished, CauseTimeBudget, 2, false, false, 10, false, 8, 10, 3},
	}
	var s Standing
	for i, e := range eventful() {
		s.Apply(&e)
		got := stands{s.State, s.Cause, s.Made, s.Owed, s.Moved, s.Scored, s.Ended, s.Inducing[len(s.Inducing)-1], s.Worked, len(s.Orders)}
		if got != want[i] || s.Seconds != Number(i) {
			t.Errorf("after event %d, %s: %+v, want %+v", i+1, e.Type, got, want[i])
		}
		if s.refined() != (i == len(want)-1) {
			t.Errorf("after event %d: refined %v", i+1, s.refined())
		}
	}
	if want := []Order{
		{What: EventPruned, Kernels: []string{"k1"}, After: 1},
		{What: EventReoptimised, Change: &vbks.Change{Inducing: 9}, After: 1},
		{What: EventReoptimised, Change: &vbks.Change{Rounds: 1}, ByItself: true, After: 2},
	}; !reflect.DeepEqual(s.Orders, want) {
		t.Errorf("orders %+v, want %+v", s.Orders, want)
	}
	before := s
	for _, what := range []EventType{
		EventStarted, EventState, EventFinished, EventEvaluation, EventPruned, EventMetrics, EventReoptimised, EventResumed, "new",
	} {
		s.Apply(&Event{Type: what, Seconds: before.Seconds}) // lacks all that its type promises
	}
	if !reflect.DeepEqual(s, before) {
		t.Errorf("%+v, want %+v", s, before)
	}
	if s.Apply(&Event{Type: EventAnew}); !reflect.DeepEqual(s, Standing{}) {
		t.Errorf("anew: %+v", s)
	}
}

// The end of a log stands as all of it, as far as it goes.
func TestStandingOfAnEnd(t *testing.T) {
	events := eventful()
	var s Standing
	s.Apply(&events[0])
	s.Apply(&events[10])
	if s.State != Running || s.Evaluation != events[10].Evaluation || s.Start == nil {
		t.Errorf("%+v", s)
	}
}
