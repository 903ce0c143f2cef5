package plot

import (
	"math"

	"github.com/NimbleMarkets/ntcharts/v2/canvas/runes"
)

// Bar draws a horizontal bar over a fraction of w cells, to an eighth of a
// cell where the glyphs have that. Not finite: nothing.
func Bar(c *Canvas, x, y, w int, fraction float64, s Style, g Glyphs) {
	if math.IsNaN(fraction) || math.IsInf(fraction, 0) || w <= 0 {
		return
	}
	length := min(max(fraction, 0), 1) * float64(w)
	whole := int(length)
	c.Fill(Rect{x, y, whole, 1}, g.block(1, runes.LeftBlockElementFromFloat64, runes.LeftBlockFour), s)
	if rest := g.block(length-float64(whole), runes.LeftBlockElementFromFloat64, runes.LeftBlockFour); rest != ' ' {
		c.Set(x+whole, y, rest, s)
	}
}

// block returns the character of a cell filled to a part, a space where there
// is nothing to see of it.
func (g Glyphs) block(part float64, eighths func(float64) rune, half rune) rune {
	switch {
	case g == ASCII && part >= 0.5:
		return '#'
	case g == ASCII:
	case g == Halves && part >= 0.75:
		return runes.FullBlock
	case g == Halves && part >= 0.25:
		return half
	case g == Halves:
	default:
		if r := eighths(part); r != runes.Null {
			return r
		}
	}
	return ' '
}

// Trend draws fractions, from 0 to 1, as columns of one cell each, to an eighth of a cell
// where the glyphs have that. One that is not 0 is seen; what is not finite is a gap.
func Trend(c *Canvas, x, y int, fractions []float64, s Style, g Glyphs) {
	for i, v := range fractions {
		if math.IsNaN(v) || math.IsInf(v, 0) || v <= 0 {
			continue
		}
		r := g.block(min(v, 1), runes.LowerBlockElementFromFloat64, runes.LowerBlockFour)
		if r == ' ' {
			r = g.least()
		}
		c.Set(x+i, y, r, s)
	}
}

// Histogram draws counts as columns that fill r; where there are more counts
// than cells across, neighbours are added up. A count that is not 0 is seen.
func Histogram(c *Canvas, r Rect, counts []int, s Style, g Glyphs) {
	if r.Empty() || len(counts) == 0 {
		return
	}
	defer c.Clip(r)()
	n := min(len(counts), r.W)
	// Column i of n has the counts from i*len/n on, and the cells from i*W/n on.
	sums, most := make([]int, n), 0
	for i := range n {
		for _, v := range counts[i*len(counts)/n : (i+1)*len(counts)/n] {
			sums[i] += max(v, 0)
		}
		most = max(most, sums[i])
	}
	for i, v := range sums {
		if v == 0 {
			continue
		}
		x, w := r.X+i*r.W/n, (i+1)*r.W/n-i*r.W/n
		height := float64(v) / float64(most) * float64(r.H)
		whole := int(height)
		c.Fill(Rect{x, r.Y + r.H - whole, w, whole}, g.block(1, runes.LowerBlockElementFromFloat64, runes.LowerBlockFour), s)
		top := g.block(height-float64(whole), runes.LowerBlockElementFromFloat64, runes.LowerBlockFour)
		if top == ' ' && whole == 0 {
			top = g.least()
		}
		if top != ' ' {
			c.Fill(Rect{x, r.Y + r.H - whole - 1, w, 1}, top, s)
		}
	}
}

// least is the least of a column that can be seen.
func (g Glyphs) least() rune {
	switch g {
	case ASCII:
		return '.'
	case Halves:
		return runes.LowerBlockFour
	}
	return runes.LowerBlockOne
}
