package ui

import (
	"context"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"example.com/kestrel/experiment/finding"
	"example.com/kestrel/experiment/history"
	"example.com/kestrel/experiment/inspect"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/words"
	"example.com/kestrel/ui/draw"
	"example.com/kestrel/ui/input"
	"example.com/kestrel/ui/plot"
	"example.com/kestrel/ui/theme"
	"example.com/kestrel/vbks"
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
	componentPoints  = 400
)

// kernelView shows one kernel: its hyperparameters, how it did, and what it
// believes about functions.
type kernelView struct {
	b      *bench
	focus  kernelPanel
	large  kernelPanel // the chart shown where there is room for one only
	alone  bool        // one chart even where there is room for all
	elbo   bool        // local ELBO, not its gap
	axis   history.Axis
	column int
	picked bool // the column, by the user; else it is one that the kernel names
	whole  bool // covariance and draws over all of the data, however many periods
	scroll int  // of the hyperparameters, or of the reason of a failure
	last   int  // lines that could be scrolled

	covariance, draws, components answer

	areas  [kernelPanels]plot.Rect
	raster plot.Raster
}

func newKernelView(b *bench) *kernelView { return &kernelView{b: b, large: tracePanel} }

func (v *kernelView) name() string { return "kernel" }

func (v *kernelView) groups() []input.Group {
	do := func(f func()) func() tea.Cmd {
		return func() tea.Cmd { f(); return nil }
	}
	return []input.Group{{Name: "kernel", All: []input.Binding{
		{Keys: []string{"down", "j"}, Label: "↑ ↓", Short: "kernel",
			About: "next or previous kernel by rank, also j k", Do: do(func() { v.step(1) })},
		{Keys: []string{"up", "k"}, Do: do(func() { v.step(-1) })},
		{Keys: []string{"home"}, Label: "home", About: "the leader", Do: do(func() { v.step(-1 << 30) })},
		{Keys: []string{"tab"}, Label: "tab", Short: "part",
			About: "next part: hyperparameters, trace, covariance, prior draws, components; shift+tab the one before", Do: do(func() { v.turn(1) })},
		{Keys: []string{"shift+tab"}, Do: do(func() { v.turn(-1) })},
		{Keys: []string{"enter", "z"}, Label: "enter", About: "one chart, or all where there is room", Do: do(func() { v.alone = !v.alone })},
		{Keys: []string{"t"}, Label: "t", Short: "gap or ELBO",
			About: "trace of the ELBO gap to the leader, or of the local ELBO", Do: do(func() { v.elbo = !v.elbo })},
		{Keys: []string{"x"}, Label: "x", About: "trace against data, time or evaluations", Do: do(func() { v.axis = (v.axis + 1) % 3 })},
		{Keys: []string{"c"}, Label: "c", Short: "column",
			About: "the input column of covariance, draws and components",
			Off:   v.columns() < 2, Do: do(func() { v.column, v.picked = cycle(v.column, v.columns()), true })},
		{Keys: []string{"w"}, Label: "w", About: "covariance and draws over all of the data, or over a few of the shortest period",
			Do: do(func() { v.whole = !v.whole })},
		{Keys: []string{"pgdown"}, Label: "pgdown",
			About: "scroll the hyperparameters and what they mean in words; pgup back", Do: do(func() { v.scroll = min(v.scroll+5, v.last) })},
		{Keys: []string{"pgup"}, Do: do(func() { v.scroll = max(v.scroll-5, 0) })},
	}}}
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
		if v.b.hist.Family.Text(v.b.chosen()) != "" && r.H >= 12 {
			header.H++
		}
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
		up := min(max(6, v.paramLines(rest.W-2)+2), rest.H-10)
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
	v.place(id)
	column, whole := v.column, v.whole
	_, areas := v.arrange(plot.Rect{W: v.b.app.w, H: v.b.app.h - 3})
	topic := v.topic()
	var qs []inquiry
	ask := func(p kernelPanel, to *answer, f func(context.Context, inspector) (any, error)) {
		if !areas[p].Empty() {
			qs = append(qs, inquiry{to: to, topic: topic, f: f})
		}
	}
	ask(covariancePanel, &v.covariance, func(_ context.Context, i inspector) (any, error) {
		return i.Covariance(id, column, covariancePoints, whole)
	})
	ask(priorPanel, &v.draws, func(_ context.Context, i inspector) (any, error) {
		return i.PriorDraws(id, column, priorPoints, priorDraws, whole)
	})
	ask(componentPanel, &v.components, func(ctx context.Context, i inspector) (any, error) {
		return i.Components(ctx, id, inspect.FitQuery{Column: column, Points: componentPoints, Steps: true})
	})
	return v.b.inquire(qs...)
}

// place chooses the column of the charts.
func (v *kernelView) place(id string) {
	if !v.picked {
		v.column = v.b.columnOf(id)
	}
	v.column = max(0, min(v.column, v.columns()-1))
}

// topic names what the charts are about.
func (v *kernelView) topic() string { return fmt.Sprint(v.column, " ", v.whole, " ", v.b.chosen()) }

// periods says how much of the range of the data is shown, before what, "" for all.
func (v *kernelView) periods(period float64) string {
	if period == 0 {
		return ""
	}
	in := &v.b.hist.Start.Inputs()[v.column]
	return fmt.Sprintf("%d periods of %s: ", inspect.ShownPeriods, v.b.lengthText(&record.ParamInfo{Column: in.Name, Unit: in.Unit}, period))
}

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

func (v *kernelView) draw(c *plot.Canvas, r plot.Rect, t *theme.Theme) {
	defer c.Clip(r)()
	id := v.b.chosen()
	if id == "" {
		draw.Empty(c, r, "the run has not told its kernels yet", t.Faint)
		return
	}
	v.place(id)
	var header plot.Rect
	header, v.areas = v.arrange(r)
	v.drawHeader(c, header, t, id)
	for p := range kernelPanels {
		area := v.areas[p]
		if area.Empty() {
			continue
		}
		title, right := v.title(p)
		in := draw.Panel(c, area, t, title, right, v.focus == p)
		undo := c.Clip(in)
		switch p {
		case paramPanel:
			v.drawParams(c, in, t, id)
			undo()
			draw.ScrollMarks(c, area, t, v.scroll, v.last-v.scroll)
			continue
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
func (v *kernelView) drawHeader(c *plot.Canvas, r plot.Rect, t *theme.Theme, id string) {
	k := v.b.kernelNow(id)
	x, end := r.X+1, r.X+r.W-1
	place := v.standing(id)
	name := v.b.kernelName(id)
	x = c.TextFit(x, r.Y, max(8, end-x-plot.TextWidth(place)-2), name, t.Series(v.b.palette.Of(id)).With(plot.Bold))
	x = c.TextFit(x+2, r.Y, end-x-2, place, t.Faint)
	if s := v.b.hist.Start; s != nil && k != nil {
		words := finding.Shape(s, k)
		if words != "" && finding.NotFound(&v.b.hist.Standing) != "" {
			words = "only chance, in which it sees " + words
		}
		if words != "" && plot.TextWidth(words)+3 <= end-x {
			c.Text(x, r.Y, " · "+words, t.Faint)
		}
	}
	if r.H < 2 {
		return
	}
	x, y := r.X+1, r.Y+1
	if r.H > 2 { // the way on which it has come
		c.TextFit(x, y+1, end-x, "grown from "+v.b.hist.Family.Text(id), t.Faint)
	}
	switch {
	case k == nil:
		c.TextFit(x, y, end-x, "no evaluation yet", t.Faint)
	case k.Fit == nil:
		text := string(k.Status)
		if h := v.b.hist.Index(id); h >= 0 {
			text += fmt.Sprintf(" since evaluation %d", v.b.hist.Kernel(h).Since)
		}
		if k.Reason != "" {
			text += ": " + k.Reason
		}
		c.TextFit(x, y, end-x, text, map[bool]plot.Style{true: t.Bad, false: t.Warn}[k.Status == vbks.Failed])
	default:
		for i, part := range v.numbers(k) {
			if x+plot.TextWidth(part[0])+1+plot.TextWidth(part[1]) > end && i > 0 {
				break
			}
			x = c.TextFit(x, y, end-x, part[0]+" ", t.Faint)
			x = c.TextFit(x, y, end-x, part[1], t.Text) + 3
		}
	}
}

// standing says which of how many kernels it is.
func (v *kernelView) standing(id string) string {
	k := v.b.kernelNow(id)
	if k == nil {
		return ""
	}
	if k.Fit == nil {
		return string(k.Status)
	}
	text := fmt.Sprintf("#%d of %d", k.Fit.Rank, len(ranked(v.b.hist.Evaluation)))
	leader := k.Fit
	if l := v.b.hist.Evaluation.Leader(); l != nil {
		leader = l.Fit
	}
	switch k.Fit.Mark(leader) {
	case record.MarkEqual:
		text += ", equal to the leader within its error"
	case record.MarkClose:
		text += ", within a nat of the leader, though told apart from it at these hyperparameters"
	case record.MarkApart:
		if text += ", told apart from the leader"; k.Fit.Windows == nil {
			text += " at these hyperparameters"
		}
	}
	if flags := k.Fit.FlagText(); flags != "" {
		text += " · ! " + flags
	}
	return text
}

// numbers are the figures of a live kernel, the most important first.
func (v *kernelView) numbers(k *record.Kernel) [][2]string {
	f := k.Fit
	out := [][2]string{{"q*", number(float64(f.Posterior))}, {"Bayes", number(float64(f.Bayes))}}
	if l := v.b.hist.Evaluation.Leader(); l != nil {
		out = append(out, [2]string{"gap", gapText(f.Gap(l.Fit), float64(f.SE)) + " nats"})
	}
	if f.Windows != nil {
		out = append(out, [2]string{"evidence by windows", nats(f.Windows.Nats)})
	}
	out = append(out, [2]string{"local ELBO", nats(f.ELBO)})
	if slack, ok := f.Slack(); ok {
		text := words.Nats(slack)
		if !f.Usefully(v.b.hist.Evaluation.RowsSeen) {
			text += ", " + record.NotBounded
		}
		out = append(out, [2]string{"slack", text})
	}
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
	case "shaken":
		return "its last solution, shaken"
	case "varied":
		return "its solution, varied"
	case "rougher":
		return "its solution, made rougher"
	case "wrapped":
		return "a period as long as the data"
	case "folded":
		return "details that repeat"
	case "scanned":
		return "a period of few cycles"
	case "sifted":
		return "a period wanted at a leaf's place"
	case "paired":
		return "two periods in the place of one"
	case "left":
		return "a period left in the data"
	case "returned":
		return "a column that seemed of no use"
	case "recombined":
		return "leaves of the best kernels"
	case "tuned":
		return "tuning on all inducing inputs"
	}
	return "the solution of " + source
}

func (v *kernelView) title(p kernelPanel) (title, right string) {
	note := func(a *answer) string { s, _ := v.b.answerNote(a, v.topic()); return s }
	column := ""
	if s := v.b.hist.Start; s != nil {
		column = s.Target().OfModelled()
	}
	if v.columns() > 1 {
		column += " along " + v.b.hist.Start.Inputs()[v.column].Name
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
		title = "Covariance"
		if c, ok := known[*inspect.CovarianceCurve](&v.covariance, v.topic()); ok {
			in := &v.b.hist.Start.Inputs()[v.column]
			switch {
			case len(in.Levels) > 0:
				title = "Covariance with " + levelText(record.LevelAt(in, c.About))
			case !c.Stationary:
				title = "Covariance with the middle"
			}
			if text := v.periods(c.Period); text != "" {
				title = text + strings.ToLower(title)
			}
		}
		return title + column, note(&v.covariance)
	case priorPanel:
		title = "Draws from the prior"
		if d, ok := known[*inspect.PriorDraws](&v.draws, v.topic()); ok {
			if text := v.periods(d.Period); text != "" {
				title = text + strings.ToLower(title)
			}
		}
		return title + column, note(&v.draws)
	}
	return "Components of the fit" + column, note(&v.components)
}

// cycle is the next of some choices.
func cycle(at, n int) int {
	if n < 1 {
		return 0
	}
	return (at + 1) % n
}
