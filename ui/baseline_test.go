package ui

import (
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
