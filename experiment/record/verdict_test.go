package record

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"example.com/kestrel/datasets"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/files"
	"example.com/kestrel/internal/must"
)

// standing is of a run whose averaged prediction has a CRPS and a coverage, beside
// baselines of such CRPS; below 0: they cannot be had.
func standing(task string, rows int, crps, coverage float64, methods map[string]float64) *Standing {
	b := &Baselines{Task: task, Rows: rows, Scale: 4}
	for _, name := range []string{"naive", "snaive", "theta", "linear", "phase", "mean", "lsq"} {
		v, there := methods[name]
		switch {
		case there && v < 0:
			b.Methods = append(b.Methods, Baseline{Method: name, Label: "the " + name, Reason: "no season is known"})
		case there:
			b.Methods = append(b.Methods, Baseline{Method: name, Label: "the " + name, Score: &BaselineScore{CRPS: files.Number(v), MAE: 8}})
		}
	}
	return &Standing{Start: &Start{Baselines: b}, Metrics: []Metric{{Method: config.MethodAverage, TestRows: rows, MAE: 2,
		CRPS: files.Number(crps), Coverage95: files.Number(coverage)}}}
}

func TestVerdict(t *testing.T) {
	forecast := func(crps float64) *Standing {
		return standing(TaskForecast, 12, crps, .9, map[string]float64{"naive": 3, "snaive": 2, "theta": 1})
	}
	for want, s := range map[string]*Standing{
		"forecast (12 rows): CRPS 60 % better than the snaive, 20 % better than the best of 3 baselines (the theta)": forecast(.8),
		"forecast (12 rows): CRPS 25 % better than the snaive, 50 % worse than the best of 3 baselines (the theta)":  forecast(1.5),
		"forecast (12 rows): CRPS 25 % worse than the snaive, 150 % worse than the best of 3 baselines (the theta): " +
			"do not forecast with this": forecast(2.5),
		"forecast (12 rows): CRPS equal to that of the snaive, 100 % worse than the best of 3 baselines (the theta)": forecast(2.004),
		"forecast (12 rows): CRPS 5 times that of the snaive, 10 times that of the best of 3 baselines (the theta): " +
			"do not forecast with this": forecast(10),
		"forecast (12 rows): CRPS 50 % better than the naive": standing(TaskForecast, 12, 1.5, .9, map[string]float64{"naive": 3, "snaive": -1}),
		"filling gaps between rows (9 rows): CRPS 10 % worse than the linear, the best of 2 baselines: use that": standing(TaskGaps, 9, 1.1, 1,
			map[string]float64{"linear": 1, "phase": 2}),
		"regression (9 rows): CRPS more than 99 % better than the lsq, more than 99 % better than the best of 2 baselines (the mean)": standing(
			TaskRegression, 9, .001, 1, map[string]float64{"lsq": 2, "mean": 1}),
	} {
		if got := s.Verdict(); !slices.Equal(got, []string{want}) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	// Nothing is said without baselines, of other rows, or of a score that is not known.
	none, others, old := forecast(1), forecast(1), forecast(math.NaN())
	none.Start.Baselines = nil
	others.Metrics[0].TestRows = 6
	for name, s := range map[string]*Standing{"none": none, "others": others, "old": old, "nothing": {}} {
		if got := s.Verdict(); got != nil {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// Scores of rows that lie between others are said to be of gaps, of time and of anything.
func TestGapsAreNoForecast(t *testing.T) {
	day := datasets.ColumnSummary{Name: "day", Role: "input", Unit: "s", First: "2024-01-01T00:00:00Z"}
	length := datasets.ColumnSummary{Name: "length", Role: "input"}
	heat := datasets.ColumnSummary{Name: "heat", Role: "target"}
	series := &datasets.Series{}
	for _, c := range []struct {
		what    string
		task    string
		split   string
		series  *datasets.Series
		columns []datasets.ColumnSummary
		want    string
	}{
		{"the last rows of a series", TaskForecast, "x", series, []datasets.ColumnSummary{day, heat}, ""},
		{"rows of a series at random", TaskGaps, "random", series, []datasets.ColumnSummary{day, heat}, "the time to come"},
		{"rows at random that are yet to come", TaskForecast, "random", series, []datasets.ColumnSummary{day, heat}, ""},
		{"steps that are called time", TaskGaps, "mask", series, []datasets.ColumnSummary{length, heat}, "the time to come"},
		{"rows of a table with dates at random", TaskRegression, "random", nil, []datasets.ColumnSummary{day, length, heat}, "the time to come"},
		{"the last rows of a table with dates", TaskRegression, "x", nil, []datasets.ColumnSummary{day, length, heat}, ""},
		{"a table without time", TaskRegression, "random", nil, []datasets.ColumnSummary{length, length, heat}, ""},
		{"lengths", TaskGaps, "random", nil, []datasets.ColumnSummary{length, heat}, "what lies beyond the rows"},
	} {
		s := standing(c.task, 9, 1, .95, map[string]float64{"linear": 2, "lsq": 2, "naive": 2})
		s.Start.Data = &datasets.Summary{Test: 9, SplitBy: c.split, Series: c.series, Columns: c.columns}
		if got := s.Start.NotScored(); got != c.want {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
		said := strings.Contains(strings.Join(s.Verdict(), "\n"), "are of gaps and say nothing of "+c.want)
		if said != (c.want != "") {
			t.Errorf("%s: %q", c.what, s.Verdict())
		}
		if c.task != TaskRegression {
			continue
		}
		s.Start.Baselines = nil // it does not take these to know where rows lie
		if got := s.Start.NotScored(); got != c.want {
			t.Errorf("%s, without baselines: %q, want %q", c.what, got, c.want)
		}
	}
}

func TestVerdictOnCoverage(t *testing.T) {
	for _, x := range []struct {
		rows  int
		share float64
		want  string
	}{
		{19, .1, ""}, {20, .849, "84.9 % lie within the intervals of 95 %: they are too narrow"}, {20, .86, ""}, {99, 1, ""},
		{100, .61, "61 % lie within the intervals of 95 %: they are too narrow"}, {100, .89, "89 % lie within"}, {100, .90, ""},
		{100, .99, ""}, {1000, .997, "99.7 % lie within the intervals of 95 %: they are wider than they need be"}, {1000, math.NaN(), ""},
	} {
		got := strings.Join(standing(TaskGaps, x.rows, 1, x.share, nil).Verdict(), "\n")
		if x.want == "" && got != "" || !strings.Contains(got, x.want) {
			t.Errorf("%v of %d: %q, want %q", x.share, x.rows, got, x.want)
		}
	}
}

// The table has what could be had, scaled; a log gives the same back.
func TestCompare(t *testing.T) {
	s := standing(TaskForecast, 12, 1, .9, map[string]float64{"naive": 3, "snaive": -1})
	percent := files.Number(7)
	s.Metrics[0].SMAPE = &percent
	text, err := json.Marshal(s)
	must.OK(t, err)
	var read Standing
	must.OK(t, json.Unmarshal(text, &read))
	for _, s := range []*Standing{s, &read} {
		all := s.Compare()
		if len(all) != 2 || all[0].MASE != .5 || all[0].Percent != 7 || all[1].Label != "the naive" || all[1].MASE != 2 ||
			!math.IsNaN(float64(all[1].Percent)) || all[1].TestRows != 12 {
			t.Errorf("%+v", all)
		}
		if left := s.Start.LeftOut(); !slices.Equal(left, []string{"the snaive: no season is known"}) {
			t.Errorf("%q", left)
		}
	}
	s.Start = nil // of an old log, which may lack its beginning
	if all := s.Compare(); len(all) != 1 || !math.IsNaN(float64(all[0].MASE)) || s.Start.LeftOut() != nil {
		t.Errorf("%+v", all)
	}
}

// Intervals that hold too much show at 80 % first. By hand, of half the rows: all of 20
// with a probability of 0.8²⁰ = 0.012, of 10 of 0.8¹⁰ = 0.107, 19 or more of 20 of 0.069.
func TestVerdictOnWideIntervals(t *testing.T) {
	for _, c := range []struct {
		rows       int
		in80, in95 float64
		wide       bool
	}{{40, 1, 1, true}, {20, 1, 1, false}, {40, 0.95, 1, false}, {40, 0.8, 1, false}, {14, 1, 1, false}, {10_000, 0.89, 0.95, false},
		{10_000, 0.93, 0.97, true}, {40, 1, 0.8, false}, {40, math.NaN(), 1, false}} {
		m := Metric{TestRows: c.rows, Coverage80: files.Number(c.in80), Coverage95: files.Number(c.in95)}
		if got := m.Intervals() == TooWide; got != c.wide {
			t.Errorf("%+v: %q", c, m.Intervals())
		}
	}
	m := Metric{TestRows: 40, Coverage80: 1, Coverage95: 1}
	if got := coverageVerdict(&m); got !=
		"of the held-out rows 100 % lie within the intervals of 95 %, 100 % in those of 80 %: they are wider than they need be" {
		t.Error(got)
	}
}

// A few rows far out leave nearly all others far within intervals that are made for both; a function that is
// smoother in places has a little more within than it should.
func TestFarOut(t *testing.T) {
	for _, c := range []struct {
		in50, in95 files.Number
		rows       int
		want       bool
	}{
		{0.89, 0.96, 2000, true}, {0.89, 0.96, 60, true}, {0.89, 0.96, 10, false}, // one in twenty ten deviations off
		{0.6, 0.97, 2000, false}, {0.5, 0.95, 2000, false}, {0.89, 1, 2000, false}, // none is far out
	} {
		m := Metric{Coverage50: c.in50, Coverage95: c.in95, TestRows: c.rows}
		if got := m.FarOut(); got != c.want {
			t.Errorf("%v within 50 %%, %v within 95 %%, of %d rows: %v", c.in50, c.in95, c.rows, got)
		}
	}
}
