package ui

import (
	"fmt"
	"math"
	"slices"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/history"
	"example.com/kestrel/ui/plot"
	"example.com/kestrel/ui/theme"
)

// drawMetric draws the error on held-out rows.
func (v *mainView) drawMetric(c *plot.Canvas, r plot.Rect, th *theme.Theme) {
	t, h := &v.metric, &v.b.hist
	n := h.Methods()
	v.axes(t, th, r.W)
	t.fill(v.b.version, n, func(m int) history.Series { return h.MethodSeries(m, t.quantity) })
	t.chart.Empty = v.waiting()
	if h.Evaluation != nil {
		t.chart.Empty = "the held-out rows are being predicted"
	}
	if n > 0 {
		t.chart.Empty = nothingHere
	}
	if s := h.Start; s != nil && s.Data.Test == 0 {
		t.chart.Empty = "no held-out rows: data.test is 0"
	}
	if y := v.b.hist.Start; y != nil && (t.quantity == history.QuantityRMSE || t.quantity == history.QuantityMAE) {
		t.chart.Y.Unit = y.Target().Unit
	}
	t.chart.Y.Robust = t.quantity != history.QuantityCoverage
	if t.quantity == history.QuantityNLPD || t.quantity == history.QuantityCoverage {
		t.chart.Y.Log = false
	}
	t.chart.Y.Include = flat(t.low, t.chart.Y.Log)
	x := r.X
	styles := []plot.Style{th.Focus, th.Warn, th.Good, th.Key}
	for m := range n {
		s := h.MethodSeries(m, t.quantity)
		st := styles[m%len(styles)]
		dash := m % 4
		t.chart.Lines = append(t.chart.Lines, plot.Line{Style: st, Dash: dash, X: t.xs, Y32: t.low[m], Hi32: t.high[m],
			Priority: n - m, Mark: th.Mark(m)})
		at := s.Len() - 1
		if v.cursor >= 0 {
			for i := range s.Len() {
				if s.Moment(i).Index <= h.Moments()[v.cursor].Index {
					at = i
				}
			}
		}
		if at >= 0 && r.H > 3 {
			text := fmt.Sprintf("%s %s", config.MethodName(h.Method(m)), plot.Number(s.Last(at), math.Abs(s.Last(at))/1000))
			if m > 0 {
				x += 3
			}
			x = c.TextFit(x, r.Y, r.X+r.W-x, text, st)
		}
	}
	if label, best, ok := h.BestBaseline(t.quantity); ok && len(t.xs) > 0 {
		if near(best, t.low) {
			t.chart.Lines = append(t.chart.Lines, plot.Line{Style: th.Faint, Dash: 2, X: []float64{t.xs[0], t.xs[len(t.xs)-1]},
				Y: []float64{best, best}})
		}
		if r.H > 3 {
			number, room := " "+plot.Number(best, math.Abs(best)/1000), r.X+r.W-x-3
			names := []string{label, "best baseline", "baseline", "vs"} // a name without its number says nothing
			at := slices.IndexFunc(names, func(name string) bool { return plot.TextWidth(name+number) <= room })
			if at >= 0 {
				c.TextFit(x+3, r.Y, room, names[at]+number, th.Faint)
			}
		}
	}
	if n > 0 && r.H > 3 {
		r.Y, r.H = r.Y+1, r.H-1
	}
	t.layout = t.chart.Draw(c, r)
}

// near reports whether a value drawn beside lines leaves these most of the chart.
func near(v float64, lines [][]float32) bool {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, values := range lines {
		for _, y := range values {
			lo, hi = min(lo, float64(y)), max(hi, float64(y))
		}
	}
	return hi <= lo || v >= 2*lo-hi && v <= 2*hi-lo
}

// leastShare is the part of errors below which a difference of them is not made as high as the
// chart.
const leastShare = 0.01

// flat is what the limits of a chart of values have to enclose so that those that are nearly
// the same look it, nil where they are not, or are drawn by their logarithm.
func flat(lines [][]float32, logarithm bool) []float64 {
	low, high := math.Inf(1), math.Inf(-1)
	for _, l := range lines {
		for _, v := range l {
			if v := float64(v); !math.IsNaN(v) && !math.IsInf(v, 0) {
				low, high = min(low, v), max(high, v)
			}
		}
	}
	least := leastShare * max(math.Abs(low), math.Abs(high))
	if !(low < high) || high-low >= least || logarithm {
		return nil
	}
	middle := low + (high-low)/2
	return []float64{middle - least/2, middle + least/2}
}
