package launcher

import (
	"fmt"
	"strings"

	"example.com/kestrel/datasets"
	"example.com/kestrel/experiment/inspect"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/ui/format"
	"example.com/kestrel/ui/plot"
)

// dataSheet shows rows, columns, a plot and the first rows.
func (l *Launcher) dataSheet(s *sheet, p *inspect.Preview) {
	t, d := s.t, p.Summary
	rows := fmt.Sprintf("%d rows: %d training, %d test", d.Rows, d.Train, d.Test)
	if n := d.DroppedTarget + d.DroppedInputs; n > 0 {
		rows += fmt.Sprintf("; %d left out for missing values", n)
	}
	s.pair("data", rows, t.Text)
	for _, n := range d.Notices { // before what may be out of sight
		s.indented(0, n, t.Warn)
	}
	if d.Kernel != "" {
		s.pair("truth", d.Kernel, t.Text)
	}
	const most = 8
	for i, c := range d.Columns {
		if len(d.Columns) > most && i >= most-1 && i < len(d.Columns)-1 {
			if i == most-1 {
				s.indented(labelWidth, fmt.Sprintf("and %d more inputs", len(d.Columns)-most), t.Faint)
			}
			continue
		}
		text := c.Name + "  "
		if c.First != "" {
			text += shortStamp(c.First) + " to " + shortStamp(c.Last) + ", " + c.Span
		} else if len(c.Levels) > 0 {
			text += fmt.Sprintf("%d levels: %s", len(c.Levels), c.Levels[0].Name)
			for _, l := range c.Levels[1:min(4, len(c.Levels))] {
				text += ", " + l.Name
			}
		} else {
			text += format.Digits(c.Min) + " to " + format.Digits(c.Max)
			if c.Unit != "" {
				text += " " + c.Unit
			}
		}
		switch c.Type {
		case datasets.TypeFew, datasets.TypeFlag:
			text += ", " + map[string]string{datasets.TypeFew: "few values", datasets.TypeFlag: "a flag"}[c.Type]
		}
		if c.Missing > 0 {
			text += fmt.Sprintf(", %d missing", c.Missing)
		}
		label := ""
		if i == 0 || c.Role != d.Columns[i-1].Role {
			label = c.Role
		}
		s.pair(label, text, t.Text)
	}
	if s.w >= 24 {
		s.flex = len(s.blocks)
		s.blocks = append(s.blocks, block{})
		b := &s.blocks[s.flex]
		b.h = 9
		at := s.flex
		b.draw = func(x, y, w int) { l.drawData(s, plot.Rect{X: x, Y: y, W: w, H: s.blocks[at].h}, p) }
	}
	if len(d.Preview) > 0 {
		l.rowSheet(s, p, d.Preview)
	}
}

// shortStamp leaves the time out of a stamp at midnight.
func shortStamp(stamp string) string {
	return strings.TrimSuffix(strings.TrimSuffix(stamp, "Z"), "T00:00:00")
}

// rowSheet shows the first rows in columns, as many as fit.
func (l *Launcher) rowSheet(s *sheet, d *inspect.Preview, rows [][]string) {
	columns := d.Summary.Columns
	short := func(i int, v string) string {
		if columns[i].First != "" {
			return shortStamp(v)
		}
		var f float64
		if _, err := fmt.Sscan(v, &f); err == nil && len(v) > 8 {
			return format.Digits(f)
		}
		return v
	}
	width := make([]int, len(columns))
	for i, c := range columns {
		width[i] = min(20, plot.TextWidth(c.Name))
		for _, row := range rows {
			if i < len(row) {
				width[i] = max(width[i], min(20, plot.TextWidth(short(i, row[i]))))
			}
		}
	}
	line := func(cell func(i int) string, style plot.Style) {
		s.add(1, func(x, y, w int) {
			end := x + w
			for i := range columns {
				if x+width[i] > end {
					s.c.TextFit(x-1, y, 1, "…", s.t.Faint)
					break
				}
				s.c.TextRight(x+width[i], y, plot.Truncate(cell(i), width[i]), style)
				x += width[i] + 2
			}
		})
	}
	line(func(i int) string { return columns[i].Name }, s.t.Faint)
	for _, row := range rows {
		line(func(i int) string {
			if i >= len(row) {
				return ""
			}
			return short(i, row[i])
		}, s.t.Text)
	}
}

// drawData draws the target against the first input.
func (l *Launcher) drawData(s *sheet, r plot.Rect, p *inspect.Preview) {
	t := s.t
	train := plot.Scatter{Name: "training", Style: t.Focus}
	test := plot.Scatter{Name: "test", Style: t.Warn, Mark: t.TestMark(), Priority: 1}
	if len(p.Points.X) > 4*r.W {
		test.Mark = 0 // dots, or they hide each other
	}
	for i, x := range p.Points.X {
		k := &train
		if p.Points.Kind[i] == inspect.PointTest {
			k = &test
		}
		k.X, k.Y = append(k.X, x), append(k.Y, p.Points.Y[i])
	}
	columns := p.Summary.Columns
	ch := plot.Chart{
		Scatters: []plot.Scatter{train, test}, Glyphs: t.Glyphs, Styles: t.ChartStyles(), Raster: &l.raster,
		X: plot.Axis{Title: p.Input.Name, Unit: p.Input.Unit}, Y: plot.Axis{Title: p.Target.Name, Unit: p.Target.Unit},
		Legend: len(test.X) > 0,
	}
	if origin, unit, ok := record.TimeScale(&columns[0]); ok {
		ch.X.Labels = format.DateTicks(origin, unit, columns[0].Min, columns[0].Max, max(2, r.W/14))
		ch.X.Unit = ""
	}
	ch.Draw(s.c, r)
}
