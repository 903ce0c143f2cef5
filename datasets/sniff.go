package datasets

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// sampleBytes is how much of a file is looked at to guess its form.
const sampleBytes = 1 << 18

// sampleRecords is the number of records that decide.
const sampleRecords = 200

// form is how a table is written.
type form struct {
	delim   byte
	spaces  *spacing // where spaces divide
	header  bool
	units   bool     // the line below the header holds units
	names   []string // one per column; "c1", "c2", ... without a header
	kinds   []kind   // of the values in the sample
	texts   []string // the first text of each column that holds text
	named   int      // columns up to the last that has a name; 0 without a header
	first   int      // fields of the first record
	width   int      // fields of all others; those beyond the names are empty
	notices []string

	levels map[int]*levelNames // of the columns that are read as texts, set where columns are chosen
}

// sample is the beginning of a table.
type sample struct {
	file  string
	text  []byte
	whole bool // it is all there is
	line  int  // lines before it
}

// sniff guesses the form of a table from its beginning, and sets in c how its
// values are written; by is how those of a table like it are, where this one
// does not tell.
func (s *sample) sniff(spec *Spec, by writing, c *cells) (*form, error) {
	f := &form{}
	var err error
	if f.delim, err = parseDelimiter(spec.Delimiter); err != nil {
		return nil, err
	}
	if f.delim == 0 {
		f.delim = s.delimiter()
	}
	if f.delim == ' ' {
		f.spaces = s.spacing()
	}
	recs, err := s.split(f.delim, f.spaces, sampleRecords)
	if err != nil {
		return nil, err
	}
	if len(recs) == 0 {
		return nil, fmt.Errorf("%s: has no rows", s.file)
	}
	f.notices = c.learn(s, recs, f.delim, spec.Decimal, by)
	f.header = spec.Header == "yes" || spec.Header != "no" && looksLikeHeader(recs, c)
	f.name(recs[0])
	if f.header {
		recs = recs[1:]
		if len(recs) == 0 && s.whole {
			return nil, fmt.Errorf("%s: has no rows below the names of its columns", s.file)
		}
		if looksLikeUnits(recs, c) {
			f.units = true
			f.notices = append(f.notices,
				fmt.Sprintf("the line below the names (%s) holds no numbers, is taken for units and left out", readableList(recs[0])))
			recs = recs[1:]
		}
	} else if spec.Header == "" || spec.Header == "auto" {
		f.notices = append(f.notices, fmt.Sprintf(
			"line %d (%s) is read as values; if it holds the names of the columns, set header = \"yes\"", s.line+1, readableList(recs[0])))
	}
	if !spec.fromTheRight() {
		f.trim(recs)
	}
	f.kinds, f.texts = make([]kind, len(f.names)), make([]string, len(f.names))
	for _, rec := range recs {
		for i := range min(len(rec), len(f.names)) {
			if f.kinds[i] == kindUnknown {
				if f.kinds[i] = c.kind([]byte(rec[i])); f.kinds[i] == kindText {
					f.texts[i] = rec[i]
				}
			}
		}
	}
	return f, nil
}

// name names the columns after the first record.
func (f *form) name(first []string) {
	f.first, f.width = len(first), len(first)
	foreign := false
	for i, text := range first {
		name := ""
		if f.header {
			var converted bool
			if text = strings.TrimSpace(text); i == 0 { // as NumPy writes it
				text = cmp.Or(strings.TrimSpace(strings.TrimPrefix(text, "#")), text)
			}
			name, converted = readable(text)
			foreign = foreign || converted
		}
		if name == "" {
			name = fmt.Sprintf("c%d", i+1)
		}
		f.names = append(f.names, name)
	}
	if foreign {
		f.notices = append(f.notices, "the names of the columns are not UTF-8; read as Latin-1 (Windows-1252)")
	}
	if !f.header {
		return
	}
	for f.named = len(first); f.named > 0 && strings.TrimSpace(first[f.named-1]) == ""; f.named-- {
	}
}

// fromTheRight reports whether a column is named by a number that counts from the
// right, -2 say: then all columns of the table count.
func (s *Spec) fromTheRight() bool {
	return slices.ContainsFunc(append([]string{s.Target}, s.Inputs...), func(ref string) bool {
		n, err := strconv.Atoi(ref)
		return err == nil && n < 0
	})
}

// trim leaves out the columns at the right that have neither a name nor a value
// in the rows: those of a comma at the end of the lines, with or without one
// behind the names.
func (f *form) trim(rows [][]string) {
	if len(rows) == 0 {
		return
	}
	used, longer := max(f.named, 1), true
	for _, row := range rows {
		longer = longer && len(row) == f.first+1
		n := len(row)
		for n > used && strings.TrimSpace(row[n-1]) == "" {
			n--
		}
		used = max(used, n)
	}
	if longer && f.header && used <= f.first {
		f.width++
	}
	if used < f.width {
		f.names = f.names[:min(used, len(f.names))]
		f.notices = append(f.notices, fmt.Sprintf("what stands behind column %d (%s), %s without a name or a value, is left out", used,
			quoteText(f.names[used-1]), plural(f.width-used, "column")))
	}
}

// looksLikeUnits reports whether the first row below the names holds units: texts
// only, one at least above numbers alone.
func looksLikeUnits(rows [][]string, c *cells) bool {
	if len(rows) < 2 {
		return false
	}
	for _, text := range rows[0] {
		if k := c.kind([]byte(text)); k == kindNumber || k == kindTime {
			return false
		}
	}
	for i, text := range rows[0] {
		if c.kind([]byte(text)) != kindText {
			continue
		}
		known, other := false, false
		for _, row := range rows[1:] {
			if i < len(row) {
				k := c.kind([]byte(row[i]))
				known, other = known || k == kindNumber || k == kindTime, other || k == kindText
			}
		}
		if known && !other {
			return true
		}
	}
	return false
}

// readableList quotes the fields of a record for a message.
func readableList(fields []string) string {
	out := make([]string, 0, 4)
	for i, text := range fields {
		if i == 3 && len(fields) > 4 {
			return fmt.Sprintf("%s, … %d in all", quoteList(out), len(fields))
		}
		text, _ = readable(strings.TrimSpace(text))
		out = append(out, text)
	}
	return quoteList(out)
}

// records splits the sample into at most so many records. What is wrong with a
// record, the reader of the whole file will say, with the line.
func (s *sample) records(delim byte, most int) ([][]string, error) {
	if delim == ' ' {
		return s.split(delim, s.spacing(), most)
	}
	return s.split(delim, nil, most)
}

// split is records with what is known of spaces.
func (s *sample) split(delim byte, spaces *spacing, most int) ([][]string, error) {
	text := s.text
	if !s.whole { // the last line may be cut off
		i := bytes.LastIndexByte(text, '\n')
		if i < 0 {
			return nil, &LineError{s.file, s.line + 1, "too long for a line of text"}
		}
		text = text[:i+1]
	}
	r := &records{r: bufio.NewReader(bytes.NewReader(text)), delim: delim, file: s.file, next: s.line}
	var recs [][]string
	for len(recs) < most {
		fields, err := r.read()
		if err != nil {
			if err != io.EOF && len(recs) == 0 {
				return nil, err
			}
			break
		}
		if spaces != nil && len(recs) == 0 {
			fields = spaces.first(lineOf(text, r.line-s.line), fields)
			r.spaces = spaces // of those that follow
		}
		rec := make([]string, len(fields))
		for i, b := range fields {
			rec[i] = string(b)
		}
		recs = append(recs, rec)
	}
	return recs, nil
}

// lineOf returns a line of a text, counted from 1.
func lineOf(text []byte, number int) []byte {
	for range number - 1 {
		text = text[bytes.IndexByte(text, '\n')+1:]
	}
	line, _, _ := bytes.Cut(text, []byte{'\n'})
	return line
}

// looksLikeHeader reports whether the first record holds names: no number and
// no time stamp in it, but one below a name.
func looksLikeHeader(recs [][]string, c *cells) bool {
	texts := 0
	for _, text := range recs[0] {
		switch c.kind([]byte(text)) {
		case kindNumber, kindTime:
			return false
		case kindText:
			texts++
		}
	}
	if len(recs) == 1 {
		return texts > 0
	}
	for _, rec := range recs[1:] {
		for i := range min(len(rec), len(recs[0])) {
			k := c.kind([]byte(rec[i]))
			if (k == kindNumber || k == kindTime) && c.kind([]byte(recs[0][i])) == kindText {
				return true
			}
		}
	}
	return false
}

// delimiter returns the first of tab, semicolon and comma that divides
// all lines of the sample into the same number of fields, at least two; else
// space if none of them is found on all lines and it does so; else the one found
// on most lines. (A comma comes late because it may be a decimal sign where the
// delimiter is another.)
func (s *sample) delimiter() byte {
	best, most, always := byte(','), 0, false
	for _, d := range []byte{'\t', ';', ','} {
		recs, err := s.records(d, sampleRecords)
		if err != nil || len(recs) == 0 {
			continue
		}
		found, same := 0, true
		for _, rec := range recs {
			if len(rec) > 1 {
				found++
			}
			same = same && len(rec) == len(recs[0])
		}
		if found == len(recs) {
			if d == ',' && s.spaced(recs) {
				return ' '
			}
			if same {
				return d
			}
			always = true
		}
		if found > most {
			best, most = d, found
		}
	}
	if !always && s.spaced(nil) {
		return ' '
	}
	return best
}

// parseDelimiter returns 0 for "guess".
func parseDelimiter(s string) (byte, error) {
	switch s {
	case "", "auto":
		return 0, nil
	case "tab", `\t`:
		return '\t', nil
	case "space":
		return ' ', nil
	case "comma":
		return ',', nil
	case "semicolon":
		return ';', nil
	}
	if len(s) == 1 && s[0] < 0x7f && (s[0] >= ' ' || s[0] == '\t') {
		d := s[0]
		isWord := d >= '0' && d <= '9' || d >= 'a' && d <= 'z' || d >= 'A' && d <= 'Z'
		if !isWord && d != '"' && d != '.' && d != '-' && d != '+' {
			return d, nil
		}
	}
	return 0, fmt.Errorf("delimiter = %s: allowed are \"auto\", \",\", \";\", \"tab\", "+
		"\"space\" or another ASCII character that no number holds", quoteText(s))
}
