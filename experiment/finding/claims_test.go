package finding

import (
	"strconv"
	"strings"
	"testing"

	"example.com/kestrel/datasets"
	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/vbks"
)

// Each sentence is true of what is known, and a sentence.
func TestClaims(t *testing.T) {
	plain := func(change func(*record.Standing, *record.Fit), others ...record.Fit) scene {
		return scene{steps, "SE", []files.Number{4, 3, 0.01}, 300, 400, others, change}
	}
	forecast := func(own, other float64) func(*record.Standing, *record.Fit) {
		return func(s *record.Standing, _ *record.Fit) {
			scored(s, record.TaskForecast, own, 0.95, baseline("naive", "naive", other))
		}
	}
	belief := func(p float64) func(*record.Standing, *record.Fit) {
		return func(_ *record.Standing, f *record.Fit) { f.Posterior = files.Number(p) }
	}
	apart := record.Fit{Apart: true, ELBO: -40, Evidence: &record.Evidence{Upper: 3}}
	open := record.Fit{ELBO: -4, Evidence: &record.Evidence{Upper: 9}}
	for _, c := range []struct {
		what  string
		scene scene
		has   string
		not   string
	}{
		{"neither errs", plain(forecast(0, 0)), "The CRPS of forecasts is equal to that of naive.", "Do not trust"},
		{"as good as the best of two", plain(func(s *record.Standing, _ *record.Fit) {
			scored(s, record.TaskForecast, 1, 0.95, baseline("naive", "naive", 2), baseline("ets", "exponential smoothing", 1))
		}), "Forecasts 50 % better than naive and as well as the best of 2 baselines, exponential smoothing (CRPS).", ""},
		{"nothing is better than what needs no thought", plain(func(s *record.Standing, _ *record.Fit) {
			scored(s, record.TaskForecast, 1, 0.95, baseline("naive", "naive", 2), baseline("ets", "exponential smoothing", 4))
		}), "Forecasts 50 % better than naive, the best of 2 baselines (CRPS).", ""},
		{"worse than both", plain(func(s *record.Standing, _ *record.Fit) {
			scored(s, record.TaskForecast, 3, 0.95, baseline("naive", "naive", 2), baseline("ets", "exponential smoothing", 1.5))
		}), "Forecasts 50 % worse than naive and 100 % worse than exponential smoothing (CRPS).", "but 100"},
		{"far worse than both", plain(func(s *record.Standing, _ *record.Fit) {
			scored(s, record.TaskForecast, 10, 0.95, baseline("naive", "naive", 2), baseline("ets", "exponential smoothing", 1))
		}), "The CRPS of forecasts is 5 times that of naive and 10 times that of exponential smoothing.", "but 10"},
		{"better than one, worse than the other", plain(func(s *record.Standing, _ *record.Fit) {
			scored(s, record.TaskForecast, 1.5, 0.95, baseline("naive", "naive", 2), baseline("ets", "exponential smoothing", 1))
		}), "Forecasts 25 % better than naive, but 50 % worse than exponential smoothing (CRPS).", ""},
		{"better than one, far worse than the other", plain(func(s *record.Standing, _ *record.Fit) {
			scored(s, record.TaskForecast, 1.5, 0.95, baseline("naive", "naive", 2), baseline("ets", "exponential smoothing", 0.25))
		}), "Forecasts 25 % better than naive; the CRPS is 6 times that of exponential smoothing.", "(CRPS)"},
		{"the baseline does not err", plain(forecast(1, 0)), "The CRPS of forecasts is not 0 as that of naive.", "Forecasts"},
		{"far worse", plain(forecast(5, 1)), "The CRPS of forecasts is 5 times that of naive.", "Forecasts"},
		{"better", plain(forecast(1, 2)), "Forecasts 50 % better than naive (CRPS).", ""},
		{"intervals that hold all", plain(func(s *record.Standing, _ *record.Fit) {
			scored(s, record.TaskForecast, 1, 1, baseline("naive", "naive", 2))
			s.Metrics[0].Coverage80 = 1
		}), "100 % of 50 held-out rows in the 95 % interval, 100 % in those of 80 %: intervals wider than they need be.", "Do not trust"},
		{"nearly all of the belief", plain(belief(0.99996), apart), "with more than 99.9 % of the belief (q*)", "100"},
		{"all of the belief", plain(belief(1), apart), "with 100 % of the belief (q*)", ""},
		{"the others were pruned by hand", plain(func(s *record.Standing, _ *record.Fit) {
			s.Evaluation.Kernels[1].Fit, s.Evaluation.Kernels[1].Status = nil, vbks.Pruned
		}, apart), "It is the only one left of 2 kernels.", "leads"},
		{"a kernel between those that may lead", plain(nil, apart, open),
			"re-optimise (kestrel resume runs/a, then r) the first three with 128 inducing inputs", ""},
	} {
		f := Of(c.scene.standing(t), "runs/a")
		if text := f.Text(); !strings.Contains(text, c.has) || c.not != "" && strings.Contains(text, c.not) {
			t.Errorf("%s: %s\nwant %q and not %q", c.what, text, c.has, c.not)
		}
	}
}

// However little room there is, a baseline that does as well is not kept from who reads what
// the prediction is better than.
func TestNoBetterInBrief(t *testing.T) {
	c := scene{steps, "SE", []files.Number{4, 3, 0.01}, 300, 400, nil, func(s *record.Standing, _ *record.Fit) {
		scored(s, record.TaskForecast, 1, 0.95, baseline("naive", "naive", 2), baseline("ets", "exponential smoothing", 1))
	}}
	const better = "Forecasts 50 % better than naive, no better than the best of 2 baselines (CRPS)."
	if f := Of(c.standing(t), "runs/a"); f.compared != better {
		t.Errorf("in brief: %s\nwant %s", f.compared, better)
	}
	c.change = func(s *record.Standing, _ *record.Fit) {
		scored(s, record.TaskGaps, 5, 0.95, baseline("linear", "linear interpolation", 1))
	}
	if f, want := Of(c.standing(t), "runs/a"), "Its CRPS is 5 times that of linear interpolation."; f.compared != want {
		t.Errorf("in brief: %s\nwant %s", f.compared, want)
	}
}

// What nobody works at any more is not waited for, whatever its log says last.
func TestNobodyGoesOn(t *testing.T) {
	for _, state := range []record.State{record.Running, record.Paused, record.Stopping} {
		c := scene{steps, "SE", []files.Number{4, 3, 0.01}, 300, 400, nil, func(s *record.Standing, _ *record.Fit) {
			s.State, s.Evaluation.Proportion = state, 0.5
		}}
		s := c.standing(t)
		if got, want := As(s, "crashed", "runs/a b").Next, "Next: kestrel resume 'runs/a b' (or R) for the other 50 % of the data."; got != want {
			t.Errorf("%s: %q, want %q", state, got, want)
		}
		s.Evaluation.Proportion, s.Evaluation.Planned = 1, s.Evaluation.Index+2
		if got, want := As(s, "crashed", "runs/a b").Next, "Next: kestrel resume 'runs/a b' (or R) for the last evaluations."; got != want {
			t.Errorf("%s, all data in: %q, want %q", state, got, want)
		}
		if s.State != state || As(s, state, "") != Of(s, "") {
			t.Errorf("%s has become %s", state, s.State)
		}
	}
}

// How far a forecast is worth it is told as people tell it, where the length of a step is known, and
// never much farther than what was held out.
func TestHorizons(t *testing.T) {
	for _, c := range []struct {
		spacing, unit string
		held          int
		want          string
	}{
		{"", "d", 41, "41"}, {"1", "d", 41, "1mo"}, {"7", "d", 24, "6mo"}, {"0.01388888", "d", 31, "12h"},
		{"30.4", "d", 12, "1y"}, {"1", "d", 1, "1"},
		{"1", "d", 7, "1w"}, {"1", "d", 5, "2d"}, {"3600", "s", 48, "2d"},
	} {
		columns := []datasets.ColumnSummary{days[0], days[1]}
		columns[0].Unit = c.unit
		columns[0].Spacing, _ = strconv.ParseFloat(c.spacing, 64)
		s := scene{columns, "LIN", []files.Number{1, 1, 4}, 300, 400, nil, func(s *record.Standing, _ *record.Fit) {
			s.Start.Data.Test, s.Start.Data.Series = c.held, &datasets.Series{}
			scored(s, record.TaskForecast, 1, 0.95, baseline("naive", "naive", 2))
		}}
		if got := Of(s.standing(t), "r").Command; got != "kestrel predict r --horizon "+c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}
