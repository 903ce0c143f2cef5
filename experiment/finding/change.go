package finding

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"example.com/kestrel/datasets"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/words"
	"example.com/kestrel/kernelspace"
)

// steps describes a level that changes at some places, in brief.
func (w *speller) steps(c *kernelspace.Component) string {
	var places []string
	var last wordLeaf
	var at []int // hyperparameters
	slow := 0.0  // the widest
	for i := range c.Program.Instrs {
		in := &c.Program.Instrs[i]
		if in.Op == kernelspace.OpStep {
			last = wordLeaf{Instr: in}
			at = append(at, c.Params[in.Off])
			slow = max(slow, float64(w.values[c.Params[in.Off+1]]))
		}
	}
	slices.SortFunc(at, func(a, b int) int { return cmp.Compare(w.values[a], w.values[b]) })
	by := w.stepSizes(c, len(at))
	for i, p := range at {
		places = append(places, "at "+w.day(last.Cols[0], float64(w.values[p]))+w.between(last.Cols[0], p, w.day)+by[i])
	}
	how := "changes"
	if stepWidths*slow < w.start.Inputs()[last.Cols[0]].Spacing {
		how = "steps"
	}
	return "a level that " + how + w.where(&last) + " " + words.Join(places)
}

// between is what a place lies between with 95 % of the belief, "" where that is not known.
func (w *speller) between(column, p int, write func(column int, v float64) string) string {
	if w.fit == nil {
		return ""
	}
	low, high, ok := w.fit.Between(p)
	if !ok {
		return ""
	}
	low, high = toRows(&w.start.Inputs()[column], low, high)
	return w.betweenEnds(column, low, high, write)
}

// toRows moves the ends of an interval of a place out to the nearest rows of an even column: between two rows the data
// do not tell one place from another, and that the prior of the width draws it to the middle is not to be believed.
func toRows(c *datasets.ColumnSummary, low, high float64) (float64, float64) {
	if !c.Regular || !(c.Spacing > 0) {
		return low, high
	}
	n := c.Spacing
	if r := c.Min + n*math.Floor((low-c.Min)/n); r >= c.Min {
		low = r
	}
	if r := c.Min + n*math.Ceil((high-c.Min)/n); r <= c.Max {
		high = r
	}
	return low, high
}

func (w *speller) betweenEnds(column int, low, high float64, write func(column int, v float64) string) string {
	low, high = words.Ends(low, high)
	from, to := write(column, low), write(column, high)
	if from == to {
		return ""
	}
	return ", with 95 % between " + from + " and " + to
}

// stepWidths widths are what three quarters of a change take.
const stepWidths = 4

// day is place to the day where rows are a day apart or more.
func (w *speller) day(column int, v float64) string {
	c := &w.start.Inputs()[column]
	text := w.place(column, v)
	if _, second, ok := record.TimeScale(c); ok && c.Spacing*second >= 86400 {
		text, _, _ = strings.Cut(text, " ")
	}
	return text
}

// change describes a change point.
func (w *speller) change(c *kernelspace.Component) string {
	if w.brief && c.Expr.IsSteps() {
		return w.steps(c)
	}
	step := &c.Program.Instrs[0]
	if p := w.bend(c); p != nil {
		d := step.Cols[0]
		middle, _ := words.Ends(float64(p.Middle), float64(p.Middle+p.High-p.Low))
		return "a straight line" + w.where(&wordLeaf{Instr: step}) + " that bends at " + w.day(d, middle) +
			w.betweenEnds(d, float64(p.Low), float64(p.High), w.day)
	}
	at, width := c.Params[step.Off], c.Params[step.Off+1]
	column := w.start.Inputs()[step.Cols[0]].Name
	before, after := c.Program.Branches()
	return "a change at " + column + " = " + w.place(step.Cols[0], float64(w.values[at])) + w.between(step.Cols[0], at, w.place) +
		", over about " + w.quantities([]int{width}) +
		", from " + w.branch(c, before) + " to " + w.branch(c, after)
}

// bend is where a straight line that goes over to another bends; nil where the data show no bend, or that is not known yet.
func (w *speller) bend(c *kernelspace.Component) *record.Bend {
	for _, e := range w.effectsOf(c) {
		if e.Kind == record.EffectBend && e.Place != nil && e.Known() {
			return e.Place
		}
	}
	return nil
}

// branch describes one side of the change point c.
func (w *speller) branch(c *kernelspace.Component, side kernelspace.Component) string {
	parts, err := side.Program.Components()
	if err != nil {
		return side.Expr.String()
	}
	for i := range parts {
		p := &parts[i]
		for k := range p.Params { // of the side, then of c, then of the whole kernel
			p.Params[k] = c.Params[side.Params[p.Params[k]]]
		}
		for k := range p.Leaves {
			p.Leaves[k] = c.Leaves[side.Leaves[p.Leaves[k]]]
		}
	}
	return strings.Join(w.components(parts), " plus ")
}
