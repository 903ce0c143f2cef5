package recordtest

import (
	"example.com/kestrel/datasets"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/vbks"
)

// SummaryOf is a summary of data of so many rows.
func SummaryOf(train, test int) *datasets.Summary {
	return &datasets.Summary{Train: train, Test: test}
}

// Eventful is a run in which everything happens, event by event.
func Eventful() []record.Event {
	state := func(from, to record.State, cause record.Cause) record.Event {
		return record.Event{Type: record.EventState, State: &record.StateChange{From: from, To: to, Reason: "because"}, Cause: cause}
	}
	evaluation := func(what record.EventType, index int, kernels ...string) record.Event {
		return record.Event{Type: what, Evaluation: Evaluation(index, 4, 1, []float64{1, 2}), Kernels: kernels}
	}
	metrics := func(rows int) record.Event {
		return record.Event{Type: record.EventMetrics, Metrics: []record.Metric{{Method: config.MethodAverage, TestRows: rows}}}
	}
	events := []record.Event{
		{Type: record.EventStarted, Start: &record.Start{Name: "a", Data: SummaryOf(20, 10), Inducing: 5,
			Kernels: []record.KernelInfo{{ID: "k0"}, {ID: "k1"}}}},
		state(record.Ready, record.Running, ""),
		evaluation(record.EventEvaluation, 1),
		{Type: record.EventNotice, Notice: "kernel k1 failed: so it was", Kernel: "k1"},
		metrics(4),
		state(record.Running, record.Paused, record.CauseDiskFull),
		evaluation(record.EventPruned, 1, "k1"),
		state(record.Paused, record.Running, ""),
		{Type: record.EventReoptimised, Change: &vbks.Change{Inducing: 9}, Inducing: 8},
		{Type: record.EventNotice, Notice: "no row", Cause: record.CauseUnscored},
		evaluation(record.EventEvaluation, 2),
		metrics(10),
		state(record.Running, record.Finished, record.CauseTimeBudget),
		{Type: record.EventFinished, State: &record.StateChange{From: record.Running, To: record.Finished, Reason: "because"}},
		{Type: record.EventReoptimised, Change: &vbks.Change{Rounds: 1}, Inducing: 8, ByItself: true},
	}
	for i := range events {
		events[i].Seconds = files.Number(i)
	}
	return events
}
