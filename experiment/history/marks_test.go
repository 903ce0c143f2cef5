package history

import (
	"fmt"
	"slices"
	"testing"

	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/record/recordtest"
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

// Where rows come while others are still arriving, shares of the rows are of all from there
// on; where all have been used, what takes them in follows behind.
func TestMoreRowsOnTheAxis(t *testing.T) {
	h := &History{}
	at := func(i int, share float64) {
		h.Apply(&record.Event{Type: record.EventEvaluation, Evaluation: recordtest.Evaluation(i, 10, share, []float64{1})})
	}
	more := func(from, to int) {
		start := &record.Start{Data: recordtest.SummaryOf(to, 5)}
		h.Apply(&record.Event{Type: record.EventData, Start: start, Before: &record.Table{Train: from}})
	}
	at(1, 0.2)
	at(2, 0.4)
	more(100, 200)
	at(3, 0.6)
	at(4, 1)
	at(5, 1)
	more(200, 250)
	at(6, 0.9)
	at(7, 1)
	var got []string
	for _, m := range h.Moments() {
		got = append(got, fmt.Sprintf("%g %g %s", m.Data, m.Proportion, h.Label(AxisData, m.Data)))
	}
	want := []string{"0.1 0.1 10 %", "0.2 0.2 20 %", "0.6 0.6 60 %", "1 1 100 %", "1.1 1 +1", "1.2 0.9 +2", "1.3 1 +3"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	var marks []string
	for _, m := range h.MarksOn(AxisData) {
		marks = append(marks, fmt.Sprintf("%g %s", m.X, m.Text))
	}
	if want := []string{"0.2 100 more rows", "1.1 50 more rows"}; !slices.Equal(marks, want) {
		t.Errorf("%q", marks)
	}
}

// Evaluations that take in no more rows for a while, while there are some left, stand one behind the other before the
// place of all rows, whatever that is called.
func TestRowsThatWaitOnTheAxis(t *testing.T) {
	h := &History{}
	for _, e := range []struct {
		index int
		share float64
	}{{1, 0.1}, {2, 0.2}, {3, 0.2}, {4, 0.2}, {5, 1}, {6, 1}} {
		h.Apply(&record.Event{Type: record.EventEvaluation, Evaluation: recordtest.Evaluation(e.index, 10, e.share, []float64{1})})
	}
	var got []string
	before := 0.0
	for _, m := range h.Moments() {
		got = append(got, fmt.Sprintf("%d %s", m.Index, h.Label(AxisData, m.Data)))
		if m.Data <= before {
			t.Errorf("evaluation %d stands at %v, after one at %v", m.Index, m.Data, before)
		}
		before = m.Data
	}
	if want := []string{"1 10 %", "2 20 %", "3 20 %", "4 20 %", "5 100 %", "6 +1"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if got := h.Label(AxisData, 0.6); got != "20 %" {
		t.Errorf("between the last of them and all rows it is %q", got)
	}
	// Rows that come while others wait leave all that has been in its order.
	h = &History{}
	for i, share := range []float64{0.3, 0.6, 0.6, 0.6, 0.6, 0.6, 0.57, 0.6, 1} {
		if i == 6 {
			start := &record.Start{Data: recordtest.SummaryOf(110, 5)}
			h.Apply(&record.Event{Type: record.EventData, Start: start, Before: &record.Table{Train: 100}})
		}
		h.Apply(&record.Event{Type: record.EventEvaluation, Evaluation: recordtest.Evaluation(i+1, 10, share, []float64{1})})
	}
	moments := h.Moments()
	for i := range moments {
		if i > 0 && moments[i].Data <= moments[i-1].Data || i+1 < len(moments) && moments[i].Data >= 1 {
			t.Errorf("evaluation %d stands at %v, after one at %v", i+1, moments[i].Data, moments[max(0, i-1)].Data)
		}
	}
}
