package bench

import (
	"fmt"
	"io"
)

// Table writes rows for people as they come.
type Table struct {
	w    io.Writer
	last *Row
}

// NewTable begins a table.
func NewTable(w io.Writer) *Table { return &Table{w: w} }

const benchLine = "%-4s  %-7s  %-9s  %7v  %4v  %4v  %6v  %6v  %8v  %9v  %6v  %7v  %7v  %7v  %v\n"

// Write writes a row, above the first one a heading.
func (t *Table) Write(r *Row) error {
	if t.last == nil {
		if _, err := fmt.Fprintf(t.w, benchLine, "work", "kernels", "step", "threads", "K", "M", "B", "N", "ms min", "median", "steps",
			"GFLOPS", "of peak", "allocs", "ELBO at start"); err != nil {
			return err
		}
	}
	t.last = r
	end := optional("%.10g", (*float64)(r.ELBOStart), 1)
	if !r.Finite {
		end += ", not finite at the end"
	}
	_, err := fmt.Fprintf(t.w, benchLine, r.Work, r.Kernels, r.Step, r.Threads, r.K, size(r.M), size(r.B), size(r.N),
		figures(r.MsMin), figures(r.MsMedian), r.Steps, optional("%.1f", r.GFLOPS, 1), optional("%.0f %%", r.PeakFraction, 100),
		figures(r.Allocs), end)
	return err
}

// Close writes what all rows have in common below them.
func (t *Table) Close() error {
	if t.last == nil {
		return nil
	}
	_, err := fmt.Fprintf(t.w, "%s, %s; %s\n", t.last.Device, t.last.Level, t.last.Versions)
	return err
}

// size is a number that some rows do not have.
func size(n int) string {
	if n == 0 {
		return "–"
	}
	return fmt.Sprint(n)
}

// figures writes three significant digits.
func figures(v float64) string {
	switch {
	case v == 0:
		return "0"
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%#.3g", v)
}

// optional writes what may not be known.
func optional(format string, v *float64, scale float64) string {
	if v == nil {
		return "–"
	}
	return fmt.Sprintf(format, *v*scale)
}
