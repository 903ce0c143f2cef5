package experiment

import (
	"reflect"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"example.com/kestrel/experiment/finding"
	"example.com/kestrel/experiment/history"
	"example.com/kestrel/experiment/history/historytest"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/record/recordtest"
	"example.com/kestrel/internal/must"
)

// A summary made event by event, while a run goes on or from its log, is that of
// all its events.
func TestSummaryEventByEvent(t *testing.T) {
	dir := recorded(t)
	events, err := recordtest.Read(dir)
	must.OK(t, err)
	want := historytest.Summarise(events)
	got, err := history.ReadSummary(dir)
	must.OK(t, err)
	if got.Dir != dir || !strings.Contains(got.Finding, dir) { // what to do next names the run
		t.Errorf("of %s: %s", dir, got.Finding)
	}
	want.Dir, want.Finding = got.Dir, finding.As(&want.Standing, want.Fate, dir).Text()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("read event by event:\n%+v\nwant\n%+v", got, want)
	}
	grown := &history.Summary{Dir: dir}
	for i := range events {
		must.OK(t, grown.Record(&events[i]))
	}
	if !reflect.DeepEqual(grown, want) {
		t.Errorf("recorded:\n%+v\nwant\n%+v", grown, want)
	}
}

// What a summary keeps of a run does not grow with its evaluations.
func TestSummaryKeepsTheLastEvaluationOnly(t *testing.T) {
	s := &history.Summary{}
	const evaluations = 100
	var gone atomic.Int64
	for i := range evaluations {
		e := &record.Event{Type: record.EventEvaluation, Evaluation: recordtest.Evaluation(i+1, evaluations, 1, []float64{1, 2})}
		runtime.AddCleanup(e.Evaluation, func(gone *atomic.Int64) { gone.Add(1) }, &gone)
		must.OK(t, s.Record(e))
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
