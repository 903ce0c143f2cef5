package ui

import (
	"fmt"
	"math"
	"strings"

	"example.com/kestrel/experiment/finding"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/words"
	"example.com/kestrel/ui/draw"
	"example.com/kestrel/ui/format"
	"example.com/kestrel/ui/plot"
	"example.com/kestrel/ui/theme"
)

// paramRow is a hyperparameter as it is shown.
type paramRow struct{ name, column, value, unit, factor, exact, stated string }

// forPeople writes a value of a hyperparameter as people measure it, "7 days", a date
// or "1/year²", and what that is in the units of the data, "" where it is the same.
func (b *bench) forPeople(p *record.ParamInfo, value float64) (text, unit, exact string) {
	text, unit = format.Digits(value), p.Unit
	if !strings.Contains(text, "e") { // powers of ten tell nobody more
		exact = strings.TrimSpace(text + " " + unit)
	} else if v := format.Whole(value); v != "" {
		exact = v + " " + unit
	}
	place := *p
	if strings.HasSuffix(p.Name, ".centre") { // a place, too
		place.Name = strings.TrimSuffix(p.Name, ".centre") + ".place"
	}
	if words := b.hist.Start.InWords(&place, value); words != "" {
		if place.Place() || unit == "" { // a count of seconds from the first row, or the same number
			exact = ""
		}
		return words, "", exact
	}
	inputs := b.hist.Start.Inputs()
	for i := range inputs {
		in := &inputs[i]
		if p.Column != "" && p.Column != in.Name {
			continue
		}
		if _, seconds, ok := record.TimeScale(in); ok {
			if size, other, ok := format.PerTime(unit, in.Unit, seconds, in.Max-in.Min); ok {
				return format.Digits(value * size), other, exact
			}
			break
		}
	}
	return text, unit, ""
}

// lengthText writes an amount in the unit of a hyperparameter: of a time, as a length
// of time.
func (b *bench) lengthText(p *record.ParamInfo, amount float64) string {
	length := record.ParamInfo{Name: ".width", Column: p.Column, Unit: p.Unit}
	if words := b.hist.Start.InWords(&length, amount); words != "" {
		return words
	}
	return strings.TrimSpace(format.Digits(amount) + " " + p.Unit)
}

// params lists the hyperparameters of a live kernel, the noise last.
func (v *kernelView) params(id string) []paramRow {
	s, k := v.b.hist.Start, v.b.kernelNow(id)
	at := v.b.hist.Index(id)
	if s == nil || k == nil || k.Fit == nil || at < 0 || at >= len(s.Kernels) || s.Kernels[at].ID != id {
		return nil
	}
	info := &s.Kernels[at]
	var rows []paramRow
	for i := range info.Params {
		if i >= len(k.Fit.Params) {
			break
		}
		p, value := &info.Params[i], float64(k.Fit.Params[i])
		row := paramRow{name: p.Name, column: p.Column, stated: p.Stated}
		row.value, row.unit, row.exact = v.b.forPeople(p, value)
		if p.Fixed {
			continue // it says nothing of its own
		}
		sd := math.NaN()
		if i < len(k.Fit.SD) {
			sd = float64(k.Fit.SD[i])
			row.factor = factorText(sd)
			if _, amount := p.Spread(value, sd); amount > 0 {
				row.factor = "± " + v.b.lengthText(p, amount)
			}
		}
		if low, high, ok := k.Fit.Between(i); ok {
			row.factor = v.between(p, row.unit, low, high)
		}
		noise := i == len(info.Params)-1
		if noise {
			row.name = "noise variance"
		}
		rows = append(rows, row)
		if noise && value >= 0 {
			unit := ""
			if c := s.Target(); c != nil {
				unit = c.ModelledUnit()
			}
			rows = append(rows, paramRow{name: "noise sd", value: format.Digits(math.Sqrt(value)), unit: unit, factor: factorText(sd / 2)})
		}
	}
	for _, f := range info.Fixed {
		row := paramRow{name: f.Name, column: f.Column, stated: "fixed"}
		row.value, row.unit, row.exact = v.b.forPeople(&record.ParamInfo{Name: f.Name, Column: f.Column, Unit: f.Unit}, f.Value)
		rows = append(rows, row)
	}
	return rows
}

// between writes what a hyperparameter that is told in a unit lies between.
func (v *kernelView) between(p *record.ParamInfo, unit string, low, high float64) string {
	low, high = words.Ends(low, high)
	from, fromUnit, _ := v.b.forPeople(p, low)
	to, toUnit, _ := v.b.forPeople(p, high)
	if fromUnit != toUnit || toUnit != unit {
		from, to = strings.TrimSpace(from+" "+fromUnit), strings.TrimSpace(to+" "+toUnit)
	}
	return "(" + from + " to " + to + ")"
}

// factorText writes a standard deviation of a logarithm as a factor, or where
// it is small as a percentage, which is the same then.
func factorText(sd float64) string {
	switch {
	case math.IsNaN(sd) || sd == 0:
		return ""
	case sd < 0.1:
		return fmt.Sprintf("±%.2g %%", 100*sd)
	}
	return fmt.Sprintf("×÷%.3g", math.Exp(sd))
}

// paramWidths are the widths of name, column, value, unit, factor and the rest.
func paramWidths(rows []paramRow) (w [6]int) {
	for _, p := range rows {
		for i, s := range p.cells() {
			w[i] = max(w[i], plot.TextWidth(s))
		}
	}
	return w
}

// paramWidth is how many columns the hyperparameters would like.
func (v *kernelView) paramWidth() int {
	need := 0
	for _, n := range paramWidths(v.params(v.b.chosen())) {
		if n > 0 {
			need += n + 1
		}
	}
	return need
}

// paramLines is how many lines w columns wide the hyperparameters and their words need.
func (v *kernelView) paramLines(w int) int {
	id := v.b.chosen()
	n := len(v.params(id))
	if meaning := v.meaning(id, w); len(meaning) > 0 {
		n += 1 + len(meaning)
	}
	return n
}

// meaning says in words, as the report does, what functions a kernel stands for, in lines of w
// columns.
func (v *kernelView) meaning(id string, w int) []string {
	s, k := v.b.hist.Start, v.b.kernelNow(id)
	if s == nil || k == nil || k.Fit == nil {
		return nil
	}
	text := finding.InFull(s, k)
	if text != "" {
		text = finding.NotFound(&v.b.hist.Standing) + text
	}
	return draw.Wrap(text, w)
}

func (v *kernelView) drawParams(c *plot.Canvas, r plot.Rect, t *theme.Theme, id string) {
	k := v.b.kernelNow(id)
	switch {
	case k == nil:
		draw.Empty(c, r, "its hyperparameters come with the first evaluation", t.Faint)
		return
	case k.Fit == nil:
		text, style := k.Reason, t.Text
		if text == "" {
			text, style = "the kernel is "+string(k.Status)+"; its numbers are those of the evaluations in which it took part", t.Faint
		}
		lines := draw.Wrap(text, r.W)
		v.last = max(0, len(lines)-r.H)
		v.scroll = min(v.scroll, v.last)
		draw.Lines(c, r, lines, v.scroll, style)
		return
	}
	rows := v.params(id)
	if need := v.paramWidth(); need > r.W+1 { // what is known beforehand is more than another unit
		for i := range rows {
			rows[i].exact = ""
		}
	}
	meaning := v.meaning(id, r.W)
	total := len(rows)
	if len(meaning) > 0 {
		total += 1 + len(meaning)
	}
	v.last = max(0, total-r.H)
	v.scroll = min(v.scroll, v.last)
	w := paramWidths(rows)
	// Name and value are shown whatever the room; the others as it allows.
	left := r.W - w[0] - 1 - w[2]
	if left < 0 {
		w[0] = max(4, w[0]+left)
		left = 0
	}
	order := [...]int{3, 4, 5, 1}
	if v.columns() > 1 { // which column it is about must be seen
		order = [...]int{1, 3, 4, 5}
	}
	for _, i := range order {
		if w[i] > 0 && left >= w[i]+1 {
			left -= w[i] + 1
		} else {
			w[i] = 0
		}
	}
	for i, p := range rows[min(len(rows), v.scroll):min(len(rows), v.scroll+max(0, r.H))] {
		x, y := r.X, r.Y+i
		styles := [...]plot.Style{t.Text, t.Faint, t.Strong, t.Faint, t.Faint, t.Faint}
		for j, s := range p.cells() {
			switch {
			case w[j] == 0:
				continue
			case j == 2:
				c.TextRight(x+w[j], y, s, styles[j])
			default:
				c.TextFit(x, y, w[j], s, styles[j])
			}
			x += w[j] + 1
		}
	}
	for i, text := range meaning { // behind an empty line
		if y := r.Y + len(rows) + 1 + i - v.scroll; y >= r.Y && y < r.Y+r.H {
			c.TextFit(r.X, y, r.W, text, t.Text)
		}
	}
}

func (p *paramRow) cells() [6]string {
	exact := p.exact
	if exact != "" {
		exact = "= " + exact
	}
	if exact != "" && p.stated != "" {
		exact += ", "
	}
	return [6]string{p.name, p.column, p.value, p.unit, p.factor, exact + p.stated}
}
