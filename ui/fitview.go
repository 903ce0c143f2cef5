package ui

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/inspect"
	"example.com/kestrel/experiment/prepare"
	"example.com/kestrel/ui/draw"
	"example.com/kestrel/ui/format"
	"example.com/kestrel/ui/input"
	"example.com/kestrel/ui/picture"
	"example.com/kestrel/ui/plot"
	"example.com/kestrel/ui/theme"
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

	curve, points, residuals answer
	fitted                   answer // at the rows' own inputs
	exact                    answer // at the crosshair

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

func (v *fitView) nextColumn() {
	v.column = cycle(v.column, v.inputs())
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
	v.held = slices.Clone(v.held) // the last is in a question
	v.held[v.other] = max(in.Min, min(in.Max, v.held[v.other]+part*(in.Max-in.Min)))
}

// kernel is that of the fit, "" for the average.
func (v *fitView) kernel() string {
	if v.single {
		return v.b.chosen()
	}
	return ""
}

func (v *fitView) curveTopic() string {
	return fmt.Sprint(v.column, " ", v.held, " ", v.kernel())
}

func (v *fitView) exactTopic() string { return fmt.Sprint(v.at, " ", v.curveTopic()) }

func (v *fitView) fittedTopic() string { return fmt.Sprint(v.column, " ", v.kernel()) }

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
	v.column = min(v.column, v.inputs()-1)
	column, kernel, below, way := v.column, v.kernel(), v.below, v.way()
	lo, hi := v.window()
	// Twice as many points as there are dots, in steps so that a resize asks
	// seldom: what swings within a column of dots is drawn from end to end.
	points := max(160, min(960, (v.b.app.w*4+79)/80*80))
	q := inspect.FitQuery{Column: column, Low: lo, High: hi, Points: points, Held: v.held, Kernel: kernel}
	fan := q
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
	if way != fitOwn {
		qs = append(qs, inquiry{to: &v.curve, topic: v.curveTopic(), detail: fmt.Sprint(lo, " ", hi, " ", points, " ", fan.Ahead),
			f: func(ctx context.Context, i inspector) (any, error) {
				return i.Curve(ctx, fan)
			}})
	}
	if way != fitCurve {
		qs = append(qs, inquiry{to: &v.fitted, topic: v.fittedTopic(), f: func(ctx context.Context, i inspector) (any, error) {
			return i.Fitted(ctx, column, kernel, mostFitted)
		}})
	}
	if v.at >= lo && v.at <= hi && way != fitOwn {
		at := q
		at.Low, at.High, at.Points = v.at, v.at+1e-6*(hi-lo), 2
		qs = append(qs, inquiry{to: &v.exact, topic: v.exactTopic(), f: func(ctx context.Context, i inspector) (any, error) {
			return i.Curve(ctx, at)
		}})
	}
	if below != residualsNone {
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

// title says whose fit it is, and how good.
func (v *fitView) title() (title, right string) {
	title = "Fit, averaged over kernels"
	if c, ok := v.curveShown(); ok && !v.single {
		title = fmt.Sprintf("Fit, averaged over %d kernels", len(c.IDs))
		if len(c.IDs) == 1 {
			title = "Fit, all weight on " + v.b.kernelName(c.IDs[0])
		}
	}
	if v.single {
		title = "Fit of " + v.b.kernelName(v.b.chosen())
	}
	if s := v.b.hist.Start; s != nil && v.inputs() > 1 {
		title += " along " + s.Inputs()[v.column].Name
		switch v.way() {
		case fitOwn:
			title += ", at the rows' own inputs"
		case fitPartial:
			title += ", partial residuals"
		}
	}
	right = v.scores()
	if note, _ := v.b.answerNote(v.beliefAsked()); note != "" {
		right = strings.TrimPrefix(right+" · "+note, " · ")
	}
	return title, right
}

// scores are the errors on the rows held out, else on those seen.
func (v *fitView) scores() string {
	text := func(rmse, coverage float64, rows string) string {
		return fmt.Sprintf("RMSE %.4g · %.0f %% of %s in the 95 %% band", rmse, 100*coverage, rows)
	}
	if r, ok := known[*inspect.Residuals](&v.residuals, v.residualTopic()); ok {
		if r.Test {
			return text(r.RMSE, r.Coverage95, "test rows")
		}
		return text(r.RMSE, r.Coverage95, "training rows")
	}
	if !v.single {
		for _, m := range v.b.hist.Metrics {
			if m.Method == config.MethodAverage {
				return text(float64(m.RMSE), float64(m.Coverage95), "test rows")
			}
		}
	}
	return ""
}

func (v *fitView) draw(c *plot.Canvas, r plot.Rect, t *theme.Theme) {
	defer c.Clip(r)()
	v.chart = plot.Layout{}
	if v.inputs() == 0 {
		draw.Empty(c, r, "the run has not told its data yet", t.Faint)
		return
	}
	v.column = min(v.column, v.inputs()-1)
	title, right := v.title()
	if plot.TextWidth(title)+plot.TextWidth(right)+8 > r.W {
		if s := v.scores(); s != "" {
			right, _, _ = strings.Cut(s, " · ")
		}
	}
	low := 0
	if v.below != residualsNone && r.H >= 18 {
		low = max(7, r.H*3/10)
	}
	in := draw.Panel(c, plot.Rect{X: r.X, Y: r.Y, W: r.W, H: r.H - low}, t, title, right, false)
	undo := c.Clip(in)
	v.drawFit(c, in, t)
	undo()
	if low > 0 {
		note, _ := v.b.answerNote(&v.residuals, v.residualTopic())
		in := draw.Panel(c, plot.Rect{X: r.X, Y: r.Y + r.H - low, W: r.W, H: low}, t, v.residualTitle(), note, false)
		undo := c.Clip(in)
		v.drawResiduals(c, in, t)
		undo()
	}
}

// drawFit draws the data, the bands and the mean, and below them what is held
// and what stands under the crosshair.
func (v *fitView) drawFit(c *plot.Canvas, r plot.Rect, t *theme.Theme) {
	lo, hi := v.window()
	ch := plot.Chart{Glyphs: t.Glyphs, Styles: t.ChartStyles(), Raster: &v.raster, Empty: "no evaluation yet"}
	ch.Legend = r.H >= 8
	points, havePoints := v.pointsShown()
	curve, haveCurve := v.curveShown()
	if !havePoints && !haveCurve {
		text, bad := v.b.answerNote(v.beliefAsked())
		draw.Empty(c, r, text, map[bool]plot.Style{true: t.Bad, false: t.Faint}[bad])
		return
	}
	foot := v.foot(haveCurve)
	if r.H >= 7 && len(foot) > 0 {
		r.H--
		x := r.X
		for _, f := range foot {
			style := t.Faint
			if f.bad {
				style = t.Bad
			}
			x = c.TextFit(x, r.Y+r.H, r.X+r.W-x, f.text, style) + 2
		}
	}
	if v.asked != nil && r.H >= 4 {
		r.H--
		x := c.Text(r.X, r.Y+r.H, "range ", t.Key)
		v.asked.Draw(c, x, r.Y+r.H, min(36, r.X+r.W-x), t, true)
		c.TextFit(x+38, r.Y+r.H, r.X+r.W-x-38, v.wrong, t.Bad)
	}
	var shown []float64 // what the limits of y have to enclose
	if havePoints {
		shown = v.scatter(&ch, points, t, r.W)
	}
	if haveCurve {
		v.belief(&ch, curve, t, &shown, r.W)
	}
	ch.X.Min, ch.X.Max = lo, hi
	v.b.along(&ch.X, v.column, lo, hi, r.W)
	if y := v.b.hist.Start.Target(); y != nil {
		ch.Y.Title, ch.Y.Unit = y.Name, y.Unit
	}
	if low, high, ok := finiteRange(shown); ok && high > low {
		pad := 0.04 * (high - low)
		ch.Y.Min, ch.Y.Max = low-pad, high+pad
	}
	if v.at >= lo && v.at <= hi {
		at := v.at
		ch.Cursor = &at
	}
	if v.series() {
		ch.Markers = v.ends(hi, t)
	}
	ch.Bare = !t.Plain() && v.b.app.takes(r.W, r.H)
	v.chart = ch.Draw(c, r)
	if ch.Bare && !v.chart.Plot.Empty() {
		painted, layout := ch, v.chart
		painted.Raster, layout.Lines = nil, nil // which are drawn in again
		v.b.app.place(c, picture.Picture{
			Cells: layout.Plot,
			Of: fmt.Sprintln(fmt.Sprintf("%p %p", curve, points), layout.XMin, layout.XMax, layout.YMin, layout.YMax, v.at, v.rows, v.way(),
				v.single, t.Dark, t.Profile),
			Paint: func(img *picture.Image) { picture.Chart(img, &painted, layout) },
		})
	}
}

// ends marks where what has been learned ends, and the data.
func (v *fitView) ends(hi float64, t *theme.Theme) (out []plot.Marker) {
	last := v.b.hist.Start.Inputs()[v.column].Max
	if from, ok := v.learned(); ok && from < last-fitMargin/5*(hi-v.b.hist.Start.Inputs()[v.column].Min) {
		out = append(out, plot.Marker{X: from, Text: "forecast", Style: t.Faint, Priority: 1})
	}
	if last < hi {
		out = append(out, plot.Marker{X: last, Text: "end of the data", Short: "end", Style: t.Faint})
	}
	return out
}

// meanPriority is that of the mean; rows stand on it, and its dots stay.
const meanPriority = 3

// scatter adds the rows that are in the window of a chart w cells wide, and returns
// their targets.
func (v *fitView) scatter(ch *plot.Chart, p *inspect.PointSet, t *theme.Theme, w int) (shown []float64) {
	lo, hi := v.window()
	kinds := [...]plot.Scatter{
		inspect.PointSeen:   {Name: "training rows seen", Style: t.Text, Priority: meanPriority},
		inspect.PointUnseen: {Name: "still to come", Style: t.Faint},
		inspect.PointTest:   {Name: "test rows", Style: t.Warn, Priority: meanPriority},
	}
	for i, x := range p.X {
		if x < lo || x > hi || v.rows == rowsNone || v.rows == rowsHeldOut && p.Kind[i] != inspect.PointTest {
			continue
		}
		k := &kinds[p.Kind[i]]
		k.X, k.Y = append(k.X, x), append(k.Y, p.Y[i])
		shown = append(shown, p.Y[i])
	}
	if tests := &kinds[inspect.PointTest]; t.Plain() || len(tests.X) <= w/3 { // else they would lie on each other
		tests.Mark = t.TestMark()
	}
	for _, k := range [...]inspect.PointKind{inspect.PointUnseen, inspect.PointSeen, inspect.PointTest} {
		if len(kinds[k].X) > 0 {
			ch.Scatters = append(ch.Scatters, kinds[k])
		}
	}
	return shown
}

// belief adds the mean and the bands to a chart w cells wide, and to what is shown the
// mean and as much of the band of y as is not far beyond.
func (v *fitView) belief(ch *plot.Chart, curve *inspect.Curve, t *theme.Theme, shown *[]float64, w int) {
	style := t.Focus
	if v.single {
		style = t.Series(v.b.palette.Of(v.b.chosen()))
	}
	from, to := v.window()
	ordered := v.way() != fitOwn || v.ordered(curve)
	if ordered {
		v.bands(ch, curve, t)
	}
	if v.way() == fitOwn && (!ordered || between(curve.X, from, to) > w) {
		// No line leads through rows at the same place, and one through more rows than
		// there are columns would cover all.
		ch.Scatters = slices.Insert(ch.Scatters, 0, plot.Scatter{Name: "predicted", Style: style, Priority: meanPriority,
			X: curve.X, Y: curve.Mean})
	} else {
		ch.Lines = append(ch.Lines, plot.Line{Name: "mean", Style: style, Priority: meanPriority, X: curve.X, Y: curve.Mean})
	}

	var mean []float64
	for i, x := range curve.X {
		if x >= from && x <= to {
			mean = append(mean, curve.Mean[i])
		}
	}
	lo, hi, ok := finiteRange(*shown, mean)
	if !ok {
		lo, hi, ok = finiteRange(curve.Lower, curve.Upper)
	}
	if !ok {
		return
	}
	*shown = append(*shown, mean...)
	least, most := lo-(hi-lo)/2, hi+(hi-lo)/2
	for i, x := range curve.X {
		if x >= from && x <= to {
			*shown = append(*shown, max(least, min(curve.Lower[i], most)), min(most, max(curve.Upper[i], least)))
		}
	}
}

// bands adds those of y and of f; where there is a fan it takes the place of that
// of f.
func (v *fitView) bands(ch *plot.Chart, curve *inspect.Curve, t *theme.Theme) {
	y, f := t.BandStyles()
	if !t.Shaded() {
		// Two patterns one on the other cannot be told apart.
		ch.Bands = []plot.Band{{Name: "95 % of f", Style: f, X: curve.X, Lo: curve.LowerF, Hi: curve.UpperF}}
		ch.Lines = append(ch.Lines,
			plot.Line{Name: "of y", Style: t.Faint, Dash: 2, X: curve.X, Y: curve.Lower},
			plot.Line{Style: t.Faint, Dash: 2, X: curve.X, Y: curve.Upper})
		return
	}
	behind := len(curve.X) // points before the fan
	if len(curve.Fan) > 0 {
		behind = 0
		for behind < len(curve.X) && math.IsNaN(curve.Fan[0].Lower[behind]) {
			behind++
		}
	}
	ch.Bands = []plot.Band{
		{Name: "95 % of y", Style: y, X: curve.X, Lo: curve.Lower, Hi: curve.Upper},
		{Name: "95 % of f", Style: f, X: curve.X[:behind], Lo: curve.LowerF[:behind], Hi: curve.UpperF[:behind]},
	}
	for i, b := range curve.Fan {
		ch.Bands = append(ch.Bands, plot.Band{Name: fmt.Sprintf("%.0f %%", 100*b.Level), Style: t.FanStyle(i),
			X: curve.X, Lo: b.Lower, Hi: b.Upper})
	}
}

// remark is a text below the chart.
type remark struct {
	text string
	bad  bool
}

// foot says what stands under the crosshair, at what the other inputs are held,
// and what went wrong.
func (v *fitView) foot(haveCurve bool) (out []remark) {
	if haveCurve && !math.IsNaN(v.at) {
		if text := v.reading(); text != "" {
			out = append(out, remark{text: text})
		}
	}
	if last, ok := v.learned(); ok && haveCurve && v.series() && last < v.b.hist.Start.Inputs()[v.column].Max &&
		v.b.hist.Start.Data.Test > 0 {
		out = append(out, remark{text: "learned without the held-out rows; kestrel predict takes them in, too"})
	}
	for _, a := range [...]*answer{&v.curve, &v.points, &v.fitted} {
		if a.err != nil {
			return append(out, remark{a.err.Error(), true})
		}
	}
	if points, ok := known[fitPoints](&v.points, v.pointsTopic()); ok && v.inputs() > 1 && v.way() == fitPartial {
		values := v.held
		if values == nil {
			values = points.medians()
		}
		var parts []string
		for i := range points.inputs {
			if i == v.column || i >= len(values) {
				continue
			}
			in := &points.inputs[i]
			text := in.Name + " = " + format.Digits(values[i])
			if in.Time {
				text = in.Name + " = " + in.At(values[i]).Format("2006-01-02 15:04")
			}
			if v.other == i {
				text = "‹" + text + "›"
			}
			parts = append(parts, text)
		}
		held := "held at medians: "
		if v.held != nil {
			held = "held: "
		}
		out = append(out, remark{text: held + strings.Join(parts, ", ")})
	}
	return out
}

// reading is the belief at the crosshair.
func (v *fitView) reading() string {
	name, x := "x", format.Digits(v.at)
	if s := v.b.hist.Start; s != nil && v.column < len(s.Inputs()) {
		in := &s.Inputs()[v.column]
		name = in.Name
		if data, ok := known[fitPoints](&v.points, v.pointsTopic()); ok && data.inputs[v.column].Time {
			x = data.inputs[v.column].At(v.at).Format("2006-01-02 15:04:05")
		}
	}
	curve, ok := known[*inspect.Curve](&v.exact, v.exactTopic())
	k := 0
	if v.way() == fitOwn { // the nearest row
		if curve, ok = v.curveShown(); ok {
			k = nearestOf(curve.X, v.at)
		}
	}
	if !ok || len(curve.X) == 0 {
		return fmt.Sprintf("%s %s: computing …", name, x)
	}
	at := func(y []float64) string { return format.Digits(y[k]) }
	return fmt.Sprintf("%s %s: mean %s, f %s to %s, y %s to %s", name, x, at(curve.Mean), at(curve.LowerF), at(curve.UpperF),
		at(curve.Lower), at(curve.Upper))
}
