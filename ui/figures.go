package ui

import (
	"fmt"

	"kestrel/experiment"
	"kestrel/ui/plot"
)

// illustrated is a view whose chart can be saved as a figure.
type illustrated interface {
	// figure returns nil as long as there is nothing to draw.
	figure() *experiment.Figure
}

// figure is the chart that is looked at: that of the view, or of the bench
// where the view has none.
func (b *bench) figure() *experiment.Figure {
	if v, ok := b.views[b.at].(illustrated); ok {
		if f := v.figure(); f != nil {
			return f
		}
	}
	return b.main.figure()
}

// label joins a name and its unit.
func label(name, unit string) string {
	if unit == "" {
		return name
	}
	return fmt.Sprintf("%s (%s)", name, unit)
}

// figure is the fit as it is seen: data, mean and bands.
func (v *fitView) figure() *experiment.Figure {
	points, havePoints := known[fitPoints](&v.points, v.pointsSubject())
	curve, haveCurve := known[*experiment.Curve](&v.curve, v.curveSubject())
	s := v.b.hist.Start
	if s == nil || !havePoints || !haveCurve {
		return nil
	}
	all := experiment.Swatches()
	swatch := all[0]
	if v.single {
		swatch = v.b.palette.Of(v.b.chosen())
	}
	title, _ := v.title()
	f := &experiment.Figure{Name: "fit", Title: s.Name + ": " + title}
	f.XMin, f.XMax = v.window()
	in := &s.Inputs()[v.column]
	f.XLabel = label(in.Name, in.Unit)
	if origin, unit, ok := experiment.TimeScale(in); ok {
		for _, t := range dateTicks(origin, unit, f.XMin, f.XMax, 8) {
			f.XAt = append(f.XAt, t.At)
		}
		span := f.XMax - f.XMin
		f.XLabel = in.Name
		f.XTicks = func(x float64) string { return dateText(instant(origin, unit, x), span, unit) }
	}
	if y := s.Target(); y != nil {
		f.YLabel = label(y.Name, y.Unit)
	}
	f.Lines = []experiment.FigureLine{{Name: "mean", X: curve.X, Lo: curve.Mean, Swatch: swatch}}
	f.Bands = []experiment.FigureBand{
		{Name: "95 % of y", X: curve.X, Lo: curve.Lower, Hi: curve.Upper, Swatch: swatch},
		{Name: "95 % of f", X: curve.X, Lo: curve.LowerF, Hi: curve.UpperF, Swatch: swatch},
	}
	rows := map[experiment.PointKind]*experiment.FigurePoints{
		experiment.PointSeen:   {Name: "training rows", Swatch: all[len(all)-1]},
		experiment.PointUnseen: {Name: "not yet seen", Swatch: all[len(all)-1], Hollow: true},
		experiment.PointTest:   {Name: "test rows", Swatch: all[1], Hollow: true},
	}
	for i, x := range points.X {
		if x >= f.XMin && x <= f.XMax {
			p := rows[points.Kind[i]]
			p.X, p.Y = append(p.X, x), append(p.Y, points.Y[i])
		}
	}
	for _, k := range []experiment.PointKind{experiment.PointUnseen, experiment.PointSeen, experiment.PointTest} {
		if len(rows[k].X) > 0 {
			f.Points = append(f.Points, *rows[k])
		}
	}
	return f
}

// figure is the comparison as it is seen.
func (v *compareView) figure() *experiment.Figure {
	f := &experiment.Figure{Name: "compare", Title: v.title(), XLabel: axisNames[v.axis], YLabel: v.title(), LogY: v.log && v.by == compareRMSE}
	f.XTicks = v.b.hist.Labeller(v.axis)
	for _, g := range v.grouped() {
		w := v.colours.Of(g.key)
		sum, ok := v.summarise(g)
		if _, _, drawn := finiteRange(sum.y); !ok || !drawn {
			continue
		}
		if sum.lo != nil {
			f.Bands = append(f.Bands, experiment.FigureBand{Name: "± sd", X: sum.x, Lo: sum.lo, Hi: sum.hi, Swatch: w})
		}
		f.Lines = append(f.Lines, experiment.FigureLine{Name: sum.label, X: sum.x, Lo: sum.y, Swatch: w})
	}
	if len(f.Lines) == 0 {
		return nil
	}
	return f
}

// screenText is the view as plain characters, for a file.
func (b *bench) screenText() string {
	c := plot.NewCanvas(120, 36)
	plain := newTheme(plainProfile, b.app.theme.dark, b.app.theme.glyphs)
	if b.at > 0 {
		b.views[b.at].draw(c, c.Bounds(), plain)
		return c.Plain() + "\n"
	}
	if b.main.focus == metricPane {
		b.main.drawMetric(c, c.Bounds(), plain)
	} else {
		b.main.drawChart(c, c.Bounds(), plain)
	}
	return c.Plain() + "\n"
}
