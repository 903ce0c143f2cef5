package datasets

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"

	"github.com/xuri/excelize/v2"

	"example.com/kestrel/datasets/formats"
	"example.com/kestrel/datasets/sheets"
)

const (
	// datedRows is how many rows at the top tell which columns are dates.
	datedRows = 50
	// largestSheet bounds a sheet as text, in bytes.
	largestSheet = 512 << 20
)

// dateShown is what numbers that are dates or times of day are shown as.
var dateShown = regexp.MustCompile(
	`\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}|\d{1,2}:\d{2}|\d{1,2}[- ][A-Za-z]{3}[- ]?\d{0,4}|[A-Za-z]{3,9}[- ]\d{2,4}`,
)

// workbookText is a sheet of a workbook as CSV, a line for each of its rows; sheet may
// be "" where there is one alone. Numbers are what cells hold, not what they show,
// unless they show a date.
func workbookText(ctx context.Context, f *os.File, size int64, sheet string) (_ io.Reader, err error) {
	if size > sheets.Largest {
		return nil, sheets.ErrTooBig
	}
	book, done, err := sheets.OpenXLSX(f, size)
	if err != nil {
		return nil, err
	}
	defer func() {
		if e := done(); err == nil {
			err = e
		}
	}()
	name := ""
	for _, s := range book.GetSheetList() {
		if strings.EqualFold(s, sheet) || sheet == "" && book.SheetCount == 1 {
			name = s
		}
	}
	if name == "" && sheet == "" {
		return nil, fmt.Errorf(
			"has %d sheets; name one behind #, as in book.xlsx#Sheet1: %s",
			book.SheetCount,
			quoteList(book.GetSheetList()),
		)
	}
	if name == "" {
		return nil, sheets.Missing(sheet, book.GetSheetList())
	}
	w := &sheetText{book: book, sheet: name}
	if err := w.findDates(); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = w.each(true, func(row int, cells []string) error {
		if row%contextRows == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if out.Len() > largestSheet {
			return sheets.ErrTooBig
		}
		return w.write(&out, cells)
	})
	return &out, err
}

// sheetText is one that is being read.
type sheetText struct {
	book  *excelize.File
	sheet string
	dated []bool // by column
	y1904 bool
	width int // of the widest row so far
}

// each reads rows, what their cells hold or what they show.
func (w *sheetText) each(raw bool, take func(row int, cells []string) error) error {
	return sheets.Guarded(func() (err error) {
		rows, err := w.book.Rows(w.sheet)
		if err != nil {
			return err
		}
		defer func() {
			if e := rows.Close(); err == nil {
				err = e
			}
		}()
		for row := 1; rows.Next(); row++ {
			cells, err := rows.Columns(excelize.Options{RawCellValue: raw})
			if err == nil {
				err = take(row, cells)
			}
			if errors.Is(err, errEnough) {
				return nil
			}
			if err != nil {
				return fmt.Errorf("row %d: %w", row, err)
			}
		}
		return rows.Error()
	})
}

// findDates finds the columns in which a number is shown as a date.
func (w *sheetText) findDates() error {
	props, err := w.book.GetWorkbookProps()
	if err != nil {
		return err
	}
	w.y1904 = props.Date1904 != nil && *props.Date1904
	var held [][]string
	top := func(use func(row int, cells []string)) error {
		return w.each(len(held) == 0, func(row int, cells []string) error {
			if row > datedRows {
				return errEnough
			}
			use(row, cells)
			return nil
		})
	}
	if err := top(func(_ int, cells []string) {
		held = append(held, cells)
		w.width = max(w.width, len(cells))
	}); err != nil || len(held) == 0 {
		return err
	}
	w.dated = make([]bool, w.width)
	return top(func(row int, cells []string) {
		for i, shown := range cells {
			if row > len(held) || i >= len(held[row-1]) || i >= len(w.dated) {
				continue
			}
			_, err := parseNumber([]byte(held[row-1][i]))
			_, still := parseNumber([]byte(shown))
			w.dated[i] = w.dated[i] || err == nil && still != nil && dateShown.MatchString(shown)
		}
	})
}

// write adds a row.
func (w *sheetText) write(out *bytes.Buffer, cells []string) error {
	empty := true
	for i, text := range cells {
		empty = empty && text == ""
		if v, err := parseNumber([]byte(text)); err == nil && i < len(w.dated) && w.dated[i] {
			at, err := excelize.ExcelDateToTime(v, w.y1904)
			if err != nil {
				return fmt.Errorf("column %d: %w", i+1, err)
			}
			cells[i] = at.Round(1e6).Format("2006-01-02T15:04:05.999")
		}
	}
	row := cells
	if empty {
		row = nil
	} else {
		for len(row) < w.width {
			row = append(row, "")
		}
	}
	once := false
	_, err := io.Copy(out, formats.Text(func() ([]string, error) {
		if once {
			return nil, io.EOF
		}
		once = true
		return row, nil
	}))
	return err
}
