package chart

import (
	"math"

	"gonum.org/v1/plot/vg"
)

// Width of the columns in which many points are thinned, in points: a pixel and
// a third; more for the rest, which may be very many lines.
const (
	figureColumn = 0.5
	restColumn   = 1.5
)

// figureTrace is a line on the paper.
type figureTrace struct {
	runs   [][]vg.Point // between gaps, thinned
	middle []vg.Point   // of each value
}

// trace puts a line on the paper. A range is drawn upright, its nearer end
// first.
func (p *figureDrawing) trace(l *Line) (t figureTrace) {
	var run []vg.Point
	column := figureColumn
	if l.Rest {
		column = restColumn
	}
	end := func() {
		if len(run) > 0 {
			t.runs = append(t.runs, thin(run, column))
			run = nil
		}
	}
	for i, x := range l.X {
		lo, hi, ok := p.extent(l.Lo, l.Hi, i)
		if !ok || !p.x.has(x) {
			end()
			continue
		}
		at := vg.Point{X: p.x.place(x), Y: p.y.place(lo)}
		if lo == hi {
			run = append(run, at)
			t.middle = append(t.middle, at)
			continue
		}
		other := vg.Point{X: at.X, Y: p.y.place(hi)}
		t.middle = append(t.middle, vg.Point{X: at.X, Y: (at.Y + other.Y) / 2})
		if n := len(run); n > 0 && abs(other.Y-run[n-1].Y) < abs(at.Y-run[n-1].Y) {
			at, other = other, at
		}
		run = append(run, at, other)
	}
	end()
	return t
}

// extent returns the part of a range that has a place on the vertical axis.
func (p *figureDrawing) extent(lows, highs []float64, i int) (lo, hi float64, ok bool) {
	lo = lows[i]
	hi = lo
	if highs != nil {
		hi = highs[i]
	}
	if math.IsNaN(lo) || math.IsNaN(hi) {
		return 0, 0, false
	}
	lo, hi = min(lo, hi), max(lo, hi)
	if !p.y.has(lo) {
		lo = hi
	}
	return lo, hi, p.y.has(lo) && p.y.has(hi)
}

// thin keeps of neighbouring points in a column the least and the greatest one,
// where there are too many to be seen.
func thin(run []vg.Point, column float64) []vg.Point {
	const few = 2000
	if len(run) <= few {
		return run
	}
	out := make([]vg.Point, 0, few)
	for from := 0; from < len(run); {
		at := math.Floor(run[from].X.Points() / column)
		least, most := from, from
		to := from + 1
		for ; to < len(run) && math.Floor(run[to].X.Points()/column) == at; to++ {
			if run[to].Y < run[least].Y {
				least = to
			}
			if run[to].Y > run[most].Y {
				most = to
			}
		}
		// The ends of the line stay.
		before := -1
		for _, i := range [...]int{0, min(least, most), max(least, most), len(run) - 1} {
			if i >= from && i < to && i > before {
				out = append(out, run[i])
				before = i
			}
		}
		from = to
	}
	return out
}

// areas puts a band on the paper, an outline for each run between gaps.
func (p *figureDrawing) areas(b *Band) (areas [][]vg.Point) {
	var above, below []vg.Point
	end := func() {
		if len(above) > 1 {
			outline := thin(above, figureColumn)
			below = thin(below, figureColumn)
			for i := len(below) - 1; i >= 0; i-- {
				outline = append(outline, below[i])
			}
			areas = append(areas, outline)
		}
		above, below = nil, nil
	}
	for i, x := range b.X {
		lo, hi := b.Lo[i], b.Hi[i]
		if !p.x.has(x) || !p.y.has(hi) || math.IsNaN(lo) || math.IsInf(lo, 0) {
			end()
			continue
		}
		at := p.x.place(x)
		bottom := vg.Length(-farAway) // of a logarithmic axis
		if p.y.has(lo) {
			bottom = p.y.place(lo)
		}
		above = append(above, vg.Point{X: at, Y: p.y.place(hi)})
		below = append(below, vg.Point{X: at, Y: bottom})
	}
	end()
	return areas
}

// dots puts points on the paper; of those on one spot only one is kept.
func (p *figureDrawing) dots(s *Points) (dots []vg.Point) {
	type spot struct{ x, y int32 }
	seen := make(map[spot]bool)
	for i, x := range s.X {
		if !p.x.contains(x) || !p.y.contains(s.Y[i]) {
			continue
		}
		at := vg.Point{X: p.x.place(x), Y: p.y.place(s.Y[i])}
		cell := spot{int32(at.X / figureColumn), int32(at.Y / figureColumn)}
		if !seen[cell] {
			seen[cell] = true
			dots = append(dots, at)
		}
	}
	return dots
}

func abs(l vg.Length) vg.Length { return max(l, -l) }
