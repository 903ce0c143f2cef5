package plot

// Raster is a grid of dots, several to a cell, each cell with the series that
// owns it. The zero Raster is ready; it keeps its memory between charts. It
// must not be used by two goroutines at once.
type Raster struct {
	glyphs       Glyphs
	w, h         int // cells
	dotsX, dotsY int
	down         int   // dots of a cell
	shift        uint8 // of a column of dots to one of cells: 1 for two, 0 for one
	cells        []dotCell
	rows         []dotRow
	masks        [maxAcross][maxDown][maxDown]uint8 // [column][from][to]

	owner uint16 // the series that draws now, from 1
	level uint16 // the first series of its priority
	dash  dash

	styles []Style // of owners
	signed []bool  // owners are lines with marks: these are seen through each other
	marks  []mark  // of cells, where there are any
	marked bool
	fills  []fill   // bands with a background
	backs  []halves // of cells, where there are fills
	shades []uint16 // of cells: the owners of bands in characters
	shaded bool

	// Scratch of Chart.Draw.
	xs           []xIndex
	lineX, bandX []int // of lines and bands: their index in xs
	order        []int
	counter      []float64
	sample       []float64
	rims         []rim
	edged        []edged
	arrows       []arrow
	layouts      []LineLayout
	labels       []endLabel
	markers      []int
	written      []Rect
	ticksX       []label
	ticksY       []label
}

// mark is a character instead of a cell's dots, as long as its series owns it.
type mark struct {
	r     rune
	owner uint16
}

// dotCell is a cell's dots. The glyphs are known to the raster.
type dotCell struct {
	owner uint16
	mask  uint8
}

// dotRow is where a row of dots lies: the first cell and the row within it.
type dotRow struct {
	cell int32
	sub  uint8
}

// dash says which dots of a broken line are drawn: bit i%dashPeriod.
type dash uint32

const dashPeriod = 24

// dashes by Line.Dash; the periods are 6, 4 and 8 dots.
var dashes = [...]dash{0, 0b001111_001111_001111_001111, 0b0011_0011_0011_0011_0011_0011, 0b00101111_00101111_00101111}

func (d dash) on(i int) bool { return d>>(uint(i)%dashPeriod)&1 != 0 }

// reset makes the raster w x h cells and empty.
func (ra *Raster) reset(w, h int, g Glyphs) {
	across, down := g.dots()
	if ra.rows == nil || g != ra.glyphs || w != ra.w || h != ra.h {
		ra.glyphs, ra.w, ra.h, ra.down, ra.shift = g, w, h, down, uint8(across-1)
		ra.dotsX, ra.dotsY = w*across, h*down
		ra.rows = ra.rows[:0]
		for y := range ra.dotsY {
			ra.rows = append(ra.rows, dotRow{int32(y / down * w), uint8(y % down)})
		}
		for x := range across {
			for from := range down {
				mask := uint8(0)
				for to := from; to < down; to++ {
					mask |= g.dotBit(x, to)
					ra.masks[x][from][to] = mask
				}
			}
		}
	}
	ra.cells = zeroed(ra.cells, w*h)
	ra.owner, ra.level, ra.dash = 0, 0, 0
	ra.styles, ra.signed, ra.arrows = ra.styles[:0], ra.signed[:0], ra.arrows[:0]
	ra.marked, ra.shaded, ra.fills = false, false, ra.fills[:0]
}

// zeroed returns s with n zero elements, in its memory if it has room.
func zeroed[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	s = s[:n]
	clear(s)
	return s
}

// next begins another series, of a higher priority than the last or an equal
// one. Beyond 65535 series the last ones share an owner.
func (ra *Raster) next(higher bool, s Style, broken int) {
	if ra.owner < 1<<16-1 {
		ra.owner++
		ra.styles, ra.signed = append(ra.styles, s), append(ra.signed, false)
	}
	if higher {
		ra.level = ra.owner
	}
	ra.dash = dashes[min(max(broken, 0), len(dashes)-1)]
}

// set adds dots to a cell; those of series of lower priority go.
func (ra *Raster) set(cell int32, mask uint8) {
	c := &ra.cells[cell]
	if c.owner < ra.level {
		c.mask = mask
	} else {
		c.mask |= mask
	}
	c.owner = ra.owner
}

// dot sets one dot.
func (ra *Raster) dot(x, y int) {
	if x >= 0 && y >= 0 && x < ra.dotsX && y < ra.dotsY {
		ra.fill(x, y, y)
	}
}

// mark puts a character into the cell of a dot.
func (ra *Raster) mark(x, y int, r rune) {
	if x < 0 || y < 0 || x >= ra.dotsX || y >= ra.dotsY {
		return
	}
	if !ra.marked {
		ra.marks, ra.marked = zeroed(ra.marks, len(ra.cells)), true
	}
	ra.dot(x, y)
	across, _ := ra.glyphs.dots()
	ra.marks[int(ra.rows[y].cell)+x/across] = mark{r, ra.owner}
}

// span draws the dots from y0 to y1, in either order, of a column.
func (ra *Raster) span(x, y0, y1 int) {
	if y0 > y1 {
		y0, y1 = y1, y0
	}
	if uint(x) >= uint(ra.dotsX) || y1 < 0 || y0 >= ra.dotsY {
		return
	}
	if ra.dash != 0 {
		ra.broken(x, y0, y1)
		return
	}
	ra.fill(x, max(y0, 0), min(y1, ra.dotsY-1))
}

// broken draws a span of a broken line: steep parts are broken along y, but
// keep their ends, so that no peak is lost.
func (ra *Raster) broken(x, y0, y1 int) {
	if y1-y0 < ra.down {
		if ra.dash.on(x) {
			ra.fill(x, max(y0, 0), min(y1, ra.dotsY-1))
		}
		return
	}
	for y := max(y0, 0); y <= min(y1, ra.dotsY-1); y++ {
		if y == y0 || y == y1 || ra.dash.on(y) {
			ra.fill(x, y, y)
		}
	}
}

// fill sets the dots y0 <= y1 of a column, all within the raster.
func (ra *Raster) fill(x, y0, y1 int) {
	cx, m := int32(x>>ra.shift), &ra.masks[x&int(ra.shift)]
	from, to := ra.rows[y0], ra.rows[y1]
	if from.cell == to.cell {
		ra.set(from.cell+cx, m[from.sub&3][to.sub&3])
		return
	}
	last := ra.down - 1
	ra.set(from.cell+cx, m[from.sub&3][last&3])
	for i := from.cell + int32(ra.w); i < to.cell; i += int32(ra.w) {
		ra.set(i+cx, m[0][last&3])
	}
	ra.set(to.cell+cx, m[0][to.sub&3])
}

// line draws from one dot to another. Flat lines have one dot in each column,
// steep ones one in each row.
func (ra *Raster) line(x0, y0, x1, y1 int) {
	if x0 > x1 {
		x0, y0, x1, y1 = x1, y1, x0, y0
	}
	dx, dy, sign := x1-x0, y1-y0, 1
	if dy < 0 {
		dy, sign = -dy, -1
	}
	if dx == 0 {
		ra.span(x0, y0, y1)
		return
	}
	for k := max(0, -x0); k <= min(dx, ra.dotsX-1-x0); k++ {
		from := (2*k*dy + dx) / (2 * dx) // rounded
		to := from
		if dy > dx {
			// The rows t whose column, t*dx/dy rounded half up, is k.
			from = max(0, ceilDiv((2*k-1)*dy, 2*dx))
			to = min(dy, ceilDiv((2*k+1)*dy, 2*dx)-1)
		}
		ra.span(x0+k, y0+sign*from, y0+sign*to)
	}
}

// ceilDiv returns a/b rounded up, for b > 0.
func ceilDiv(a, b int) int {
	q := a / b
	if a%b > 0 {
		q++
	}
	return q
}

// segment draws from one place to another, in dots, cut at the edges.
func (ra *Raster) segment(x0, y0, x1, y1 float64) {
	// Liang and Barsky (1984): the part of the segment within the raster and
	// half a dot around it, so that what is cut does not change direction.
	t0, t1 := 0.0, 1.0
	clip := func(from, to, lo, hi float64) bool {
		d := to - from
		if d == 0 {
			return from >= lo && from <= hi
		}
		a, b := (lo-from)/d, (hi-from)/d
		t0, t1 = max(t0, min(a, b)), min(t1, max(a, b))
		return t0 <= t1
	}
	if !clip(x0, x1, -0.5, float64(ra.dotsX)-0.5) || !clip(y0, y1, -0.5, float64(ra.dotsY)-0.5) {
		return
	}
	round := func(from, to, t float64, n int) int {
		return min(max(int(from+(to-from)*t+0.5), 0), n-1)
	}
	ra.line(round(x0, x1, t0, ra.dotsX), round(y0, y1, t0, ra.dotsY),
		round(x0, x1, t1, ra.dotsX), round(y0, y1, t1, ra.dotsY))
}
