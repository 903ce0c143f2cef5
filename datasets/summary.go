package datasets

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"example.com/kestrel/datasets/transform"
)

// previewRows is the number of rows in a Summary's preview.
const previewRows = 5

// previewLevels is the number of levels that are shown of a column.
const previewLevels = 8

// Summary describes a dataset for people and, as JSON, for programs. Fields that say
// nothing are as those of Dataset; docs/format.md has them as start.data.
type Summary struct {
	Name          string          `json:"name"`
	Source        string          `json:"source"`
	Path          string          `json:"path,omitempty"`
	SHA256        string          `json:"sha256"`
	MaskSHA256    string          `json:"mask_sha256,omitempty"`
	RowsRead      int             `json:"rows_read"`
	Rows          int             `json:"rows"` // kept
	Train         int             `json:"train"`
	Test          int             `json:"test"`
	DroppedTarget int             `json:"dropped_target"`
	DroppedInputs int             `json:"dropped_inputs"`
	Kernel        string          `json:"kernel,omitempty"`
	Series        *Series         `json:"series,omitempty"`   // nil if it is none in time
	Rhythms       []Rhythm        `json:"rhythms,omitempty"`  // when it is high and low
	SplitBy       string          `json:"split_by,omitempty"` // which rows are held out, as Spec.SplitBy but for "auto"
	StandardiseX  string          `json:"standardise_x,omitempty"`
	StandardiseY  string          `json:"standardise_y,omitempty"`
	Columns       []ColumnSummary `json:"columns"` // the inputs, then the target
	Preview       [][]string      `json:"preview"` // the first rows in the order of the file
	Notices       []string        `json:"notices,omitempty"`
}

// ColumnSummary describes an input or the target over the rows kept, in the
// unit of the data; counts are of rows.
type ColumnSummary struct {
	Name     string  `json:"name"`
	Role     string  `json:"role"` // "input", "target"
	Unit     string  `json:"unit,omitempty"`
	Type     string  `json:"type,omitempty"` // of an input: of ColumnTypes
	Count    int     `json:"count"`
	Missing  int     `json:"missing"`
	Min      float64 `json:"min"`
	Max      float64 `json:"max"`
	Mean     float64 `json:"mean"`
	SD       float64 `json:"sd"`
	Distinct int     `json:"distinct"`
	Spacing  float64 `json:"spacing"`          // median gap between neighbouring distinct values; 0 if there is one only
	Regular  bool    `json:"regular"`          // all gaps are equal to 1e-6 of the median
	Levels   []Level `json:"levels,omitempty"` // of texts, in the order of their values 0, 1, …
	// Of time stamps: the first and the last, RFC 3339, and the time between.
	First string `json:"first,omitempty"`
	Last  string `json:"last,omitempty"`
	Span  string `json:"span,omitempty"`
	// The standardisation, value ↦ (value − shift)/scale; the target is transformed
	// first.
	Shift     float64             `json:"shift"`
	Scale     float64             `json:"scale"`
	Transform transform.Transform `json:"transform,omitzero"` // absent: none
}

// Level is a text among the values of an input, and how many rows have it.
type Level struct {
	Name string `json:"name"`
	Rows int    `json:"rows"`
}

// Modelled is the name and the unit of the target as it is modelled, transformed.
func (c *ColumnSummary) Modelled() (name, unit string) {
	if c.Transform.Identity() {
		return c.Name, c.Unit
	}
	return c.Transform.Of(c.Name), ""
}

// OfModelled says behind a quantity that it is of the transformed target; "" where
// there is no transform or no target.
func (c *ColumnSummary) OfModelled() string {
	if c == nil || c.Transform.Identity() {
		return ""
	}
	return " of " + c.Transform.Of(c.Name)
}

// ModelledUnit is the unit of standard deviations of the target as it is modelled.
func (c *ColumnSummary) ModelledUnit() string { return c.Transform.Unit(c.Unit) }

// Describe summarises a dataset and, unless s is nil, its standardisation.
func Describe(d *Dataset, s *Scaler) *Summary {
	out := &Summary{
		Name: d.Name, Source: d.Source, Path: d.Path, SHA256: d.SHA256, MaskSHA256: d.MaskSHA256,
		RowsRead: d.Rows, Rows: d.N(), Train: len(d.Train), Test: len(d.Test),
		DroppedTarget: d.Dropped.Target, DroppedInputs: d.Dropped.Inputs,
		Kernel: d.Kernel, Series: d.Series, Rhythms: d.rhythms(), SplitBy: d.SplitBy, Notices: slices.Clone(d.Notices),
	}
	if s != nil {
		out.StandardiseX, out.StandardiseY = s.ModeX, s.ModeY
		out.Notices = append(out.Notices, s.Notices...)
	}
	values, gaps := make([]float64, d.N()), make([]float64, 0, d.N())
	rows := make([]int32, d.N())
	for i := range rows {
		rows[i] = int32(i)
	}
	for j, c := range d.Inputs {
		for i := range values {
			values[i] = d.X[i*d.Dim+j]
		}
		col := describeColumn(c, "input", values, rows, gaps)
		col.Type = c.Type
		for _, name := range c.Levels {
			col.Levels = append(col.Levels, Level{Name: name})
		}
		if c.Levels != nil {
			for _, v := range values {
				col.Levels[int(v)].Rows++
			}
		}
		if s != nil {
			col.Shift, col.Scale = s.XShift[j], s.XScale[j]
		}
		out.Columns = append(out.Columns, col)
	}
	copy(values, d.Y)
	col := describeColumn(d.Target, "target", values, rows, gaps)
	if s != nil {
		col.Shift, col.Scale, col.Transform = s.YShift, s.YScale, s.Transform
	}
	out.Columns = append(out.Columns, col)
	for i := range min(previewRows, d.N()) {
		var row []string
		for j, c := range d.Inputs {
			row = append(row, c.Format(d.X[i*d.Dim+j]))
		}
		out.Preview = append(out.Preview, append(row, d.Target.Format(d.Y[i])))
	}
	return out
}

// describeColumn summarises values, which it sorts, of the given rows, all of them;
// gaps is scratch.
func describeColumn(c Column, role string, values []float64, rows []int32, gaps []float64) ColumnSummary {
	s := ColumnSummary{Name: c.Name, Role: role, Unit: c.Unit, Count: len(values), Missing: c.Missing, Scale: 1}
	if len(values) == 0 {
		return s
	}
	s.Mean, s.SD = meanSD(rows, values, 1, 0)
	slices.Sort(values)
	s.Min, s.Max = values[0], values[len(values)-1]
	gaps = gaps[:0]
	for i, v := range values[1:] {
		if v > values[i] {
			gaps = append(gaps, v-values[i])
		}
	}
	s.Distinct = len(gaps) + 1
	if len(gaps) > 0 {
		slices.Sort(gaps)
		s.Spacing = gaps[len(gaps)/2]
		s.Regular = gaps[len(gaps)-1]-gaps[0] <= 1e-6*s.Spacing
	}
	if c.Time {
		s.First, s.Last = c.Format(s.Min), c.Format(s.Max)
		s.Span = HumanDuration(c.Seconds(s.Max - s.Min))
	}
	return s
}

// Seconds converts a length of time in the column's unit to seconds.
func (c *Column) Seconds(v float64) float64 {
	if c.Unit == "d" {
		return v * secondsPerDay
	}
	return v
}

// nanosKept is the number of seconds within which a float64 holds nanoseconds, with
// a digit to spare.
const nanosKept = 1e6

// At returns the instant of a value of a time column: to the nanosecond if its time
// stamps have such and the value is near the origin, else to the microsecond.
func (c *Column) At(v float64) time.Time {
	seconds := c.Seconds(v)
	if (c.nanos || c.Origin.Nanosecond()%1000 != 0) && math.Abs(seconds) < nanosKept {
		return c.Origin.Add(time.Duration(math.Round(seconds * 1e9))).UTC()
	}
	return time.UnixMicro(c.Origin.UnixMicro() + int64(math.Round(seconds*1e6))).UTC()
}

// Format writes a value of the column: a number, or for a time column the time
// stamp in RFC 3339.
func (c *Column) Format(v float64) string {
	if c.Time {
		return c.At(v).Format(time.RFC3339Nano)
	}
	if c.Levels != nil {
		return c.level(v)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// HumanDuration writes a length of time in seconds in the largest unit that
// keeps it at 2 or above: "90 s", "36 h", "6 years".
func HumanDuration(seconds float64) string {
	units := []struct {
		size float64
		name string
	}{{365.2425 * secondsPerDay, "years"}, {secondsPerDay, "days"}, {3600, "h"}, {60, "min"}}
	for _, u := range units {
		if math.Abs(seconds) >= 2*u.size*(1-1e-3) {
			text := strconv.FormatFloat(seconds/u.size, 'g', 3, 64)
			if rounded, err := strconv.ParseFloat(text, 64); err == nil && math.Abs(rounded) < 1e6 { // 1090, not 1.09e+03
				text = strconv.FormatFloat(rounded, 'f', -1, 64)
			}
			return text + " " + u.name
		}
	}
	return strconv.FormatFloat(seconds, 'g', 3, 64) + " s"
}

// stepText is the step of a series, of time stamps as people measure it.
func (s *Summary) stepText() string {
	if c := &s.Columns[0]; c.First != "" {
		if days := DaysOf(c.Unit); days > 0 {
			return HumanDuration(s.Series.Step * days * secondsPerDay)
		}
	}
	return strconv.FormatFloat(s.Series.Step, 'g', 6, 64)
}

// WriteText writes the summary as text in columns.
func (s *Summary) WriteText(w io.Writer) error {
	fmt.Fprintf(w, "%s (%s)\n", escape(s.Name), escape(s.Source))
	if s.Path != "" {
		fmt.Fprintf(w, "file      %s\n", escapeAll(s.Path))
	}
	fmt.Fprintf(w, "sha256    %s\n", s.SHA256)
	if s.MaskSHA256 != "" {
		fmt.Fprintf(w, "          %s of the mask\n", s.MaskSHA256)
	}
	if s.Kernel != "" {
		fmt.Fprintf(w, "kernel    %s\n", PlainLine(s.Kernel))
	}
	fmt.Fprintf(w, "rows      %d: %d train, %d test\n", s.Rows, s.Train, s.Test)
	if n := s.DroppedTarget + s.DroppedInputs; n > 0 {
		fmt.Fprintf(w, "dropped   %d: %d for a missing target, %d for a missing input\n", n, s.DroppedTarget, s.DroppedInputs)
	}
	if s.Series != nil {
		fmt.Fprintf(w, "series    %s is time, in steps of %s%s\n", escape(s.Columns[0].Name), s.stepText(), s.Series.words())
	}
	fmt.Fprintln(w)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "column\trole\ttype\tunit\tcount\tmissing\tmin\tmax\tmean\tsd\tdistinct\tspacing\tshift\tscale")
	for _, c := range s.Columns {
		spacing := fmt.Sprintf("%.6g", c.Spacing)
		if c.Regular {
			spacing += " even"
		}
		lo, hi := fmt.Sprintf("%.6g", c.Min), fmt.Sprintf("%.6g", c.Max)
		if c.First != "" {
			lo, hi = c.First, c.Last
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%d\t%d\t%s\t%s\t%.6g\t%.6g\t%d\t%s\t%.6g\t%.6g\n", escape(c.Name), c.Role, c.Type, escape(c.Unit),
			c.Count, c.Missing, lo, hi, c.Mean, c.SD, c.Distinct, spacing, c.Shift, c.Scale)
	}
	t.Flush()
	for _, c := range s.Columns {
		if c.Span != "" {
			fmt.Fprintf(w, "%s spans %s\n", escape(c.Name), c.Span)
		}
	}
	for _, c := range s.Columns {
		if len(c.Levels) > 0 {
			fmt.Fprintf(w, "levels of %s: %s\n", escape(c.Name), levelsText(c.Levels))
		}
	}
	if s.StandardiseX != "" {
		fmt.Fprintf(w, "standardised: inputs %s, target %s", s.StandardiseX, s.StandardiseY)
		if c := &s.Columns[len(s.Columns)-1]; !c.Transform.Identity() {
			fmt.Fprintf(w, ", of %s", escape(c.Transform.Of(c.Name)))
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "\nfirst %s\n", plural(len(s.Preview), "row"))
	for i, c := range s.Columns {
		sep := "\t"
		if i == len(s.Columns)-1 {
			sep = "\n"
		}
		fmt.Fprint(t, escape(c.Name), sep)
	}
	for _, row := range s.Preview {
		fmt.Fprintln(t, strings.Join(row, "\t"))
	}
	err := t.Flush()
	for _, n := range s.Notices {
		_, err = fmt.Fprintf(w, "note: %s\n", PlainLine(n))
	}
	return err
}

// levelsText lists levels with their rows, the first ones.
func levelsText(levels []Level) string {
	var parts []string
	for i, l := range levels {
		if i == previewLevels {
			return strings.Join(parts, ", ") + fmt.Sprintf(" and %d more", len(levels)-i)
		}
		parts = append(parts, fmt.Sprintf("%s (%s)", escape(l.Name), plural(l.Rows, "row")))
	}
	return strings.Join(parts, ", ")
}

// escape makes foreign text fit for a terminal and a column of a table.
func escape(s string) string { return unquote(quoteText(s)) }

// escapeAll makes foreign text fit for a terminal at its full length.
func escapeAll(s string) string { return unquote(strconv.Quote(s)) }

func unquote(q string) string { return strings.ReplaceAll(q[1:len(q)-1], `\"`, `"`) }
