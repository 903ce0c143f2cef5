package chart

import (
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// markRadius is the size of marks, in points.
const markRadius = 2.4

// figureShape is a closed shape around the origin, of radius about 1; nil is a
// circle.
type figureShape []vg.Point

// shapeOf returns the form of a swatch's mark, and whether it is hollow.
func shapeOf(mark rune) (o figureShape, hollow bool) {
	square := figureShape{{X: -.85, Y: -.85}, {X: .85, Y: -.85}, {X: .85, Y: .85}, {X: -.85, Y: .85}}
	up := figureShape{{X: -1, Y: -.75}, {X: 1, Y: -.75}, {X: 0, Y: 1.1}}
	down := figureShape{{X: -1, Y: .75}, {X: 1, Y: .75}, {X: 0, Y: -1.1}}
	diamond := figureShape{{X: 0, Y: -1.25}, {X: 1.25, Y: 0}, {X: 0, Y: 1.25}, {X: -1.25, Y: 0}}
	switch mark {
	case '■':
		return square, false
	case '□':
		return square, true
	case '▲':
		return up, false
	case '△':
		return up, true
	case '▼':
		return down, false
	case '▽':
		return down, true
	case '◆':
		return diamond, false
	case '◇':
		return diamond, true
	case '○':
		return nil, true
	}
	return nil, false
}

func (o figureShape) path(at []vg.Point, radius vg.Length) (p vg.Path) {
	for _, c := range at {
		if o == nil {
			p.Move(vg.Point{X: c.X + radius, Y: c.Y})
			p.Arc(c, radius, 0, 2*math.Pi)
			p.Close()
			continue
		}
		for i, v := range o {
			v = c.Add(v.Scale(radius))
			if i == 0 {
				p.Move(v)
			} else {
				p.Line(v)
			}
		}
		p.Close()
	}
	return p
}

// drawMarks draws marks of one kind at all places.
func drawMarks(c *draw.Canvas, at []vg.Point, mark rune, hollow bool, radius vg.Length, ink color.Color) {
	if len(at) == 0 {
		return
	}
	o, open := shapeOf(mark)
	path := o.path(at, radius)
	if !open && !hollow {
		c.SetColor(ink)
		c.Fill(path)
		return
	}
	c.SetColor(color.White)
	c.Fill(path)
	c.SetLineStyle(draw.LineStyle{Color: ink, Width: 0.9})
	c.Stroke(path)
}

// dashes returns the pattern of a swatch's lines, in points.
func dashes(s Swatch) []vg.Length {
	switch s.Dash {
	case 1:
		return []vg.Length{5.5, 2}
	case 2:
		return []vg.Length{1.4, 1.8}
	case 3:
		return []vg.Length{7, 1.8, 1.4, 1.8}
	}
	return nil
}

// Of a line with at most fewPoints every value is marked, of others every so
// often, for eyes and printers without colour.
const (
	fewPoints  = 25
	marksAlong = 7
)

// marked returns where a line bears its mark. Lines bear theirs at different
// places, by their number among count.
func (p *figureDrawing) marked(middle []vg.Point, number, count int) (at []vg.Point) {
	inside := func(q vg.Point) bool { return p.frame.Contains(q) }
	if len(middle) <= fewPoints {
		for _, q := range middle {
			if inside(q) {
				at = append(at, q)
			}
		}
		return at
	}
	step := p.frame.Size().X / marksAlong
	next := p.frame.Min.X + step*vg.Length(float64(number)+.5)/vg.Length(max(1, count))
	for _, q := range middle {
		if q.X < next || !inside(q) {
			continue
		}
		at = append(at, q)
		next += step * vg.Length(math.Floor(float64((q.X-next)/step))+1)
	}
	return at
}
