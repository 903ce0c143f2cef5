package ui

import (
	"math"
	"strconv"
	"strings"

	"github.com/charmbracelet/colorprofile"

	"kestrel/experiment"
	"kestrel/ui/plot"
)

// digits5 writes a value with as many digits as people compare.
func digits5(v float64) string {
	if v == 0 {
		return "0"
	}
	return strings.Replace(strconv.FormatFloat(v, 'g', 5, 64), "-", "−", 1)
}

// drawLines writes lines of text from line `from` on.
func drawLines(c *plot.Canvas, r plot.Rect, lines []string, from int, s plot.Style) {
	from = max(0, min(from, len(lines)-r.H))
	for i := 0; i < r.H && from+i < len(lines); i++ {
		c.TextFit(r.X, r.Y+i, r.W, lines[from+i], s)
	}
}

// drawEmpty writes a text in the middle of a part of the screen.
func drawEmpty(c *plot.Canvas, r plot.Rect, text string, s plot.Style) {
	lines := wrap(text, r.W-2)
	y := r.Y + max(0, (r.H-len(lines))/2)
	for i, l := range lines {
		if i < r.H {
			c.TextFit(r.X+max(0, (r.W-plot.TextWidth(l))/2), y+i, r.W, l, s)
		}
	}
}

// drawPanel draws a frame with what stands in it, and returns its inside.
func drawPanel(c *plot.Canvas, r plot.Rect, t *theme, title, right string, focused bool) plot.Rect {
	border := t.border
	if focused {
		border = t.focus
	}
	c.Box(r, title, right, border, t.text, t.glyphs, focused)
	return r.Inset(1, 1)
}

// traced is a series as a line over an axis; nothing is left out.
func traced(s experiment.Series, a experiment.Axis) plot.Line {
	l := plot.Line{X: make([]float64, s.Len()), Y: make([]float64, s.Len()), Hi: make([]float64, s.Len())}
	for i := range s.Len() {
		l.X[i] = s.X(i, a)
		l.Y[i], l.Hi[i] = s.At(i)
	}
	return l
}

// chartStyles are the styles of what is not data in a chart.
func (t *theme) chartStyles() plot.ChartStyles {
	return plot.ChartStyles{Axis: t.border, Label: t.faint, Title: t.faint, Cursor: t.strong, Empty: t.faint}
}

// shaded reports whether areas can be told by their background.
func (t *theme) shaded() bool { return t.profile > colorprofile.ANSI }

// bandStyles are those of the areas of y and of f: backgrounds where there are
// enough colours.
func (t *theme) bandStyles() (y, f plot.Style) {
	if !t.shaded() {
		return t.faint, t.faint
	}
	if t.dark {
		return plot.Style{BG: plot.RGB(0x1d, 0x29, 0x36)}, plot.Style{BG: plot.RGB(0x2b, 0x41, 0x57)}
	}
	return plot.Style{BG: plot.RGB(0xe9, 0xf1, 0xf9)}, plot.Style{BG: plot.RGB(0xcb, 0xdf, 0xf1)}
}

// finiteRange returns the least and greatest finite value of some slices; false
// if there is none.
func finiteRange(lists ...[]float64) (lo, hi float64, ok bool) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, values := range lists {
		for _, v := range values {
			if !math.IsNaN(v) && !math.IsInf(v, 0) {
				lo, hi = min(lo, v), max(hi, v)
			}
		}
	}
	return lo, hi, lo <= hi
}

// cycle is the next of some choices.
func cycle(at, n int) int {
	if n < 1 {
		return 0
	}
	return (at + 1) % n
}
