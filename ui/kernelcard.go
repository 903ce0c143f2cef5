package ui

import (
	"fmt"
	"strings"

	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/words"
	"example.com/kestrel/ui/draw"
	"example.com/kestrel/ui/plot"
	"example.com/kestrel/ui/theme"
)

// cardLines is how many lines the card of the chosen kernel would like.
func (v *mainView) cardLines() int {
	k, ok := v.table.current()
	if !ok || v.b.hist.Start == nil || k.index < 0 || k.index >= len(v.b.hist.Start.Kernels) {
		return 4
	}
	n := 3
	if v.b.hist.Family.Text(k.id) != "" {
		n++
	}
	for _, p := range v.b.hist.Start.Kernels[k.index].Params {
		if !p.Fixed {
			n++
		}
	}
	return n
}

// cardName is how many columns of the card the name of a hyperparameter has at least, where
// its number leaves them.
const cardName = 22

// drawCard writes the chosen kernel's numbers.
func (v *mainView) drawCard(c *plot.Canvas, r plot.Rect, th *theme.Theme) {
	k, ok := v.table.current()
	if s := v.b.hist.Start; !ok || s == nil || k.index < 0 || k.index >= len(s.Kernels) || s.Kernels[k.index].ID != k.id {
		c.TextFit(r.X, r.Y, r.W, "no kernel", th.Faint)
		return
	}
	kernel := v.b.kernelNow(k.id)
	if kernel == nil {
		c.TextFit(r.X, r.Y, r.W, "not evaluated yet", th.Faint)
		return
	}
	f := kernel.Fit
	if f == nil {
		text := string(kernel.Status)
		if kernel.Reason != "" {
			text += ": " + kernel.Reason
		}
		draw.Wrapped(c, r, text, th.Warn)
		return
	}
	head := whole(r.W, fmt.Sprintf("rank %d", f.Rank), "q* "+number(float64(f.Posterior)), "gap "+gapText(k.gap, float64(f.SE)),
		"Bayes "+number(float64(f.Bayes)), k.mark)
	c.TextFit(r.X, r.Y, r.W, head, th.Text)
	y := r.Y + 1
	if text := f.FlagText(); text != "" {
		for _, l := range draw.LinesFor("! "+text, r.W, max(1, r.H/2)) {
			c.TextFit(r.X, y, r.W, l, th.Warn)
			y++
		}
	}
	c.TextFit(r.X, y, r.W, elboText(f, v.b.hist.Evaluation.RowsSeen, r.W), th.Faint)
	if leader := v.b.hist.Evaluation.Leader(); f.Prior != 0 && leader != nil && leader.Fit != nil {
		y++
		c.TextFit(r.X, y, r.W, "prior of the expression "+nats(f.Prior)+" nats, the leader's "+nats(leader.Fit.Prior), th.Faint)
	}
	if text := v.b.hist.Family.Text(k.id); text != "" {
		y++
		c.TextFit(r.X, y, r.W, "grown from "+text, th.Faint)
	}
	info := v.b.hist.Start.Kernels[k.index]
	several := len(v.b.hist.Start.Data.Columns) > 2
	named := func(p *record.ParamInfo) string {
		if p.Column == "" || !several {
			return p.Name
		}
		return p.Name + " " + p.Column
	}
	names := cardName
	for i := range info.Params {
		names = max(names, min(plot.TextWidth(named(&info.Params[i])), r.W/2))
	}
	for i, p := range info.Params {
		if p.Fixed {
			continue
		}
		y++
		if i >= len(f.Params) || y >= r.Y+r.H {
			break
		}
		name := named(&p)
		value, unit, _ := v.b.forPeople(&p, float64(f.Params[i]))
		if p.Stated != "" {
			unit = strings.TrimSpace(unit + " " + p.Stated)
		}
		if i < len(f.SD) && f.SD[i] > 0 {
			if factor, amount := p.Spread(float64(f.Params[i]), float64(f.SD[i])); amount > 0 {
				value += " ± " + v.b.lengthText(&p, amount)
			} else {
				value += fmt.Sprintf(" ×÷ %.3g", factor)
			}
		}
		// A number is never cut; its name gives way.
		wide := max(0, min(names, r.W-1-plot.TextWidth(value)))
		c.TextFit(r.X, y, wide, name, th.Faint)
		x := c.Text(r.X+wide+1, y, value, th.Text)
		c.TextFit(x+1, y, r.X+r.W-x-1, unit, th.Faint)
	}
}

// whole joins as many of the texts, the first ones, as w columns have room for: none is cut.
// Empty ones are left out.
func whole(w int, texts ...string) (line string) {
	for _, text := range texts {
		switch longer := line + " · " + text; {
		case text == "":
		case line == "":
			line = text
		case plot.TextWidth(longer) > w:
			return line
		default:
			line = longer
		}
	}
	return line
}

// nats writes a log probability.
func nats(v files.Number) string { return plot.Minus(v.Format("%.2f")) }

// elboText says what is known of a kernel's local ELBO, in w columns: that it is an
// estimate, or what the bounds on the log evidence leave open above.
func elboText(f *record.Fit, seen, w int) string {
	text := "local ELBO " + nats(f.ELBO)
	if f.Windows != nil {
		text = "evidence by windows " + nats(f.Windows.Nats)
	}
	slack, bounded := f.Slack()
	var more []string // the longest that fits
	switch {
	case f.Windows != nil:
		more = []string{" ± " + words.Nats(slack/2) + " · local ELBO " + nats(f.ELBO), " ± " + words.Nats(slack/2)}
	case bounded:
		between := nats(f.Evidence.Lower)
		if upper := nats(f.Evidence.Upper); upper != between {
			between += " to " + upper
		}
		more = []string{" · evidence " + between, " · slack " + words.Nats(slack)}
		if !f.Usefully(seen) {
			more = []string{" · evidence above " + nats(f.Evidence.Lower) + ", " + record.NotBounded, " · " + record.NotBounded}
		}
	case f.Sampled(seen) && f.Rows > 0:
		more = []string{fmt.Sprintf(" · estimated from %d of %d rows", f.Rows, seen), " · an estimate"}
	case f.Sampled(seen):
		more = []string{" · an estimate"}
	default:
		more = []string{" nats"}
	}
	for _, m := range more {
		if plot.TextWidth(text+m) <= w {
			return text + m
		}
	}
	return text
}
