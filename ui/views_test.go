package ui

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"example.com/kestrel/datasets"
	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/inspect"
	"example.com/kestrel/experiment/library"
	"example.com/kestrel/experiment/prepare"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/ui/input"
	"example.com/kestrel/ui/plot"
	"example.com/kestrel/ui/theme"
	"example.com/kestrel/vbks"
)

// Places of the views of a bench.
const (
	kernelPlace = 1 + iota
	fitPlace
	similarPlace
	comparePlace
	logPlace
	growthPlace
)

// manyInputs gives an invented run a time column, an input more and no test
// rows.
func manyInputs(events []record.Event) []record.Event {
	d := events[0].Start.Data
	d.Test = 0
	d.Columns = []datasets.ColumnSummary{
		{Name: "when\x1b[31m", Role: "input", Unit: "d", Min: 0, Max: 400, First: "2020-02-28T00:00:00Z", Last: "2021-04-03T00:00:00Z"},
		{Name: "depth", Role: "input", Unit: "m", Min: 2, Max: 4},
		{Name: "constant", Role: "input", Min: 1, Max: 1},
		{Name: "y", Role: "target", Unit: "K"},
	}
	var out []record.Event
	for _, e := range events {
		if e.Type != record.EventMetrics {
			out = append(out, e)
		}
	}
	return out
}

const longReason = "the covariance is not positive definite even with a jitter of 1e-2 at PER.lengthscale = 3.0, " +
	"SE.lengthscale = 1e300\tand\x1b[2J a tab"

// broken makes the first kernel of the last evaluation failed and the second
// pruned.
func broken(events []record.Event) []record.Event {
	e := events[len(events)-2].Evaluation
	e.Kernels[0].Fit, e.Kernels[0].Status, e.Kernels[0].Reason = nil, vbks.Failed, longReason
	e.Kernels[1].Fit, e.Kernels[1].Status = nil, vbks.Pruned
	for _, k := range []int{2, 3} {
		e.Kernels[k].Fit.ELBO, e.Kernels[k].Fit.SE = files.Number(math.NaN()), files.Number(math.Inf(1))
		e.Kernels[k].Fit.Params, e.Kernels[k].Fit.SD = nil, []files.Number{1}
	}
	return events
}

// TestViewsDrawInEveryState draws all views at many sizes, in every state and
// after every one of their keys, and looks that nothing is drawn outside.
func TestViewsDrawInEveryState(t *testing.T) {
	states := map[string]func() *bench{
		"empty":   func() *bench { return testApp(t, 80, 24, nil).bench },
		"started": func() *bench { return testApp(t, 80, 24, demoEvents(t, "K12", 0)).bench },
		"running": func() *bench { return testApp(t, 80, 24, demoEvents(t, "K12", 5)).bench },
		"broken":  func() *bench { return testApp(t, 80, 24, broken(demoEvents(t, "K12", 3))).bench },
		"growing": func() *bench { return testApp(t, 80, 24, grownEvents(t)).bench },
		"inputs": func() *bench {
			b := testApp(t, 80, 24, settle(manyInputs(demoEvents(t, "K12", 3)), record.Finished, "done")).bench
			b.inspect.open = func(context.Context) (inspector, error) {
				inputs := make([]prepare.ColumnInfo, 3)
				for i, c := range b.hist.Start.Inputs() {
					inputs[i] = prepare.ColumnInfo{Column: datasets.Column{Name: c.Name, Unit: c.Unit, Time: i == 0, Origin: demoTime},
						Low: c.Min, High: c.Max, Median: c.Min}
				}
				return &fakeInspector{evaluation: 3, inputs: inputs}, nil
			}
			return b
		},
		"unknown": func() *bench {
			b := testApp(t, 80, 24, settle(demoEvents(t, "K12", 3), record.Stopped, "stopped")).bench
			b.inspect.open = func(context.Context) (inspector, error) { return nil, errors.New("there is no checkpoint") }
			return b
		},
	}
	sizes := [][2]int{{0, 0}, {1, 1}, {2, 1}, {5, 3}, {30, 5}, {30, 11}, {40, 12}, {80, 21}, {120, 33}, {240, 57}}
	themes := []*theme.Theme{theme.New(colorprofile.TrueColor, true, plot.Braille),
		theme.New(colorprofile.ASCII, false, plot.ASCII), theme.New(colorprofile.ANSI, false, plot.Blocks)}
	for name, state := range states {
		b := state()
		if b.hist.Evaluation != nil && b.inspect.open == nil {
			faked(b)
		}
		for at := kernelPlace; at < len(b.views); at++ {
			b.at = at
			v := b.views[at]
			if c, ok := v.(*compareView); ok {
				c.root() // nothing is listed: library.RecentRuns is not asked here
				c.listed = true
				c.loaded(compareMsg{of: c, runs: []library.RunInfo{{Path: "runs/other", Name: "other", Err: "damaged"}, {Path: b.path}}})
				c.errs["runs/other"] = errors.New("run is damaged")
				c.toggle("runs/other")
			}
			draw := func(what string) {
				for i, size := range sizes {
					b.app.w, b.app.h = size[0], size[1]+3
					checkInside(t, fmt.Sprintf("%s, %s, %s, %v", name, v.name(), what, size), v, size[0], size[1], themes[i%len(themes)])
				}
			}
			draw("unasked")
			askAll(t, b)
			draw("asked")
			for _, g := range v.groups() {
				for _, k := range g.All {
					if k.Off {
						continue
					}
					k.Do()
					b.app.prompt, b.at = nil, at
					askAll(t, b)
					size := sizes[7+len(k.Keys[0])%3]
					b.app.w, b.app.h = size[0], size[1]+3
					checkInside(t, fmt.Sprintf("%s, %s, after %s, %v", name, v.name(), k.Keys[0], size), v, size[0], size[1], themes[0])
				}
			}
			for _, m := range []tea.MouseMsg{
				tea.MouseClickMsg{X: 30, Y: 10, Button: tea.MouseLeft}, tea.MouseWheelMsg{X: 30, Y: 10, Button: tea.MouseWheelDown},
				tea.MouseWheelMsg{X: 30, Y: 10, Button: tea.MouseWheelUp}, tea.MouseClickMsg{X: 500, Y: 500},
			} {
				v.mouse(m)
			}
			askAll(t, b)
			draw("clicked")
		}
	}
}

// checkInside draws a view in the middle of a canvas.
func checkInside(t *testing.T, what string, v view, w, h int, th *theme.Theme) {
	t.Helper()
	defer func() {
		if p := recover(); p != nil {
			t.Fatalf("%s: panic: %v", what, p)
		}
	}()
	const edge = 2
	c := plot.NewCanvas(w+2*edge, h+2*edge)
	c.Fill(c.Bounds(), '#', plot.Style{})
	r := plot.Rect{X: edge, Y: edge, W: w, H: h}
	c.Fill(r, ' ', plot.Style{})
	v.draw(c, r, th)
	for y := range h + 2*edge {
		for x := range w + 2*edge {
			cell := c.At(x, y)
			if !r.Contains(x, y) && cell.Rune != '#' {
				t.Fatalf("%s: %q outside, at %d, %d", what, cell.Rune, x-edge, y-edge)
			}
			if cell.Rune < ' ' && cell.Rune != 0 || cell.Rune == 0x9b {
				t.Fatalf("%s: control character %q on the screen", what, cell.Rune)
			}
		}
	}
}

// shown draws a view and returns its characters.
func shown(b *bench, w, h int) string {
	c := plot.NewCanvas(w, h)
	b.app.w, b.app.h = w, h+3
	b.views[b.at].draw(c, c.Bounds(), b.app.theme)
	return c.Plain()
}

func mustShow(t *testing.T, screen string, texts ...string) {
	t.Helper()
	for _, s := range texts {
		if !strings.Contains(screen, s) {
			t.Errorf("%q is not on the screen:\n%s", s, screen)
		}
	}
}

func viewKeys(t *testing.T, b *bench, keys ...string) {
	t.Helper()
	for _, k := range keys {
		if _, ok := input.Dispatch(b.views[b.at].groups(), k); !ok {
			t.Fatalf("key %s does nothing in %s", k, b.views[b.at].name())
		}
	}
}

// TestKernelViewShowsTheEvent compares what is shown with figures worked out
// from the event by hand.
func TestKernelViewShowsTheEvent(t *testing.T) {
	events := settle(demoEvents(t, "K12", 2), record.Finished, "done")
	e := events[4].Evaluation
	if e == nil {
		t.Fatal("the fixture has changed")
	}
	leader, k := e.Leader(), &e.Kernels[5]
	leader.Fit.ELBO = -100
	*k.Fit = record.Fit{Posterior: .1234, Bayes: .0456, ELBO: -123.456, SE: 2.5, Rank: k.Fit.Rank, Source: "SE*LIN",
		Params: []files.Number{1234.5678, 2, 3, 0.0625}, SD: []files.Number{.5, 0, .02, .4},
		Low:  []files.Number{files.Number(math.NaN()), 1.5, files.Number(math.NaN()), files.Number(math.NaN())},
		High: []files.Number{files.Number(math.NaN()), 2.75, files.Number(math.NaN()), files.Number(math.NaN())}}
	b := testApp(t, 160, 40, events).bench
	info := &b.hist.Start.Kernels[5]
	info.Params = []record.ParamInfo{{Name: "PER.period", Column: "x", Unit: "m"}, {Name: "SE.variance", Unit: "K²"},
		{Name: "SE.lengthscale", Unit: "m"}, {Name: "noise_variance", Unit: "K²"}}
	info.Fixed = []record.Fixed{{Name: "LIN.centre", Column: "x", Value: -7.25, Unit: "m"}}
	b.hist.Start.Target().Unit = "K"
	b.at = kernelPlace
	b.choose(k.ID)
	screen := shown(b, 160, 40)
	mustShow(t, screen, info.Name, fmt.Sprintf("#%d of 12", k.Fit.Rank),
		"q* .12", "Bayes .05", "gap −23.5 ±2.50 nats", "local ELBO −123.46", "the solution of SE*LIN", // −123.456 + 100
		"1234.6 m", "×÷1.65", "±2 %", // exp(.5) = 1.6487
		"(1.5 to 2.75)",
		"0.0625 K²", "noise sd", "0.25 K", "×÷1.22", // √0.0625; half of .4 in the logarithm: exp(.2) = 1.2214
		"LIN.centre", "−7.25 m", "fixed")
	// Narrow as it may be, name and value are there.
	mustShow(t, shown(b, 30, 9), "PER.period", "1234.6")
}

// Where there is room the hyperparameters are followed by what they mean, all of it or none.
func TestKernelViewSaysWhatItMeans(t *testing.T) {
	events := demoEvents(t, "K12", 2)
	b := testApp(t, 160, 40, events).bench
	s := b.hist.Start
	id := s.Kernels[0].ID
	k := b.kernelNow(id)
	s.Data.Columns = []datasets.ColumnSummary{{Name: "x", Role: "input", Unit: "m", Max: 9}, {Name: "y", Role: "target", Unit: "K"}}
	e, err := kernelspace.Parse(id)
	must.OK(t, err)
	compiled, err := kernelspace.Compile(e.Canonical(), kernelspace.Options{Columns: []string{"x"}, Dim: 1})
	must.OK(t, err)
	info := &s.Kernels[b.hist.Index(id)]
	info.Params, k.Fit.Params = nil, nil
	for range len(compiled.Params) + 1 { // and the noise
		info.Params = append(info.Params, record.ParamInfo{Name: "p"})
		k.Fit.Params = append(k.Fit.Params, 4)
	}
	b.at = kernelPlace
	b.choose(id)
	mustShow(t, shown(b, 80, 17), "It is", "standard deviation of 2 K.")
	mustNotShow(t, shown(b, 80, 14), "2 K.") // they are scrolled with the hyperparameters
	viewKeys(t, b, "pgdown", "pgdown")
	mustShow(t, shown(b, 80, 14), "standard deviation of 2 K.", "▲")
	viewKeys(t, b, "pgup", "pgup")
	mustShow(t, shown(b, 80, 21), "p  ", "▼ ") // 80x24
	viewKeys(t, b, "pgdown")
	mustShow(t, shown(b, 80, 21), "It is", "standard deviation of 2 K.")
}

func TestKernelViewTellsTimesInWords(t *testing.T) {
	events := manyInputs(demoEvents(t, "K12", 2))
	b := testApp(t, 160, 40, events).bench
	id := b.hist.Start.Kernels[0].ID
	b.hist.Start.Kernels[0].Params = []record.ParamInfo{{Name: "PER.period", Unit: "d"}, {Name: "noise_variance"}}
	b.kernelNow(id).Fit.Params = []files.Number{30, 1}
	b.at = kernelPlace
	b.choose(id)
	mustShow(t, shown(b, 160, 40), "30 days", "= 30 d")
	// Where a few periods stand for many, the titles say so.
	b.inspect.open = func(context.Context) (inspector, error) {
		return &fakeInspector{evaluation: b.hist.Evaluation.Index, inputs: oneInput(), period: 7}, nil
	}
	askAll(t, b)
	mustShow(t, shown(b, 160, 40), "4 periods of 7 days: covariance", "4 periods of 7 days: draws from")
}

func TestKernelViewGoesByRank(t *testing.T) {
	b := testApp(t, 120, 36, broken(demoEvents(t, "K12", 3))).bench
	b.at = kernelPlace
	order := b.inOrder()
	if len(order) != 12 || b.kernelNow(order[10]).Fit != nil || b.kernelNow(order[11]).Fit != nil {
		t.Fatalf("order is %v; want the two that are not live at the end", order)
	}
	rank := 0
	for range 10 {
		k := b.kernelNow(b.chosen())
		if k.Fit.Rank <= rank {
			t.Errorf("rank %d behind %d", k.Fit.Rank, rank)
		}
		rank = k.Fit.Rank
		viewKeys(t, b, "j")
	}
	viewKeys(t, b, "j", "j", "j")
	if b.chosen() != order[11] {
		t.Errorf("at %s, want the last", b.chosen())
	}
	viewKeys(t, b, "up")
	if b.chosen() != order[10] || b.main.table.cursor != order[10] {
		t.Error("up does not go back, or the table does not follow")
	}
	viewKeys(t, b, "home")
	if b.chosen() != order[0] {
		t.Error("home is not the leader")
	}
}

func TestAFailedKernelTellsItsReasonInFull(t *testing.T) {
	b := testApp(t, 120, 36, broken(demoEvents(t, "K12", 3))).bench
	b.at = kernelPlace
	b.choose(b.hist.Evaluation.Kernels[0].ID)
	for _, size := range [][2]int{{120, 33}, {60, 17}, {40, 12}} {
		screen := shown(b, size[0], size[1])
		// What the panel holds, without its frame and line breaks.
		_, panel, _ := strings.Cut(screen, "Why it failed")
		var words []string
		for _, line := range strings.Split(panel, "\n")[1:] {
			line = strings.TrimPrefix(line, "│")
			line, _, _ = strings.Cut(line, "│")
			words = append(words, strings.Fields(line)...)
		}
		want := strings.Join(strings.Fields(strings.ReplaceAll(longReason, "\x1b", "�")), " ")
		if got := strings.Join(words, " "); !strings.Contains(got, want) {
			t.Errorf("%v: the reason reads %q in\n%s", size, got, screen)
		}
	}
	if b.views[kernelPlace].refresh() != nil {
		t.Error("something is asked about a failed kernel")
	}
}

func TestKernelViewAsksForWhatItHasRoomFor(t *testing.T) {
	b := testApp(t, 80, 24, settle(demoEvents(t, "K12", 3), record.Finished, "done")).bench
	faked(b)
	b.at = kernelPlace
	v := b.views[kernelPlace].(*kernelView)
	b.app.w, b.app.h = 80, 20
	askAll(t, b)
	if v.covariance.value != nil || v.draws.value != nil || v.components.value != nil {
		t.Error("asked for charts without room")
	}
	viewKeys(t, b, "tab", "tab")
	askAll(t, b)
	if v.covariance.value == nil || v.draws.value != nil {
		t.Error("the chart shown is not asked for, or another")
	}
	b.app.w, b.app.h = 200, 60
	askAll(t, b)
	if v.draws.value == nil || v.components.value == nil {
		t.Error("with room for all not all are asked for")
	}
	mustShow(t, shown(b, 200, 57), "Covariance", "Draws from the prior", "Components of the fit", "mean of the data, 3",
		"ELBO gap to the leader")
	viewKeys(t, b, "t")
	mustShow(t, shown(b, 200, 57), "Local ELBO")
	viewKeys(t, b, "j")
	mustShow(t, shown(b, 200, 57), "computing …") // what is known is about another kernel
}

func TestFitViewAsksWhatItShows(t *testing.T) {
	b := testApp(t, 120, 36, settle(demoEvents(t, "K12", 3), record.Finished, "done")).bench
	inspectors := faked(b)
	b.at = fitPlace
	v := b.views[fitPlace].(*fitView)
	last := func() inspect.FitQuery {
		t.Helper()
		askAll(t, b)
		qs := (*inspectors)[0].queries
		return qs[len(qs)-1]
	}
	// The data go from −10 to 10.
	if q := last(); q.Low != -11 || q.High != 11 || q.Kernel != "" || q.Points < 120 || q.Held != nil {
		t.Errorf("asked %+v; want the average from −11 to 11", q)
	}
	mustShow(t, shown(b, 120, 33), "averaged over 2 kernels", "RMSE 0.25", "75 % of test rows in the 95 % band",
		"Standardised residuals at 4 test rows", "mean", "test rows")
	// The file shows the same: the fake's mean is x, its bands are x ± 2 and x ± 1;
	// of its five rows one is not seen yet and one held out.
	if f := v.figure(); f == nil || f.Name != "fit" || len(f.Bands) != 2 || len(f.Points) != 3 {
		t.Errorf("figure %+v", f)
	} else {
		n := len(f.Lines[0].X) - 1
		if f.Lines[0].Lo[n] != 11 || f.Bands[0].Hi[n] != 13 || f.Bands[1].Lo[n] != 10 {
			t.Errorf("at the right end %v, up to %v, from %v", f.Lines[0].Lo[n], f.Bands[0].Hi[n], f.Bands[1].Lo[n])
		}
	}
	viewKeys(t, b, "+")
	if q := last(); q.Low != -5.5 || q.High != 5.5 {
		t.Errorf("zoomed to %v … %v", q.Low, q.High)
	}
	viewKeys(t, b, "right")
	if q := last(); q.Low != -2.75 || q.High != 8.25 {
		t.Errorf("moved to %v … %v", q.Low, q.High)
	}
	viewKeys(t, b, "0", "-", "-", "-")
	if q := last(); q.Low != -33 || q.High != 33 {
		t.Errorf("zoomed out to %v … %v; want one range more on both sides", q.Low, q.High)
	}
	viewKeys(t, b, "0", "b")
	leader := b.hist.Evaluation.Leader().ID
	if q := last(); q.Kernel != leader || q.Low != -11 {
		t.Errorf("asked %+v; want %s alone", q, leader)
	}
	mustShow(t, shown(b, 120, 33), "Fit of "+b.kernelName(leader))
	// The crosshair asks for the belief where it is: mean x, f ± 1, y ± 2.
	v.at = 3
	if q := last(); q.Low != 3 || q.Points != 2 {
		t.Errorf("the crosshair asked %+v", q)
	}
	mustShow(t, shown(b, 120, 33), "x 3: mean 3, f 2 to 4, y 1 to 5")
	viewKeys(t, b, "v")
	mustShow(t, shown(b, 120, 33), "Quantiles of the residuals")
	viewKeys(t, b, "v")
	mustShow(t, shown(b, 120, 33), "2 below, 0 above") // −6, −5 of −6 … −3
	viewKeys(t, b, "v")
	if strings.Contains(shown(b, 120, 33), "esiduals") {
		t.Error("residuals are still there")
	}
}

func TestFitViewHoldsOtherInputs(t *testing.T) {
	b := testApp(t, 120, 36, settle(manyInputs(demoEvents(t, "K12", 3)), record.Finished, "done")).bench
	f := &fakeInspector{evaluation: 3, inputs: []prepare.ColumnInfo{
		{Column: datasets.Column{Name: "when", Unit: "d", Time: true, Origin: time.Date(2020, 2, 28, 0, 0, 0, 0, time.UTC)},
			High: 400, Median: 200},
		{Column: datasets.Column{Name: "depth"}, Low: 2, High: 4, Median: 2.5},
		{Column: datasets.Column{Name: "constant"}, Low: 1, High: 1, Median: 1}}}
	b.inspect.open = func(context.Context) (inspector, error) { return f, nil }
	b.at = fitPlace
	askAll(t, b)
	if len(f.queries) > 0 {
		t.Errorf("along a time a curve was asked for, %+v, beside rows whose other inputs are elsewhere", f.queries[0])
	}
	mustShow(t, shown(b, 140, 33), "Fit along when", "at the rows' own inputs, averaged over 2 kernels")
	viewKeys(t, b, "i")
	askAll(t, b)
	mustShow(t, shown(b, 140, 33), "partial residuals", "held at medians",
		"depth = 2.5", "constant = 1", "2020-07", "% of training rows in the 95 % band")
	viewKeys(t, b, ">", ">")
	askAll(t, b)
	q := f.queries[len(f.queries)-1]
	if len(q.Held) != 3 || math.Abs(q.Held[1]-2.7) > 1e-12 || q.Held[0] != 200 || q.Column != 0 {
		t.Errorf("asked %+v; want depth two steps of a twentieth of its range up, at 2.7", q)
	}
	mustShow(t, shown(b, 140, 33), "held: ‹depth = 2.7›")
	viewKeys(t, b, "c")
	askAll(t, b)
	if q := f.queries[len(f.queries)-1]; q.Column != 1 || math.Abs(q.Low-1.9) > 1e-12 {
		t.Errorf("asked %+v; want depth from 1.9 on", q)
	}
	mustShow(t, shown(b, 140, 33), "along depth", "when = 2020-09-15 00:00") // 200 days on
	viewKeys(t, b, "M")
	askAll(t, b)
	if q := f.queries[len(f.queries)-1]; q.Held != nil {
		t.Errorf("asked %+v; want the medians again", q)
	}
}

func TestNormalQuantile(t *testing.T) {
	for p, want := range map[float64]float64{0.5: 0, 0.975: 1.959963984540054, 0.025: -1.959963984540054, 0.841344746068543: 1} {
		if got := normalQuantile(p); math.Abs(got-want) > 1e-9 {
			t.Errorf("quantile %v is %v, want %v", p, got, want)
		}
	}
}

func TestSimilarView(t *testing.T) {
	b := testApp(t, 120, 36, settle(demoEvents(t, "K12", 3), record.Finished, "done")).bench
	faked(b)
	b.at = similarPlace
	askAll(t, b)
	mustShow(t, shown(b, 120, 33), "predictive means at 20 test rows", "SE and LIN: .90", "Least alike are 2 and 3, .70: LIN and PER.",
		"1 alike", "0 unlike", "−1 opposite") // the leader and the next
	viewKeys(t, b, "t", "right")
	mustShow(t, shown(b, 120, 33), "correlation of g", "SE and PER: −.25", "g sees kernels only through their ELBOs", ".50")
	viewKeys(t, b, "t", "down")
	mustShow(t, shown(b, 120, 33), "LIN and PER: .70")
	v := b.views[similarPlace].(*similarView)
	cell := v.layout.Plot
	v.mouse(tea.MouseClickMsg{X: cell.X, Y: cell.Y + 2*v.layout.CellH})
	mustShow(t, shown(b, 120, 33), "PER and SE: .80")
	viewKeys(t, b, "enter")
	if b.at != kernelPlace || b.chosen() != "PER" {
		t.Errorf("enter goes to view %d, kernel %s", b.at, b.chosen())
	}
}

// Where all predict the same it is said, once, in place of a table of ones to be read.
func TestAllPredictAlike(t *testing.T) {
	v := &similarView{means: true}
	s := &inspect.Similarity{IDs: []string{"A", "B", "C"}, Rows: 9, Means: [][]float64{{1, .999, .995}, {.999, 1, 1}, {.995, 1, 1}}}
	if text := v.explain(s); !strings.HasPrefix(text, "All 3 predict nearly the same: it matters little") {
		t.Error(text)
	}
	s.Means[2][0] = math.NaN() // of a constant
	if text := v.explain(s); !strings.HasPrefix(text, "All 3") {
		t.Error(text)
	}
	s = &inspect.Similarity{IDs: s.IDs[:1], Means: [][]float64{{1}}, Rows: 9}
	if text := v.explain(s); !strings.HasPrefix(text, "Kernels are alike") {
		t.Error(text)
	}
}

func TestCorrelationText(t *testing.T) {
	for v, want := range map[float64]string{1: "1", -1: "−1", 0: "0", 0.004: "0", 0.5: ".50", 0.994: ".994", 0.9996: "1",
		-0.25: "−.25", math.NaN(): "·"} {
		if got := correlationText(v); got != want {
			t.Errorf("%v is written %q, want %q", v, got, want)
		}
	}
}

// logLines is a run that says a few things.
func logLines(n int) []record.Event {
	events := []record.Event{{V: 1, Type: record.EventState, Time: demoTime,
		State: &record.StateChange{From: record.Ready, To: record.Running, Reason: "started"}}}
	for i := range n {
		events = append(events, record.Event{V: 1, Type: record.EventNotice, Time: demoTime, Notice: fmt.Sprintf("notice number %d", i)})
	}
	return append(events, record.Event{V: 1, Type: record.EventState, Time: demoTime,
		State: &record.StateChange{From: record.Running, To: record.Failed, Reason: "disk\x1b[31m full\n\tat\x07 line 3"}})
}

func TestLogView(t *testing.T) {
	b := testApp(t, 80, 24, logLines(50)).bench
	b.at = logPlace
	screen := shown(b, 80, 21)
	mustShow(t, screen, "notice number 49", "failed: disk", "at� line 3", "52 lines")
	if strings.ContainsAny(screen, "\x1b\x07\t") || strings.Contains(screen, "notice number 10") {
		t.Errorf("control characters, or not at the end:\n%s", screen)
	}
	viewKeys(t, b, "home")
	mustShow(t, shown(b, 80, 21), "running: started", "held")
	viewKeys(t, b, "pgdown")
	if s := shown(b, 80, 21); strings.Contains(s, "running: started") || !strings.Contains(s, "notice number 20") {
		t.Errorf("a page further is\n%s", s)
	}
	b.apply(&record.Event{V: 1, Type: record.EventNotice, Time: demoTime, Notice: "a late one"})
	if strings.Contains(shown(b, 80, 21), "a late one") {
		t.Error("held lines move")
	}
	viewKeys(t, b, "end")
	mustShow(t, shown(b, 80, 21), "a late one")
	b.apply(&record.Event{V: 1, Type: record.EventNotice, Time: demoTime, Notice: "a later one"})
	mustShow(t, shown(b, 80, 21), "a later one")
	b.views[logPlace].mouse(tea.MouseWheelMsg{Button: tea.MouseWheelUp})
	if s := shown(b, 80, 21); strings.Contains(s, "a later one") {
		t.Errorf("the wheel does not scroll:\n%s", s)
	}

	viewKeys(t, b, "l", "l", "l") // errors
	screen = shown(b, 80, 21)
	mustShow(t, screen, "errors", "disk")
	if strings.Contains(screen, "notice number") {
		t.Errorf("notices among the errors:\n%s", screen)
	}
	viewKeys(t, b, "l", "/")
	for _, r := range "NUMBER 7" {
		b.app.prompt.update(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
	b.app.prompt.accept()
	screen = shown(b, 80, 21)
	mustShow(t, screen, "notice number 7", "1 lines")
	if strings.Contains(screen, "number 8") {
		t.Errorf("not filtered:\n%s", screen)
	}
}

func TestSourcesInWords(t *testing.T) {
	for source, want := range map[string]string{
		"last": "its last solution", "fresh": "a fresh start", "shaken": "its last solution, shaken", "recombined": "leaves of the best kernels",
		"tuned": "tuning on all inducing inputs", "SE*LIN": "the solution of SE*LIN", "varied": "its solution, varied",
		"rougher": "its solution, made rougher", "scanned": "a period of few cycles", "left": "a period left in the data",
		"returned": "a column that seemed of no use", "wrapped": "a period as long as the data", "folded": "details that repeat",
		"sifted": "a period wanted at a leaf's place", "paired": "two periods in the place of one",
	} {
		if got := sourceText(source); got != want {
			t.Errorf("%s: %q, want %q", source, got, want)
		}
	}
}
