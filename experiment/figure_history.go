package experiment

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// quantityTexts returns how a quantity is called in files and on axes; unit is
// that of the data, " (MWh)", if it is known.
func quantityTexts(q Quantity, unit string) (file, label string) {
	switch q {
	case QuantityPosterior:
		return "posterior", "kernel posterior q*(k)"
	case QuantityBayes:
		return "bayes", "probability by Bayes’ rule"
	case QuantityELBO:
		return "elbo", "local ELBO (nats)"
	case QuantityGap:
		return "gap", "local ELBO less the leader’s (nats)"
	case QuantityRank:
		return "rank", "rank"
	case QuantityRMSE:
		return "rmse", "RMSE on held-out rows" + unit
	case QuantityMAE:
		return "mae", "mean absolute error on held-out rows" + unit
	case QuantityNLPD:
		return "nlpd", "negative log predictive density (nats)"
	case QuantityCoverage:
		return "coverage95", "held-out rows within the 95 % interval"
	}
	return fmt.Sprintf("quantity%d", q), ""
}

// HistoryFigure is a chart of a quantity of a run's kernels: the first focus of
// them by rank in colour and named, the rest in grey. A gap on a logarithmic
// axis is drawn as its distance from 0. The palette is told which kernels are in
// focus; it may be nil.
func HistoryFigure(h *History, p *Palette, q Quantity, a Axis, focus int, logY bool) *Figure {
	f := historyFrame(h, q, a)
	f.LogY = logY
	placeOn(f, h, a, h.Moments())
	ranked := h.ranked()
	first := ranked[:min(max(0, focus), len(ranked))]
	ids := make([]string, len(first))
	for i, k := range first {
		ids[i] = h.ids[k]
	}
	if p == nil {
		p = new(Palette)
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
		if q == QuantityGap && logY {
			l.negate()
		}
		if l.Rest = !slices.Contains(first, k); !l.Rest {
			l.Name, l.Swatch = h.name(k), p.Of(h.ids[k])
		}
		f.Lines = append(f.Lines, l)
	}
	if q == QuantityGap && logY {
		f.YLabel = "local ELBO behind the leader’s (nats)"
	}
	fitY(f, q, len(ranked))
	f.Marks = h.MarksOn(a)
	return f
}

// MetricFigure is a chart of a quantity of a run's methods of prediction. The
// vertical axis is linear; LogY may be set.
func MetricFigure(h *History, q Quantity, a Axis) *Figure {
	f := historyFrame(h, q, a)
	looks := Swatches()
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
			placeOn(f, h, a, s.moments)
		}
		l.Name, l.Swatch = MethodName(h.Method(m)), looks[m%len(looks)]
		f.Lines = append(f.Lines, l)
	}
	if q == QuantityCoverage && len(f.Lines) > 0 {
		grey := RGB{R: inkMark.Y, G: inkMark.Y, B: inkMark.Y}
		x := f.Lines[0].X
		f.Lines = append(f.Lines, FigureLine{X: []float64{x[0], x[len(x)-1]}, Lo: []float64{.95, .95}, Swatch: Swatch{Light: grey}, Width: 0.8})
	}
	f.Marks = h.MarksOn(a)
	return f
}

// historyFrame is a figure of a run without its lines.
func historyFrame(h *History, q Quantity, a Axis) *Figure {
	f := &Figure{}
	f.Name, f.YLabel = quantityTexts(q, h.targetUnit())
	if h.Start != nil {
		f.Title = h.Start.Name
	}
	return f
}

// targetUnit is " (MWh)", or "" if the unit is not known.
func (h *History) targetUnit() string {
	if h.Start == nil || h.Start.Data == nil {
		return ""
	}
	for _, c := range h.Start.Data.Columns {
		if c.Role == "target" && c.Unit != "" {
			return " (" + c.Unit + ")"
		}
	}
	return ""
}

// place sets the horizontal axis for points at moments.
func placeOn(f *Figure, h *History, a Axis, moments []Moment) {
	if len(moments) == 0 {
		return
	}
	last := moments[len(moments)-1].On(a)
	switch a {
	case AxisSeconds:
		f.XLabel = "time (s)"
		if last > 0 {
			f.XMin, f.XMax = 0, last*1.015
		}
	case AxisEvaluation:
		f.XLabel = "evaluation"
		f.XAt = fromOne(last)
	default:
		f.XLabel = "proportion of the data used"
		if last <= 0 {
			return
		}
		f.XMin, f.XMax = 0, last*1.015
		f.XAt, _ = roundNumbers(0, min(last, 1), 5)
		if last > 1 {
			f.XLabel += ", then refinements (+)"
			f.XAt = append(f.XAt, refinements(h.Step(), last)...)
		}
		f.XTicks = h.Labeller(AxisData)
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
	round, step := roundNumbers(0, hi, want)
	if step < 1 {
		round, _ = roundNumbers(0, hi, max(1, int(hi)))
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

// ranked lists the kernels by rank, those without one behind, by their last one;
// those that never had one in the order of the space.
func (h *History) ranked() []int {
	rank := make([]int, len(h.ids))
	order := make([]int, len(h.ids))
	for k := range order {
		order[k], rank[k] = k, math.MaxInt
	}
	if h.Evaluation != nil {
		for i := range h.Evaluation.Kernels {
			if k := &h.Evaluation.Kernels[i]; k.Fit != nil {
				if at := h.Index(k.ID); at >= 0 {
					rank[at] = k.Fit.Rank
				}
			}
		}
	}
	before := make([]int, len(h.ids))
	for k := range before {
		if before[k] = math.MaxInt; rank[k] == math.MaxInt {
			before[k] = cmp.Or(h.LastRank(k, -1), math.MaxInt)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(rank[a], rank[b]), cmp.Compare(before[a], before[b]))
	})
	return order
}

// name returns what kernel k is called for reading.
func (h *History) name(k int) string {
	if h.Start != nil {
		for i := range h.Start.Kernels {
			if s := &h.Start.Kernels[i]; s.ID == h.ids[k] && s.Name != "" {
				return s.Name
			}
		}
	}
	return h.ids[k]
}

// seriesLine copies the values of a series.
func seriesLine(s Series) (l FigureLine) {
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

func (l *FigureLine) negate() {
	for i := range l.Lo {
		l.Lo[i] = 0 - l.Lo[i] // not −0
	}
	for i := range l.Hi {
		l.Hi[i] = 0 - l.Hi[i]
		l.Lo[i], l.Hi[i] = l.Hi[i], l.Lo[i]
	}
}

// leastShown is the least probability on a logarithmic axis.
const leastShown = 1e-6

// fitY sets the limits where those of the data do not serve.
func fitY(f *Figure, q Quantity, kernels int) {
	switch q {
	case QuantityPosterior, QuantityBayes:
		var e extent
		for i := range f.Lines {
			for _, values := range [][]float64{f.Lines[i].Lo, f.Lines[i].Hi} {
				for _, v := range values {
					if v > 0 {
						e.add(v)
					}
				}
			}
		}
		switch {
		case !e.any:
		case f.LogY:
			f.YMin, f.YMax = max(e.lo/1.5, min(leastShown, e.hi/10)), min(e.hi*1.5, 1.3)
		default:
			top := e.hi
			if top > .5 {
				top = 1
			}
			f.YMin, f.YMax = -.02*top, 1.03*top
		}
	case QuantityRank:
		if !f.LogY && kernels > 0 {
			f.YMin, f.YMax = float64(kernels)+.5, .5
			f.YAt = fromOne(float64(kernels))
		}
	}
}
