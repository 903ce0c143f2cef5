package plot

import (
	"math"
	"math/rand/v2"
	"testing"
)

// paintedHeight is how much of a column of cells has a background, in cells, as it
// is seen: half blocks paint a half in their own colour.
func paintedHeight(c *Canvas, x int, r Rect, color Color) (sum float64) {
	for y := r.Y; y < r.Y+r.H; y++ {
		cell := c.At(x, y)
		switch {
		case cell.Style.FG == color: // a half block
			sum += 0.5
		case cell.Style.BG == color:
			sum++
		}
	}
	return sum
}

// A band is drawn as high as it is, within half a cell, whether a line runs through
// it or not: of bands that change slowly, in every column of cells.
func TestBandIsAsHighAsItIs(t *testing.T) {
	const w, h = 60, 24
	rng := rand.New(rand.NewPCG(3, 4))
	for _, g := range allGlyphs {
		for trial := range 60 {
			width, middle, slope := math.Exp(rng.Float64()*6-3.5), rng.Float64(), 0.3*rng.Float64()
			_, down := g.dots()
			ch := bare(g, -0.5/float64(down), h-0.5/float64(down)) // a cell is 1 high, with its dots in it
			ch.Y.Max = h - 1 + (float64(down)-0.5)/float64(down)
			ch.Y.Min = 0.5 / float64(down)
			ch.X.Min, ch.X.Max = 0, w
			var band Band
			var line []float64
			for x := 0.0; x <= w; x++ {
				at := 8 + 4*middle + slope*math.Sin(x/7)*4
				band.X, band.Lo, band.Hi = append(band.X, x), append(band.Lo, at-width/2), append(band.Hi, at+width/2)
				line = append(line, at+width*(middle-0.5))
			}
			band.Style.BG = Indexed(4)
			ch.Bands = []Band{band}
			if trial%2 == 0 {
				ch.Lines = []Line{{X: band.X, Y: line}}
			}
			c := NewCanvas(w, h)
			l := ch.Draw(c, c.Bounds())
			for x := range w {
				got, want := paintedHeight(c, x, l.Plot, Indexed(4)), width
				if math.Abs(got-want) > 0.5+slope*4/7 { // which it rises over a cell
					t.Fatalf("%v: a band %.2f cells high is drawn %.2f high in column %d\n%s", g, want, got, x, c.Plain())
				}
			}
		}
	}
}

// Points of the priority of a line stand on it: no cell with one belongs to the
// line, and the line's dots stay.
func TestPointsStandOnLines(t *testing.T) {
	for _, g := range allGlyphs {
		ch := bare(g, -2, 2)
		var x, y []float64
		for i := range 120 {
			x, y = append(x, float64(i)), append(y, math.Sin(float64(i)/9)+0.01)
		}
		lineStyle, pointStyle := Style{FG: Indexed(1)}, Style{FG: Indexed(2)}
		ch.Lines = []Line{{X: x, Y: y, Style: lineStyle, Priority: 3}}
		c := NewCanvas(80, 20)
		l := ch.Draw(c, c.Bounds())
		drawn := 0
		for cy := range 20 {
			for cx := range 80 {
				if c.At(cx, cy).Rune != ' ' {
					drawn++
				}
			}
		}
		s := Scatter{Style: pointStyle, Priority: 3}
		for i := 0; i < 120; i += 5 {
			s.X, s.Y = append(s.X, x[i]), append(s.Y, y[i])
		}
		ch.Scatters = []Scatter{s}
		c.Reset(80, 20)
		ch.Draw(c, c.Bounds())
		for i := range s.X {
			cx, _ := l.cellX(s.X[i])
			cy, _ := l.cellY(s.Y[i])
			if got := c.At(cx, cy).Style; got != pointStyle {
				t.Errorf("%v: the point %v, %.2f is hidden by the line", g, s.X[i], s.Y[i])
			}
		}
		after := 0
		for cy := range 20 {
			for cx := range 80 {
				if c.At(cx, cy).Rune != ' ' {
					after++
				}
			}
		}
		if after < drawn {
			t.Errorf("%v: %d cells have something, %d without the points", g, after, drawn)
		}
	}
}

// A band that jumps is drawn as high at each of its steps as it is there, and more where
// several fall into a cell: a peak that is less than a cell wide is not cut to the mean of its neighbours.
func TestBandsThatJumpKeepTheirPeaks(t *testing.T) {
	const w, h = 60, 24
	missed := map[bool]int{}
	for _, g := range allGlyphs {
		for _, jumps := range []bool{false, true} {
			_, down := g.dots()
			ch := bare(g, 0, w-1)
			ch.Y.Min, ch.Y.Max = 0.5/float64(down), h-1+(float64(down)-0.5)/float64(down)
			band := Band{Jumps: jumps, Style: Style{BG: Indexed(4)}}
			var peaks []int
			for x := 0.0; x < w-2; x += 0.7 {
				lo, hi := 8.0, 10.0
				if len(band.X)%21 == 18 { // every seventh step
					lo, hi = 12, 20
					peaks = append(peaks, int(x+0.35))
				}
				band.X = append(band.X, x, x+0.69, x+0.695)
				band.Lo, band.Hi = append(band.Lo, lo, lo, math.NaN()), append(band.Hi, hi, hi, math.NaN())
			}
			ch.Bands = []Band{band}
			c := NewCanvas(w, h)
			l := ch.Draw(c, c.Bounds())
			for _, x := range peaks {
				most := 0.0
				for near := max(0, x-1); near <= x+1; near++ {
					most = max(most, paintedHeight(c, near, l.Plot, Indexed(4)))
				}
				if most < 7.5 {
					missed[jumps]++
				}
			}
		}
	}
	if missed[true] > 0 || missed[false] == 0 {
		t.Errorf("peaks that are drawn too low: %v", missed)
	}
}
