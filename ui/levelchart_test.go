package ui

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"example.com/kestrel/datasets"
	"example.com/kestrel/experiment/inspect"
	"example.com/kestrel/experiment/prepare"
	"example.com/kestrel/experiment/record"
)

// withShops gives an invented run a time and a column of three shops, the inspector of
// which it returns.
func withShops(t *testing.T, place int) (*bench, *fakeInspector) {
	events := manyInputs(demoEvents(t, "K12", 3))
	d := events[0].Start.Data
	d.Columns[0].Name = "when"
	d.Columns[1] = datasets.ColumnSummary{Name: "shop", Role: "input", Max: 2,
		Levels: []datasets.Level{{Name: "north"}, {Name: "south"}, {Name: "harbour\x1b[2J"}}}
	d.Columns = slices.Delete(d.Columns, 2, 3)
	b := testApp(t, 120, 36, settle(events, record.Finished, "done")).bench
	f := &fakeInspector{evaluation: 3, inputs: []prepare.ColumnInfo{
		{Column: datasets.Column{Name: "when", Unit: "d", Time: true, Origin: time.Date(2020, 2, 28, 0, 0, 0, 0, time.UTC)},
			High: 400, Median: 200},
		{Column: datasets.Column{Name: "shop", Levels: []string{"north", "south", "harbour"}}, High: 2, Median: 1}}}
	b.inspect.open = func(context.Context) (inspector, error) { return f, nil }
	b.at = place
	askAll(t, b)
	return b, f
}

// Along a column of levels these stand at the axis, each with as much room, and no number
// between two; where one is held it has its name, and another one is a step away.
func TestFitAlongLevels(t *testing.T) {
	b, f := withShops(t, fitPlace)
	viewKeys(t, b, "c")
	askAll(t, b)
	q := f.queries[len(f.queries)-1]
	if q.Column != 1 || q.Low != -0.5 || q.High != 2.5 {
		t.Errorf("asked %+v; want three levels", q)
	}
	frame := shown(b, 140, 33)
	mustShow(t, frame, "north", "south", "harbour", "held at medians: ‹when")
	mustNotShow(t, frame, "0.5", "1.5", "2.0", "\x1b")
	viewKeys(t, b, "c", "i", "o")
	askAll(t, b)
	mustShow(t, shown(b, 140, 33), "held at medians and the most frequent levels: ‹shop = south›")
	viewKeys(t, b, "<")
	askAll(t, b)
	if q := f.queries[len(f.queries)-1]; len(q.Held) != 2 || q.Held[1] != 0 {
		t.Errorf("asked %+v; want the level before", q)
	}
	mustShow(t, shown(b, 140, 33), "held: ‹shop = north›")
}

// Covariance of levels is with one of them, draws are of each, and a component that is the
// same all along is named and not drawn as a line on which there is nothing.
func TestKernelAlongLevels(t *testing.T) {
	b, _ := withShops(t, kernelPlace)
	v := b.views[kernelPlace].(*kernelView)
	viewKeys(t, b, "c")
	askAll(t, b)
	frame := shown(b, 160, 50)
	mustShow(t, frame, "Covariance with north", "harbour")
	x := []float64{0, 1, 2}
	parts, rest := v.moving([]inspect.ComponentCurve{
		{ID: "PER", Name: "PER[when]", X: x, Mean: []float64{4, 4, 4}, Lower: []float64{3, 3, 3}, Upper: []float64{5, 5, 5}},
		{ID: "CAT", Name: "CAT[shop]", X: x, Mean: []float64{4, 5, 4}, Lower: []float64{3, 4, 3}, Upper: []float64{5, 6, 5}},
		{ID: "SE", Name: "SE", X: x, Mean: []float64{0, 0, 0}, Lower: []float64{-3, -4, -3}, Upper: []float64{3, 4, 3}},
		{Name: inspect.DataMean, X: x, Mean: []float64{7, 7, 7}},
	})
	var names []string
	for _, p := range parts {
		names = append(names, p.Name)
	}
	if got := strings.Join(names, " "); got != "CAT[shop] SE" {
		t.Errorf("drawn are %s", got)
	}
	if want := "not along shop: PER[when] (c: another column); and the mean of the data, 7"; rest != want {
		t.Errorf("%q, want %q", rest, want)
	}
}

// The nearest level is told of every place, beyond the last, too.
func TestLevelText(t *testing.T) {
	in := &datasets.ColumnSummary{Levels: []datasets.Level{{Name: "a"}, {Name: strings.Repeat("very ", 9) + "long"}}}
	const long = "very very ve…y very long"
	for at, want := range map[float64]string{-3: "a", 0.49: "a", 0.51: long, math.Inf(1): long} {
		if got := levelText(record.LevelAt(in, at)); got != want {
			t.Errorf("%v: %q, want %q", at, got, want)
		}
	}
}

// What the sentence at the top says the run is worth is not said again below it; where the
// sentence does not stand, it is.
func TestVerdictOnce(t *testing.T) {
	events := demoEvents(t, "K12", 8)
	metric := &events[len(events)-1].Metrics[0]
	metric.CRPS = 1
	events[0].Start.Baselines = &record.Baselines{Task: record.TaskForecast, Rows: metric.TestRows, Methods: []record.Baseline{
		{Method: "naive", Label: "naive", Score: &record.BaselineScore{CRPS: 2, RMSE: .3, MAE: .1, NLPD: 3}}}}
	notice := events[len(events)-1]
	notice.Type, notice.Metrics = record.EventNotice, nil
	notice.Notice = "forecast (200 rows): CRPS 50 % better than the best of 1 baselines (naive)"
	a := testApp(t, 120, 36, events)
	if v := a.bench.hist.Verdict(); len(v) == 0 {
		t.Fatal("no verdict")
	} else {
		notice.Notice = v[0]
	}
	a = testApp(t, 120, 36, settle(append(events, notice), record.Finished, "all is done"))
	mustShow(t, screen(a), "50 % better", "all is done")
	mustNotShow(t, screen(a), "all is done · ")
	press(a, "3")
	mustShow(t, screen(a), "all is done · "+notice.Notice[:20])
	a.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	mustNotShow(t, screen(a), "all is done · ")
}
