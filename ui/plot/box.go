package plot

// Box draws a frame along the inside of r, with a title in its upper edge and
// a text at the right of it; the title is cut, and the right text left out,
// where there is no room. A focused box has a sign before its title and a bold
// title, so that it is seen without colours as well.
func (c *Canvas) Box(r Rect, title, right string, border, text Style, g Glyphs, focused bool) {
	if r.Empty() {
		return
	}
	l := g.lines()
	x1, y1 := r.X+r.W-1, r.Y+r.H-1
	c.Fill(Rect{r.X, r.Y, r.W, 1}, l.horizontal, border)
	c.Fill(Rect{r.X, y1, r.W, 1}, l.horizontal, border)
	c.Fill(Rect{r.X, r.Y, 1, r.H}, l.vertical, border)
	c.Fill(Rect{x1, r.Y, 1, r.H}, l.vertical, border)
	c.Set(r.X, y1, l.bottomLeft, border)
	c.Set(x1, y1, l.bottomRight, border)
	c.Set(r.X, r.Y, l.topLeft, border)
	c.Set(x1, r.Y, l.topRight, border)

	room := r.W - 4 // corners and a space on both sides
	if title != "" && room > 0 {
		open := ' '
		if focused {
			open, text = l.focus, text.With(Bold)
		}
		title = Truncate(title, room)
		c.Set(r.X+1, r.Y, open, text)
		c.Set(c.Text(r.X+2, r.Y, title, text), r.Y, ' ', text)
		room -= TextWidth(title) + 2
	}
	if w := TextWidth(right); right != "" && w <= room-1 {
		text.Attr &^= Bold
		x := x1 - w - 2
		c.Set(x, r.Y, ' ', text)
		c.Set(c.Text(x+1, r.Y, right, text), r.Y, ' ', text)
	}
}
