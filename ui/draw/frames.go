package draw

import (
	"fmt"

	"example.com/kestrel/ui/plot"
	"example.com/kestrel/ui/theme"
)

// Panel draws a frame with what stands in it, and returns its inside.
func Panel(c *plot.Canvas, r plot.Rect, t *theme.Theme, title, right string, focused bool) plot.Rect {
	border := t.Border
	if focused {
		border = t.Focus
	}
	c.Box(r, title, right, border, t.Text, t.Glyphs, focused)
	return r.Inset(1, 1)
}

// ScrollMarks say on the frame that there is more above or below.
func ScrollMarks(c *plot.Canvas, r plot.Rect, t *theme.Theme, above, below int) {
	up, down := "▲", "▼"
	if t.Glyphs == plot.ASCII {
		up, down = "^", "v"
	}
	mark := func(y, n int, glyph string) {
		if text := fmt.Sprintf(" %s %d more ", glyph, n); n > 0 && r.W > plot.TextWidth(text)+4 {
			c.Text(r.X+r.W-2-plot.TextWidth(text), y, text, t.Key)
		}
	}
	mark(r.Y, above, up)
	mark(r.Y+r.H-1, below, down)
}

// Card draws a frame in the middle and returns its inside, which has lines
// rows unless the screen is smaller.
func Card(c *plot.Canvas, r plot.Rect, t *theme.Theme, title string, width, lines int) plot.Rect {
	w, h := min(width+4, r.W), min(lines+2, r.H)
	box := plot.Rect{X: r.X + (r.W-w)/2, Y: r.Y + (r.H-h)/2, W: w, H: h}
	c.Fill(box, ' ', plot.Style{})
	c.Box(box, title, "", t.Focus, t.Title, t.Glyphs, true)
	return box.Inset(2, 1)
}
