package datasets

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
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
	base  int64
	nanos []uint16 // nanoseconds beyond these; nil: none
	nano  uint16   // of the last value
	zoned int      // time stamps with a zone
	local int      // and without one

	offsets             []int32 // of the time stamps, seconds east of UTC; nil: all have that of the first
	firstOffset, offset int32   // and that of the last one

	forms  []stampForm // in which all time stamps looked at are written
	looked int         // of them

	labels *labels     // of a column that names series; its values are not numbers
	levels *levelNames // of a column of texts that is an input; its values are their numbers

	larges  []largeNumber
	rounded int    // of them
	hint    string // appended to the errors of the first line
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
	if s.Group != "" { // which is chosen last
		r.columns[len(r.columns)-1].labels = &labels{}
	}
	if err := r.fill(ctx, -1); err != io.EOF {
		return nil, err
	}
	t := r.table
	if t.rows < s.FirstRows {
		return nil, fmt.Errorf("%s: has %s; the first %d are needed (data.first_rows), and those from row %d on are missing", t.file,
			plural(t.rows, "row"), s.FirstRows, t.rows+1)
	}
	if t.sha256, err = src.sha256(); err != nil {
		return nil, fmt.Errorf("%s: %w", t.file, err)
	}
	for i := range t.columns {
		c := &t.columns[i]
		if lost := c.finish(s.FirstRows); lost > 0 {
			t.notices = append(t.notices, fmt.Sprintf("column %d (%s): %s within nanoseconds of another one and, so far from the first, equal to it",
				c.number, quoteText(c.name), plural(lost, "time stamp")))
		}
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
	begin.line += src.unnamed
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
		if f.levels[i] != nil {
			col.levels, col.kind = f.levels[i], kindNumber
		}
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
			text := fmt.Sprintf("%s where %s %d", plural(len(fields), "field"), line, want)
			if len(fields) < want && r.recs.delim == ' ' {
				text += "; write nan where a value is missing, or remove the line"
			}
			return &LineError{r.file, r.recs.line, text}
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
		if most < 0 {
			r.reserve()
		}
		if err := r.row(fields); err != nil {
			return err
		}
		n++
	}
	return nil
}

// From reservedFrom rows on they tell how many there will be, of which at most
// reservedMost times as many are believed.
const (
	reservedFrom = 1 << 14
	reservedMost = 16
)

// reserve makes room for the rows that are to be expected when the columns are full:
// columns that grow by parts are held twice over, for a while.
func (r *tableReader) reserve() {
	if r.rows < reservedFrom || r.rows < cap(r.columns[0].values) || r.src.size == 0 {
		return
	}
	read := r.src.stored.n - int64(r.recs.r.Buffered())
	if left := min(reservedMost, 1.01*float64(r.src.size-read)/float64(max(1, read))); left > 0 && r.src.unpacker == nil {
		for i := range r.columns {
			c := &r.columns[i]
			c.values = slices.Grow(c.values, int(left*float64(r.rows))+1)
		}
	}
}

// end says what only the whole table shows.
func (r *tableReader) end() {
	if n := r.recs.remarks; n > 0 {
		r.notices = append(r.notices, fmt.Sprintf("comments (#) among the rows are left out: %s", plural(n, "line")))
	}
	for i := range r.columns {
		c := &r.columns[i]
		name := fmt.Sprintf("column %d (%s)", c.number, quoteText(c.name))
		if c.zoned > 0 && c.local > 0 {
			r.notices = append(r.notices, fmt.Sprintf("%s: %s with a zone, read by it, and %d without one, read as UTC",
				name, plural(c.zoned, "time stamp"), c.local))
		}
		if c.rounded > 0 {
			r.notices = append(r.notices, fmt.Sprintf("%s: %s beyond 2^53, rounded to what a 64-bit floating-point number holds; "+
				"subtract a constant first to keep them", name, plural(c.rounded, "whole number")))
		}
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
		if col.nano != 0 && col.nanos == nil {
			col.nanos = make([]uint16, len(col.values))
		}
		if col.offset != col.firstOffset && col.offsets == nil {
			col.offsets = slices.Repeat([]int32{col.firstOffset}, len(col.values))
		}
		if col.values = append(col.values, v); col.nanos != nil {
			col.nanos = append(col.nanos, col.nano)
		}
		if col.offsets != nil {
			col.offsets = append(col.offsets, col.offset)
		}
	}
	return nil
}

// parse reads a value; the first that is not missing decides between numbers
// and time stamps.
func (col *tableColumn) parse(text []byte, c *cells) (float64, error) {
	if col.labels != nil {
		col.labels.add(string(bytes.TrimSpace(text)))
		return 0, nil
	}
	if col.levels != nil {
		b := bytes.TrimSpace(text)
		if c.isMissing(b) || len(b) == 0 {
			return math.NaN(), nil
		}
		return float64(col.levels.add(string(b))), nil
	}
	if col.kind != kindTime {
		v, err := c.number(text)
		if math.Abs(v) >= largestExact {
			col.large(text, v, c)
		}
		if err == nil && v == v {
			col.kind = kindNumber
		}
		if err == nil || col.kind == kindNumber {
			return v, err
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
		var zoned bool
		if col.nano, col.offset, zoned = stampEnd(b); zoned {
			col.zoned++
		} else {
			col.local++
		}
		if col.zoned+col.local == 1 {
			col.firstOffset = col.offset
		}
		if col.looked < formRows {
			col.look(b, us, c)
		}
		return float64(us - col.base), nil
	}
	col.nano = 0
	if c.isMissing(b) {
		return math.NaN(), nil
	}
	return 0, errNotTime
}

// finish turns time stamps into seconds since the smallest of so many rows, 0 for all.
// It returns how many of them have become equal to another one.
func (col *tableColumn) finish(rows int) (lost int) {
	if col.kind != kindTime {
		return 0
	}
	if rows == 0 {
		rows = len(col.values)
	}
	first, nano := minKnown(col.values[:rows]), uint16(0)
	if col.nanos != nil {
		lost = col.lost(first)
		nano = math.MaxUint16
		for i, v := range col.values[:rows] {
			if v == first {
				nano = min(nano, col.nanos[i])
			}
		}
	}
	col.origin = time.UnixMicro(col.base + int64(first)).Add(time.Duration(nano)).UTC()
	for i, v := range col.values {
		col.values[i] = stampSeconds(v-first, col.nanoAt(i)-int(nano))
	}
	return lost
}

// nanoAt returns the nanoseconds of a value beyond its microseconds.
func (col *tableColumn) nanoAt(i int) int {
	if col.nanos == nil {
		return 0
	}
	return int(col.nanos[i])
}

// stampSeconds turns microseconds and nanoseconds into seconds.
func stampSeconds(us float64, nanos int) float64 {
	if nanos == 0 {
		return us / 1e6
	}
	return (us*1e3 + float64(nanos)) / 1e9
}

// lost counts the time stamps with nanoseconds that become equal to an earlier one
// as seconds since the first.
func (col *tableColumn) lost(first float64) (n int) {
	order := make([]int32, 0, len(col.values))
	for i, v := range col.values {
		if v == v {
			order = append(order, int32(i))
		}
	}
	slices.SortFunc(order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(col.values[a], col.values[b]), cmp.Compare(col.nanos[a], col.nanos[b]))
	})
	for i := 1; i < len(order); i++ {
		a, b := order[i-1], order[i]
		same := col.values[a] == col.values[b] && col.nanos[a] == col.nanos[b]
		if !same && stampSeconds(col.values[a]-first, col.nanoAt(int(a))) == stampSeconds(col.values[b]-first, col.nanoAt(int(b))) {
			n++
		}
	}
	return n
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
