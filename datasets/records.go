package datasets

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"unicode"
)

// Bounds of a record, beyond which it is taken for binary data or a missing
// closing quote: bytes, and fields, each of which costs 24 bytes. The first
// record is whole within the sample and so has no more fields than that.
const (
	maxRecord = 16 << 20
	maxFields = sampleBytes
)

var errTooManyFields = fmt.Sprintf("more than %d fields", maxFields)

// records splits delimited text (RFC 4180) into records. Lines without a
// quotation mark, almost all there are, take a path of one search per field.
type records struct {
	r     *bufio.Reader
	delim byte // ' ' stands for runs of spaces and tabs

	file    string
	line    int      // line at which the last record started
	next    int      // number of lines read
	long    []byte   // a line that did not fit the reader's buffer, or several lines
	text    []byte   // unquoted text of the last record
	fields  [][]byte // of the last record; valid until the next
	spaces  *spacing // where spaces divide; nil: each field is a value
	remarks int      // lines that begin with #, which are left out where spaces divide
	ends    []int    // ends of fields in text
}

var errUnclosedQuote = errors.New("unclosed quotation mark")

// readLine returns the next line with its line feed, if it has one. It is
// valid until the next call.
func (s *records) readLine() ([]byte, error) {
	line, err := s.r.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		s.long = append(s.long[:0], line...)
		for err == bufio.ErrBufferFull {
			line, err = s.r.ReadSlice('\n')
			s.long = append(s.long, line...)
			if len(s.long) > maxRecord {
				return nil, &LineError{s.file, s.next + 1, "too long for a line of text"}
			}
		}
		line = s.long
	}
	if len(line) == 0 {
		if err == nil {
			err = io.EOF
		}
		return nil, err
	}
	if err != nil && err != io.EOF {
		return nil, err
	}
	s.next++
	return line, nil
}

// read returns the fields of the next record that is not blank, or io.EOF.
// They are valid until the next call.
func (s *records) read() ([][]byte, error) {
	for {
		line, err := s.readLine()
		if err != nil {
			return nil, err
		}
		s.line = s.next
		if bytes.IndexByte(line, '"') >= 0 && s.delim != ' ' {
			return s.quoted(line)
		}
		line = chomp(line)
		if len(bytes.TrimSpace(line)) == 0 && bytes.IndexByte(line, s.delim) < 0 || len(line) == 0 {
			continue
		}
		s.fields = s.fields[:0]
		if s.delim == ' ' {
			if err := s.spaced(line); err != nil {
				return nil, err
			}
			if len(s.fields) == 0 {
				continue
			}
			return s.fields, nil
		}
		for {
			i := bytes.IndexByte(line, s.delim)
			if i < 0 {
				break
			}
			if len(s.fields) == maxFields {
				return nil, &LineError{s.file, s.line, errTooManyFields}
			}
			s.fields = append(s.fields, line[:i])
			line = line[i+1:]
		}
		s.fields = append(s.fields, line)
		return s.fields, nil
	}
}

// spaced splits a line that runs of spaces and tabs divide. A field that begins
// with a quotation mark ends with the next one, if space or the line's end follows
// there. Of a line that begins with # nothing is left.
func (s *records) spaced(line []byte) error {
	line = bytes.TrimSpace(line)
	if len(line) > 0 && line[0] == '#' {
		s.remarks++
		return nil
	}
	split := bytes.FieldsSeq
	if bytes.IndexByte(line, '"') >= 0 {
		split = quotedFields
	}
	for field := range split(line) {
		if len(s.fields) == maxFields {
			return &LineError{s.file, s.line, errTooManyFields}
		}
		s.fields = append(s.fields, field)
	}
	if s.spaces != nil {
		s.fields, s.text = s.spaces.join(s.fields, s.text[:0])
	}
	return nil
}

// quotedFields is bytes.FieldsSeq for a line in which quotation marks may hold
// fields together.
func quotedFields(b []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for b = bytes.TrimSpace(b); len(b) > 0; b = bytes.TrimSpace(b) {
			field, rest := b, []byte(nil)
			if i := bytes.IndexFunc(b, unicode.IsSpace); i >= 0 {
				field, rest = b[:i], b[i:]
			}
			if end := bytes.IndexByte(b[1:], '"') + 1; b[0] == '"' && end > 0 {
				if after := b[end+1:]; len(after) == 0 || bytes.IndexFunc(after, unicode.IsSpace) == 0 {
					field, rest = b[1:end], after
				}
			}
			if !yield(field) {
				return
			}
			b = rest
		}
	}
}

// quoted splits a record with quotation marks, which may go on over several
// lines. A mark inside an unquoted field stands for itself.
func (s *records) quoted(line []byte) ([][]byte, error) {
	s.text, s.ends = s.text[:0], s.ends[:0]
	for {
		if field := bytes.TrimLeft(line, " "); len(field) > 0 && field[0] == '"' {
			rest, err := s.unquote(field[1:])
			if err != nil {
				return nil, err
			}
			line = rest
		} else {
			i := bytes.IndexByte(line, s.delim)
			if i < 0 {
				i = len(chomp(line))
			}
			s.text = append(s.text, line[:i]...)
			line = line[i:]
		}
		if len(s.ends) == maxFields {
			return nil, &LineError{s.file, s.line, errTooManyFields}
		}
		s.ends = append(s.ends, len(s.text))
		if len(line) == 0 || line[0] != s.delim {
			break
		}
		line = line[1:]
	}
	s.fields = s.fields[:0]
	start := 0
	for _, end := range s.ends {
		s.fields = append(s.fields, s.text[start:end])
		start = end
	}
	return s.fields, nil
}

// unquote appends the text up to the closing quotation mark to s.text and
// returns the rest of the line, which starts with the delimiter or ends it.
func (s *records) unquote(line []byte) ([]byte, error) {
	for {
		i := bytes.IndexByte(line, '"')
		if i < 0 { // the field goes on in the next line
			if n := len(line); n >= 2 && line[n-2] == '\r' {
				s.text = append(append(s.text, line[:n-2]...), '\n')
			} else {
				s.text = append(s.text, line...)
			}
			if len(s.text) > maxRecord { // of all fields: each may go on
				return nil, &LineError{s.file, s.line, errUnclosedQuote.Error()}
			}
			var err error
			if line, err = s.readLine(); err == io.EOF {
				return nil, &LineError{s.file, s.line, errUnclosedQuote.Error()}
			} else if err != nil {
				return nil, err
			}
			continue
		}
		s.text = append(s.text, line[:i]...)
		line = line[i+1:]
		if len(line) > 0 && line[0] == '"' {
			s.text = append(s.text, '"')
			line = line[1:]
			continue
		}
		rest := bytes.TrimLeft(line, " ")
		if len(chomp(rest)) == 0 {
			return nil, nil
		}
		if rest[0] != s.delim {
			return nil, &LineError{s.file, s.line, "text after a closing quotation mark; a mark inside quotes is written twice"}
		}
		return rest, nil
	}
}

// chomp removes the end of the line.
func chomp(line []byte) []byte {
	if n := len(line); n > 0 && line[n-1] == '\n' {
		line = line[:n-1]
	}
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	return line
}
