package plot

import (
	"cmp"
	"math"
	"slices"
)

// remarkRows is how many rows a plot must have for a remark.
const remarkRows = 8

// texts writes the texts of markers and the remark where nothing else stands:
// of markers the highest priority first, each in the highest row with room,
// right of its line or left of it; its short form where the whole one fits
// nowhere.
func (ch *Chart) texts(c *Canvas, l *Layout) {
	ra := ch.Raster
	ra.markers = ra.markers[:0]
	for i := range ch.Markers {
		ra.markers = append(ra.markers, i)
	}
	slices.SortStableFunc(ra.markers, func(i, k int) int {
		return cmp.Or(cmp.Compare(ch.Markers[k].Priority, ch.Markers[i].Priority), cmp.Compare(ch.Markers[i].X, ch.Markers[k].X))
	})
	ra.written = ra.written[:0]
	for _, i := range ra.markers {
		m := &ch.Markers[i]
		if x, ok := l.cellX(m.X); ok && !ch.textAt(c, l, m.Text, m.Style, x) {
			ch.textAt(c, l, m.Short, m.Style, x)
		}
	}
	for i := range ch.Lines {
		if ch.Lines[i].Peak != "" && l.Lines[i].Drawn {
			ch.peak(c, l, i)
		}
	}
	if ch.Remark == nil || l.Plot.H < remarkRows {
		return
	}
	for _, text := range ch.Remark(*l) {
		for row := range l.Plot.H {
			for x := l.Plot.X + 1; x+TextWidth(text) < l.Plot.X+l.Plot.W; x++ {
				if ch.free(c, l, x-1, l.Plot.Y+row, TextWidth(text)+1) { // two from a marker's text
					c.Text(x, l.Plot.Y+row, text, ch.Styles.Label)
					return
				}
			}
		}
	}
}

// peakRows is how far from a line's highest point its name may stand, in rows.
const peakRows = 3

// peak writes what a line is called near its highest point: above it, else below.
func (ch *Chart) peak(c *Canvas, l *Layout, i int) {
	line, xs := &ch.Lines[i], &ch.Raster.xs[ch.Raster.lineX[i]]
	best, at := math.Inf(-1), -1
	for k := xs.first; k < xs.last; k++ {
		if v := line.at(k); v > best && !math.IsInf(v, 1) {
			best, at = v, k
		}
	}
	if at < 0 {
		return
	}
	x, okX := l.cellX(xs.xs[at])
	y, okY := l.cellY(best)
	if !okX || !okY {
		return
	}
	w := TextWidth(line.Peak)
	left := min(max(x-w/2, l.Plot.X), l.Plot.X+l.Plot.W-w)
	for d := 1; d <= 2*peakRows; d++ {
		row := y - d
		if d > peakRows {
			row = y + d - peakRows
		}
		for _, from := range [...]int{left, x + 1, x - w} {
			if row >= l.Plot.Y && row < l.Plot.Y+l.Plot.H && ch.free(c, l, from, row, w) {
				c.Text(from, row, line.Peak, line.Style)
				ch.Raster.written = append(ch.Raster.written, Rect{from, row, w, 1})
				return
			}
		}
	}
}

// textAt writes a text beside a line at column x, false if there is no room: right of it
// and away from other lines, so that nobody takes it for theirs, before it stands left of
// it or between two.
func (ch *Chart) textAt(c *Canvas, l *Layout, text string, s Style, x int) bool {
	w := TextWidth(text)
	if w == 0 {
		return false
	}
	line := ch.Glyphs.lines().cursor
	for _, apart := range [...]bool{true, false} {
		for _, left := range [...]int{x + 1, x - w} {
			for row := range l.Plot.H {
				y := l.Plot.Y + row
				if !ch.free(c, l, left, y, w) || apart && ch.crowded(c, left, y, w, x, line) {
					continue
				}
				c.Text(left, y, text, s)
				ch.Raster.written = append(ch.Raster.written, Rect{left, y, w, 1})
				return true
			}
		}
	}
	return false
}

// crowded reports whether within a column of w cells another line stands than that at
// column own.
func (ch *Chart) crowded(c *Canvas, x, y, w, own int, line rune) bool {
	for at := x - 2; at < x+w+2; at++ {
		if at != own && c.At(at, y).Rune == line {
			return true
		}
	}
	return false
}

// free reports whether a row has w cells without data or texts in the plot, and
// one more at either end; lines of markers and of the cursor may stand there.
func (ch *Chart) free(c *Canvas, l *Layout, x, y, w int) bool {
	p := l.Plot
	if x < p.X || x+w > p.X+p.W {
		return false
	}
	line := ch.Glyphs.lines().cursor
	for at := max(x-1, p.X); at < min(x+w+1, p.X+p.W); at++ {
		if r := c.At(at, y).Rune; r > ' ' && r != line {
			return false
		}
		for _, o := range ch.Raster.written {
			if o.Contains(at, y) { // a space in a text
				return false
			}
		}
	}
	return true
}
