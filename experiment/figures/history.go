package figures

import (
	"fmt"
	"math"
	"slices"

	"example.com/kestrel/experiment/chart"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/history"
)

// quantityTexts returns how a quantity is called in files and on axes; unit is
// that of the data, " (MWh)", if it is known.
func quantityTexts(q history.Quantity, unit string) (file, label string) {
	switch q {
	case history.QuantityPosterior:
		return "posterior", "kernel posterior q*(k)"
	case history.QuantityBayes:
		return "bayes", "probability by Bayes’ rule"
	case history.QuantityELBO:
		return "elbo", "local ELBO (nats)"
	case history.QuantityGap:
		return "gap", "local ELBO less the leader’s (nats)"
	case history.QuantityRank:
		return "rank", "rank"
	case history.QuantityRMSE:
		return "rmse", "RMSE on held-out rows" + unit
	case history.QuantityMAE:
		return "mae", "mean absolute error on held-out rows" + unit
	case history.QuantityNLPD:
		return "nlpd", "negative log predictive density (nats)"
	case history.QuantityCoverage:
		return "coverage95", "held-out rows within the 95 % interval"
	}
	return fmt.Sprintf("quantity%d", q), ""
}

// History is a chart of a quantity of a run's kernels: the first focus of
// them by rank in colour and named, the rest in grey. A gap on a logarithmic
// axis is drawn as its distance from 0. The palette is told which kernels are in
// focus; it may be nil.
func History(h *history.History, p *chart.Palette, q history.Quantity, a history.Axis, focus int, logY bool) *chart.Figure {
	f := historyFrame(h, q, a)
	f.LogY = logY
	placeOn(f, h, a, h.Moments())
	ranked := h.Ranked()
	first := ranked[:min(max(0, focus), len(ranked))]
	ids := make([]string, len(first))
	for i, k := range first {
		ids[i] = h.IDs()[k]
	}
	if p == nil {
		p = new(chart.Palette)
	}
	p.Focus(ids)
	x := make([]float64, len(h.Moments()))
	for i := range x {
		x[i] = h.Moments()[i].On(a)
	}
	for _, k := range ranked {
		l := seriesLine(h.Series(k, q))
		if len(l.Lo) == 0 {
			continue
		}
		l.X = x // of all
		if q == history.QuantityGap && logY {
			l.Negate()
		}
		if l.Rest = !slices.Contains(first, k); !l.Rest {
			l.Name, l.Swatch = h.Name(k), p.Of(h.IDs()[k])
		}
		f.Lines = append(f.Lines, l)
	}
	if q == history.QuantityGap && logY {
		f.YLabel = "local ELBO behind the leader’s (nats)"
	}
	fitY(f, q, len(ranked))
	f.Marks = h.MarksOn(a)
	return f
}

// Metrics is a chart of a quantity of a run's methods of prediction. The
// vertical axis is linear; LogY may be set.
func Metrics(h *history.History, q history.Quantity, a history.Axis) *chart.Figure {
	f := historyFrame(h, q, a)
	looks := chart.Swatches()
	for m := range h.Methods() {
		s := h.MethodSeries(m, q)
		l := seriesLine(s)
		if len(l.Lo) == 0 {
			continue
		}
		l.X = make([]float64, s.Len())
		for i := range l.X {
			l.X[i] = s.X(i, a)
		}
		if m == 0 {
			placeOn(f, h, a, s.Moments)
		}
		l.Name, l.Swatch = config.MethodName(h.Method(m)), looks[m%len(looks)]
		f.Lines = append(f.Lines, l)
	}
	if q == history.QuantityCoverage && len(f.Lines) > 0 {
		grey := chart.RGB{R: chart.InkMark.Y, G: chart.InkMark.Y, B: chart.InkMark.Y}
		x := f.Lines[0].X
		f.Lines = append(f.Lines, chart.Line{X: []float64{x[0], x[len(x)-1]}, Lo: []float64{.95, .95}, Swatch: chart.Swatch{Light: grey},
			Width: 0.8})
	}
	if label, best, ok := h.BestBaseline(q); ok && len(f.Lines) > 0 {
		grey := chart.RGB{R: chart.InkMark.Y, G: chart.InkMark.Y, B: chart.InkMark.Y}
		x := f.Lines[0].X
		f.Lines = append(f.Lines, chart.Line{Name: label, X: []float64{x[0], x[len(x)-1]}, Lo: []float64{best, best},
			Swatch: chart.Swatch{Light: grey}, Width: 0.8})
	}
	f.Marks = h.MarksOn(a)
	return f
}

// historyFrame is a figure of a run without its lines.
func historyFrame(h *history.History, q history.Quantity, a history.Axis) *chart.Figure {
	f := &chart.Figure{}
	f.Name, f.YLabel = quantityTexts(q, h.TargetUnit())
	if h.Start != nil {
		f.Title = h.Start.Name
	}
	return f
}

// place sets the horizontal axis for points at moments.
func placeOn(f *chart.Figure, h *history.History, a history.Axis, moments []history.Moment) {
	if len(moments) == 0 {
		return
	}
	last := moments[len(moments)-1].On(a)
	switch a {
	case history.AxisSeconds:
		f.XLabel = "time (s)"
		if last > 0 {
			f.XMin, f.XMax = 0, last*1.015
		}
	case history.AxisEvaluation:
		f.XLabel = "evaluation"
		f.XAt = fromOne(last)
	default:
		f.XLabel = "proportion of the data used"
		if last <= 0 {
			return
		}
		f.XMin, f.XMax = 0, last*1.015
		f.XAt, _ = chart.RoundNumbers(0, min(last, 1), 5)
		if last > 1 {
			f.XLabel += ", then refinements (+)"
			f.XAt = append(f.XAt, refinements(h.Step(), last)...)
		}
		f.XTicks = h.Labeller(history.AxisData)
	}
}

// refinements places round numbers of refinements on the data axis, where each
// takes a step.
func refinements(step, last float64) (at []float64) {
	if step <= 0 {
		return nil
	}
	most := math.Round((last - 1) / step)
	// As far apart as the proportions are.
	for _, n := range wholeNumbers(1, most, max(1, int(math.Round((last-1)/.2)))) {
		at = append(at, 1+n*step)
	}
	return at
}

// wholeNumbers returns about want round whole numbers from lo to hi.
func wholeNumbers(lo, hi float64, want int) (at []float64) {
	round, step := chart.RoundNumbers(0, hi, want)
	if step < 1 {
		round, _ = chart.RoundNumbers(0, hi, max(1, int(hi)))
	}
	for _, n := range round {
		if n >= lo && n == math.Round(n) {
			at = append(at, n)
		}
	}
	return at
}

// fromOne is wholeNumbers from 1, which is always there.
func fromOne(hi float64) []float64 {
	at := wholeNumbers(2, hi, 8)
	return append([]float64{1}, at...)
}

// seriesLine copies the values of a series.
func seriesLine(s history.Series) (l chart.Line) {
	n := s.Len()
	if n == 0 {
		return l
	}
	l.Lo = make([]float64, n)
	for i := range n {
		lo, hi := s.At(i)
		l.Lo[i] = lo
		if l.Hi == nil && lo < hi {
			l.Hi = make([]float64, n)
			copy(l.Hi, l.Lo[:i])
		}
		if l.Hi != nil {
			l.Hi[i] = hi
		}
	}
	return l
}

// leastShown is the least probability on a logarithmic axis.
const leastShown = 1e-6

// fitY sets the limits where those of the data do not serve.
func fitY(f *chart.Figure, q history.Quantity, kernels int) {
	switch q {
	case history.QuantityPosterior, history.QuantityBayes:
		var e chart.Extent
		for i := range f.Lines {
			for _, values := range [][]float64{f.Lines[i].Lo, f.Lines[i].Hi} {
				for _, v := range values {
					if v > 0 {
						e.Add(v)
					}
				}
			}
		}
		switch {
		case !e.Any:
		case f.LogY:
			f.YMin, f.YMax = max(e.Lo/1.5, min(leastShown, e.Hi/10)), min(e.Hi*1.5, 1.3)
		default:
			top := e.Hi
			if top > .5 {
				top = 1
			}
			f.YMin, f.YMax = -.02*top, 1.03*top
		}
	case history.QuantityRank:
		if !f.LogY && kernels > 0 {
			f.YMin, f.YMax = float64(kernels)+.5, .5
			f.YAt = fromOne(float64(kernels))
		}
	}
}
