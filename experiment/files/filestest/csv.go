package filestest

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"testing"

	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/inside"
	"example.com/kestrel/internal/must"
)

// ReadCSV returns the rows of a CSV file, its header first.
func ReadCSV(t *testing.T, path string) [][]string {
	t.Helper()
	f, err := os.Open(path)
	must.OK(t, err)
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	must.OK(t, err)
	return rows
}

// ReadTable reads a CSV file with a header.
func ReadTable(path string) (*files.Table, error) {
	d, err := inside.Open(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return files.ReadTableIn(d, filepath.Base(path))
}
