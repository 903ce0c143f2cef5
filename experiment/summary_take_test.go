package experiment

import (
	"reflect"
	"runtime"
	"sync/atomic"
	"testing"
)

// A summary made event by event, while a run goes on or from its log, is that of
// all its events.
func TestSummaryEventByEvent(t *testing.T) {
	dir := recorded(t)
	events, err := ReadEvents(dir)
	must(t, err)
	want := Summarise(events)
	got, err := ReadSummary(dir)
	must(t, err)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("read event by event:\n%+v\nwant\n%+v", got, want)
	}
	grown := &Summary{}
	for i := range events {
		must(t, grown.Record(&events[i]))
	}
	if !reflect.DeepEqual(grown, want) {
		t.Errorf("recorded:\n%+v\nwant\n%+v", grown, want)
	}
}

// What a summary keeps of a run does not grow with its evaluations.
func TestSummaryKeepsTheLastEvaluationOnly(t *testing.T) {
	s := &Summary{}
	const evaluations = 100
	var gone atomic.Int64
	for i := range evaluations {
		e := &Event{Type: EventEvaluation, Evaluation: evaluationOf(i+1, evaluations, 1, []float64{1, 2})}
		runtime.AddCleanup(e.Evaluation, func(gone *atomic.Int64) { gone.Add(1) }, &gone)
		must(t, s.Record(e))
	}
	for range 200 { // a goroutine of the runtime runs the cleanups
		if runtime.GC(); gone.Load() == evaluations-1 {
			break
		}
	}
	if n := evaluations - gone.Load(); n != 1 || s.Made != evaluations || s.Evaluation.Index != evaluations {
		t.Errorf("%d evaluations are in memory; %d were made, the last is %d", n, s.Made, s.Evaluation.Index)
	}
}
