package backtest

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/grid"
	"example.com/kestrel/experiment/words"
)

// mostNamed is how many of the series that are left out for one reason are named.
const mostNamed = 10

// mostTold is for how many series the table of them is written on the screen, too.
const mostTold = 50

// sheet is a table with what stands above it.
type sheet struct {
	title string
	grid.Table
}

// WriteText writes the tables for people, in Markdown, and the verdict.
func (r *Result) WriteText(w io.Writer) error {
	return r.write(w, func(t *grid.Table, to io.Writer) error { return t.Markdown(to) })
}

// WriteScreen is WriteText for a terminal.
func (r *Result) WriteScreen(w io.Writer) error {
	return r.write(w, func(t *grid.Table, to io.Writer) error { return t.Write(to) })
}

func (r *Result) write(w io.Writer, lay func(*grid.Table, io.Writer) error) error {
	var b strings.Builder
	for _, s := range r.sheets() {
		b.WriteString(s.title + "\n\n")
		if err := lay(&s.Table, &b); err != nil {
			return err
		}
		b.WriteString("\n")
	}
	if r.Verdict != "" {
		b.WriteString(r.Verdict + "\n")
	}
	if r.Beyond != nil {
		for _, line := range r.Beyond.lines(r.Horizon) {
			b.WriteString(line + "\n")
		}
	}
	_, err := io.WriteString(words.PlainWriter(w), b.String())
	return err
}

// sheets are the methods, the steps, and the series where these are several and not too
// many to be read.
func (r *Result) sheets() []sheet {
	if len(r.Methods) == 0 {
		return nil // nothing was held out
	}
	methods := sheet{title: fmt.Sprintf("%d series, %s ahead from %s at most; means over the series that a method has forecast, "+
		"CRPS relative to %s as a geometric mean",
		r.Series, words.Count(r.Horizon, "step"), words.Count(r.Origins, "origin"), r.Naive())}
	methods.Left = []int{0}
	methods.Heads = []string{"method", "series", "CRPS", "relative", "MSIS", "MASE", "sMAPE", "80 %", "95 %", "RMSE", "kestrel better"}
	var names []string
	for m := range r.Methods {
		s := &r.Methods[m]
		names = append(names, s.Method)
		if s.Series == 0 {
			methods.Row(s.Method, "0", "n/a", "", "", "", "", "", "", "", "")
			continue
		}
		better := ""
		if m > 0 && s.Compared > 0 {
			better = fmt.Sprintf("%d of %d", s.KestrelBetter, s.Compared)
		}
		methods.Row(s.Method, fmt.Sprint(s.Series), s.CRPS.Format("%.4g"), s.Relative.Format("%.3f"), s.MSIS.Format("%.3f"),
			s.MASE.Format("%.3f"), s.SMAPE.Format("%.2f"), (100 * s.Coverage80).Format("%.0f"), (100 * s.Coverage95).Format("%.0f"),
			s.RMSE.Format("%.4g"), better)
	}
	steps := sheet{title: r.crpsName() + " by step"}
	steps.Heads = append([]string{"step"}, names...)
	for step, scores := range r.Steps {
		cells := []string{fmt.Sprint(step + 1)}
		for m := range scores {
			cells = append(cells, orNA(r.crpsOf(&scores[m])))
		}
		steps.Row(cells...)
	}
	out := []sheet{methods, steps}
	if r.Series < 2 || r.Series > mostTold {
		return out
	}
	series := sheet{title: "CRPS by series"}
	series.Heads = append(append([]string{"series"}, names...), "best", "kestrel")
	series.Left = []int{0, len(names) + 1, len(names) + 2}
	for i := range r.BySeries {
		s := &r.BySeries[i]
		cells := []string{words.PlainLine(s.Series)}
		for m := range s.Methods {
			cells = append(cells, orNA(s.Methods[m].CRPS))
		}
		series.Row(append(cells, s.Best, s.Verdict)...)
	}
	return append(out, series)
}

func orNA(v files.Number) string {
	if v != v {
		return "n/a"
	}
	return v.Format("%.4g")
}

// lines say how many series are forecast beyond their ends, and which are not.
func (b *Beyond) lines(horizon int) []string {
	first := fmt.Sprintf("%d series forecast %s beyond the end: %s", b.Series, words.Count(horizon, "step"), b.File)
	return append([]string{first}, byReason("not forecast beyond the end", b.Without)...)
}

// LeftOutLines say which series are left out, a line for each reason.
func LeftOutLines(all []LeftOut) []string { return byReason("left out", all) }

// byReason says what becomes of series, a line for each reason.
func byReason(what string, all []LeftOut) (lines []string) {
	var reasons []string
	named := map[string][]string{}
	for _, o := range all {
		if !slices.Contains(reasons, o.Why) {
			reasons = append(reasons, o.Why)
		}
		named[o.Why] = append(named[o.Why], o.Series)
	}
	for _, why := range reasons {
		names, more := named[why], ""
		if n := len(names); n > mostNamed {
			names, more = names[:mostNamed], fmt.Sprintf(" and %d more", n-mostNamed)
		}
		lines = append(lines, fmt.Sprintf("%s: %s%s: %s", what, words.PlainLine(strings.Join(names, ", ")), more, why))
	}
	return lines
}
