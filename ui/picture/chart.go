package picture

import (
	"cmp"
	"image/color"
	"math"
	"slices"

	"golang.org/x/image/vector"

	"example.com/kestrel/ui/plot"
)

// Chart paints what a chart has within its axes over a whole picture, which lies on the
// cells l.Plot: bands, lines, points, and the vertical lines of markers and of the
// crosshair.
func Chart(m *Image, ch *plot.Chart, l plot.Layout) {
	p := pen{m: m, l: &l, width: max(1.2, float64(m.CellH)/11)}
	for i := range ch.Bands {
		p.band(&ch.Bands[i])
	}
	for i := range ch.Markers {
		p.upright(ch.Markers[i].X, m.colour(ch.Markers[i].Style))
	}
	if ch.Cursor != nil {
		p.upright(*ch.Cursor, m.colour(ch.Styles.Cursor))
	}
	order := make([]int, 0, len(ch.Lines)+len(ch.Scatters)) // lines, then points: those stand above
	for i := range len(ch.Lines) + len(ch.Scatters) {
		order = append(order, i)
	}
	priority := func(i int) int {
		if i < len(ch.Lines) {
			return ch.Lines[i].Priority
		}
		return ch.Scatters[i-len(ch.Lines)].Priority
	}
	slices.SortStableFunc(order, func(i, k int) int { return cmp.Compare(priority(i), priority(k)) })
	for _, i := range order {
		if i < len(ch.Lines) {
			p.line(&ch.Lines[i])
		} else {
			p.scatter(&ch.Scatters[i-len(ch.Lines)])
		}
	}
}

// pen paints a chart.
type pen struct {
	m     *Image
	l     *plot.Layout
	width float64 // of lines, pixels
}

// at is where a point is; ok is false where it has no place.
func (p *pen) at(x, y float64) (point, bool) {
	u, v := p.l.ShareX(x), p.l.ShareY(y)
	return point{u * float64(p.m.Rect.Dx()), v * float64(p.m.Rect.Dy())}, u-u == 0 && v-v == 0
}

func (p *pen) upright(x float64, c color.Color) {
	if at, ok := p.at(x, p.l.YMin); ok {
		p.m.fill(c, func(r *vector.Rasterizer) { stroke(r, point{at.x, 0}, point{at.x, float64(p.m.Rect.Dy())}, 1) })
	}
}

func (p *pen) band(b *plot.Band) {
	c := p.m.colour(b.Style)
	if r, g, bl, ok := b.Style.BG.RGB(); ok {
		c = color.RGBA{r, g, bl, 255}
	}
	p.m.fill(c, func(r *vector.Rasterizer) {
		var up, down []point
		end := func() {
			if len(up) > 1 {
				slices.Reverse(down)
				outline(r, append(up, down...)...)
			}
			up, down = nil, nil
		}
		for i := range min(len(b.X), len(b.Lo), len(b.Hi)) {
			hi, okHi := p.at(b.X[i], max(b.Lo[i], b.Hi[i]))
			lo, okLo := p.at(b.X[i], min(b.Lo[i], b.Hi[i]))
			if !okHi || !okLo {
				end()
				continue
			}
			up, down = append(up, hi), append(down, lo)
		}
		end()
	})
}

// dash is the length of a dash and of the gap behind it, in widths of the line.
const dash = 4

func (p *pen) line(l *plot.Line) {
	p.m.fill(p.m.colour(l.Style), func(r *vector.Rasterizer) {
		var last point
		open, gone := false, 0.0
		for i := range min(len(l.X), len(l.Y)) {
			now, ok := p.at(l.X[i], l.Y[i])
			if ok && open {
				if l.Dash == 0 || math.Mod(gone, 2*dash*p.width) < dash*p.width {
					stroke(r, last, now, p.width)
				}
				gone += math.Hypot(now.x-last.x, now.y-last.y)
			}
			last, open = now, ok
		}
	})
}

// scatter paints points, those that are signs on the cells larger, with a rim.
func (p *pen) scatter(s *plot.Scatter) {
	radius := 1.3 * p.width
	if s.Mark != 0 {
		radius *= 1.5
	}
	discs := func(radius float64) func(r *vector.Rasterizer) {
		return func(r *vector.Rasterizer) {
			for i := range min(len(s.X), len(s.Y)) {
				if at, ok := p.at(s.X[i], s.Y[i]); ok {
					disc(r, at, radius)
				}
			}
		}
	}
	if s.Mark != 0 {
		p.m.fill(p.m.Ground, discs(radius+1))
	}
	p.m.fill(p.m.colour(s.Style), discs(radius))
}
