package figures

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/kestrel/experiment/chart"
	"example.com/kestrel/experiment/config/configtest"
	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/files/filestest"
	"example.com/kestrel/experiment/history"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/record/recordtest"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/internal/thorough"
)

// Runs that differ in one size only come in the figure of that size, and a run
// that they all have in common in every one.
func TestScalabilityBySize(t *testing.T) {
	thorough.Unraced(t)
	dir := t.TempDir()
	var paths []string
	for i, set := range [][]string{
		{}, {"kernels.expressions=SE,LIN,PER,RQ,SE+LIN"}, {"data.outputs=90"}, {"schedule.batch=30"},
		{"schedule.batch=30", "data.outputs=90", "kernels.expressions=SE"}, // differs from each of them in two
	} {
		c := configtest.Small(t, append([]string{"optimise.optimizer=natural", "optimise.transplants=false", "schedule.batch=10"}, set...)...)
		paths = append(paths, repeated(t, filepath.Join(dir, fmt.Sprint(i)), 1, c)...)
	}
	names := saveFigures(t, paths, filepath.Join(dir, "out"), Options{})
	names = slices.DeleteFunc(names, func(n string) bool { return !strings.Contains(n, "scalability") })
	if want := []string{"quickstart-scalability", "quickstart-scalability-kernels", "quickstart-scalability-rows"}; !slices.Equal(names,
		want) {
		t.Fatal(names)
	}
	for _, c := range []struct {
		name, column, label string
		sizes               []int
	}{
		{"quickstart-scalability", "batch", "B", []int{10, 30}},
		{"quickstart-scalability-kernels", "kernels", "K", []int{3, 5}},
		{"quickstart-scalability-rows", "rows", "N", []int{60, 90}},
	} {
		fit, err := filestest.ReadTable(filepath.Join(dir, "out", c.name+"-fit.csv"))
		must.OK(t, err)
		var got []int
		for i := range fit.Rows {
			got = append(got, fit.Whole(i, c.column))
			if fit.Whole(i, "runs") != 1 || !(fit.Number(i, "seconds_per_iteration") > 0) {
				t.Errorf("%s: %q", c.name, fit.Rows[i])
			}
		}
		must.OK(t, fit.Err)
		if !slices.Equal(got, c.sizes) {
			t.Errorf("%s: %v", c.name, got)
		}
		for _, size := range c.sizes {
			if rows := drawnRows(t, filepath.Join(dir, "out", c.name+".csv"), "line", fmt.Sprintf("%s = %d", c.label, size)); len(rows) != 3 {
				t.Errorf("%s: %d evaluations drawn of %d", c.name, len(rows), size)
			}
		}
	}
}

// timed is a run of so many kernels with an evaluation a time, in s.
func timed(t *testing.T, kernels int, seconds ...float64) *history.History {
	t.Helper()
	h := &history.History{}
	c := configtest.Small(t, "kernels.expressions="+strings.Join([]string{"SE", "LIN", "PER"}[:kernels], ","))
	start := &record.Start{Name: "timed", Data: recordtest.SummaryOf(100, 10), Config: c.TOML()}
	beliefs := make([]float64, kernels)
	for k := range kernels {
		start.Kernels = append(start.Kernels, record.KernelInfo{ID: fmt.Sprint("k", k)})
		beliefs[k] = 1 / float64(kernels)
	}
	h.Apply(&record.Event{Type: record.EventStarted, Start: start})
	for i, s := range seconds {
		h.Apply(&record.Event{Type: record.EventEvaluation, Seconds: files.Number(s),
			Evaluation: recordtest.Evaluation(i+1, 10, float64(i+1)/10, beliefs)})
	}
	return h
}

// Beside a single run repeats have the standard deviations of their times, between which there are gaps: the axis ends
// above all of them, and the figure can be drawn.
func TestScalabilityOfRepeatsBesideOneRun(t *testing.T) {
	groups := []*figureGroup{
		{name: "one", runs: []*history.History{timed(t, 3, 1, 2, 3)}},
		{name: "two", runs: []*history.History{timed(t, 2, 2, 4, 6), timed(t, 2, 3, 6, 12)}},
	}
	all := scalabilityFigures(groups)
	if len(all) != 1 || all[0].Name != "one-scalability-kernels" {
		t.Fatalf("%d figures", len(all))
	}
	f := all[0]
	if mean, sd := 9., 3*math.Sqrt2; !(f.YMax > mean+sd) || f.YMax > 1.1*(mean+sd) || f.YMin != 0 {
		t.Errorf("the axis goes from %v to %v", f.YMin, f.YMax)
	}
	drawn, err := f.files()
	must.OK(t, err)
	if text := string(drawn[len(drawn)-1].Text) + string(drawn[len(drawn)-2].Text); !strings.Contains(text, "sd,K = 2,") {
		t.Errorf("%s", text)
	}
	// How many kernels a growing space has had is no size of it.
	groups[0].runs[0].Start.Grows = true
	if all = scalabilityFigures(groups); len(all) > 0 {
		t.Errorf("%s is drawn", all[0].Name)
	}
}

// A figure in which nothing is finite is left out and named, and those beside it are there.
func TestFigureOfNothingIsLeftOut(t *testing.T) {
	nan := math.NaN()
	figure := func(name string, x, y []float64) *paperFigure {
		f := &paperFigure{}
		f.Name, f.XLabel, f.YLabel = name, "x", "y"
		f.line(chart.Line{Name: "l", X: x, Lo: y})
		return f
	}
	p := &Figures{figures: []*paperFigure{figure("unknown", []float64{1, 2}, []float64{nan, math.Inf(1)}), figure("none", nil, nil),
		figure("some", []float64{1, 2, 3}, []float64{nan, 2, 3})}}
	p.leaveOut()
	names, err := p.Save(t.Context(), t.TempDir())
	if err != nil || !slices.Equal(names, []string{"some"}) || !slices.Equal(p.Empty, []string{"unknown", "none"}) {
		t.Errorf("%q is drawn, %q is not: %v", names, p.Empty, err)
	}
}
