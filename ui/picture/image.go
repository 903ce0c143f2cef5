package picture

import (
	"image"
	"image/color"
	"math"

	"golang.org/x/image/vector"

	"example.com/kestrel/ui/plot"
)

// Image is what is painted on, pixel (0, 0) at the upper left.
type Image struct {
	*image.RGBA
	CellW, CellH int // of the terminal
	Ground       color.RGBA
}

// point is a place in pixels, whole numbers between them.
type point struct{ x, y float64 }

// far bounds what is painted outside of a picture.
const far = 1 << 14

// outline adds a closed line to what is filled.
func outline(r *vector.Rasterizer, points ...point) {
	for i, p := range points {
		x, y := float32(min(max(p.x, -far), far)), float32(min(max(p.y, -far), far))
		if i == 0 {
			r.MoveTo(x, y)
		} else {
			r.LineTo(x, y)
		}
	}
	r.ClosePath()
}

// fill paints what paths encloses.
func (m *Image) fill(c color.Color, paths func(r *vector.Rasterizer)) {
	r := vector.NewRasterizer(m.Rect.Dx(), m.Rect.Dy())
	paths(r)
	r.Draw(m.RGBA, m.Rect, image.NewUniform(c), image.Point{})
}

// stroke adds a line of some width between two points; all turn the same way, so that
// where two cross both are filled.
func stroke(r *vector.Rasterizer, p, q point, width float64) {
	dx, dy := q.x-p.x, q.y-p.y
	long := math.Hypot(dx, dy)
	if !(long > 0) {
		return
	}
	nx, ny := dy/long*width/2, -dx/long*width/2
	ex, ey := dx/long*width/4, dy/long*width/4 // a little beyond, so that corners close
	outline(r, point{p.x - ex + nx, p.y - ey + ny}, point{q.x + ex + nx, q.y + ey + ny},
		point{q.x + ex - nx, q.y + ey - ny}, point{p.x - ex - nx, p.y - ey - ny})
}

// disc adds a disc.
func disc(r *vector.Rasterizer, at point, radius float64) {
	const corners = 10
	var points [corners]point
	for i := range points {
		s, c := math.Sincos(-2 * math.Pi * float64(i) / corners)
		points[i] = point{at.x + radius*c, at.y + radius*s}
	}
	outline(r, points[:]...)
}

// dark reports whether the ground is.
func (m *Image) dark() bool {
	return 299*int(m.Ground.R)+587*int(m.Ground.G)+114*int(m.Ground.B) < 128_000
}

// colour is that of a style's characters.
func (m *Image) colour(s plot.Style) color.RGBA {
	if r, g, b, ok := s.FG.RGB(); ok {
		return color.RGBA{r, g, b, 255}
	}
	v := uint8(40)
	if m.dark() {
		v = 215
	}
	if s.Attr&plot.Faint != 0 {
		v = uint8((int(v) + int(m.Ground.G)) / 2)
	}
	return color.RGBA{v, v, v, 255}
}
