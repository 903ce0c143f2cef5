package ui

import (
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"example.com/kestrel/experiment/prepare"
	"example.com/kestrel/experiment/words"
	"example.com/kestrel/ui/draw"
	"example.com/kestrel/ui/format"
	"example.com/kestrel/ui/plot"
)

// View implements tea.Model. The frame is drawn anew only if something changed.
func (a *app) View() tea.View {
	if !a.fresh {
		a.fresh = true
		a.drawn++
		a.canvas.Reset(a.w, a.h)
		a.pictures.begin()
		a.drawSafely()
		a.pictures.drawn()
		a.frame = a.canvas.Render()
	}
	v := tea.NewView(a.frame)
	v.AltScreen = true
	v.WindowTitle = "kestrel"
	if a.bench != nil {
		v.WindowTitle = "kestrel · " + words.PlainLine(a.bench.name())
	}
	v.ReportFocus = true
	v.ProgressBar = a.progressBar()
	if a.mouse {
		v.MouseMode = tea.MouseModeCellMotion
	}
	return v
}

// drawSafely draws, and leaves a line where that goes wrong; the next message
// then ends the program.
func (a *app) drawSafely() {
	defer func() {
		if p := recover(); p != nil {
			a.caught(p)
			a.canvas.Reset(a.w, a.h)
			a.canvas.Text(1, 0, "internal error; any key ends the program", a.theme.Bad)
		}
	}()
	a.draw(&a.canvas)
}

const (
	leastWidth  = 30
	leastHeight = 8
)

func (a *app) draw(c *plot.Canvas) {
	r := c.Bounds()
	if r.W < leastWidth || r.H < leastHeight {
		a.tooSmall(c)
		return
	}
	switch {
	case a.waiting():
		a.drawBusy(c, r)
	case a.bench != nil:
		a.bench.draw(c, r)
	case a.launcher != nil:
		a.launcher.Draw(c, r, a.theme)
	}
	if a.leaving {
		c.Fill(plot.Rect{Y: r.H - 1, W: r.W, H: 1}, ' ', plot.Style{})
		c.TextFit(1, r.H-1, r.W-2, a.busy+" …", a.theme.Warn)
	}
	if a.help != nil {
		a.help.draw(c, r, a.theme)
	}
	if a.prompt != nil {
		a.prompt.draw(c, r, a.theme)
	}
}

// waiting reports whether something is under way before a bench is there.
func (a *app) waiting() bool { return a.busy != "" && a.bench == nil }

// drawBusy says what is waited for, since when where that is a while, what is being
// done, how far that is, how long it will take, and which keys do something meanwhile; once
// they are read, the data stand below.
func (a *app) drawBusy(c *plot.Canvas, r plot.Rect) {
	now, t := a.opts.now(), a.theme
	step, _ := a.step.Load().(prepare.Step)
	waited := time.Duration(0)
	if !a.since.IsZero() {
		waited = now.Sub(a.since)
	}
	x := c.TextFit(1, 0, r.W-2, "kestrel", t.Title)
	c.TextFit(x, 0, r.W-1-x, " · "+a.busy, t.Faint)
	var keys [][2]string
	for _, g := range a.groups() {
		for _, k := range g.All {
			if k.Short != "" && !k.Off {
				keys = append(keys, [2]string{k.Label, k.Short})
			}
		}
	}
	draw.Keys(c, 1, r.H-1, r.W-2, t, keys)
	if a.noteFresh() {
		lines := draw.LinesFor(a.note.Text, r.W-2, r.H/4)
		draw.Lines(c, plot.Rect{X: 1, Y: r.H - 1 - len(lines), W: r.W - 2, H: len(lines)}, lines, 0, a.note.Level.Style(t))
		r.H -= len(lines)
	}
	if r.H < 12 {
		text := a.busy + " …"
		if step.Doing != "" {
			text = step.String() + " …"
		}
		if waited >= 2*time.Second {
			text += fmt.Sprintf(" %.0f s", waited.Seconds())
		}
		c.TextFit(2, r.H/2, r.W-4, text, t.Text)
		return
	}
	width := min(76, r.W-4)
	doing := step.String()
	if step.Doing == "" {
		doing = a.busy + " …"
	}
	lines := draw.Wrap(doing, width-2)
	bar := len(lines) + 1
	clock := ""
	if waited >= 2*time.Second || step.Doing != "" {
		clock = format.Clock(waited) + " so far"
	}
	if left := a.meter.Left(step.Doing, step.Done, step.Total, now); left >= time.Second {
		clock += ", about " + format.Clock(left) + " more"
	}
	if step.Total > 0 {
		lines = append(lines, "", "")
	}
	if clock != "" {
		lines = append(lines, clock)
	}
	if step.Note != "" {
		lines = append(append(lines, ""), draw.Wrap(step.Note, width-2)...)
	}
	high, place := min(len(lines), r.H-4), r
	if below := (plot.Rect{X: 1, Y: 1 + high + 2, W: r.W - 2, H: r.H - high - 4}); a.sketch.Load() != nil && below.H >= leastSketch {
		place.Y, place.H = 1, high+2
		a.drawSketch(c, below)
	}
	card := draw.Card(c, place, t, "Please wait: "+a.busy, width, high)
	draw.Lines(c, card, lines, 0, t.Text)
	if step.Total > 0 && bar < card.H {
		c.Fill(plot.Rect{X: card.X, Y: card.Y + bar, W: card.W, H: 1}, '·', t.Border)
		plot.Bar(c, card.X, card.Y+bar, card.W, float64(step.Done)/float64(step.Total), t.Focus, t.Glyphs)
	}
}

// tooSmall says how large the terminal must be, as far as there is room.
func (a *app) tooSmall(c *plot.Canvas) {
	r := c.Bounds()
	lines := []string{"too small", fmt.Sprintf("%dx%d", r.W, r.H), fmt.Sprintf("needs %dx%d", leastWidth, leastHeight)}
	y := max(0, (r.H-len(lines))/2)
	for i, l := range lines {
		c.TextFit(max(0, (r.W-plot.TextWidth(l))/2), y+i, r.W, l, a.theme.Text)
	}
}
