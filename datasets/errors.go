package datasets

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// CellError is a value in a table that cannot be used.
type CellError struct {
	File   string // its name without folders
	Line   int    // in the file, counted from 1
	Column int    // counted from 1
	Name   string // of the column; empty if the table has no header
	Text   string // the value as it stands in the file
	Reason string // e.g. "is not a number"
}

func (e *CellError) Error() string {
	name := ""
	if e.Name != "" {
		name = " (" + quoteText(e.Name) + ")"
	}
	return fmt.Sprintf("%s: line %d, column %d%s: %s %s", e.File, e.Line, e.Column, name, quoteText(e.Text), e.Reason)
}

// LineError is a line of a table that does not have the form it should have.
type LineError struct {
	File   string // its name without folders
	Line   int    // in the file, counted from 1
	Reason string // e.g. "3 fields where the first line has 4"
}

func (e *LineError) Error() string {
	return fmt.Sprintf("%s: line %d: %s", e.File, e.Line, e.Reason)
}

// maxQuoted is the number of characters of foreign text shown in a message.
const maxQuoted = 40

// quoteText quotes foreign text for a message: truncated, control characters
// and invalid UTF-8 escaped, so that a terminal cannot be steered by a file.
func quoteText(s string) string {
	if utf8.RuneCountInString(s) > maxQuoted {
		n := 0
		for i := range s {
			if n == maxQuoted {
				return fmt.Sprintf("%q", s[:i]+"…")
			}
			n++
		}
	}
	return fmt.Sprintf("%q", s)
}

// maxListed is the number of names listed in a message.
const maxListed = 20

// quoteList quotes names for a message.
func quoteList(names []string) string {
	var b strings.Builder
	for i, n := range names {
		if i == maxListed {
			fmt.Fprintf(&b, ", … (%d in all)", len(names))
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(quoteText(n))
	}
	return b.String()
}
