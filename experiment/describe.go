package experiment

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"kestrel/datasets"
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
// not need. A notice may have several lines; nothing in it steers a terminal.
func Describe(e *Event) string { return datasets.Plain(describe(e)) }

func describe(e *Event) string {
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
			parts = append(parts, fmt.Sprintf("%s: rmse %.4g, nlpd %.4g, %s", m.Method, m.RMSE, m.NLPD, coverageText(m.Coverage())))
		}
		return fmt.Sprintf("on %d test rows, %s", e.Metrics[0].TestRows, strings.Join(parts, "; "))
	case EventPruned:
		return fmt.Sprintf("pruned %d kernels; %s", len(e.Kernels), progressText(e.Evaluation))
	case EventRestored:
		return fmt.Sprintf("restored %d kernels; %s", len(e.Kernels), progressText(e.Evaluation))
	case EventReoptimised:
		return "re-optimising" + describeChange(e.Change)
	case EventResumed:
		return e.Resumed.String()
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

// Progress is a Recorder that writes a line for each evaluation, at most 80
// characters wide unless a kernel's name is long. How a run failed is for the
// caller to say.
type Progress struct {
	Out   io.Writer
	Quiet bool // only what went wrong

	run     Standing
	width   int    // of the kernels' names
	pending string // the line of an evaluation whose metrics are to come
}

// widest is the widest column of kernels.
const widest = 24

// Record implements Recorder. It does not fail: a closed terminal ends no run.
func (p *Progress) Record(e *Event) error {
	if e.Evaluation != nil {
		p.flush("")
	}
	p.run.Apply(e)
	switch e.Type {
	case EventStarted:
		s := e.Start
		for _, k := range s.Kernels {
			p.width = max(p.width, len(k.ID))
		}
		p.width = min(p.width, widest)
		p.say(fmt.Sprintf("run %s: seed %d, %s, M = %d, train %d, test %d", s.Name, s.Seed, count(len(s.Kernels), "kernel"),
			s.Inducing, s.Data.Train, s.Data.Test))
		p.say(fmt.Sprintf("kestrel %s on %s", s.Build, s.Device))
	case EventNotice:
		// It is about the evaluation whose metrics are still to come.
		p.say("note: " + strings.SplitN(e.Notice, "\n", 2)[0])
	case EventEvaluation, EventPruned, EventRestored:
		p.pending = p.line(e.Evaluation)
		switch e.Type {
		case EventPruned:
			p.pending += fmt.Sprintf("  %d pruned", len(e.Kernels))
		case EventRestored:
			p.pending += fmt.Sprintf("  %d restored", len(e.Kernels))
		}
		if s := p.run.Start; s != nil && s.Data.Test == 0 { // no metrics come
			p.flush("")
		}
	case EventMetrics:
		for _, m := range e.Metrics {
			if m.Method == MethodAverage {
				if p.pending == "" {
					p.say(fmt.Sprintf("on all %d test rows: rmse %.4g, nlpd %.4g, %s", m.TestRows, float64(m.RMSE), float64(m.NLPD), coverageText(m.Coverage())))
					continue
				}
				p.flush(fmt.Sprintf("  rmse %-8.4g", float64(m.RMSE)))
			}
		}
	case EventReoptimised, EventResumed:
		p.flush("")
		p.say(Describe(e))
	case EventState:
		p.flush("")
		switch to := e.State.To; {
		case to == Running && e.State.From == Ready, to == Stopping, to == Failed:
		default:
			p.say(Describe(e))
		}
	}
	return nil
}

// line says how far an evaluation is and which kernel leads: its posterior,
// and how many kernels are equal to it, itself included.
func (p *Progress) line(e *Evaluation) string {
	s := fmt.Sprintf("%*d/%d %3.0f%%", len(fmt.Sprint(e.Planned)), e.Index, e.Planned, 100*e.Proportion)
	if l := e.Leader(); l != nil {
		s += fmt.Sprintf("  %-*s  q* %.3f", p.width, l.ID, float64(l.Fit.Posterior))
		if n := e.tied(); n > 1 {
			s += fmt.Sprintf("  %d tied", n)
		}
	}
	return s
}

// flush writes the line that waits for its metrics, with rate and time left.
func (p *Progress) flush(metrics string) {
	if p.pending == "" {
		return
	}
	line := p.pending + metrics
	p.pending = ""
	last := p.run.Evaluation
	if each, eta := Pace(float64(p.run.Worked), p.run.Made, last.Planned-last.Index); each > 0 {
		if each < 10*time.Second {
			line += fmt.Sprintf("  %.2gs each", each.Seconds())
		} else {
			line += "  " + shortDuration(each) + " each"
		}
		if eta > 0 {
			line += "  ETA " + shortDuration(eta)
		}
	}
	p.say(line)
}

func (p *Progress) say(line string) {
	if !p.Quiet {
		fmt.Fprintln(p.Out, PlainLine(line))
	}
}

// count writes a number of things.
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
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
