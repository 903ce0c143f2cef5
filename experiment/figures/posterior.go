package figures

import (
	"cmp"
	"math"
	"slices"

	"example.com/kestrel/experiment/chart"
	"example.com/kestrel/experiment/history"
	"example.com/kestrel/vbks"
)

// mostKernelsDrawn bounds the kernels that have a name in a figure, so that all
// differ in their look.
const mostKernelsDrawn = 8

// posteriorFigure is the paper's figure 1: the posterior of the kernels against
// the proportion of the data, the mean of the repeats. Kernels that were ever
// among the first top of the means have a name, the others are grey.
func (g *figureGroup) posteriorFigure(top int) *paperFigure {
	h := g.runs[0]
	f := g.frame(history.QuantityPosterior)
	f.Title += seedsText(len(g.runs))
	placeOn(&f.Figure, h, history.AxisData, h.Moments())
	ids := h.IDs()
	means := make([]curve, len(ids))
	for k, id := range ids {
		courses := make([]curve, len(g.runs))
		for i, run := range g.runs {
			courses[i] = posteriorCourse(run, id)
		}
		means[k] = linearMean(courses)
	}
	named := everFirst(means, top)
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
		l := chart.Line{Name: h.Name(k), X: means[k].x, Lo: means[k].y, Rest: !slices.Contains(named, k)}
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

// posteriorCourse is a kernel's posterior on the data axis; that of a kernel
// that has left the belief is 0. Where an order changed the belief it steps.
func posteriorCourse(h *history.History, id string) (c curve) {
	k := h.Index(id)
	if k < 0 {
		return c
	}
	s := h.Series(k, history.QuantityPosterior)
	for i := range s.Len() {
		v := s.Last(i)
		if status := h.StatusAt(k, i); math.IsNaN(v) && (status == vbks.Pruned || status == vbks.Failed) {
			v = 0
		}
		c.step(s.X(i, history.AxisData), v)
	}
	return c
}

// everFirst lists the courses that are among the first top of all at any place,
// by their largest value, and by the last one where there are too many.
func everFirst(courses []curve, top int) []int {
	first := map[int]bool{}
	places := 0
	for _, c := range courses {
		places = max(places, len(c.y))
	}
	by := func(value func(k int) float64) func(a, b int) int {
		return func(a, b int) int { return cmp.Or(cmp.Compare(value(b), value(a)), a-b) }
	}
	for i := range places {
		var there []int
		for k, c := range courses {
			if i < len(c.y) && !math.IsNaN(c.y[i]) {
				there = append(there, k)
			}
		}
		slices.SortFunc(there, by(func(k int) float64 { return courses[k].y[i] }))
		for _, k := range there[:min(top, len(there))] {
			first[k] = true
		}
	}
	var all []int
	for k := range courses {
		if first[k] {
			all = append(all, k)
		}
	}
	last := func(k int) float64 { return courses[k].y[len(courses[k].y)-1] }
	slices.SortFunc(all, by(last))
	return all[:min(len(all), mostKernelsDrawn)]
}
