package figures

import (
	"image/color"
	"math"
	"slices"
	"strings"
	"testing"

	"example.com/kestrel/datasets"
	"example.com/kestrel/experiment/chart"
	"example.com/kestrel/experiment/chart/svgtest"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/history"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/record/recordtest"
)

// figured is a history of four kernels over five evaluations, two of them with
// all data; k1 is pruned before the last one.
func figured() *history.History {
	nan := math.NaN()
	h := &history.History{}
	start := &record.Start{Name: "demo", Data: &datasets.Summary{Columns: []datasets.ColumnSummary{{Name: "x", Role: "input", Unit: "s"},
		{Name: "y", Role: "target", Unit: "MWh"}}}}
	for _, id := range []string{"k0", "k1", "k2", "k3"} {
		start.Kernels = append(start.Kernels, record.KernelInfo{ID: id, Name: strings.Replace(id, "k", "kernel ", 1)})
	}
	h.Apply(&record.Event{Type: record.EventStarted, Start: start})
	for i, p := range []float64{.25, .5, .75, 1, 1} {
		values := []float64{.125, .25, .5, .0625}
		if i == 4 {
			values = []float64{.125, nan, .75, .0625}
		}
		e := recordtest.Evaluation(i+1, 5, p, values)
		if i == 4 {
			h.Apply(&record.Event{Type: record.EventPruned, Seconds: files.Number(2*i + 1), Kernels: []string{"k1"},
				Evaluation: recordtest.Evaluation(4, 5, 1, values)})
		}
		for k, rank := range []int{2, 3, 1, 4} {
			if f := e.Kernels[k].Fit; f != nil {
				f.Rank = rank
			}
		}
		h.Apply(&record.Event{Type: record.EventEvaluation, Seconds: files.Number(2*i + 2), Evaluation: e})
		h.Apply(&record.Event{Type: record.EventMetrics, Seconds: files.Number(2*i + 2), Metrics: []record.Metric{
			{Evaluation: i + 1, Proportion: p, Seconds: files.Number(2*i + 2), Method: config.MethodAverage, RMSE: files.Number(8 - i),
				Coverage95: .875},
			{Evaluation: i + 1, Proportion: p, Seconds: files.Number(2*i + 2), Method: config.MethodSingle, RMSE: 9},
		}})
	}
	return h
}

func TestHistoryFigure(t *testing.T) {
	h := figured()
	var p chart.Palette
	f := History(h, &p, history.QuantityPosterior, history.AxisData, 2, false)
	if f.Name != "posterior" || f.Title != "demo" || len(f.Lines) != 4 {
		t.Fatalf("%+v", f)
	}
	var names []string
	rest := 0
	for _, l := range f.Lines {
		if l.Rest {
			rest++
		} else {
			names = append(names, l.Name)
		}
	}
	// By rank at the end; k1 was pruned.
	if want := []string{"kernel 2", "kernel 0"}; rest != 2 || !slices.Equal(names, want) {
		t.Errorf("%v and %d others, not %v", names, rest, want)
	}
	paths, texts := svgtest.Drawn(t, f)
	left, right, bottom, top := svgtest.FrameOf(t, paths)
	part := svgtest.Stroked(paths, p.Of("k2").Light)[0]
	if len(part) != 6 {
		t.Fatalf("%v", part)
	}
	// The evaluations are equally far apart, the refinement too; the first
	// stands at a quarter of the data, what the pruning made of the fourth at its
	// place.
	for i, at := range []float64{1, 2, 3, 4, 4, 5} {
		x := left + at*.25/(1.25*1.015)*(right-left)
		if !svgtest.Near(part[i][0], x) {
			t.Errorf("evaluation %d is at %g, not at %g", i+1, part[i][0], x)
		}
	}
	if f.YMax < .75 || part[4][1] <= part[3][1] || part[4][1] > top || part[0][1] < bottom {
		t.Errorf("%v in a frame from %g to %g", part, bottom, top)
	}
	for _, id := range []string{"k2", "k0"} {
		s := p.Of(id)
		found := slices.ContainsFunc(paths, func(q svgtest.Path) bool {
			return strings.EqualFold(q.Stroke, s.Light.Hex()) && len(q.Parts) == 1 && len(q.Parts[0]) == 6 &&
				(q.Dashes == "" || q.Dashes == "none") == (s.Dash == 0)
		})
		if !found {
			t.Errorf("%s is not drawn in its colour and dash", id)
		}
	}
	// The rest: one of six points, one of four, which ends where it was pruned.
	var lengths []int
	for _, part := range svgtest.Stroked(paths, svgtest.Grey(color.Gray{0xbe})) {
		lengths = append(lengths, len(part))
	}
	slices.Sort(lengths)
	if !slices.Equal(lengths, []int{4, 6}) {
		t.Errorf("the rest has %v points", lengths)
	}
	for _, want := range []string{"kernel 2", "kernel 0", "demo", "0 %", "100 %", "+1", "pruned 1", "kernel posterior q*(k)"} {
		if !slices.ContainsFunc(texts, func(s svgtest.Text) bool { return s.Text == want }) {
			t.Errorf("%q is not in %v", want, texts)
		}
	}
	for _, l := range []string{"kernel 1", "kernel 3"} {
		if slices.ContainsFunc(texts, func(s svgtest.Text) bool { return s.Text == l }) {
			t.Errorf("%q is named", l)
		}
	}
}

// A figure stays as it is while the run goes on.
func TestHistoryFigureIsACopy(t *testing.T) {
	h := figured()
	f := History(h, nil, history.QuantityPosterior, history.AxisData, 2, false)
	before, _ := svgtest.Drawn(t, f)
	for i := 6; i < 20; i++ {
		h.Apply(&record.Event{Type: record.EventEvaluation, Evaluation: recordtest.Evaluation(i, 20, 1, []float64{1, 2, 3, 4})})
	}
	after, _ := svgtest.Drawn(t, f)
	if len(before) != len(after) || !slices.EqualFunc(before, after, func(a, b svgtest.Path) bool {
		return slices.EqualFunc(a.Parts, b.Parts, slices.Equal[[][2]float64])
	}) {
		t.Error("it has changed")
	}
}

func TestHistoryFigureOfGaps(t *testing.T) {
	h := figured()
	linear := History(h, nil, history.QuantityGap, history.AxisSeconds, 4, false)
	log := History(h, nil, history.QuantityGap, history.AxisSeconds, 4, true)
	for k, l := range linear.Lines {
		for i, v := range l.Lo {
			if !recordtest.Same(v, -log.Lines[k].Lo[i]) {
				t.Errorf("gap %g, and %g on a logarithmic axis", v, log.Lines[k].Lo[i])
			}
		}
	}
	// k0 is .375 behind at first, .625 at last.
	if l := log.Lines[1]; l.Name != "kernel 0" || l.Lo[0] != .375 || l.Lo[5] != .625 || !slices.Equal(l.X, []float64{2, 4, 6, 8, 9, 10}) {
		t.Errorf("%+v", l)
	}
	if log.XLabel != "time (s)" || !strings.Contains(log.YLabel, "(nats)") {
		t.Errorf("%q %q", log.XLabel, log.YLabel)
	}
	svgtest.Drawn(t, linear)
	// The leader has no gap to be drawn; the others are there.
	svgtest.Drawn(t, History(h, nil, history.QuantityGap, history.AxisSeconds, 1, true))
}

// Merged points are drawn with their extremes, which are in the right order
// also when gaps are turned over.
func TestHistoryFigureOfMergedPoints(t *testing.T) {
	h := &history.History{Capacity: 8}
	for i := 1; i <= 100; i++ {
		h.Apply(&record.Event{Type: record.EventEvaluation, Seconds: files.Number(i),
			Evaluation: recordtest.Evaluation(i, 100, float64(i)/100, []float64{1000, float64(i % 7)})})
	}
	for _, log := range []bool{false, true} {
		f := History(h, nil, history.QuantityGap, history.AxisEvaluation, 2, log)
		l := f.Lines[1]
		lo, hi := recordtest.LeastAndGreatest(append(slices.Clone(l.Lo), l.Hi...))
		want := [2]float64{-1000, -994} // for i % 7 from 0 to 6
		if log {
			want = [2]float64{994, 1000}
		}
		if lo != want[0] || hi != want[1] || len(l.Hi) != len(l.Lo) {
			t.Errorf("from %g to %g, not %v", lo, hi, want)
		}
		for i := range l.Lo {
			if l.Lo[i] > l.Hi[i] {
				t.Errorf("from %g to %g", l.Lo[i], l.Hi[i])
			}
		}
		svgtest.Drawn(t, f)
	}
}

func TestHistoryFiguresOfAllKinds(t *testing.T) {
	h := figured()
	names := map[string]bool{}
	for q := history.QuantityPosterior; q <= history.QuantityRank; q++ {
		for _, a := range []history.Axis{history.AxisData, history.AxisSeconds, history.AxisEvaluation} {
			for _, focus := range []int{-1, 0, 3, 100} {
				f := History(h, nil, q, a, focus, focus == 3)
				names[f.Name] = true
				if f.XLabel == "" || f.YLabel == "" {
					t.Errorf("%q %q", f.XLabel, f.YLabel)
				}
				svgtest.Drawn(t, f)
			}
		}
	}
	for q := history.QuantityRMSE; q <= history.QuantityCoverage; q++ {
		f := Metrics(h, q, history.AxisData)
		names[f.Name] = true
		svgtest.Drawn(t, f)
	}
	if len(names) != int(history.QuantityCoverage)+1 {
		t.Errorf("%v", names)
	}
	if err := History(h, nil, history.QuantityRMSE, history.AxisData, 3, false).WriteSVG(nil); err == nil ||
		!strings.Contains(err.Error(), "nothing to draw") {
		t.Error(err)
	}
	if err := History(&history.History{}, nil, history.QuantityPosterior, history.AxisData, 3, false).WriteSVG(nil); err == nil ||
		!strings.Contains(err.Error(), "nothing to draw") {
		t.Error(err)
	}
}

func TestMetricFigure(t *testing.T) {
	f := Metrics(figured(), history.QuantityRMSE, history.AxisSeconds)
	if f.Name != "rmse" || f.YLabel != "RMSE on held-out rows (MWh)" || len(f.Lines) != 2 {
		t.Fatalf("%+v", f)
	}
	if l := f.Lines[0]; l.Name != "averaged" || !slices.Equal(l.X, []float64{2, 4, 6, 8, 10}) ||
		!slices.Equal(l.Lo, []float64{8, 7, 6, 5, 4}) {
		t.Errorf("%+v", l)
	}
	if f.Lines[1].Name != "best kernel" || f.Lines[0].Swatch == f.Lines[1].Swatch {
		t.Errorf("%+v", f.Lines[1])
	}
}

func TestRefinementsAreAtEvaluations(t *testing.T) {
	const step = 0.0128
	at := refinements(step, 1+40*step)
	if len(at) < 2 {
		t.Fatalf("%v", at)
	}
	for _, x := range at {
		j := (x - 1) / 0.0128
		if math.Abs(j-math.Round(j)) > 1e-9 || j < 1 || j > 40 {
			t.Errorf("a label at refinement %g", j)
		}
	}
}
