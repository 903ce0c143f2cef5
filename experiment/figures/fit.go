package figures

import (
	"math"
	"time"

	"example.com/kestrel/datasets"
	"example.com/kestrel/experiment/chart"
	"example.com/kestrel/experiment/inspect"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/words"
)

// Sizes of a report's figures, in inches.
const (
	ReportWidth  = 7.2
	ReportHeight = 3.9
	reportSquare = 4.6
)

// alongInput labels the horizontal axis with an input, one of time stamps with
// dates, at whole days or hours.
func alongInput(f *chart.Figure, c *datasets.ColumnSummary) {
	f.XLabel = words.Labelled(c.Name, c.Unit)
	t, ok := record.TimeColumn(c)
	if !ok {
		return
	}
	f.XLabel = c.Name
	size, layout := 86400.0, "2006-01-02"
	span := t.Seconds(c.Max - c.Min)
	if span < 4*size {
		size, layout = 3600, "01-02 15:04"
	}
	midnight := t.Origin.Truncate(24 * time.Hour)
	shift := t.Origin.Sub(midnight).Seconds() // of the values' origin
	at, step := chart.RoundNumbers((t.Seconds(c.Min)+shift)/size, (t.Seconds(c.Max)+shift)/size, 5)
	if step < 1 {
		return // minutes; numbers are as good
	}
	for _, v := range at {
		f.XAt = append(f.XAt, (v*size-shift)/t.Seconds(1))
	}
	f.XTicks = func(x float64) string { return t.At(x).Format(layout) }
}

// pointStyles are how rows of the data look.
func pointStyles() map[inspect.PointKind]*chart.Points {
	all := chart.Swatches()
	rows := all[len(all)-1]
	return map[inspect.PointKind]*chart.Points{
		inspect.PointSeen:   {Name: "training rows", Swatch: rows},
		inspect.PointUnseen: {Name: "not yet seen", Swatch: rows, Hollow: true},
		inspect.PointTest:   {Name: "held out", Swatch: all[1], Hollow: true},
	}
}

// AddFit adds a mean with its 95 % bands. They bear no marks, which would look like
// rows of the data.
func AddFit(f *chart.Figure, c *inspect.Curve, swatch chart.Swatch) {
	swatch.Mark = 0
	f.Lines = append(f.Lines, chart.Line{Name: "mean", X: c.X, Lo: c.Mean, Swatch: swatch})
	f.Bands = append(f.Bands,
		chart.Band{Name: "95 % of y", X: c.X, Lo: c.Lower, Hi: c.Upper, Swatch: swatch},
		chart.Band{Name: "95 % of f", X: c.X, Lo: c.LowerF, Hi: c.UpperF, Swatch: swatch, Inner: true})
}

// FitFigure draws the mean and the 95 % bands along the only input, with the
// rows.
func FitFigure(s *record.Start, c *inspect.Curve, p *inspect.PointSet) *chart.Figure {
	target := s.Target()
	f := &chart.Figure{Name: "fit", YLabel: words.Labelled(target.Name, target.Unit), Width: ReportWidth, Height: ReportHeight}
	AddFit(f, c, chart.Swatches()[0])
	alongInput(f, &s.Inputs()[0])
	rows := pointStyles()
	for i, x := range p.X {
		k := rows[p.Kind[i]]
		k.X, k.Y = append(k.X, x), append(k.Y, p.Y[i])
	}
	for _, k := range []inspect.PointKind{inspect.PointUnseen, inspect.PointSeen, inspect.PointTest} {
		if len(rows[k].X) > 0 {
			f.Points = append(f.Points, *rows[k])
		}
	}
	return f
}

// ObservedFigure draws predicted against observed targets.
func ObservedFigure(s *record.Start, res *inspect.Residuals) *chart.Figure {
	low, high := math.Inf(1), math.Inf(-1)
	for i, y := range res.Y {
		low, high = min(low, y, res.Mean[i]), max(high, y, res.Mean[i])
	}
	y := words.Labelled(s.Target().Name, s.Target().Unit)
	return &chart.Figure{Name: "observed", XLabel: "predicted mean of " + y, YLabel: "observed " + y, Width: reportSquare,
		Height: reportSquare,
		Lines:  []chart.Line{levelLine("observed = predicted", []float64{low, high}, []float64{low, high})},
		Points: []chart.Points{{Name: RowsName(res), X: res.Mean, Y: res.Y, Swatch: chart.Swatches()[0]}},
	}
}

// RowsName is what the rows of residuals are called.
func RowsName(res *inspect.Residuals) string {
	if res.Test {
		return "rows held out"
	}
	return "training rows"
}

// levelLine is a grey line for orientation.
func levelLine(name string, x, y []float64) chart.Line {
	return chart.Line{Name: name, X: x, Lo: y,
		Swatch: chart.Swatch{Light: chart.RGB{R: chart.InkMark.Y, G: chart.InkMark.Y, B: chart.InkMark.Y}}, Width: 0.8}
}

// ResidualFigure draws standardised residuals against the only input, or
// against the prediction.
func ResidualFigure(s *record.Start, res *inspect.Residuals) *chart.Figure {
	f := &chart.Figure{Name: "residuals", YLabel: "(observed − predicted)/sd" + s.Target().OfModelled(), Width: ReportWidth,
		Height: ReportHeight * 0.8}
	x := res.Mean
	if res.Inputs == 1 {
		x = res.X
		alongInput(f, &s.Inputs()[0])
	} else {
		f.XLabel = "predicted mean of " + words.Labelled(s.Target().Name, s.Target().Unit)
	}
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range x {
		low, high = min(low, v), max(high, v)
	}
	ends := []float64{low, high}
	for _, level := range []float64{Normal95, -Normal95, 0} {
		name := ""
		if level == Normal95 {
			name = "95 % if normal"
		}
		l := levelLine(name, ends, []float64{level, level})
		if level == 0 {
			l.Width = 0.5
		} else {
			l.Swatch.Dash = 1
		}
		f.Lines = append(f.Lines, l)
	}
	f.Points = []chart.Points{{Name: RowsName(res), X: x, Y: res.Standardised, Swatch: chart.Swatches()[0]}}
	return f
}

// Normal95 is the 97.5 % quantile of the standard normal distribution.
const Normal95 = 1.959963984540054
