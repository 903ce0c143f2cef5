package figures

import (
	"cmp"
	"math"
	"slices"

	"example.com/kestrel/experiment/chart"
	"example.com/kestrel/experiment/history"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/vbks"
)

// mostKernelsDrawn bounds the kernels that have a name in a figure, so that all
// differ in their look.
const mostKernelsDrawn = 8

// posteriorFigure is the paper's figure 1: the posterior of the kernels against
// the proportion of the data, the mean of the repeats. Kernels that were ever
// among the first top of the means have a name, the others are grey. Where kernels
// come and go the means are of all that any repeat has had, to the end of the longest, and where
// none has a kernel it has no line.
func (g *figureGroup) posteriorFigure(top int) *paperFigure {
	h, end, grows := g.runs[0], 0.0, g.grows()
	if grows {
		h = slices.MaxFunc(g.runs, func(a, b *history.History) int { return cmp.Compare(lastPlace(a), lastPlace(b)) })
		end = lastPlace(h)
	}
	f := g.frame(history.QuantityPosterior)
	f.Title += seedsText(len(g.runs))
	placeOn(&f.Figure, h, history.AxisData, h.Moments())
	var ids []string
	called := map[string]string{}
	for _, run := range g.runs {
		for k, id := range run.IDs() {
			if _, there := called[id]; !there {
				ids, called[id] = append(ids, id), run.Name(k)
			}
		}
	}
	means := make([]curve, len(ids))
	for k, id := range ids {
		courses, there := make([]curve, len(g.runs)), make([]curve, len(g.runs))
		for i, run := range g.runs {
			courses[i], there[i] = posteriorCourse(run, id, end)
		}
		means[k] = linearMean(courses)
		means[k].cut(there)
	}
	named := everFirst(means, top, grows)
	names := make([]string, len(named))
	for i, k := range named {
		names[i] = ids[k]
	}
	palette := new(chart.Palette)
	palette.Focus(names)
	order := slices.Clone(named)
	for k := range ids {
		if !slices.Contains(named, k) {
			order = append(order, k)
		}
	}
	for _, k := range order {
		l := chart.Line{Name: called[ids[k]], X: means[k].x, Lo: means[k].y, Rest: !slices.Contains(named, k)}
		if !l.Rest {
			l.Swatch = palette.Of(ids[k])
		}
		f.line(l)
	}
	fitY(&f.Figure, history.QuantityPosterior, len(ids))
	if len(g.runs) == 1 {
		f.Marks = h.MarksOn(history.AxisData)
	}
	return f
}

// grows reports whether kernels come and go in any of the runs, by their config or by an order.
func (g *figureGroup) grows() bool {
	return slices.ContainsFunc(g.runs, func(h *history.History) bool {
		return h.Start.Grows || slices.ContainsFunc(h.IDs(), func(id string) bool { return len(h.Family.Way(id)) > 1 })
	})
}

// lastPlace is where a run stands on the data axis, 0 before its first evaluation.
func lastPlace(h *history.History) float64 {
	if n := len(h.Moments()); n > 0 {
		return h.Moments()[n-1].Data
	}
	return 0
}

// posteriorCourse is a kernel's posterior on the data axis; that of a kernel
// that has left the belief, or is not in the space, is 0. Where an order changed
// the belief it steps. A run that has finished keeps its belief up to end. There is
// NaN where the kernel is not in the space.
func posteriorCourse(h *history.History, id string, end float64) (c, there curve) {
	k, n := h.Index(id), len(h.Moments())
	absent := func(i int) bool { return k < 0 || h.StatusAt(k, i) == "" }
	var s history.Series
	if k >= 0 {
		s = h.Series(k, history.QuantityPosterior)
	}
	for i := range n {
		v, in := 0.0, math.NaN()
		if !absent(i) {
			v, in = s.Last(i), 1
			if status := h.StatusAt(k, i); math.IsNaN(v) && (status == vbks.Pruned || status == vbks.Failed) {
				v = 0
			}
		} else if i > 0 && i < n-1 && absent(i-1) && absent(i+1) {
			continue // of thousands of kernels most are absent most of the time: their lines have the ends of that only
		}
		c.step(h.Moments()[i].Data, v)
		there.step(h.Moments()[i].Data, in)
	}
	if n > 0 && h.State == record.Finished && c.x[len(c.x)-1] < end {
		c.step(end, c.y[len(c.y)-1])
		there.step(end, there.y[len(there.y)-1])
	}
	return c, there
}

// everFirst lists the courses that are among the first top of all at any place,
// by their largest value, and by the last one where there are too many. Where kernels
// come and go one whose value is 0 is not among them: it may not be there.
func everFirst(courses []curve, top int, grows bool) []int {
	first := map[int]bool{}
	values := make([]float64, len(courses))
	descending := func(a, b int) int { return cmp.Or(cmp.Compare(values[b], values[a]), a-b) }
	rank := func(value func(c *curve) float64) {
		var there []int
		for k := range courses {
			if values[k] = value(&courses[k]); values[k] > 0 || !grows && !math.IsNaN(values[k]) {
				there = append(there, k)
			}
		}
		slices.SortFunc(there, descending)
		for _, k := range there[:min(top, len(there))] {
			first[k] = true
		}
	}
	for _, x := range places(courses) {
		rank(func(c *curve) float64 { return c.linear(x) })
		rank(func(c *curve) float64 { y, _ := c.behind(x); return y })
	}
	var all []int
	for k, c := range courses {
		if first[k] {
			all, values[k] = append(all, k), c.y[len(c.y)-1]
		}
	}
	slices.SortFunc(all, descending)
	return all[:min(len(all), mostKernelsDrawn)]
}
