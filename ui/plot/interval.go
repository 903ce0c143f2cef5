package plot

import "math"

// Interval draws what lies between two places of w cells, fractions from 0 to 1, and
// marks a place in it and the place of the reference, which is seen where the interval
// does not reach. Not finite: nothing.
func Interval(c *Canvas, x, y, w int, low, high, at, reference float64, s, faint Style, g Glyphs) {
	if w <= 0 || math.IsNaN(low+high+at) || math.IsInf(low+high+at, 0) {
		return
	}
	cell := func(v float64) int { return x + max(0, min(w-1, int(v*float64(w)))) }
	line, mark, zero := '─', '●', '│'
	if g == ASCII {
		line, mark, zero = '-', 'o', '|'
	}
	c.Set(cell(reference), y, zero, faint)
	for i := cell(low); i <= cell(high); i++ {
		c.Set(i, y, line, s)
	}
	c.Set(cell(at), y, mark, s)
}
