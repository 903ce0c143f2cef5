package ui

import (
	tea "charm.land/bubbletea/v2"

	"kestrel/ui/plot"
)

// prompt is a card that asks the user; enter accepts, esc leaves.
type prompt interface {
	// update takes any other key.
	update(msg tea.Msg) tea.Cmd
	// accept does what was asked; it stays on the screen unless done.
	accept() (cmd tea.Cmd, done bool)
	draw(c *plot.Canvas, r plot.Rect, t *theme)
}

// question asks for a yes. What it says is asked for whenever it is drawn: the run
// may come to rest meanwhile.
type question struct {
	title string
	ask   func() (text, yes string)
	act   func() tea.Cmd
}

func (q *question) update(tea.Msg) tea.Cmd  { return nil }
func (q *question) accept() (tea.Cmd, bool) { return q.act(), true }
func (q *question) draw(c *plot.Canvas, r plot.Rect, t *theme) {
	text, yes := q.ask()
	width := min(64, r.W-4)
	lines := wrap(text, width)
	card := drawCard(c, r, t, q.title, width, len(lines)+2)
	drawLines(c, plot.Rect{X: card.X, Y: card.Y, W: card.W, H: card.H - 1}, lines, 0, t.text)
	drawKeys(c, card.X, card.Y+card.H-1, card.W, t, [][2]string{{"enter", yes}, {"esc", "back"}})
}

// drawCard draws a frame in the middle and returns its inside, which has lines
// rows unless the screen is smaller.
func drawCard(c *plot.Canvas, r plot.Rect, t *theme, title string, width, lines int) plot.Rect {
	w, h := min(width+4, r.W), min(lines+2, r.H)
	box := plot.Rect{X: r.X + (r.W-w)/2, Y: r.Y + (r.H-h)/2, W: w, H: h}
	c.Fill(box, ' ', plot.Style{})
	c.Box(box, title, "", t.focus, t.title, t.glyphs, true)
	return box.Inset(2, 1)
}

// drawKeys writes keys and what they do, as many as there is room for, and
// returns the column behind.
func drawKeys(c *plot.Canvas, x, y, w int, t *theme, keys [][2]string) int {
	end := x + w
	for i, k := range keys {
		need := plot.TextWidth(k[0]) + 1 + plot.TextWidth(k[1])
		if i > 0 {
			need += 2
		}
		if x+need > end {
			break
		}
		if i > 0 {
			x += 2
		}
		x = c.Text(x, y, k[0], t.key)
		x = c.Text(x+1, y, k[1], t.faint)
	}
	return x
}
