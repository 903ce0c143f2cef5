package ui

import (
	"context"
	"fmt"
	"math"
	"slices"

	tea "charm.land/bubbletea/v2"

	"example.com/kestrel/experiment/inspect"
	"example.com/kestrel/experiment/prepare"
	"example.com/kestrel/ui/input"
	"example.com/kestrel/ui/plot"
)

const (
	fitMargin    = 0.05 // shown beyond the data, of their range
	fitAhead     = 0.15 // the same of a series, at its end
	fitBeyond    = 1.0  // that zooming out reaches, of the range
	mostDrawn    = 4000 // points
	mostFitted   = 1000 // rows predicted at their own inputs
	mostResidual = 2000 // rows
)

// fitView shows the data with what is believed about them along one input.
type fitView struct {
	b      *bench
	column int
	placed bool // the column has been chosen, by the user or for the leader
	single bool // the chosen kernel, not the average
	below  residualKind
	lo, hi float64 // shown; equal: all
	at     float64 // crosshair, NaN: none

	held  []float64 // values of the inputs, nil: medians
	other int       // the held input that is changed by < >
	turn  bool      // of several inputs, the other way of showing them
	rows  rowsShown
	asked *input.Field // a range being typed, nil: none
	wrong string       // why it cannot be taken

	points, residuals answer
	first, wanted     beliefs // of the leader alone, which is there within seconds, and of kernel()
	exact             answer  // at the crosshair

	chart  plot.Layout
	raster plot.Raster
}

func newFitView(b *bench) *fitView { return &fitView{b: b, at: math.NaN()} }

func (v *fitView) name() string { return "fit" }

func (v *fitView) groups() []input.Group {
	do := func(f func()) func() tea.Cmd {
		return func() tea.Cmd { f(); return nil }
	}
	if v.asked != nil {
		return []input.Group{{Name: "range", All: []input.Binding{
			{Keys: []string{"enter"}, Label: "enter", Short: "show it", About: "show that range", Do: do(v.takeRange)},
			{Keys: []string{"esc"}, Label: "esc", Short: "as it was", About: "leave the range as it was",
				Do: do(func() { v.asked, v.wrong = nil, "" })},
		}}}
	}
	many := v.inputs() > 1
	return []input.Group{{Name: "fit", All: []input.Binding{
		{Keys: []string{"b"}, Label: "b", Short: "average or kernel",
			About: "averaged over kernels, or the chosen kernel alone", Do: do(func() { v.single = !v.single })},
		{Keys: []string{"v"}, Label: "v", Short: "residuals",
			About: "below: residuals, their quantiles, their histogram, nothing", Do: do(func() { v.below = (v.below + 1) % residualKinds })},
		{Keys: []string{"+", "="}, Label: "+ −", Short: "zoom",
			About: "zoom in or out, about the crosshair; also the wheel", Do: do(func() { v.zoom(0.5, v.centre()) })},
		{Keys: []string{"-"}, Do: do(func() { v.zoom(2, v.centre()) })},
		{Keys: []string{"t"}, Label: "t", Short: "range",
			About: "type the range that is shown: 2023, 2023-03 .. 2023-05-10, 1.5 .. 3", Do: do(v.askRange)},
		{Keys: []string{"d"}, Label: "d", About: "rows of the data: all, those held out, none",
			Do: do(func() { v.rows = (v.rows + 1) % rowsKinds })},
		{Keys: []string{"i"}, Label: "i", Short: "own inputs or one",
			About: "predictions at the rows' own inputs, or what one input does (partial residuals)",
			Off:   v.way() == fitCurve, Do: do(func() { v.turn = !v.turn })},
		{Keys: []string{"left", "h"}, Label: "← →", About: "move the part that is shown", Do: do(func() { v.pan(-0.25) })},
		{Keys: []string{"right", "l"}, Do: do(func() { v.pan(0.25) })},
		{Keys: []string{"0"}, Label: "0", About: "the whole range", Do: do(func() { v.lo, v.hi = 0, 0 })},
		{Keys: []string{"shift+left", ","}, Label: ", .", About: "crosshair left or right; also a click", Do: do(func() { v.move(-1) })},
		{Keys: []string{"shift+right", "."}, Do: do(func() { v.move(1) })},
		{Keys: []string{"c"}, Label: "c", Short: "column", About: "the input along which the fit is drawn", Off: !many, Do: do(v.nextColumn)},
		{Keys: []string{"o"}, Label: "o", About: "which of the other inputs < and > change", Off: !many, Do: do(v.nextOther)},
		{Keys: []string{"<"}, Label: "< >", About: "change the value at which that input is held", Off: !many, Do: do(func() { v.hold(-0.05) })},
		{Keys: []string{">"}, Off: !many, Do: do(func() { v.hold(0.05) })},
		{Keys: []string{"M"}, Label: "M", About: "hold the other inputs at their medians", Off: v.held == nil, Do: do(func() { v.held = nil })},
	}}}
}

func (v *fitView) inputs() int {
	if s := v.b.hist.Start; s != nil {
		return len(s.Inputs())
	}
	return 0
}

// extent is the range of the data with the margin.
func (v *fitView) extent() (lo, hi float64) {
	if v.column >= v.inputs() {
		return 0, 1
	}
	in := &v.b.hist.Start.Inputs()[v.column]
	if n := len(in.Levels); n > 0 { // each about its number
		return -0.5, float64(n) - 0.5
	}
	d := fitMargin * (in.Max - in.Min)
	if !(d > 0) {
		d = max(1, math.Abs(in.Min)) / 2
	}
	lo, hi = in.Min-d, in.Max+d
	if v.series() {
		hi = in.Max + fitAhead*(in.Max-in.Min)
	}
	return lo, hi
}

// timed reports whether the column is a time.
func (v *fitView) timed() bool { return v.b.hist.Start.Inputs()[v.column].First != "" }

// series reports whether the data are a series in time, with an end beyond which a
// forecast begins.
func (v *fitView) series() bool { return v.timed() && v.way() == fitCurve }

// window is the range that is shown.
func (v *fitView) window() (lo, hi float64) {
	if v.hi > v.lo {
		return v.lo, v.hi
	}
	return v.extent()
}

func (v *fitView) centre() float64 {
	lo, hi := v.window()
	if v.at >= lo && v.at <= hi {
		return v.at
	}
	return lo + (hi-lo)/2
}

func (v *fitView) zoom(factor, at float64) {
	all0, all1 := v.extent()
	span := fitBeyond * (all1 - all0)
	lo, hi := v.window()
	lo, hi = plot.ZoomRange(lo, hi, at, factor, all0-span, all1+span)
	if hi > lo {
		v.lo, v.hi = lo, hi
	}
}

func (v *fitView) pan(part float64) {
	all0, all1 := v.extent()
	span := fitBeyond * (all1 - all0)
	lo, hi := v.window()
	v.lo, v.hi = plot.Pan(lo, hi, part, all0-span, all1+span)
}

// move moves the crosshair by a cell.
func (v *fitView) move(by int) {
	lo, hi := v.window()
	step := (hi - lo) / float64(max(20, v.chart.Plot.W))
	if math.IsNaN(v.at) {
		v.at = lo + (hi-lo)/2
		return
	}
	v.at = max(lo, min(hi, v.at+float64(by)*step))
}

// place chooses the column that is shown first: a time, else one that the leader names.
func (v *fitView) place() {
	if e := v.b.hist.Evaluation; !v.placed && e != nil && e.Leader() != nil {
		v.placed, v.column = true, v.b.columnOf(e.Leader().ID)
		for i, c := range v.b.hist.Start.Inputs() {
			if c.First != "" {
				v.column = i
				break
			}
		}
	}
	v.column = max(0, min(v.column, v.inputs()-1))
}

func (v *fitView) nextColumn() {
	v.column, v.placed = cycle(v.column, v.inputs()), true
	v.lo, v.hi, v.at, v.turn = 0, 0, math.NaN(), false
	if v.other == v.column {
		v.nextOther()
	}
}

func (v *fitView) nextOther() {
	v.other = cycle(v.other, v.inputs())
	if v.other == v.column {
		v.other = cycle(v.other, v.inputs())
	}
}

// hold moves the value of the other input by a part of its range.
func (v *fitView) hold(part float64) {
	if v.other == v.column {
		v.nextOther()
	}
	if v.held == nil {
		data, ok := known[fitPoints](&v.points, v.pointsTopic())
		if !ok {
			return // the medians are not known yet
		}
		v.held = data.medians()
	}
	in := &v.b.hist.Start.Inputs()[v.other]
	by := part * (in.Max - in.Min)
	if len(in.Levels) > 0 {
		by = math.Copysign(1, part)
	}
	v.held = slices.Clone(v.held) // the last is in a question
	v.held[v.other] = max(in.Min, min(in.Max, v.held[v.other]+by))
}

// kernel is that of the fit, "" for the average.
func (v *fitView) kernel() string {
	if v.single {
		return v.b.chosen()
	}
	return ""
}

func (v *fitView) curveTopic(kernel string) string {
	return fmt.Sprint(v.column, " ", v.held, " ", kernel)
}

func (v *fitView) exactTopic() string { return fmt.Sprint(v.at, " ", v.curveTopic(v.kernel())) }

func (v *fitView) fittedTopic(kernel string) string { return fmt.Sprint(v.column, " ", kernel) }

func (v *fitView) pointsTopic() string { return fmt.Sprint(v.column) }

func (v *fitView) residualTopic() string { return "of " + v.kernel() }

// fitPoints is the data along a column.
type fitPoints struct {
	*inspect.PointSet
	inputs []prepare.ColumnInfo
}

func (p *fitPoints) medians() []float64 {
	var out []float64
	for i := range p.inputs {
		out = append(out, p.inputs[i].Median)
	}
	return out
}

// refresh implements view.
func (v *fitView) refresh() tea.Cmd {
	if v.inputs() == 0 {
		return nil
	}
	v.place()
	column, kernel, way := v.column, v.kernel(), v.way()
	lo, hi := v.window()
	// Twice as many points as there are dots, in steps so that a resize asks
	// seldom: what swings within a column of dots is drawn from end to end.
	points := max(160, min(960, (v.b.app.w*4+79)/80*80))
	q := inspect.FitQuery{Column: column, Low: lo, High: hi, Points: points, Held: v.held, Kernel: kernel}
	fan := q
	fan.Steps = true
	if end, ok := v.learned(); ok && v.series() && end < hi {
		fan.Fan, fan.Ahead = fanLevels, end
	}
	qs := []inquiry{{to: &v.points, topic: v.pointsTopic(), f: func(_ context.Context, i inspector) (any, error) {
		p, err := i.Points(column, mostDrawn)
		if err != nil {
			return nil, err
		}
		return fitPoints{p, i.Inputs()}, nil
	}}}
	if _, known := known[fitPoints](&v.points, v.pointsTopic()); !known && v.inputs() > 1 {
		return v.b.inquire(qs...) // how the fit is drawn is not known before
	}
	believed := func(to *beliefs, kernel string) {
		if way != fitOwn {
			q := fan
			q.Kernel = kernel
			qs = append(qs, inquiry{to: &to.curve, topic: v.curveTopic(kernel), detail: fmt.Sprint(lo, " ", hi, " ", points, " ", fan.Ahead),
				f: func(ctx context.Context, i inspector) (any, error) {
					return i.Curve(ctx, q)
				}})
		}
		if way != fitCurve {
			qs = append(qs, inquiry{to: &to.fitted, topic: v.fittedTopic(kernel), f: func(ctx context.Context, i inspector) (any, error) {
				return i.Fitted(ctx, column, kernel, mostFitted)
			}})
		}
	}
	if first := v.askedFirst(); first != "" && !v.has(&v.wanted, kernel) {
		believed(&v.first, first)
	}
	believed(&v.wanted, kernel)
	if v.at >= lo && v.at <= hi && way != fitOwn {
		at := q
		at.Low, at.High, at.Points = v.at, v.at+1e-6*(hi-lo), 2
		qs = append(qs, inquiry{to: &v.exact, topic: v.exactTopic(), f: func(ctx context.Context, i inspector) (any, error) {
			return i.Curve(ctx, at)
		}})
	}
	if v.below != residualsNone {
		qs = append(qs, inquiry{to: &v.residuals, topic: v.residualTopic(), f: func(ctx context.Context, i inspector) (any, error) {
			return i.Residuals(ctx, kernel, mostResidual)
		}})
	}
	return v.b.inquire(qs...)
}

func (v *fitView) mouse(msg tea.MouseMsg) tea.Cmd {
	m := msg.Mouse()
	if !v.chart.Plot.Contains(m.X, m.Y) {
		return nil
	}
	switch msg.(type) {
	case tea.MouseWheelMsg:
		switch m.Button {
		case tea.MouseWheelUp:
			v.zoom(0.8, v.chart.XAt(m.X))
		case tea.MouseWheelDown:
			v.zoom(1.25, v.chart.XAt(m.X))
		}
	case tea.MouseClickMsg, tea.MouseMotionMsg:
		v.at = v.chart.XAt(m.X)
	}
	return nil
}
