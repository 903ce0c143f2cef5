package ui

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"example.com/kestrel/experiment/inspect"
	"example.com/kestrel/ui/draw"
	"example.com/kestrel/ui/plot"
	"example.com/kestrel/ui/theme"
)

// residualKind says what stands below the fit.
type residualKind int

const (
	residualsAlong residualKind = iota // standardised, against the column
	residualsQQ
	residualsHistogram
	residualsNone
	residualKinds
)

var residualNames = [residualKinds]string{"standardised residuals", "quantiles of the residuals", "histogram of the residuals", ""}

func (v *fitView) residualTitle() string {
	name := residualNames[v.below]
	if r, ok := known[*inspect.Residuals](&v.residuals, v.residualTopic()); ok {
		rows := "training rows seen"
		if r.Test {
			rows = "test rows"
		}
		of := fmt.Sprint(len(r.Standardised))
		if r.Of > len(r.Standardised) {
			of += fmt.Sprintf(" of %d", r.Of)
		}
		name += fmt.Sprintf(" at %s %s", of, rows)
	}
	if s := v.b.hist.Start; s != nil {
		name += s.Target().OfModelled()
	}
	return strings.ToUpper(name[:1]) + name[1:]
}

// twoSided95 is the quantile of a normal that leaves 2.5 % above.
const twoSided95 = 1.959963984540054

func (v *fitView) drawResiduals(c *plot.Canvas, r plot.Rect, t *theme.Theme) {
	res, ok := known[*inspect.Residuals](&v.residuals, v.residualTopic())
	if !ok || len(res.Standardised) == 0 {
		text, bad := v.b.answerNote(&v.residuals, v.residualTopic())
		draw.Empty(c, r, text, map[bool]plot.Style{true: t.Bad, false: t.Faint}[bad])
		return
	}
	style := t.Text
	if res.Test {
		style = t.Warn
	}
	level := func(y float64, dash int) plot.Line {
		lo, hi := v.window()
		return plot.Line{Style: t.Faint, Dash: dash, X: []float64{lo, hi}, Y: []float64{y, y}}
	}
	ch := plot.Chart{Glyphs: t.Glyphs, Styles: t.ChartStyles(), Raster: &v.raster}
	switch v.below {
	case residualsAlong:
		lo, hi := v.window()
		s := plot.Scatter{Style: style, Priority: 1}
		for i, z := range res.Standardised {
			if x := res.X[i*res.Inputs+v.column]; x >= lo && x <= hi {
				s.X, s.Y = append(s.X, x), append(s.Y, z)
			}
		}
		ch.Scatters = []plot.Scatter{s}
		ch.Lines = []plot.Line{level(0, 0), level(twoSided95, 2), level(-twoSided95, 2)}
		ch.Y.Title, ch.Y.Unit = "residual", "sd"
		ch.Y.Max = residualLimit(s.Y)
		ch.Y.Min = -ch.Y.Max
		for z := -2.0; z <= 2 && ch.Y.Max <= 5; z += 2 {
			ch.Y.Labels = append(ch.Y.Labels, plot.Tick{At: z, Text: plot.Minus(fmt.Sprint(z))})
		}
		ch.X.Min, ch.X.Max = lo, hi
		v.b.along(&ch.X, v.column, lo, hi, r.W)
	case residualsQQ:
		z := sortedFinite(res.Standardised)
		s := plot.Scatter{Style: style, Priority: 1, Y: z}
		for i := range z {
			s.X = append(s.X, normalQuantile((float64(i)+0.5)/float64(len(z))))
		}
		end := 1.0
		if len(z) > 0 {
			end = max(end, 1.1*s.X[len(z)-1])
		}
		ch.Scatters = []plot.Scatter{s}
		ch.Lines = []plot.Line{{Style: t.Faint, X: []float64{-end, end}, Y: []float64{-end, end}}}
		ch.X.Min, ch.X.Max = -end, end
		ch.X.Title, ch.X.Unit, ch.Y.Title, ch.Y.Unit, ch.Y.Robust = "quantile of a normal", "sd", "residual", "sd", true
	case residualsHistogram:
		v.drawHistogram(c, r, t, res.Standardised, style)
		return
	}
	ch.Draw(c, r)
}

// residualLimit is how far a chart of standardised residuals reaches: 3, or so far
// that 98 of 100 are in it, but no more than 10.
func residualLimit(z []float64) float64 {
	size := sortedFinite(z)
	for i, v := range size {
		size[i] = math.Abs(v)
	}
	slices.Sort(size)
	if len(size) == 0 {
		return 3
	}
	return min(10, max(3, 1.05*size[len(size)*98/100]))
}

func sortedFinite(values []float64) []float64 {
	out := slices.DeleteFunc(slices.Clone(values), func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
	slices.Sort(out)
	return out
}

func normalQuantile(p float64) float64 { return math.Sqrt2 * math.Erfinv(2*p-1) }

// drawHistogram counts standardised residuals from −4 to 4; the tails stand as
// numbers.
func (v *fitView) drawHistogram(c *plot.Canvas, r plot.Rect, t *theme.Theme, z []float64, style plot.Style) {
	bins := max(8, min(40, r.W/2))
	counts := make([]int, bins)
	low, high := 0, 0
	for _, x := range z {
		switch at := int(math.Floor((x + 4) / 8 * float64(bins))); {
		case math.IsNaN(x):
		case at < 0:
			low++
		case at >= bins:
			high++
		default:
			counts[at]++
		}
	}
	if r.H < 3 {
		return
	}
	plot.Histogram(c, plot.Rect{X: r.X, Y: r.Y, W: r.W, H: r.H - 1}, counts, style, t.Glyphs)
	y := r.Y + r.H - 1
	free := r.X
	for z := -4; z <= 4; z += 2 {
		text := plot.Minus(fmt.Sprint(z))
		if z == 4 {
			text += " sd"
		}
		w := plot.TextWidth(text)
		at := min(max(r.X+(z+4)*(r.W-1)/8-(w-1)/2, r.X), r.X+r.W-w)
		if at >= free {
			free = c.Text(at, y, text, t.Faint) + 1
		}
	}
	text := fmt.Sprintf("up to %d rows in a bar", slices.Max(counts))
	if low+high > 0 {
		text += fmt.Sprintf(", %d below, %d above", low, high)
	}
	c.TextRight(r.X+r.W, r.Y, plot.Truncate(text, r.W), t.Faint)
}
