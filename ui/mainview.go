package ui

import (
	"fmt"
	"math"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"example.com/kestrel/experiment/history"
	"example.com/kestrel/experiment/words"
	"example.com/kestrel/ui/draw"
	"example.com/kestrel/ui/input"
	"example.com/kestrel/ui/plot"
	"example.com/kestrel/ui/theme"
)

// pane is a part of the main view.
type pane int

const (
	posteriorPane pane = iota
	tablePane
	metricPane
	cardPane
	panes
)

// mainView shows the belief over kernels, the error, the ranked kernels and the
// chosen one.
type mainView struct {
	b     *bench
	table table
	focus pane
	big   bool // the focused pane alone
	share int  // of the width for charts, percent

	belief  tracer
	metric  tracer
	cursor  int // point of the history, −1: none
	areas   [panes]plot.Rect
	version int // of the history that the table was built from
	tableAt int
}

func newMainView(b *bench) *mainView {
	v := &mainView{b: b, share: 58, cursor: -1, version: -1}
	v.belief.quantity = history.QuantityPosterior
	v.metric.quantity = history.QuantityRMSE
	v.metric.axis = history.AxisSeconds
	return v
}

func (v *mainView) name() string     { return "bench" }
func (v *mainView) refresh() tea.Cmd { return v.b.askData() }

// current returns the chart that keys are for.
func (v *mainView) current() *tracer {
	if v.focus == metricPane {
		return &v.metric
	}
	return &v.belief
}

func (v *mainView) do(f func()) func() tea.Cmd {
	return func() tea.Cmd { f(); return nil }
}

func (v *mainView) groups() []input.Group {
	t := &v.table
	if t.typing != nil {
		return []input.Group{{Name: "filter", All: []input.Binding{
			{Keys: []string{"enter"}, Label: "enter", Short: "keep", About: "keep the filter", Do: v.do(func() { t.typing = nil })},
			{Keys: []string{"esc"}, Label: "esc", Short: "all kernels",
				About: "drop the filter", Do: v.do(func() { t.typing, t.filter = nil, ""; v.version = -1 })},
		}}}
	}
	chart := v.focus == posteriorPane || v.focus == metricPane
	c := v.current()
	unzoomed := func() bool { return !c.zoomed() }
	return []input.Group{
		{Name: "workbench", All: []input.Binding{
			{Keys: []string{"tab"}, Label: "tab", Short: "focus",
				About: "next part of the screen; shift+tab the one before", Do: v.do(func() { v.focus = (v.focus + 1) % panes })},
			{Keys: []string{"shift+tab"}, Do: v.do(func() { v.focus = (v.focus + panes - 1) % panes })},
			{Keys: []string{"z"}, Label: "z", About: "this part alone, or all", Do: v.do(func() { v.big = !v.big })},
			{Keys: []string{"[", "]"}, Label: "[ ]", About: "less or more width for the charts", Off: true},
			{Keys: []string{"["}, Do: v.do(func() { v.share = max(30, v.share-4) })},
			{Keys: []string{"]"}, Do: v.do(func() { v.share = min(80, v.share+4) })},
			{Keys: []string{"up", "k"}, Label: "↑ ↓", About: "choose a kernel, also j k, pgup pgdown, home end", Do: v.do(func() { t.move(-1) })},
			{Keys: []string{"down", "j"}, Do: v.do(func() { t.move(1) })},
			{Keys: []string{"pgup"}, Do: v.do(func() { t.move(-t.page) })},
			{Keys: []string{"pgdown"}, Do: v.do(func() { t.move(t.page) })},
			{Keys: []string{"home"}, Do: v.do(func() { t.move(-len(t.rows)) })},
			{Keys: []string{"end"}, Do: v.do(func() { t.move(len(t.rows)) })},
			{Keys: []string{"enter"}, Label: "enter", About: "the chosen kernel in detail", Do: v.do(func() { v.b.at = 1 })},
			{Keys: []string{"/"}, Label: "/", Short: "filter",
				About: "filter kernels by a part of their name", Do: v.do(func() { f := input.NewField(t.filter, "part of a name"); t.typing = &f })},
			{Keys: []string{"esc"}, Label: "esc",
				About: "drop crosshair, zoom and filter, one after the other",
				Off:   v.cursor < 0 && !c.zoomed() && t.filter == "" && !v.big, Do: v.do(v.release)},
			{Keys: []string{"o"}, Label: "o",
				About: "sort by the next column; O the other way round", Do: v.do(func() { t.nextColumn(); v.version = -1 })},
			{Keys: []string{"O"}, Do: v.do(func() { t.down = !t.down; v.version = -1 })},
		}},
		{Name: "charts", All: []input.Binding{
			{Keys: []string{"left", "h"}, Label: "← →",
				About: "crosshair: the values of an earlier evaluation, in the table too", Do: v.do(func() { v.step(-1) })},
			{Keys: []string{"right", "l"}, Do: v.do(func() { v.step(1) })},
			{Keys: []string{"+", "="}, Label: "+ −", About: "zoom in or out; 0 shows all", Do: v.do(func() { v.zoom(c, 0.5, math.NaN()) })},
			{Keys: []string{"-"}, Do: v.do(func() { v.zoom(c, 2, math.NaN()) })},
			{Keys: []string{"0"}, Do: v.do(func() { c.lo, c.hi, c.hold = 0, 0, false })},
			{Keys: []string{"shift+left", "H"}, Label: "H J", About: "move the zoomed part", Off: unzoomed(), Do: v.do(func() { v.pan(c, -0.25) })},
			{Keys: []string{"shift+right", "J"}, Off: unzoomed(), Do: v.do(func() { v.pan(c, 0.25) })},
			{Keys: []string{"f"}, Label: "f", About: "follow new points, or hold", Off: unzoomed(), Do: v.do(func() { c.hold = !c.hold })},
			{Keys: []string{"y"}, Label: "y", About: "logarithmic or linear axis", Do: v.do(func() { c.log = !c.log })},
			{Keys: []string{"x"}, Label: "x",
				About: "against data, time or evaluations", Do: v.do(func() { c.axis = (c.axis + 1) % 3; c.lo, c.hi = 0, 0 })},
			{Keys: []string{"c"}, Label: "c",
				About: "what is drawn: q*, Bayes, gap, local ELBO; RMSE, MAE, NLPD, coverage", Off: !chart, Do: v.do(func() { v.nextQuantity(c) })},
		}},
	}
}

// release undoes what was set last on the screen.
func (v *mainView) release() {
	c := v.current()
	switch {
	case v.cursor >= 0:
		v.cursor = -1
	case c.zoomed():
		c.lo, c.hi, c.hold = 0, 0, false
	case v.table.filter != "":
		v.table.filter, v.version = "", -1
	default:
		v.big = false
	}
}

func (v *mainView) nextQuantity(c *tracer) {
	order := []history.Quantity{history.QuantityPosterior, history.QuantityBayes, history.QuantityGap, history.QuantityELBO}
	if c == &v.metric {
		order = []history.Quantity{history.QuantityRMSE, history.QuantityMAE, history.QuantityNLPD, history.QuantityCoverage}
	}
	c.quantity = order[(slices.Index(order, c.quantity)+1)%len(order)]
}

// step moves the crosshair.
func (v *mainView) step(by int) {
	n := len(v.b.hist.Moments())
	if n == 0 {
		return
	}
	if v.cursor < 0 {
		v.cursor = n - 1
		if by > 0 {
			v.cursor = 0
		}
		return
	}
	v.cursor = max(0, min(n-1, v.cursor+by))
}

// extent returns the limits of all there is.
func (v *mainView) extent(t *tracer) (lo, hi float64) {
	if ms := v.b.hist.Moments(); len(ms) > 0 {
		hi = ms[len(ms)-1].On(t.axis)
	}
	if t == &v.metric { // what is measured is measured a moment later
		for m := range v.b.hist.Methods() {
			if s := v.b.hist.MethodSeries(m, t.quantity); s.Len() > 0 {
				hi = max(hi, s.X(s.Len()-1, t.axis))
			}
		}
	}
	switch t.axis {
	case history.AxisData:
		hi = max(hi, 1)
	case history.AxisSeconds: // a run is paused after its last evaluation
		if marks := v.b.hist.MarksOn(t.axis); len(marks) > 0 {
			hi = max(hi, marks[len(marks)-1].X)
		}
	}
	return 0, max(hi, 1e-9)
}

func (v *mainView) zoom(t *tracer, factor, at float64) {
	lo, hi := v.extent(t)
	from, to := lo, hi
	if t.zoomed() {
		from, to = t.lo, t.hi
	}
	if math.IsNaN(at) {
		at = to
		if v.cursor >= 0 && v.cursor < len(v.b.hist.Moments()) {
			at = v.b.hist.Moments()[v.cursor].On(t.axis)
		}
	}
	t.lo, t.hi = plot.ZoomRange(from, to, at, factor, lo, hi)
	if t.lo <= lo && t.hi >= hi {
		t.lo, t.hi, t.hold = 0, 0, false
	}
}

func (v *mainView) pan(t *tracer, part float64) {
	lo, hi := v.extent(t)
	t.lo, t.hi = plot.Pan(t.lo, t.hi, part, lo, hi)
	t.hold = true
}

// typing implements typist.
func (v *mainView) typing() bool { return v.table.typing != nil }

// typed takes a key or pasted text for the filter.
func (v *mainView) typed(msg tea.Msg) {
	v.table.typing.Update(msg)
	v.table.filter = v.table.typing.Value()
	v.version = -1
}

func (v *mainView) mouse(msg tea.MouseMsg) tea.Cmd {
	m := msg.Mouse()
	over := pane(-1)
	for p, r := range v.areas {
		if r.Contains(m.X, m.Y) {
			over = pane(p)
		}
	}
	if over < 0 {
		return nil
	}
	chart := &v.belief
	if over == metricPane {
		chart = &v.metric
	}
	onChart := (over == posteriorPane || over == metricPane) && chart.layout.Plot.Contains(m.X, m.Y)
	switch msg.(type) {
	case tea.MouseWheelMsg:
		switch {
		case onChart:
			factor := 0.8
			if m.Button == tea.MouseWheelDown {
				factor = 1.25
			}
			v.zoom(chart, factor, chart.layout.XAt(m.X))
		case m.Button == tea.MouseWheelDown:
			v.table.move(3)
		case m.Button == tea.MouseWheelUp:
			v.table.move(-3)
		}
	case tea.MouseClickMsg, tea.MouseMotionMsg:
		if _, click := msg.(tea.MouseClickMsg); click {
			v.focus = over
		}
		switch {
		case onChart:
			v.cursor = v.nearest(chart.axis, chart.layout.XAt(m.X))
		case over == tablePane:
			v.clickTable(m)
		}
	}
	return nil
}

// clickTable chooses a row, or a column to sort by.
func (v *mainView) clickTable(m tea.Mouse) {
	t := &v.table
	if t.header.Contains(m.X, m.Y) {
		for col, e := range t.edges {
			if m.X >= e[0] && m.X < e[1] {
				t.sortBy(column(col))
				v.version = -1
			}
		}
		return
	}
	if i := t.top + m.Y - t.area.Y; t.area.Contains(m.X, m.Y) && i < len(t.rows) {
		if t.rows[i].id == t.cursor && m.Button == tea.MouseRight {
			v.b.at = 1
		}
		t.choose(t.rows[i].id)
	}
}

// nearest returns the point of the history nearest to x.
func (v *mainView) nearest(axis history.Axis, x float64) int {
	best, at := math.Inf(1), -1
	for i := range v.b.hist.Moments() {
		if d := math.Abs(v.b.hist.Moments()[i].On(axis) - x); d < best {
			best, at = d, i
		}
	}
	return at
}

func (v *mainView) draw(c *plot.Canvas, r plot.Rect, t *theme.Theme) {
	if v.cursor >= len(v.b.hist.Moments()) {
		v.cursor = -1
	}
	if v.version != v.b.version || v.tableAt != v.cursor {
		v.table.build(v.b, v.cursor)
		v.version, v.tableAt = v.b.version, v.cursor
	}
	if !v.big {
		r = v.b.drawFound(c, r, t)
	}
	v.areas = v.arrange(r)
	for p, area := range v.areas {
		if area.Empty() {
			continue
		}
		focused := v.focus == pane(p)
		title, right := v.titles(pane(p))
		in := draw.Panel(c, area, t, title, right, focused)
		undo := c.Clip(in)
		early := v.b.early() && v.b.steered() != nil
		switch pane(p) {
		case posteriorPane:
			if early && v.b.first.points != nil {
				v.b.drawData(c, in, t)
				break
			}
			v.drawChart(c, in, t)
		case tablePane:
			v.table.draw(c, in, v.b, t, focused)
		case metricPane:
			if early {
				v.b.drawStages(c, in, t)
				break
			}
			v.drawMetric(c, in, t)
		case cardPane:
			v.drawCard(c, in, t)
		}
		undo()
	}
}

// mostTable is how wide the table of kernels gets: as all that it can say takes.
const mostTable = 92

// arrange divides the screen: four parts where there is room, else the chart
// and the table, else the focused part alone.
func (v *mainView) arrange(r plot.Rect) (a [panes]plot.Rect) {
	switch {
	case v.big || r.W < 60 || r.H < 9:
		a[v.focus] = r
		return a
	}
	left := r.W * v.share / 100
	right := r.W - left
	if right > mostTable {
		left, right = r.W-mostTable, mostTable
	}
	low := max(7, r.H*2/5) // with less the chart has no axes
	if r.H < 17 {          // 80x24 below four lines of what was found
		low = 0
		if v.focus == metricPane || v.focus == cardPane { // in the place of the one above
			a[v.focus] = plot.Rect{X: r.X, Y: r.Y, W: left, H: r.H}
			a[v.focus^2] = plot.Rect{}
			if v.focus == cardPane {
				a[cardPane] = plot.Rect{X: r.X + left, Y: r.Y, W: right, H: r.H}
				a[posteriorPane] = plot.Rect{X: r.X, Y: r.Y, W: left, H: r.H}
			} else {
				a[tablePane] = plot.Rect{X: r.X + left, Y: r.Y, W: right, H: r.H}
			}
			return a
		}
	}
	up := r.H - low
	card := low
	if low > 0 {
		card = min(low, max(6, v.cardLines()+2))
	}
	a[posteriorPane] = plot.Rect{X: r.X, Y: r.Y, W: left, H: up}
	a[tablePane] = plot.Rect{X: r.X + left, Y: r.Y, W: right, H: r.H - card}
	a[metricPane] = plot.Rect{X: r.X, Y: r.Y + up, W: left, H: low}
	a[cardPane] = plot.Rect{X: r.X + left, Y: r.Y + r.H - card, W: right, H: card}
	return a
}

// quantityNames are the titles of charts.
var quantityNames = map[history.Quantity]string{
	history.QuantityPosterior: "Kernel posterior q*", history.QuantityBayes: "Bayes posterior",
	history.QuantityELBO: "Local ELBO", history.QuantityGap: "Gap to the leader", history.QuantityRMSE: "RMSE",
	history.QuantityMAE: "MAE", history.QuantityNLPD: "NLPD", history.QuantityCoverage: "Coverage of 95 %",
}

var axisNames = map[history.Axis]string{
	history.AxisData: "data", history.AxisSeconds: "time", history.AxisEvaluation: "evaluation",
}

func (v *mainView) titles(p pane) (title, right string) {
	h := &v.b.hist
	tags := func(t *tracer) string {
		s := "vs " + axisNames[t.axis]
		if t.log {
			s += " · log"
		}
		if t.zoomed() {
			if t.hold {
				s += " · held"
			} else {
				s += " · zoomed"
			}
		}
		return s
	}
	early := v.b.early() && v.b.steered() != nil
	switch p {
	case posteriorPane:
		if early && v.b.first.points != nil {
			return v.b.dataTitle(), ""
		}
		title = quantityNames[v.belief.quantity]
		if l := &h.Lead; l.Kernel != "" && v.areas[posteriorPane].W >= 68 {
			title += fmt.Sprintf(" · same leader since %.3g %%", 100*l.Since)
			if l.Changes > 0 {
				title += ", " + words.Count(l.Changes, "change")
			}
		}
		return title, tags(&v.belief)
	case metricPane:
		if early {
			return "First evaluation", ""
		}
		title = quantityNames[v.metric.quantity] + " on held-out rows"
		if h.Start != nil && h.Start.NotScored() != "" {
			title = quantityNames[v.metric.quantity] + " in gaps between rows"
		}
		return title, tags(&v.metric)
	case tablePane:
		title = "Kernels"
		if v.cursor >= 0 {
			m := h.Moments()[v.cursor]
			title = fmt.Sprintf("Kernels at evaluation %d, %.0f %%", m.Index, 100*m.Proportion)
			if m.Merged == 0 {
				title = fmt.Sprintf("Kernels at evaluation %d, then changed", m.Index)
			}
			if v.areas[tablePane].W < 50 { // what is live must be seen, too
				title, _, _ = strings.Cut(strings.Replace(title, "Kernels at", "At", 1), ",")
			}
		}
		k := &v.table
		right = fmt.Sprintf("%d live", k.live)
		if n := len(v.b.waiting); n > 0 && v.cursor < 0 {
			right += fmt.Sprintf(" · %d restored", n)
		}
		if k.tied > 1 {
			right += fmt.Sprintf(" · %d equal", k.tied)
		}
		if k.failed > 0 {
			right += fmt.Sprintf(" · %d failed", k.failed)
		}
		if e := h.Evaluation; e != nil && e.Front != nil && v.cursor < 0 { // as much as there is room for
			right = whole(v.areas[tablePane].W-7-plot.TextWidth(title), append([]string{right}, frontTexts(e.Front)...)...)
		}
		if v.table.filter != "" {
			right = fmt.Sprintf("%d match %s", len(v.table.rows), v.table.filter)
		}
		return title, right
	}
	if k, ok := v.table.current(); ok {
		if v.cursor >= 0 && h.Evaluation != nil {
			return k.name, fmt.Sprintf("as of the last evaluation, %d", h.Evaluation.Index)
		}
		return k.name, "enter: detail"
	}
	return "Kernel", ""
}
