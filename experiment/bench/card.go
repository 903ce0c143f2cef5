package bench

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// CardReport is what a card has shown: one page, which can be sent to who makes this program.
type CardReport struct {
	Program string      `json:"program"`
	Card    string      `json:"card"`
	Details string      `json:"details"` // in a line
	CPU     string      `json:"cpu"`     // that it was compared with
	Parts   []CardPart  `json:"parts"`
	Speeds  []CardSpeed `json:"speeds,omitempty"`
	Peak    float64     `json:"peak_gflops,omitempty"` // FP64, at the highest clock, by the makers' figures
	Wrong   string      `json:"wrong,omitempty"`       // the first thing that is; "" where the card has passed
	MayPass bool        `json:"may_pass,omitempty"`    // what is wrong need not be so the next time, and is not kept
	Notices []string    `json:"notices,omitempty"`
}

// CardPart is a part of the check.
type CardPart struct {
	Name    string  `json:"name"`
	Found   string  `json:"found,omitempty"`
	Wrong   string  `json:"wrong,omitempty"`
	Seconds float64 `json:"seconds"`
}

// CardSpeed is what a step of Adam, or the collapsed bound of all rows with its gradient, takes on the card and
// on all cores of the CPU.
type CardSpeed struct {
	Work    string   `json:"work"`
	Step    string   `json:"step"` // as of a Case
	Kernels int      `json:"kernels"`
	M       int      `json:"M"`
	B       int      `json:"B,omitempty"` // of a step
	N       int      `json:"N"`
	Card    float64  `json:"card_ms"`
	CPU     float64  `json:"cpu_ms"`
	GFLOPS  float64  `json:"gflops"`
	Share   *float64 `json:"peak_fraction,omitempty"` // nil where the peak is not known
}

// what names what was timed.
func (s *CardSpeed) what() string {
	if s.Step == boundStep {
		return fmt.Sprintf("bound, %s, %3d kernels, M=%3d, N=%4d", s.Work, s.Kernels, s.M, s.N)
	}
	return fmt.Sprintf("adam,  %s, %3d kernels, M=%3d, B=%4d", s.Work, s.Kernels, s.M, s.B)
}

// mostUnheard is for how long a stop may go unheard.
const mostUnheard = 100 * time.Millisecond

// late says what is wrong with how a stop is heard, "" if nothing; a single step that takes longer than it may
// go unheard cannot be cut.
func (w Waits) late(unheard time.Duration) string {
	if most := max(unheard, 2*w.Step); w.Longest > most {
		return fmt.Sprintf("a stop is heard after %s, %s is the most that it may take",
			w.Longest.Round(time.Millisecond), most.Round(time.Millisecond))
	}
	return ""
}

// WriteText writes the page.
func (r *CardReport) WriteText(w io.Writer) error {
	var err error
	line := func(format string, args ...any) {
		_, e := fmt.Fprintf(w, format+"\n", args...)
		err = errors.Join(err, e)
	}
	line("Check of %s", r.Card)
	line("program  %s\ncard     %s\nCPU      %s\n", r.Program, r.Details, r.CPU)
	for _, p := range r.Parts {
		state, said := "good ", p.Found
		if p.Wrong != "" {
			state, said = "WRONG", p.Wrong
		}
		line("%s  %s, %.0f s: %s", state, p.Name, p.Seconds, strings.ReplaceAll(said, "\n", "\n         "))
	}
	if len(r.Speeds) > 0 {
		line("\n%-38s  %8s %8s  %11s  %7s  %7s", "a step, or a bound and gradient, in ms", "card", "CPU", "card faster", "GFLOPS", "of peak")
		for _, s := range r.Speeds {
			line("  %-36s  %8s %8s  %11s  %7.4g  %7s", s.what(), figures(s.Card), figures(s.CPU),
				figures(s.CPU/s.Card)+"x", s.GFLOPS, optional("%.1f %%", s.Share, 100))
		}
		if r.Peak > 0 {
			line("the peak in double precision is %.4g GFLOPS by the card's data; operations are those of the linear algebra alone", r.Peak)
		}
	}
	for _, n := range r.Notices {
		line("\n%s", n)
	}
	switch {
	case r.Wrong == "":
		line("\nThe card computes what it should.")
	case r.MayPass:
		line("\nThe card has not passed: %s\nThat may be otherwise the next time, and is not kept: check it again.", r.Wrong)
	default:
		line("\nThe card must not be used: %s", r.Wrong)
	}
	return err
}
