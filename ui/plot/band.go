package plot

// rim is the extent of a band in a column of dots.
type rim struct {
	top, bottom int
	set         bool
}

// band draws a band: first its extent in each column, then the cells.
func (ra *Raster) band(b *Band, x *xIndex, sx, sy scale, higher bool) {
	ra.next(higher, b.Style, 0)
	ra.rims = zeroed(ra.rims, ra.dotsX)
	cover := func(col int, up, lo float64) {
		if col < 0 || col >= ra.dotsX {
			return
		}
		top, bottom := int(up+0.5), int(lo+0.5)
		if r := &ra.rims[col]; r.set {
			r.top, r.bottom = min(r.top, top), max(r.bottom, bottom)
		} else {
			*r = rim{top, bottom, true}
		}
	}
	bound := func(f float64) float64 { return min(max(f, -farDot), farDot) }
	var x0, up0, lo0 float64
	open := false
	for i := range min(len(x.xs), len(b.Lo), len(b.Hi)) {
		at, lo, up := x.xs[i], min(b.Lo[i], b.Hi[i]), max(b.Lo[i], b.Hi[i])
		if at-at != 0 || lo-lo != 0 || up-up != 0 || sx.log && at <= 0 || sy.log && up <= 0 {
			open = false
			continue
		}
		x1, up1, lo1 := bound(sx.place(at)), bound(sy.place(up)), float64(farDot)
		if !sy.log || lo > 0 { // else down to the axis
			lo1 = bound(sy.place(lo))
		}
		cover(int(x1+farDot+0.5)-farDot, up1, lo1)
		if open {
			first, last := max(int(min(x0, x1)), 0), min(int(max(x0, x1))+1, ra.dotsX-1)
			for col := first; col <= last && x1 != x0; col++ {
				if t := (float64(col) - x0) / (x1 - x0); t >= 0 && t <= 1 {
					cover(col, up0+(up1-up0)*t, lo0+(lo1-lo0)*t)
				}
			}
		}
		x0, up0, lo0, open = x1, up1, lo1, true
	}
	if b.Style.BG == 0 && ra.glyphs == Braille {
		ra.stipple()
		return
	}
	ra.shade(b.Style.BG)
}

// stipple fills the columns of a band with every fourth dot.
func (ra *Raster) stipple() {
	for col, r := range ra.rims {
		if !r.set {
			continue
		}
		for y := max(r.top, 0); y <= min(r.bottom, ra.dotsY-1); y++ {
			if (col+2*y)%4 == 0 {
				ra.fill(col, y, y)
			}
		}
	}
}

// shade gives a background to the cells of which a band covers half; where it
// is thinner than that, to the cell in its middle.
func (ra *Raster) shade(color Color) {
	if !ra.banded {
		ra.backs, ra.banded = zeroed(ra.backs, len(ra.cells)), true
	}
	across, down := ra.glyphs.dots()
	paint := func(x, y int) { ra.backs[y*ra.w+x] = back{color, ra.owner} }
	for x := range ra.w {
		columns := ra.rims[x*across : (x+1)*across]
		top, bottom, sum, n := ra.dotsY, -1, 0, 0
		for _, r := range columns {
			if r.set {
				top, bottom = min(top, r.top), max(bottom, r.bottom)
				sum += max(-1, min(r.top, ra.dotsY)) + max(-1, min(r.bottom, ra.dotsY))
				n++
			}
		}
		if n == 0 || bottom < 0 || top >= ra.dotsY {
			continue
		}
		painted := false
		for y := max(top, 0) / down; y <= min(bottom, ra.dotsY-1)/down; y++ {
			covered := 0
			for _, r := range columns {
				if r.set {
					covered += max(0, min(r.bottom, y*down+down-1)-max(r.top, y*down)+1)
				}
			}
			if 2*covered >= across*down {
				paint(x, y)
				painted = true
			}
		}
		if middle := sum / (2 * n); !painted && middle >= 0 && middle < ra.dotsY {
			paint(x, middle/down)
		}
	}
}
