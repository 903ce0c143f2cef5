package ui

import (
	tea "charm.land/bubbletea/v2"

	"example.com/kestrel/ui/draw"
	"example.com/kestrel/ui/plot"
	"example.com/kestrel/ui/theme"
)

// prompt is a card that asks the user; enter accepts, esc leaves.
type prompt interface {
	// update takes any other key.
	update(msg tea.Msg) tea.Cmd
	// accept does what was asked; it stays on the screen unless done.
	accept() (cmd tea.Cmd, done bool)
	draw(c *plot.Canvas, r plot.Rect, t *theme.Theme)
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
func (q *question) draw(c *plot.Canvas, r plot.Rect, t *theme.Theme) {
	text, yes := q.ask()
	width := min(64, r.W-4)
	lines := draw.Wrap(text, width)
	card := draw.Card(c, r, t, q.title, width, len(lines)+2)
	draw.Lines(c, plot.Rect{X: card.X, Y: card.Y, W: card.W, H: card.H - 1}, lines, 0, t.Text)
	draw.Keys(c, card.X, card.Y+card.H-1, card.W, t, [][2]string{{"enter", yes}, {"esc", "back"}})
}
