package ui

import (
	"testing"

	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/vbks"
)

// Where the space grows it is told how far it has come, by which steps a kernel has come, and what each gave; the key
// that lets it grow ends that, but not where it has ended by itself.
func TestGrowingSpaceIsShown(t *testing.T) {
	events := demoEvents(t, "K12", 1)
	start, e := events[0].Start, events[len(events)-2].Evaluation
	if e == nil {
		e = events[2].Evaluation
	}
	start.Grows = true
	way := []string{start.Kernels[0].ID, start.Kernels[1].ID, start.Kernels[2].ID}
	for i, v := range []files.Number{-140, -127.7, -128.2} {
		e.Kernels[i].Fit.ELBO, e.Kernels[i].Fit.Volume = v, 0
	}
	e.Front = &vbks.Front{Leaders: 5, Waiting: 45, Tried: 278, Of: 4.1e6}
	var told []record.Event
	for i := range events {
		if events[i].Evaluation == e {
			told = append(told, record.Event{Type: record.EventEntered, Time: demoTime, Entered: []record.Entered{
				{Kernel: start.Kernels[1], Parent: way[0], Step: "add PER"}, {Kernel: start.Kernels[2], Parent: way[1], Step: "replace SE by RQ"}}})
		}
		told = append(told, events[i])
	}
	a := testApp(t, 160, 45, told)
	mustShow(t, screen(a), "growing, 278 tried, 45 wait")
	b := a.bench
	if !b.growing() {
		t.Error("it grows")
	}
	b.at = kernelPlace
	b.choose(way[2])
	mustShow(t, shown(b, 160, 40), "grown from "+way[0]+", add PER +12.3, replace SE by RQ −0.50 nats")
	over := *e
	over.Index, over.Front = 2, &vbks.Front{Leaders: 5, Tried: 301, Of: 4.1e6, Over: true}
	a = testApp(t, 160, 45, append(told, record.Event{Type: record.EventEvaluation, Time: demoTime, Evaluation: &over}))
	mustShow(t, screen(a), "grown, 301 tried")
	if a.bench.growing() {
		t.Error("it has ended")
	}
}
