package experiment

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"kestrel/vbks"
)

// absolute returns the absolute form of a path, or the path if there is none.
func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// Describe writes an event in one line for a log, "" for one that a log does
// not need.
func Describe(e *Event) string {
	switch e.Type {
	case EventStarted:
		s := e.Start
		return fmt.Sprintf("run %s: seed %d, %d kernels, %d training and %d test rows, %d inducing inputs, %s; kestrel %s",
			s.Name, s.Seed, len(s.Kernels), s.Data.Train, s.Data.Test, s.Inducing, s.Device, s.Build)
	case EventState:
		return fmt.Sprintf("%s: %s", e.State.To, e.State.Reason)
	case EventNotice:
		return e.Notice
	case EventEvaluation:
		return "evaluation " + progressText(e.Evaluation)
	case EventMetrics:
		var parts []string
		for _, m := range e.Metrics {
			parts = append(parts, fmt.Sprintf("%s: rmse %.4g, nlpd %.4g, coverage %.3f", m.Method, m.RMSE, m.NLPD, m.Coverage95))
		}
		return fmt.Sprintf("on %d test rows, %s", e.Metrics[0].TestRows, strings.Join(parts, "; "))
	case EventPruned:
		return fmt.Sprintf("pruned %d kernels; %s", len(e.Kernels), progressText(e.Evaluation))
	case EventRestored:
		return fmt.Sprintf("restored %d kernels; %s", len(e.Kernels), progressText(e.Evaluation))
	case EventReoptimised:
		return "re-optimising" + describeChange(e.Change)
	}
	return ""
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

// Progress is a Recorder that writes a line for each evaluation.
type Progress struct {
	Out   io.Writer
	Quiet bool // only what went wrong

	pending string // the line of an evaluation whose metrics are to come
	index   int
	seconds float64
	planned int
	made    int

	untested bool // there are no test rows, so no metrics come
}

// Record implements Recorder. It does not fail: a closed terminal ends no run.
func (p *Progress) Record(e *Event) error {
	switch e.Type {
	case EventStarted:
		p.untested = e.Start.Data.Test == 0
		p.say(Describe(e))
	case EventNotice:
		p.flush("")
		p.say("note: " + strings.SplitN(e.Notice, "\n", 2)[0])
	case EventEvaluation, EventPruned, EventRestored:
		p.flush("")
		if e.Type == EventEvaluation {
			p.made++
		}
		p.index, p.planned = e.Evaluation.Index, e.Evaluation.Planned
		p.seconds = float64(e.Seconds)
		p.pending = progressText(e.Evaluation)
		if e.Type != EventEvaluation {
			p.pending += fmt.Sprintf("  after %s %d kernels", strings.TrimSuffix(strings.TrimSuffix(string(e.Type), "ed"), "e")+"ing", len(e.Kernels))
		}
		if p.untested {
			p.flush("")
		}
	case EventMetrics:
		for _, m := range e.Metrics {
			if m.Method == MethodAverage {
				if p.pending == "" {
					p.say(fmt.Sprintf("on all %d test rows  rmse %.4g  nlpd %.4g  coverage %.3f", m.TestRows, float64(m.RMSE), float64(m.NLPD), float64(m.Coverage95)))
					continue
				}
				p.flush(fmt.Sprintf("  rmse %.4g", float64(m.RMSE)))
			}
		}
	case EventReoptimised:
		p.flush("")
		p.say(Describe(e))
	case EventState:
		p.flush("")
		if e.State.To != Running || e.State.From != Ready {
			p.say(Describe(e))
		}
	}
	return nil
}

// flush writes the line that waits for its metrics, with rate and time left.
func (p *Progress) flush(metrics string) {
	if p.pending == "" {
		return
	}
	line := p.pending + metrics
	p.pending = ""
	if p.made > 0 && p.seconds > 0 {
		line += fmt.Sprintf("  %.3g s each", p.seconds/float64(p.made))
		if left := p.planned - p.index; left > 0 {
			eta := time.Duration(float64(left) * p.seconds / float64(p.made) * float64(time.Second))
			line += "  ETA " + shortDuration(eta)
		}
	}
	p.say(line)
}

func (p *Progress) say(line string) {
	if !p.Quiet {
		fmt.Fprintln(p.Out, line)
	}
}

// shortDuration writes a time with as many digits as matter.
func shortDuration(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.1fs", d.Seconds())
	case d < time.Hour:
		return d.Round(time.Second).String()
	}
	return d.Round(time.Minute).String()
}
