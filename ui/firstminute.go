package ui

import (
	"fmt"
	"math"
	"time"

	tea "charm.land/bubbletea/v2"

	"example.com/kestrel/experiment/inspect"
	"example.com/kestrel/experiment/prepare"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/ui/draw"
	"example.com/kestrel/ui/format"
	"example.com/kestrel/ui/plot"
	"example.com/kestrel/ui/theme"
	"example.com/kestrel/vbks"
)

// firstMinute is what there is to see of a run of this program before its first
// evaluation.
type firstMinute struct {
	asked  bool
	column int
	points *inspect.PointSet
	raster plot.Raster
	meter  record.Meter // of the phase that is under way
}

// dataMsg is the data of a run of which nothing has been learned yet.
type dataMsg struct {
	of     *bench
	column int
	points *inspect.PointSet
}

// early reports whether there is no evaluation, and one may come.
func (b *bench) early() bool { return b.hist.Evaluation == nil && b.hist.Start != nil && !b.settled() }

// askData asks for the data once, against time or the first input.
func (b *bench) askData() tea.Cmd {
	if b.first.asked || !b.early() || b.session == nil {
		return nil
	}
	b.first.asked = true
	column := 0
	for i, c := range b.hist.Start.Inputs() {
		if _, _, ok := record.TimeScale(&c); ok {
			column = i
			break
		}
	}
	run := b.session.Run
	return func() tea.Msg {
		value, err := guarded(func() (any, error) { return run.Data(column, mostDrawn) })
		points, ok := value.(*inspect.PointSet)
		if err != nil || !ok {
			return nil // the chart says what is waited for
		}
		return dataMsg{b, column, points}
	}
}

// phaseLeft is how long the phase under way will take, 0 where that is not known.
func (b *bench) phaseLeft() time.Duration {
	p := b.snapshot.Progress
	return b.first.meter.Left(p.Phase, p.Done, p.Total, b.app.opts.now())
}

// drawData draws the rows that the run is about.
func (b *bench) drawData(c *plot.Canvas, r plot.Rect, t *theme.Theme) {
	f := &b.first
	drawRows(c, r, t, &f.raster, f.points, &b.hist.Start.Inputs()[f.column], b.hist.Start.Target())
}

// drawRows draws rows that nothing has been learned from along an input; y may be nil.
func drawRows(c *plot.Canvas, r plot.Rect, t *theme.Theme, raster *plot.Raster, points *inspect.PointSet, in, y *record.Column) {
	ch := plot.Chart{Glyphs: t.Glyphs, Styles: t.ChartStyles(), Raster: raster, Legend: r.H >= 8}
	kinds := [...]plot.Scatter{
		inspect.PointSeen:   {},
		inspect.PointUnseen: {Name: "to learn from", Style: t.Text},
		inspect.PointTest:   {Name: "held out", Style: t.Warn, Priority: 2},
	}
	if t.Plain() {
		kinds[inspect.PointTest].Mark = t.TestMark()
	}
	for i, x := range points.X {
		k := &kinds[points.Kind[i]]
		k.X, k.Y = append(k.X, x), append(k.Y, points.Y[i])
	}
	for _, k := range kinds {
		if len(k.X) > 0 {
			ch.Scatters = append(ch.Scatters, k)
		}
	}
	ch.X.Min, ch.X.Max = in.Min, in.Max
	alongInput(&ch.X, in, in.Min, in.Max, r.W)
	if y != nil {
		ch.Y.Title, ch.Y.Unit = y.Name, y.Unit
	}
	ch.Draw(c, r)
}

// leastSketch is how high a chart of the data must be, with its frame.
const leastSketch = 9

// drawSketch draws the data of the run that is being prepared.
func (a *app) drawSketch(c *plot.Canvas, r plot.Rect) {
	s := a.sketch.Load()
	in := draw.Panel(c, r, a.theme, "Data: "+s.Target.Name+" over "+s.Input.Name, "", false)
	defer c.Clip(in)()
	drawRows(c, in, a.theme, &a.raster, &s.Points, &s.Input, &s.Target)
}

// dataTitle names the chart of the data.
func (b *bench) dataTitle() string {
	s := b.hist.Start
	title := "Data"
	if y := s.Target(); y != nil {
		title = "Data: " + y.Name + " over " + s.Inputs()[b.first.column].Name
	}
	return title
}

// drawStages says how far the first evaluation is.
func (b *bench) drawStages(c *plot.Canvas, r plot.Rect, t *theme.Theme) {
	p := b.snapshot.Progress
	if len(p.Kernels) == 0 {
		draw.Empty(c, r, b.main.waiting(), t.Faint)
		return
	}
	count := map[vbks.Stage]int{}
	for _, k := range p.Kernels {
		count[k.Stage]++
	}
	lines := []string{
		"The first evaluation is under way: " + prepare.PhaseText(p.Phase) + ".",
		fmt.Sprintf("Kernels through: %d, worked at: %d, queued: %d.", count[vbks.Through], count[vbks.Working], count[vbks.Queued]),
	}
	if left := b.phaseLeft(); left > 0 {
		lines = append(lines, "This part takes about "+format.Clock(left)+" more.")
	}
	lines = append(lines, "In the table: nats behind the best so far.")
	y := r.Y
	for _, text := range lines {
		for _, l := range draw.Wrap(text, r.W) {
			if y < r.Y+r.H {
				c.TextFit(r.X, y, r.W, l, t.Text)
				y++
			}
		}
	}
	if w := min(r.W, 60); y+1 < r.Y+r.H {
		c.Fill(plot.Rect{X: r.X, Y: y + 1, W: w, H: 1}, '·', t.Border)
		plot.Bar(c, r.X, y+1, w, float64(p.Done)/float64(max(1, p.Total)), t.Focus, t.Glyphs)
	}
}

// stages gives the rows of the table what is known of them before the first
// evaluation.
func (t *table) stages(b *bench) {
	best := math.Inf(-1)
	for _, k := range b.snapshot.Progress.Kernels {
		if k.Bound > best { // false where none is known
			best = k.Bound
		}
	}
	for i := range t.rows {
		k := &t.rows[i]
		if k.index < 0 || k.index >= len(b.snapshot.Progress.Kernels) {
			continue
		}
		p := b.snapshot.Progress.Kernels[k.index]
		k.stage, k.gap = p.Stage, p.Bound-best
	}
}

// bestSoFar is the longest word of stageText.
const bestSoFar = "best so far"

// stageText is what the table has of a kernel before the first evaluation in w columns: a
// number is not cut.
func (k *row) stageText(w int) string {
	word := map[vbks.Stage]string{vbks.Queued: "queued", vbks.Working: "optimising"}[k.stage]
	switch {
	case math.IsNaN(k.gap):
		return word
	case k.gap == 0:
		return bestSoFar
	}
	text := gapText(k.gap, 0)
	if plot.TextWidth(text+" nats") <= w {
		text += " nats"
	}
	return text
}
