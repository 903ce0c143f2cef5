package ui

import (
	"fmt"
	"math"

	"kestrel/experiment"
	"kestrel/ui/plot"
)

// fill copies series into the tracer's memory unless they are there already;
// version counts what has happened to them.
func (t *tracer) fill(version, count int, series func(i int) experiment.Series) {
	as := [2]int{int(t.quantity), int(t.axis)}
	if t.cachedVersion == version && t.cachedAs == as && len(t.low) == count {
		return
	}
	t.cachedVersion, t.cachedAs, t.wide = version, as, false
	for len(t.low) < count {
		t.low, t.high = append(t.low, nil), append(t.high, nil)
	}
	t.low, t.high = t.low[:count], t.high[:count]
	t.xs = t.xs[:0]
	for k := range count {
		s := series(k)
		if k == 0 {
			for i := range s.Len() {
				t.xs = append(t.xs, s.X(i, t.axis))
			}
		}
		lo, hi := t.low[k][:0], t.high[k][:0]
		for i := range min(s.Len(), len(t.xs)) {
			a, b := s.At(i)
			t.wide = t.wide || a < b
			lo, hi = append(lo, float32(a)), append(hi, float32(b))
		}
		t.low[k], t.high[k] = lo, hi
	}
}

// follow keeps a zoomed part at the end of what there is, unless it is held.
func (t *tracer) follow(hi float64) {
	if t.zoomed() && !t.hold && hi > t.hi && t.sawEnd >= t.hi {
		w := t.hi - t.lo
		t.lo, t.hi = hi-w, hi
	}
	t.sawEnd = hi
}

// axes sets the chart's axes up.
func (t *tracer) axes(v *mainView, th *theme) {
	lo, hi := v.extent(t)
	t.chart.X = plot.Axis{Min: lo, Max: hi, Format: func(x, _ float64) string { return v.b.hist.Label(t.axis, x) }}
	t.follow(hi)
	if t.zoomed() {
		t.chart.X.Min, t.chart.X.Max = t.lo, t.hi
	}
	t.chart.Y = plot.Axis{Log: t.log}
	t.chart.Glyphs = th.glyphs
	t.chart.Raster = &t.raster
	t.chart.Styles = plot.ChartStyles{Axis: th.border, Label: th.faint, Title: th.faint, Cursor: th.strong, Empty: th.faint}
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
func (v *mainView) drawChart(c *plot.Canvas, r plot.Rect, th *theme) {
	t, h := &v.belief, &v.b.hist
	ids := h.IDs()
	t.fill(v.b.version, len(ids), func(k int) experiment.Series { return h.Series(k, t.quantity) })
	t.axes(v, th)
	t.chart.LabelEnds, t.chart.Remark = true, unseen
	t.chart.Empty = v.waiting()
	switch t.quantity {
	case experiment.QuantityPosterior, experiment.QuantityBayes:
		if t.log {
			t.chart.Y.Max, t.chart.Y.Min = 1, 1e-4
		} else {
			t.chart.Y.Min, t.chart.Y.Max = 0, 1
		}
	case experiment.QuantityGap:
		t.chart.Y.Robust = true
		t.chart.Y.Title = "nats"
		t.chart.Y.Log = false
	default:
		t.chart.Y.Robust = true
		t.chart.Y.Title = "nats"
		t.chart.Y.Log = false
	}
	v.colours(ids, func(k int, id string, style plot.Style, swatch experiment.Swatch, priority int, label bool) {
		l := plot.Line{Style: style, X: t.xs, Y32: t.low[k], Priority: priority}
		if t.wide {
			l.Hi32 = t.high[k]
		}
		if priority > 0 {
			l.Dash, l.Focus = swatch.Dash, priority > len(ids)
			if th.plain() {
				l.Mark = swatch.Mark
			}
		}
		if label && (priority > len(ids) || v.tells(k)) {
			l.Label = v.b.kernelName(id) + v.valueAt(k)
		}
		t.chart.Lines = append(t.chart.Lines, l)
	}, th)
	t.layout = t.chart.Draw(c, r)
}

// markers appends what was done to the run, for a chart of its course.
func (b *bench) markers(to []plot.Marker, a experiment.Axis, th *theme) []plot.Marker {
	for _, m := range b.hist.MarksOn(a) {
		to = append(to, plot.Marker{X: m.X, Text: m.Text, Short: m.Short, Priority: m.Weight, Style: th.faint})
	}
	return to
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
	case s == experiment.Failed:
		return "the run failed: " + v.b.hist.Reason
	case s.Settled():
		return "no evaluation was made"
	}
	return "the first evaluation is under way"
}

// tells reports whether the line of kernel k is worth a label: small
// probabilities lie on each other.
func (v *mainView) tells(k int) bool {
	if q := v.belief.quantity; v.belief.log || q != experiment.QuantityPosterior && q != experiment.QuantityBayes {
		return true
	}
	return v.last(k) >= 0.02
}

// colours tells for every kernel how its line looks: the chosen one before all,
// the leaders in their colours, the rest grey.
func (v *mainView) colours(ids []string, line func(k int, id string, s plot.Style, w experiment.Swatch, priority int, label bool), th *theme) {
	h := &v.b.hist
	chosen := ""
	if k, ok := v.table.current(); ok {
		chosen = k.id
	}
	focus := v.focusIDs()
	for k, id := range ids {
		place := focus[id]
		switch {
		case place == 0 && id != chosen:
			if h.Kernel(k).Status == "" {
				continue
			}
			line(k, id, th.border, experiment.Swatch{}, 0, false)
		case id == chosen:
			w := v.b.palette.Of(id)
			line(k, id, th.series(w).With(plot.Bold), w, len(ids)+1, true)
		default:
			w := v.b.palette.Of(id)
			line(k, id, th.series(w), w, focusKernels+1-place, true)
		}
	}
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

// leaders returns the ids of the kernels ranked first.
func (b *bench) leaders() []string {
	var ids []string
	for _, k := range ranked(b.hist.Evaluation) {
		if len(ids) == focusKernels {
			break
		}
		ids = append(ids, k.ID)
	}
	return ids
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
	case v.belief.quantity == experiment.QuantityPosterior, v.belief.quantity == experiment.QuantityBayes:
		return " " + number(x)
	}
	return " " + gapText(x, 0)
}

// drawMetric draws the error on held-out rows.
func (v *mainView) drawMetric(c *plot.Canvas, r plot.Rect, th *theme) {
	t, h := &v.metric, &v.b.hist
	n := h.Methods()
	t.fill(v.b.version, n, func(m int) experiment.Series { return h.MethodSeries(m, t.quantity) })
	t.axes(v, th)
	t.chart.Empty = v.waiting()
	if h.Evaluation != nil {
		t.chart.Empty = "the held-out rows are being predicted"
	}
	if s := h.Start; s != nil && s.Data.Test == 0 {
		t.chart.Empty = "no held-out rows: data.test is 0"
	}
	t.chart.Y.Robust = t.quantity != experiment.QuantityCoverage
	if t.quantity == experiment.QuantityNLPD || t.quantity == experiment.QuantityCoverage {
		t.chart.Y.Log = false
	}
	x := r.X
	styles := []plot.Style{th.focus, th.warn, th.good, th.key}
	for m := range n {
		s := h.MethodSeries(m, t.quantity)
		st := styles[m%len(styles)]
		dash := m % 4
		t.chart.Lines = append(t.chart.Lines, plot.Line{Style: st, Dash: dash, X: t.xs, Y32: t.low[m], Hi32: t.high[m], Priority: n - m, Mark: th.mark(m)})
		at := s.Len() - 1
		if v.cursor >= 0 {
			for i := range s.Len() {
				if s.Moment(i).Index <= h.Moments()[v.cursor].Index {
					at = i
				}
			}
		}
		if at >= 0 && r.H > 3 {
			text := fmt.Sprintf("%s %s", experiment.MethodName(h.Method(m)), plot.Number(s.Last(at), math.Abs(s.Last(at))/1000))
			if m > 0 {
				x += 3
			}
			x = c.TextFit(x, r.Y, r.X+r.W-x, text, st)
		}
	}
	if n > 0 && r.H > 3 {
		r.Y, r.H = r.Y+1, r.H-1
	}
	t.layout = t.chart.Draw(c, r)
}

// cardLines is how many lines the card of the chosen kernel would like.
func (v *mainView) cardLines() int {
	k, ok := v.table.current()
	if !ok || v.b.hist.Start == nil || k.index < 0 || k.index >= len(v.b.hist.Start.Kernels) {
		return 4
	}
	n := 3
	for _, p := range v.b.hist.Start.Kernels[k.index].Params {
		if !p.Fixed {
			n++
		}
	}
	return n
}

// drawCard writes the chosen kernel's numbers.
func (v *mainView) drawCard(c *plot.Canvas, r plot.Rect, th *theme) {
	k, ok := v.table.current()
	if s := v.b.hist.Start; !ok || s == nil || k.index < 0 || k.index >= len(s.Kernels) || s.Kernels[k.index].ID != k.id {
		c.TextFit(r.X, r.Y, r.W, "no kernel", th.faint)
		return
	}
	kernel := v.b.kernelNow(k.id)
	if kernel == nil {
		c.TextFit(r.X, r.Y, r.W, "not evaluated yet", th.faint)
		return
	}
	f := kernel.Fit
	if f == nil {
		text := string(kernel.Status)
		if kernel.Reason != "" {
			text += ": " + kernel.Reason
		}
		drawWrapped(c, r, text, th.warn)
		return
	}
	head := fmt.Sprintf("rank %d · q* %s · Bayes %s · gap %s", f.Rank, number(float64(f.Posterior)), number(float64(f.Bayes)), gapText(k.gap, float64(f.SE)))
	if f.Tied && f.Rank > 1 {
		head += " · equal to the leader"
	}
	c.TextFit(r.X, r.Y, r.W, head, th.text)
	c.TextFit(r.X, r.Y+1, r.W, fmt.Sprintf("local ELBO %.2f nats", float64(f.ELBO)), th.faint)
	info := v.b.hist.Start.Kernels[k.index]
	y := r.Y + 1
	for i, p := range info.Params {
		if p.Fixed {
			continue
		}
		y++
		if i >= len(f.Params) || y >= r.Y+r.H {
			break
		}
		name := p.Name
		if p.Column != "" && len(v.b.hist.Start.Data.Columns) > 2 {
			name += " " + p.Column
		}
		value, unit := digits5(float64(f.Params[i])), p.Unit
		if words := v.b.hist.Start.InWords(&p, float64(f.Params[i])); words != "" {
			value, unit = words, ""
		}
		if i < len(f.SD) && f.SD[i] > 0 {
			value += fmt.Sprintf(" ×÷ %.3g", math.Exp(float64(f.SD[i])))
		}
		// A number is never cut; its name gives way.
		wide := max(0, min(22, r.W-1-plot.TextWidth(value)))
		c.TextFit(r.X, y, wide, name, th.faint)
		x := c.Text(r.X+wide+1, y, value, th.text)
		c.TextFit(x+1, y, r.X+r.W-x-1, unit, th.faint)
	}
}

// figure is the belief as it is drawn now, for a file.
func (v *mainView) figure() *experiment.Figure {
	if v.focus == metricPane {
		f := experiment.MetricFigure(&v.b.hist, v.metric.quantity, v.metric.axis)
		f.LogY = v.metric.log
		return f
	}
	return experiment.HistoryFigure(&v.b.hist, &v.b.palette, v.belief.quantity, v.belief.axis, focusKernels, v.belief.log)
}
