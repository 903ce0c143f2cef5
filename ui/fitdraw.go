package ui

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/inspect"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/ui/draw"
	"example.com/kestrel/ui/format"
	"example.com/kestrel/ui/picture"
	"example.com/kestrel/ui/plot"
	"example.com/kestrel/ui/theme"
)

// title says whose fit it is, and how good.
func (v *fitView) title() (title, right string) {
	title, of := "Fit", " of "
	if s := v.b.hist.Start; s != nil && v.inputs() > 1 { // before the name, which may be cut
		title, of = title+" along "+s.Inputs()[v.column].Name, ": "
		switch v.way() {
		case fitOwn:
			title += ", at the rows' own inputs"
		case fitPartial:
			title += ", partial residuals"
		}
	}
	c, ok := v.curveShown()
	switch {
	case v.single:
		title += of + v.b.kernelName(v.b.chosen())
	case v.provisional():
		title += of + v.b.kernelName(v.askedFirst()) + ", until the average is there"
	case ok && len(c.IDs) == 1:
		title += ", all weight on " + v.b.kernelName(c.IDs[0])
	case ok:
		title += fmt.Sprintf(", averaged over %d kernels", len(c.IDs))
	default:
		title += ", averaged over kernels"
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
		return fmt.Sprintf("RMSE %s · %.0f %% of %s in the 95 %% band", plot.Number(rmse, rmse/1000), 100*coverage, rows)
	}
	method := config.MethodAverage
	if v.provisional() { // whose fit is drawn
		method = config.MethodSingle
	} else if r, ok := known[*inspect.Residuals](&v.residuals, v.residualTopic()); ok {
		if r.Test {
			return text(r.RMSE, r.Coverage95, "test rows")
		}
		return text(r.RMSE, r.Coverage95, "training rows")
	}
	if !v.single {
		for _, m := range v.b.hist.Metrics {
			if m.Method == method {
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
	v.place()
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
				v.single, v.provisional(), t.Dark, t.Profile),
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
	} else if v.provisional() {
		style = t.Series(v.b.palette.Of(v.askedFirst()))
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
	if low, high, has := finiteRange(curve.Lower, curve.Upper); has && (!ok || len(*shown) == 0) {
		lo, hi, ok = low, high, true // no rows say how much of a band is much
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
	if curve.Steps {
		for i := range ch.Bands {
			stepped(&ch.Bands[i])
		}
	}
}

// stepped makes a band as high from the middle between a point and the one before to the
// middle between it and the next as it is at the point: from one step of a series to another it jumps, and what lies between
// the two in a column of cells is neither.
func stepped(b *plot.Band) {
	n := len(b.X)
	if n < 2 {
		return
	}
	middle := func(i int) float64 { return b.X[i] + (b.X[i+1]-b.X[i])/2 }
	var x, lo, hi []float64
	add := func(at, low, high float64) { x, lo, hi = append(x, at), append(lo, low), append(hi, high) }
	for i := range n {
		left, right := b.X[i], b.X[i]
		if i > 0 {
			left = middle(i - 1)
			add(left, math.NaN(), math.NaN()) // no way leads from the one before
		}
		if i < n-1 {
			right = middle(i)
		}
		add(left, b.Lo[i], b.Hi[i])
		add(right, b.Lo[i], b.Hi[i])
	}
	b.X, b.Lo, b.Hi, b.Jumps = x, lo, hi, true
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
	if curve, ok := v.curveShown(); ok && v.way() == fitCurve && v.swings(curve) {
		out = append(out, remark{text: "swings within a column, which widen the bands: + zooms"})
	}
	if last, ok := v.learned(); ok && haveCurve && v.series() && last < v.b.hist.Start.Inputs()[v.column].Max &&
		v.b.hist.Start.Data.Test > 0 {
		out = append(out, remark{text: "learned without the held-out rows; kestrel predict takes them in, too"})
	}
	if curve, ok := v.curveShown(); ok && v.way() == fitCurve && curve.Steps {
		out = append(out, remark{text: "bands at the steps of the series"})
	}
	for _, a := range [...]*answer{&v.wanted.curve, &v.points, &v.wanted.fitted} {
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
		levels := false
		for i := range points.inputs {
			if i == v.column || i >= len(values) {
				continue
			}
			in := &points.inputs[i]
			text := in.Name + " = " + format.Digits(values[i])
			switch c := &v.b.hist.Start.Inputs()[i]; {
			case in.Time:
				text = in.Name + " = " + in.At(values[i]).Format("2006-01-02 15:04")
			case len(c.Levels) > 0:
				text, levels = in.Name+" = "+levelText(record.LevelAt(c, values[i])), true
			}
			if v.other == i {
				text = "‹" + text + "›"
			}
			parts = append(parts, text)
		}
		held := "held at medians: "
		if levels {
			held = "held at medians and the most frequent levels: "
		}
		if v.held != nil {
			held = "held: "
		}
		out = append(out, remark{text: held + strings.Join(parts, ", ")})
	}
	return out
}

// swings reports whether the mean goes up and down within most columns of the chart by more
// than the function is uncertain: a band there is as high as all that, and tells nothing
// of its own width.
func (v *fitView) swings(curve *inspect.Curve) bool {
	lo, hi := v.window()
	columns := v.b.app.w
	if !(hi > lo) || columns < 1 {
		return false
	}
	swinging, all := 0, 0
	for i := 0; i < len(curve.X); {
		column := int(float64(columns) * (curve.X[i] - lo) / (hi - lo))
		least, most, wide, n := math.Inf(1), math.Inf(-1), 0.0, 0
		up, down := false, false
		for ; i < len(curve.X) && int(float64(columns)*(curve.X[i]-lo)/(hi-lo)) == column; i++ {
			if n > 0 {
				up, down = up || curve.Mean[i] > curve.Mean[i-1], down || curve.Mean[i] < curve.Mean[i-1]
			}
			least, most, wide, n = min(least, curve.Mean[i]), max(most, curve.Mean[i]), wide+curve.UpperF[i]-curve.LowerF[i], n+1
		}
		if n < 2 || column < 0 || column >= columns {
			continue
		}
		if all++; up && down && most-least > wide/float64(n) {
			swinging++
		}
	}
	return 2*swinging > all
}

// reading is the belief at the crosshair.
func (v *fitView) reading() string {
	name, x := "x", format.Digits(v.at)
	if s := v.b.hist.Start; s != nil && v.column < len(s.Inputs()) {
		in := &s.Inputs()[v.column]
		name = in.Name
		if len(in.Levels) > 0 {
			x = levelText(record.LevelAt(in, v.at))
		}
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
