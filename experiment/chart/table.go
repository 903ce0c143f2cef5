package chart

import (
	"bytes"
	"io"
	"strconv"

	"example.com/kestrel/experiment/files"
)

// writeTable writes the numbers that a figure shows as CSV, one a row,
//
//	kind,series,x,low,high
//
// kind being line, band or points; high is empty where a value is no range, and a
// gap has no numbers. What has no name in the figure is left out. The numbers of
// cells are
//
//	row,column,value
func (f *Figure) writeTable(w io.Writer) error {
	if err := f.check(); err != nil {
		return err
	}
	number := func(v float64) string {
		if v-v != 0 {
			return ""
		}
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	if c := f.Cells; c != nil {
		rows := [][]string{{"row", "column", "value"}}
		for i, values := range c.Values {
			for k, v := range values {
				rows = append(rows, []string{c.Names[i], c.Names[k], number(v)})
			}
		}
		return files.WriteRows(w, rows...)
	}
	place := f.XText
	if place == nil {
		place = number
	}
	rows := [][]string{{"kind", "series", "x", "low", "high"}}
	add := func(kind, name string, x, lo, hi []float64) {
		if name == "" {
			return
		}
		for i := range x {
			high := ""
			if hi != nil {
				high = number(hi[i])
			}
			rows = append(rows, []string{kind, name, place(x[i]), number(lo[i]), high})
		}
	}
	for i := range f.Lines {
		l := &f.Lines[i]
		add("line", l.Name, l.X, l.Lo, l.Hi)
	}
	for i := range f.Bands {
		b := &f.Bands[i]
		add("band", b.Name, b.X, b.Lo, b.Hi)
	}
	for i := range f.Points {
		p := &f.Points[i]
		add("points", p.Name, p.X, p.Y, nil)
	}
	return files.WriteRows(w, rows...)
}

// Table is the table of a figure, Name.csv.
func (f *Figure) Table() (files.File, error) {
	var b bytes.Buffer
	err := f.writeTable(&b)
	return files.File{Name: f.Name + ".csv", Text: b.Bytes()}, err
}
