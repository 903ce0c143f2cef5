package plot

import (
	"fmt"
	"math"
	"sort"
	"strings"
)

// Layout is where a chart's data are on the canvas, and what could not be
// shown. Its slices belong to the chart's Raster and hold until it draws again.
type Layout struct {
	Plot       Rect    // the cells of the data, without axes and labels
	XMin, XMax float64 // at the centre of the first and last dot
	YMin, YMax float64
	XLog, YLog bool
	Glyphs     Glyphs

	Lines []LineLayout // one for each line of the chart
	// Sums over lines and scatters.
	Gaps, NonPositive, Clipped int
}

// LineLayout is what became of one line.
type LineLayout struct {
	Gaps        int  // breaks between drawn points for values that are not finite (or not positive)
	NonPositive int  // values that a log axis cannot show
	Clipped     int  // values above or below the axis, shown as arrows at the edge
	Drawn       bool // some of it is within the limits of x
	EndX, EndY  int  // cell of the last point within the limits of x
}

// Note says in words what could not be shown, or "".
func (l Layout) Note() string {
	var parts []string
	add := func(n int, one, many string) {
		switch {
		case n == 1:
			parts = append(parts, "1 "+one)
		case n > 1:
			parts = append(parts, fmt.Sprintf("%d %s", n, many))
		}
	}
	add(l.Gaps, "gap", "gaps")
	add(l.NonPositive, "value not positive", "values not positive")
	add(l.Clipped, "value beyond the axis", "values beyond the axis")
	return strings.Join(parts, ", ")
}

// XAt returns the x in the middle of a column of cells of the canvas, also
// beyond the plot; NaN where there is no plot.
func (l Layout) XAt(cell int) float64 {
	across, _ := l.Glyphs.dots()
	return at(cell-l.Plot.X, l.Plot.W, across, l.XMin, l.XMax, l.XLog)
}

// cellX returns the column of cells of an x, and whether it is in the plot.
func (l Layout) cellX(x float64) (int, bool) {
	across, _ := l.Glyphs.dots()
	i, ok := cellOf(x, l.Plot.W, across, l.XMin, l.XMax, l.XLog)
	return l.Plot.X + i, ok
}

// ShareX returns where an x is on the way through the plot, 0 at its left edge and 1 at
// its right one, also beyond; NaN where it has no place.
func (l Layout) ShareX(x float64) float64 {
	across, _ := l.Glyphs.dots()
	return share(x, l.Plot.W*across, l.XMin, l.XMax, l.XLog)
}

// ShareY is ShareX of a y, from the upper edge to the lower one.
func (l Layout) ShareY(y float64) float64 {
	_, down := l.Glyphs.dots()
	return 1 - share(y, l.Plot.H*down, l.YMin, l.YMax, l.YLog)
}

// share is where a value is on the way through so many dots.
func share(v float64, dots int, lo, hi float64, log bool) float64 {
	s := newScale(lo, hi, dots, log)
	return (s.place(v) + 0.5) / float64(dots)
}

// cellY returns the row of cells of a y, and whether it is in the plot.
func (l Layout) cellY(y float64) (int, bool) {
	_, down := l.Glyphs.dots()
	i, ok := cellOf(y, l.Plot.H, down, l.YMin, l.YMax, l.YLog)
	return l.Plot.Y + l.Plot.H - 1 - i, ok
}

// at maps cell i of n cells of some dots each to the axis.
func at(i, n, dots int, lo, hi float64, log bool) float64 {
	if n <= 0 {
		return math.NaN()
	}
	s := newScale(lo, hi, n*dots, log)
	return s.value(float64(i*dots) + float64(dots-1)/2)
}

// cellOf is the inverse of at.
func cellOf(v float64, n, dots int, lo, hi float64, log bool) (int, bool) {
	if n <= 0 {
		return 0, false
	}
	s := newScale(lo, hi, n*dots, log)
	d, ok := s.dot(v)
	if !ok {
		return 0, false
	}
	return min(max(d, 0), n*dots-1) / dots, d >= 0 && d < n*dots
}

// nearestIndex returns the index of the value of xs nearest to x, which must
// not decrease; -1 where there is none. Of equally near ones it is the first.
func nearestIndex(xs []float64, x float64) int {
	if len(xs) == 0 || math.IsNaN(x) {
		return -1
	}
	i := sort.SearchFloat64s(xs, x)
	if i == len(xs) || i > 0 && x-xs[i-1] <= xs[i]-x {
		i = sort.SearchFloat64s(xs, xs[i-1])
	}
	return i
}
