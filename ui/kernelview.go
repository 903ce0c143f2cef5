package ui

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"kestrel/experiment"
	"kestrel/ui/plot"
	"kestrel/vbks"
)

// kernelPanel is a part of the kernel view.
type kernelPanel int

const (
	paramPanel kernelPanel = iota
	tracePanel
	covariancePanel
	priorPanel
	componentPanel
	kernelPanels
)

const (
	covariancePoints = 241
	priorPoints      = 200
	priorDraws       = 4
	componentPoints  = 160
)

// kernelView shows one kernel: its hyperparameters, how it did, and what it
// believes about functions.
type kernelView struct {
	b      *bench
	focus  kernelPanel
	large  kernelPanel // the chart shown where there is room for one only
	alone  bool        // one chart even where there is room for all
	elbo   bool        // local ELBO, not its gap
	axis   experiment.Axis
	column int
	scroll int // of the hyperparameters, or of the reason of a failure
	last   int // lines that could be scrolled

	covariance, draws, components answer

	areas  [kernelPanels]plot.Rect
	raster plot.Raster
}

func newKernelView(b *bench) *kernelView { return &kernelView{b: b, large: tracePanel} }

func (v *kernelView) name() string { return "kernel" }

func (v *kernelView) groups() []bindingGroup {
	do := func(f func()) func() tea.Cmd {
		return func() tea.Cmd { f(); return nil }
	}
	return []bindingGroup{{"kernel", []binding{
		{keys: []string{"down", "j"}, label: "↑ ↓", short: "kernel", about: "next or previous kernel by rank, also j k", do: do(func() { v.step(1) })},
		{keys: []string{"up", "k"}, do: do(func() { v.step(-1) })},
		{keys: []string{"home"}, label: "home", about: "the leader", do: do(func() { v.step(-1 << 30) })},
		{keys: []string{"tab"}, label: "tab", short: "part", about: "next part: hyperparameters, trace, covariance, prior draws, components; shift+tab the one before", do: do(func() { v.turn(1) })},
		{keys: []string{"shift+tab"}, do: do(func() { v.turn(-1) })},
		{keys: []string{"enter", "z"}, label: "enter", about: "one chart, or all where there is room", do: do(func() { v.alone = !v.alone })},
		{keys: []string{"t"}, label: "t", short: "gap or ELBO", about: "trace of the ELBO gap to the leader, or of the local ELBO", do: do(func() { v.elbo = !v.elbo })},
		{keys: []string{"x"}, label: "x", about: "trace against data, time or evaluations", do: do(func() { v.axis = (v.axis + 1) % 3 })},
		{keys: []string{"c"}, label: "c", short: "column", about: "the input column of covariance, draws and components", off: v.columns() < 2, do: do(func() { v.column = cycle(v.column, v.columns()) })},
		{keys: []string{"pgdown"}, label: "pgdown", about: "scroll the hyperparameters; pgup back", do: do(func() { v.scroll = min(v.scroll+5, v.last) })},
		{keys: []string{"pgup"}, do: do(func() { v.scroll = max(v.scroll-5, 0) })},
	}}}
}

// chosen returns the kernel chosen in the bench, "" before there is one.
func (b *bench) chosen() string {
	if b.main != nil && b.main.table.cursor != "" {
		return b.main.table.cursor
	}
	if e := b.hist.Evaluation; e != nil {
		if l := e.Leader(); l != nil {
			return l.ID
		}
	}
	if ids := b.hist.IDs(); len(ids) > 0 {
		return ids[0]
	}
	return ""
}

// choose makes a kernel the chosen one.
func (b *bench) choose(id string) {
	if b.main != nil {
		b.main.table.choose(id)
	}
}

// inOrder lists the kernels by rank, those not live behind.
func (b *bench) inOrder() []string {
	e := b.hist.Evaluation
	if e == nil {
		return b.hist.IDs()
	}
	var ids []string
	for _, k := range ranked(e) {
		ids = append(ids, k.ID)
	}
	for i := range e.Kernels {
		if e.Kernels[i].Fit == nil {
			ids = append(ids, e.Kernels[i].ID)
		}
	}
	return ids
}

// kernelNow returns a kernel as of the last evaluation, nil if there is none.
func (b *bench) kernelNow(id string) *experiment.Kernel {
	if e := b.hist.Evaluation; e != nil {
		for i := range e.Kernels {
			if e.Kernels[i].ID == id {
				return &e.Kernels[i]
			}
		}
	}
	return nil
}

// step goes to another kernel by rank.
func (v *kernelView) step(by int) {
	ids := v.b.inOrder()
	if len(ids) == 0 {
		return
	}
	at := max(0, slices.Index(ids, v.b.chosen()))
	v.b.choose(ids[max(0, min(len(ids)-1, at+by))])
	v.scroll = 0
}

// turn goes to another part.
func (v *kernelView) turn(by kernelPanel) { v.look((v.focus + by + kernelPanels) % kernelPanels) }

func (v *kernelView) look(p kernelPanel) {
	v.focus = p
	if p != paramPanel {
		v.large = p
	}
}

func (v *kernelView) columns() int {
	if s := v.b.hist.Start; s != nil {
		return len(s.Inputs())
	}
	return 0
}

// arrange divides the screen; a part without room is empty.
func (v *kernelView) arrange(r plot.Rect) (header plot.Rect, a [kernelPanels]plot.Rect) {
	header = plot.Rect{X: r.X, Y: r.Y, W: r.W, H: min(r.H, 1)}
	if r.H >= 10 {
		header.H = 2
	}
	rest := plot.Rect{X: r.X, Y: r.Y + header.H, W: r.W, H: r.H - header.H}
	if rest.Empty() {
		return header, a
	}
	right := rest
	switch {
	case rest.W >= 96:
		left := max(34, min(v.paramWidth()+2, 64, rest.W*2/5))
		a[paramPanel] = plot.Rect{X: rest.X, Y: rest.Y, W: left, H: rest.H}
		right.X, right.W = rest.X+left, rest.W-left
	case rest.H >= 18:
		up := min(max(6, v.paramLines()+2), rest.H-10)
		a[paramPanel] = plot.Rect{X: rest.X, Y: rest.Y, W: rest.W, H: up}
		right.Y, right.H = rest.Y+up, rest.H-up
	case v.focus == paramPanel || v.broken():
		a[paramPanel] = rest
		return header, a
	}
	if right.W < 60 || right.H < 16 || v.alone {
		a[v.large] = right
		return header, a
	}
	w, h := right.W/2, right.H/2
	a[tracePanel] = plot.Rect{X: right.X, Y: right.Y, W: w, H: h}
	a[covariancePanel] = plot.Rect{X: right.X + w, Y: right.Y, W: right.W - w, H: h}
	a[priorPanel] = plot.Rect{X: right.X, Y: right.Y + h, W: w, H: right.H - h}
	a[componentPanel] = plot.Rect{X: right.X + w, Y: right.Y + h, W: right.W - w, H: right.H - h}
	return header, a
}

// broken reports whether the chosen kernel has failed.
func (v *kernelView) broken() bool {
	k := v.b.kernelNow(v.b.chosen())
	return k != nil && k.Status == vbks.Failed
}

// refresh implements view: it asks for the charts that there is room for.
func (v *kernelView) refresh() tea.Cmd {
	id := v.b.chosen()
	if id == "" || v.broken() || v.columns() == 0 {
		return nil
	}
	column := min(v.column, v.columns()-1)
	_, areas := v.arrange(plot.Rect{W: v.b.app.w, H: v.b.app.h - 3})
	subject := v.subject()
	var qs []inquiry
	ask := func(p kernelPanel, to *answer, f func(context.Context, inspector) (any, error)) {
		if !areas[p].Empty() {
			qs = append(qs, inquiry{to: to, subject: subject, f: f})
		}
	}
	ask(covariancePanel, &v.covariance, func(_ context.Context, i inspector) (any, error) { return i.Covariance(id, column, covariancePoints) })
	ask(priorPanel, &v.draws, func(_ context.Context, i inspector) (any, error) {
		return i.PriorDraws(id, column, priorPoints, priorDraws)
	})
	ask(componentPanel, &v.components, func(ctx context.Context, i inspector) (any, error) {
		return i.Components(ctx, id, experiment.FitQuery{Column: column, Points: componentPoints})
	})
	return v.b.inquire(qs...)
}

// subject names what the charts are about.
func (v *kernelView) subject() string { return fmt.Sprint(v.column, " ", v.b.chosen()) }

func (v *kernelView) mouse(msg tea.MouseMsg) tea.Cmd {
	m := msg.Mouse()
	for p, area := range v.areas {
		if !area.Contains(m.X, m.Y) {
			continue
		}
		switch msg.(type) {
		case tea.MouseClickMsg:
			if v.focus == kernelPanel(p) && m.Button == tea.MouseLeft {
				v.alone = !v.alone
			}
			v.look(kernelPanel(p))
		case tea.MouseWheelMsg:
			by := 1
			if m.Button == tea.MouseWheelUp {
				by = -1
			}
			if kernelPanel(p) == paramPanel && v.last > 0 {
				v.scroll = max(0, min(v.last, v.scroll+by))
			} else {
				v.step(by)
			}
		}
	}
	return nil
}

func (v *kernelView) draw(c *plot.Canvas, r plot.Rect, t *theme) {
	defer c.Clip(r)()
	id := v.b.chosen()
	if id == "" {
		drawEmpty(c, r, "the run has not told its kernels yet", t.faint)
		return
	}
	v.column = max(0, min(v.column, v.columns()-1))
	var header plot.Rect
	header, v.areas = v.arrange(r)
	v.drawHeader(c, header, t, id)
	for p := range kernelPanels {
		area := v.areas[p]
		if area.Empty() {
			continue
		}
		title, right := v.title(p)
		in := drawPanel(c, area, t, title, right, v.focus == p)
		undo := c.Clip(in)
		switch p {
		case paramPanel:
			v.drawParams(c, in, t, id)
		case tracePanel:
			v.drawTrace(c, in, t, id)
		case covariancePanel:
			v.drawCovariance(c, in, t, id)
		case priorPanel:
			v.drawDraws(c, in, t)
		case componentPanel:
			v.drawComponents(c, in, t)
		}
		undo()
	}
}

// drawHeader writes the expression, where it stands and its numbers.
func (v *kernelView) drawHeader(c *plot.Canvas, r plot.Rect, t *theme, id string) {
	k := v.b.kernelNow(id)
	x, end := r.X+1, r.X+r.W-1
	place := v.place(id)
	name := v.b.kernelName(id)
	x = c.TextFit(x, r.Y, max(8, end-x-plot.TextWidth(place)-2), name, t.series(v.b.palette.Of(id)).With(plot.Bold))
	c.TextFit(x+2, r.Y, end-x-2, place, t.faint)
	if r.H < 2 {
		return
	}
	x, y := r.X+1, r.Y+1
	switch {
	case k == nil:
		c.TextFit(x, y, end-x, "no evaluation yet", t.faint)
	case k.Fit == nil:
		text := string(k.Status)
		if h := v.b.hist.Index(id); h >= 0 {
			text += fmt.Sprintf(" since evaluation %d", v.b.hist.Kernel(h).Since)
		}
		if k.Reason != "" {
			text += ": " + k.Reason
		}
		c.TextFit(x, y, end-x, text, map[bool]plot.Style{true: t.bad, false: t.warn}[k.Status == vbks.Failed])
	default:
		for i, part := range v.numbers(k) {
			if x+plot.TextWidth(part[0])+1+plot.TextWidth(part[1]) > end && i > 0 {
				break
			}
			x = c.TextFit(x, y, end-x, part[0]+" ", t.faint)
			x = c.TextFit(x, y, end-x, part[1], t.text) + 3
		}
	}
}

// place says which of how many kernels it is.
func (v *kernelView) place(id string) string {
	k := v.b.kernelNow(id)
	if k == nil {
		return ""
	}
	if k.Fit == nil {
		return string(k.Status)
	}
	text := fmt.Sprintf("#%d of %d", k.Fit.Rank, len(ranked(v.b.hist.Evaluation)))
	if k.Fit.Tied && k.Fit.Rank > 1 {
		text += ", equal to the leader within the standard error"
	}
	return text
}

// numbers are the figures of a live kernel, the most important first.
func (v *kernelView) numbers(k *experiment.Kernel) [][2]string {
	f := k.Fit
	out := [][2]string{{"q*", number(float64(f.Posterior))}, {"Bayes", number(float64(f.Bayes))}}
	if l := v.b.hist.Evaluation.Leader(); l != nil {
		out = append(out, [2]string{"gap", gapText(float64(f.ELBO-l.Fit.ELBO), float64(f.SE)) + " nats"})
	}
	out = append(out, [2]string{"local ELBO", strings.Replace(fmt.Sprintf("%.2f", float64(f.ELBO)), "-", "−", 1)})
	if f.Source != "" {
		out = append(out, [2]string{"from", sourceText(f.Source)})
	}
	return append(out, [2]string{"evaluation", fmt.Sprint(v.b.hist.Evaluation.Index)})
}

// sourceText says where a solution came from.
func sourceText(source string) string {
	switch source {
	case "last":
		return "its last solution"
	case "fresh":
		return "a fresh start"
	}
	return "the solution of " + source
}

func (v *kernelView) title(p kernelPanel) (title, right string) {
	note := func(a *answer) string { s, _ := v.b.answerNote(a, v.subject()); return s }
	column := ""
	if v.columns() > 1 {
		column = " along " + v.b.hist.Start.Inputs()[v.column].Name
	}
	switch p {
	case paramPanel:
		if v.broken() {
			return "Why it failed", ""
		}
		if e := v.b.hist.Evaluation; e != nil {
			right = fmt.Sprintf("evaluation %d", e.Index)
		}
		return "Hyperparameters", right
	case tracePanel:
		if v.elbo {
			return "Local ELBO", "vs " + axisNames[v.axis]
		}
		return "ELBO gap to the leader", "vs " + axisNames[v.axis]
	case covariancePanel:
		title = "Covariance" + column
		if c, ok := known[*experiment.CovarianceCurve](&v.covariance, v.subject()); ok && !c.Stationary {
			title = "Covariance with the middle" + column
		}
		return title, note(&v.covariance)
	case priorPanel:
		return "Draws from the prior" + column, note(&v.draws)
	}
	return "Components of the fit" + column, note(&v.components)
}

// paramRow is a hyperparameter as it is shown.
type paramRow struct{ name, column, value, unit, factor, words string }

// params lists the hyperparameters of a live kernel, the noise last.
func (v *kernelView) params(id string) []paramRow {
	s, k := v.b.hist.Start, v.b.kernelNow(id)
	at := v.b.hist.Index(id)
	if s == nil || k == nil || k.Fit == nil || at < 0 || at >= len(s.Kernels) || s.Kernels[at].ID != id {
		return nil
	}
	info := &s.Kernels[at]
	var rows []paramRow
	for i := range info.Params {
		if i >= len(k.Fit.Params) {
			break
		}
		p, value := &info.Params[i], float64(k.Fit.Params[i])
		row := paramRow{name: p.Name, column: p.Column, value: digits5(value), unit: p.Unit, words: s.InWords(p, value)}
		if p.Fixed {
			continue // it says nothing of its own
		}
		sd := math.NaN()
		if i < len(k.Fit.SD) {
			sd = float64(k.Fit.SD[i])
			row.factor = factorText(sd)
		}
		noise := i == len(info.Params)-1
		if noise {
			row.name = "noise variance"
		}
		rows = append(rows, row)
		if noise && value >= 0 {
			unit := ""
			if c := s.Target(); c != nil {
				unit = c.Unit
			}
			rows = append(rows, paramRow{name: "noise sd", value: digits5(math.Sqrt(value)), unit: unit, factor: factorText(sd / 2)})
		}
	}
	for _, f := range info.Fixed {
		rows = append(rows, paramRow{name: f.Name, column: f.Column, value: digits5(f.Value), unit: f.Unit, words: "fixed"})
	}
	return rows
}

// factorText writes a standard deviation of a logarithm as a factor, or where
// it is small as a percentage, which is the same then.
func factorText(sd float64) string {
	switch {
	case math.IsNaN(sd) || sd == 0:
		return ""
	case sd < 0.1:
		return fmt.Sprintf("±%.2g %%", 100*sd)
	}
	return fmt.Sprintf("×÷%.3g", math.Exp(sd))
}

// paramWidths are the widths of name, column, value, unit, factor and words.
func paramWidths(rows []paramRow) (w [6]int) {
	for _, p := range rows {
		for i, s := range p.cells() {
			w[i] = max(w[i], plot.TextWidth(s))
		}
	}
	return w
}

// paramWidth is how many columns the hyperparameters would like.
func (v *kernelView) paramWidth() int {
	need := 0
	for _, n := range paramWidths(v.params(v.b.chosen())) {
		if n > 0 {
			need += n + 1
		}
	}
	return need
}

// paramLines is how many lines the hyperparameters need.
func (v *kernelView) paramLines() int { return len(v.params(v.b.chosen())) }

func (v *kernelView) drawParams(c *plot.Canvas, r plot.Rect, t *theme, id string) {
	k := v.b.kernelNow(id)
	switch {
	case k == nil:
		drawEmpty(c, r, "its hyperparameters come with the first evaluation", t.faint)
		return
	case k.Fit == nil:
		text, style := k.Reason, t.text
		if text == "" {
			text, style = "the kernel is "+string(k.Status)+"; its numbers are those of the evaluations in which it took part", t.faint
		}
		lines := wrap(text, r.W)
		v.last = max(0, len(lines)-r.H)
		v.scroll = min(v.scroll, v.last)
		drawLines(c, r, lines, v.scroll, style)
		return
	}
	rows := v.params(id)
	v.last = max(0, len(rows)-r.H)
	v.scroll = min(v.scroll, v.last)
	w := paramWidths(rows)
	// Name and value are shown whatever the room; the others as it allows.
	left := r.W - w[0] - 1 - w[2]
	if left < 0 {
		w[0] = max(4, w[0]+left)
		left = 0
	}
	order := [...]int{5, 3, 4, 1}
	if v.columns() > 1 { // which column it is about must be seen
		order = [...]int{1, 5, 3, 4}
	}
	for _, i := range order {
		if w[i] > 0 && left >= w[i]+1 {
			left -= w[i] + 1
		} else {
			w[i] = 0
		}
	}
	for i, p := range rows[v.scroll:min(len(rows), v.scroll+max(0, r.H))] {
		x, y := r.X, r.Y+i
		styles := [...]plot.Style{t.text, t.faint, t.strong, t.faint, t.faint, t.text}
		for j, s := range p.cells() {
			switch {
			case w[j] == 0:
				continue
			case j == 2:
				c.TextRight(x+w[j], y, s, styles[j])
			default:
				c.TextFit(x, y, w[j], s, styles[j])
			}
			x += w[j] + 1
		}
	}
}

func (p *paramRow) cells() [6]string {
	words := p.words
	if words != "" && words != "fixed" {
		words = "= " + words
	}
	return [6]string{p.name, p.column, p.value, p.unit, p.factor, words}
}

// chart is a chart in the styles of the theme.
func (v *kernelView) chart(t *theme) plot.Chart {
	return plot.Chart{Glyphs: t.glyphs, Styles: t.chartStyles(), Raster: &v.raster}
}

func (v *kernelView) drawTrace(c *plot.Canvas, r plot.Rect, t *theme, id string) {
	h := &v.b.hist
	at := h.Index(id)
	ch := v.chart(t)
	ch.Empty = "no evaluation yet"
	if at >= 0 {
		q := experiment.QuantityGap
		if v.elbo {
			q = experiment.QuantityELBO
			if e := h.Evaluation; e != nil {
				if l := e.Leader(); l != nil && l.ID != id {
					line := traced(h.Series(h.Index(l.ID), q), v.axis)
					line.Style, line.Label, line.Dash = t.faint, "leader", 1
					ch.Lines = append(ch.Lines, line)
				}
			}
		} else {
			ch.Y.Include = []float64{0}
			for _, other := range v.b.leaders() {
				if other != id {
					line := traced(h.Series(h.Index(other), q), v.axis)
					line.Style = t.border
					ch.Lines = append(ch.Lines, line)
				}
			}
		}
		line := traced(h.Series(at, q), v.axis)
		line.Style, line.Priority, line.Label = t.series(v.b.palette.Of(id)), 1, "this"
		line.Focus = true
		ch.Lines = append(ch.Lines, line)
		ch.LabelEnds = v.elbo && len(ch.Lines) > 1
	}
	ch.Y.Robust = true
	ch.Y.Title = "nats"
	ch.X.Format = func(x, _ float64) string { return h.Label(v.axis, x) }
	if v.axis == experiment.AxisData {
		ch.X.Include = []float64{0, 1}
	}
	for _, m := range h.Marks() {
		ch.Markers = append(ch.Markers, plot.Marker{X: m.On(v.axis), Text: m.Text, Style: t.faint})
	}
	ch.Draw(c, r)
}

// asked draws why there is no answer yet, in the place of a chart; false if
// there is one.
func (v *kernelView) asked(c *plot.Canvas, r plot.Rect, t *theme, a *answer, have bool) bool {
	if have {
		return false
	}
	text, bad := v.b.answerNote(a, v.subject())
	if v.broken() {
		text, bad = "the kernel has failed", false
	}
	style := t.faint
	if bad {
		style = t.bad
	}
	drawEmpty(c, r, text, style)
	return true
}

// mostTicks is how many time labels fit on an axis.
func mostTicks(w int) int { return max(1, (w-6)/8) }

func (v *kernelView) drawCovariance(c *plot.Canvas, r plot.Rect, t *theme, id string) {
	cov, ok := known[*experiment.CovarianceCurve](&v.covariance, v.subject())
	if v.asked(c, r, t, &v.covariance, ok) || len(cov.Lag) == 0 {
		return
	}
	ch := v.chart(t)
	style := t.series(v.b.palette.Of(id))
	ch.Lines = []plot.Line{{Style: style, X: cov.Lag, Y: cov.Value}}
	ch.Y.Include = []float64{0}
	in := &v.b.hist.Start.Inputs()[v.column]
	ch.X.Title, ch.X.Unit = "lag", in.Unit
	if _, unit, ok := experiment.TimeScale(in); ok {
		ch.X.Labels = lagTicks(unit, cov.Lag[0], cov.Lag[len(cov.Lag)-1], mostTicks(r.W))
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
	in := &s.Inputs()[column]
	x.Title, x.Unit = in.Name, in.Unit
	if origin, unit, ok := experiment.TimeScale(in); ok {
		if ticks := dateTicks(origin, unit, lo, hi, mostTicks(w)); len(ticks) > 1 {
			x.Labels, x.Unit = ticks, ""
			x.Format = func(v, _ float64) string { return dateText(instant(origin, unit, v), hi-lo, unit) }
		}
	}
}

// swatch is a style for the i-th of some lines that are no kernels.
func (t *theme) swatch(i int) plot.Style {
	all := experiment.Swatches()
	return t.series(all[i%len(all)])
}

// dashOf tells lines apart where there are no colours.
func dashOf(i int) int {
	all := experiment.Swatches()
	return all[i%len(all)].Dash
}

func (v *kernelView) drawDraws(c *plot.Canvas, r plot.Rect, t *theme) {
	d, ok := known[*experiment.PriorDraws](&v.draws, v.subject())
	if v.asked(c, r, t, &v.draws, ok) || len(d.X) == 0 {
		return
	}
	ch := v.chart(t)
	for i, f := range d.Draws {
		ch.Lines = append(ch.Lines, plot.Line{Style: t.swatch(i), Dash: dashOf(i), Priority: -i, X: d.X, Y: f})
	}
	v.b.along(&ch.X, v.column, d.X[0], d.X[len(d.X)-1], r.W)
	ch.Draw(c, r)
}

func (v *kernelView) drawComponents(c *plot.Canvas, r plot.Rect, t *theme) {
	all, ok := known[[]experiment.ComponentCurve](&v.components, v.subject())
	if v.asked(c, r, t, &v.components, ok) {
		return
	}
	var parts []experiment.ComponentCurve
	level := ""
	for _, p := range all {
		if p.ID == "" && len(p.Mean) > 0 {
			level = fmt.Sprintf("and the %s, %s", p.Name, digits5(p.Mean[0]))
		} else if len(p.X) > 0 {
			parts = append(parts, p)
		}
	}
	if level != "" && r.H > 6 {
		c.TextFit(r.X, r.Y+r.H-1, r.W, level, t.faint)
		r.H--
	}
	if len(parts) == 0 {
		return
	}
	const least = 5 // rows of a chart of its own
	if len(parts) > 1 && r.H < least*len(parts) {
		ch := v.chart(t)
		ch.LabelEnds = true
		for i, p := range parts {
			ch.Lines = append(ch.Lines, plot.Line{Name: p.Name, Label: p.Name, Style: t.swatch(i), Dash: dashOf(i), X: p.X, Y: p.Mean})
		}
		v.b.along(&ch.X, v.column, parts[0].X[0], parts[0].X[len(parts[0].X)-1], r.W)
		ch.Draw(c, r)
		return
	}
	band, _ := t.bandStyles()
	for i, p := range parts {
		from, to := r.H*i/len(parts), r.H*(i+1)/len(parts)
		area := plot.Rect{X: r.X, Y: r.Y + from, W: r.W, H: to - from}
		if len(parts) > 1 {
			c.TextFit(area.X, area.Y, area.W, p.Name, t.swatch(i).With(plot.Bold))
			area.Y, area.H = area.Y+1, area.H-1
		}
		ch := v.chart(t)
		ch.Bands = []plot.Band{{Style: band, X: p.X, Lo: p.Lower, Hi: p.Upper}}
		ch.Lines = []plot.Line{{Style: t.swatch(i), X: p.X, Y: p.Mean}}
		v.b.along(&ch.X, v.column, p.X[0], p.X[len(p.X)-1], r.W)
		if i < len(parts)-1 {
			ch.X.Hide = true // the last one's serves all
		}
		ch.Draw(c, area)
	}
}
