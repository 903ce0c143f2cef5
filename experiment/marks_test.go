package experiment

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"kestrel/vbks"
)

// pausedAndPruned is a run of 20 evaluations of four kernels, that was paused
// after the fifth, pruned to one, and resumed.
func pausedAndPruned() *History {
	nan := math.NaN()
	h := figured()
	*h = History{Standing: Standing{Start: h.Start}}
	for i := 1; i <= 20; i++ {
		values := []float64{.5, .25, .125, .125}
		if i > 5 {
			values = []float64{1, nan, nan, nan}
		}
		h.Apply(&Event{Type: EventEvaluation, Seconds: Number(i), Evaluation: evaluationOf(i, 20, float64(i)/20, values)})
		if i == 5 {
			h.Apply(&Event{Type: EventState, Seconds: 5.25, State: &StateChange{From: Running, To: Paused}})
			pruned := evaluationOf(5, 20, .25, []float64{1, nan, nan, nan})
			h.Apply(&Event{Type: EventPruned, Seconds: 5.25, Kernels: []string{"k1", "k2", "k3"}, Evaluation: pruned})
			h.Apply(&Event{Type: EventState, Seconds: 5.25, State: &StateChange{From: Paused, To: Running}})
		}
	}
	return h
}

// The name of a pruning stands over that of the pause it was made in, on every
// axis, in the figures of the workbench, of the report and of kestrel figures.
func TestAPruningIsNamedOverThePause(t *testing.T) {
	h := pausedAndPruned()
	for _, a := range []Axis{AxisData, AxisSeconds, AxisEvaluation} {
		if m := h.MarksOn(a); len(m) != 1 || m[0].Text != "pruned 3" {
			t.Errorf("axis %d: %+v", a, m)
		}
	}
	g := &figureGroup{name: "n", runs: []*History{h}}
	for i, f := range []*Figure{HistoryFigure(h, nil, QuantityPosterior, AxisData, 4, false), &g.posteriorFigure(2).Figure} {
		_, texts := drawn(t, f)
		has := func(part string) bool {
			return slices.ContainsFunc(texts, func(s svgText) bool { return strings.Contains(s.text, part) })
		}
		if !has("pruned 3") || has("without a text") || has("paused") {
			t.Errorf("figure %d: %v", i, texts)
		}
	}
}

func TestMarksOn(t *testing.T) {
	h := &History{}
	at := func(i int, kinds ...MarkKind) {
		h.Apply(&Event{Type: EventEvaluation, Seconds: Number(i), Evaluation: evaluationOf(i, 10, float64(i)/10, []float64{1})})
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
	if want := []string{"1 paused|", "2 stopped|", "3 pruned 4, re-optimised|pruned 4 …", "4 pruned 2 by itself|pruned 2"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// Texts of neighbouring marks have rows of their own, and the heavy ones have a
// place even where there is none for all.
func TestHeavyMarksAreNamedFirst(t *testing.T) {
	f := &Figure{Name: "f", XMin: 0, XMax: 100, Lines: []FigureLine{{X: []float64{0, 100}, Lo: []float64{0, 1}}}}
	for i := range 60 {
		f.Marks = append(f.Marks, AxisMark{X: 50 + float64(i)/100, Text: "paused for a while"})
	}
	f.Marks = append(f.Marks, AxisMark{X: 50.3, Text: "pruned 19", Weight: 2})
	_, texts := drawn(t, f)
	if !slices.ContainsFunc(texts, func(s svgText) bool { return s.text == "pruned 19" }) {
		t.Error("not named")
	}
}

// At a pruning the belief is drawn as it was before and as it is after, at one
// place, and a pruned kernel's line ends there, not one evaluation earlier.
func TestThePosteriorStepsAtAPruning(t *testing.T) {
	h := pausedAndPruned()
	f := HistoryFigure(h, nil, QuantityPosterior, AxisData, 4, false)
	value := func(l *FigureLine, i int) string { return fmt.Sprintf("%g %g", l.X[i], l.Lo[i]) }
	if l := &f.Lines[0]; value(l, 3) != "0.2 0.5" || value(l, 4) != "0.25 0.5" || value(l, 5) != "0.25 1" || value(l, 6) != "0.3 1" {
		t.Errorf("%v %v", l.X[3:7], l.Lo[3:7])
	}
	if l := &f.Lines[1]; l.Lo[4] != .25 || !math.IsNaN(l.Lo[5]) {
		t.Errorf("%v", l.Lo[3:7])
	}
	if before, after := h.StatusAt(1, 4), h.StatusAt(1, 5); before != vbks.Live || after != vbks.Pruned {
		t.Errorf("%s, then %s", before, after)
	}
	if f := HistoryFigure(h, nil, QuantityPosterior, AxisData, 2, false); f.Lines[1].Name != "kernel 1" {
		t.Errorf("behind the kernel left stands %s, not the second before the pruning", f.Lines[1].Name)
	}
	// The mean of repeats steps where one of them does.
	c := linearMean([]course{{[]float64{0, 2, 2, 4}, []float64{1, 1, 3, 3}}, {[]float64{0, 4}, []float64{0, 4}}})
	if want := (course{[]float64{0, 2, 2, 4}, []float64{.5, 1.5, 2.5, 3.5}}); !slices.Equal(c.x, want.x) || !slices.Equal(c.y, want.y) {
		t.Errorf("%v", c)
	}
}
