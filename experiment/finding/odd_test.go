package finding

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"example.com/kestrel/datasets"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/internal/thorough"
	"example.com/kestrel/vbks"
)

// Records of older versions, and those that no run writes, are put into words or not,
// but break nothing.
func TestOddRecords(t *testing.T) {
	thorough.Unraced(t)
	rng := rand.New(rand.NewPCG(1, 2))
	pick := func(all ...string) string { return all[rng.IntN(len(all))] }
	number := func() files.Number {
		return files.Number([]float64{0, 1, -3, 1e300, -1e300, 1e-300, math.NaN(), math.Inf(1), math.Inf(-1), 0.5}[rng.IntN(10)])
	}
	names := []string{"SE", "PER*LIN", "RQ+CONST", "WN", "LIN*LIN", "IRW", "RW*PER", "POLY2", "COS", "SE[x]",
		"CHANGE(SE,LIN)", "no kernel", "", "SE[9]", "CP(SE,LIN)", "CAT[x]*SE", "MATERN12"}
	for range 20000 {
		s := &record.Standing{State: record.State(pick("ready", "running", "paused", "stopped", "finished", "failed", "x")),
			Start: &record.Start{Data: &datasets.Summary{Train: rng.IntN(30), Test: rng.IntN(30), StandardiseY: pick("", "full")}}}
		for range rng.IntN(4) {
			s.Start.Data.Columns = append(s.Start.Data.Columns, datasets.ColumnSummary{Name: pick("x", "y", "a\x1b[31m\n", ""),
				Unit: pick("", "d", "s", "m"), First: pick("", "2022-01-01T00:00:00Z", "never"), Min: float64(number()), Max: float64(number())})
		}
		e := &record.Evaluation{Proportion: rng.Float64(), RowsSeen: rng.IntN(30)}
		for i := range rng.IntN(4) {
			id := names[rng.IntN(len(names))] + strings.Repeat(" ", i)
			k := record.Kernel{ID: id, Status: vbks.Live}
			if rng.IntN(4) > 0 {
				k.Fit = &record.Fit{Rank: i + rng.IntN(2), Posterior: number(), ELBO: number(), SE: number(), Tied: rng.IntN(2) == 0}
				if rng.IntN(2) == 0 {
					k.Fit.Evidence = &record.Evidence{Lower: number(), Upper: number()}
				}
				for range rng.IntN(7) {
					k.Fit.Params = append(k.Fit.Params, number())
				}
			}
			if rng.IntN(5) > 0 {
				info := record.KernelInfo{ID: id, Name: pick("", id)}
				for range rng.IntN(7) {
					info.Params = append(info.Params, record.ParamInfo{Name: pick("SE.lengthscale", "CP.location", "x"), Unit: pick("", "d", "m"),
						Column: pick("", "x")})
				}
				if k.Fit != nil && rng.IntN(2) == 0 && len(k.Fit.Params) <= len(info.Params) {
					info.Params = info.Params[:len(k.Fit.Params)]
				}
				s.Start.Kernels = append(s.Start.Kernels, info)
			}
			e.Kernels = append(e.Kernels, k)
		}
		s.Evaluation = e
		if rng.IntN(2) == 0 {
			s.Metrics = []record.Metric{{Method: config.MethodAverage, TestRows: 5, CRPS: number(), RMSE: number(), Coverage95: number()}}
			s.Start.Baselines = &record.Baselines{Task: pick(record.TaskForecast, record.TaskGaps, record.TaskRegression, ""), Rows: 5,
				Methods: []record.Baseline{{Method: pick("naive", "lsq", "linear")}, baseline(pick("naive", "lsq", "linear"), "b", float64(number()))}}
		}
		if text := Of(s, "").Text(); strings.Contains(text, "%!") {
			t.Fatalf("%s\n%+v", text, s)
		}
	}
}
