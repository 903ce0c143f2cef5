package ui

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/words"
	"example.com/kestrel/kernelspace/grow"
	"example.com/kestrel/ui/draw"
	"example.com/kestrel/ui/input"
	"example.com/kestrel/ui/note"
	"example.com/kestrel/ui/plot"
	"example.com/kestrel/ui/theme"
	"example.com/kestrel/vbks"
)

// growthView shows how a space grows: the family tree of a kernel, with what else was tried on the way, and the front.
type growthView struct {
	b      *bench
	chosen bool   // the tree of the kernel chosen on the bench, not of the leader
	whole  bool   // all that was tried, not only the best that there is room for
	cursor string // kernel; "": the one that the tree is of
	top    int    // first row shown
	page   int    // rows shown

	tree []record.Generation
	of   string // kernel of the tree
	at   int    // version of the history that it was made of
	rows []growthRow
	area plot.Rect // of the rows
}

// growthRow is a line of the tree.
type growthRow struct {
	record.Relative
	trunk bool // on the way
	last  bool // no branch follows
	tried int  // neighbours of one on the way that were tried
}

func newGrowthView(b *bench) *growthView { return &growthView{b: b, at: -1} }

func (v *growthView) name() string     { return "growth" }
func (v *growthView) refresh() tea.Cmd { return nil }

func (v *growthView) groups() []input.Group {
	do := func(f func()) func() tea.Cmd {
		return func() tea.Cmd { f(); return nil }
	}
	return []input.Group{{Name: "growth", All: []input.Binding{
		{Keys: []string{"t"}, Label: "t", Short: "leader or chosen",
			About: "the tree of the leader, or of the kernel chosen on the bench", Do: do(func() { v.chosen, v.cursor = !v.chosen, "" })},
		{Keys: []string{"a"}, Label: "a", Short: "all tried",
			About: "all neighbours that were tried, or the best few of each generation", Do: do(func() { v.whole = !v.whole })},
		{Keys: []string{"up", "k"}, Label: "↑ ↓", About: "go through the tree, also j k, pgup pgdown, home end", Do: do(func() { v.move(-1) })},
		{Keys: []string{"down", "j"}, Do: do(func() { v.move(1) })},
		{Keys: []string{"pgup"}, Do: do(func() { v.move(-max(1, v.page-1)) })},
		{Keys: []string{"pgdown"}, Do: do(func() { v.move(max(1, v.page-1)) })},
		{Keys: []string{"home"}, Do: do(func() { v.move(-len(v.rows)) })},
		{Keys: []string{"end"}, Do: do(func() { v.move(len(v.rows)) })},
		{Keys: []string{"enter"}, Label: "enter", About: "the kernel in detail, if it has not left", Off: len(v.rows) == 0, Do: v.open},
	}}}
}

// place is the row of the cursor, that of the tree's kernel where its kernel is not shown.
func (v *growthView) place() int {
	for _, id := range []string{v.cursor, v.of} {
		if i := slices.IndexFunc(v.rows, func(r growthRow) bool { return r.ID == id }); i >= 0 {
			return i
		}
	}
	return 0
}

func (v *growthView) move(by int) {
	if len(v.rows) > 0 {
		v.cursor = v.rows[max(0, min(len(v.rows)-1, v.place()+by))].ID
	}
}

func (v *growthView) open() tea.Cmd {
	if len(v.rows) == 0 {
		return nil
	}
	r := &v.rows[v.place()]
	if v.b.kernelNow(r.ID) == nil {
		return note.Say(note.Warning, "%s %s: nothing is computed of it any more", v.b.kernelName(r.ID), fortuneText(&r.Relative))
	}
	v.b.detail(r.ID)
	return nil
}

func (v *growthView) mouse(msg tea.MouseMsg) tea.Cmd {
	m := msg.Mouse()
	switch msg.(type) {
	case tea.MouseWheelMsg:
		if m.Button == tea.MouseWheelUp {
			v.move(-3)
		} else {
			v.move(3)
		}
	case tea.MouseClickMsg:
		if i := v.top + m.Y - v.area.Y; v.area.Contains(m.X, m.Y) && i < len(v.rows) {
			v.cursor = v.rows[i].ID
		}
	}
	return nil
}

// build makes the tree, and its rows for a height.
func (v *growthView) build(h int) {
	of := v.b.hist.Lead.Kernel
	if v.chosen {
		of = v.b.chosen()
	}
	if v.at != v.b.version || v.of != of {
		v.tree, v.of, v.at = nil, of, v.b.version
		if of != "" && v.b.hist.Evaluation != nil {
			v.tree = v.b.hist.Tree(of)
		}
	}
	shown := branches(v.tree, h)
	v.rows = v.rows[:0]
	for i := range v.tree {
		g, n := &v.tree[i], shown[i]
		if v.whole {
			n = len(g.Others)
		}
		tried := len(g.Others)
		if i+1 < len(v.tree) {
			tried++
		}
		v.rows = append(v.rows, growthRow{Relative: g.Relative, trunk: true, tried: tried})
		for k := range n {
			v.rows = append(v.rows, growthRow{Relative: g.Others[k], last: k == n-1 && i == len(v.tree)-1})
		}
	}
}

// branches is how many branches of each generation are shown in h lines: as many of each, as far as it has them, and of
// what is left over the later ones one more.
func branches(tree []record.Generation, h int) []int {
	shown := make([]int, len(tree))
	for room, more := h-len(tree), true; more && room > 0; {
		more = false
		for i := len(tree) - 1; i >= 0 && room > 0; i-- {
			if shown[i] < len(tree[i].Others) {
				shown[i]++
				room--
				more = true
			}
		}
	}
	return shown
}

const (
	growthBeside = 150 // columns with which the front stands beside the tree
	growthLow    = 12  // lines below which the front is told in the title alone
	growthHead   = 8   // lines of the tree from which on its columns have names
)

// arrange divides the screen for a front that would like so many lines.
func (v *growthView) arrange(r plot.Rect, lines func(w int) int) (tree, front plot.Rect) {
	tree = r
	switch {
	case r.H < growthLow:
	case r.W >= growthBeside:
		tree.W = r.W * 3 / 5
		front = plot.Rect{X: r.X + tree.W, Y: r.Y, W: r.W - tree.W, H: r.H}
	default:
		tree.H = r.H - min(lines(r.W-4)+2, max(6, r.H*2/5))
		front = plot.Rect{X: r.X, Y: r.Y + tree.H, W: r.W, H: r.H - tree.H}
	}
	return tree, front
}

func (v *growthView) draw(c *plot.Canvas, r plot.Rect, t *theme.Theme) {
	defer c.Clip(r)()
	if !v.b.hist.Grows() {
		in := draw.Panel(c, r, t, "Growth", "", false)
		draw.Empty(c, in, "this space of kernels does not grow; --grow begins a run whose space does, and G lets this one, on the machine "+
			"where it goes on", t.Faint)
		return
	}
	came, with := v.b.hist.Came()
	tree, front := v.arrange(r, func(w int) int { return len(v.frontLines(w)) + 1 + max(1, len(came)) })
	v.drawTree(c, tree, t)
	if !front.Empty() {
		v.drawFront(c, front, t, came, with)
	}
}

// growthColumns are the widths of the tree's columns, 0: not shown.
type growthColumns struct{ name, step, nats, at, tried, state int }

const (
	growthSign = 3 // columns for what joins the lines
	natsWide   = 9 // as of "not known"
	unknown    = "not known"
	beginning  = "the beginning"
)

// widths shares w columns out: the kernel's name and what its step gave are always there.
func (v *growthView) widths(w int, names, states []string) (g growthColumns) {
	g.nats = natsWide
	left := w - growthSign - 1 - g.nats
	name, step, state := 6, len(beginning), 6
	for i := range v.rows {
		name, state = max(name, plot.TextWidth(names[i])), max(state, plot.TextWidth(states[i]))
		step = max(step, plot.TextWidth(v.rows[i].Step))
	}
	take := func(want int) int {
		got := max(0, min(want, left-1))
		left -= got + 1
		return got
	}
	if w >= 72 {
		g.at, g.tried = take(4), take(5)
	}
	if w >= 56 {
		g.state = take(min(state+1, w/4)) // apart from numbers
	}
	if w >= 40 {
		g.step = take(min(step, w/4))
	}
	g.name = max(0, min(name, left))
	if left -= g.name; g.step > 0 {
		more := max(0, min(step-g.step, left))
		g.step, left = g.step+more, left-more
	}
	if g.state > 0 {
		g.state += max(0, left)
	}
	return g
}

func (v *growthView) drawTree(c *plot.Canvas, r plot.Rect, t *theme.Theme) {
	rows := r.H - 2
	head := rows >= growthHead
	if head {
		rows--
	}
	v.build(rows)
	title := "Family tree of the leader"
	if v.chosen {
		title = "Family tree of the chosen kernel"
	}
	if v.of != "" {
		title += ", " + v.b.kernelName(v.of)
	}
	right := ""
	if n := len(v.tree); n > 0 {
		right = whole(max(0, r.W-7-plot.TextWidth(title)), words.Count(n-1, "step"), fmt.Sprintf("evaluation %d", v.b.made()))
	}
	if e := v.b.hist.Evaluation; r.H < growthLow && e != nil && e.Front != nil {
		title, right = "Family tree", strings.Join(frontTexts(e.Front), ", ")
	}
	in := draw.Panel(c, r, t, title, right, true).Inset(1, 0)
	undo := c.Clip(in)
	if len(v.rows) == 0 {
		defer undo()
		draw.Empty(c, in, "there is a tree once kernels have been compared", t.Faint)
		return
	}
	names, states := make([]string, len(v.rows)), make([]string, len(v.rows))
	for i := range v.rows {
		k := &v.rows[i]
		names[i], states[i] = v.b.kernelName(k.ID), fortuneText(&k.Relative)
	}
	g := v.widths(in.W, names, states)
	if head {
		v.drawHeads(c, in, t, g)
		in.Y, in.H = in.Y+1, in.H-1
	}
	v.area, v.page = in, max(1, in.H)
	at := v.place()
	v.top = max(0, min(v.top, len(v.rows)-v.page))
	v.top = min(max(v.top, at-v.page+1), at)
	names = plot.FitNames(names, g.name)
	coloured := v.b.coloured()
	for i := v.top; i < min(len(v.rows), v.top+v.page); i++ {
		k, y := &v.rows[i], in.Y+i-v.top
		style := t.Faint
		switch {
		case coloured[k.ID]:
			style = t.Series(v.b.palette.Of(k.ID))
		case k.trunk || k.Fortune == record.Fortune(vbks.Live):
			style = t.Text
		}
		if k.trunk {
			style = style.With(plot.Bold)
		}
		c.TextFit(in.X, y, growthSign-1, k.sign(t.Glyphs), map[bool]plot.Style{true: t.Focus, false: t.Border}[k.trunk])
		c.TextFit(in.X+growthSign, y, g.name, names[i], style)
		v.drawRow(c, in.X+growthSign+g.name+1, y, t, g, k, states[i])
		if i == at {
			c.Restyle(plot.Rect{X: in.X, Y: y, W: in.W, H: 1}, underCursor(t, true))
		}
	}
	undo()
	draw.ScrollMarks(c, r, t, v.top, len(v.rows)-v.top-v.page)
}

// drawHeads names the columns.
func (v *growthView) drawHeads(c *plot.Canvas, r plot.Rect, t *theme.Theme, g growthColumns) {
	x := r.X + growthSign
	c.TextFit(x, r.Y, g.name, "kernel", t.Faint)
	if x += g.name + 1; g.step > 0 {
		c.TextFit(x, r.Y, g.step, "step", t.Faint)
		x += g.step + 1
	}
	x += g.nats
	c.TextRight(x, r.Y, "nats", t.Faint)
	if x++; g.at > 0 {
		x += g.at
		c.TextRight(x, r.Y, "at", t.Faint)
		x += g.tried + 1
		c.TextRight(x, r.Y, "tried", t.Faint)
		x++
	}
	c.TextFit(x+1, r.Y, g.state-1, "now", t.Faint)
}

// drawRow writes what stands behind the name of a kernel of the tree, from column x on.
func (v *growthView) drawRow(c *plot.Canvas, x, y int, t *theme.Theme, g growthColumns, k *growthRow, state string) {
	text := t.Text
	if k.Fortune == record.Left || k.Fortune == record.Fortune(vbks.Pruned) {
		text = t.Faint
	}
	step := k.Step
	if step == "" {
		step = beginning
	}
	if g.step > 0 {
		c.TextFit(x, y, g.step, step, text)
		x += g.step + 1
	}
	x += g.nats
	gave, nats := k.Gave(), text
	switch {
	case k.Step == "":
	case gave == "":
		gave, nats = unknown, t.Faint
	case k.trunk && k.Nats > 0:
		nats = t.Good
	}
	c.TextRight(x, y, gave, nats)
	if x++; g.at > 0 {
		if x += g.at; k.Compared > 0 {
			c.TextRight(x, y, fmt.Sprint(k.Compared), t.Faint)
		}
		if x += g.tried + 1; k.trunk {
			c.TextRight(x, y, fmt.Sprint(k.tried), t.Faint)
		}
		x++
	}
	c.TextFit(x+1, y, g.state-1, state, map[bool]plot.Style{true: t.Bad, false: text}[k.Fortune == record.Fortune(vbks.Failed)])
}

// sign joins the lines of the tree: the way is a trunk, what else was tried its branches.
func (k *growthRow) sign(g plot.Glyphs) string {
	node, branch, end := "●", "├─", "└─"
	switch g {
	case plot.Halves:
		node = "*"
	case plot.ASCII:
		node, branch, end = "O", "+-", "+-"
	}
	switch {
	case k.trunk:
		return node
	case k.last:
		return end
	}
	return branch
}

// fortuneText says what has become of a kernel.
func fortuneText(r *record.Relative) string {
	switch {
	case r.Fortune == record.Left:
		return fmt.Sprintf("left after %d", r.Left)
	case r.Rank == 1:
		return "leads"
	case r.Rank > 0:
		return fmt.Sprintf("alive, #%d", r.Rank)
	}
	return string(r.Fortune)
}

// frontTexts say where a space that grows stands, the most important first.
func frontTexts(f *vbks.Front) []string {
	if f.Over {
		return []string{fmt.Sprintf("grown, %d tried", f.Tried)}
	}
	return []string{fmt.Sprintf("growing, %d tried", f.Tried), waitText(f.Waiting)}
}

// waitText says how many neighbours there is no room for yet.
func waitText(n int) string {
	if n == 1 {
		return "1 waits"
	}
	return fmt.Sprintf("%d wait", n)
}

// frontLines say where the front stands, in w columns.
func (v *growthView) frontLines(w int) []string {
	e := v.b.hist.Evaluation
	if e == nil || e.Front == nil {
		text := "grows no more, by order"
		if v.b.growing() {
			text = "grows from the next evaluation on"
		}
		return draw.Wrap(text, w)
	}
	f := e.Front
	tried := fmt.Sprintf("%d tried of %s", f.Tried, grow.CountText(f.Of))
	if f.Leaves > 0 {
		tried += fmt.Sprintf(" up to %d leaves", f.Leaves)
	}
	most := ""
	if f.Beyond > 0 {
		most = fmt.Sprintf(", but for %d that promise least", f.Beyond)
	}
	if f.Over { // who leads may have changed since
		first := "the first"
		if f.Leaders > 1 {
			first += fmt.Sprintf(" %d", f.Leaders)
		}
		return append(draw.Wrap("grows no more; "+tried, w), draw.Wrap("no neighbour of "+first+" was left to try"+most, w)...)
	}
	if cut := v.b.hist.CutGrowth(); cut != nil { // which the next evaluation will show
		return draw.Wrap(cut.Text()+"; "+tried, w)
	}
	var names []string
	for _, id := range e.Foremost(max(1, f.Leaders)) {
		names = append(names, v.b.kernelName(id))
	}
	first := "the first"
	if len(names) > 1 {
		first += fmt.Sprintf(" %d", len(names))
	}
	state := "growing"
	if v.b.settled() {
		state = "stands still"
	}
	if f.Rows > 0 && v.b.hist.Start != nil && v.b.hist.Start.Data != nil {
		state += fmt.Sprintf(" on %d of %d rows first", f.Rows, v.b.hist.Start.Data.Train)
	}
	return append(draw.Wrap(fmt.Sprintf("%s; %s; %s for room", state, tried, waitText(f.Waiting)), w),
		draw.Wrap("neighbours are tried of "+first+": "+strings.Join(names, ", "), w)...)
}

// drawFront says where the front stands and who came last.
func (v *growthView) drawFront(c *plot.Canvas, r plot.Rect, t *theme.Theme, came []record.Relative, with int) {
	in := draw.Panel(c, r, t, "Front", "", false).Inset(1, 0)
	defer c.Clip(in)()
	lines := v.frontLines(in.W)
	for i, l := range lines[:min(len(lines), max(1, in.H-2))] {
		c.TextFit(in.X, in.Y, in.W, l, map[bool]plot.Style{true: t.Text, false: t.Faint}[i == 0])
		in.Y, in.H = in.Y+1, in.H-1
	}
	if len(came) == 0 {
		c.TextFit(in.X, in.Y, in.W, "no kernel has come yet", t.Faint)
		return
	}
	n := words.Count(len(came), "kernel")
	head := fmt.Sprintf("%s came with evaluation %d, the best first:", n, with)
	switch {
	case with > v.b.made():
		head = fmt.Sprintf("%s came, to be compared by evaluation %d:", n, with)
	case with < v.b.made():
		head = fmt.Sprintf("the last, %s, came with evaluation %d, the best first:", n, with)
	}
	c.TextFit(in.X, in.Y, in.W, head, t.Text)
	v.drawCame(c, plot.Rect{X: in.X, Y: in.Y + 1, W: in.W, H: in.H - 1}, t, came)
}

// drawCame lists who came last, each with its step, its parent and what that gave.
func (v *growthView) drawCame(c *plot.Canvas, r plot.Rect, t *theme.Theme, came []record.Relative) {
	came = came[:max(0, min(len(came), r.H))]
	var names, steps []string
	name, step := 0, 0
	for i := range came {
		names = append(names, v.b.kernelName(came[i].ID))
		steps = append(steps, came[i].Step+" of "+v.b.kernelName(came[i].Parent))
		name, step = max(name, plot.TextWidth(names[i])), max(step, plot.TextWidth(steps[i]))
	}
	gaveWide := len("left after 1000")
	name = max(0, min(name, (r.W-gaveWide-2)/2))
	names = plot.FitNames(names, name)
	step = max(0, min(step, r.W-name-gaveWide-2))
	for i := range came {
		k, y := &came[i], r.Y+i
		style, gave := t.Text, k.Gave()
		if gave == "" {
			style, gave = t.Faint, fortuneText(k)
		}
		c.TextFit(r.X, y, name, names[i], t.Text)
		c.TextFit(r.X+name+1, y, step, steps[i], t.Faint)
		c.TextRight(r.X+name+1+step+1+gaveWide, y, gave, style)
	}
}
