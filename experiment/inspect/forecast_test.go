package inspect_test

import (
	"math"
	"path/filepath"
	"testing"

	"example.com/kestrel/experiment"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/internal/thorough"
)

// The forecast of a pruning is what the pruning gives.
func TestForecast(t *testing.T) {
	thorough.Unraced(t)
	var overrides []config.Override
	for _, s := range []string{"data.outputs=80", "data.test=20", "sparse.inducing=8", "optimise.starts=1", "schedule.evaluate_every=0.5",
		"schedule.refine=0", "kernels.weights={SE=3.0}", "kernels.expressions=SE,LIN,PER,RQ,SE+LIN,PER*SE"} {
		o, err := config.ParseOverride(s)
		if err != nil {
			t.Fatal(err)
		}
		overrides = append(overrides, o)
	}
	c, err := config.Load("quickstart", overrides)
	if err != nil {
		t.Fatal(err)
	}
	s, err := experiment.Begin(t.Context(), c, filepath.Join(t.TempDir(), "run"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	end, err := s.Run.Drive(t.Context(), record.Course{})
	if err != nil {
		t.Fatal(err)
	}
	for _, keep := range []int{4, 2, 1} {
		e := end.Evaluation
		drop := map[string]bool{}
		for _, id := range e.Below(keep) {
			drop[id] = true
		}
		var ids []string
		for i := range e.Kernels {
			if k := &e.Kernels[i]; k.Fit != nil && !drop[k.ID] {
				ids = append(ids, k.ID)
			}
		}
		i, err := s.Run.Inspect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		q, err := i.Forecast(t.Context(), ids)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := i.Forecast(t.Context(), []string{ids[0], "nothing"}); err == nil {
			t.Error("a kernel that is not live has a forecast")
		}
		if err := i.Close(); err != nil {
			t.Fatal(err)
		}
		if err := s.Run.Prune(e.Below(keep)); err != nil {
			t.Fatal(err)
		}
		end = s.Run.Snapshot()
		at := 0
		for i := range end.Evaluation.Kernels {
			k := &end.Evaluation.Kernels[i]
			if k.Fit == nil {
				continue
			}
			t.Log(keep, k.ID, q[at], k.Fit.Posterior)
			if ids[at] != k.ID || math.Abs(q[at]-float64(k.Fit.Posterior)) > 0.002 {
				t.Errorf("%d stay: %s has %v, %v was told for %s", keep, k.ID, k.Fit.Posterior, q[at], ids[at])
			}
			at++
		}
	}
}
