package chart

import (
	"fmt"
	"image/color"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// figureEntry is something that has a name in the figure.
type figureEntry struct {
	name string
	line int      // of Lines, −1: none
	end  vg.Point // of the line
	seen bool     // the line has an end
	draw func(at vg.Point)
}

// Measures of names, in points.
const (
	sampleLen  = 27
	sampleGap  = 4
	leadLen    = 12 // from the frame to the samples beside it
	mostBeside = 10 // names that are put at the lines' ends
)

// named lists what has a name, in the order of reading.
func (p *figureDrawing) named() (entries []figureEntry) {
	middle := func(at vg.Point) vg.Point { return vg.Point{X: at.X + sampleLen/2., Y: at.Y} }
	for i := range p.Points {
		s := &p.Points[i]
		entries = append(entries, figureEntry{name: s.Name, line: -1, draw: func(at vg.Point) {
			drawMarks(&p.canvas, []vg.Point{middle(at)}, s.Swatch.Mark, s.Hollow, markRadius, s.Swatch.Light)
		}})
	}
	for i := range p.Lines {
		l := &p.Lines[i]
		if l.Rest {
			continue
		}
		entries = append(entries, figureEntry{name: l.Name, line: i, draw: func(at vg.Point) {
			p.canvas.StrokeLine2(p.style(l), at.X, at.Y, at.X+sampleLen, at.Y)
			if l.Swatch.Mark != 0 {
				drawMarks(&p.canvas, []vg.Point{middle(at)}, l.Swatch.Mark, false, markRadius, l.Swatch.Light)
			}
		}})
	}
	for i := range p.Bands {
		b := &p.Bands[i]
		entries = append(entries, figureEntry{name: b.Name, line: -1, draw: func(at vg.Point) {
			sample := vg.Rectangle{Min: vg.Point{X: at.X, Y: at.Y - 3}, Max: vg.Point{X: at.X + sampleLen, Y: at.Y + 3}}.Path()
			p.canvas.SetColor(b.tint())
			p.canvas.Fill(sample)
			if b.Inner && i > 0 { // as it looks there
				p.canvas.SetColor(p.Bands[i-1].tint())
				p.canvas.Fill(sample)
			}
		}})
	}
	entries = slices.DeleteFunc(entries, func(e figureEntry) bool { return e.name == "" })
	for i := range entries {
		entries[i].name = p.fit(Printable(entries[i].name), tickSize, p.canvas.Size().X*.3)
	}
	return entries
}

// above says whether the names stand in rows above the frame: where not all of
// them are those of lines. Else they stand beside it, at the lines' ends.
func (p *figureDrawing) above() bool {
	return slices.ContainsFunc(p.entries, func(e figureEntry) bool { return e.line < 0 })
}

// ended notes where a line ends, for its name.
func (p *figureDrawing) ended(line int, middle []vg.Point) {
	k := slices.IndexFunc(p.entries, func(e figureEntry) bool { return e.line == line })
	if k < 0 {
		return
	}
	for i := len(middle) - 1; i >= 0; i-- {
		if q := middle[i]; p.frame.ContainsX(q.X) {
			q.Y = min(max(q.Y, p.frame.Min.Y), p.frame.Max.Y)
			p.entries[k].end, p.entries[k].seen = q, true
			return
		}
	}
}

// flow divides the names into rows of a width and returns their number; put is
// given the place of each.
func (p *figureDrawing) flow(width vg.Length, put func(e *figureEntry, x vg.Length, row int)) (rows int) {
	var x vg.Length
	for i := range p.entries {
		e := &p.entries[i]
		w := sampleLen + sampleGap + p.width(e.name, tickSize)
		if x > 0 && x+w > width {
			x = 0
			rows++
		}
		if put != nil {
			put(e, x, rows)
		}
		x += w + 14
	}
	return rows + 1
}

// besideWidth is what the names beside the frame need.
func (p *figureDrawing) besideWidth() vg.Length {
	w := vg.Length(0)
	for i := range p.entries {
		w = max(w, p.width(p.entries[i].name, tickSize))
	}
	return leadLen + sampleLen + sampleGap + w + border + 3
}

func (p *figureDrawing) names() {
	switch {
	case len(p.entries) == 0:
	case p.above():
		top := p.frame.Max.Y + p.headRoom() + 7
		rows := p.flow(p.frame.Size().X, nil)
		p.flow(p.frame.Size().X, func(e *figureEntry, x vg.Length, row int) {
			p.name(e, vg.Point{X: p.frame.Min.X + x, Y: top + vg.Length(rows-1-row)*rowStep})
		})
	default:
		p.beside()
	}
}

// name writes a sample and a name at their left end.
func (p *figureDrawing) name(e *figureEntry, at vg.Point) {
	e.draw(at)
	var ink color.Color = inkText
	if e.line >= 0 && !e.seen && !p.above() {
		ink = inkNote
	}
	p.write(at.X+sampleLen+sampleGap, at.Y-tickSize*.36, e.name, tickSize, 0, ink)
}

// beside puts the names at the lines' ends, as close as they can be without
// touching, or where there are many, in a list.
func (p *figureDrawing) beside() {
	lo, hi := p.frame.Min.Y+3, p.frame.Max.Y-3
	x := p.frame.Max.X + leadLen
	room := int((hi-lo)/rowStep) + 1
	if len(p.entries) > min(mostBeside, room) {
		for i := range p.entries {
			at := vg.Point{X: x, Y: hi - vg.Length(i)*rowStep}
			if i == room-1 && len(p.entries) > room {
				p.write(x, at.Y, fmt.Sprintf("and %d more", len(p.entries)-i), noteSize, 0, inkNote)
				return
			}
			p.name(&p.entries[i], at)
		}
		return
	}
	// From below; of equals the first above.
	order := make([]int, len(p.entries))
	for i := range order {
		order[i] = len(order) - 1 - i
		if e := &p.entries[i]; !e.seen {
			e.end = vg.Point{X: p.frame.Max.X, Y: p.frame.Min.Y}
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch y, z := p.entries[a].end.Y, p.entries[b].end.Y; {
		case y < z:
			return -1
		case y > z:
			return 1
		}
		return 0
	})
	ends := make([]float64, len(order))
	for i, k := range order {
		ends[i] = p.entries[k].end.Y.Points()
	}
	places := moveApart(ends, rowStep-1.5, lo.Points(), hi.Points())
	lead := draw.LineStyle{Color: InkMark, Width: 0.4}
	for i, k := range order {
		e := &p.entries[k]
		at := vg.Point{X: x, Y: vg.Length(places[i])}
		if e.seen {
			if e.end.X < p.frame.Max.X-8 {
				dotted := lead
				dotted.Dashes = []vg.Length{0.8, 2}
				p.canvas.StrokeLine2(dotted, e.end.X+4, e.end.Y, p.frame.Max.X, e.end.Y)
			}
			p.canvas.StrokeLine2(lead, p.frame.Max.X+1, e.end.Y, at.X-2, at.Y)
		}
		p.name(e, at)
	}
}

// moveApart moves ascending numbers as little as can be (in squares) so that
// they are at least gap apart and from lo to hi; there must be room.
func moveApart(at []float64, gap, lo, hi float64) []float64 {
	// Less their distances, they must only not descend: isotonic regression, by
	// pooling neighbours that do, then the limits.
	type pool struct {
		mean float64
		n    int
	}
	var pools []pool
	for i, v := range at {
		pools = append(pools, pool{v - float64(i)*gap, 1})
		for k := len(pools) - 1; k > 0 && pools[k].mean < pools[k-1].mean; k-- {
			a, b := pools[k-1], pools[k]
			n := a.n + b.n
			pools[k-1] = pool{(a.mean*float64(a.n) + b.mean*float64(b.n)) / float64(n), n}
			pools = pools[:k]
		}
	}
	out := make([]float64, 0, len(at))
	top := hi - float64(len(at)-1)*gap
	for _, p := range pools {
		for range p.n {
			out = append(out, max(lo, min(p.mean, top))+float64(len(out))*gap)
		}
	}
	return out
}
