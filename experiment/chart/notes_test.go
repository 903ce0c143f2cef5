package chart

import (
	"slices"
	"testing"

	"example.com/kestrel/experiment/chart/svgtest"
)

// Texts of neighbouring marks have rows of their own, and the heavy ones have a
// place even where there is none for all.
func TestHeavyMarksAreNamedFirst(t *testing.T) {
	f := &Figure{Name: "f", XMin: 0, XMax: 100, Lines: []Line{{X: []float64{0, 100}, Lo: []float64{0, 1}}}}
	for i := range 60 {
		f.Marks = append(f.Marks, AxisMark{X: 50 + float64(i)/100, Text: "paused for a while"})
	}
	f.Marks = append(f.Marks, AxisMark{X: 50.3, Text: "pruned 19", Weight: 2})
	_, texts := svgtest.Drawn(t, f)
	if !slices.ContainsFunc(texts, func(s svgtest.Text) bool { return s.Text == "pruned 19" }) {
		t.Error("not named")
	}
}
