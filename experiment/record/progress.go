package record

import (
	"fmt"
	"io"
	"strings"
	"time"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/words"
)

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
		p.say(fmt.Sprintf("run %s: seed %d, %s, M = %d, train %d, test %d", s.Name, s.Seed, words.Count(len(s.Kernels), "kernel"),
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
			if m.Method == config.MethodAverage {
				if p.pending == "" {
					p.say(fmt.Sprintf("on all %s: rmse %.4g, nlpd %.4g, %s", words.Count(m.TestRows, "test row"), float64(m.RMSE),
						float64(m.NLPD), coverageText(m.Coverage())))
					continue
				}
				p.flush(fmt.Sprintf("  rmse %-8.4g", float64(m.RMSE)))
			}
		}
	case EventReoptimised, EventResumed, EventData, EventWorkerJoined, EventWorkerLost:
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
	if each := Pace(float64(p.run.Worked), p.run.Made); each > 0 {
		if each < 10*time.Second {
			line += fmt.Sprintf("  %.2gs each", each.Seconds())
		} else {
			line += "  " + words.ShortDuration(each) + " each"
		}
		if eta, ok := p.run.Left(time.Duration(float64(p.run.Seconds)*float64(time.Second)), 0); ok {
			line += "  ETA " + words.ShortDuration(eta)
		}
	}
	p.say(line)
}

func (p *Progress) say(line string) {
	if !p.Quiet {
		fmt.Fprintln(p.Out, words.PlainLine(line))
	}
}
