package compare

import (
	"fmt"
	"io"
	"math"
	"strconv"

	"example.com/kestrel/experiment/average"
	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/grid"
	"example.com/kestrel/experiment/inside"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/rundir"
	"example.com/kestrel/experiment/words"
)

// write writes the tables to the directory.
func (c *Comparison) write(dir *inside.Dir) error {
	for _, t := range []struct {
		name string
		rows [][]string
	}{{record.MetricsFile, c.metricRows()}, {record.FinalsFile, c.finalRows()}, {record.RunTableFile, c.TableRows()}} {
		text, err := files.FormatRows(t.rows)
		if err != nil {
			return err
		}
		if err := dir.ReplaceFile(t.name, text); err != nil {
			return files.Unwritable(dir.Path(), err)
		}
	}
	return nil
}

func (c *Comparison) metricRows() [][]string {
	rows := [][]string{append([]string{"run"}, rundir.MetricColumns()...)}
	for i := range c.Runs {
		r := &c.Runs[i]
		for _, row := range rundir.MetricRows(r.Metrics) {
			rows = append(rows, append([]string{strconv.Itoa(r.Run)}, row...))
		}
	}
	return rows
}

// finalRows has a row for each run of each method; where nothing has predicted
// the numbers are empty.
func (c *Comparison) finalRows() [][]string {
	rows := [][]string{append([]string{"method", "run", "seed", "kernel_id", "trained", "seconds"}, rundir.AccuracyColumns()...)}
	for i := range c.Runs {
		r := &c.Runs[i]
		row := []string{r.Method, strconv.Itoa(r.Run), strconv.FormatUint(r.Seed, 10), r.Kernel, strconv.Itoa(r.Trained), ""}
		accuracy := make([]string, len(rundir.AccuracyColumns()))
		if f := r.Final(); f != nil {
			row[len(row)-1], accuracy = f.Seconds.String(), f.AccuracyCells()
		}
		rows = append(rows, append(row, accuracy...))
	}
	return rows
}

// TableRows is the paper's table of ten runs.
func (c *Comparison) TableRows() [][]string {
	rows := [][]string{{"run"}}
	most := 0
	for i := range c.Runs {
		most = max(most, c.Runs[i].Run)
	}
	for run := range most {
		rows = append(rows, []string{strconv.Itoa(run + 1)})
	}
	rows = append(rows, []string{"mean"}, []string{"sd"})
	for _, s := range c.Summary() {
		column := make([]string, len(rows))
		column[0] = s.Method
		for i := range c.Runs {
			if r := &c.Runs[i]; r.Method == s.Method && r.Final() != nil {
				column[r.Run] = r.Final().RMSE.String()
			}
		}
		for at, v := range []files.Number{s.RMSE, s.RMSESD} {
			if !math.IsNaN(float64(v)) {
				column[len(rows)-2+at] = v.String()
			}
		}
		for i := range rows {
			rows[i] = append(rows[i], column[i])
		}
	}
	return rows
}

// MethodSummary is what the runs of a method came to. Means are over the runs
// that have predicted; standard deviations are those of a sample (n − 1), NaN
// for one run.
type MethodSummary struct {
	Method  string       `json:"method"`
	Runs    int          `json:"runs"`
	Without int          `json:"without"` // a prediction
	RMSE    files.Number `json:"rmse"`
	RMSESD  files.Number `json:"rmse_sd"`
	NLPD    files.Number `json:"nlpd"`
	NLPDSD  files.Number `json:"nlpd_sd"`
	CRPS    files.Number `json:"crps"`
	// Means of the shares within the intervals of record.CoverageLevels.
	Coverage  [len(record.CoverageLevels)]files.Number `json:"coverage"`
	Seconds   files.Number                             `json:"seconds"` // at the end
	SecondsSD files.Number                             `json:"seconds_sd"`
	Trained   files.Number                             `json:"trained"` // kernels, mean
}

// Summary sums the methods up, in the order of the config.
func (c *Comparison) Summary() (out []MethodSummary) {
	for _, method := range c.Config.Compare.Methods {
		s := MethodSummary{Method: method}
		var rmse, nlpd, crps, seconds, trained []float64
		var coverage [len(record.CoverageLevels)][]float64
		for i := range c.Runs {
			r := &c.Runs[i]
			if r.Method != method {
				continue
			}
			s.Runs++
			trained = append(trained, float64(r.Trained))
			f := r.Final()
			if f == nil {
				s.Without++
				continue
			}
			rmse, nlpd, seconds = append(rmse, float64(f.RMSE)), append(nlpd, float64(f.NLPD)), append(seconds, float64(f.Seconds))
			crps = append(crps, float64(f.CRPS))
			for l, share := range f.Coverage() {
				coverage[l] = append(coverage[l], float64(share))
			}
		}
		if s.Runs == 0 {
			continue
		}
		for _, x := range []struct {
			mean, sd *files.Number
			of       []float64
		}{{&s.RMSE, &s.RMSESD, rmse}, {&s.NLPD, &s.NLPDSD, nlpd}, {&s.Seconds, &s.SecondsSD, seconds}, {&s.Trained, new(files.Number), trained},
			{&s.CRPS, new(files.Number), crps}} {
			mean, sd := average.MeanSD(x.of)
			*x.mean, *x.sd = files.Number(mean), files.Number(sd)
		}
		for l := range coverage {
			mean, _ := average.MeanSD(coverage[l])
			s.Coverage[l] = files.Number(mean)
		}
		out = append(out, s)
	}
	return out
}

// WriteText writes the summary for people.
func (c *Comparison) WriteText(w io.Writer) error {
	w = words.PlainWriter(w)
	t := grid.Table{Heads: []string{"method", "runs", "rmse", "± sd", "nlpd", "± sd", "crps"}, Left: []int{0}}
	t.Heads = append(append(t.Heads, record.CoverageHeads()...), "seconds", "kernels")
	without := 0
	for _, s := range c.Summary() {
		cells := []string{s.Method, strconv.Itoa(s.Runs), s.RMSE.Format("%.5g"), s.RMSESD.Format("%.3g"), s.NLPD.Format("%.4f"),
			s.NLPDSD.Format("%.3g"), s.CRPS.Format("%.5g")}
		t.Row(append(append(cells, record.CoverageCells(s.Coverage)...), s.Seconds.Format("%.4g"), s.Trained.Format("%.4g"))...)
		without += s.Without
	}
	for _, s := range c.Baselines() {
		cells := []string{s.Method, strconv.Itoa(s.Runs), s.RMSE.Format("%.5g"), s.RMSESD.Format("%.3g"), s.NLPD.Format("%.4f"),
			s.NLPDSD.Format("%.3g"), s.CRPS.Format("%.5g")}
		t.Row(append(append(cells, record.CoverageCells(s.Coverage)...), "-", "-")...)
	}
	if err := t.Write(w); err != nil {
		return err
	}
	if without > 0 {
		fmt.Fprintf(w, "%s without a prediction: no kernel could be trained within the budget\n", words.Count(without, "run"))
	}
	return nil
}
