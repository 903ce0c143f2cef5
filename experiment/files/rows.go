package files

import (
	"bytes"
	"encoding/csv"
	"io"
)

// WriteRows writes rows of a table as CSV, in one write, as the tables of runs
// are written: no text starts a formula (see SafeCell), for which rows is
// changed; for those who see only this package.
func WriteRows(w io.Writer, rows ...[]string) error {
	text, err := FormatRows(rows)
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}

// FormatRows quotes as RFC 4180; lines end in a line feed, as the tools of
// Unix want it and all readers of CSV take it. Texts start no formula, see
// SafeCell; rows is changed where they would.
func FormatRows(rows [][]string) ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	for _, row := range rows {
		for i, cell := range row {
			row[i] = SafeCell(cell)
		}
	}
	if err := w.WriteAll(rows); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
