package figures

import (
	"maps"
	"math"
	"slices"

	"example.com/kestrel/experiment/chart"
	"example.com/kestrel/experiment/files"
)

// paperFigure is a figure with the numbers that are drawn in it.
type paperFigure struct {
	chart.Figure
	rows  [][]string
	extra map[string][]byte // further files, by ending
}

// line adds a line through values; one that is NaN is a gap, which is written down without a value.
func (f *paperFigure) line(l chart.Line) {
	f.Lines = append(f.Lines, l)
	for i, x := range l.X {
		f.row("line", l.Name, x, l.Lo[i], math.NaN(), math.NaN())
		if math.IsNaN(l.Lo[i]) && i > 0 && i < len(l.X)-1 {
			f.rows = append(f.rows, []string{"line", l.Name, files.FormatFloat(x), "", "", ""})
		}
	}
}

// empty reports whether nothing of it can be drawn.
func (f *paperFigure) empty() bool {
	some := slices.ContainsFunc(f.Lines, func(l chart.Line) bool { return drawable(l.X, l.Lo) }) ||
		slices.ContainsFunc(f.Points, func(p chart.Points) bool { return drawable(p.X, p.Y) })
	return !some
}

// drawable reports whether some place has a value, both finite.
func drawable(x, y []float64) bool {
	finite := func(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
	for i := range x {
		if finite(x[i]) && finite(y[i]) {
			return true
		}
	}
	return false
}

// bar is a mean with its standard deviation.
type bar struct{ x, mean, sd float64 }

// bars adds the standard deviations around a line of that name, as upright
// strokes, which are told apart without colour better than overlapping bands. On
// a logarithmic axis what is not above 0 is cut.
func (f *paperFigure) bars(name string, bars []bar, s chart.Swatch) {
	l := chart.Line{Swatch: chart.Swatch{Light: s.Light}, Width: 0.9}
	for _, b := range bars {
		lo, hi := b.mean-b.sd, b.mean+b.sd
		if f.LogY && lo <= 0 {
			lo = b.mean
		}
		if !(lo < hi) {
			continue
		}
		f.row("sd", name, b.x, math.NaN(), lo, hi)
		// A value that is none ends a stroke.
		l.X, l.Lo, l.Hi = append(l.X, b.x, b.x), append(l.Lo, lo, math.NaN()), append(l.Hi, hi, math.NaN())
	}
	if len(l.X) > 0 {
		f.Lines = append(f.Lines, l)
	}
}

// points adds single values.
func (f *paperFigure) points(p chart.Points) {
	f.Points = append(f.Points, p)
	for i, x := range p.X {
		f.row("point", p.Name, x, p.Y[i], math.NaN(), math.NaN())
	}
}

// row writes a number of the figure down; NaN stands for none.
func (f *paperFigure) row(element, name string, x, y, low, high float64) {
	row := []string{element, name}
	for _, v := range []float64{x, y, low, high} {
		text := ""
		if !math.IsNaN(v) {
			text = files.FormatFloat(v)
		}
		row = append(row, text)
	}
	if row[3] != "" || row[4] != "" {
		f.rows = append(f.rows, row)
	}
}

// files are the figure, its numbers and what else belongs to it.
func (f *paperFigure) files() ([]files.File, error) {
	all, err := f.Files("")
	if err != nil {
		return nil, err
	}
	text, err := files.FormatRows(append([][]string{{"element", "name", "x", "y", "low", "high"}}, f.rows...))
	if err != nil {
		return nil, err
	}
	beside := map[string][]byte{".csv": text}
	maps.Copy(beside, f.extra)
	for _, ending := range slices.Sorted(maps.Keys(beside)) {
		all = append(all, files.File{Name: f.Name + ending, Text: beside[ending]})
	}
	return all, nil
}

// spread says whether values are all positive and the largest is more than so
// many times the least: then a logarithmic axis shows them better.
func spread(values []float64, times float64) bool {
	var e chart.Extent
	for _, v := range values {
		if v <= 0 {
			return false
		}
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			e.Add(v)
		}
	}
	return e.Any && e.Hi > times*e.Lo
}
