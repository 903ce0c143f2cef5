package experiment

import (
	"strings"
	"testing"
	"time"

	"kestrel/datasets"
	"kestrel/vbks"
)

// A summary tells of every number of inducing inputs that a run has had.
func TestSummaryTellsInducingInputs(t *testing.T) {
	events := []Event{
		{Type: EventStarted, Start: &Start{Name: "a", Inducing: 200, Data: &datasets.Summary{}}},
		{Type: EventReoptimised, Change: &vbks.Change{Rounds: 2}},
		{Type: EventReoptimised, Change: &vbks.Change{Inducing: 800}}, // as older logs have it
		{Type: EventReoptimised, Change: &vbks.Change{Inducing: 800, Rounds: 1}, Inducing: 800},
		{Type: EventReoptimised, Change: &vbks.Change{Inducing: 5000}, Inducing: 900},
	}
	for n, want := range map[int]string{1: "inputs 200;", 2: "inputs 200;", 4: "inputs 200, then 800;", 5: "inputs 200, then 800, then 900;"} {
		var out strings.Builder
		must(t, Summarise(events[:n]).WriteText(&out, time.Time{}))
		if !strings.Contains(out.String(), want) {
			t.Errorf("after %d events no %q in\n%s", n, want, out.String())
		}
	}
}
