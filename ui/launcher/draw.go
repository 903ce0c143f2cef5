package launcher

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"example.com/kestrel/experiment/library"
	"example.com/kestrel/ui/draw"
	"example.com/kestrel/ui/note"
	"example.com/kestrel/ui/plot"
	"example.com/kestrel/ui/theme"
)

// areas are where things were drawn last, for the mouse.
type areas struct {
	list, lines plot.Rect
	parts       []partArea
	clicked     time.Time
	at          plot.Rect // of the last click
}

type partArea struct {
	part part
	area plot.Rect
}

// Widths of the launcher's list; a screen with less than that of both shows the
// list or the preview alone.
const (
	leastList, mostList = 34, 60
	leastPreview        = 46
	widePreview         = 90 // what the list leaves it where that says more
)

// Draw draws the launcher in r, and keeps where things are for the mouse.
func (l *Launcher) Draw(c *plot.Canvas, r plot.Rect, t *theme.Theme) {
	l.screen.list, l.screen.lines, l.screen.parts = plot.Rect{}, plot.Rect{}, l.screen.parts[:0]
	defer c.Clip(r)()
	x := c.TextFit(r.X+1, r.Y, r.W-2, "kestrel", t.Title)
	c.TextFit(x, r.Y, r.X+r.W-1-x, " · which kernels explain your data?", t.Faint)
	l.drawKeyLine(c, plot.Rect{X: r.X, Y: r.Y + r.H - 1, W: r.W, H: 1}, t)
	body := plot.Rect{X: r.X, Y: r.Y + 1, W: r.W, H: r.H - 2}

	if lines, style := l.noteLines(t, r.W-2); len(lines) > 0 {
		lines = lines[:min(len(lines), max(1, body.H/4))]
		body.H -= len(lines)
		for i, text := range lines {
			c.TextFit(r.X+1, body.Y+body.H+i, r.W-2, text, style)
		}
	}
	if command := l.commandLines(r.W - 2); r.H >= 12 && len(command) > 0 {
		command = command[:min(len(command), max(1, body.H/6))]
		body.H -= len(command)
		for i, text := range command {
			c.TextFit(r.X+1, body.Y+body.H+i, r.W-2, text, t.Faint)
		}
	}

	if r.W < leastList+leastPreview {
		if l.focus == onParts || l.focus == onSpace {
			l.drawPreview(c, body, t)
		} else {
			l.drawList(c, body, t)
		}
		return
	}
	left := l.listWidth(r.W)
	l.drawList(c, plot.Rect{X: body.X, Y: body.Y, W: left, H: body.H}, t)
	l.drawPreview(c, plot.Rect{X: body.X + left, Y: body.Y, W: body.W - left, H: body.H}, t)
}

// aboutColumn is where what is said of experiments begins, past the longest of their names.
const aboutColumn = 21

// listWidth is what the list takes of a width: two fifths, and more where that cuts
// what it says and the preview has enough.
func (l *Launcher) listWidth(w int) int {
	least := min(max(w*2/5, leastList), mostList)
	wanted := 0
	for i := range l.list.shown {
		if it := &l.list.shown[i]; it.section == experimentSection {
			wanted = max(wanted, aboutColumn+plot.TextWidth(it.about)+3)
		} else {
			wanted = max(wanted, 3+plot.TextWidth(it.label)+plot.TextWidth(it.about)+5)
		}
	}
	return max(least, min(wanted, w-widePreview))
}

// noteLines is the last note, as long as it is to be seen.
func (l *Launcher) noteLines(t *theme.Theme, w int) ([]string, plot.Style) {
	n := l.host.Note()
	if n.Text == "" || !n.Fresh(l.host.Now()) && n.At.Before(l.acted) {
		return nil, plot.Style{}
	}
	return draw.Wrap(n.Text, w), n.Level.Style(t)
}

// command is the command line that does what enter does, "" if there is none.
func (l *Launcher) command() string {
	if i := l.list.current(); i != nil && i.run != nil {
		return "kestrel open " + shellWord(i.run.Path)
	} else if l.resolved != nil {
		return l.resolved.command
	}
	return ""
}

func (l *Launcher) copyCommand() tea.Cmd {
	return tea.Batch(tea.SetClipboard(l.command()), note.Say(note.Good, "copied the command, if the terminal lets programs do that"))
}

func (l *Launcher) commandLines(w int) []string {
	command := l.command()
	if command == "" {
		return nil
	}
	return draw.Wrap("$ "+command, w)
}

func (l *Launcher) drawKeyLine(c *plot.Canvas, r plot.Rect, t *theme.Theme) {
	var keys [][2]string
	for _, g := range l.host.Keys() {
		for _, k := range g.All {
			label := k.Label
			if l.editing() != nil { // letters are typed
				switch {
				case label == "q":
					continue
				case label == "?" && slices.Contains(k.Keys, "f1"):
					label = "f1"
				}
			}
			if k.Short != "" && !k.Off {
				keys = append(keys, [2]string{label, k.Short})
			}
		}
	}
	draw.Keys(c, r.X+1, r.Y, r.W-2, t, keys)
}

// drawList draws the list in its frame.
func (l *Launcher) drawList(c *plot.Canvas, r plot.Rect, t *theme.Theme) {
	in := draw.Panel(c, r, t, "what to run", "", l.focus != onParts && l.focus != onSpace)
	l.screen.list = r
	whole := c.Clip(in)
	if l.focus == onFilter || l.list.filter != "" {
		x := c.Text(in.X+1, in.Y, "/ ", t.Key)
		l.filter.Draw(c, x, in.Y, in.X+in.W-x, t, l.focus == onFilter)
		in.Y, in.H = in.Y+1, max(0, in.H-1)
	}
	at := 0
	for i, line := range l.list.lines {
		if line.item == l.list.cursor {
			at = i
		}
	}
	lead := at // the heading above the first item of a section is seen with it
	for lead > 0 && l.list.lines[lead-1].head {
		lead--
	}
	l.list.page = max(1, in.H-1)
	l.list.from = max(0, min(l.list.from, lead, len(l.list.lines)-in.H))
	l.list.from = max(l.list.from, at-in.H+1, 0)
	l.screen.lines = in
	for y := range in.H {
		i := l.list.from + y
		if i >= len(l.list.lines) {
			break
		}
		line := l.list.lines[i]
		row := plot.Rect{X: in.X, Y: in.Y + y, W: in.W, H: 1}
		switch {
		case line.item >= 0:
			l.drawItem(c, row, t, line.item)
		case line.head:
			c.TextFit(row.X+1, row.Y, row.W-2, line.text, t.Title)
		default:
			c.TextFit(row.X+3, row.Y, row.W-4, line.text, t.Faint)
		}
	}
	whole()
	draw.ScrollMarks(c, r, t, l.list.from, len(l.list.lines)-l.list.from-in.H)
}

func (l *Launcher) drawItem(c *plot.Canvas, r plot.Rect, t *theme.Theme, at int) {
	i := &l.list.shown[at]
	x, end := r.X+3, r.X+r.W-1
	switch {
	case i.typed:
		x = c.Text(x, r.Y, "path ", t.Key)
		l.typed.Draw(c, x, r.Y, end-x, t, l.focus == onTyped)
	case i.run != nil:
		words := runLine(i.run, l.host.Now())
		// The name gives way before how the run stands does.
		name := plot.Truncate(i.label, max(8, end-x-22))
		x = c.TextFit(x, r.Y, end-x, name, t.Text) + 2
		for n, w := range words {
			const least = 10 // what is cut to less than this says nothing
			if n > 0 && x+min(plot.TextWidth(w), least) > end || n > 1 && x+plot.TextWidth(w) > end {
				continue
			}
			style := t.Faint
			if n == 0 {
				style = l.standingStyle(t, i.run)
			}
			x = c.TextFit(x, r.Y, end-x, w, style) + 2
		}
	default:
		style := t.Text
		if i.missing != "" {
			style = t.Faint
		}
		x = c.TextFit(x, r.Y, end-x, i.label, style)
		if column := r.X + aboutColumn; x < column && i.section == experimentSection {
			x = column - 2
		}
		switch {
		case i.missing != "" && end-x <= 12:
			c.TextFit(x+2, r.Y, end-x-2, "no data", t.Faint)
		case i.about != "" && end-x > 12:
			c.TextFit(x+2, r.Y, end-x-2, i.about, t.Faint)
		}
	}
	if at == l.list.cursor {
		mark := '▸'
		if t.Glyphs == plot.ASCII {
			mark = '>'
		}
		c.Set(r.X+1, r.Y, mark, t.Focus)
		bar := r
		if l.focus == onTyped {
			bar.W = 3 // the cursor of the text is to be seen
		}
		c.Restyle(bar, func(s plot.Style) plot.Style { return over(s, t.Selected) })
	}
}

// over lays the ground and the attributes of a style over another.
func over(s, top plot.Style) plot.Style {
	if top.BG != 0 {
		s.BG = top.BG
	}
	return s.With(top.Attr)
}

func (l *Launcher) standingStyle(t *theme.Theme, run *library.RunInfo) plot.Style {
	switch run.Word() {
	case "finished":
		return t.Strong
	case "running":
		return t.Good
	case "failed", "crashed", "damaged":
		return t.Bad
	}
	return t.Warn
}
