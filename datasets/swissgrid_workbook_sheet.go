package datasets

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strconv"
)

// sheetCell is a cell of a spreadsheet. A formula is its last result, an error
// value or a truth value is text ("#N/A", "TRUE").
type sheetCell struct {
	column int     // from 0
	number float64 // if kind is kindNumber
	text   string  // if kind is kindText
	kind   kind
}

// String returns the cell as text.
func (c *sheetCell) String() string {
	if c.kind == kindNumber {
		return strconv.FormatFloat(c.number, 'g', -1, 64)
	}
	return c.text
}

// sheetRows takes the rows of a sheet that hold a cell, from the top, with
// their numbers counted from 1. The cells ascend by column and are valid until
// the next row. date1904 says that days count from 1904-01-01, not from
// 1899-12-30.
type sheetRows func(row int, cells []sheetCell, date1904 bool) error

// largestWorkbook bounds a workbook's file, in bytes. Swissgrid's largest hold
// 65 columns in 35,136 rows: with 18 bytes for a cell, 41 MB a sheet.
const largestWorkbook = 256 << 20

// contextRows is how many rows are read between two looks at the context.
const contextRows = 1024

var errTooBig = fmt.Errorf("is larger than %d MB, the most that is read of a workbook", largestWorkbook>>20)

// readSheet reads a sheet of a workbook, .xls or .xlsx by its content, row by
// row. It returns the sha256 of the file. Errors are prefixed with the file's
// name, but for those of rows.
func readSheet(ctx context.Context, path, sheet string, rows sheetRows) (sum string, err error) {
	base := filepath.Base(path)
	f, err := open(ctx, path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", fmt.Errorf("%s: %w", base, err)
	}
	if info.Size() > largestWorkbook {
		return "", fmt.Errorf("%s: %w", base, errTooBig)
	}
	h := sha256.New()
	if _, err := io.Copy(h, newBesideReader(ctx, f)); err != nil {
		return "", fmt.Errorf("%s: %w", base, err)
	}
	format, err := workbookFormat(ctx, path)
	if err != nil {
		return "", fmt.Errorf("%s: %w", base, err)
	}
	counted := 0
	var stopped error
	checked := func(row int, cells []sheetCell, date1904 bool) error {
		if counted++; counted%contextRows == 0 {
			stopped = ctx.Err()
		}
		if stopped == nil {
			stopped = rows(row, cells, date1904)
		}
		return stopped
	}
	switch format {
	case magicXLS:
		err = readXLS(f, info.Size(), sheet, checked)
	case magicXLSX:
		err = readXLSX(f, info.Size(), sheet, checked)
	default:
		err = errors.New("is no workbook (.xls or .xlsx)")
	}
	switch {
	case stopped != nil:
		return "", stopped
	case err != nil:
		return "", fmt.Errorf("%s: %w", base, err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// guarded turns a panic of a library that reads foreign bytes into an error.
func guarded(work func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("is damaged: its reader failed with %q", fmt.Sprint(p))
		}
	}()
	return work()
}

// missingSheet says which sheets there are.
func missingSheet(sheet string, sheets []string) error {
	return fmt.Errorf("has no sheet %s; its sheets are %s", quoteText(sheet), quoteList(sheets))
}

// errNumber returns what is wrong with a number of a cell.
func errNumber(v float64) error {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return errNotFinite
	case math.Abs(v) > largest:
		return errTooFar
	}
	return nil
}

// sumOfSums is the hash that stands for several files: the sha256 of the lines
// "sha256  name", as sha256sum prints them.
func sumOfSums(paths, sums []string) string {
	if len(sums) == 1 {
		return sums[0]
	}
	h := sha256.New()
	for i := range sums {
		fmt.Fprintf(h, "%s  %s\n", sums[i], filepath.Base(paths[i]))
	}
	return hex.EncodeToString(h.Sum(nil))
}
