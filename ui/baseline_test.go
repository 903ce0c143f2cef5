package ui

import (
	"math"
	"testing"

	"example.com/kestrel/experiment/record"
)

// The error chart has the best baseline for reference, whatever it shows.
func TestErrorChartShowsTheBestBaseline(t *testing.T) {
	events := demoEvents(t, "K12", 8)
	events[0].Start.Baselines = &record.Baselines{Task: record.TaskForecast, Rows: 200, Methods: []record.Baseline{
		{Method: "naive", Label: "naive", Score: &record.BaselineScore{RMSE: .3, MAE: .1, NLPD: 3}},
		{Method: "snaive", Label: "seasonal naive", Reason: "no season is known"},
		{Method: "theta", Label: "Theta", Score: &record.BaselineScore{RMSE: .06, MAE: .2, NLPD: 4}},
	}}
	a := testApp(t, 120, 36, events)
	golden(t, "baseline", screen(a)+"\n")
}

// One that is far worse is only named: the lines keep the chart.
func TestFarBaselineIsOnlyNamed(t *testing.T) {
	lines := [][]float32{{.13, .08, .04}, {.09, .05, .03}}
	for v, want := range map[float64]bool{.06: true, .2: true, .3: false, -.5: false} {
		if got := near(v, lines); got != want {
			t.Errorf("%v: %v", v, got)
		}
	}
	if !near(100, [][]float32{{1}}) {
		t.Error("one point has no range")
	}
}

// Errors that differ in the fourth digit do not look as if one were twice the other.
func TestFlatErrorsLookFlat(t *testing.T) {
	for _, c := range []struct {
		lines [][]float32
		log   bool
		want  []float64
	}{
		{[][]float32{{100, 100.5}, {float32(math.NaN())}}, false, []float64{99.7475, 100.7525}},
		{[][]float32{{100, 102}}, false, nil}, {[][]float32{{100, 100.5}}, true, nil}, {[][]float32{{100}}, false, nil}, {nil, false, nil},
	} {
		got := flat(c.lines, c.log)
		if len(got) != len(c.want) || len(got) > 0 && (math.Abs(got[0]-c.want[0]) > 1e-9 || math.Abs(got[1]-c.want[1]) > 1e-9) {
			t.Errorf("%v: %v, want %v", c.lines, got, c.want)
		}
	}
}
