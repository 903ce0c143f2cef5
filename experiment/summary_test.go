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
		{Type: EventReoptimised, Change: &vbks.Change{Inducing: 800}},
		{Type: EventReoptimised, Change: &vbks.Change{Inducing: 800, Rounds: 1}},
	}
	for n, want := range map[int]string{1: "0, 200 inducing inputs", 2: "0, 200 inducing inputs", 4: "0, 200, then 800 inducing inputs"} {
		var out strings.Builder
		must(t, Summarise(events[:n]).WriteText(&out, time.Time{}))
		if !strings.Contains(out.String(), want) {
			t.Errorf("after %d events no %q in\n%s", n, want, out.String())
		}
	}
}
