package plot

import (
	"strings"
	"testing"
)

// A text of a marker stands where there is nothing else: not on a curve, nor on
// the label of a line's end, and the heavier of two has the place.
func TestMarkerTextsKeepClear(t *testing.T) {
	rows := func(ch *Chart, w, h int) []string {
		c := NewCanvas(w, h)
		ch.Draw(c, c.Bounds())
		return strings.Split(c.Plain(), "\n")
	}
	high := Line{X: []float64{0, 10}, Y: []float64{10, 10}, Label: "PER + LIN .99"}
	text := strings.Join(rows(&Chart{Lines: []Line{high}, LabelEnds: true, Markers: []Marker{{X: 9.9, Text: "paused"}}}, 60, 14), "\n")
	if !strings.Contains(text, "PER + LIN .99") || !strings.Contains(text, "paused┊") {
		t.Errorf("label or text is cut\n%s", text)
	}
	// The curve is in the first row.
	lines := rows(&Chart{Lines: []Line{high}, Y: Axis{Min: 0, Max: 10}, Markers: []Marker{{X: 2, Text: "pruned 19"}}}, 60, 14)
	if strings.Contains(lines[0], "pruned") || !strings.Contains(lines[1], "┊pruned 19") {
		t.Errorf("not in the second row\n%s", strings.Join(lines, "\n"))
	}
	// There is room for one; before, the first of them had it.
	text = strings.Join(
		rows(&Chart{Lines: []Line{{X: []float64{0, 10}, Y: []float64{0, 0}}}, Y: Axis{Min: 0, Max: 10, Hide: true}, X: Axis{Hide: true},
			Markers: []Marker{{X: 0, Text: "paused"}, {X: 0, Text: "pruned 19 by itself", Short: "pruned 19", Priority: 1}}}, 14, 2), "\n")
	if !strings.Contains(text, "pruned 19") || strings.Contains(text, "itself") || strings.Contains(text, "paused") {
		t.Errorf("the heavier one is not named, or not in short\n%s", text)
	}
}

// A remark never covers data.
func TestRemarkKeepsClear(t *testing.T) {
	ch := &Chart{Lines: []Line{{X: []float64{0, 10}, Y: []float64{10, 10}}}, Y: Axis{Min: 0, Max: 10},
		Remark: func(Layout) []string { return []string{strings.Repeat("too long ", 20), "short"} }}
	c := NewCanvas(60, 14)
	l := ch.Draw(c, c.Bounds())
	lines := strings.Split(c.Plain(), "\n")
	if strings.Contains(lines[l.Plot.Y], "short") || !strings.Contains(strings.Join(lines, "\n"), "short") {
		t.Errorf("%s", c.Plain())
	}
}

// Of several points at the crosshair the one that is meant is marked.
func TestCursorOnAStep(t *testing.T) {
	at := 5.0
	for next, want := range []float64{1, 9} {
		ch := &Chart{Cursor: &at, CursorNext: next, Y: Axis{Min: 0, Max: 10},
			Lines: []Line{{X: []float64{0, 5, 5, 10}, Y: []float64{1, 1, 9, 9}, Focus: true}}}
		c := NewCanvas(60, 14)
		l := ch.Draw(c, c.Bounds())
		x, _ := l.cellX(at)
		if y, _ := l.cellY(want); c.At(x, y).Rune != '●' {
			t.Errorf("point %d is not at %g\n%s", next, want, c.Plain())
		}
	}
}

// Nobody takes the text of a line for that of another one near it: it stands beside its
// own, and not between two, where there is room elsewhere.
func TestTextsOfNearMarkers(t *testing.T) {
	x := []float64{0, 100}
	for _, at := range [][]float64{{30, 36}, {30, 38, 46}, {20, 29, 80}} {
		ch := &Chart{Lines: []Line{{X: x, Y: []float64{0, 0}}}, Y: Axis{Min: -1, Max: 9}}
		for _, m := range at {
			ch.Markers = append(ch.Markers, Marker{X: m, Text: "paused"})
		}
		c := NewCanvas(70, 16)
		ch.Draw(c, c.Bounds())
		beside := 0
		for line := range strings.SplitSeq(c.Plain(), "\n") {
			for rest := line; ; {
				before, after, ok := strings.Cut(rest, "paused")
				if !ok {
					break
				}
				if left, right := strings.HasSuffix(before, "┊"), strings.HasPrefix(after, "┊"); left != right {
					beside++
				}
				rest = after
			}
		}
		if beside != len(at) {
			t.Errorf("%v: %d of the texts stand at one line\n%s", at, beside, c.Plain())
		}
	}
}
