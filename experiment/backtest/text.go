package backtest

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/words"
)

// mostNamed is how many of the series that are left out for one reason are named.
const mostNamed = 10

// mostTold is for how many series the table of them is written on the screen, too.
const mostTold = 50

// WriteText writes the tables for people, in Markdown, and the verdict.
func (r *Result) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%d series, %s ahead from %s at most; means over the series that a method has forecast, "+
		"CRPS relative to %s as a geometric mean\n\n",
		r.Series, words.Count(r.Horizon, "step"), words.Count(r.Origins, "origin"), r.Naive())
	b.WriteString("| method | series | CRPS | relative | MSIS | MASE | sMAPE | 80 % | 95 % | RMSE | kestrel better |\n" +
		"|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n")
	for m := range r.Methods {
		s := &r.Methods[m]
		if s.Series == 0 {
			fmt.Fprintf(&b, "| %s | 0 | n/a | | | | | | | | |\n", s.Method)
			continue
		}
		better := ""
		if m > 0 && s.Compared > 0 {
			better = fmt.Sprintf("%d of %d", s.KestrelBetter, s.Compared)
		}
		fmt.Fprintf(&b, "| %s | %d | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", s.Method, s.Series, s.CRPS.Format("%.4g"),
			s.Relative.Format("%.3f"), s.MSIS.Format("%.3f"), s.MASE.Format("%.3f"), s.SMAPE.Format("%.2f"),
			(100 * s.Coverage80).Format("%.0f"), (100 * s.Coverage95).Format("%.0f"), s.RMSE.Format("%.4g"), better)
	}
	fmt.Fprintf(&b, "\n%s by step\n\n| step |", r.crpsName())
	for m := range r.Methods {
		fmt.Fprintf(&b, " %s |", r.Methods[m].Method)
	}
	b.WriteString("\n|---:|" + strings.Repeat("---:|", len(r.Methods)) + "\n")
	for step, methods := range r.Steps {
		fmt.Fprintf(&b, "| %d |", step+1)
		for m := range methods {
			fmt.Fprintf(&b, " %s |", orNA(r.crpsOf(&methods[m])))
		}
		b.WriteString("\n")
	}
	r.writeSeries(&b)
	b.WriteString("\n")
	b.WriteString(r.Verdict + "\n")
	_, err := io.WriteString(words.PlainWriter(w), b.String())
	return err
}

// writeSeries writes a row for each of several series, where they are not too many to be
// read.
func (r *Result) writeSeries(b *strings.Builder) {
	if r.Series < 2 || r.Series > mostTold {
		return
	}
	b.WriteString("\nCRPS by series\n\n| series |")
	for m := range r.Methods {
		fmt.Fprintf(b, " %s |", r.Methods[m].Method)
	}
	b.WriteString(" best | kestrel |\n|---|" + strings.Repeat("---:|", len(r.Methods)) + "---|---|\n")
	for i := range r.BySeries {
		s := &r.BySeries[i]
		fmt.Fprintf(b, "| %s |", words.PlainLine(s.Series))
		for m := range s.Methods {
			fmt.Fprintf(b, " %s |", orNA(s.Methods[m].CRPS))
		}
		fmt.Fprintf(b, " %s | %s |\n", s.Best, s.Verdict)
	}
}

func orNA(v files.Number) string {
	if v != v {
		return "n/a"
	}
	return v.Format("%.4g")
}

// LeftOutLines say which series are left out, a line for each reason.
func LeftOutLines(all []LeftOut) (lines []string) {
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
		lines = append(lines, fmt.Sprintf("left out: %s%s: %s", words.PlainLine(strings.Join(names, ", ")), more, why))
	}
	return lines
}
