package ui

import (
	"fmt"
	"math"
	"strings"

	"example.com/kestrel/experiment/inspect"
	"example.com/kestrel/ui/format"
)

// remark is a text below the chart.
type remark struct {
	text string
	bad  bool
}

// foot says what stands under the crosshair, at what the other inputs are held,
// and what went wrong.
func (v *fitView) foot(haveCurve bool) (out []remark) {
	if haveCurve && !math.IsNaN(v.at) {
		if text := v.reading(); text != "" {
			out = append(out, remark{text: text})
		}
	}
	if curve, ok := v.curveShown(); ok && v.way() == fitCurve && v.swings(curve) {
		out = append(out, remark{text: "swings within a column, which widen the bands: + zooms"})
	}
	if last, ok := v.learned(); ok && haveCurve && v.series() && last < v.b.hist.Start.Inputs()[v.column].Max &&
		v.b.hist.Start.Data.Test > 0 {
		out = append(out, remark{text: "learned without the held-out rows; kestrel predict takes them in, too"})
	}
	for _, a := range [...]*answer{&v.curve, &v.points, &v.fitted} {
		if a.err != nil {
			return append(out, remark{a.err.Error(), true})
		}
	}
	if points, ok := known[fitPoints](&v.points, v.pointsTopic()); ok && v.inputs() > 1 && v.way() == fitPartial {
		values := v.held
		if values == nil {
			values = points.medians()
		}
		var parts []string
		for i := range points.inputs {
			if i == v.column || i >= len(values) {
				continue
			}
			in := &points.inputs[i]
			text := in.Name + " = " + format.Digits(values[i])
			if in.Time {
				text = in.Name + " = " + in.At(values[i]).Format("2006-01-02 15:04")
			}
			if v.other == i {
				text = "‹" + text + "›"
			}
			parts = append(parts, text)
		}
		held := "held at medians: "
		if v.held != nil {
			held = "held: "
		}
		out = append(out, remark{text: held + strings.Join(parts, ", ")})
	}
	return out
}

// swings reports whether the mean goes up and down within most columns of the chart by more
// than the function is uncertain: a band there is as high as all that, and tells nothing
// of its own width.
func (v *fitView) swings(curve *inspect.Curve) bool {
	lo, hi := v.window()
	columns := v.b.app.w
	if !(hi > lo) || columns < 1 {
		return false
	}
	swinging, all := 0, 0
	for i := 0; i < len(curve.X); {
		column := int(float64(columns) * (curve.X[i] - lo) / (hi - lo))
		least, most, wide, n := math.Inf(1), math.Inf(-1), 0.0, 0
		up, down := false, false
		for ; i < len(curve.X) && int(float64(columns)*(curve.X[i]-lo)/(hi-lo)) == column; i++ {
			if n > 0 {
				up, down = up || curve.Mean[i] > curve.Mean[i-1], down || curve.Mean[i] < curve.Mean[i-1]
			}
			least, most, wide, n = min(least, curve.Mean[i]), max(most, curve.Mean[i]), wide+curve.UpperF[i]-curve.LowerF[i], n+1
		}
		if n < 2 || column < 0 || column >= columns {
			continue
		}
		if all++; up && down && most-least > wide/float64(n) {
			swinging++
		}
	}
	return 2*swinging > all
}

// reading is the belief at the crosshair.
func (v *fitView) reading() string {
	name, x := "x", format.Digits(v.at)
	if s := v.b.hist.Start; s != nil && v.column < len(s.Inputs()) {
		in := &s.Inputs()[v.column]
		name = in.Name
		if data, ok := known[fitPoints](&v.points, v.pointsTopic()); ok && data.inputs[v.column].Time {
			x = data.inputs[v.column].At(v.at).Format("2006-01-02 15:04:05")
		}
	}
	curve, ok := known[*inspect.Curve](&v.exact, v.exactTopic())
	k := 0
	if v.way() == fitOwn { // the nearest row
		if curve, ok = v.curveShown(); ok {
			k = nearestOf(curve.X, v.at)
		}
	}
	if !ok || len(curve.X) == 0 {
		return fmt.Sprintf("%s %s: computing …", name, x)
	}
	at := func(y []float64) string { return format.Digits(y[k]) }
	return fmt.Sprintf("%s %s: mean %s, f %s to %s, y %s to %s", name, x, at(curve.Mean), at(curve.LowerF), at(curve.UpperF),
		at(curve.Lower), at(curve.Upper))
}
