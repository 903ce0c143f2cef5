package ui

import (
	"fmt"
	"math"
	"slices"

	"example.com/kestrel/experiment/chart"
	"example.com/kestrel/experiment/history"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/ui/format"
	"example.com/kestrel/ui/plot"
	"example.com/kestrel/ui/theme"
)

// axes sets the axes of a chart w cells wide up.
func (v *mainView) axes(t *tracer, th *theme.Theme, w int) {
	lo, hi := v.extent(t)
	t.chart.X = plot.Axis{Min: lo, Max: hi, Format: func(x, _ float64) string { return v.b.hist.Label(t.axis, x) }}
	t.follow(hi)
	if t.zoomed() {
		t.chart.X.Min, t.chart.X.Max = t.lo, t.hi
	}
	if t.axis == history.AxisSeconds {
		t.chart.X.Labels = format.LagTicks(1, t.chart.X.Min, t.chart.X.Max, mostTicks(w))
	}
	t.chart.Y = plot.Axis{Log: t.log}
	t.chart.Glyphs = th.Glyphs
	t.chart.Raster = &t.raster
	t.chart.Styles = th.ChartStyles()
	t.chart.Cursor = nil
	t.chart.Markers = t.chart.Markers[:0]
	t.chart.Lines = t.chart.Lines[:0]
	if ms := v.b.hist.Moments(); v.cursor >= 0 && v.cursor < len(ms) {
		x := ms[v.cursor].On(t.axis)
		t.chart.Cursor, t.chart.CursorNext = &x, 0
		for i := v.cursor; i > 0 && ms[i-1].On(t.axis) == x; i-- {
			t.chart.CursorNext++
		}
	}
	t.chart.Markers = v.b.markers(t.chart.Markers, t.axis, th)
}

// drawChart draws the belief over kernels.
func (v *mainView) drawChart(c *plot.Canvas, r plot.Rect, th *theme.Theme) {
	t, h := &v.belief, &v.b.hist
	ids := h.IDs()
	v.axes(t, th, r.W)
	t.fill(v.b.version, len(ids), func(k int) history.Series { return h.Series(k, t.quantity) })
	t.chart.LabelEnds, t.chart.Remark = true, unseen
	if t.chart.Empty = v.waiting(); h.Evaluation != nil {
		t.chart.Empty = nothingHere
	}
	switch t.quantity {
	case history.QuantityPosterior, history.QuantityBayes:
		if t.log {
			t.chart.Y.Max, t.chart.Y.Min = 1, 1e-4
		} else {
			t.chart.Y.Min, t.chart.Y.Max = 0, 1
		}
	case history.QuantityGap:
		t.chart.Y.Robust = true
		t.chart.Y.Title = "nats"
		t.chart.Y.Log = false
	default:
		t.chart.Y.Robust = true
		t.chart.Y.Title = "nats"
		t.chart.Y.Log = false
	}
	former := t.formerLeaders()
	v.colours(ids, th, func(k int, id string, style plot.Style, swatch chart.Swatch, priority int, label bool) {
		l := plot.Line{Style: style, X: t.xs, Y32: t.low[k], Priority: priority}
		if priority == 0 && slices.Contains(former, k) {
			l.Style, l.Priority, l.Peak = th.Faint, 1, v.b.kernelName(id)
		}
		if t.wide {
			l.Hi32 = t.high[k]
		}
		chosen := priority > focusKernels+1
		if priority > 0 {
			l.Dash, l.Focus = swatch.Dash, chosen
			if th.Signs() {
				l.Mark = th.SignOf(swatch)
			}
		}
		if label && (chosen || v.tells(k)) {
			l.Label, l.Value = v.b.kernelName(id), v.valueAt(k)
		}
		t.chart.Lines = append(t.chart.Lines, l)
	})
	t.layout = t.chart.Draw(c, r)
}

// unseen says what a chart of the kernels does not show. Gaps are those of
// kernels that were pruned, and restored later.
func unseen(l plot.Layout) []string {
	broken, away := 0, ""
	for i := range l.Lines {
		broken += min(l.Lines[i].Gaps, 1)
	}
	switch {
	case broken == 1:
		away = "1 kernel was away for a while"
	case broken > 1:
		away = fmt.Sprintf("%d kernels were away for a while", broken)
	}
	l.Gaps = 0
	rest := l.Note()
	switch {
	case away == "" && rest == "":
		return nil
	case away == "":
		return []string{rest}
	case rest == "":
		return []string{away}
	}
	return []string{away + ", " + rest, rest}
}

// waiting says why there is nothing to see yet.
func (v *mainView) waiting() string {
	switch s := v.b.state(); {
	case s == record.Failed:
		return "the run failed: " + v.b.hist.Reason
	case s.Settled():
		return "no evaluation was made"
	}
	return "the first evaluation is under way"
}

// nothingHere stands in a stretch of a chart without lines.
const nothingHere = "nothing in this range"

// tells reports whether the line of kernel k is worth a label: small
// probabilities lie on each other.
func (v *mainView) tells(k int) bool {
	if q := v.belief.quantity; v.belief.log || q != history.QuantityPosterior && q != history.QuantityBayes {
		return true
	}
	return v.last(k) >= 0.02
}

// colours tells for every kernel how its line looks: the chosen one before all,
// priority focusKernels + 2, the leaders in their colours, the rest grey, 0; 1 is for
// those that led.
func (v *mainView) colours(ids []string, th *theme.Theme,
	line func(k int, id string, s plot.Style, w chart.Swatch, priority int, label bool)) {
	h := &v.b.hist
	chosen := ""
	if k, ok := v.table.current(); ok {
		chosen = k.id
	}
	focus := v.focusIDs()
	if chosen != "" && focus[chosen] == 0 && h.Evaluation != nil { // a colour that no leader has
		v.b.palette.Focus(append(v.b.leaders(), chosen))
	}
	for k, id := range ids {
		place := focus[id]
		switch {
		case place == 0 && id != chosen:
			if h.Kernel(k).Status == "" {
				continue
			}
			line(k, id, th.Border, chart.Swatch{}, 0, false)
		case id == chosen:
			w := v.b.palette.Of(id)
			line(k, id, th.Series(w).With(plot.Bold), w, focusKernels+2, true)
		default:
			w := v.b.palette.Of(id)
			line(k, id, th.Series(w), w, focusKernels+2-place, true)
		}
	}
}

// coloured are the kernels that have a colour of their own: the leaders, and the chosen
// one.
func (b *bench) coloured() map[string]bool {
	out := map[string]bool{b.chosen(): true}
	for _, id := range b.leaders() {
		out[id] = true
	}
	return out
}

// focusIDs returns the kernels that are drawn in colour, with their places
// from 1: those ranked first now.
func (v *mainView) focusIDs() map[string]int {
	out := make(map[string]int, focusKernels)
	for i, id := range v.b.leaders() {
		out[id] = i + 1
	}
	return out
}

// last returns what the chart shows of kernel k at the crosshair, or last; NaN
// if there is nothing.
func (v *mainView) last(k int) float64 {
	s := v.b.hist.Series(k, v.belief.quantity)
	at := v.cursor
	if at < 0 {
		at = s.Len() - 1
	}
	if at < 0 || at >= s.Len() {
		return math.NaN()
	}
	return s.Last(at)
}

// valueAt writes it.
func (v *mainView) valueAt(k int) string {
	x := v.last(k)
	switch {
	case math.IsNaN(x):
		return ""
	case v.belief.quantity == history.QuantityPosterior, v.belief.quantity == history.QuantityBayes:
		return " " + number(x)
	}
	return " " + gapText(x, 0)
}
