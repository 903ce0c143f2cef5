package ui

import (
	"math"
	"slices"

	tea "charm.land/bubbletea/v2"

	"example.com/kestrel/experiment/inspect"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/ui/format"
	"example.com/kestrel/ui/input"
)

// fitWay is how a fit is drawn beside the rows.
type fitWay int

const (
	fitCurve   fitWay = iota // along the only input
	fitOwn                   // of several inputs: at each row's own
	fitPartial               // along one, the others held; rows as partial residuals
)

// rowsShown says which rows of the data are drawn.
type rowsShown int

const (
	rowsAll rowsShown = iota
	rowsHeldOut
	rowsNone
	rowsKinds
)

// fanLevels are those of a forecast's bands within that of 95 %, outermost first.
var fanLevels = []float64{0.8, 0.5}

// way is how the fit is drawn now. A curve along one of several inputs is not beside
// rows whose other inputs are elsewhere: along a time the rows are predicted where
// they are; along anything else they stand above the curve by what is left of them.
func (v *fitView) way() fitWay {
	if v.inputs() == 0 || v.column >= v.inputs() {
		return fitCurve
	}
	p, ok := known[fitPoints](&v.points, v.pointsTopic())
	switch {
	case v.inputs() == 1, ok && p.Alone:
		return fitCurve
	case v.timed() != v.turn:
		return fitOwn
	}
	return fitPartial
}

// beliefs are what one kernel or the average believes: along the column, and at the rows' own
// inputs.
type beliefs struct{ curve, fitted answer }

// has reports whether all that is drawn is known of a kernel, "" for the average.
func (v *fitView) has(b *beliefs, kernel string) bool {
	_, curve := known[*inspect.Curve](&b.curve, v.curveTopic(kernel))
	_, fitted := known[*inspect.Fitted](&b.fitted, v.fittedTopic(kernel))
	return (curve || v.way() == fitOwn) && (fitted || v.way() == fitCurve)
}

// askedFirst is the kernel whose fit is shown until the average over all kernels is there,
// which may take a minute; "" where that is not asked for, or is of one kernel.
func (v *fitView) askedFirst() string {
	e := v.b.hist.Evaluation
	if v.single || e == nil || e.Leader() == nil || len(ranked(e)) < 2 {
		return ""
	}
	return e.Leader().ID
}

// shownOf are the beliefs that are drawn, and whose they are.
func (v *fitView) shownOf() (b *beliefs, kernel string) {
	kernel = v.kernel()
	if first := v.askedFirst(); first != "" && !v.has(&v.wanted, kernel) && v.has(&v.first, first) {
		return &v.first, first
	}
	return &v.wanted, kernel
}

// provisional reports whether the leader's fit stands in for the average.
func (v *fitView) provisional() bool {
	b, _ := v.shownOf()
	return b == &v.first
}

// beliefAsked is the question whose answer is wanted, with its topic.
func (v *fitView) beliefAsked() (*answer, string) {
	if v.way() == fitOwn {
		return &v.wanted.fitted, v.fittedTopic(v.kernel())
	}
	return &v.wanted.curve, v.curveTopic(v.kernel())
}

// curveShown is the belief that is drawn.
func (v *fitView) curveShown() (*inspect.Curve, bool) {
	b, kernel := v.shownOf()
	if v.way() != fitOwn {
		return known[*inspect.Curve](&b.curve, v.curveTopic(kernel))
	}
	f, ok := known[*inspect.Fitted](&b.fitted, v.fittedTopic(kernel))
	if !ok {
		return nil, false
	}
	return &f.Curve, true
}

// pointsShown are the rows that are drawn. Partial residuals are
//
//	f(x, others held) + (y − m),
//
// m being the mean at the row's own inputs.
func (v *fitView) pointsShown() (*inspect.PointSet, bool) {
	all, ok := known[fitPoints](&v.points, v.pointsTopic())
	if v.way() == fitCurve {
		return all.PointSet, ok
	}
	b, kernel := v.shownOf()
	f, fitted := known[*inspect.Fitted](&b.fitted, v.fittedTopic(kernel))
	switch {
	case !fitted && v.way() == fitOwn: // nothing stands beside them yet
		return all.PointSet, ok
	case !fitted:
		return nil, false
	}
	set := &inspect.PointSet{X: f.X, Y: f.Y, Kind: f.Kind}
	if v.way() == fitPartial {
		curve, ok := v.curveShown()
		if !ok {
			return nil, false
		}
		along := polyline{curve.X, curve.Mean}
		set.Y = slices.Clone(f.Y)
		for i, x := range f.X {
			set.Y[i] += along.at(x) - f.Mean[i]
		}
	}
	return set, true
}

// learned is the last place of the rows that the evaluation has seen.
func (v *fitView) learned() (last float64, ok bool) {
	p, ok := known[fitPoints](&v.points, v.pointsTopic())
	if !ok {
		return 0, false
	}
	last = math.Inf(-1)
	for i, x := range p.X {
		if p.Kind[i] == inspect.PointSeen {
			last = max(last, x)
		}
	}
	return last, !math.IsInf(last, -1)
}

// ordered reports whether there is a line through rows: of no tenth of them is the
// place that of another.
func (v *fitView) ordered(c *inspect.Curve) bool {
	same := 0
	for i := 1; i < len(c.X); i++ {
		if c.X[i] == c.X[i-1] {
			same++
		}
	}
	return v.timed() && 10*same < len(c.X)
}

// between counts those of ascending xs that are between two values.
func between(xs []float64, lo, hi float64) int {
	from, _ := slices.BinarySearch(xs, lo)
	to, _ := slices.BinarySearch(xs, hi)
	return to - from
}

// nearestOf returns the place in ascending xs nearest to x.
func nearestOf(xs []float64, x float64) int {
	i, _ := slices.BinarySearch(xs, x)
	if i == len(xs) || i > 0 && x-xs[i-1] < xs[i]-x {
		i--
	}
	return max(0, i)
}

// askRange begins the typing of a range.
func (v *fitView) askRange() {
	f := input.NewField("", "2023-03 .. 2023-05")
	if v.inputs() == 0 {
		return
	}
	if !v.timed() {
		f = input.NewField("", "1.5 .. 3")
	}
	v.asked, v.wrong = &f, ""
}

// takeRange shows what was typed; nothing is all of it.
func (v *fitView) takeRange() {
	text := v.asked.Value()
	if text == "" {
		v.lo, v.hi, v.asked = 0, 0, nil
		return
	}
	in := &v.b.hist.Start.Inputs()[v.column]
	lo, hi, err := 0.0, 0.0, error(nil)
	if origin, unit, ok := record.TimeScale(in); ok {
		lo, hi, err = format.DateRange(text, origin, unit)
	} else {
		lo, hi, err = format.Range(text)
	}
	if all0, all1 := v.extent(); err == nil {
		span := fitBeyond * (all1 - all0)
		lo, hi, err = format.Within(lo, hi, all0-span, all1+span)
	}
	if err != nil {
		v.wrong = err.Error()
		return
	}
	v.lo, v.hi, v.asked, v.wrong = lo, hi, nil, ""
}

// typing implements typist.
func (v *fitView) typing() bool { return v.asked != nil }

// typed implements typist.
func (v *fitView) typed(msg tea.Msg) {
	v.asked.Update(msg)
	v.wrong = ""
}
