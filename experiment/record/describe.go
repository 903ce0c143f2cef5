package record

import (
	"fmt"
	"strings"

	"example.com/kestrel/datasets"
	"example.com/kestrel/experiment/words"
	"example.com/kestrel/vbks"
)

// Describe writes an event in one line for a log, "" for one that a log does
// not need. A notice may have several lines; nothing in it steers a terminal.
func Describe(e *Event) string { return datasets.Plain(describe(e)) }

func describe(e *Event) string {
	switch e.Type {
	case EventStarted:
		s := e.Start
		return fmt.Sprintf("run %s: seed %d, %s, %d training and %s, %s, %s; kestrel %s", s.Name, s.Seed,
			words.Count(len(s.Kernels), "kernel"), s.Data.Train, words.Count(s.Data.Test, "test row"),
			words.Count(s.Inducing, "inducing input"), s.Device, s.Build)
	case EventState:
		return fmt.Sprintf("%s: %s", e.State.To, e.State.Reason)
	case EventNotice:
		return e.Notice
	case EventEvaluation:
		return "evaluation " + progressText(e.Evaluation)
	case EventMetrics:
		var parts []string
		for _, m := range e.Metrics {
			parts = append(parts, fmt.Sprintf("%s: rmse %.4g, nlpd %.4g, %s", m.Method, m.RMSE, m.NLPD, coverageText(m.Coverage())))
		}
		return fmt.Sprintf("on %s, %s", words.Count(e.Metrics[0].TestRows, "test row"), strings.Join(parts, "; "))
	case EventPruned:
		return fmt.Sprintf("pruned %s; %s", words.Count(len(e.Kernels), "kernel"), progressText(e.Evaluation))
	case EventRestored:
		return fmt.Sprintf("restored %s; %s", words.Count(len(e.Kernels), "kernel"), progressText(e.Evaluation))
	case EventEntered:
		return describeEntered(e.Entered)
	case EventLeft:
		return words.Count(len(e.Kernels), "kernel") + " gone: " + few(e.Kernels)
	case EventReoptimised:
		return "re-optimising" + describeChange(e.Change)
	case EventData:
		return e.describeData()
	case EventWorkerJoined:
		return fmt.Sprintf("worker %s takes part with %s: %s", e.Worker.Name, words.Count(e.Worker.Lanes, "lane"),
			words.Count(e.Worker.Workers, "worker"))
	case EventWorkerLost:
		return fmt.Sprintf("worker %s is gone: %s left", e.Worker.Name, words.Count(e.Worker.Workers, "worker"))
	case EventResumed:
		return e.Resumed.String()
	}
	return ""
}

// describeData says what has become of the table.
func (e *Event) describeData() string {
	now := e.Start.Data
	if more := now.Train - e.Before.Train; more > 0 {
		return fmt.Sprintf("%s behind the %d that there were, of %s", words.Count(more, "training row"), e.Before.Train, now.Path)
	}
	return "the table is " + now.Path + " from here on"
}

func describeChange(c *vbks.Change) string {
	s := ""
	for _, p := range []struct {
		name  string
		value int
	}{{"steps", c.Steps}, {"inducing", c.Inducing}, {"batch", c.Batch}, {"rounds", c.Rounds}} {
		if p.value > 0 {
			s += fmt.Sprintf(", %s %d", p.name, p.value)
		}
	}
	switch c.Grow {
	case vbks.GrowOn:
		s += "; the space of kernels grows from here on"
	case vbks.GrowOff:
		s += "; the space of kernels grows no more"
	}
	return s
}

// progressText says how far an evaluation is and which kernel leads.
func progressText(e *Evaluation) string {
	s := fmt.Sprintf("%d/%d  %3.0f %% of the data", e.Index, e.Planned, 100*e.Proportion)
	if l := e.Leader(); l != nil {
		s += fmt.Sprintf("  %s  q* %.3f", l.ID, float64(l.Fit.Posterior))
		if n := e.tied(); n > 1 {
			s += fmt.Sprintf("  (%d equal)", n)
		}
	}
	return s
}

// tied counts the kernels that cannot be told from the leader.
func (e *Evaluation) tied() int {
	n := 0
	for i := range e.Kernels {
		if f := e.Kernels[i].Fit; f != nil && (f.Tied || f.Rank == 1) {
			n++
		}
	}
	return n
}
