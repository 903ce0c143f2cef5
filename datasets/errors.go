package datasets

import (
	"fmt"

	"example.com/kestrel/datasets/quote"
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

// quoteText quotes foreign text for a message.
func quoteText(s string) string { return quote.Text(s) }

// quoteList quotes names for a message.
func quoteList(names []string) string { return quote.List(names) }
