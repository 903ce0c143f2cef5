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

// gone is the belief in a kernel that is not in the space; NaN is that in a pruned one.
const gone = -1

// grown is a finished run that begins with the first kernels, k0, k1, … Its evaluations, a tenth of the
// data each, have a belief in every kernel.
func grown(first int, beliefs ...[]float64) *history.History {
	h := &history.History{}
	start := &record.Start{Name: "grown", Grows: true, Data: recordtest.SummaryOf(100, 10)}
	for k := range first {
		start.Kernels = append(start.Kernels, record.KernelInfo{ID: fmt.Sprint("k", k)})
	}
	h.Apply(&record.Event{Type: record.EventStarted, Start: start})
	there := map[string]bool{}
	for i, values := range beliefs {
		e := recordtest.Evaluation(i+1, 10, float64(i+1)/10, values)
		var left []string
		var entered []record.Entered
		e.Kernels = slices.DeleteFunc(e.Kernels, func(k record.Kernel) bool {
			is := k.Fit == nil || k.Fit.Posterior != gone
			switch {
			case there[k.ID] && !is:
				left = append(left, k.ID)
			case is && !there[k.ID] && h.Start.Kernel(k.ID) == nil:
				entered = append(entered, record.Entered{Kernel: record.KernelInfo{ID: k.ID}, Parent: "k0", Step: "add PER"})
			}
			there[k.ID] = is
			return !is
		})
		h.Apply(&record.Event{Type: record.EventLeft, Kernels: left})
		h.Apply(&record.Event{Type: record.EventEntered, Entered: entered})
		h.Apply(&record.Event{Type: record.EventEvaluation, Seconds: files.Number(i), Evaluation: e})
	}
	h.Apply(&record.Event{Type: record.EventState, State: &record.StateChange{From: record.Running, To: record.Finished}})
	return h
}

// same reports whether two values are alike, or both are none.
func same(a, b float64) bool { return alike(a, b) || math.IsNaN(a) && math.IsNaN(b) }

// drawn returns the line of a kernel, and what it is at the evaluations, as it is drawn.
func drawn(t *testing.T, f *paperFigure, name string, evaluations int) (*chart.Line, []float64) {
	t.Helper()
	i := slices.IndexFunc(f.Lines, func(l chart.Line) bool { return l.Name == name })
	if i < 0 {
		t.Fatalf("%s is not drawn", name)
	}
	l := &f.Lines[i]
	at := make([]float64, evaluations)
	for e := range at {
		at[e] = (&curve{l.X, l.Lo}).linear(float64(e+1) / 10)
	}
	return l, at
}

// What seeds have found for themselves is drawn, as the mean of all seeds: those in whose space a kernel is
// not believe nothing of it, and those that have ended believe what they did. Where no seed has it there is no line.
func TestPosteriorOfGrowingRepeats(t *testing.T) {
	const evaluations = 6
	nan := math.NaN()
	g := &figureGroup{name: "n", runs: []*history.History{
		grown(2, []float64{.75, .25}, []float64{.5, .125, .375}, []float64{.25, gone, .75}, []float64{.125, .25, .625}),
		grown(2, []float64{.5, .5}, []float64{.25, .5, gone, .25}, []float64{.125, .125, gone, .75},
			[]float64{gone, .25, gone, .75}, []float64{gone, .25, gone, .5, .25}, []float64{gone, .125, gone, .125, .75}),
	}}
	f := g.posteriorFigure(1)
	sum := make([]float64, evaluations)
	for name, want := range map[string][evaluations]float64{
		"k0": {.625, .375, .1875, .0625, .0625, .0625},
		"k1": {.375, .3125, .0625, .25, .25, .1875},
		"k2": {nan, .1875, .375, .3125, .3125, .3125},
		"k3": {nan, .125, .375, .375, .25, .0625},
		"k4": {nan, nan, nan, nan, .125, .375},
	} {
		l, at := drawn(t, f, name, evaluations)
		for e, v := range at {
			if !math.IsNaN(v) {
				sum[e] += v
			}
			if !same(v, want[e]) {
				t.Errorf("%s is %v, not %v", name, at, want)
				break
			}
		}
		// k2 and k3 are equal at .3, k3 is ahead of k2 at .4, k2 of all others at .5.
		if l.Rest != (name == "k1") {
			t.Errorf("%s: grey is %v", name, l.Rest)
		}
	}
	for e, v := range sum {
		if !alike(v, 1) {
			t.Errorf("at evaluation %d the beliefs sum to %v", e+1, v)
		}
	}
	if f.XMax < evaluations/10. {
		t.Errorf("the axis ends at %v", f.XMax)
	}
	// Of one that goes on nobody knows what it will believe.
	g.runs[0].Apply(&record.Event{Type: record.EventState, State: &record.StateChange{From: record.Finished, To: record.Running}})
	if _, at := drawn(t, g.posteriorFigure(1), "k1", evaluations); !alike(at[3], .25) || !math.IsNaN(at[4]) {
		t.Errorf("k1 is %v", at)
	}
}

// A kernel that leaves counts as 0 until it comes again, and is not there; a pruned one is 0, too. One that is in the
// space and has no number yet is not known.
func TestAbsentIsNoBeliefAndUnknownIsNone(t *testing.T) {
	nan := math.NaN()
	h := grown(1, []float64{1, gone, gone}, []float64{.5, .5, gone}, []float64{.5, gone, .5}, []float64{1, gone, nan}, []float64{1, gone, nan},
		[]float64{.5, .5, nan})
	for id, want := range map[string][]float64{"k1": {0, .5, 0, 0, 0, .5}, "k2": {0, 0, .5, 0, 0, 0}, "elsewhere": {0, 0, 0, 0, 0, 0}} {
		c, there := posteriorCourse(h, id, 0)
		for i, v := range want {
			at := float64(i+1) / 10
			if got := c.linear(at); !alike(got, v) {
				t.Errorf("%s is %v at evaluation %d, not %v", id, got, i+1, v)
			}
			if in := !math.IsNaN(there.linear(at)); in != (h.Index(id) >= 0 && h.StatusAt(h.Index(id), i) != "") {
				t.Errorf("%s is in the space at evaluation %d: %v", id, i+1, in)
			}
		}
	}
	e := recordtest.Evaluation(7, 10, .7, []float64{.5, .25, .25})
	e.Kernels[1].Fit = nil
	h.Apply(&record.Event{Type: record.EventEvaluation, Evaluation: e})
	other := grown(1, []float64{1}, []float64{1}, []float64{1}, []float64{1}, []float64{1}, []float64{1}, []float64{1}, []float64{1})
	if c, _ := posteriorCourse(h, "k1", 0); !math.IsNaN(c.y[len(c.y)-1]) {
		t.Errorf("%v", c)
	}
	_, at := drawn(t, (&figureGroup{name: "n", runs: []*history.History{other, h}}).posteriorFigure(1), "k1", 7)
	if !alike(at[5], .25) || !math.IsNaN(at[6]) {
		t.Errorf("the mean is %v", at)
	}
}

// Who is first is told at equal places, by whoever is there.
func TestLateKernelsAreNamedWhereTheyLead(t *testing.T) {
	courses := []curve{{[]float64{1, 2, 3, 4}, []float64{.9, .8, .1, .1}}, {[]float64{1, 2, 3, 4}, []float64{.1, .2, .3, .3}},
		{[]float64{3, 4}, []float64{.6, .6}}, {[]float64{3, 3, 4}, []float64{0, .7, 0}}}
	if got := everFirst(courses, 1, true); !slices.Equal(got, []int{2, 0, 3}) {
		t.Errorf("%v", got)
	}
	// Of two kernels none is third, and later k2 is the fourth.
	h := grown(2, []float64{.75, .25, gone, gone}, []float64{.5, .25, .0625, .1875}, []float64{.25, .25, .0625, .4375})
	for _, grows := range []bool{true, false} { // by its config, and by an order
		h.Start.Grows = grows
		var names []string
		for _, l := range (&figureGroup{name: "n", runs: []*history.History{h}}).posteriorFigure(3).Lines {
			if !l.Rest {
				names = append(names, l.Name)
			}
		}
		if want := []string{"k3", "k0", "k1"}; !slices.Equal(names, want) {
			t.Errorf("%v, not %v", names, want)
		}
	}
	// Who has left is not second to the only one that stayed, though none has come.
	left := &figureGroup{name: "n", runs: []*history.History{grown(3, []float64{.25, .375, .375}, []float64{gone, 1, gone})}}
	if l, _ := drawn(t, left.posteriorFigure(2), "k0", 2); !l.Rest {
		t.Error("k0 is named")
	}
}

// Thousands of kernels that come and go are not each drawn at all evaluations.
func TestAbsentKernelsAreDrawnByFewPoints(t *testing.T) {
	const evaluations, stays = 100, 3
	var beliefs [][]float64
	for e := range evaluations {
		values := slices.Repeat([]float64{gone}, evaluations)
		for k := e; k < min(e+stays, evaluations); k++ {
			values[k] = 1. / stays
		}
		beliefs = append(beliefs, values)
	}
	f := (&figureGroup{name: "n", runs: []*history.History{grown(stays, beliefs...)}}).posteriorFigure(2)
	if len(f.Lines) != evaluations {
		t.Fatalf("%d lines", len(f.Lines))
	}
	for k := range evaluations {
		l, _ := drawn(t, f, fmt.Sprint("k", k), evaluations)
		last := min(k, evaluations-1)
		if first := max(0, k-stays+1); len(l.X) != last-first+1 || !alike(l.X[0], float64(first+1)/10) {
			t.Errorf("%s: %v", l.Name, l.X)
		}
	}
	// One that comes again has a gap, which the table has, too.
	f = (&figureGroup{name: "n", runs: []*history.History{
		grown(1, []float64{1, gone}, []float64{.5, .5}, []float64{1, gone}, []float64{1, gone}, []float64{.5, .5}, []float64{1, gone}),
	}}).posteriorFigure(2)
	l, at := drawn(t, f, "k1", 6)
	for e, want := range []float64{math.NaN(), .5, math.NaN(), math.NaN(), .5, math.NaN()} {
		if !same(at[e], want) {
			t.Errorf("k1 is %v with %v", at, l.X)
			break
		}
	}
	rows := slices.DeleteFunc(slices.Clone(f.rows), func(r []string) bool { return r[1] != "k1" })
	if len(rows) != 3 || rows[0][3] != "0.5" || rows[1][3] != "" || rows[2][3] != "0.5" {
		t.Errorf("%q", rows)
	}
}

// The figure of repeats that grow is the mean of their tables, in which a kernel has no row where it is not in the space,
// and has nothing where it is in none.
func TestFiguresOfGrowingRepeats(t *testing.T) {
	thorough.Unraced(t)
	dir := t.TempDir()
	c := configtest.Small(t, "kernels.expressions=SE,LIN,PER", "kernels.grow=true", "kernels.grow_live=6", "kernels.grow_leaves=2")
	paths := repeated(t, filepath.Join(dir, "runs"), 2, c)
	names := saveFigures(t, []string{filepath.Join(dir, "runs")}, filepath.Join(dir, "out"), Options{})
	figure := filepath.Join(dir, "out", names[0]+".csv")
	if !strings.HasSuffix(names[0], "posterior") {
		t.Fatal(names)
	}
	mean := map[string]map[int]float64{}
	last, step := 0, 0.0
	tables := make([]map[int]map[string]float64, len(paths))
	for r, p := range paths {
		table, err := filestest.ReadTable(filepath.Join(p, record.PosteriorFile))
		must.OK(t, err)
		tables[r] = map[int]map[string]float64{}
		for i := range table.Rows {
			e, k := table.Whole(i, "evaluation"), table.Text(i, "kernel")
			if tables[r][e] == nil {
				tables[r][e] = map[string]float64{}
			}
			tables[r][e][k] = table.Number(i, "posterior")
			mean[k] = map[int]float64{}
			if last = max(last, e); e == 1 {
				step = table.Number(i, "proportion")
			}
		}
	}
	has := map[string]map[int]bool{}
	for _, table := range tables {
		for e := 1; e <= last; e++ {
			for k := range mean {
				v, in := table[min(e, len(table))][k]
				if mean[k][e] += v / float64(len(paths)); has[k] == nil {
					has[k] = map[int]bool{}
				}
				has[k][e] = has[k][e] || in
			}
		}
	}
	for k := range mean {
		var l curve
		for _, r := range drawnRows(t, figure, "line", k) {
			l.step(r[0], r[1])
		}
		for e := 1; e <= last; e++ {
			want := mean[k][e]
			if !has[k][e] {
				want = math.NaN()
			}
			if got := l.linear(step * float64(e)); !same(got, want) {
				t.Errorf("%s, evaluation %d: drawn %v, mean %v", k, e, got, want)
			}
		}
	}
}
