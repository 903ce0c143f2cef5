package history

import (
	"fmt"
	"slices"
	"testing"

	"kestrel/experiment/files"
	"kestrel/experiment/record"
	"kestrel/experiment/record/recordtest"
)

func TestMarksOn(t *testing.T) {
	h := &History{}
	at := func(i int, kinds ...MarkKind) {
		h.Apply(&record.Event{Type: record.EventEvaluation, Seconds: files.Number(i),
			Evaluation: recordtest.Evaluation(i, 10, float64(i)/10, []float64{1})})
		for _, kind := range kinds {
			if kind == MarkPruned {
				h.markKernels(kind, 4, false)
			} else {
				h.mark(kind)
			}
		}
	}
	at(1, MarkPaused, MarkResumed)
	at(2, MarkStopped, MarkResumed)
	at(3, MarkPaused, MarkPruned, MarkReoptimised, MarkResumed)
	at(4)
	h.markKernels(MarkPruned, 2, true)
	var got []string
	for _, m := range h.MarksOn(AxisEvaluation) {
		got = append(got, fmt.Sprintf("%g %s|%s", m.X, m.Text, m.Short))
	}
	if want := []string{"1 paused|", "2 stopped|", "3 pruned 4, re-optimised|pruned 4 …",
		"4 pruned 2 by itself|pruned 2"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
