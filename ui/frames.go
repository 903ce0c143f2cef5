package ui

import "kestrel/ui/plot"

// drawPanel draws a frame with what stands in it, and returns its inside.
func drawPanel(c *plot.Canvas, r plot.Rect, t *theme, title, right string, focused bool) plot.Rect {
	border := t.border
	if focused {
		border = t.focus
	}
	c.Box(r, title, right, border, t.text, t.glyphs, focused)
	return r.Inset(1, 1)
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
