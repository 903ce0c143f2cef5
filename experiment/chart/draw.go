package chart

import (
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Inks of what is not data.
var (
	inkText  = color.Gray{0x1a}
	inkFrame = color.Gray{0x55}
	inkNote  = color.Gray{0x66}
	inkRest  = color.Gray{0xbe}
	InkMark  = color.Gray{0x8c}
)

// Widths of lines, in points.
const (
	lineWidth  = 1.4
	restWidth  = 0.45
	frameWidth = 0.6
)

// figureDrawing is a figure on its paper.
type figureDrawing struct {
	*Figure
	lettering
	x, y    figureAxis
	frame   draw.Canvas // inside the axes
	left    int         // values that a logarithmic axis leaves out
	entries []figureEntry

	xTicks, yTicks   []figureTick
	xFactor, yFactor tickText
	notes            []markNote
	rows             int // of notes
	unnamed          int // marks without a note
}

// draw draws the figure; c is its paper.
func (f *Figure) draw(c draw.Canvas) error {
	if err := f.check(); err != nil {
		return err
	}
	p := &figureDrawing{Figure: f, lettering: newLettering(c)}
	if err := p.scale(); err != nil {
		return err
	}
	p.arrange()
	p.cells()
	p.bands()
	p.vertical()
	p.points()
	p.lines()
	p.axes()
	p.names()
	p.writeNotes()
	p.foot()
	return nil
}

// scale finds the limits of the axes.
func (p *figureDrawing) scale() error {
	p.x = figureAxis{lo: p.XMin, hi: p.XMax, log: p.LogX}
	p.y = figureAxis{lo: p.YMin, hi: p.YMax, log: p.LogY}
	freeX, freeY := p.XMin == p.XMax, p.YMin == p.YMax
	for _, a := range []struct {
		free   bool
		lo, hi float64
		log    bool
		name   string
	}{{freeX, p.XMin, p.XMax, p.LogX, "horizontal"}, {freeY, p.YMin, p.YMax, p.LogY, "vertical"}} {
		if ends := (figureAxis{log: a.log}); !a.free && (!ends.has(a.lo) || !ends.has(a.hi)) {
			return fmt.Errorf("figure %q: its %s axis cannot go from %g to %g", p.Name, a.name, a.lo, a.hi)
		}
	}
	var x, y Extent
	for _, rest := range []bool{false, true} {
		if !x.Any {
			p.each(rest, func(u, v float64) {
				if p.x.has(u) && p.y.has(v) {
					x.Add(u)
				}
			})
		}
		p.each(rest, func(u, v float64) {
			if p.LogX && u <= 0 || p.LogY && v <= 0 {
				p.left++
			}
		})
	}
	if !x.Any {
		why := "no value of it is a finite number"
		if p.left > 0 {
			why += " above 0, as a logarithmic axis needs; take a linear one"
		}
		return fmt.Errorf("figure %q has nothing to draw: %s", p.Name, why)
	}
	if freeX {
		p.x.lo, p.x.hi = x.padded(p.LogX, 0.02)
	}
	for _, rest := range []bool{false, true} {
		if !y.Any {
			p.each(rest, func(u, v float64) {
				if p.x.contains(u) && p.y.has(v) {
					y.Add(v)
				}
			})
		}
	}
	switch {
	case freeY && y.Any:
		p.y.lo, p.y.hi = y.padded(p.LogY, 0.05)
	case freeY:
		p.y.lo, p.y.hi = 1, 10 // nothing between the limits given
	}
	return nil
}

// each visits all values that are not of the rest, or all that are.
func (p *figureDrawing) each(rest bool, visit func(x, v float64)) {
	for i := range p.Lines {
		l := &p.Lines[i]
		if l.Rest != rest {
			continue
		}
		for j, x := range l.X {
			visit(x, l.Lo[j])
			if l.Hi != nil && l.Hi[j] != l.Lo[j] {
				visit(x, l.Hi[j])
			}
		}
	}
	if rest {
		return
	}
	for i := range p.Bands {
		for j, x := range p.Bands[i].X {
			visit(x, p.Bands[i].Lo[j])
			visit(x, p.Bands[i].Hi[j])
		}
	}
	for i := range p.Points {
		for j, x := range p.Points[i].X {
			visit(x, p.Points[i].Y[j])
		}
	}
	if p.Cells != nil {
		for i := range p.Cells.Values {
			visit(float64(i+1), float64(i+1))
		}
	}
}

// Distances on the paper, in points.
const (
	border  = 5
	rowStep = 12 // from one row of texts to the next
	tickLen = 3
)

// arrange divides the paper and finds the ticks.
func (p *figureDrawing) arrange() {
	paper := p.canvas.Rectangle
	p.entries = p.named()
	p.yTicks, p.yFactor = p.y.ticks(int(paper.Size().Y / 45))
	if p.YAt != nil {
		p.yTicks, p.yFactor = p.y.at(p.YAt), tickText{}
	}
	if p.YTicks != nil {
		p.yFactor = tickText{}
		for i := range p.yTicks {
			text := p.fit(Printable(p.YTicks(p.yTicks[i].at)), tickSize, paper.Size().X*.35)
			p.yTicks[i].tickText = tickText{text: text}
		}
	}
	widest := vg.Length(0)
	for _, t := range p.yTicks {
		widest = max(widest, p.tickWidth(t.tickText))
	}
	left := border + widest + tickLen + 3
	if p.YLabel != "" {
		left += labelSize + 5
	}
	bottom := vg.Length(border + tickSize + tickLen + 4)
	if p.XLabel != "" {
		bottom += labelSize + 5
	}
	top := vg.Length(border + tickSize/2)
	if p.Title != "" {
		top += titleSize + 5
	}
	right := vg.Length(16)
	rows := 0
	if p.above() {
		rows = p.flow(paper.Size().X-left-right, nil)
		top += vg.Length(rows) * rowStep
	} else if len(p.entries) > 0 {
		right = p.besideWidth()
	}
	p.x.from, p.x.to = paper.Min.X+left, paper.Max.X-right
	p.placeNotes()
	top += p.headRoom()
	if p.left > 0 || p.unnamed > 0 {
		bottom += noteSize + 4
	}
	p.frame = draw.Crop(p.canvas, left, -right, bottom, -top)
	p.y.from, p.y.to = p.frame.Min.Y, p.frame.Max.Y
	p.horizontalTicks()
}

// horizontalTicks finds the ticks of the horizontal axis, with labels that do
// not touch.
func (p *figureDrawing) horizontalTicks() {
	want := max(2, int(p.frame.Size().X/60))
	p.xTicks, p.xFactor = p.x.ticks(want)
	if p.XAt != nil {
		p.xTicks, p.xFactor = p.x.at(p.XAt), tickText{}
	}
	if p.XTicks != nil {
		p.xFactor = tickText{}
		for i := range p.xTicks {
			if p.xTicks[i].text != "" {
				p.xTicks[i].tickText = tickText{text: Printable(p.XTicks(p.xTicks[i].at))}
			}
		}
	}
	end := vg.Length(-farAway)
	for i := range p.xTicks {
		t := &p.xTicks[i]
		if t.text == "" {
			continue
		}
		half := p.tickWidth(t.tickText) / 2
		at := p.x.place(t.at)
		if at-half < end+4 {
			t.tickText = tickText{}
			continue
		}
		end = at + half
	}
}

// axes draws the frame with its ticks and texts.
func (p *figureDrawing) axes() {
	c, r := &p.canvas, p.frame.Rectangle
	thin := draw.LineStyle{Color: inkFrame, Width: frameWidth}
	c.SetLineStyle(thin)
	c.Stroke(r.Path())
	long := func(t figureTick) vg.Length {
		if t.text == "" {
			return tickLen / 2.
		}
		return tickLen
	}
	for _, t := range p.xTicks {
		at := p.x.place(t.at)
		c.StrokeLine2(thin, at, r.Min.Y, at, r.Min.Y-long(t))
		p.tick(at, r.Min.Y-tickLen-1-tickSize, t.tickText, .5)
	}
	for _, t := range p.yTicks {
		at := p.y.place(t.at)
		c.StrokeLine2(thin, r.Min.X, at, r.Min.X-long(t), at)
		p.tick(r.Min.X-tickLen-2, at-tickSize*.36, t.tickText, 1)
	}
	p.tick(r.Min.X-2, r.Max.Y+4, p.yFactor, 1)
	p.tick(r.Max.X, r.Min.Y-tickLen-5-2*tickSize, p.xFactor, 1)
	below := r.Min.Y - tickLen - tickSize - 4
	if p.XLabel != "" {
		below -= labelSize + 2
		p.write((r.Min.X+r.Max.X)/2, below, p.fit(Printable(p.XLabel), labelSize, p.canvas.Size().X-2*border), labelSize, .5, inkText)
	}
	if p.YLabel != "" {
		p.upwards(border+labelSize*.8, (r.Min.Y+r.Max.Y)/2, p.fit(Printable(p.YLabel), labelSize, p.canvas.Size().Y-2*border), labelSize, .5,
			inkText)
	}
	if p.Title != "" {
		title := p.fit(Printable(p.Title), titleSize, (p.canvas.Max.X-r.Min.X-border)*.94) // bold is wider
		p.put(r.Min.X, p.canvas.Max.Y-border-titleSize*.8, title, p.face(titleSize, true), 0, inkText)
	}
}

func (p *figureDrawing) bands() {
	for i := len(p.Bands) - 1; i >= 0; i-- {
		b := &p.Bands[i]
		for _, area := range p.areas(b) {
			p.canvas.FillPolygon(b.tint(), p.frame.ClipPolygonXY(area))
		}
	}
}

// tint is the colour of a band.
func (b *Band) tint() color.Color {
	opacity := uint8(0x38)
	if b.Inner {
		opacity = 0x60
	}
	return color.NRGBA{b.Swatch.Light.R, b.Swatch.Light.G, b.Swatch.Light.B, opacity}
}

func (p *figureDrawing) points() {
	for i := len(p.Points) - 1; i >= 0; i-- {
		s := &p.Points[i]
		at := p.dots(s)
		drawMarks(&p.canvas, at, s.Swatch.Mark, s.Hollow, p.pointRadius(len(s.X)), s.Swatch.Light)
	}
}

// pointRadius makes many points smaller.
func (p *figureDrawing) pointRadius(n int) vg.Length {
	return vg.Length(min(max(2.2-0.5*math.Log10(float64(n+1)/50), 0.8), 2.2))
}

// stroke draws a line on the paper, cut at the frame.
func (p *figureDrawing) stroke(l *Line, runs [][]vg.Point) {
	for _, run := range runs {
		for _, part := range p.frame.ClipLinesXY(run) {
			strokePieces(&p.canvas, p.style(l), part)
		}
	}
}

// pieceLen is the number of points that are drawn at once: the time that an
// image takes for a line goes with the square of the columns it covers.
const pieceLen = 40

// strokePieces draws a line of many points piece by piece, its dashes going on.
func strokePieces(c *draw.Canvas, style draw.LineStyle, points []vg.Point) {
	var along, period vg.Length
	for _, d := range style.Dashes {
		period += d
	}
	if len(points) > pieceLen && length(points) > 20*c.Size().X {
		style.Dashes, period = nil, 0 // they could not be seen in such a tangle
	}
	for len(points) > 1 {
		piece := points[:min(pieceLen, len(points))]
		if period > 0 {
			style.DashOffs = vg.Length(math.Mod(float64(along), float64(period)))
			along += length(piece)
		}
		c.StrokeLines(style, piece)
		points = points[len(piece)-1:]
	}
}

func length(points []vg.Point) (sum vg.Length) {
	for i := 1; i < len(points); i++ {
		sum += vg.Length(math.Hypot(float64(points[i].X-points[i-1].X), float64(points[i].Y-points[i-1].Y)))
	}
	return sum
}

func (p *figureDrawing) style(l *Line) draw.LineStyle {
	s := draw.LineStyle{Color: l.Swatch.Light, Width: vg.Length(l.Width), Dashes: dashes(l.Swatch)}
	if l.Rest {
		s.Color, s.Dashes = inkRest, nil
	}
	if l.Width <= 0 {
		s.Width = lineWidth
		if l.Rest {
			s.Width = restWidth
		}
	}
	return s
}

// lines draws the rest first and the first line last.
func (p *figureDrawing) lines() {
	coloured := 0
	for i := range p.Lines {
		if l := &p.Lines[i]; !l.Rest {
			coloured++
		} else {
			p.stroke(l, p.trace(l).runs)
		}
	}
	number := coloured
	for i := len(p.Lines) - 1; i >= 0; i-- {
		l := &p.Lines[i]
		if l.Rest {
			continue
		}
		number--
		t := p.trace(l)
		p.stroke(l, t.runs)
		p.ended(i, t.middle)
		if l.Swatch.Mark != 0 {
			drawMarks(&p.canvas, p.marked(t.middle, number, coloured), l.Swatch.Mark, false, markRadius, l.Swatch.Light)
		}
		for _, run := range t.runs {
			// A value between gaps is no line, but is there.
			if len(run) == 1 && p.frame.Contains(run[0]) {
				drawMarks(&p.canvas, run, l.Swatch.Mark, false, markRadius, l.Swatch.Light)
			}
		}
	}
}
