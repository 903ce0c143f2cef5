package filestest

import (
	"encoding/csv"
	"os"
	"testing"

	"kestrel/internal/must"
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
