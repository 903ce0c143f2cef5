package figures

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"example.com/kestrel/experiment/chart"
	"example.com/kestrel/experiment/chart/svgtest"
	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/history"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/record/recordtest"
	"example.com/kestrel/vbks"
)

// pausedAndPruned is a run of 20 evaluations of four kernels, that was paused
// after the fifth, pruned to one, and resumed.
func pausedAndPruned() *history.History {
	nan := math.NaN()
	h := figured()
	*h = history.History{Standing: record.Standing{Start: h.Start}}
	for i := 1; i <= 20; i++ {
		values := []float64{.5, .25, .125, .125}
		if i > 5 {
			values = []float64{1, nan, nan, nan}
		}
		h.Apply(&record.Event{Type: record.EventEvaluation, Seconds: files.Number(i),
			Evaluation: recordtest.Evaluation(i, 20, float64(i)/20, values)})
		if i == 5 {
			h.Apply(&record.Event{Type: record.EventState, Seconds: 5.25, State: &record.StateChange{From: record.Running, To: record.Paused}})
			pruned := recordtest.Evaluation(5, 20, .25, []float64{1, nan, nan, nan})
			h.Apply(&record.Event{Type: record.EventPruned, Seconds: 5.25, Kernels: []string{"k1", "k2", "k3"}, Evaluation: pruned})
			h.Apply(&record.Event{Type: record.EventState, Seconds: 5.25, State: &record.StateChange{From: record.Paused, To: record.Running}})
		}
	}
	return h
}

// The name of a pruning stands over that of the pause it was made in, on every
// axis, in the figures of the workbench, of the report and of kestrel figures.
func TestAPruningIsNamedOverThePause(t *testing.T) {
	h := pausedAndPruned()
	for _, a := range []history.Axis{history.AxisData, history.AxisSeconds, history.AxisEvaluation} {
		if m := h.MarksOn(a); len(m) != 1 || m[0].Text != "pruned 3" {
			t.Errorf("axis %d: %+v", a, m)
		}
	}
	g := &figureGroup{name: "n", runs: []*history.History{h}}
	for i, f := range []*chart.Figure{History(h, nil, history.QuantityPosterior, history.AxisData, 4, false), &g.posteriorFigure(2).Figure} {
		_, texts := svgtest.Drawn(t, f)
		has := func(part string) bool {
			return slices.ContainsFunc(texts, func(s svgtest.Text) bool { return strings.Contains(s.Text, part) })
		}
		if !has("pruned 3") || has("without a text") || has("paused") {
			t.Errorf("figure %d: %v", i, texts)
		}
	}
}

// At a pruning the belief is drawn as it was before and as it is after, at one
// place, and a pruned kernel's line ends there, not one evaluation earlier.
func TestThePosteriorStepsAtAPruning(t *testing.T) {
	h := pausedAndPruned()
	f := History(h, nil, history.QuantityPosterior, history.AxisData, 4, false)
	value := func(l *chart.Line, i int) string { return fmt.Sprintf("%g %g", l.X[i], l.Lo[i]) }
	if l := &f.Lines[0]; value(l, 3) != "0.2 0.5" || value(l, 4) != "0.25 0.5" || value(l, 5) != "0.25 1" || value(l, 6) != "0.3 1" {
		t.Errorf("%v %v", l.X[3:7], l.Lo[3:7])
	}
	if l := &f.Lines[1]; l.Lo[4] != .25 || !math.IsNaN(l.Lo[5]) {
		t.Errorf("%v", l.Lo[3:7])
	}
	if before, after := h.StatusAt(1, 4), h.StatusAt(1, 5); before != vbks.Live || after != vbks.Pruned {
		t.Errorf("%s, then %s", before, after)
	}
	if f := History(h, nil, history.QuantityPosterior, history.AxisData, 2, false); f.Lines[1].Name != "kernel 1" {
		t.Errorf("behind the kernel left stands %s, not the second before the pruning", f.Lines[1].Name)
	}
	// The mean of repeats steps where one of them does.
	c := linearMean([]curve{{[]float64{0, 2, 2, 4}, []float64{1, 1, 3, 3}}, {[]float64{0, 4}, []float64{0, 4}}})
	if want := (curve{[]float64{0, 2, 2, 4}, []float64{.5, 1.5, 2.5, 3.5}}); !slices.Equal(c.x, want.x) || !slices.Equal(c.y, want.y) {
		t.Errorf("%v", c)
	}
}
