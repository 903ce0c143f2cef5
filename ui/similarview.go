package ui

import (
	"context"
	"fmt"
	"math"

	tea "charm.land/bubbletea/v2"

	"example.com/kestrel/experiment/inspect"
	"example.com/kestrel/ui/draw"
	"example.com/kestrel/ui/input"
	"example.com/kestrel/ui/picture"
	"example.com/kestrel/ui/plot"
	"example.com/kestrel/ui/theme"
)

const (
	similarKernels     = 16 // compared at first, where there is room for their numbers
	fewestSimilar      = 4
	mostSimilarKernels = 144
	similarMargin      = 10 // columns for the frame and the scale
	similarCell        = 5  // for a number
)

// similarView shows how alike the best kernels are: to the belief over kernels,
// and in what they predict.
type similarView struct {
	b        *bench
	means    bool // of the predictive means, not of g
	top      int  // kernels; 0: as many as there is room for
	row, col int

	matrix answer
	layout plot.HeatLayout
}

// newSimilarView opens on what kernels predict, and on the leader with the next: whether
// it matters which of them is chosen.
func newSimilarView(b *bench) *similarView { return &similarView{b: b, means: true, col: 1} }

// kernels is how many kernels are compared: as asked for, or as many as there is room for
// with their numbers.
func (v *similarView) kernels() int {
	if v.top > 0 {
		return v.top
	}
	names, room := 0, v.b.app.w-similarMargin
	for i, k := range ranked(v.b.hist.Evaluation) {
		if i < similarKernels {
			names = max(names, plot.TextWidth(v.b.kernelName(k.ID))+4) // and its number
		}
	}
	return max(fewestSimilar, min(similarKernels, (room-min(names, room*2/5))/similarCell))
}

func (v *similarView) name() string { return "similar" }

func (v *similarView) groups() []input.Group {
	do := func(f func()) func() tea.Cmd {
		return func() tea.Cmd { f(); return nil }
	}
	n := v.size()
	return []input.Group{{Name: "similarity", All: []input.Binding{
		{Keys: []string{"t"}, Label: "t", Short: "belief or predictions",
			About: "correlation of g under q(g), or of the kernels' predictive means", Do: do(func() { v.means = !v.means })},
		{Keys: []string{"up", "k"}, Label: "↑ ↓ ← →",
			About: "the pair that is read off, also h j k l or a click", Do: do(func() { v.row = max(0, v.row-1) })},
		{Keys: []string{"down", "j"}, Do: do(func() { v.row = max(0, min(n-1, v.row+1)) })},
		{Keys: []string{"left", "h"}, Do: do(func() { v.col = max(0, v.col-1) })},
		{Keys: []string{"right", "l"}, Do: do(func() { v.col = max(0, min(n-1, v.col+1)) })},
		{Keys: []string{"+", "="}, Label: "+ −", Short: "kernels", About: "compare more or fewer kernels", Do: do(func() { v.resize(2) })},
		{Keys: []string{"-"}, Do: do(func() { v.resize(0.5) })},
		{Keys: []string{"enter"}, Label: "enter", About: "the row's kernel in detail", Off: n == 0, Do: v.open},
	}}}
}

// resize changes how many kernels are compared.
func (v *similarView) resize(factor float64) {
	live := len(ranked(v.b.hist.Evaluation))
	now := v.kernels()
	if live > 0 {
		now = min(now, live)
	}
	v.top = max(2, min(mostSimilarKernels, int(float64(now)*factor)))
}

func (v *similarView) open() tea.Cmd {
	if s, ok := v.known(); ok && v.row < len(s.IDs) {
		v.b.detail(s.IDs[v.row])
	}
	return nil
}

// A matrix of another size serves until the one asked for is there.
const similarTopic = "similarity"

func (v *similarView) known() (*inspect.Similarity, bool) {
	return known[*inspect.Similarity](&v.matrix, similarTopic)
}

func (v *similarView) size() int {
	if s, ok := v.known(); ok {
		return len(s.IDs)
	}
	return 0
}

func (v *similarView) refresh() tea.Cmd {
	top := v.kernels()
	return v.b.inquire(inquiry{to: &v.matrix, topic: similarTopic, detail: fmt.Sprint(top),
		f: func(ctx context.Context, i inspector) (any, error) {
			return i.Similarity(ctx, top)
		}})
}

func (v *similarView) mouse(msg tea.MouseMsg) tea.Cmd {
	m := msg.Mouse()
	switch msg.(type) {
	case tea.MouseClickMsg, tea.MouseMotionMsg:
		if row, col, ok := v.layout.At(m.X, m.Y); ok && row < v.size() && col < v.size() {
			v.row, v.col = row, col
		}
	case tea.MouseWheelMsg:
		if m.Button == tea.MouseWheelUp {
			v.row = max(0, v.row-1)
		} else {
			v.row = max(0, min(v.size()-1, v.row+1))
		}
	}
	return nil
}

func (v *similarView) draw(c *plot.Canvas, r plot.Rect, t *theme.Theme) {
	defer c.Clip(r)()
	v.layout = plot.HeatLayout{}
	s, ok := v.known()
	title := "Similarity to the belief: correlation of g under q(g)"
	if v.means {
		title = "Similarity of predictions: correlation of the kernels' means"
	}
	note, bad := v.b.answerNote(&v.matrix, similarTopic)
	in := draw.Panel(c, r, t, title, map[bool]string{false: note, true: "not up to date"}[bad], false)
	defer c.Clip(in)()
	if !ok || len(s.IDs) == 0 {
		draw.Empty(c, in, note, map[bool]plot.Style{true: t.Bad, false: t.Faint}[bad])
		return
	}
	n := len(s.IDs)
	v.row, v.col = max(0, min(v.row, n-1)), max(0, min(v.col, n-1))
	m := s.Belief
	if v.means {
		m = s.Means
	}
	// Below: the pair under the cursor, what is seen, and the error.
	lines := draw.Wrap(v.explain(s), in.W)
	if in.H < 12 {
		lines = lines[:0]
	}
	if bad {
		lines = append(lines, note)
	}
	foot := min(len(lines)+1, max(0, in.H-3))
	heat := plot.Rect{X: in.X, Y: in.Y, W: in.W, H: in.H - foot}
	legend := heat.W >= 40 && heat.H >= 8
	if legend {
		heat.W -= 8
	}
	var labels []string
	for _, id := range s.IDs {
		labels = append(labels, v.b.kernelName(id))
	}
	opts := plot.HeatMapOptions{
		Min: -1, Max: 1, Color: t.Diverging(), Label: t.Faint, Labels: labels, Glyphs: t.Glyphs, Mark: &[2]int{v.row, v.col},
		Format: correlationText,
	}
	v.layout = plot.HeatMap(c, heat, m, opts)
	if opts.Color != nil && !v.layout.Values && v.b.app.takes(heat.W, heat.H) {
		v.picture(c, heat, s, m, opts, t)
	}
	if legend {
		x := v.layout.Plot.X + v.layout.Plot.W + 2
		v.drawLegend(c, plot.Rect{X: x, Y: heat.Y + 1, W: in.X + in.W - x, H: min(heat.H-1, 11)}, t)
	}
	if foot > 0 {
		y := heat.Y + heat.H
		value := correlationText(valueAt(m, v.row, v.col))
		names := plot.FitNames([]string{v.b.kernelName(s.IDs[v.row]), v.b.kernelName(s.IDs[v.col])}, (in.W-plot.TextWidth(value+":  and "))/2)
		c.TextFit(in.X, y, in.W, names[0]+" and "+names[1]+": "+value, t.Strong)
		draw.Lines(c, plot.Rect{X: in.X, Y: y + 1, W: in.W, H: foot - 1}, lines, 0, t.Faint)
	}
}

// picture draws the matrix as a picture, where there is no room for its numbers: it may
// have more kernels than there are cells.
func (v *similarView) picture(c *plot.Canvas, heat plot.Rect, s *inspect.Similarity, m [][]float64, o plot.HeatMapOptions, t *theme.Theme) {
	c.Fill(heat, ' ', plot.Style{})
	o.Bare = true
	v.layout = plot.HeatMap(c, heat, m, o)
	v.b.app.place(c, picture.Picture{
		Cells: v.layout.Plot,
		Of:    fmt.Sprintf("%p %v %v %v %v\n", s, v.means, *o.Mark, t.Dark, t.Profile),
		Paint: func(img *picture.Image) {
			picture.Heat(img, m, func(u float64) plot.Style { return o.Color((u - o.Min) / (o.Max - o.Min)) }, o.Mark)
		},
	})
}

func valueAt(m [][]float64, row, col int) float64 {
	if row < len(m) && col < len(m[row]) {
		return m[row][col]
	}
	return math.NaN()
}

// correlationText writes a correlation in few characters: 1, .997, .98, −.31, 0.
func correlationText(v float64) string {
	switch {
	case math.IsNaN(v):
		return "·"
	case v >= 0.9995:
		return "1"
	case v <= -0.9995:
		return "−1"
	case v >= 0.99:
		return fmt.Sprintf("%.3f", v)[1:]
	case math.Abs(v) < 0.005:
		return "0"
	case v < 0:
		return "−" + fmt.Sprintf("%.2f", -v)[1:]
	}
	return fmt.Sprintf("%.2f", v)[1:]
}

// explain says what the matrix means.
func (v *similarView) explain(s *inspect.Similarity) string {
	if v.means {
		rows := "training rows seen"
		if s.Test {
			rows = "test rows"
		}
		return v.leastAlike(s) + fmt.Sprintf("Kernels are alike here if they predict alike: Pearson's correlation of their predictive means at "+
			"%d %s. 1 is the same but for level and size, 0 nothing in common, −1 the opposite.", s.Rows, rows)
	}
	return "g sees kernels only through their ELBOs: a correlation here says that raising the belief in one raises it in the other, " +
		"not that they predict alike (t shows that). 0 is nothing of it, below 0 that it lowers it."
}

// sameMeans is a correlation of predictions above which it hardly matters which is taken.
const sameMeans = 0.99

// leastAlike says whether it matters which of the kernels predicts, and which two differ
// most.
func (v *similarView) leastAlike(s *inspect.Similarity) string {
	least, a, b := math.Inf(1), 0, 0
	for i := range s.IDs {
		for k := range i {
			if r := valueAt(s.Means, i, k); r < least {
				least, a, b = r, k, i
			}
		}
	}
	switch {
	case math.IsInf(least, 1):
		return ""
	case least >= sameMeans:
		return fmt.Sprintf("All %d predict nearly the same: it matters little which of them is chosen. ", len(s.IDs))
	}
	return fmt.Sprintf("Least alike are %d and %d, %s: %s and %s. ", a+1, b+1, correlationText(least), v.b.kernelName(s.IDs[a]),
		v.b.kernelName(s.IDs[b]))
}

// legendWords say what the ends and the middle of the scale mean.
var legendWords = map[float64]string{1: "alike", 0: "unlike", -1: "opposite"}

// drawLegend draws the scale from 1 at the top to −1, with words where there is room.
func (v *similarView) drawLegend(c *plot.Canvas, r plot.Rect, t *theme.Theme) {
	if r.H < 3 {
		return
	}
	scale := make([][]float64, r.H)
	for i := range scale {
		scale[i] = []float64{1 - 2*float64(i)/float64(r.H-1)}
	}
	colour := t.Diverging()
	for i := range scale {
		y, value := r.Y+i, scale[i][0]
		if colour != nil {
			c.Fill(plot.Rect{X: r.X, Y: y, W: 2, H: 1}, ' ', colour((value+1)/2))
		} else {
			shades := []rune(" ░▒▓█")
			if t.Glyphs == plot.ASCII {
				shades = []rune(" .:=%#")
			}
			c.Fill(plot.Rect{X: r.X, Y: y, W: 2, H: 1}, shades[int(min((value+1)/2, 0.9999)*float64(len(shades)))], t.Text)
		}
		if i == 0 || i == r.H-1 || 2*i == r.H-1 {
			text := correlationText(value)
			if said := text + " " + legendWords[value]; plot.TextWidth(said) <= r.W-3 {
				text = said
			}
			c.Text(r.X+3, y, text, t.Faint)
		}
	}
}
