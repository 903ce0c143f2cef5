package plot

import (
	"cmp"
	"slices"
	"strings"
)

// axes draws the lines, ticks and labels around the plot.
func (ch *Chart) axes(c *Canvas, r Rect, l *Layout, margin int, axisRow bool) {
	ra, g, p := ch.Raster, ch.Glyphs.lines(), l.Plot
	if !ch.Y.Hide {
		x := p.X - 1
		c.Fill(Rect{x, p.Y, 1, p.H}, g.vertical, ch.Styles.Axis)
		last := p.Y + p.H // of the label below
		for _, t := range ra.ticksY {
			if y, ok := l.cellY(t.At); ok {
				c.Set(x, y, g.tickLeft, ch.Styles.Axis)
				if y < last && margin > 0 && t.Text != "" {
					c.TextRight(x, y, t.Text, ch.Styles.Label)
					last = y
				}
			}
		}
	}
	if ch.X.Hide {
		return
	}
	y := p.Y + p.H
	left, right := r.X, r.X+r.W
	cursor, from, to := "", 0, 0
	if ch.Cursor != nil {
		if x, ok := l.cellX(*ch.Cursor); ok {
			cursor = ch.X.format(*ch.Cursor, l.XAt(p.X+1)-l.XAt(p.X))
			w := TextWidth(cursor)
			if from = max(min(x-(w-1)/2, right-w), left); w <= r.W {
				to = from + w
			}
		}
	}
	ra.ticksX = ch.X.place(ra.ticksX, l, left, right, from, to)
	if axisRow {
		c.Fill(Rect{p.X, y, p.W, 1}, g.horizontal, ch.Styles.Axis)
		if !ch.Y.Hide {
			c.Set(p.X-1, y, g.corner, ch.Styles.Axis)
		}
		for _, t := range ra.ticksX {
			if t.cell > p.X || ch.Y.Hide { // the corner is tick enough
				c.Set(t.cell, y, g.tickDown, ch.Styles.Axis)
			}
		}
		y++
	}
	for _, t := range ra.ticksX {
		c.Text(t.x, y, t.Text, ch.Styles.Label)
	}
	if to > from {
		c.Text(from, y, cursor, ch.Styles.Cursor.With(Reverse))
	}
	if !axisRow || !ch.captionOnLine(c, Rect{p.X, y - 1, p.W, 1}) {
		ch.captionX(c, Rect{left, y, right - left, 1})
	}
}

// captionOnLine writes what the horizontal axis is called into its line, right of the
// last tick that leaves room: beside a label it would read as the label's unit.
func (ch *Chart) captionOnLine(c *Canvas, r Rect) bool {
	text := ch.X.caption()
	w, free := TextWidth(text), 0
	if w == 0 {
		return true
	}
	for x := r.X + r.W - 1; x >= r.X; x-- {
		if c.At(x, r.Y).Rune != ch.Glyphs.lines().horizontal {
			free = 0
			continue
		}
		if free++; free == w+2 {
			c.Text(x, r.Y, " "+text+" ", ch.Styles.Title)
			return true
		}
	}
	return false
}

// captionX writes what the horizontal axis is called into the row of its
// labels: behind the last one or, without room there, between the last two
// that have it.
func (ch *Chart) captionX(c *Canvas, r Rect) {
	text := ch.X.caption()
	w := TextWidth(text)
	if w == 0 {
		return
	}
	// Free cells, from the right.
	for end := r.X + r.W; end > r.X; {
		from := end
		for from > r.X && c.At(from-1, r.Y).Rune == ' ' {
			from--
		}
		free := end - from
		if end == r.X+r.W && free > w {
			c.Text(from+1, r.Y, text, ch.Styles.Title)
			return
		}
		if free >= w+4 {
			c.Text(from+(free-w+1)/2, r.Y, text, ch.Styles.Title)
			return
		}
		for end = from; end > r.X && c.At(end-1, r.Y).Rune != ' '; end-- {
		}
	}
}

// format writes a value between ticks.
func (a *Axis) format(v, step float64) string {
	if a.Format != nil {
		return a.Format(v, step)
	}
	if a.Log {
		step = 0
	}
	return Number(v, step)
}

// ends writes the labels of lines in the columns right of where they end: the last w of the
// chart, and those before that the lines have not come to.
func (ch *Chart) ends(c *Canvas, l *Layout, w int) {
	ra, p := ch.Raster, l.Plot
	ra.labels = ra.labels[:0]
	x := p.X
	for i := range ch.Lines {
		if o := l.Lines[i]; o.Drawn && ch.Lines[i].Label != "" {
			ra.labels = append(ra.labels, endLabel{line: i, priority: ch.priority(i), want: o.EndY - p.Y})
			x = max(x, o.EndX+2)
		}
	}
	end := p.X + p.W + 1 + w
	x = min(x, p.X+p.W+1)
	w = end - x
	if len(ra.labels) > p.H {
		slices.SortStableFunc(ra.labels, func(a, b endLabel) int { return cmp.Compare(b.priority, a.priority) })
		ra.labels = ra.labels[:p.H]
	}
	slices.SortStableFunc(ra.labels, func(a, b endLabel) int {
		return cmp.Or(cmp.Compare(a.want, b.want), cmp.Compare(b.priority, a.priority))
	})
	spread(ra.labels, p.H)
	for i := range ra.labels {
		ra.labels[i].text = ch.Lines[ra.labels[i].line].end(w)
	}
	var names []string // without values, where with them two are cut to the same
	for i, e := range ra.labels {
		line := &ch.Lines[e.line]
		for k, o := range ra.labels {
			if i == k || line.nameIn(e.text) != ch.Lines[o.line].nameIn(o.text) {
				continue
			}
			if names == nil {
				for _, l := range ra.labels {
					names = append(names, ch.Lines[l.line].Label)
				}
				names = FitNames(names, w)
			}
			e.text = names[i]
		}
		c.Text(x, p.Y+e.row, e.text, line.Style)
	}
}

// nameIn is the name in what end has made of a label.
func (l *Line) nameIn(end string) string { return strings.TrimSuffix(end, l.Value) }

// end is the label of a line with its value in w columns. The name comes first: of a
// name cut short nobody would know whose value it is.
func (l *Line) end(w int) string {
	const told = 10 // columns of a name that is cut
	left := w - TextWidth(l.Value)
	if name := FitNames([]string{l.Label}, left)[0]; TextWidth(name) < left || left >= told {
		return name + l.Value
	}
	return FitNames([]string{l.Label}, w)[0]
}

// legend lists the names of series, the most important first, as far as there
// is room.
func (ch *Chart) legend(c *Canvas, r Rect) {
	ra := ch.Raster
	x, more := r.X, ch.Glyphs.lines().more
	entry := func(name string, sample string, s Style) bool {
		if name == "" {
			return true
		}
		w := TextWidth(sample) + 1 + TextWidth(name)
		if x+w > r.X+r.W {
			if x < r.X+r.W {
				c.Set(x, r.Y, more, ch.Styles.Label)
			}
			return false
		}
		x = c.Text(x, r.Y, sample, s)
		x = c.Text(x+1, r.Y, name, ch.Styles.Label) + 2
		return true
	}
	for n := len(ra.order) - 1; n >= 0; n-- {
		if i := ra.order[n]; i < 0 {
			s := &ch.Scatters[-1-i]
			sign := s.Mark
			if sign == 0 {
				sign = ch.Glyphs.lines().missing
			}
			if !entry(s.Name, string(sign), s.Style) {
				return
			}
		} else if line := &ch.Lines[i]; !entry(line.Name, ch.Glyphs.sample(line.Dash, line.Mark), line.Style) {
			return
		}
	}
	for i := range ch.Bands {
		b := &ch.Bands[i]
		sample := string(ch.Glyphs.lines().shade)
		if b.Style.BG != 0 {
			sample = "  "
		}
		if !entry(b.Name, sample, b.Style) {
			return
		}
	}
}

// sample is a line of a legend, two cells wide.
func (g Glyphs) sample(dash int, sign rune) string {
	s := [...]string{"──", "╌╌", "┄┄", "┈┈"}[min(max(dash, 0), 3)]
	if g == Halves || g == ASCII {
		s = [...]string{"--", "- ", "..", "-."}[min(max(dash, 0), 3)]
	}
	if sign != 0 {
		r := []rune(s)
		return string(r[:1]) + string(sign)
	}
	return s
}
