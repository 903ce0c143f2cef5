package inspect

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"example.com/kestrel/datasets"
	"example.com/kestrel/experiment/files"
)

// sheet is a table that is written in parts: CSV with a header, or an array of
// JSON objects.
type sheet struct {
	columns []string
	json    bool
}

// predictionSheet has a row for each point: its number among the rows of the
// file, from 1 and without the header; the inputs under their own names, time
// stamps as the run's table has them; the target if the points have it; the mean of y, which is
// that of f where the target is not transformed; the standard deviations of f and of y = f + noise; the median of y
// where it is transformed, so that the two differ; and for each probability p the quantiles f_qp and y_qp of the
// mixture over the kernels. A
// column of the data whose name another one has is called name_data. In CSV, names
// start no formula, see files.SafeCell.
func predictionSheet(d *datasets.Dataset, target, transformed bool, q *PredictQuery) *sheet {
	results := []string{"mean", "sd_f", "sd_y"}
	if transformed {
		results = append(results, "median")
	}
	for _, of := range []string{"f", "y"} {
		for _, prob := range q.Quantiles {
			results = append(results, of+"_q"+files.FormatFloat(prob))
		}
	}
	s := &sheet{columns: []string{"row"}, json: q.JSON}
	add := func(name string) {
		for slices.Contains(s.columns, name) || slices.Contains(results, name) {
			name += "_data"
		}
		s.columns = append(s.columns, name)
	}
	for _, in := range d.Inputs {
		add(in.Name)
	}
	if target {
		add(d.Target.Name)
	}
	s.columns = append(s.columns, results...)
	return s
}

// componentSheet has a row for each point, kernel and additive component: the
// weight of the kernel in the average, the number of the component in the
// kernel, its expression (DataMean where the data's mean was taken from the
// targets), and mean and standard deviation of what it contributes to f, which is
// of the transformed target. The means of a kernel's components add up to its mean
// of that; the variances do not.
func componentSheet(q *PredictQuery) *sheet {
	return &sheet{columns: []string{"row", "kernel_id", "weight", "part", "component", "mean", "sd"}, json: q.JSON}
}

// head is what stands before the first row.
func (s *sheet) head() ([]byte, error) {
	if s.json {
		return []byte("["), nil
	}
	return files.FormatRows([][]string{slices.Clone(s.columns)})
}

// tail is what stands behind the last row.
func (s *sheet) tail() []byte {
	if s.json {
		return []byte("\n]\n")
	}
	return nil
}

// first is what is left out of the first rows: what divides them from those
// before.
func (s *sheet) first(rows []byte) []byte {
	if s.json {
		return bytes.TrimPrefix(rows, []byte(","))
	}
	return rows
}

// rows begins some rows.
func (s *sheet) rows() *sheetRows {
	r := &sheetRows{sheet: s}
	r.csv = csv.NewWriter(&r.out)
	if s.json {
		for _, c := range s.columns {
			r.keys = append(r.keys, quoteJSON(c)+":")
		}
	}
	return r
}

// sheetRows is some rows of a table in the making, value by value.
type sheetRows struct {
	sheet *sheet
	keys  []string
	out   bytes.Buffer
	csv   *csv.Writer
	row   []string
}

func quoteJSON(s string) string {
	b, _ := json.Marshal(s) // a string always can be
	return string(b)
}

// put adds a value: text as CSV has it, object as JSON does.
func (r *sheetRows) put(text string, object func() string) {
	if r.sheet.json {
		text = r.keys[len(r.row)] + object()
	}
	r.row = append(r.row, text)
}

func (r *sheetRows) whole(n int) {
	s := strconv.Itoa(n)
	r.put(s, func() string { return s })
}

func (r *sheetRows) word(s string) { r.put(files.SafeCell(s), func() string { return quoteJSON(s) }) }

// number adds a number; NaN is a missing value. In JSON it is as Number has it.
func (r *sheetRows) number(v float64) {
	text := ""
	if !math.IsNaN(v) {
		text = files.FormatFloat(v)
	}
	r.put(text, func() string {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return "null"
		}
		return text
	})
}

// value adds a value of a column of the data.
func (r *sheetRows) value(c *datasets.Column, v float64) {
	if c.Time {
		r.word(c.Written(v))
		return
	}
	if c.Levels != nil {
		r.word(c.Format(v))
		return
	}
	r.number(v)
}

func (r *sheetRows) endRow() {
	if r.sheet.json {
		r.out.WriteString(",\n{")
		for i, field := range r.row {
			if i > 0 {
				r.out.WriteByte(',')
			}
			r.out.WriteString(field)
		}
		r.out.WriteByte('}')
	} else {
		r.csv.Write(r.row) // its error stays
	}
	r.row = r.row[:0]
}

// text returns the rows.
func (r *sheetRows) text() ([]byte, error) {
	r.csv.Flush()
	return r.out.Bytes(), r.csv.Error()
}

// predictionWriter writes batches of predictions in order, and nothing before the
// first.
type predictionWriter struct {
	query                   *PredictQuery
	table, parts            *sheet
	predictions, components io.Writer // components nil: they are not asked for
	tally                   tally
	usual                   int // rows whose noise is not known
	done                    Predicted
}

// begin writes what stands before the first row.
func (w *predictionWriter) begin() error {
	for _, t := range w.tables(nil) {
		head, err := t.sheet.head()
		if err == nil {
			_, err = t.to.Write(head)
		}
		if err != nil {
			return fmt.Errorf("writing predictions: %w", err)
		}
	}
	return nil
}

// sheetPart is what goes to a table next.
type sheetPart struct {
	sheet *sheet
	to    io.Writer
	rows  []byte
}

// tables lists the tables that are written.
func (w *predictionWriter) tables(b *predictedBatch) []sheetPart {
	if b == nil {
		b = &predictedBatch{}
	}
	out := []sheetPart{{w.table, w.predictions, b.table}}
	if w.components != nil {
		out = append(out, sheetPart{w.parts, w.components, b.parts})
	}
	return out
}

func (w *predictionWriter) write(b *predictedBatch) error {
	if w.done.Rows == 0 {
		if err := w.begin(); err != nil {
			return err
		}
	}
	for _, t := range w.tables(b) {
		rows := t.rows
		if w.done.Rows == 0 {
			rows = t.sheet.first(rows)
		}
		if _, err := t.to.Write(rows); err != nil {
			return fmt.Errorf("writing predictions: %w", err)
		}
	}
	w.done.Rows += b.rows
	w.usual += b.usual
	w.done.IDs, w.done.Weights = b.ids, b.weights
	w.tally.merge(&b.tally)
	return nil
}

func (w *predictionWriter) end() error {
	for _, t := range w.tables(nil) {
		if _, err := t.to.Write(t.sheet.tail()); err != nil {
			return fmt.Errorf("writing predictions: %w", err)
		}
	}
	return nil
}
