package files

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"slices"
	"strconv"

	"example.com/kestrel/experiment/inside"
)

// Table is a CSV file with a header. After its first error, which it keeps, its
// values are of no use.
type Table struct {
	path   string
	header []string
	Rows   [][]string
	Err    error
}

// ReadTableIn reads a CSV file with a header, in an open directory.
func ReadTableIn(d *inside.Dir, name string) (*Table, error) {
	path := d.Join(name)
	text, err := d.ReadFile(name, 0)
	if err != nil {
		return nil, fmt.Errorf("table cannot be read: %w", err)
	}
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s is damaged: %w", path, err)
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("%s is damaged: it is empty", path)
	}
	return &Table{path: path, header: rows[0], Rows: rows[1:]}, nil
}

// Note keeps the first error, with where it is.
func (t *Table) Note(row int, column string, err error) {
	if err != nil && t.Err == nil {
		t.Err = fmt.Errorf("%s is damaged: line %d, %s: %w", t.path, row+2, column, err)
	}
}

// Text returns a cell.
func (t *Table) Text(row int, column string) string {
	i := slices.Index(t.header, column)
	if i < 0 {
		t.Note(row, column, fmt.Errorf("there is no such column"))
		return ""
	}
	return t.Rows[row][i]
}

// Number returns a cell as a number.
func (t *Table) Number(row int, column string) float64 {
	v, err := strconv.ParseFloat(t.Text(row, column), 64)
	t.Note(row, column, err)
	return v
}

// Share reads a share or a score that is NaN where it is not known: its cell is empty, or
// the table is of a version that had no such column.
func (t *Table) Share(row int, column string) Number {
	if i := slices.Index(t.header, column); i < 0 || t.Rows[row][i] == "" {
		return Number(math.NaN())
	}
	return Number(t.Number(row, column))
}

// Whole returns a cell as a whole number.
func (t *Table) Whole(row int, column string) int {
	v, err := strconv.Atoi(t.Text(row, column))
	t.Note(row, column, err)
	return v
}
