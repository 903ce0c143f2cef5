package experiment

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// ReadComparison reads a comparison from its directory as far as it has come.
func ReadComparison(path string) (*Comparison, error) {
	c := &Comparison{Path: path}
	var err error
	if c.Config, err = LoadConfig(filepath.Join(path, configFile), nil); err != nil {
		return nil, fmt.Errorf("comparison %q: %w", path, err)
	}
	final, err := readTable(filepath.Join(path, finalsFile))
	if err != nil {
		return nil, err
	}
	metrics, err := readTable(filepath.Join(path, metricsFile))
	if err != nil {
		return nil, err
	}
	at := map[string]int{} // of a run of a method in c.Runs
	key := func(t *table, i int) string { return t.text(i, "method") + " " + t.text(i, "run") }
	for i := range final.rows {
		at[key(final, i)] = len(c.Runs)
		seed, err := strconv.ParseUint(final.text(i, "seed"), 10, 64)
		final.note(i, "seed", err)
		c.Runs = append(c.Runs, MethodRun{
			Method: final.text(i, "method"), Run: final.whole(i, "run"), Seed: seed,
			Kernel: final.text(i, "kernel_id"), Trained: final.whole(i, "trained"),
		})
	}
	for i := range metrics.rows {
		r, ok := at[key(metrics, i)]
		if !ok {
			metrics.note(i, "run", fmt.Errorf("a run of %s that %s has not", metrics.text(i, "method"), finalsFile))
			break
		}
		number := func(column string) Number { return Number(metrics.number(i, column)) }
		c.Runs[r].Metrics = append(c.Runs[r].Metrics, Metric{
			Evaluation: metrics.whole(i, "evaluation"), Proportion: metrics.number(i, "proportion"), Seconds: number("seconds"),
			Method: metrics.text(i, "method"), Kernels: metrics.whole(i, "kernels"),
			RMSE: number("rmse"), MAE: number("mae"), NLPD: number("nlpd"), TestRows: metrics.whole(i, "test_rows"),
			Coverage50: metrics.share(i, "coverage50"), Coverage80: metrics.share(i, "coverage80"), Coverage95: metrics.share(i, "coverage95"),
		})
	}
	for _, t := range []*table{final, metrics} {
		if t.err != nil {
			return nil, t.err
		}
	}
	return c, nil
}

// table is a CSV file with a header. After its first error, which it keeps, its
// values are of no use.
type table struct {
	path   string
	header []string
	rows   [][]string
	err    error
}

func readTable(path string) (*table, error) {
	text, err := os.ReadFile(path)
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
	return &table{path: path, header: rows[0], rows: rows[1:]}, nil
}

func (t *table) note(row int, column string, err error) {
	if err != nil && t.err == nil {
		t.err = fmt.Errorf("%s is damaged: line %d, %s: %w", t.path, row+2, column, err)
	}
}

func (t *table) text(row int, column string) string {
	i := slices.Index(t.header, column)
	if i < 0 {
		t.note(row, column, fmt.Errorf("there is no such column"))
		return ""
	}
	return t.rows[row][i]
}

func (t *table) number(row int, column string) float64 {
	v, err := strconv.ParseFloat(t.text(row, column), 64)
	t.note(row, column, err)
	return v
}

// share reads a number that is NaN where it is not known: its cell is empty, or
// the table is of a version that had no such column.
func (t *table) share(row int, column string) Number {
	if i := slices.Index(t.header, column); i < 0 || t.rows[row][i] == "" {
		return Number(math.NaN())
	}
	return Number(t.number(row, column))
}

func (t *table) whole(row int, column string) int {
	v, err := strconv.Atoi(t.text(row, column))
	t.note(row, column, err)
	return v
}
