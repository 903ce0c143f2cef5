package rundir

import (
	"fmt"
	"io"
	"slices"
	"strconv"

	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/inside"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/vbks"
)

// TableFiles returns the names of a run's tables.
func TableFiles() []string {
	return []string{record.PosteriorFile, record.MetricsFile, record.KernelsFile, record.BaselinesFile}
}

// tables writes the CSV files of a run from its events.
type tables struct {
	tableRows
	dir                *inside.Dir
	posterior, metrics inside.File
	lazy               bool // write kernels.csv and baselines.csv when closed, not at each evaluation
}

// tableRows are the rows of tables, made from events. They go out in one write for each
// event, so that a reader finds whole rows.
type tableRows struct {
	kernels map[string]record.KernelInfo
	family  map[string]record.Entered // those that have come while the run went on
	last    *record.Evaluation
	lead    record.Lead
	scored  record.Standing // Start and Metrics only
}

// newTables creates the files with their headers.
func newTables(dir *inside.Dir) (*tables, error) {
	t := &tables{tableRows: newTableRows(), dir: dir}
	var err error
	if t.posterior, err = dir.Create(record.PosteriorFile); err != nil {
		return nil, err
	}
	if t.metrics, err = dir.Create(record.MetricsFile); err != nil {
		t.posterior.Close()
		return nil, err
	}
	if err = writeHeaders(t.posterior, t.metrics); err == nil {
		err = t.writeWhole(record.KernelsFile, t.kernelRows())
	}
	if err == nil {
		err = t.writeWhole(record.BaselinesFile, t.baselineRows())
	}
	if err != nil {
		t.Close()
		return nil, err
	}
	return t, nil
}

func newTableRows() tableRows {
	return tableRows{kernels: map[string]record.KernelInfo{}, family: map[string]record.Entered{}}
}

// writeHeaders writes the names of the columns.
func writeHeaders(posterior, metrics io.Writer) error {
	err := files.WriteRows(posterior, []string{"evaluation", "proportion", "rows_seen", "kernel_id", "kernel",
		"posterior", "bayes", "local_elbo", "elbo_se", "rank", "status", "elbo_rows", "lower", "upper",
		"point_posterior", "point_bayes", "windows", "windows_low", "windows_high", "windows_rows"})
	if err == nil {
		err = files.WriteRows(metrics, withLeader(MetricColumns(), "leader_since", "leader_changes"))
	}
	return err
}

// Record implements Recorder.
func (t *tables) Record(e *record.Event) error {
	err := t.write(e, t.posterior, t.metrics)
	switch {
	case err != nil || t.lazy:
	case e.Type == record.EventStarted || e.Type == record.EventMetrics || e.Type == record.EventData:
		return t.writeWhole(record.BaselinesFile, t.baselineRows())
	case slices.Contains(restTypes(), e.Type):
		return t.writeWhole(record.KernelsFile, t.kernelRows())
	}
	return err
}

// write writes what an event adds.
func (t *tableRows) write(e *record.Event, posterior, metrics io.Writer) error {
	switch e.Type {
	case record.EventStarted, record.EventData:
		for _, k := range e.Start.Kernels {
			t.kernels[k.ID] = k
		}
		t.scored.Start = e.Start
	case record.EventEntered:
		for _, k := range e.Entered {
			t.kernels[k.Kernel.ID], t.family[k.Kernel.ID] = k.Kernel, k
		}
	case record.EventEvaluation, record.EventPruned, record.EventRestored:
		if err := files.WriteRows(posterior, t.posteriorRows(e.Evaluation)...); err != nil {
			return fmt.Errorf("%s: %w", record.PosteriorFile, err)
		}
		t.last = e.Evaluation
		t.lead.Take(e.Evaluation)
	case record.EventMetrics:
		rows := MetricRows(e.Metrics)
		for i := range rows {
			rows[i] = withLeader(rows[i], files.FormatFloat(t.lead.Since), strconv.Itoa(t.lead.Changes))
		}
		if err := files.WriteRows(metrics, rows...); err != nil {
			return fmt.Errorf("%s: %w", record.MetricsFile, err)
		}
		t.scored.Metrics = e.Metrics
	}
	return nil
}

// posteriorRows has no clock in it: equal runs give equal files. A pruning
// revises the belief of the last evaluation: its rows have that number again.
func (t *tableRows) posteriorRows(e *record.Evaluation) [][]string {
	rows := make([][]string, len(e.Kernels))
	for i, k := range e.Kernels {
		row := []string{strconv.Itoa(e.Index), files.FormatFloat(e.Proportion), strconv.Itoa(e.RowsSeen),
			k.ID, t.kernels[k.ID].Name, "", "", "", "", "", string(k.Status), "", "", "", "", "", "", "", "", ""}
		windows := func(w *record.Windows) {
			if w != nil {
				low, high := w.Nats-w.Low, w.Nats+w.High
				copy(row[16:], []string{w.Nats.String(), low.String(), high.String(), strconv.Itoa(w.Rows)})
			}
		}
		if s := k.Left; s != nil {
			windows(s.Windows)
			point := s.Plain()
			row[5], row[6], row[14], row[15] = s.Posterior.String(), s.Bayes.String(), point.Posterior.String(), point.Bayes.String()
		}
		if f := k.Fit; f != nil {
			windows(f.Windows)
			copy(row[5:], []string{f.Posterior.String(), f.Bayes.String(), f.ELBO.String(), f.SE.String(), strconv.Itoa(f.Rank)})
			if f.Rows > 0 {
				row[11] = strconv.Itoa(f.Rows)
			}
			point := f.Plain()
			row[14], row[15] = point.Posterior.String(), point.Bayes.String()
			if b := f.Evidence; b != nil {
				row[12], row[13] = b.Lower.String(), b.Upper.String()
			}
		}
		rows[i] = row
	}
	return rows
}

// withLeader puts the cells of the leader where they were before crps and
// interval_score came.
func withLeader(row []string, since, changes string) []string {
	return slices.Insert(row, len(row)-2, since, changes)
}

// MetricColumns are those of metrics.csv but for the leader's. Who knows the file from
// before the last ones came finds the others where they were.
func MetricColumns() []string {
	return append([]string{"evaluation", "proportion", "seconds", "method", "kernels"}, AccuracyColumns()...)
}

// MetricRows are the rows with these columns.
func MetricRows(ms []record.Metric) [][]string {
	rows := make([][]string, len(ms))
	for i, m := range ms {
		rows[i] = append([]string{strconv.Itoa(m.Evaluation), files.FormatFloat(m.Proportion), m.Seconds.String(), m.Method,
			strconv.Itoa(m.Kernels)}, m.AccuracyCells()...)
	}
	return rows
}

// AccuracyColumns are the columns of a table that say how well a method
// predicts.
func AccuracyColumns() []string {
	return []string{"rmse", "mae", "nlpd", "coverage95", "test_rows", "coverage50", "coverage80", "crps", "interval_score"}
}

// kernelRows are those of kernels.csv: the hyperparameters of the last evaluation,
// in data units.
func (t *tableRows) kernelRows() [][]string {
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
				rows = append(rows, []string{k.ID, info.Name, f.Name, f.Column, files.FormatFloat(f.Value), f.Unit})
			}
		}
	}
	if len(t.family) > 0 { // empty of those that the run began with
		rows[0] = append(rows[0], "parent", "step")
		for i := range rows[1:] {
			from := t.family[rows[i+1][0]]
			rows[i+1] = append(rows[i+1], from.Parent, from.Step)
		}
	}
	return rows
}

// baselineRows are those of baselines.csv: the last scores beside those of the
// baselines.
func (t *tableRows) baselineRows() [][]string {
	rows := [][]string{slices.Concat([]string{"method", "label"}, AccuracyColumns(), []string{"mase", "smape", "msis", "remark"})}
	for _, m := range t.scored.Compare() {
		rows = append(rows, slices.Concat([]string{m.Method, m.Label}, m.AccuracyCells(),
			[]string{m.MASE.Known(""), m.Percent.Known(""), m.MSIS.Known(""), m.Note}))
	}
	if s := t.scored.Start; s != nil && s.Baselines != nil {
		for _, m := range s.Baselines.Methods {
			if m.Score == nil {
				row := make([]string, len(rows[0]))
				row[0], row[1], row[len(row)-1] = m.Method, m.Label, m.Reason
				rows = append(rows, row)
			}
		}
	}
	return rows
}

// writeWhole replaces a table.
func (t *tables) writeWhole(name string, rows [][]string) error {
	text, err := files.FormatRows(rows)
	if err != nil {
		return err
	}
	return t.dir.ReplaceDerived(name, text)
}

func (t *tables) Close() error {
	var err error
	if t.lazy {
		if err = t.writeWhole(record.KernelsFile, t.kernelRows()); err == nil {
			err = t.writeWhole(record.BaselinesFile, t.baselineRows())
		}
	}
	return closeSynced(err, t.posterior, t.metrics)
}
