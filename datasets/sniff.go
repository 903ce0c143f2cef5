package datasets

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
)

// sampleBytes is how much of a file is looked at to guess its form.
const sampleBytes = 1 << 18

// sampleRecords is the number of records that decide.
const sampleRecords = 200

// form is how a table is written.
type form struct {
	delim  byte
	header bool
	names  []string // one per column; "c1", "c2", ... without a header
	kinds  []kind   // of the values in the sample
}

// sniff guesses the form of a table from its beginning. whole says that the
// sample is all there is.
func sniff(file string, sample []byte, whole bool, header, delimiter string, c *cells) (*form, error) {
	f := &form{}
	var err error
	if f.delim, err = parseDelimiter(delimiter); err != nil {
		return nil, err
	}
	if f.delim == 0 {
		f.delim = guessDelimiter(sample, whole)
	}
	recs, err := sampleOf(file, sample, whole, f.delim)
	if err != nil {
		return nil, err
	}
	if len(recs) == 0 {
		return nil, fmt.Errorf("%s: has no rows", file)
	}
	first := recs[0]
	f.header = header == "yes" || header != "no" && looksLikeHeader(recs, c)
	for i, text := range first {
		name := ""
		if f.header {
			name = string(bytes.TrimSpace([]byte(text)))
		}
		if name == "" {
			name = fmt.Sprintf("c%d", i+1)
		}
		f.names = append(f.names, name)
	}
	if f.header {
		recs = recs[1:]
		if len(recs) == 0 && whole {
			return nil, fmt.Errorf("%s: has no rows below the names of its columns", file)
		}
	}
	f.kinds = make([]kind, len(first))
	for _, rec := range recs {
		for i := range min(len(rec), len(first)) {
			if f.kinds[i] == kindUnknown {
				f.kinds[i] = c.kind([]byte(rec[i]))
			}
		}
	}
	return f, nil
}

// sampleOf splits the sample into records. What is wrong with a record, the
// reader of the whole file will say, with the line.
func sampleOf(file string, sample []byte, whole bool, delim byte) ([][]string, error) {
	if !whole { // the last line may be cut off
		i := bytes.LastIndexByte(sample, '\n')
		if i < 0 {
			return nil, &LineError{file, 1, "too long for a line of text"}
		}
		sample = sample[:i+1]
	}
	s := &records{r: bufio.NewReader(bytes.NewReader(sample)), delim: delim, file: file}
	var recs [][]string
	for len(recs) < sampleRecords {
		fields, err := s.read()
		if err != nil {
			if err != io.EOF && len(recs) == 0 {
				return nil, err
			}
			break
		}
		rec := make([]string, len(fields))
		for i, b := range fields {
			rec[i] = string(b)
		}
		recs = append(recs, rec)
	}
	return recs, nil
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

// guessDelimiter returns the first of tab, semicolon and comma that divides
// all lines of the sample into the same number of fields, at least two; else
// the one found on most lines. (A comma comes last because it may be a decimal
// sign where the delimiter is another.)
func guessDelimiter(sample []byte, whole bool) byte {
	best, most := byte(','), 0
	for _, d := range []byte{'\t', ';', ','} {
		recs, err := sampleOf("", sample, whole, d)
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
		if same && found == len(recs) {
			return d
		}
		if found > most {
			best, most = d, found
		}
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
	return 0, fmt.Errorf("delimiter = %s: allowed are \"auto\", \",\", \";\", \"tab\", \"space\" or another ASCII character that no number holds", quoteText(s))
}
