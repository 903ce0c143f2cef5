package compare

import (
	"fmt"
	"strconv"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/inside"
	"example.com/kestrel/experiment/record"
)

// Read reads a comparison from its directory as far as it has come.
func Read(path string) (*Comparison, error) {
	c := &Comparison{Path: path}
	var err error
	if c.Config, err = config.LoadInside(path, record.ConfigFile); err != nil {
		return nil, fmt.Errorf("comparison %q: %w", path, err)
	}
	d, err := inside.Open(path)
	if err != nil {
		return nil, fmt.Errorf("comparison %q: %w", path, err)
	}
	defer d.Close()
	final, err := files.ReadTableIn(d, record.FinalsFile)
	if err != nil {
		return nil, err
	}
	metrics, err := files.ReadTableIn(d, record.MetricsFile)
	if err != nil {
		return nil, err
	}
	at := map[string]int{} // of a run of a method in c.Runs
	key := func(t *files.Table, i int) string { return t.Text(i, "method") + " " + t.Text(i, "run") }
	for i := range final.Rows {
		at[key(final, i)] = len(c.Runs)
		seed, err := strconv.ParseUint(final.Text(i, "seed"), 10, 64)
		final.Note(i, "seed", err)
		c.Runs = append(c.Runs, MethodRun{
			Method: final.Text(i, "method"), Run: final.Whole(i, "run"), Seed: seed,
			Kernel: final.Text(i, "kernel_id"), Trained: final.Whole(i, "trained"),
		})
	}
	for i := range metrics.Rows {
		r, ok := at[key(metrics, i)]
		if !ok {
			metrics.Note(i, "run", fmt.Errorf("a run of %s that %s has not", metrics.Text(i, "method"), record.FinalsFile))
			break
		}
		number := func(column string) files.Number { return files.Number(metrics.Number(i, column)) }
		c.Runs[r].Metrics = append(c.Runs[r].Metrics, record.Metric{
			Evaluation: metrics.Whole(i, "evaluation"), Proportion: metrics.Number(i, "proportion"), Seconds: number("seconds"),
			Method: metrics.Text(i, "method"), Kernels: metrics.Whole(i, "kernels"),
			RMSE: number("rmse"), MAE: number("mae"), NLPD: number("nlpd"), TestRows: metrics.Whole(i, "test_rows"),
			Coverage50: metrics.Share(i, "coverage50"), Coverage80: metrics.Share(i, "coverage80"), Coverage95: metrics.Share(i, "coverage95"),
			CRPS: metrics.Share(i, "crps"), Interval: metrics.Share(i, "interval_score"),
		})
	}
	for _, t := range []*files.Table{final, metrics} {
		if t.Err != nil {
			return nil, t.Err
		}
	}
	return c, nil
}
