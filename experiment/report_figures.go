package experiment

import (
	"bytes"
	"fmt"
	"html/template"
	"math"
	"strings"
	"time"

	"kestrel/datasets"
)

// Sizes of a report's figures, in inches.
const (
	reportWidth  = 7.2
	reportHeight = 3.9
	reportSquare = 4.6
)

// shownInTraces is the number of kernels that have a colour in the traces.
const shownInTraces = 8

// reportFigure is a chart in a page.
type reportFigure struct {
	SVG     template.HTML
	Caption string
}

// inline draws a figure for a page. The SVG is safe there: the texts in it are
// escaped by the writer, and all else in it are numbers.
func inline(f *Figure, caption string) (*reportFigure, error) {
	var b bytes.Buffer
	if err := f.WriteSVG(&b); err != nil {
		return nil, err
	}
	text := b.String()
	at := strings.Index(text, "<svg ")
	if at < 0 {
		return nil, fmt.Errorf("figure %q: what was drawn is no SVG", f.Name)
	}
	label := `<svg role="img" aria-label="` + template.HTMLEscapeString(printable(caption)) + `" `
	return &reportFigure{SVG: template.HTML(label + text[at+len("<svg "):]), Caption: caption}, nil
}

// traces draws the course of a run: what can be drawn of it.
func (r *reporter) traces() {
	h := r.history
	type trace struct {
		figure  *Figure
		caption string
	}
	charts := []trace{
		{HistoryFigure(h, nil, QuantityPosterior, AxisData, shownInTraces, false), "Posterior of each kernel against the proportion of the data used. The rest is grey."},
		{HistoryFigure(h, nil, QuantityGap, AxisData, shownInTraces, true), "Local ELBO behind that of the leader, in nats, on a logarithmic axis, where the leader’s own 0 has no place."},
	}
	if h.Methods() > 0 {
		charts = append(charts, trace{MetricFigure(h, QuantityRMSE, AxisSeconds), "Error on the rows held out against the time of work."})
	}
	for _, c := range charts {
		c.figure.Title, c.figure.Width, c.figure.Height = "", reportWidth, reportHeight
		// One that has nothing to draw, such as the gaps of a single kernel, is
		// left out.
		if f, err := inline(c.figure, c.caption); err == nil {
			r.page.Traces = append(r.page.Traces, *f)
		}
	}
}

// timeColumn is a column of time stamps as its summary describes it.
func timeColumn(c *datasets.ColumnSummary) (datasets.Column, bool) {
	origin, unit, ok := TimeScale(c)
	if !ok {
		return datasets.Column{}, false
	}
	out := datasets.Column{Name: c.Name, Time: true, Origin: origin, Unit: "s"}
	if unit != out.Seconds(1) {
		out.Unit = c.Unit
	}
	return out, true
}

// labelled joins a name and its unit.
func labelled(c *datasets.ColumnSummary) string {
	if c.Unit == "" {
		return c.Name
	}
	return c.Name + " (" + c.Unit + ")"
}

// alongInput labels the horizontal axis with an input, one of time stamps with
// dates, at whole days or hours.
func alongInput(f *Figure, c *datasets.ColumnSummary) {
	f.XLabel = labelled(c)
	t, ok := timeColumn(c)
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
	at, step := roundNumbers((t.Seconds(c.Min)+shift)/size, (t.Seconds(c.Max)+shift)/size, 5)
	if step < 1 {
		return // minutes; numbers are as good
	}
	for _, v := range at {
		f.XAt = append(f.XAt, (v*size-shift)/t.Seconds(1))
	}
	f.XTicks = func(x float64) string { return t.At(x).Format(layout) }
}

// pointStyles are how rows of the data look.
func pointStyles() map[PointKind]*FigurePoints {
	all := Swatches()
	rows := all[len(all)-1]
	return map[PointKind]*FigurePoints{
		PointSeen:   {Name: "training rows", Swatch: rows},
		PointUnseen: {Name: "not yet seen", Swatch: rows, Hollow: true},
		PointTest:   {Name: "held out", Swatch: all[1], Hollow: true},
	}
}

// Fit adds a mean with its 95 % bands. They bear no marks, which would look like
// rows of the data.
func DrawFit(f *Figure, c *Curve, swatch Swatch) {
	swatch.Mark = 0
	f.Lines = append(f.Lines, FigureLine{Name: "mean", X: c.X, Lo: c.Mean, Swatch: swatch})
	f.Bands = append(f.Bands,
		FigureBand{Name: "95 % of y", X: c.X, Lo: c.Lower, Hi: c.Upper, Swatch: swatch},
		FigureBand{Name: "95 % of f", X: c.X, Lo: c.LowerF, Hi: c.UpperF, Swatch: swatch, Inner: true})
}

// fitFigure draws the mean and the 95 % bands along the only input, with the
// rows.
func fitFigure(s *Start, c *Curve, p *PointSet) *Figure {
	f := &Figure{Name: "fit", YLabel: labelled(s.Target()), Width: reportWidth, Height: reportHeight}
	DrawFit(f, c, Swatches()[0])
	alongInput(f, &s.Inputs()[0])
	rows := pointStyles()
	for i, x := range p.X {
		k := rows[p.Kind[i]]
		k.X, k.Y = append(k.X, x), append(k.Y, p.Y[i])
	}
	for _, k := range []PointKind{PointUnseen, PointSeen, PointTest} {
		if len(rows[k].X) > 0 {
			f.Points = append(f.Points, *rows[k])
		}
	}
	return f
}

// observedFigure draws predicted against observed targets.
func observedFigure(s *Start, res *Residuals) *Figure {
	low, high := math.Inf(1), math.Inf(-1)
	for i, y := range res.Y {
		low, high = min(low, y, res.Mean[i]), max(high, y, res.Mean[i])
	}
	y := labelled(s.Target())
	return &Figure{Name: "observed", XLabel: "predicted mean of " + y, YLabel: "observed " + y, Width: reportSquare, Height: reportSquare,
		Lines:  []FigureLine{levelLine("observed = predicted", []float64{low, high}, []float64{low, high})},
		Points: []FigurePoints{{Name: rowsName(res), X: res.Mean, Y: res.Y, Swatch: Swatches()[0]}},
	}
}

func rowsName(res *Residuals) string {
	if res.Test {
		return "rows held out"
	}
	return "training rows"
}

// levelLine is a grey line for orientation.
func levelLine(name string, x, y []float64) FigureLine {
	return FigureLine{Name: name, X: x, Lo: y, Swatch: Swatch{Light: RGB{R: inkMark.Y, G: inkMark.Y, B: inkMark.Y}}, Width: 0.8}
}

// residualFigure draws standardised residuals against the only input, or
// against the prediction.
func residualFigure(s *Start, res *Residuals) *Figure {
	f := &Figure{Name: "residuals", YLabel: "(observed − predicted)/sd", Width: reportWidth, Height: reportHeight * 0.8}
	x := res.Mean
	if res.Inputs == 1 {
		x = res.X
		alongInput(f, &s.Inputs()[0])
	} else {
		f.XLabel = "predicted mean of " + labelled(s.Target())
	}
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range x {
		low, high = min(low, v), max(high, v)
	}
	ends := []float64{low, high}
	for _, level := range []float64{normal95, -normal95, 0} {
		name := ""
		if level == normal95 {
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
	f.Points = []FigurePoints{{Name: rowsName(res), X: x, Y: res.Standardised, Swatch: Swatches()[0]}}
	return f
}

// normal95 is the 97.5 % quantile of the standard normal distribution.
const normal95 = 1.959963984540054
