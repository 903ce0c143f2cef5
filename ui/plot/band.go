package plot

import "math"

// rim is the extent of a band in a column of dots, in dots; places of dots are at
// whole numbers.
type rim struct {
	top, bottom float64
	set         bool
}

// fill is a band with a background: where its edges are in each column of cells,
// in cells from the top of the plot. The zero fill is nowhere.
type fill struct {
	color Color
	edges []rim
}

// band draws a band: first its extent in each column of dots, then what that is in
// cells, which have their backgrounds when all lines are drawn.
func (ra *Raster) band(b *Band, x *xIndex, sx, sy scale, higher bool) {
	ra.next(higher, b.Style, 0)
	ra.rims = zeroed(ra.rims, ra.dotsX)
	cover := func(col int, top, bottom float64) {
		if col < 0 || col >= ra.dotsX {
			return
		}
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
	switch {
	case b.Style.BG != 0:
		ra.background(b.Style.BG, b.Jumps)
	case ra.glyphs == Braille:
		ra.stipple()
	default:
		ra.shade(b.Jumps)
	}
}

// dots are the rows that a band covers in a column, both included.
func (r rim) dots(rows int) (top, bottom int) {
	at := func(v float64) int { return int(math.Floor(min(max(v, -1), float64(rows)) + 0.5)) }
	return at(r.top), at(r.bottom)
}

// stipple fills the columns of a band with every fourth dot.
func (ra *Raster) stipple() {
	for col, r := range ra.rims {
		if !r.set {
			continue
		}
		top, bottom := r.dots(ra.dotsY)
		for y := max(top, 0); y <= min(bottom, ra.dotsY-1); y++ {
			if (col+2*y)%4 == 0 {
				ra.fill(col, y, y)
			}
		}
	}
}

// shade draws a character into the cells of which a band covers half.
func (ra *Raster) shade(jumps bool) {
	if !ra.shaded {
		ra.shades, ra.shaded = zeroed(ra.shades, len(ra.cells)), true
	}
	for x := range ra.w {
		e := ra.edge(x, jumps)
		for y := max(0, int(e.top)); e.set && y < ra.h && float64(y) < e.bottom; y++ {
			if min(e.bottom, float64(y+1))-max(e.top, float64(y)) >= 0.5 {
				ra.shades[y*ra.w+x] = ra.owner
			}
		}
	}
}

// edge is where a band is in a column of cells, in cells: the mean of its columns
// of dots, or of one that jumps all of them.
func (ra *Raster) edge(x int, jumps bool) (e rim) {
	across, down := ra.glyphs.dots()
	n := 0.0
	for _, r := range ra.rims[x*across : (x+1)*across] {
		switch {
		case !r.set:
		case jumps && e.set:
			e.top, e.bottom = min(e.top, r.top), max(e.bottom, r.bottom)
		default:
			n++
			e.top, e.bottom, e.set = e.top+r.top, e.bottom+r.bottom, true
		}
	}
	cells := func(sum float64) float64 { return min(max((sum/n+0.5)/float64(down), 0), float64(ra.h)) }
	if e.set {
		e.top, e.bottom = cells(e.top), cells(e.bottom)
		e.set = e.bottom > 0 && e.top < float64(ra.h)
	}
	return e
}

// background keeps the edges of a band until the lines are drawn.
func (ra *Raster) background(color Color, jumps bool) {
	if len(ra.fills) < cap(ra.fills) {
		ra.fills = ra.fills[:len(ra.fills)+1]
	} else {
		ra.fills = append(ra.fills, fill{})
	}
	f := &ra.fills[len(ra.fills)-1]
	f.color, f.edges = color, f.edges[:0]
	for x := range ra.w {
		f.edges = append(f.edges, ra.edge(x, jumps))
	}
}

// halves are the backgrounds of a cell's upper and lower half.
type halves struct{ top, bottom Color }

// paint gives the cells of the bands their backgrounds, in halves of cells: edges are
// at the nearest half. A cell with dots, or whose glyphs have no halves, has one
// background only; there it is chosen so that the band's height in its column is
// right within half a cell. whole reports which cells are such.
func (ra *Raster) paint(whole func(x, y int) bool) {
	if len(ra.fills) == 0 {
		return
	}
	ra.backs = zeroed(ra.backs, len(ra.cells))
	for i := range ra.fills {
		f := &ra.fills[i]
		for x, e := range f.edges {
			if e.set {
				ra.paintColumn(f.color, x, e, whole)
			}
		}
	}
}

func (ra *Raster) paintColumn(color Color, x int, e rim, whole func(x, y int) bool) {
	from, to := int(math.Round(2*e.top)), int(math.Round(2*e.bottom)) // in halves
	if from == to {                                                   // thinner than half a cell, but to be seen
		from = min(max(int(e.top+e.bottom), 0), 2*ra.h-1)
		to = from + 1
		if whole(x, from/2) {
			return
		}
	}
	off := float64(to-from)/2 - (e.bottom - e.top) // too high by, in cells
	for y := from / 2; 2*y < to; y++ {
		top, bottom := 2*y >= from, 2*y+1 < to
		if top != bottom && whole(x, y) {
			if top = off <= 0; top {
				off += 0.5
			} else {
				off -= 0.5
			}
			bottom = top
		}
		b := &ra.backs[y*ra.w+x]
		if top {
			b.top = color
		}
		if bottom {
			b.bottom = color
		}
	}
}
