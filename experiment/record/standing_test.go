package record_test

import (
	"reflect"
	"slices"
	"testing"

	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/record/recordtest"
	"example.com/kestrel/vbks"
)

// What events change, one after the other.
func TestStanding(t *testing.T) {
	type stands struct {
		state       record.State
		cause       record.Cause
		made        int
		owed, moved bool
		scored      int
		ended       bool
		inducing    int
		worked      files.Number
		orders      int
	}
	want := []stands{
		{state: record.Ready, inducing: 5},
		{state: record.Running, inducing: 5},
		{record.Running, "", 1, true, false, 0, false, 5, 2, 0},
		{record.Running, "", 1, true, false, 0, false, 5, 2, 0},
		{record.Running, "", 1, false, false, 4, false, 5, 2, 0},
		{record.Paused, record.CauseDiskFull, 1, false, false, 4, false, 5, 2, 0},
		{record.Paused, record.CauseDiskFull, 1, true, false, 0, false, 5, 6, 1},
		{record.Running, "", 1, true, false, 0, false, 5, 6, 1},
		{record.Running, "", 1, true, true, 0, false, 8, 6, 2},
		{record.Running, "", 1, false, true, 0, false, 8, 6, 2},
		{record.Running, "", 2, true, false, 0, false, 8, 10, 2},
		{record.Running, "", 2, false, false, 10, false, 8, 10, 2},
		{record.Finished, record.CauseTimeBudget, 2, false, false, 10, false, 8, 10, 2},
		{record.Finished, record.CauseTimeBudget, 2, false, false, 10, true, 8, 10, 2},
		{record.Finished, record.CauseTimeBudget, 2, false, false, 10, false, 8, 10, 3},
	}
	var s record.Standing
	for i, e := range recordtest.Eventful() {
		s.Apply(&e)
		got := stands{s.State, s.Cause, s.Made, s.Owed, s.Moved, s.Scored, s.Ended, s.Inducing[len(s.Inducing)-1], s.Worked, len(s.Orders)}
		if got != want[i] || s.Seconds != files.Number(i) {
			t.Errorf("after event %d, %s: %+v, want %+v", i+1, e.Type, got, want[i])
		}
		if s.Refined() != (i == len(want)-1) {
			t.Errorf("after event %d: refined %v", i+1, s.Refined())
		}
	}
	if want := []record.Order{
		{What: record.EventPruned, Kernels: []string{"k1"}, After: 1, Scored: 4},
		{What: record.EventReoptimised, Change: &vbks.Change{Inducing: 9}, After: 1},
		{What: record.EventReoptimised, Change: &vbks.Change{Rounds: 1}, ByItself: true, After: 2, Scored: 10},
	}; !reflect.DeepEqual(s.Orders, want) {
		t.Errorf("orders %+v, want %+v", s.Orders, want)
	}
	before := s
	for _, what := range []record.EventType{
		record.EventStarted, record.EventState, record.EventFinished, record.EventEvaluation, record.EventPruned, record.EventMetrics,
		record.EventReoptimised, record.EventResumed, "new",
	} {
		s.Apply(&record.Event{Type: what, Seconds: before.Seconds}) // lacks all that its type promises
	}
	if !reflect.DeepEqual(s, before) {
		t.Errorf("%+v, want %+v", s, before)
	}
	if s.Apply(&record.Event{Type: record.EventAnew}); !reflect.DeepEqual(s, record.Standing{}) {
		t.Errorf("anew: %+v", s)
	}
}

// Evaluations that have another number of inducing inputs say so; what an order
// changed is not said twice, nor what an order revises, and older logs say nothing.
func TestStandingOfInducing(t *testing.T) {
	var s record.Standing
	s.Apply(&record.Event{Type: record.EventStarted, Start: &record.Start{Inducing: 64}})
	evaluation := func(what record.EventType, m int) {
		s.Apply(&record.Event{Type: what, Kernels: []string{"SE"}, Evaluation: &record.Evaluation{Inducing: m}})
	}
	for _, m := range []int{64, 64, 128, 0} {
		evaluation(record.EventEvaluation, m)
	}
	s.Apply(&record.Event{Type: record.EventReoptimised, Change: &vbks.Change{Inducing: 500}, Inducing: 300})
	if !s.Moved {
		t.Error("not moved")
	}
	evaluation(record.EventPruned, 128)
	evaluation(record.EventEvaluation, 300)
	if want := []int{64, 128, 300}; !slices.Equal(s.Inducing, want) || s.Moved {
		t.Errorf("%v, want %v; moved %v", s.Inducing, want, s.Moved)
	}
}

// The end of a log stands as all of it, as far as it goes.
func TestStandingOfAnEnd(t *testing.T) {
	events := recordtest.Eventful()
	var s record.Standing
	s.Apply(&events[0])
	s.Apply(&events[10])
	if s.State != record.Running || s.Evaluation != events[10].Evaluation || s.Start == nil {
		t.Errorf("%+v", s)
	}
}

// Another table is an order, and what is said of the data from there on.
func TestStandingWithAnotherTable(t *testing.T) {
	var s record.Standing
	events := recordtest.Eventful()
	for i := range events {
		s.Apply(&events[i])
	}
	now := &record.Start{Name: "a", Data: recordtest.SummaryOf(25, 10)}
	e := &record.Event{Type: record.EventData, Start: now, Before: &record.Table{Train: 20}}
	if !e.Redone() || record.Describe(e) != "5 training rows behind the 20 that there were, of " {
		t.Errorf("%q", record.Describe(e))
	}
	s.Apply(e)
	if last := s.Orders[len(s.Orders)-1]; s.Start != now || s.Ended || last.What != record.EventData || last.Start != now || last.After != 2 {
		t.Errorf("%+v", s)
	}
	now.Data = recordtest.SummaryOf(20, 10)
	if now.Data.Path = "new.csv"; record.Describe(e) != "the table is new.csv from here on" {
		t.Errorf("%q", record.Describe(e))
	}
	for _, lacks := range []*record.Event{{Type: record.EventData, Start: now}, {Type: record.EventData, Before: e.Before}} {
		if lacks.Missing() == "" {
			t.Errorf("%+v lacks nothing", lacks)
		}
	}
}

// Orders that were given before a run was resumed are pending until they stand in the log
// again; those before one that does could not be carried out. They count as given.
func TestPendingOrders(t *testing.T) {
	refine := record.Order{What: record.EventReoptimised, Change: &vbks.Change{Rounds: 2}, ByItself: true, After: 3}
	pending := []record.Order{
		{What: record.EventPruned, Kernels: []string{"SE"}, After: 1},
		{What: record.EventRestored, Kernels: []string{"SE"}, After: 2},
		refine,
		{What: record.EventReoptimised, Change: &vbks.Change{Rounds: 2}, After: 4},
	}
	var s record.Standing
	s.Apply(&record.Event{Type: record.EventResumed, Resumed: &record.Resumed{Pending: pending}})
	if !reflect.DeepEqual(s.Pending, pending) || !s.Refined() || len(s.Orders) > 0 {
		t.Fatalf("%+v", s)
	}
	revised := &record.Evaluation{}
	for _, step := range []struct {
		e    *record.Event
		left int
	}{
		{&record.Event{Type: record.EventPruned, Kernels: []string{"LIN"}, Evaluation: revised}, 4}, // a new one
		{&record.Event{Type: record.EventReoptimised, Change: &vbks.Change{Rounds: 3}}, 4},
		{&record.Event{Type: record.EventEvaluation, Evaluation: revised}, 4},
		{&record.Event{Type: record.EventRestored, Kernels: []string{"SE"}, Evaluation: revised}, 2},
		{&record.Event{Type: record.EventReoptimised, Change: &vbks.Change{Rounds: 2}}, 0}, // the user's, not that by itself
	} {
		if s.Apply(step.e); len(s.Pending) != step.left {
			t.Fatalf("after %s there are %+v", step.e.Type, s.Pending)
		}
	}
	s.Apply(&record.Event{Type: record.EventResumed, Resumed: &record.Resumed{Pending: pending[2:]}})
	if s.Apply(&record.Event{Type: record.EventResumed, Resumed: &record.Resumed{}}); len(s.Pending) > 0 {
		t.Errorf("resumed without any there are %+v", s.Pending)
	}
}
