package formats

import (
	"bytes"
	"encoding/csv"
	"io"
	"math"
	"strconv"
	"strings"
)

// Rows are records one after the other; io.EOF behind them. One that is nil is a line
// without anything.
type Rows func() ([]string, error)

// text is records as CSV.
type text struct {
	rows Rows
	buf  bytes.Buffer
	csv  *csv.Writer
	err  error
}

// Text returns records as CSV. Line ends within a value become spaces.
func Text(rows Rows) io.Reader {
	t := &text{rows: rows}
	t.csv = csv.NewWriter(&t.buf)
	return t
}

// Read implements io.Reader.
func (t *text) Read(p []byte) (int, error) {
	for t.err == nil && t.buf.Len() < len(p) {
		var row []string
		if row, t.err = t.rows(); t.err != nil {
			break
		}
		if row == nil {
			t.buf.WriteByte('\n')
			continue
		}
		for i, v := range row {
			if strings.ContainsAny(v, "\r\n") {
				row[i] = strings.Join(strings.Fields(v), " ")
			}
		}
		if len(row) == 1 && row[0] == "" { // which is a row, and not a line without anything
			t.buf.WriteString("\"\"\n")
			continue
		}
		t.csv.Write(row) // to memory
		t.csv.Flush()
	}
	if t.buf.Len() > 0 {
		return t.buf.Read(p)
	}
	return 0, t.err
}

// number writes a number, the shortest that reads back as the same; NaN is missing.
func number(v float64) string {
	if math.IsNaN(v) {
		return ""
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}
