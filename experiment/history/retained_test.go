package history

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"example.com/kestrel/datasets"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/record/recordtest"
	"example.com/kestrel/internal/must"
)

// Who follows a long event log and keeps its history holds one evaluation, the
// last: the others are in the history's bounded series.
func TestFollowersKeepTheLastEvaluationOnly(t *testing.T) {
	const evaluations = 6000 // in several batches
	dir := t.TempDir()
	f, err := os.Create(filepath.Join(dir, record.EventsFile))
	must.OK(t, err)
	l := record.NewLog(f)
	must.OK(t, l.Append(&record.Event{V: 1, Type: record.EventStarted, Start: &record.Start{Name: "long", Data: &datasets.Summary{}}}))
	for i := range evaluations {
		must.OK(t, l.Append(&record.Event{V: 1, Type: record.EventEvaluation,
			Evaluation: recordtest.Evaluation(i+1, evaluations, 1, []float64{0.25, 0.75})}))
	}
	must.OK(t, f.Close())

	h := &History{Capacity: 16}
	var gone atomic.Int64
	told, batches := int64(0), 0
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	must.OK(t, Follow(ctx, dir, time.Millisecond, func(events []record.Event) {
		batches++
		for i := range events {
			h.Apply(&events[i])
			if e := events[i].Evaluation; e != nil {
				told++
				runtime.AddCleanup(e, func(gone *atomic.Int64) { gone.Add(1) }, &gone)
			}
		}
		if told == evaluations {
			cancel()
		}
	}))
	for range 200 { // a goroutine of the runtime runs the cleanups
		if runtime.GC(); told-gone.Load() <= 1 {
			break
		}
	}
	if n := told - gone.Load(); told != evaluations || n != 1 {
		t.Errorf("%d of %d evaluations are in memory, want the last of %d", n, told, evaluations)
	}
	if batches < 3 {
		t.Errorf("all came in %d batches", batches)
	}
	if h.Made != evaluations || h.Evaluation.Index != evaluations {
		t.Errorf("%d evaluations in the history, the last is %d", h.Made, h.Evaluation.Index)
	}
}
