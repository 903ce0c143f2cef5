package ui

import (
	"fmt"
	"math"
	"strings"
	"time"

	"kestrel/experiment"
	"kestrel/ui/plot"
)

// block is a piece of the preview: so many lines, drawn from (x, y) on w columns.
type block struct {
	h    int
	draw func(x, y, w int)
}

// sheet is the preview in the making: blocks one below the other.
type sheet struct {
	c      *plot.Canvas
	t      *theme
	w      int
	blocks []block
	flex   int // index of the block that takes what is left over, −1: none
	// Blocks to be seen, from inclusive to exclusive; from −1: any.
	from, to int
}

func (s *sheet) add(h int, draw func(x, y, w int)) { s.blocks = append(s.blocks, block{h, draw}) }

func (s *sheet) gap() { s.add(1, func(int, int, int) {}) }

// text adds wrapped text.
func (s *sheet) text(text string, style plot.Style) { s.indented(0, text, style) }

func (s *sheet) indented(by int, text string, style plot.Style) {
	for _, l := range wrap(text, max(1, s.w-by)) {
		s.add(1, func(x, y, w int) { s.c.TextFit(x+by, y, w-by, l, style) })
	}
}

// labelWidth is the width of what stands before a value.
const labelWidth = 10

// pair adds a label with its value.
func (s *sheet) pair(label, value string, style plot.Style) {
	for i, l := range wrap(value, max(1, s.w-labelWidth)) {
		s.add(1, func(x, y, w int) {
			if i == 0 {
				s.c.TextFit(x, y, labelWidth-1, label, s.t.faint)
			}
			s.c.TextFit(x+labelWidth, y, w-labelWidth, l, style)
		})
	}
}

// heightOf returns the height of blocks.
func heightOf(blocks []block) int {
	h := 0
	for _, b := range blocks {
		h += b.h
	}
	return h
}

// place draws the blocks that are seen from line `scroll` on, and returns the
// line it really began with.
func (s *sheet) place(r plot.Rect, scroll int) int {
	if s.flex >= 0 {
		if left := r.H - heightOf(s.blocks); left > 0 {
			s.blocks[s.flex].h += left
		}
	}
	scroll = max(0, min(scroll, heightOf(s.blocks)-r.H))
	if s.from >= 0 {
		top := heightOf(s.blocks[:s.from])
		scroll = min(max(scroll, top+heightOf(s.blocks[s.from:s.to])-r.H), top)
	}
	defer s.c.Clip(r)()
	y := r.Y - scroll
	for _, b := range s.blocks {
		if y+b.h > r.Y && y < r.Y+r.H {
			b.draw(r.X, y, r.W)
		}
		y += b.h
	}
	return scroll
}

func (l *launcher) drawPreview(c *plot.Canvas, r plot.Rect, t *theme) {
	title, right := "preview", ""
	i := l.list.current()
	if i != nil {
		if title = i.label; i.typed {
			title = strings.TrimSpace(l.typed.value())
		}
		if title == "" {
			title = "path"
		}
	}
	if l.reading {
		right = "reading …"
	}
	if l.starting {
		right = "starting …"
	}
	in := drawPanel(c, r, t, title, right, l.focus == onParts)
	in = plot.Rect{X: in.X + 1, Y: in.Y, W: in.W - 2, H: in.H}
	if in.Empty() {
		return
	}
	s := &sheet{c: c, t: t, w: in.W, flex: -1, from: -1}
	switch {
	case i == nil:
		s.text("Nothing in the list fits the filter; esc drops it.", t.faint)
	case i.run != nil:
		l.runSheet(s, i.run)
	case l.resolved != nil && l.resolved.run != nil:
		l.runSheet(s, l.resolved.run)
	case l.chosen() == nil:
		s.text("Type or paste the path of a table of numbers: .csv, .tsv, .txt or .dat, also compressed; or of a config (.toml) or a run's folder.", t.text)
		s.gap()
		s.text("tab completes; ~ is your home folder.", t.faint)
	default:
		l.choiceSheet(s, i)
	}
	l.scroll = s.place(in, l.scroll)
}

// choiceSheet shows a config or table with its settings and data.
func (l *launcher) choiceSheet(s *sheet, i *item) {
	t, c, r := s.t, l.chosen(), l.resolved
	if i.about != "" {
		s.text(i.about, t.text)
		s.gap()
	}
	switch {
	case c.base == nil && r != nil && r.err != nil:
		if len(r.ways) > 0 {
			s.text(strings.Join(r.ways, "  "), t.text)
			s.gap()
		}
		s.text(r.err.Error(), t.bad)
		return
	case c.base == nil:
		s.text("reading …", t.faint)
		return
	}
	for _, p := range c.parts() {
		from := len(s.blocks)
		l.partSheet(s, c, p)
		if l.focus == onParts && l.part == p {
			s.from, s.to = from, len(s.blocks)
		}
	}
	l.estimateSheet(s)
	if r != nil && r.err != nil && r.part == noPart {
		s.gap()
		s.text(r.err.Error(), t.bad)
	}
	s.gap()
	switch {
	case l.previewErr != nil:
		s.text(l.previewErr.Error(), t.bad)
	case l.preview == nil && l.reading:
		s.text("reading the data …", t.faint)
	case l.preview != nil:
		l.dataSheet(s, l.preview)
	}
}

var partNames = map[part]string{
	targetPart: "target", inputsPart: "inputs", kernelsPart: "kernels", inducingPart: "inducing", seedPart: "seed", devicePart: "device",
	splitPart: "held out",
}

// partSheet shows a setting, and below it what is wrong with it.
func (l *launcher) partSheet(s *sheet, c *choice, p part) {
	t := s.t
	focused := l.focus == onParts && l.part == p
	head := func(x, y, w, h int) {
		l.screen.parts = append(l.screen.parts, partArea{p, plot.Rect{X: x, Y: y, W: w, H: h}.Intersect(s.c.Bounds())})
		style := t.faint
		if focused {
			style = t.focus.With(plot.Bold)
		}
		s.c.TextFit(x, y, labelWidth-1, partNames[p], style)
	}
	room := max(1, s.w-labelWidth)
	switch p {
	case targetPart, splitPart, devicePart:
		value := c.device
		if p == splitPart {
			value = c.splitText()
		}
		if p == targetPart {
			value = "?"
			if c.target >= 0 {
				value = c.columns[c.target].Name
			}
		}
		s.add(1, func(x, y, w int) {
			head(x, y, w, 1)
			open, end := "‹ ", " ›"
			if t.glyphs == plot.ASCII {
				open, end = "< ", " >"
			}
			at := s.c.TextFit(x+labelWidth, y, room, open, t.key)
			style := t.text
			if focused {
				style = style.With(plot.Reverse)
			}
			at = s.c.TextFit(at, y, x+w-at-2, value, style)
			s.c.TextFit(at, y, x+w-at, end, t.key)
		})
	case inputsPart:
		l.inputSheet(s, c, focused, head)
	default:
		note := ""
		if r := l.resolved; p == kernelsPart && r != nil && r.err == nil {
			note = fmt.Sprintf("%d kernels", r.kernels)
			if r.kernels == 1 {
				note = "1 kernel"
			}
		}
		wide := room
		if n := plot.TextWidth(note); n > 0 && room >= n+16 {
			wide -= n + 2
		}
		f := c.text(p)
		s.add(1, func(x, y, w int) {
			head(x, y, w, 1)
			f.draw(s.c, x+labelWidth, y, wide, t, focused)
			if wide < room {
				s.c.TextRight(x+w, y, note, t.good)
			}
		})
		l.wrongSheet(s, f, p, wide, focused)
		if p == kernelsPart && focused {
			s.indented(labelWidth, experiment.SpaceSyntax, t.faint)
		}
		return
	}
	l.wrongSheet(s, nil, p, room, focused)
}

// wrongSheet says what is wrong with a part, with a caret under the place.
func (l *launcher) wrongSheet(s *sheet, f *field, p part, wide int, focused bool) {
	r := l.resolved
	if r == nil || r.err == nil || r.part != p {
		return
	}
	if col := r.caret(); col >= 0 && f != nil {
		s.add(1, func(x, y, w int) {
			if at := f.columnOf(col, wide, focused); at >= 0 {
				s.c.TextFit(x+labelWidth+at, y, 1, "^", s.t.bad)
			}
		})
	}
	s.indented(labelWidth, r.reason(), s.t.bad)
}

// inputSheet shows the columns that can be inputs, as many to a line as fit.
func (l *launcher) inputSheet(s *sheet, c *choice, focused bool, head func(x, y, w, h int)) {
	type chip struct {
		column int
		text   string
	}
	var rows [][]chip
	used := 0
	room := max(1, s.w-labelWidth)
	for i := range c.columns {
		if !c.usable(i) {
			continue
		}
		text := "[ ] " + c.columns[i].Name
		if c.inputs[i] {
			text = "[x] " + c.columns[i].Name
		}
		text = plot.Truncate(text, min(room, 28))
		if n := plot.TextWidth(text); len(rows) == 0 || used+2+n > room {
			rows, used = append(rows, nil), n
		} else {
			used += 2 + n
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], chip{i, text})
	}
	// With very many columns, the lines around the cursor.
	const most = 6
	from := 0
	if len(rows) > most {
		for i, row := range rows {
			if len(row) > 0 && row[0].column <= c.column {
				from = max(0, min(i-most/2, len(rows)-most))
			}
		}
		rows = rows[from : from+most]
	}
	if len(rows) == 0 {
		rows = [][]chip{nil}
	}
	s.add(len(rows), func(x, y, w int) {
		head(x, y, w, len(rows))
		for i, row := range rows {
			at := x + labelWidth
			for _, ch := range row {
				style := s.t.faint
				if c.inputs[ch.column] {
					style = s.t.text
				}
				if focused && ch.column == c.column {
					style = style.With(plot.Reverse)
				}
				at = s.c.TextFit(at, y+i, x+w-at, ch.text, style) + 2
			}
			if row == nil {
				s.c.TextFit(at, y+i, x+w-at, "no column of numbers is left", s.t.bad)
			}
		}
	})
}

// estimateSheet says how long it will take.
func (l *launcher) estimateSheet(s *sheet) {
	switch {
	case l.resolved == nil || l.resolved.err != nil || l.previewErr != nil:
	case l.estimErr != nil:
		s.pair("takes", "not known: "+l.estimErr.Error(), s.t.faint)
	case l.estimate != nil:
		s.pair("takes", l.estimate.String(), s.t.text)
	default:
		s.pair("takes", "measuring …", s.t.faint)
	}
}

// dataSheet shows rows, columns, a plot and the first rows.
func (l *launcher) dataSheet(s *sheet, p *experiment.Preview) {
	t, d := s.t, p.Summary
	rows := fmt.Sprintf("%d rows: %d training, %d test", d.Rows, d.Train, d.Test)
	if n := d.DroppedTarget + d.DroppedInputs; n > 0 {
		rows += fmt.Sprintf("; %d left out for missing values", n)
	}
	s.pair("data", rows, t.text)
	if d.Kernel != "" {
		s.pair("truth", d.Kernel, t.text)
	}
	const most = 8
	for i, c := range d.Columns {
		if len(d.Columns) > most && i >= most-1 && i < len(d.Columns)-1 {
			if i == most-1 {
				s.indented(labelWidth, fmt.Sprintf("and %d more inputs", len(d.Columns)-most), t.faint)
			}
			continue
		}
		text := c.Name + "  "
		if c.First != "" {
			text += shortStamp(c.First) + " to " + shortStamp(c.Last) + ", " + c.Span
		} else {
			text += digits5(c.Min) + " to " + digits5(c.Max)
			if c.Unit != "" {
				text += " " + c.Unit
			}
		}
		if c.Missing > 0 {
			text += fmt.Sprintf(", %d missing", c.Missing)
		}
		label := ""
		if i == 0 || c.Role != d.Columns[i-1].Role {
			label = c.Role
		}
		s.pair(label, text, t.text)
	}
	if s.w >= 24 {
		s.flex = len(s.blocks)
		s.blocks = append(s.blocks, block{})
		b := &s.blocks[s.flex]
		b.h = 9
		at := s.flex
		b.draw = func(x, y, w int) { l.drawData(s, plot.Rect{X: x, Y: y, W: w, H: s.blocks[at].h}, p) }
	}
	if len(d.Preview) > 0 {
		l.rowSheet(s, p, d.Preview)
	}
	for _, n := range d.Notices {
		s.indented(0, n, t.warn)
	}
}

// shortStamp leaves the time out of a stamp at midnight.
func shortStamp(stamp string) string {
	return strings.TrimSuffix(strings.TrimSuffix(stamp, "Z"), "T00:00:00")
}

// rowSheet shows the first rows in columns, as many as fit.
func (l *launcher) rowSheet(s *sheet, d *experiment.Preview, rows [][]string) {
	columns := d.Summary.Columns
	short := func(i int, v string) string {
		if columns[i].First != "" {
			return shortStamp(v)
		}
		var f float64
		if _, err := fmt.Sscan(v, &f); err == nil && len(v) > 8 {
			return digits5(f)
		}
		return v
	}
	width := make([]int, len(columns))
	for i, c := range columns {
		width[i] = min(20, plot.TextWidth(c.Name))
		for _, row := range rows {
			if i < len(row) {
				width[i] = max(width[i], min(20, plot.TextWidth(short(i, row[i]))))
			}
		}
	}
	line := func(cell func(i int) string, style plot.Style) {
		s.add(1, func(x, y, w int) {
			end := x + w
			for i := range columns {
				if x+width[i] > end {
					s.c.TextFit(x-1, y, 1, "…", s.t.faint)
					break
				}
				s.c.TextRight(x+width[i], y, plot.Truncate(cell(i), width[i]), style)
				x += width[i] + 2
			}
		})
	}
	line(func(i int) string { return columns[i].Name }, s.t.faint)
	for _, row := range rows {
		line(func(i int) string {
			if i >= len(row) {
				return ""
			}
			return short(i, row[i])
		}, s.t.text)
	}
}

// drawData draws the target against the first input.
func (l *launcher) drawData(s *sheet, r plot.Rect, p *experiment.Preview) {
	t := s.t
	train := plot.Scatter{Name: "training", Style: t.focus}
	test := plot.Scatter{Name: "test", Style: t.warn, Mark: t.testMark(), Priority: 1}
	if len(p.Points.X) > 4*r.W {
		test.Mark = 0 // dots, or they hide each other
	}
	for i, x := range p.Points.X {
		k := &train
		if p.Points.Kind[i] == experiment.PointTest {
			k = &test
		}
		k.X, k.Y = append(k.X, x), append(k.Y, p.Points.Y[i])
	}
	columns := p.Summary.Columns
	ch := plot.Chart{
		Scatters: []plot.Scatter{train, test}, Glyphs: t.glyphs, Styles: t.chartStyles(), Raster: &l.raster,
		X: plot.Axis{Title: p.Input.Name, Unit: p.Input.Unit}, Y: plot.Axis{Title: p.Target.Name, Unit: p.Target.Unit},
		Legend: len(test.X) > 0,
	}
	if origin, unit, ok := experiment.TimeScale(&columns[0]); ok {
		ch.X.Labels = dateTicks(origin, unit, columns[0].Min, columns[0].Max, max(2, r.W/14))
		ch.X.Unit = ""
	}
	ch.Draw(s.c, r)
}

// runSheet shows a past or present run.
func (l *launcher) runSheet(s *sheet, r *experiment.RunInfo) {
	t := s.t
	standing := r.Standing()
	if r.Live {
		standing += ", being written by another process"
	}
	s.pair("state", standing, l.standingStyle(t, r))
	if r.Reason != "" {
		s.pair("", r.Reason, t.faint)
	}
	if r.Err != "" {
		s.gap()
		s.text(r.Err, t.bad)
		return
	}
	if r.Leader != "" {
		leader := r.LeaderName
		if !math.IsNaN(r.Posterior) {
			leader += fmt.Sprintf(", q* %.3f", r.Posterior)
		}
		s.pair("leader", leader, t.strong)
	}
	if !math.IsNaN(r.RMSE) {
		s.pair("rmse", digits5(r.RMSE), t.text)
	}
	if r.Planned > 0 {
		s.pair("done", fmt.Sprintf("%d of %d evaluations", r.Evaluations, r.Planned), t.text)
	}
	s.pair("data", fmt.Sprintf("%s, %d training rows", r.Data, r.Rows), t.text)
	s.pair("kernels", fmt.Sprint(r.Kernels), t.text)
	if !r.Started.IsZero() {
		s.pair("started", r.Started.Local().Format("2006-01-02 15:04")+", "+ago(l.app.opts.now().Sub(r.Started)), t.text)
		s.pair("worked", clock(time.Duration(r.Seconds*float64(time.Second))), t.text)
	}
	s.pair("folder", r.Path, t.text)
	s.gap()
	s.text("enter opens it.", t.faint)
}

// columnOf returns where a rune of the text is drawn within w columns, −1 if it
// is scrolled out of sight.
func (f *field) columnOf(at, w int, focused bool) int {
	runes := []rune(f.value())
	width := func(n int) int { return plot.TextWidth(string(runes[:max(0, min(n, len(runes)))])) }
	column := width(at)
	if focused {
		column -= max(0, width(f.input.Position())+1-w)
	}
	if column < 0 || column >= w {
		return -1
	}
	return column
}
