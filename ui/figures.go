package ui

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"example.com/kestrel/experiment/chart"
	"example.com/kestrel/experiment/figures"
	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/inspect"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/rundir"
	"example.com/kestrel/experiment/words"
	"example.com/kestrel/ui/format"
	"example.com/kestrel/ui/note"
	"example.com/kestrel/ui/plot"
	"example.com/kestrel/ui/theme"
)

// illustrated is a view whose charts can be saved as figures.
type illustrated interface {
	// figures returns the charts that are looked at; where there are none, why.
	figures() (charts []*chart.Figure, none string)
}

// figures are the charts that are looked at.
func (b *bench) figures() (charts []*chart.Figure, none string) {
	if v, ok := b.views[b.at].(illustrated); ok {
		return v.figures()
	}
	return nil, "this view has no chart"
}

func (v *mainView) figures() ([]*chart.Figure, string) {
	return []*chart.Figure{v.figure()}, ""
}

// figure is the belief as it is drawn now, for a file.
func (v *mainView) figure() *chart.Figure {
	if v.focus == metricPane {
		f := figures.Metrics(&v.b.hist, v.metric.quantity, v.metric.axis)
		f.LogY = v.metric.log
		return f
	}
	return figures.History(&v.b.hist, &v.b.palette, v.belief.quantity, v.belief.axis, focusKernels, v.belief.log)
}

func (v *fitView) figures() ([]*chart.Figure, string) {
	if f := v.figure(); f != nil {
		return []*chart.Figure{f}, ""
	}
	return nil, "the fit has not been computed yet"
}

func (v *compareView) figures() ([]*chart.Figure, string) {
	if f := v.figure(); f != nil {
		return []*chart.Figure{f}, ""
	}
	return nil, "no chosen run has such values"
}

// figures is the matrix that is shown.
func (v *similarView) figures() ([]*chart.Figure, string) {
	s, ok := v.known()
	if !ok || len(s.IDs) == 0 {
		return nil, "the similarity has not been computed yet"
	}
	name, title, m := "similarity", "Correlation of g under q(g)", s.Belief
	if v.means {
		name, title, m = "similarity-predictions", "Correlation of the kernels’ predictive means", s.Means
	}
	cells := chart.Cells{Values: m, Text: correlationText}
	for _, id := range s.IDs {
		cells.Names = append(cells.Names, v.b.kernelName(id))
	}
	return []*chart.Figure{chart.OfCells(name, v.b.name()+": "+title, cells)}, ""
}

// figure is the fit as it is seen: data, mean and bands.
func (v *fitView) figure() *chart.Figure {
	points, havePoints := v.pointsShown()
	curve, haveCurve := v.curveShown()
	s := v.b.hist.Start
	if s == nil || !havePoints || !haveCurve {
		return nil
	}
	all := chart.Swatches()
	swatch := all[0]
	if v.single {
		swatch = v.b.palette.Of(v.b.chosen())
	} else if v.provisional() {
		swatch = v.b.palette.Of(v.askedFirst())
	}
	title, _ := v.title()
	f := &chart.Figure{Name: "fit", Title: s.Name + ": " + title}
	f.XMin, f.XMax = v.window()
	v.b.figureAlong(f, v.column)
	if y := s.Target(); y != nil {
		f.YLabel = words.Labelled(y.Name, y.Unit)
	}
	figures.AddFit(f, curve, swatch)
	rows := map[inspect.PointKind]*chart.Points{
		inspect.PointSeen:   {Name: "training rows", Swatch: all[len(all)-1]},
		inspect.PointUnseen: {Name: "not yet seen", Swatch: all[len(all)-1], Hollow: true},
		inspect.PointTest:   {Name: "test rows", Swatch: all[1], Hollow: true},
	}
	for i, x := range points.X {
		if x >= f.XMin && x <= f.XMax {
			p := rows[points.Kind[i]]
			p.X, p.Y = append(p.X, x), append(p.Y, points.Y[i])
		}
	}
	for _, k := range []inspect.PointKind{inspect.PointUnseen, inspect.PointSeen, inspect.PointTest} {
		if len(rows[k].X) > 0 {
			f.Points = append(f.Points, *rows[k])
		}
	}
	return f
}

// figureAlong makes the horizontal axis of a figure, whose limits are set, that of
// an input column.
func (b *bench) figureAlong(f *chart.Figure, column int) {
	in := &b.hist.Start.Inputs()[column]
	f.XLabel = words.Labelled(in.Name, in.Unit)
	if len(in.Levels) > 0 {
		for k := range in.Levels {
			f.XAt = append(f.XAt, float64(k))
		}
		f.XTicks = func(x float64) string { return levelText(record.LevelAt(in, x)) }
	}
	if origin, unit, ok := record.TimeScale(in); ok {
		for _, t := range format.DateTicks(origin, unit, f.XMin, f.XMax, 8) {
			f.XAt = append(f.XAt, t.At)
		}
		span := f.XMax - f.XMin
		f.XLabel = in.Name
		f.XTicks = func(x float64) string { return format.DateText(format.Instant(origin, unit, x), span, unit) }
		f.XText = func(x float64) string { return format.Instant(origin, unit, x).Format(time.RFC3339Nano) }
	}
}

// figure is the comparison as it is seen.
func (v *compareView) figure() *chart.Figure {
	f := &chart.Figure{Name: "compare", Title: v.title(), XLabel: axisNames[v.axis], YLabel: v.title(),
		LogY: v.log && v.by == compareRMSE}
	f.XTicks = v.b.hist.Labeller(v.axis)
	for _, g := range v.grouped() {
		w := v.colours.Of(g.key)
		sum, ok := v.summarise(g)
		if _, _, drawn := finiteRange(sum.y); !ok || !drawn {
			continue
		}
		if sum.lo != nil {
			f.Bands = append(f.Bands, chart.Band{Name: "± sd", X: sum.x, Lo: sum.lo, Hi: sum.hi, Swatch: w})
		}
		f.Lines = append(f.Lines, chart.Line{Name: sum.label, X: sum.x, Lo: sum.y, Swatch: w})
	}
	if len(f.Lines) == 0 {
		return nil
	}
	return f
}

// screenText is the view as plain characters, for a file.
func (b *bench) screenText() string {
	c := plot.NewCanvas(120, 36)
	plain := theme.New(theme.PlainProfile, b.app.theme.Dark, b.app.theme.Glyphs)
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

// export writes all traces as CSV, and the charts that are looked at as SVG, PNG,
// text and, with their numbers, as CSV.
func (b *bench) export() tea.Cmd {
	dir := filepath.Join(b.path, rundir.ExportDir)
	charts, none := b.figures() // before they are drawn for the text, at another size
	screen, path := b.screenText(), b.path
	return tea.Batch(note.Say(note.Good, "exporting to %s …", dir), b.order(nil, func() (string, error) {
		drawn, undrawn := chartFiles(charts, screen)
		if err := rundir.Export(path, dir, drawn...); err != nil {
			return "", err
		}
		if undrawn != nil {
			return "", fmt.Errorf("exported the CSV files to %s, but the chart was not drawn: %w", dir, undrawn)
		}
		if len(charts) == 0 {
			return fmt.Sprintf("exported posterior.csv, metrics.csv, kernels.csv, baselines.csv to %s, and no chart: %s", dir, none), nil
		}
		var names []string
		for _, f := range charts {
			names = append(names, f.Name)
		}
		return fmt.Sprintf("exported posterior.csv, metrics.csv, kernels.csv, baselines.csv and %s as .svg, .png, .csv, .txt to %s",
			strings.Join(names, ", "), dir), nil
	}))
}

// chartFiles are the files of charts, with what the screen shows of all beside the
// first. posterior.csv, which has the numbers of all kernels, is the run's.
func chartFiles(charts []*chart.Figure, screen string) ([]files.File, error) {
	var all []files.File
	for _, f := range charts {
		drawn, err := f.Files(screen)
		if err != nil {
			return nil, err
		}
		table, err := f.Table()
		if err != nil {
			return nil, err
		}
		if all = append(all, drawn...); !slices.Contains(rundir.TableFiles(), table.Name) {
			all = append(all, table)
		}
		screen = ""
	}
	return all, nil
}
