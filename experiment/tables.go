package experiment

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"kestrel/vbks"
)

// Names of the files in a run directory.
const (
	configFile    = "config.toml"
	eventsFile    = "events.jsonl"
	stateDir      = "state"
	checkpoint    = "checkpoint.npz"
	posteriorFile = "posterior.csv"
	metricsFile   = "metrics.csv"
	kernelsFile   = "kernels.csv"
	logFile       = "log.txt"
)

// TableFiles returns the names of a run's tables.
func TableFiles() []string { return []string{posteriorFile, metricsFile, kernelsFile} }

// tables writes the CSV files of a run from its events. Rows go out in one
// write for each event, so that a reader finds whole rows.
type tables struct {
	dir                string
	posterior, metrics *os.File
	kernels            map[string]KernelInfo
	last               *Evaluation
	lazy               bool // write kernels.csv when closed, not at each evaluation
}

// newTables creates the files with their headers.
func newTables(dir string) (*tables, error) {
	t := &tables{dir: dir, kernels: map[string]KernelInfo{}}
	var err error
	if t.posterior, err = os.Create(filepath.Join(dir, posteriorFile)); err != nil {
		return nil, err
	}
	if t.metrics, err = os.Create(filepath.Join(dir, metricsFile)); err != nil {
		t.posterior.Close()
		return nil, err
	}
	err = writeRows(t.posterior, [][]string{{"evaluation", "proportion", "rows_seen", "kernel_id", "kernel",
		"posterior", "bayes", "local_elbo", "elbo_se", "rank", "status"}})
	if err == nil {
		err = writeRows(t.metrics, [][]string{metricColumns()})
	}
	if err == nil {
		err = t.writeKernels()
	}
	if err != nil {
		t.close()
		return nil, err
	}
	return t, nil
}

func writeRows(f *os.File, rows [][]string) error {
	text, err := formatRows(rows)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return err
}

// formatRows quotes as RFC 4180; lines end in a line feed, as the tools of
// Unix want it and all readers of CSV take it. Texts start no formula, see
// safeCell; rows is changed where they would.
func formatRows(rows [][]string) ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	for _, row := range rows {
		for i, cell := range row {
			row[i] = safeCell(cell)
		}
	}
	if err := w.WriteAll(rows); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// Record implements Recorder.
func (t *tables) Record(e *Event) error {
	switch e.Type {
	case EventStarted:
		for _, k := range e.Start.Kernels {
			t.kernels[k.ID] = k
		}
	case EventEvaluation, EventPruned, EventRestored:
		if err := writeRows(t.posterior, t.posteriorRows(e.Evaluation)); err != nil {
			return fmt.Errorf("%s: %w", posteriorFile, err)
		}
		t.last = e.Evaluation
		if !t.lazy {
			return t.writeKernels()
		}
	case EventMetrics:
		if err := writeRows(t.metrics, metricRows(e.Metrics)); err != nil {
			return fmt.Errorf("%s: %w", metricsFile, err)
		}
	}
	return nil
}

// posteriorRows has no clock in it: equal runs give equal files. A pruning
// revises the belief of the last evaluation: its rows have that number again.
func (t *tables) posteriorRows(e *Evaluation) [][]string {
	rows := make([][]string, len(e.Kernels))
	for i, k := range e.Kernels {
		row := []string{strconv.Itoa(e.Index), formatFloat(e.Proportion), strconv.Itoa(e.RowsSeen),
			k.ID, t.kernels[k.ID].Name, "", "", "", "", "", string(k.Status)}
		if f := k.Fit; f != nil {
			copy(row[5:], []string{f.Posterior.String(), f.Bayes.String(), f.ELBO.String(), f.SE.String(), strconv.Itoa(f.Rank)})
		}
		rows[i] = row
	}
	return rows
}

// metricColumns are those of metrics.csv. Who knows the file from before the two
// last ones came finds the others where they were.
func metricColumns() []string {
	return append([]string{"evaluation", "proportion", "seconds", "method", "kernels"}, accuracyColumns()...)
}

func metricRows(ms []Metric) [][]string {
	rows := make([][]string, len(ms))
	for i, m := range ms {
		rows[i] = append([]string{strconv.Itoa(m.Evaluation), formatFloat(m.Proportion), m.Seconds.String(), m.Method,
			strconv.Itoa(m.Kernels)}, m.accuracyCells()...)
	}
	return rows
}

// accuracyColumns are the columns of a table that say how well a method
// predicts.
func accuracyColumns() []string {
	return []string{"rmse", "mae", "nlpd", "coverage95", "test_rows", "coverage50", "coverage80"}
}

// accuracyCells are the cells of accuracyColumns, empty where a share is not
// known.
func (m *Metric) accuracyCells() []string {
	return []string{m.RMSE.String(), m.MAE.String(), m.NLPD.String(), m.Coverage95.known(""), strconv.Itoa(m.TestRows),
		m.Coverage50.known(""), m.Coverage80.known("")}
}

// writeKernels replaces kernels.csv by the hyperparameters of the last
// evaluation, in data units.
func (t *tables) writeKernels() error {
	rows := [][]string{{"kernel_id", "kernel", "parameter", "column", "value", "unit"}}
	if t.last != nil {
		for _, k := range t.last.Kernels {
			info := t.kernels[k.ID]
			if k.Status != vbks.Live || k.Fit == nil {
				continue
			}
			for i, p := range info.Params {
				if i < len(k.Fit.Params) {
					rows = append(rows, []string{k.ID, info.Name, p.Name, p.Column, k.Fit.Params[i].String(), p.Unit})
				}
			}
			for _, f := range info.Fixed {
				rows = append(rows, []string{k.ID, info.Name, f.Name, f.Column, formatFloat(f.Value), f.Unit})
			}
		}
	}
	text, err := formatRows(rows)
	if err != nil {
		return err
	}
	return replaceFile(filepath.Join(t.dir, kernelsFile), text)
}

func (t *tables) close() error {
	var err error
	if t.lazy {
		err = t.writeKernels()
	}
	return closeSynced(err, t.posterior, t.metrics)
}

// replaceFile writes a file aside, syncs it and renames it, so that a reader
// finds the old one or the new one, whole.
func replaceFile(path string, text []byte) error {
	return replaceWith(path, func(f *os.File) error {
		_, err := f.Write(text)
		return err
	})
}

func replaceWith(path string, write func(*os.File) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	err = write(f)
	if err == nil {
		err = f.Chmod(0o644)
	}
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	return err
}
