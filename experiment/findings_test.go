package experiment_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/runtest"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/internal/thorough"
)

// folder returns the folder that a variable names, else one beside the
// repository.
func folder(variable, name string) string {
	if dir := os.Getenv(variable); dir != "" {
		return dir
	}
	return filepath.Join("..", "..", "shared", name)
}

// finding is what published searches found in a series.
type finding struct {
	Series        string
	Data          string
	Extrapolation struct {
		RMSE, NLPD map[string]float64
	}
	Period struct{ Period float64 }
}

// A small search of the real series finds the published period, to 0.3 %, and
// forecasts their last tenth better than the published straight line.
func TestGoldenFindings(t *testing.T) {
	thorough.Unraced(t)
	files, _ := filepath.Glob(filepath.Join(folder("KESTREL_GOLDEN", "golden"), "*.json"))
	met := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		must.OK(t, err)
		var f struct {
			Schema string
			Series []finding
		}
		if json.Unmarshal(text, &f) != nil || f.Schema != "vbks-findings/1" {
			continue
		}
		for _, s := range f.Series {
			path := filepath.Join(folder("KESTREL_DATA", "data"), s.Data)
			if _, err := os.Stat(path); err != nil {
				t.Skipf("%s is not there", s.Data)
			}
			met++
			t.Run(s.Series, func(t *testing.T) { s.check(t, path) })
		}
	}
	if met == 0 {
		t.Skip("no file of schema vbks-findings/1 in the golden folder")
	}
}

func (f finding) check(t *testing.T, path string) {
	var set []config.Override
	for _, s := range []string{
		"data.inputs=x", "data.split_by=x", "data.test=0.1", "sparse.inducing=48",
		"kernels.expressions=PER*SE+SE+RQ,PER*LIN+SE,PER+LIN+SE+RQ,LIN+SE", "optimise.starts=3",
		"schedule.evaluate_every=0.5", "schedule.refine=1",
	} {
		o, err := config.ParseOverride(s)
		must.OK(t, err)
		set = append(set, o)
	}
	c, err := config.ForTable(path, "y", set)
	must.OK(t, err)
	var start *record.Start
	var last *record.Evaluation
	var score *record.Metric
	_, s := runtest.In(t, c, filepath.Join(t.TempDir(), "run"), record.RecorderFunc(func(e *record.Event) error {
		if e.Start != nil {
			start = e.Start
		}
		if e.Evaluation != nil {
			last = e.Evaluation
		}
		for i := range e.Metrics {
			if e.Metrics[i].Method == "vbks" {
				score = &e.Metrics[i]
			}
		}
		return nil
	}))
	if s.State != record.Finished || last == nil || score == nil {
		t.Fatalf("%s: %s", s.State, s.Reason)
	}
	nearest := math.Inf(1)
	for i, p := range start.Kernels[leaderIndex(last)].Params {
		if strings.HasSuffix(p.Name, ".period") {
			value := float64(last.Leader().Fit.Params[i])
			nearest = math.Min(nearest, math.Abs(value/f.Period.Period-1))
		}
	}
	if nearest > 0.003 {
		t.Errorf("the leader's period is %.2g %% off the published one", 100*nearest)
	}
	if worst := f.Extrapolation.RMSE["LIN"]; float64(score.RMSE) > worst {
		t.Errorf("RMSE %g, the published straight line has %g", score.RMSE, worst)
	}
	t.Logf("RMSE %.4g, NLPD %.4g", score.RMSE, score.NLPD)
}

// leaderIndex returns the place of the kernel ranked first.
func leaderIndex(e *record.Evaluation) int {
	return slices.IndexFunc(e.Kernels, func(k record.Kernel) bool { return k.Fit != nil && k.Fit.Rank == 1 })
}

// With a little noise and enough inducing inputs the true kernel is found. One
// reduced seed; the tables of the full experiment are made by "kestrel study".
func TestTrueKernelIsFound(t *testing.T) {
	thorough.Unraced(t)
	var set []config.Override
	for _, s := range []string{
		"data.noise=0.1", "sparse.inducing=32", "data.outputs=400", "optimise.starts=4",
		"schedule.evaluate_every=0.5", "schedule.refine=1",
		"kernels.expressions=LIN+RQ,PER+RQ+SE,PER*SE+SE,PER*LIN+SE,(PER+RQ)*LIN,LIN*RQ+PER",
	} {
		o, err := config.ParseOverride(s)
		must.OK(t, err)
		set = append(set, o)
	}
	c, err := config.Load("fig1b", set)
	must.OK(t, err)
	var last *record.Evaluation
	_, s := runtest.In(t, c, filepath.Join(t.TempDir(), "run"), record.RecorderFunc(func(e *record.Event) error {
		if e.Evaluation != nil {
			last = e.Evaluation
		}
		return nil
	}))
	if s.State != record.Finished {
		t.Fatalf("%s: %s", s.State, s.Reason)
	}
	truth, best := math.NaN(), math.Inf(-1)
	for _, k := range last.Kernels {
		best = math.Max(best, float64(k.Fit.ELBO))
		if k.ID == "(PER+RQ)*LIN" {
			truth = float64(k.Fit.ELBO)
		}
	}
	if !(truth > best-1) {
		t.Errorf("the true kernel has a local ELBO of %g, the leader %g", truth, best)
	}
}
