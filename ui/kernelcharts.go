package ui

import (
	"fmt"
	"slices"
	"strings"

	"example.com/kestrel/experiment/chart"
	"example.com/kestrel/experiment/history"
	"example.com/kestrel/experiment/inspect"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/words"
	"example.com/kestrel/ui/draw"
	"example.com/kestrel/ui/format"
	"example.com/kestrel/ui/plot"
	"example.com/kestrel/ui/theme"
)

// chart is a chart in the styles of the theme.
func (v *kernelView) chart(t *theme.Theme) plot.Chart {
	return plot.Chart{Glyphs: t.Glyphs, Styles: t.ChartStyles(), Raster: &v.raster}
}

func (v *kernelView) drawTrace(c *plot.Canvas, r plot.Rect, t *theme.Theme, id string) {
	h := &v.b.hist
	at := h.Index(id)
	ch := v.chart(t)
	if ch.Empty = "no evaluation yet"; h.Evaluation != nil {
		ch.Empty = nothingHere
	}
	if at >= 0 {
		q := history.QuantityGap
		if v.elbo {
			q = history.QuantityELBO
			if e := h.Evaluation; e != nil {
				if l := e.Leader(); l != nil && l.ID != id {
					line := traced(h.Series(h.Index(l.ID), q), v.axis)
					line.Style, line.Label, line.Dash = t.Faint, "leader", 1
					ch.Lines = append(ch.Lines, line)
				}
			}
		} else {
			ch.Y.Include = []float64{0}
			for _, other := range v.b.leaders() {
				if other != id {
					line := traced(h.Series(h.Index(other), q), v.axis)
					line.Style = t.Border
					ch.Lines = append(ch.Lines, line)
				}
			}
		}
		line := traced(h.Series(at, q), v.axis)
		line.Style, line.Priority, line.Label = t.Series(v.b.palette.Of(id)), 1, "this"
		line.Focus = true
		ch.Lines = append(ch.Lines, line)
		ch.LabelEnds = v.elbo && len(ch.Lines) > 1
	}
	ch.Y.Robust = true
	ch.Y.Title = "nats"
	ch.X.Format = func(x, _ float64) string { return h.Label(v.axis, x) }
	switch n := len(h.Moments()); {
	case v.axis == history.AxisData:
		ch.X.Include = []float64{0, 1}
	case v.axis == history.AxisSeconds && n > 0:
		ch.X.Min, ch.X.Max = 0, h.Moments()[n-1].On(v.axis)
		ch.X.Labels = format.LagTicks(1, 0, ch.X.Max, mostTicks(r.W))
	}
	ch.Markers = v.b.markers(nil, v.axis, t)
	ch.Draw(c, r)
}

// asked draws why there is no answer yet, in the place of a chart; false if
// there is one.
func (v *kernelView) asked(c *plot.Canvas, r plot.Rect, t *theme.Theme, a *answer, have bool) bool {
	if have {
		return false
	}
	text, bad := v.b.answerNote(a, v.topic())
	if v.broken() {
		text, bad = "the kernel has failed", false
	}
	style := t.Faint
	if bad {
		style = t.Bad
	}
	draw.Empty(c, r, text, style)
	return true
}

// mostTicks is how many lengths of time fit on an axis, and mostDates how many dates.
func mostTicks(w int) int { return max(1, (w-6)/8) }
func mostDates(w int) int { return max(1, (w-6)/11) }

// mostTries is how many dates are tried at most on an axis without room for two: seconds
// from the first row tell nobody anything.
const mostTries = 12

func (v *kernelView) drawCovariance(c *plot.Canvas, r plot.Rect, t *theme.Theme, id string) {
	cov, ok := known[*inspect.CovarianceCurve](&v.covariance, v.topic())
	if v.asked(c, r, t, &v.covariance, ok) || len(cov.Lag) == 0 {
		return
	}
	ch := v.chart(t)
	style := t.Series(v.b.palette.Of(id))
	line := plot.Line{Style: style, X: cov.Lag, Y: cov.Value}
	ch.Y.Include = []float64{0}
	if _, unit := v.b.hist.Start.Target().Modelled(); unit != "" {
		ch.Y.Title, ch.Y.Unit = "covariance", unit+"²"
	}
	in := &v.b.hist.Start.Inputs()[v.column]
	ch.X.Title, ch.X.Unit = "lag", in.Unit
	if len(in.Levels) > 0 { // there is no distance between two of them
		line.X = slices.Clone(cov.Lag)
		for i := range line.X {
			line.X[i] += cov.About
		}
		v.b.along(&ch.X, v.column, line.X[0], line.X[len(line.X)-1], r.W)
	}
	ch.Lines = []plot.Line{line}
	if _, unit, ok := record.TimeScale(in); ok {
		most := mostTicks(r.W)
		if cov.Period > 0 { // each of them, if there is any room
			most = max(most, inspect.ShownPeriods)
		}
		ch.X.Labels = format.LagTicks(unit, cov.Lag[0], cov.Lag[len(cov.Lag)-1], most)
		ch.X.Unit = ""
	}
	ch.Draw(c, r)
}

// along makes an axis that of an input column.
func (b *bench) along(x *plot.Axis, column int, lo, hi float64, w int) {
	s := b.hist.Start
	if s == nil || column >= len(s.Inputs()) {
		return
	}
	alongInput(x, &s.Inputs()[column], lo, hi, w)
}

// alongInput has an axis of w cells say what an input is and where its values are.
func alongInput(x *plot.Axis, in *record.Column, lo, hi float64, w int) {
	x.Title, x.Unit = in.Name, in.Unit
	if len(in.Levels) > 0 {
		x.Labels = []plot.Tick{}
		for k := range in.Levels {
			x.Labels = append(x.Labels, plot.Tick{At: float64(k), Text: levelText(record.LevelAt(in, float64(k)))})
		}
		x.Format = func(v, _ float64) string { return levelText(record.LevelAt(in, v)) }
	}
	if origin, unit, ok := record.TimeScale(in); ok {
		ticks := format.DateTicks(origin, unit, lo, hi, mostDates(w))
		for most := mostDates(w) + 1; len(ticks) < 2 && most <= mostTries; most++ { // labels that have no room are not written
			ticks = format.DateTicks(origin, unit, lo, hi, most)
		}
		if len(ticks) > 1 {
			x.Labels, x.Unit = ticks, ""
			x.Format = func(v, _ float64) string { return format.DateText(format.Instant(origin, unit, v), hi-lo, unit) }
		}
	}
}

// levelText is the name of a level as a chart has room for it.
func levelText(name string) string {
	const most = 24
	return plot.FitName(words.PlainLine(name), most)
}

// dashOf tells lines apart where there are no colours.
func dashOf(i int) int {
	all := chart.Swatches()
	return all[i%len(all)].Dash
}

func (v *kernelView) drawDraws(c *plot.Canvas, r plot.Rect, t *theme.Theme) {
	d, ok := known[*inspect.PriorDraws](&v.draws, v.topic())
	if v.asked(c, r, t, &v.draws, ok) || len(d.X) == 0 {
		return
	}
	ch := v.chart(t)
	for i, f := range d.Draws {
		ch.Lines = append(ch.Lines, plot.Line{Style: t.Swatch(i), Dash: dashOf(i), Priority: -i, X: d.X, Y: f})
	}
	v.b.along(&ch.X, v.column, d.X[0], d.X[len(d.X)-1], r.W)
	ch.Y.Title, ch.Y.Unit = v.b.hist.Start.Target().Modelled()
	ch.Draw(c, r)
}

// moving are the components that are not the same all along the column, and what is to be
// said of the others: as a line on its level such a one would look as if it were nothing.
func (v *kernelView) moving(all []inspect.ComponentCurve) (parts []inspect.ComponentCurve, rest string) {
	var still, told []string
	for _, p := range all {
		switch {
		case len(p.X) == 0:
		case p.ID == "":
			told = append(told, fmt.Sprintf("and the %s, %s", p.Name, format.Digits(p.Mean[0])))
		case len(all) > 1 && v.columns() > 1 && slices.Min(p.Mean) == slices.Max(p.Mean) && slices.Min(p.Lower) == slices.Max(p.Lower):
			still = append(still, p.Name)
		default:
			parts = append(parts, p)
		}
	}
	if len(still) > 0 {
		in := v.b.hist.Start.Inputs()[v.column].Name
		told = slices.Insert(told, 0, fmt.Sprintf("not along %s: %s (c: another column)", in, strings.Join(still, ", ")))
	}
	return parts, strings.Join(told, "; ")
}

func (v *kernelView) drawComponents(c *plot.Canvas, r plot.Rect, t *theme.Theme) {
	all, ok := known[[]inspect.ComponentCurve](&v.components, v.topic())
	if v.asked(c, r, t, &v.components, ok) {
		return
	}
	parts, rest := v.moving(all)
	if lines := draw.Wrap(rest, r.W); rest != "" && r.H > 5+len(lines) {
		r.H -= len(lines)
		draw.Lines(c, plot.Rect{X: r.X, Y: r.Y + r.H, W: r.W, H: len(lines)}, lines, 0, t.Faint)
	}
	if len(parts) == 0 {
		return
	}
	const least = 4 // rows of a chart of its own, which its name comes above
	if len(parts) > 1 && r.H < (least+1)*len(parts) {
		ch := v.chart(t)
		ch.LabelEnds = true
		for i, p := range parts {
			ch.Lines = append(ch.Lines, plot.Line{Name: p.Name, Label: p.Name, Style: t.Swatch(i), Dash: dashOf(i), X: p.X, Y: p.Mean})
		}
		v.b.along(&ch.X, v.column, parts[0].X[0], parts[0].X[len(parts[0].X)-1], r.W)
		ch.Y.Title, ch.Y.Unit = v.b.hist.Start.Target().Modelled()
		ch.Draw(c, r)
		return
	}
	band, _ := t.BandStyles()
	for i, p := range parts {
		from, to := r.H*i/len(parts), r.H*(i+1)/len(parts)
		area := plot.Rect{X: r.X, Y: r.Y + from, W: r.W, H: to - from}
		if len(all) > 1 && area.H > least {
			c.TextFit(area.X, area.Y, area.W, p.Name, t.Swatch(i).With(plot.Bold))
			area.Y, area.H = area.Y+1, area.H-1
		}
		ch := v.chart(t)
		ch.Bands = []plot.Band{{Style: band, X: p.X, Lo: p.Lower, Hi: p.Upper}}
		ch.Lines = []plot.Line{{Style: t.Swatch(i), X: p.X, Y: p.Mean}}
		v.b.along(&ch.X, v.column, p.X[0], p.X[len(p.X)-1], r.W)
		if i < len(parts)-1 {
			ch.X.Hide = true // the last one's serves all
		}
		ch.Draw(c, area)
	}
}
