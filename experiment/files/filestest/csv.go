package filestest

import (
	"encoding/csv"
	"os"
	"testing"

	"kestrel/internal/must"
)

func ReadCSV(t *testing.T, path string) [][]string {
	t.Helper()
	f, err := os.Open(path)
	must.OK(t, err)
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	must.OK(t, err)
	return rows
}
