package draw

import (
	"example.com/kestrel/ui/plot"
	"example.com/kestrel/ui/theme"
)

// Keys writes keys and what they do, as many as there is room for, and
// returns the column behind.
func Keys(c *plot.Canvas, x, y, w int, t *theme.Theme, keys [][2]string) int {
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
		x = c.Text(x, y, k[0], t.Key)
		x = c.Text(x+1, y, k[1], t.Faint)
	}
	return x
}
