package record

import (
	"strings"
	"testing"
	"unicode/utf8"

	"example.com/kestrel/datasets"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/vbks"
)

// The lines of a long run with many kernels fit a terminal of 80 columns; a
// notice does not tear an evaluation from its metrics.
func TestProgressLines(t *testing.T) {
	var out strings.Builder
	p := &Progress{Out: &out}
	start := &Start{Name: "swissgrid-small", Seed: 1, Inducing: 200, Data: &datasets.Summary{Train: 190336, Test: 20000},
		Device: "cpu (amd64, 2 cores)"}
	e := &Evaluation{Index: 9, Planned: 22, Proportion: 0.45}
	for _, id := range []string{"SE", "PER*LIN*RQ", "(PER+LIN)*RQ"} {
		start.Kernels = append(start.Kernels, KernelInfo{ID: id})
		e.Kernels = append(e.Kernels, Kernel{ID: id, Status: vbks.Live, Fit: &Fit{Rank: len(start.Kernels), Tied: true, Posterior: 0.25}})
	}
	e.Kernels[0].Fit.Rank, e.Kernels[2].Fit.Rank = 3, 1
	for _, ev := range []*Event{
		{Type: EventStarted, Start: start},
		{Type: EventEvaluation, Evaluation: e, Seconds: 8.25},
		{Type: EventNotice, Notice: "first\nsecond"},
		{Type: EventMetrics, Metrics: []Metric{{Method: config.MethodAverage, RMSE: 0.0012345678, TestRows: 2000}}},
		{Type: EventEvaluation, Evaluation: e, Seconds: 2 * 125},
		{Type: EventMetrics, Metrics: []Metric{{Method: config.MethodAverage, RMSE: 105.25, TestRows: 2000}}},
		{Type: EventState, State: &StateChange{From: Running, To: Failed, Reason: "for the caller to say"}},
	} {
		if err := p.Record(ev); err != nil {
			t.Fatal(err)
		}
	}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(lines) != 5 {
		t.Fatalf("%d lines:\n%s", len(lines), out.String())
	}
	for i, line := range lines {
		if n := utf8.RuneCountInString(line); n > 80 && i != 1 { // line 1 is the build
			t.Errorf("%d columns: %s", n, line)
		}
	}
	want := []string{
		"run swissgrid-small: seed 1, 3 kernels, M = 200, train 190336, test 20000", "",
		"note: first",
		" 9/22  45%  (PER+LIN)*RQ  q* 0.250  3 tied  rmse 0.001235  8.2s each  ETA 1m47s",
		" 9/22  45%  (PER+LIN)*RQ  q* 0.250  3 tied  rmse 105.2     2m5s each  ETA 29m54s",
	}
	for i, w := range want {
		if i != 1 && lines[i] != w {
			t.Errorf("line %d:\n got %s\nwant %s", i+1, lines[i], w)
		}
	}
}
