package figures

import (
	"bytes"
	"errors"
	"fmt"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"example.com/kestrel/experiment/compare"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/config/configtest"
	"example.com/kestrel/experiment/files/filestest"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/record/recordtest"
	"example.com/kestrel/experiment/runtest"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/internal/thorough"
)

// repeated makes runs of a config with seeds counting up, in 001, 002, ….
func repeated(t *testing.T, dir string, n int, c config.Config) (paths []string) {
	t.Helper()
	for i := range n {
		c := c
		c.Settings.Seed += uint64(i)
		c.Data.Seed = c.Settings.Seed
		paths = append(paths, filepath.Join(dir, fmt.Sprintf("%03d", i+1)))
		if _, s := runtest.In(t, c, paths[i]); s.State != record.Finished {
			t.Fatal(s.Reason)
		}
	}
	return paths
}

// drawnRows returns the rows of a figure's CSV of one kind and name.
func drawnRows(t *testing.T, path, element, name string) (rows [][4]float64) {
	t.Helper()
	table, err := filestest.ReadTable(path)
	must.OK(t, err)
	number := func(i int, column string) float64 {
		if table.Text(i, column) == "" {
			return math.NaN()
		}
		return table.Number(i, column)
	}
	for i := range table.Rows {
		if table.Text(i, "element") == element && table.Text(i, "name") == name {
			rows = append(rows, [4]float64{number(i, "x"), number(i, "y"), number(i, "low"), number(i, "high")})
		}
	}
	must.OK(t, table.Err)
	return rows
}

func alike(a, b float64) bool {
	return math.Abs(a-b) <= 1e-6*max(1e-9, math.Abs(a), math.Abs(b)) // histories keep posteriors in 32 bits
}

// saveFigures draws figures and returns their names.
func saveFigures(t *testing.T, paths []string, dir string, o Options) []string {
	t.Helper()
	figures, err := Read(t.Context(), paths, o)
	must.OK(t, err)
	names, err := figures.Save(t.Context(), dir)
	must.OK(t, err)
	return names
}

// Figures of repeats show the means of what stands in the runs' tables.
func TestFiguresOfRepeats(t *testing.T) {
	thorough.Unraced(t)
	dir := t.TempDir()
	paths := repeated(t, filepath.Join(dir, "runs"), 2, configtest.Small(t, "optimise.optimizer=collapsed"))
	names := saveFigures(t, []string{filepath.Join(dir, "runs")}, filepath.Join(dir, "out"), Options{})
	if !slices.Equal(names, []string{"quickstart-posterior", "quickstart-rmse", "quickstart-table"}) {
		t.Fatal(names)
	}
	for _, n := range names {
		text, err := os.ReadFile(filepath.Join(dir, "out", n+".png"))
		must.OK(t, err)
		if _, err := png.Decode(bytes.NewReader(text)); err != nil {
			t.Errorf("%s.png: %v", n, err)
		}
		text, err = os.ReadFile(filepath.Join(dir, "out", n+".svg"))
		must.OK(t, err)
		if !bytes.Contains(text, []byte("</svg>")) {
			t.Errorf("%s.svg is cut off", n)
		}
	}
	// Posterior: the mean of the two posterior.csv, for every kernel.
	mean := map[string]map[int]float64{}
	at := map[int]float64{}
	final, square := map[string]float64{}, map[string]float64{}
	for _, p := range paths {
		table, err := filestest.ReadTable(filepath.Join(p, record.PosteriorFile))
		must.OK(t, err)
		for i := range table.Rows {
			k := table.Text(i, "kernel")
			if mean[k] == nil {
				mean[k] = map[int]float64{}
			}
			mean[k][table.Whole(i, "evaluation")] += table.Number(i, "posterior") / 2
			at[table.Whole(i, "evaluation")] = table.Number(i, "proportion")
		}
		metrics, err := filestest.ReadTable(filepath.Join(p, record.MetricsFile))
		must.OK(t, err)
		for i := len(metrics.Rows) - 2; i < len(metrics.Rows); i++ {
			v := metrics.Number(i, "rmse")
			final[metrics.Text(i, "method")] += v / 2
			square[metrics.Text(i, "method")] += v * v
		}
	}
	for k, values := range mean {
		rows := drawnRows(t, filepath.Join(dir, "out", "quickstart-posterior.csv"), "line", k)
		if len(rows) != len(values) {
			t.Fatalf("%s: %d points, %d evaluations", k, len(rows), len(values))
		}
		for i, r := range rows {
			if want := min(1, r[0]); !alike(r[1], values[i+1]) || !alike(want, at[i+1]) {
				t.Errorf("%s, evaluation %d: drawn %v, mean %v at %v", k, i+1, r, values[i+1], at[i+1])
			}
		}
	}
	for method, label := range map[string]string{config.MethodAverage: "VBKS (2)", config.MethodSingle: "VBKS-s (2)"} {
		rows := drawnRows(t, filepath.Join(dir, "out", "quickstart-rmse.csv"), "line", label)
		sd := math.Sqrt(square[method] - 2*final[method]*final[method])
		bars := drawnRows(t, filepath.Join(dir, "out", "quickstart-rmse.csv"), "sd", label)
		if len(rows) == 0 || len(bars) == 0 {
			t.Fatalf("%s is not drawn", label)
		}
		if last := rows[len(rows)-1]; !alike(last[1], final[method]) {
			t.Errorf("%s: the line ends at %v, the mean is %v", label, last, final[method])
		}
		if last := bars[len(bars)-1]; math.Abs(last[3]-final[method]-sd) > 1e-6*final[method] {
			t.Errorf("%s: the last bar is %v, mean %v, sd %v", label, last, final[method], sd)
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "out", "quickstart-table.md"))
	must.OK(t, err)
	if want := fmt.Sprintf("| mean | %.4g | %.4g |\n", final[config.MethodAverage],
		final[config.MethodSingle]); !strings.Contains(string(text), want) {
		t.Errorf("no %q in\n%s", want, text)
	}
}

// Figures of a comparison have all its methods; of the table as many runs of
// random as of the others.
func TestFiguresOfComparison(t *testing.T) {
	thorough.Unraced(t)
	dir := filepath.Join(t.TempDir(), "c")
	c := configtest.Compared(t, "compare.methods=vbks,random,bo", "compare.random_runs=4")
	r := comparisonOf(t, c, dir)
	out := filepath.Join(dir, "figures")
	saveFigures(t, []string{dir}, out, Options{Top: 1})
	for _, s := range r.Summary() {
		label := fmt.Sprintf("%s (%d)", config.MethodLabel(s.Method), s.Runs)
		rows := drawnRows(t, filepath.Join(out, "quickstart-rmse.csv"), "line", label)
		if len(rows) == 0 || !alike(rows[len(rows)-1][1], float64(s.RMSE)) {
			t.Errorf("%s: drawn %v, mean %v", label, rows, s.RMSE)
		}
	}
	points := drawnRows(t, filepath.Join(out, "quickstart-table.csv"), "point", "random (2 of 4)")
	if len(points) != 2 || math.Round(points[1][0]) != 2 {
		t.Errorf("points of random: %v", points)
	}
	runs, away := filepath.Join(dir, config.MethodAverage), filepath.Join(t.TempDir(), "runs")
	must.OK(t, os.Rename(runs, away))
	must.OK(t, os.Symlink(away, runs)) // what is drawn is of this comparison
	if _, err := Read(t.Context(), []string{dir}, Options{}); err == nil || !strings.Contains(err.Error(), "is a link") {
		t.Errorf("runs that are elsewhere: %v", err)
	}
}

// Time against iterations: the fitted slope is that of the least squares through
// the events' times.
func TestScalabilityFigure(t *testing.T) {
	thorough.Unraced(t)
	dir := t.TempDir()
	var paths []string
	for _, b := range []int{5, 20} {
		c := configtest.Small(t, "optimise.optimizer=natural", "optimise.transplants=false", "schedule.evaluate_every=0.25",
			fmt.Sprintf("schedule.batch=%d", b))
		paths = append(paths, repeated(t, filepath.Join(dir, fmt.Sprint(b)), 1, c)...)
	}
	names := saveFigures(t, paths, filepath.Join(dir, "out"), Options{})
	if len(names) != 7 || names[6] != "quickstart-scalability" || names[3] != "quickstart-2-posterior" {
		t.Fatal(names)
	}
	fit, err := filestest.ReadTable(filepath.Join(dir, "out", "quickstart-scalability-fit.csv"))
	must.OK(t, err)
	for i, path := range paths {
		events, err := recordtest.Read(path)
		must.OK(t, err)
		var x, y []float64
		for _, e := range events {
			if e.Type == record.EventEvaluation {
				x, y = append(x, float64(6*e.Evaluation.Index)), append(y, float64(e.Seconds))
			}
		}
		n, sx, sy, sxx, sxy := float64(len(x)), 0.0, 0.0, 0.0, 0.0
		for j := range x {
			sx, sy, sxx, sxy = sx+x[j], sy+y[j], sxx+x[j]*x[j], sxy+x[j]*y[j]
		}
		want := (n*sxy - sx*sy) / (n*sxx - sx*sx)
		if got := fit.Number(i, "seconds_per_iteration"); math.Abs(got-want) > 1e-9*math.Abs(want) || fit.Whole(i, "batch") != []int{5, 20}[i] {
			t.Errorf("batch %s: slope %v, least squares %v", fit.Text(i, "batch"), got, want)
		}
		rows := drawnRows(t, filepath.Join(dir, "out", "quickstart-scalability.csv"), "line", "B = "+strconv.Itoa([]int{5, 20}[i]))
		if len(rows) != len(x) || rows[len(rows)-1][1] != y[len(y)-1] {
			t.Errorf("drawn %v, times %v", rows, y)
		}
	}
}

func TestCourses(t *testing.T) {
	a, b := curve{[]float64{1, 2, 4}, []float64{10, 20, 0}}, curve{[]float64{2, 3}, []float64{6, 8}}
	if got := linearMean([]curve{a, b}); !reflect.DeepEqual(got, curve{[]float64{2, 3}, []float64{13, 9}}) {
		t.Errorf("linear: %v", got)
	}
	m := meanOfSteps([]curve{a, b})
	if !reflect.DeepEqual([][]float64{m.x, m.mean}, [][]float64{{2, 3, 4}, {13, 14, 4}}) || math.Abs(m.sd[2]-math.Sqrt(32)) > 1e-12 {
		t.Errorf("steps: %+v", m)
	}
	x, y := m.line()
	if !reflect.DeepEqual([][]float64{x, y}, [][]float64{{2, 3, 3, 4, 4}, {13, 13, 14, 14, 4}}) {
		t.Errorf("as drawn: %v %v", x, y)
	}
	if mean, sd := m.at(3.5); mean != 14 || math.Abs(sd-math.Sqrt(72)) > 1e-12 {
		t.Errorf("at 3.5: %v ± %v", mean, sd)
	}
	nan := math.NaN()
	courses := []curve{{x: []float64{1, 2, 3}, y: []float64{5, 1, 3}}, {x: []float64{1, 2, 3}, y: []float64{4, 2, 4}},
		{x: []float64{1, 2, 3}, y: []float64{nan, 0, 5}}, {x: []float64{1, 2, 3}, y: []float64{0, 0, 0}}}
	if got := everFirst(courses, 1, false); !slices.Equal(got, []int{2, 1, 0}) {
		t.Errorf("ever first: %v", got)
	}
}

func TestFiguresMessages(t *testing.T) {
	dir := t.TempDir()
	for _, folder := range []string{"empty", "linked", "run"} {
		must.OK(t, os.Mkdir(filepath.Join(dir, folder), 0o755))
	}
	must.OK(t, os.WriteFile(filepath.Join(dir, "run", record.EventsFile), nil, 0o644))
	must.OK(t, os.Symlink(filepath.Join(dir, "run"), filepath.Join(dir, "linked", "elsewhere")))
	for _, c := range []struct{ path, want string }{
		{filepath.Join(dir, "none"), "cannot be listed"},
		{filepath.Join(dir, "empty"), "is neither a run nor a comparison, and no folder of runs"},
		{filepath.Join(dir, "linked"), "is a link; kestrel follows none in there"},
	} {
		if _, err := Read(t.Context(), []string{c.path}, Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.path, err)
		}
	}
}

// A run without an evaluation does not keep the others from being drawn.
func TestFiguresLeaveOutWhatHasNoEvaluation(t *testing.T) {
	dir := t.TempDir()
	done := repeated(t, t.TempDir(), 1, configtest.Small(t, "optimise.optimizer=collapsed"))[0]
	log, err := os.ReadFile(filepath.Join(done, record.EventsFile))
	must.OK(t, err)
	for name, log := range map[string][]byte{"a": log[:bytes.IndexByte(log, '\n')+1], "b": nil} {
		must.OK(t, os.Mkdir(filepath.Join(dir, name), 0o755))
		must.OK(t, os.WriteFile(filepath.Join(dir, name, record.EventsFile), log, 0o644))
	}
	if _, err := Read(t.Context(), []string{dir}, Options{}); !errors.Is(err, record.ErrNoResults) ||
		!strings.Contains(err.Error(), filepath.Join(dir, "a")) {
		t.Errorf("nothing but runs without an evaluation: %v", err)
	}
	must.OK(t, os.CopyFS(filepath.Join(dir, "c"), os.DirFS(done)))
	p, err := Read(t.Context(), []string{dir}, Options{})
	must.OK(t, err)
	if len(p.LeftOut) != 2 || len(p.figures) == 0 {
		t.Errorf("%d figures, left out %q", len(p.figures), p.LeftOut)
	}
}

// comparisonOf makes a comparison, or goes on with one.
func comparisonOf(t *testing.T, c config.Config, dir string) *compare.Comparison {
	t.Helper()
	m, err := compare.Begin(t.Context(), c, dir, compare.Options{Say: func(string) {}})
	must.OK(t, err)
	defer func() { must.OK(t, m.Close()) }()
	r, err := m.Run(t.Context())
	must.OK(t, err)
	return r
}

// Figures can be drawn of runs that were made with other numbers of runs.
func TestFiguresOfAComparisonThatGrew(t *testing.T) {
	thorough.Unraced(t)
	dir := filepath.Join(t.TempDir(), "c")
	for _, runs := range []string{"1", "3"} {
		comparisonOf(t, configtest.Compared(t, "compare.methods=vbks", "compare.runs="+runs, "compare.budget=2"), dir)
	}
	out := filepath.Join(dir, "figures")
	saveFigures(t, []string{dir}, out, Options{})
	if rows := drawnRows(t, filepath.Join(out, "quickstart-rmse.csv"), "line", "VBKS (3)"); len(rows) == 0 {
		t.Error("VBKS's three runs are not drawn together")
	}
}
