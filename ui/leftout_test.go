package ui

import (
	"testing"

	"example.com/kestrel/experiment/record"
	"example.com/kestrel/vbks"
)

// Kernels that a run has left out by itself do not look like those that the user
// has pruned, and what the last evaluation told stands below a run that has ended.
func TestLeftOutIsTold(t *testing.T) {
	events := demoEvents(t, "K12", 3)
	e := events[len(events)-2].Evaluation
	e.Inducing = 128
	for i, reason := range []string{"left out at M = 128", vbks.ByRequest} {
		k := &e.Kernels[i]
		k.Status, k.Reason, k.Fit = vbks.Pruned, reason, nil
	}
	notice := events[len(events)-1]
	notice.Type, notice.Metrics, notice.Notice = record.EventNotice, nil, "128 inducing inputs do not tell these apart\nsecond line"
	events = append(events, notice)
	a := testApp(t, 140, 36, settle(events, record.Finished, "all is done"))
	mustShow(t, screen(a), "pruned: left out at M = 128", "M = 128", "all is done · 128 inducing inputs do not tell these apart")
	mustNotShow(t, screen(a), vbks.ByRequest, "second line")
}
