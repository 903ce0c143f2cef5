// Package sheets reads the cells of workbooks of spreadsheet programs, .xls and
// .xlsx, of files that may be damaged or made to do harm. It knows nothing of
// what the cells mean.
package sheets

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"example.com/kestrel/datasets/quote"
)

// Cell is a cell of a spreadsheet. A formula is its last result, an error value
// or a truth value is text ("#N/A", "TRUE").
type Cell struct {
	Column int // from 0
	Number float64
	Text   string // if IsText
	IsText bool
}

// String returns the cell as text.
func (c *Cell) String() string {
	if c.IsText {
		return c.Text
	}
	return strconv.FormatFloat(c.Number, 'g', -1, 64)
}

// Rows takes the rows of a sheet that hold a cell, from the top, with their
// numbers counted from 1. The cells ascend by column and are valid until the next
// row. date1904 says that days count from 1904-01-01, not from 1899-12-30.
type Rows func(row int, cells []Cell, date1904 bool) error

// Format is how a file begins that is a workbook.
type Format string

// The first bytes of a zip archive, such as an .xlsx, and of an OLE2 compound
// file, such as an .xls.
const (
	XLSX Format = "PK\x03\x04"
	XLS  Format = "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
)

// Largest bounds a workbook's file, in bytes. Swissgrid's largest hold 65 columns
// in 35,136 rows: with 18 bytes for a cell, 41 MB a sheet.
const Largest = 256 << 20

// ErrTooBig is of a file, or a sheet, that is larger than is read.
var ErrTooBig = fmt.Errorf("is larger than %d MB, the most that is read of a workbook", Largest>>20)

// Read reads a sheet of a workbook row by row.
func Read(f io.ReaderAt, size int64, format Format, sheet string, rows Rows) error {
	switch format {
	case XLS:
		return readXLS(f, size, sheet, rows)
	case XLSX:
		return readXLSX(f, size, sheet, rows)
	}
	return errors.New("is no workbook (.xls or .xlsx)")
}

// Guarded turns a panic of a library that reads foreign bytes into an error.
func Guarded(work func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("is damaged: its reader failed with %q", fmt.Sprint(p))
		}
	}()
	return work()
}

// Missing says which sheets there are.
func Missing(sheet string, sheets []string) error {
	return fmt.Errorf("has no sheet %s; its sheets are %s", quote.Text(sheet), quote.List(sheets))
}

// largest is the largest magnitude of a number: beyond it a cell is taken as text.
const largest = 1e140

// asNumber reads a text that is a number and finite.
func asNumber(text string) (float64, bool) {
	text = strings.TrimSpace(text)
	// strconv would also take hexadecimal numbers, which no table means.
	if len(text) > 1 && strings.ContainsAny(text[1:min(len(text), 3)], "xX") {
		return 0, false
	}
	v, err := strconv.ParseFloat(text, 64)
	return v, err == nil && math.Abs(v) <= largest
}
