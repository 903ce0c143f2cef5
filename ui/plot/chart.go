package plot

import (
	"cmp"
	"math"
	"slices"
)

// ChartStyles are the styles of what is not data.
type ChartStyles struct {
	Axis   Style // lines and ticks
	Label  Style // their labels
	Title  Style // the axes' names
	Cursor Style
	Empty  Style
}

// Chart draws series over two axes. The zero Chart is empty and ready.
type Chart struct {
	Lines    []Line
	Bands    []Band
	Scatters []Scatter
	Markers  []Marker
	X, Y     Axis
	Glyphs   Glyphs
	Cursor   *float64 // x of the crosshair, nil none
	// CursorNext is which of several points at the crosshair is meant: the first
	// (0), the one behind it (1), and so on.
	CursorNext int
	// LabelEnds writes the labels of lines where these end, apart from each
	// other; where there is no room for all, those of the highest priority.
	LabelEnds bool
	Legend    bool // names above the plot
	// Remark returns a text to be written where there is nothing else, given what
	// could not be shown: the longest, and shorter ones for where that has no
	// room. Nil: none.
	Remark func(Layout) []string
	// Bare leaves the cells of bands, lines and points empty, for a picture; texts stand
	// where they do without.
	Bare   bool
	Empty  string // text shown as long as there is nothing to draw
	Styles ChartStyles

	// Raster is the memory drawn in; charts drawn one after another can share
	// one. Nil: the chart makes its own.
	Raster *Raster
}

// Charts smaller than this have no axes, so that something of the data is seen.
const (
	leastWidth, leastHeight = 10, 4
	largestSide             = 2048 // of a plot in cells
)

// Draw draws the chart into r and says where things are. It never draws
// outside r, and leaves cells without anything as they are.
func (ch *Chart) Draw(c *Canvas, r Rect) Layout {
	r = Rect{r.X, r.Y, min(r.W, largestSide), min(r.H, largestSide)}
	l := Layout{XLog: ch.X.Log, YLog: ch.Y.Log, Glyphs: ch.Glyphs}
	if r.Empty() {
		return l
	}
	defer c.Clip(r)()
	if ch.Raster == nil {
		ch.Raster = &Raster{}
	}
	ra := ch.Raster
	ra.begin(ch)
	var ok bool
	if l.XMin, l.XMax, ok = ch.limitsX(ra); ok {
		for i := range ra.xs {
			ra.xs[i].within(l.XMin, l.XMax)
		}
		plot := r
		if (ch.Legend || ch.Y.caption() != "" && !ch.Y.Hide) && r.W >= leastWidth && r.H > leastHeight+2 {
			plot.Y++
			plot.H--
		}
		l.YMin, l.YMax, ok = ch.limitsY(ra, l.XMin, l.XMax, plot.H-2)
		if ok {
			if ch.draw(c, r, plot, &l); ch.nothing(&l) {
				ch.empty(c, l.Plot)
			}
			return l
		}
	}
	ch.empty(c, r)
	return l
}

// nothing reports whether a chart has no more than axes.
func (ch *Chart) nothing(l *Layout) bool {
	return len(ch.Scatters) == 0 && len(ch.Bands) == 0 && !slices.ContainsFunc(l.Lines, func(o LineLayout) bool { return o.Drawn })
}

// empty says in the middle of r why nothing is there.
func (ch *Chart) empty(c *Canvas, r Rect) {
	text := Truncate(ch.Empty, r.W)
	c.Text(r.X+(r.W-TextWidth(text))/2, r.Y+(r.H-1)/2, text, ch.Styles.Empty)
}

// begin finds what the X of lines and bands have in common.
func (ra *Raster) begin(ch *Chart) {
	for i := range ra.xs {
		ra.xs[i].xs = nil // so that the caller's memory is not kept
	}
	ra.xs, ra.lineX, ra.bandX = ra.xs[:0], ra.lineX[:0], ra.bandX[:0]
	n := 0
	for i := range ch.Lines {
		n = max(n, len(ch.Lines[i].Y), len(ch.Lines[i].Y32))
	}
	for i := range ch.Bands {
		n = max(n, len(ch.Bands[i].Lo))
	}
	for len(ra.counter) < n {
		ra.counter = append(ra.counter, float64(len(ra.counter)))
	}
	for i := range ch.Lines {
		l := &ch.Lines[i]
		ra.lineX = append(ra.lineX, ra.index(l.X, max(len(l.Y), len(l.Y32)), ch.X.Log))
	}
	for i := range ch.Bands {
		b := &ch.Bands[i]
		ra.bandX = append(ra.bandX, ra.index(b.X, min(len(b.Lo), len(b.Hi)), ch.X.Log))
	}
}

// draw divides plot into axes, labels and the plot itself and draws them all.
func (ch *Chart) draw(c *Canvas, r, plot Rect, l *Layout) {
	ra := ch.Raster
	ra.ticksX, ra.ticksY = ra.ticksX[:0], ra.ticksY[:0]
	axisRow := false
	small := r.W < leastWidth || r.H < leastHeight
	if !small && !ch.X.Hide {
		plot.H--
		if axisRow = plot.H >= leastHeight; axisRow {
			plot.H--
		}
	}
	margin := 0
	if !small && !ch.Y.Hide {
		ra.ticksY = ch.Y.ticks(ra.ticksY, l.YMin, l.YMax, ticksDown(plot.H))
		for _, t := range ra.ticksY {
			margin = max(margin, TextWidth(t.Text))
		}
		if margin > r.W/3 {
			margin = 0
		}
		plot.X += margin + 1
		plot.W -= margin + 1
	}
	ends := 0
	if ch.LabelEnds && !small {
		for i := range ch.Lines {
			ends = max(ends, TextWidth(ch.Lines[i].Label)+TextWidth(ch.Lines[i].Value))
		}
		if ends = min(ends, r.W/3); ends > 0 {
			plot.W -= ends + 1
		}
	}
	l.Plot = plot
	if plot.Empty() { // only with few cells and a margin
		l.Plot = Rect{X: plot.X, Y: plot.Y}
		return
	}
	ch.series(l)
	ch.behind(c, l)
	ra.compose(c, l.Plot, ch.Glyphs)
	bare := ch.bare(c, l.Plot)
	ch.above(c, l)
	if !small {
		ch.axes(c, r, l, margin, axisRow)
	}
	if plot.Y > r.Y {
		x := r.X
		if !ch.Y.Hide && ch.Y.caption() != "" {
			x = c.TextFit(x, r.Y, r.W, ch.Y.caption(), ch.Styles.Title) + 2
		}
		if x = max(x, plot.X); ch.Legend {
			ch.legend(c, Rect{x, r.Y, r.X + r.W - x, 1})
		}
	}
	if ends > 0 {
		ch.ends(c, l, ends)
	}
	ch.texts(c, l)
	bare()
}

// bare returns what empties the cells of r that have not changed since; nothing for a
// chart that is not bare.
func (ch *Chart) bare(c *Canvas, r Rect) func() {
	if !ch.Bare {
		return func() {}
	}
	var was []Cell
	for y := range r.H {
		for x := range r.W {
			was = append(was, c.At(r.X+x, r.Y+y))
		}
	}
	return func() {
		for i, cell := range was {
			if x, y := r.X+i%r.W, r.Y+i/r.W; c.At(x, y) == cell {
				c.Set(x, y, ' ', Style{})
			}
		}
	}
}

// series draws bands, lines and scatters into the raster, by priority.
func (ch *Chart) series(l *Layout) {
	ra := ch.Raster
	ra.reset(l.Plot.W, l.Plot.H, ch.Glyphs)
	sx := newScale(l.XMin, l.XMax, ra.dotsX, l.XLog)
	sy := newScale(l.YMax, l.YMin, ra.dotsY, l.YLog)
	for i := range ra.xs {
		ra.xs[i].columns(sx)
	}
	for i := range ch.Bands {
		ra.band(&ch.Bands[i], &ra.xs[ra.bandX[i]], sx, sy, i == 0)
	}
	ra.layouts = zeroed(ra.layouts, len(ch.Lines))
	l.Lines = ra.layouts
	ra.order = ra.order[:0]
	for i := range ch.Lines {
		ra.order = append(ra.order, i)
	}
	for i := range ch.Scatters { // over lines of the same priority, whose dots stay
		ra.order = append(ra.order, -1-i)
	}
	slices.SortStableFunc(ra.order, func(i, k int) int { return cmp.Compare(ch.priority(i), ch.priority(k)) })
	for n, i := range ra.order {
		higher := n == 0 || ch.priority(i) > ch.priority(ra.order[n-1])
		if i < 0 {
			l.Clipped += ch.scatter(&ch.Scatters[-1-i], sx, sy, higher)
			continue
		}
		line := &ch.Lines[i]
		ra.next(higher, line.Style, line.Dash)
		ra.signed[ra.owner-1] = line.Mark != 0
		t := tracer{ra: ra, x: &ra.xs[ra.lineX[i]], sx: sx, sy: sy, floor: newExtent(l.YLog).above, line: line, arrows: len(ra.arrows)}
		if line.Y != nil {
			trace(&t, line.Y, line.Hi)
		} else {
			trace(&t, line.Y32, line.Hi32)
		}
		t.out.EndX += l.Plot.X
		t.out.EndY += l.Plot.Y
		l.Lines[i] = t.out
		l.Gaps += t.out.Gaps
		l.NonPositive += t.out.NonPositive
		l.Clipped += t.out.Clipped
	}
}

// priority is that of a line, or of scatter -1-i.
func (ch *Chart) priority(i int) int {
	switch {
	case i < 0:
		return ch.Scatters[-1-i].Priority
	case ch.Lines[i].Focus:
		return int(^uint(0) >> 1)
	}
	return ch.Lines[i].Priority
}

// edged says which edges have an arrow of a scatter in a column of dots.
type edged struct{ up, down bool }

// scatter draws points and returns how many are above or below the plot.
func (ch *Chart) scatter(s *Scatter, sx, sy scale, higher bool) (clipped int) {
	ra := ch.Raster
	ra.next(higher, s.Style, 0)
	sign := s.Mark
	if sign == 0 && ch.Glyphs == ASCII {
		sign = 'o'
	}
	ra.edged = zeroed(ra.edged, ra.dotsX)
	for i := range min(len(s.X), len(s.Y)) {
		x, okX := sx.dot(s.X[i])
		y, okY := sy.dot(s.Y[i])
		switch {
		case !okX || !okY || x < 0 || x >= ra.dotsX:
		case y < 0 || y >= ra.dotsY:
			clipped++
			has := &ra.edged[x].up
			if y > 0 {
				has = &ra.edged[x].down
			}
			if !*has {
				*has = true
				ra.arrows = append(ra.arrows, arrow{peak: x, up: y < 0, owner: ra.owner})
			}
		case sign != 0:
			ra.mark(x, y, sign)
		default:
			ra.dot(x, y)
		}
	}
	return clipped
}

// behind draws the vertical lines that series cover.
func (ch *Chart) behind(c *Canvas, l *Layout) {
	g := ch.Glyphs.lines()
	line := func(x float64, s Style) {
		if at, ok := l.cellX(x); ok {
			c.Fill(Rect{at, l.Plot.Y, 1, l.Plot.H}, g.cursor, s)
		}
	}
	for _, m := range ch.Markers {
		line(m.X, m.Style)
	}
	if ch.Cursor != nil {
		line(*ch.Cursor, ch.Styles.Cursor)
	}
}

// compose writes the cells that have dots, marks or backgrounds.
func (ra *Raster) compose(c *Canvas, r Rect, g Glyphs) {
	line := g.lines()
	ra.paint(func(x, y int) bool {
		return g == ASCII || ra.cells[y*ra.w+x].mask != 0 || c.At(r.X+x, r.Y+y).Rune > ' '
	})
	for y := range ra.h {
		row := ra.cells[y*ra.w : (y+1)*ra.w]
		for x := range row {
			cell, i := row[x], y*ra.w+x
			var back halves
			if len(ra.fills) > 0 {
				back = ra.backs[i]
			}
			var s Style
			ch := ' '
			switch {
			case cell.mask != 0:
				s, ch = ra.styles[cell.owner-1], g.rune(cell.mask)
				if ra.marked {
					if m := ra.marks[i]; m.r != 0 && (m.owner == cell.owner || ra.signed[m.owner-1] && ra.signed[cell.owner-1]) {
						s, ch = ra.styles[m.owner-1], m.r
					}
				}
				if s.BG == 0 {
					s.BG = back.top
				}
			case back.top != back.bottom:
				switch {
				case back.bottom == 0:
					ch, s.FG = line.upper, back.top
				default:
					ch, s.FG, s.BG = line.lower, back.bottom, back.top
				}
			case back.top != 0:
				at := c.At(r.X+x, r.Y+y)
				s, ch = at.Style.On(back.top), max(at.Rune, ' ')
			case ra.shaded && ra.shades[i] != 0:
				s, ch = ra.styles[ra.shades[i]-1], line.shade
			default:
				continue
			}
			c.Set(r.X+x, r.Y+y, ch, s)
		}
	}
}

// above draws what stands over the series: arrows and the points at the cursor.
func (ch *Chart) above(c *Canvas, l *Layout) {
	ra, g := ch.Raster, ch.Glyphs.lines()
	over := func(x, y int, r rune, s Style) {
		if s.BG == 0 {
			s.BG = c.At(x, y).Style.BG
		}
		c.Set(x, y, r, s)
	}
	across, _ := ch.Glyphs.dots()
	for _, a := range ra.arrows {
		x, s := l.Plot.X+a.peak/across, ra.styles[a.owner-1]
		if a.up {
			over(x, l.Plot.Y, g.up, s)
		} else {
			over(x, l.Plot.Y+l.Plot.H-1, g.down, s)
		}
	}
	if ch.Cursor != nil {
		for _, i := range ra.order {
			if i < 0 || !ch.Lines[i].Focus && ch.Lines[i].Label == "" {
				continue
			}
			line, xs := &ch.Lines[i], &ra.xs[ra.lineX[i]]
			k := -1
			if xs.sorted {
				k = nearestIndex(xs.xs, *ch.Cursor)
			}
			if k < 0 {
				continue
			}
			for n := ch.CursorNext; n > 0 && k+1 < len(xs.xs) && xs.xs[k+1] == xs.xs[k]; n-- {
				k++
			}
			x, okX := l.cellX(xs.xs[k])
			y, okY := l.cellY(line.at(k))
			if okX && okY {
				over(x, y, g.point, line.Style.With(Bold))
			}
		}
	}
}

// at returns a value, the middle of a range; NaN beyond the last.
func (l *Line) at(i int) float64 {
	switch {
	case l.Y != nil && i < len(l.Y):
		if i < len(l.Hi) {
			return l.Y[i]/2 + l.Hi[i]/2
		}
		return l.Y[i]
	case l.Y == nil && i < len(l.Y32):
		if i < len(l.Hi32) {
			return float64(l.Y32[i])/2 + float64(l.Hi32[i])/2
		}
		return float64(l.Y32[i])
	}
	return math.NaN()
}
