package ui

import (
	"fmt"
	"slices"

	"example.com/kestrel/experiment/chart"
	"example.com/kestrel/experiment/figures"
	"example.com/kestrel/experiment/history"
	"example.com/kestrel/experiment/inspect"
	"example.com/kestrel/experiment/words"
)

// figures are the charts of the kernel that there is room for and that have been
// computed.
func (v *kernelView) figures() (charts []*chart.Figure, none string) {
	id := v.b.chosen()
	if id == "" || v.b.hist.Start == nil || v.broken() {
		return nil, "this kernel has no chart"
	}
	for p := range kernelPanels {
		if v.areas[p].Empty() {
			continue
		}
		f := v.figure(p, id)
		if f == nil {
			continue
		}
		title, _ := v.title(p)
		f.Title = v.b.kernelName(id) + ": " + title
		charts = append(charts, f)
	}
	if len(charts) == 0 {
		return nil, "no chart of this kernel is shown, or has been computed yet"
	}
	return charts, ""
}

// figure is one chart; nil if it has not been computed.
func (v *kernelView) figure(p kernelPanel, id string) *chart.Figure {
	name, swatch := v.b.kernelName(id), v.b.palette.Of(id)
	y := v.b.hist.Start.Target()
	switch p {
	case tracePanel:
		return v.traceFigure(id, name, swatch)
	case covariancePanel:
		c, ok := known[*inspect.CovarianceCurve](&v.covariance, v.topic())
		if !ok || len(c.Lag) == 0 {
			return nil
		}
		in := &v.b.hist.Start.Inputs()[v.column]
		swatch.Mark = 0
		return &chart.Figure{Name: "kernel-covariance", XLabel: words.Labelled("lag", in.Unit), YLabel: "covariance" + y.OfModelled(),
			Lines: []chart.Line{{Name: name, X: c.Lag, Lo: c.Value, Swatch: swatch}}}
	case priorPanel:
		d, ok := known[*inspect.PriorDraws](&v.draws, v.topic())
		if !ok || len(d.X) == 0 {
			return nil
		}
		f := &chart.Figure{Name: "kernel-draws", XMin: d.X[0], XMax: d.X[len(d.X)-1]}
		for i, draw := range d.Draws {
			f.Lines = append(f.Lines, chart.Line{Name: fmt.Sprintf("draw %d", i+1), X: d.X, Lo: draw, Swatch: bare(i)})
		}
		v.b.figureAlong(f, v.column)
		f.YLabel = words.Labelled(y.Modelled())
		return f
	case componentPanel:
		parts, ok := known[[]inspect.ComponentCurve](&v.components, v.topic())
		if !ok {
			return nil
		}
		f := &chart.Figure{Name: "kernel-components"}
		for _, p := range parts {
			if p.ID == "" || len(p.X) == 0 { // the mean of the data, a constant
				continue
			}
			s := bare(len(f.Lines))
			f.Lines = append(f.Lines, chart.Line{Name: p.Name, X: p.X, Lo: p.Mean, Swatch: s})
			f.Bands = append(f.Bands, chart.Band{Name: p.Name + ", 95 %", X: p.X, Lo: p.Lower, Hi: p.Upper, Swatch: s})
			f.XMin, f.XMax = p.X[0], p.X[len(p.X)-1]
		}
		if len(f.Lines) == 0 {
			return nil
		}
		v.b.figureAlong(f, v.column)
		f.YLabel = words.Labelled(y.Modelled())
		return f
	}
	return nil
}

// bare is the look of the i-th of some curves, without marks.
func bare(i int) chart.Swatch {
	all := chart.Swatches()
	s := all[i%len(all)]
	s.Mark = 0
	return s
}

// traceFigure is the trace of a kernel, drawn broad, before those of the kernels
// ranked first.
func (v *kernelView) traceFigure(id, name string, swatch chart.Swatch) *chart.Figure {
	h := &v.b.hist
	at := h.Index(id)
	if at < 0 || len(h.Moments()) == 0 {
		return nil
	}
	q := history.QuantityGap
	if v.elbo {
		q = history.QuantityELBO
	}
	f := figures.History(h, &v.b.palette, q, v.axis, focusKernels, false)
	f.Name = "kernel-trace"
	f.Lines = slices.DeleteFunc(f.Lines, func(l chart.Line) bool { return !l.Rest && l.Name == name })
	line := chart.Line{Name: name, Swatch: swatch, Width: 2.2}
	s, ranges := h.Series(at, q), false
	for i := range s.Len() {
		lo, hi := s.At(i)
		ranges = ranges || lo < hi
		line.X, line.Lo, line.Hi = append(line.X, s.X(i, v.axis)), append(line.Lo, lo), append(line.Hi, hi)
	}
	if !ranges {
		line.Hi = nil
	}
	f.Lines = append([]chart.Line{line}, f.Lines...)
	return f
}
