package datasets

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"time"
)

// table holds chosen columns of a file.
type table struct {
	file    string // base name, for messages
	sha256  string // of the file as stored
	columns []tableColumn
	rows    int
	names   []string // of all columns of the file
	writing writing
	notices []string
}

// tableColumn is a column as read; NaN stands for a missing value. Time
// stamps are seconds since origin, the smallest of them.
type tableColumn struct {
	name    string
	number  int // from 1
	kind    kind
	values  []float64
	origin  time.Time
	missing int

	// While reading, time stamps are kept as microseconds since base: whole
	// numbers, exact over 285 years.
	base int64
	hint string // appended to the errors of the first line
}

// readTable reads the columns that choose returns. The path must exist.
func readTable(ctx context.Context, path string, s *Spec, choose func(*form) ([]int, error)) (*table, error) {
	src, err := openSource(ctx, path, false)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	r, err := newTableReader(src, filepath.Base(path), s, writing{}, choose)
	if err != nil {
		return nil, err
	}
	if err := r.fill(ctx, -1); err != io.EOF {
		return nil, err
	}
	t := r.table
	if t.sha256, err = src.sha256(); err != nil {
		return nil, fmt.Errorf("%s: %w", t.file, err)
	}
	for i := range t.columns {
		t.columns[i].finish()
	}
	return t, nil
}

// tableReader reads the chosen columns of a file, some rows at a time.
type tableReader struct {
	*table
	src  *source
	recs *records
	form *form
	c    *cells
	head bool // the next record is the header
	unit bool // the one after that holds units
}

// newTableReader reads the beginning of a table and chooses columns of it. by says
// how values are written where this table does not tell.
func newTableReader(src *source, file string, s *Spec, by writing, choose func(*form) ([]int, error)) (*tableReader, error) {
	in := bufio.NewReaderSize(src, sampleBytes)
	if bom, _ := in.Peek(3); bytes.Equal(bom, []byte("\xef\xbb\xbf")) {
		in.Discard(3)
	}
	text, err := in.Peek(sampleBytes)
	var notices []string
	if bytes.IndexByte(text, '\n') < 0 && bytes.IndexByte(text, '\r') >= 0 {
		in = bufio.NewReaderSize(carriageReturns{in}, sampleBytes)
		text, err = in.Peek(sampleBytes)
		notices = append(notices, "the lines end in carriage returns alone, as on old Macintoshes")
	}
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if bytes.IndexByte(text, 0) >= 0 {
		return nil, fmt.Errorf("%s: holds binary data, not a table of text", file)
	}
	c := newCells(s.Missing)
	begin := &sample{file: file, text: text, whole: err == io.EOF}
	delim, err := parseDelimiter(s.Delimiter)
	if err != nil {
		return nil, err
	}
	if lines, size := begin.comments(delim, c); size > 0 {
		in.Discard(size) // of what has been looked at, and looked at from there
		begin.line, begin.text = lines, begin.text[size:]
		if lines > 0 {
			notices = append(notices, fmt.Sprintf("comments (#) at the top are left out: %s", plural(lines, "line")))
		}
	}
	f, err := begin.sniff(s, by, c)
	if err != nil {
		return nil, err
	}
	chosen, err := choose(f)
	if err != nil {
		return nil, err
	}
	t := &table{file: file, names: f.names, writing: c.writing, notices: append(notices, f.notices...)}
	for _, i := range chosen {
		col := tableColumn{number: i + 1, name: f.names[i]}
		if !f.header && s.Header != "no" {
			col.hint = `; if line 1 holds the names of the columns, set header = "yes"`
		}
		t.columns = append(t.columns, col)
	}
	recs := &records{r: in, delim: f.delim, file: file, next: begin.line, spaces: f.spaces}
	return &tableReader{table: t, src: src, recs: recs, form: f, c: c, head: f.header, unit: f.units}, nil
}

// fill reads up to so many rows, all if most is negative, and appends them to the
// columns. At the end of the file it returns io.EOF, with the last rows.
func (r *tableReader) fill(ctx context.Context, most int) error {
	for n := 0; n != most; {
		if r.rows&0xfff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		fields, err := r.recs.read()
		if err == io.EOF {
			r.end()
			return err
		}
		if err != nil {
			if _, ok := err.(*LineError); ok {
				return err
			}
			return fmt.Errorf("%s: after line %d: %w", r.file, r.recs.next, err)
		}
		if want := r.form.width; r.head {
			r.head = false
			continue
		} else if len(fields) != want {
			line := "the first line has"
			if want != r.form.first {
				line = "the first lines of values have"
			}
			return &LineError{r.file, r.recs.line, fmt.Sprintf("%s where %s %d", plural(len(fields), "field"), line, want)}
		}
		if r.unit {
			r.unit = false
			continue
		}
		for i := len(r.form.names); i < len(fields); i++ {
			if len(bytes.TrimSpace(fields[i])) > 0 {
				return &LineError{r.file, r.recs.line, fmt.Sprintf("a value in column %d, which has no name and was empty so far; name it", i+1)}
			}
		}
		if err := r.row(fields); err != nil {
			return err
		}
		n++
	}
	return nil
}

// end says what only the whole table shows.
func (r *tableReader) end() {
	if n := r.recs.remarks; n > 0 {
		r.notices = append(r.notices, fmt.Sprintf("comments (#) among the rows are left out: %s", plural(n, "line")))
	}
}

// row appends a row to the columns.
func (r *tableReader) row(fields [][]byte) error {
	r.rows++
	if r.rows > math.MaxInt32 {
		return &LineError{r.file, r.recs.line, "more rows than can be counted"}
	}
	for i := range r.columns {
		col := &r.columns[i]
		text := fields[col.number-1]
		v, err := col.parse(text, r.c)
		if err != nil {
			e := &CellError{r.file, r.recs.line, col.number, "", string(text), err.Error()}
			if r.form.header {
				e.Name = col.name
			} else if r.rows == 1 {
				e.Reason += col.hint
			}
			return e
		}
		if v != v {
			col.missing++
		}
		col.values = append(col.values, v)
	}
	return nil
}

// parse reads a value; the first that is not missing decides between numbers
// and time stamps.
func (col *tableColumn) parse(text []byte, c *cells) (float64, error) {
	switch col.kind {
	case kindNumber:
		return c.number(text)
	case kindUnknown:
		v, err := c.number(text)
		if err == nil {
			if v == v {
				col.kind = kindNumber
			}
			return v, nil
		}
		b := bytes.TrimSpace(text)
		us, ok := c.stamp(b)
		if !ok {
			if err == errNotNumber {
				err = errNotEither
				if c.dates == orderUnknown && orderless(b) {
					err = errDayMonth
				}
			}
			return 0, err
		}
		col.kind, col.base = kindTime, us
	}
	b := bytes.TrimSpace(text)
	if us, ok := c.stamp(b); ok {
		return float64(us - col.base), nil
	}
	if c.isMissing(b) {
		return math.NaN(), nil
	}
	return 0, errNotTime
}

// finish turns time stamps into seconds since the smallest.
func (col *tableColumn) finish() {
	if col.kind != kindTime {
		return
	}
	first := minKnown(col.values)
	col.origin = time.UnixMicro(col.base + int64(first)).UTC()
	for i, v := range col.values {
		col.values[i] = (v - first) / 1e6
	}
}

// minKnown returns the smallest value that is not missing.
func minKnown(values []float64) float64 {
	m := math.Inf(1)
	for _, v := range values {
		if v < m {
			m = v
		}
	}
	return m
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
