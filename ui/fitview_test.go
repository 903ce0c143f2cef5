package ui

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/kestrel/datasets"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/inspect"
	"example.com/kestrel/experiment/prepare"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/ui/plot"
)

// aSeries gives an invented run a time as its only input: 400 days from the end of
// February 2020 on.
func aSeries(t *testing.T) *bench {
	events := manyInputs(demoEvents(t, "K12", 3))
	d := events[0].Start.Data
	d.Columns = append(d.Columns[:1:1], d.Columns[3])
	d.Columns[0].Name = "when"
	b := testApp(t, 120, 36, settle(events, record.Finished, "done")).bench
	b.inspect.open = func(context.Context) (inspector, error) {
		return &fakeInspector{evaluation: 3, inputs: []prepare.ColumnInfo{
			{Column: datasets.Column{Name: "when", Unit: "d", Time: true, Origin: time.Date(2020, 2, 28, 0, 0, 0, 0, time.UTC)},
				High: 400, Median: 200}}}, nil
	}
	b.at = fitPlace
	return b
}

// A series is shown beyond its end, with a fan from the last row that has been
// learned from.
func TestFitAhead(t *testing.T) {
	b := aSeries(t)
	v := b.views[fitPlace].(*fitView)
	askAll(t, b)
	if _, hi := v.window(); hi != 460 {
		t.Errorf("shown to %v, want 15 %% beyond 400", hi)
	}
	f := b.inspect.now.(*fakeInspector)
	q := f.queries[len(f.queries)-1]
	if q.Ahead != 5 || len(q.Fan) != 2 { // the last row seen of the fake's
		t.Errorf("asked %+v, want a fan from 5 on", q)
	}
	b.hist.Start.Data.Test = 100
	mustShow(t, shown(b, 140, 33), "end of the data", "forecast", "y (K)", "when",
		"learned without the held-out rows; kestrel predict takes them in, too")
}

// A range is typed as dates; one that is none says what to write and stays there.
func TestFitRangeIsTyped(t *testing.T) {
	b := aSeries(t)
	v := b.views[fitPlace].(*fitView)
	askAll(t, b)
	typeRange := func(text string) {
		press(b.app, "t")
		for _, r := range text {
			press(b.app, string(r))
		}
		press(b.app, "enter")
	}
	typeRange("2020-03..2020-04")
	if lo, hi := v.window(); lo != 2 || math.Abs(hi-63) > 1e-9 { // of a leap year: 1 March to 1 May
		t.Errorf("shown %v to %v, want 2 to 63", lo, hi)
	}
	if b.app.bench == nil || b.at != fitPlace {
		t.Fatal("keys have gone elsewhere")
	}
	typeRange("soon")
	mustShow(t, shown(b, 140, 33), "is no date", "soon")
	press(b.app, "esc")
	if lo, _ := v.window(); lo != 2 || v.typing() {
		t.Errorf("esc has left %v, typing %v", lo, v.typing())
	}
	typeRange("")
	if lo, hi := v.window(); lo != -20 || hi != 460 {
		t.Errorf("nothing typed shows %v to %v", lo, hi)
	}
}

// Whatever is drawn, no row that is shown is hidden by the mean: the cell of each has
// the style of the rows.
func TestRowsAreNotHidden(t *testing.T) {
	b := testApp(t, 120, 36, settle(demoEvents(t, "K12", 3), record.Finished, "done")).bench
	faked(b)
	b.at = fitPlace
	v := b.views[fitPlace].(*fitView)
	askAll(t, b)
	c := plot.NewCanvas(120, 33)
	v.draw(c, c.Bounds(), b.app.theme)
	points, _ := known[fitPoints](&v.points, v.pointsTopic())
	want := map[inspect.PointKind]plot.Color{inspect.PointSeen: b.app.theme.Text.FG, inspect.PointTest: b.app.theme.Warn.FG}
	for i, x := range points.X {
		style, ok := want[points.Kind[i]]
		if !ok {
			continue
		}
		found := false
		l := v.chart
		cx := l.Plot.X + int(math.Round((x-l.XMin)/(l.XMax-l.XMin)*float64(2*l.Plot.W-1)))/2
		cy := l.Plot.Y + int(math.Round((l.YMax-points.Y[i])/(l.YMax-l.YMin)*float64(4*l.Plot.H-1)))/4
		cell := c.At(cx, cy)
		found = cell.Rune > ' ' && cell.Style.FG == style
		if !found {
			t.Errorf("the row %v, %v of kind %d is not seen: %q %+v", x, points.Y[i], points.Kind[i], cell.Rune, cell.Style)
		}
	}
}

// Rows of several inputs stand above the curve along one of them by what is left of
// them: the fake predicts each row's place and its target is 1 more, so that they are 1
// above the line.
func TestPartialResiduals(t *testing.T) {
	events := manyInputs(demoEvents(t, "K12", 3))
	b := testApp(t, 120, 36, settle(events, record.Finished, "done")).bench
	b.inspect.open = func(context.Context) (inspector, error) {
		var inputs []prepare.ColumnInfo
		for _, c := range b.hist.Start.Inputs() {
			inputs = append(inputs, prepare.ColumnInfo{Column: datasets.Column{Name: c.Name}, Low: c.Min, High: c.Max, Median: c.Min})
		}
		return &fakeInspector{evaluation: 3, inputs: inputs}, nil
	}
	b.at = fitPlace
	v := b.views[fitPlace].(*fitView)
	askAll(t, b)
	viewKeys(t, b, "c")
	askAll(t, b)
	points, ok := v.pointsShown()
	if !ok || v.way() != fitPartial || len(points.X) != 21 {
		t.Fatalf("%v, way %v", points, v.way())
	}
	for i, x := range points.X {
		if math.Abs(points.Y[i]-x-1) > 1e-9 {
			t.Errorf("the row at %v stands at %v", x, points.Y[i])
		}
	}
	if text := shown(b, 140, 33); !strings.Contains(text, "partial residuals") {
		t.Error(text)
	}
}

// While something is typed the line of keys has those of the typing only: all others
// are letters.
func TestKeysWhileTyping(t *testing.T) {
	a := testApp(t, 120, 36, settle(demoEvents(t, "K12", 3), record.Finished, "done"))
	mustShow(t, screen(a), "L runs", "? help", "q quit")
	for _, keys := range [][]string{{"1", "/"}, {"3", "t"}} {
		press(a, keys...)
		lines := strings.Split(screen(a), "\n")
		if last := lines[len(lines)-1]; !strings.Contains(last, "enter") || strings.Contains(last, "export") || strings.Contains(last, "quit") {
			t.Errorf("after %q the keys are %s", keys, last)
		}
		press(a, "esc")
	}
}

// Of several inputs that are no time a kernel is first looked at along one that it names,
// and the fit along one of the leader's; c goes to the others, and stays there.
func TestFirstColumnIsTheKernels(t *testing.T) {
	events := manyInputs(demoEvents(t, "K12", 3))
	events[0].Start.Data.Columns[0].First = ""
	a := testApp(t, 120, 36, settle(events, record.Finished, "done"))
	b := a.bench
	for id, want := range map[string]int{"SE": 0, "LIN[depth]+SE": 1, "MATERN32[constant,depth;ard]": 2, "RQ[depth,constant]+SE[3]": 2,
		"SE[other]": 0, "SE[": 0} {
		if got := b.columnOf(id); got != want {
			t.Errorf("%s: column %d, want %d", id, got, want)
		}
	}
	e := *b.hist.Evaluation
	e.Kernels = slices.Clone(e.Kernels)
	for i := range e.Kernels {
		if f := e.Kernels[i].Fit; f != nil && f.Rank == 1 {
			e.Kernels[i].ID = "SE[constant]"
		}
	}
	b.hist.Evaluation = &e
	v := b.views[fitPlace].(*fitView)
	faked(b)
	v.refresh()
	if v.column != 2 {
		t.Errorf("the fit is along column %d", v.column)
	}
	v.nextColumn()
	v.refresh()
	if v.column != 0 {
		t.Errorf("after c the fit is along column %d", v.column)
	}
}

// fitShown is the fit of a run that has ended, with its curve.
func fitShown(t *testing.T) (*bench, *fitView, *inspect.Curve) {
	t.Helper()
	b := testApp(t, 120, 36, settle(demoEvents(t, "K12", 3), record.Finished, "done")).bench
	faked(b)
	b.at = fitPlace
	v := b.views[fitPlace].(*fitView)
	askAll(t, b)
	curve, ok := v.curveShown()
	if !ok {
		t.Fatal("no curve")
	}
	return b, v, curve
}

// Without rows beside it a band is seen whole.
func TestBandWithoutRowsIsSeen(t *testing.T) {
	b, v, curve := fitShown(t)
	for i := range curve.X { // flat, beside a wide band
		curve.Mean[i], curve.Lower[i], curve.Upper[i] = 66, 60, 72
	}
	v.rows = rowsNone
	shown(b, 120, 33)
	if l := v.chart; l.YMin > 60 || l.YMax < 72 {
		t.Errorf("the band from 60 to 72 is drawn on an axis from %v to %v", l.YMin, l.YMax)
	}
}

// Where the mean swings within the columns of the chart by more than f is uncertain, the
// bands are as high as the swings; that is told, and not where it does not.
func TestSwingsWithinAColumnAreTold(t *testing.T) {
	b, _, curve := fitShown(t)
	const told = "swings within a column"
	mustNotShow(t, shown(b, 120, 33), told)
	for i := range curve.X { // up and down from point to point, four of which are in a column
		curve.Mean[i] = 10 * float64(i%2)
		curve.LowerF[i], curve.UpperF[i] = curve.Mean[i]-1, curve.Mean[i]+1
	}
	mustShow(t, shown(b, 120, 33), told)
	for i := range curve.X {
		curve.LowerF[i], curve.UpperF[i] = curve.Mean[i]-9, curve.Mean[i]+9
	}
	mustNotShow(t, shown(b, 120, 33), told)
	for i := range curve.X { // steep, but up only
		curve.Mean[i] = float64(i)
		curve.LowerF[i], curve.UpperF[i] = curve.Mean[i]-.01, curve.Mean[i]+.01
	}
	mustNotShow(t, shown(b, 120, 33), told)
}

// An axis of time has dates however narrow it is.
func TestDatesOnNarrowAxes(t *testing.T) {
	b := aSeries(t)
	in := b.hist.Start.Inputs()[0]
	for w := 12; w <= 200; w++ {
		for _, part := range []float64{1, 0.4, 0.03} {
			var x plot.Axis
			b.along(&x, 0, in.Min, in.Min+part*(in.Max-in.Min), w)
			if len(x.Labels) < 2 || x.Unit != "" {
				t.Fatalf("%d columns, %v of the range: %v in %q", w, part, x.Labels, x.Unit)
			}
		}
	}
}

// Until the average over all kernels is there, which takes long, the leader's fit is shown and
// says so; a zoom leaves what is drawn until there is more.
func TestTheLeadersFitComesFirst(t *testing.T) {
	for _, several := range []bool{false, true} {
		events := demoEvents(t, "K12", 3)
		if several {
			events = manyInputs(events)
		}
		b := testApp(t, 120, 36, settle(events, record.Finished, "done")).bench
		inspectors := faked(b)
		b.at = fitPlace
		v := b.views[fitPlace].(*fitView)
		leader := b.hist.Evaluation.Leader().ID
		seen := false
		for range 20 {
			if v.has(&v.wanted, "") {
				break
			}
			b.message(b.refresh()())
			if v.has(&v.first, leader) && !v.has(&v.wanted, "") {
				seen = true
				mustShow(t, shown(b, 120, 33), b.kernelName(leader)+", until the average is there", "mean")
				for _, m := range b.hist.Metrics { // the errors are those of what is drawn
					text := "RMSE " + plot.Number(float64(m.RMSE), float64(m.RMSE)/1000) + " "
					if (m.Method == config.MethodSingle) != strings.Contains(v.scores()+" ", text) {
						t.Errorf("%s: %q beside the leader's fit: %q", m.Method, text, v.scores())
					}
				}
			}
		}
		if !seen {
			t.Errorf("several inputs: %v: the leader alone was never shown", several)
		}
		askAll(t, b)
		mustShow(t, shown(b, 120, 33), "averaged over 2 kernels")
		mustNotShow(t, shown(b, 120, 33), "until the average")
		before := len((*inspectors)[0].queries)
		viewKeys(t, b, "+")
		if curve, ok := v.curveShown(); v.way() != fitOwn && (!ok || len(curve.X) == 0) {
			t.Error("a zoom has taken the curve away")
		}
		askAll(t, b)
		for _, q := range (*inspectors)[0].queries[before:] {
			if q.Kernel != "" {
				t.Errorf("the leader is asked for beside the average: %+v", q)
			}
		}
	}
}

// Bands of a series with even steps are as high at each as they are there, up to the middle
// of the way to the next, and never lie between two steps.
func TestBandsOfStepsJump(t *testing.T) {
	b := plot.Band{X: []float64{0, 1, 2, 3}, Lo: []float64{0, 9, 0, math.NaN()}, Hi: []float64{2, 11, 2, math.NaN()}}
	stepped(&b)
	nan := math.NaN()
	for i, want := range [][2]float64{{0, 0}, {.5, 0}, {.5, nan}, {.5, 9}, {1.5, 9}, {1.5, nan}, {1.5, 0}, {2.5, 0}, {2.5, nan}, {2.5, nan},
		{3, nan}} {
		same := b.Lo[i] == want[1] && b.Hi[i] == want[1]+2 || math.IsNaN(want[1]) && math.IsNaN(b.Lo[i]) && math.IsNaN(b.Hi[i])
		if b.X[i] != want[0] || !same {
			t.Errorf("%d: at %v %v to %v, want %v", i, b.X[i], b.Lo[i], b.Hi[i], want)
		}
	}
	bench := aSeries(t)
	v := bench.views[fitPlace].(*fitView)
	curve := &inspect.Curve{X: []float64{0, 1}, Mean: []float64{1, 1}, Lower: []float64{0, 0}, Upper: []float64{2, 2}, LowerF: []float64{0, 0},
		UpperF: []float64{1, 1}}
	for _, steps := range []bool{false, true} {
		var ch plot.Chart
		curve.Steps = steps
		v.bands(&ch, curve, bench.app.theme)
		if got := len(ch.Bands[0].X); (got == 5) != steps {
			t.Errorf("steps %v: %d points of a band", steps, got)
		}
	}
}
