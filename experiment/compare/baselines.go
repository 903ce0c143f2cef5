package compare

import (
	"path/filepath"
	"slices"
	"strconv"

	"example.com/kestrel/experiment/average"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/inside"
	"example.com/kestrel/experiment/record"
)

// Baselines sums up what predicts the same test rows without kernels, as the runs of
// VBKS have it in their tables, over their seeds; nil where there are none. Runs are
// counted that a baseline could be had of.
func (c *Comparison) Baselines() (out []MethodSummary) {
	scores := map[string][3][]float64{}
	coverage := map[string][len(record.CoverageLevels)][]float64{}
	var names []string
	for i := range c.Runs {
		r := &c.Runs[i]
		if r.Method != config.MethodAverage {
			continue
		}
		t := baselineTable(filepath.Join(c.Path, r.Method, strconv.FormatUint(r.Seed, 10)))
		if t == nil {
			continue
		}
		for k := range t.Rows {
			name := t.Text(k, "method")
			if name == config.MethodAverage || name == config.MethodSingle || t.Text(k, "rmse") == "" {
				continue
			}
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
			s, shares := scores[name], coverage[name]
			for at, column := range []string{"rmse", "nlpd", "crps"} {
				s[at] = append(s[at], t.Number(k, column))
			}
			for at, column := range []string{"coverage50", "coverage80", "coverage95"} {
				shares[at] = append(shares[at], t.Number(k, column))
			}
			scores[name], coverage[name] = s, shares
		}
	}
	for _, name := range names {
		s := MethodSummary{Method: name, Runs: len(scores[name][0])}
		for at, x := range []struct{ mean, sd *files.Number }{{&s.RMSE, &s.RMSESD}, {&s.NLPD, &s.NLPDSD}, {&s.CRPS, new(files.Number)}} {
			mean, sd := average.MeanSD(scores[name][at])
			*x.mean, *x.sd = files.Number(mean), files.Number(sd)
		}
		for l := range s.Coverage {
			mean, _ := average.MeanSD(coverage[name][l])
			s.Coverage[l] = files.Number(mean)
		}
		out = append(out, s)
	}
	return out
}

// baselineTable is the table of a run; nil where there is none that can be read.
func baselineTable(dir string) *files.Table {
	d, err := inside.Open(dir)
	if err != nil {
		return nil
	}
	defer d.Close()
	t, err := files.ReadTableIn(d, record.BaselinesFile)
	if err != nil {
		return nil
	}
	return t
}
