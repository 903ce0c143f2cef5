package history

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/kestrel/experiment/finding"
	"example.com/kestrel/experiment/grid"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/rundir"
	"example.com/kestrel/experiment/words"
	"example.com/kestrel/internal/guard"
	"example.com/kestrel/vbks"
)

// Summary is what the event log of a run says in short.
type Summary struct {
	Dir  string       `json:"-"` // of the run, as commands are told it; "": not known
	Wide int          `json:"-"` // columns of the terminal that it is written to; 0: any
	Name string       `json:"name"`
	Fate record.State `json:"fate"` // as rundir.Fate has it
	record.Standing
	Notices []string          `json:"notices,omitempty"`
	Worth   []string          `json:"verdict,omitempty"` // Standing.Verdict
	Finding string            `json:"finding,omitempty"` // finding.Of the standing, as Text
	Grown   []record.Ancestor `json:"grown,omitempty"`   // the way to the leader, where it has come while the run went on
	Growth  *record.CutGrowth `json:"growth,omitempty"`  // where it was cut short

	fresh []string     // notices of the last evaluation or since
	owner rundir.Owner // of a run that is read from its directory and not at rest
}

// ReadSummary summarises the event log of a run directory without holding all of
// it in memory. Errors are those of record.Each.
func ReadSummary(dir string) (*Summary, error) {
	s := &Summary{Dir: dir}
	if err := record.Each(context.Background(), dir, s.take); err != nil {
		return nil, err
	}
	s.ask(dir)
	s.Finding = finding.As(&s.Standing, s.Fate, s.Dir).Text()
	return s, nil
}

// Record implements Recorder: the summary of a run that goes on, which keeps of
// its events only what it says. It does not fail.
func (s *Summary) Record(e *record.Event) error {
	s.take(e)
	switch e.Type {
	case record.EventEvaluation, record.EventMetrics, record.EventPruned, record.EventRestored, record.EventEffects, record.EventState:
		// A mistake in the words is no reason for a run to fail.
		if err := guard.Do(func() error { s.Finding = finding.Of(&s.Standing, s.Dir).Text(); return nil }); err != nil {
			s.Finding = fmt.Sprintf("What was found could not be put into words: %v.", err)
		}
	}
	return nil
}

// take takes in the next event, of a run whose process is not known.
func (s *Summary) take(e *record.Event) {
	s.Apply(e)
	s.Growth = s.CutGrowth()
	if e.Evaluation != nil {
		if s.Grown = nil; e.Evaluation.Leader() != nil {
			if way := s.Family.Way(e.Evaluation.Leader().ID); len(way) > 1 {
				s.Grown = way
			}
		}
	}
	switch e.Type {
	case record.EventStarted:
		s.Name = e.Start.Name
	case record.EventEvaluation:
		s.fresh = nil
	case record.EventNotice:
		s.Notices = append(s.Notices, e.Notice)
		if e.Cause != record.CauseVerdict { // the text has it below the scores
			s.fresh = append(s.fresh, e.Notice)
		}
	case record.EventMetrics:
		s.Worth = s.Verdict()
	}
	s.Fate = rundir.Fate(&s.Standing, rundir.Owner{})
}

// ask asks for the process of a run that is not at rest.
func (s *Summary) ask(dir string) {
	if !s.State.Settled() {
		s.owner, _ = rundir.OwnerOf(dir)
		s.Fate = rundir.Fate(&s.Standing, s.owner)
	}
}

// InducingText is "200", or "200, then 800".
func InducingText(numbers []int) string {
	texts := make([]string, len(numbers))
	for i, n := range numbers {
		texts[i] = strconv.Itoa(n)
	}
	return strings.Join(texts, ", then ")
}

// shownKernels is the number of kernels that a summary lists.
const shownKernels = 10

// WriteText writes the summary for people.
func (s *Summary) WriteText(w io.Writer, now time.Time) error {
	w = words.PlainWriter(w)
	fmt.Fprintf(w, "%s  %s\n", s.Name, s.stateText(now))
	if text := finding.As(&s.Standing, s.Fate, s.Dir).Text(); text != "" {
		if err := grid.Paragraph(w, text); err != nil {
			return err
		}
		fmt.Fprintln(w)
	}
	if st := s.Start; st != nil {
		fmt.Fprintf(w, "started   %s, %.4g s of work\n", s.Started.Format(time.RFC3339), float64(s.Seconds))
		fmt.Fprintf(w, "data      %s: %d training, %s, %s\n", st.Data.Name, st.Data.Train,
			words.Count(st.Data.Test, "test row"), words.Count(len(st.Data.Columns), "column"))
		if text := st.Explains(); text != "" {
			fmt.Fprintf(w, "explains  %s\n", text)
		}
		if st.Data.Kernel != "" {
			fmt.Fprintf(w, "truth     %s\n", st.Data.Kernel)
		}
		fmt.Fprintf(w, "kernels   %s; inducing inputs %s; seed %d\n", KernelsText(&s.Standing), InducingText(s.Inducing), st.Seed)
		fmt.Fprintf(w, "program   kestrel %s on %s\n", st.Build, st.Device)
	}
	if e := s.Evaluation; e != nil {
		fmt.Fprintf(w, "evaluation %d of %d, %.4g %% of the data seen (%s)\n", e.Index, e.Planned, 100*e.Proportion,
			words.Count(e.RowsSeen, "row"))
		if text := s.Lead.Text(s.Lead.Kernel); text != "" {
			fmt.Fprintf(w, "lead      %s\n", text)
		}
		if l := e.Leader(); l != nil && s.Family.Text(l.ID) != "" {
			fmt.Fprintf(w, "grown     %s\n", s.Family.Text(l.ID))
		}
		if s.Growth != nil {
			fmt.Fprintf(w, "growth    %s\n", s.Growth.Text())
		}
		fmt.Fprintln(w)
		if err := s.writeKernels(w); err != nil {
			return err
		}
		s.writeLeftOut(w)
	} else {
		fmt.Fprintln(w, "no evaluation yet")
	}
	if err := s.writeScores(w); err != nil {
		return err
	}
	return s.writeNotices(w)
}

// KernelsText says how many kernels a run has, and where they come and go how many of those that it has had are live.
func KernelsText(s *record.Standing) string {
	all := len(s.Start.Kernels)
	if e := s.Evaluation; e != nil && len(e.Kernels) < all {
		return fmt.Sprintf("%d of %d tried", e.Live(), all)
	}
	return strconv.Itoa(all)
}

// writeScores writes how well the test rows are predicted, beside the baselines.
func (s *Summary) writeScores(w io.Writer) error {
	all := s.Compare()
	if len(all) == 0 {
		return nil
	}
	fmt.Fprintln(w)
	scaled := slices.ContainsFunc(all, func(c record.Compared) bool { return !math.IsNaN(float64(c.MASE)) })
	t := grid.Table{Left: []int{0}, Width: s.Wide, Less: []string{"interval score", "nlpd", "msis", "smape", "kernels", "in 50 %", "mae",
		"test rows", "mase", "in 80 %"}}
	line := func(head, tail []string, mase, smape, msis string) []string {
		if scaled {
			head = append(head, mase, smape, msis)
		}
		return append(head, tail...)
	}
	t.Heads = line(append([]string{"method", "kernels", "rmse", "mae", "crps", "interval score", "nlpd"}, record.CoverageHeads()...),
		[]string{"test rows"}, "mase", "smape", "msis")
	for _, m := range all {
		kernels := "-"
		if m.Kernels > 0 {
			kernels = strconv.Itoa(m.Kernels)
		}
		scores := []string{m.Method, kernels, m.RMSE.Format("%.5g"), m.MAE.Format("%.5g"), m.CRPS.Format("%.5g"), m.Interval.Format("%.5g"),
			m.NLPD.Format("%.4f")}
		t.Row(line(append(scores, record.CoverageCells(m.Coverage())...), []string{strconv.Itoa(m.TestRows)}, m.MASE.Format("%.4g"),
			m.Percent.Format("%.4g"), m.MSIS.Format("%.4g"))...)
	}
	if err := t.Write(w); err != nil {
		return err
	}
	var below []string
	for _, text := range s.Start.LeftOut() {
		below = append(below, "no "+text)
	}
	if text := record.AveragingGain(s.Metrics); text != "" {
		below = append(below, text)
	}
	for _, text := range append(below, s.Verdict()...) {
		if err := s.line(w, text); err != nil {
			return err
		}
	}
	return nil
}

// line writes a line, on a terminal in as many as it takes.
func (s *Summary) line(w io.Writer, text string) error {
	if s.Wide > 0 {
		return grid.Paragraph(w, text)
	}
	_, err := fmt.Fprintln(w, text)
	return err
}

// writeLeftOut says why kernels are pruned that the user has not pruned.
func (s *Summary) writeLeftOut(w io.Writer) {
	var reasons []string
	count := map[string]int{}
	for i := range s.Evaluation.Kernels {
		k := &s.Evaluation.Kernels[i]
		if k.Status != vbks.Pruned || k.Reason == "" || k.Reason == vbks.ByRequest {
			continue
		}
		if count[k.Reason]++; count[k.Reason] == 1 {
			reasons = append(reasons, k.Reason)
		}
	}
	for _, reason := range reasons {
		share := s.Evaluation.LeftOut(reason)
		if share != "" {
			share = "; their q* " + share
		}
		fmt.Fprintf(w, "  %d %s%s\n", count[reason], reason, share)
	}
}

// mostNotices is the number of notices that a summary shows.
const mostNotices = 5

// writeNotices writes the first lines of what was told with the last evaluation or
// since; the log has all.
func (s *Summary) writeNotices(w io.Writer) error {
	for i, text := range s.fresh {
		if i == 0 {
			fmt.Fprintln(w)
		}
		if i == mostNotices {
			return s.line(w, fmt.Sprintf("and %d more in %s", len(s.fresh)-i, record.LogFile))
		}
		line, _, _ := strings.Cut(text, "\n")
		if err := s.line(w, "note: "+line); err != nil {
			return err
		}
	}
	return nil
}

// stateText says how the run stands, and how that is known.
func (s *Summary) stateText(now time.Time) string {
	ago := ""
	if !s.State.Settled() {
		ago = "; last event " + words.ShortDuration(now.Sub(s.Time)) + " ago"
	}
	if s.Fate == rundir.Crashed {
		return fmt.Sprintf("%s: it was %s when its process ended without a word%s", s.Fate, s.State, ago)
	}
	text := string(s.Fate)
	if s.Reason != "" {
		text += ": " + s.Reason
	}
	if text += ago; ago != "" && !s.owner.Known {
		text += ", the run is going on or was cut off"
	}
	return text
}

func (s *Summary) writeKernels(w io.Writer) error {
	var live []*record.Kernel
	count := map[vbks.Status]int{}
	for i := range s.Evaluation.Kernels {
		k := &s.Evaluation.Kernels[i]
		count[k.Status]++
		if k.Fit != nil {
			live = append(live, k)
		}
	}
	slices.SortFunc(live, func(a, b *record.Kernel) int { return cmp.Compare(a.Fit.Rank, b.Fit.Rank) })
	worth := "local ELBO"
	if len(live) > 0 && live[0].Fit.Windows != nil {
		worth = "evidence"
	}
	t := grid.Table{Left: []int{1}, Width: s.Wide, Less: []string{worth, "bayes", "slack"}, Names: 1}
	shown := live[:min(len(live), shownKernels)]
	seen := s.Evaluation.RowsSeen
	sampled := slices.ContainsFunc(shown, func(k *record.Kernel) bool { return k.Fit.Sampled(seen) })
	bounded := slices.ContainsFunc(shown, func(k *record.Kernel) bool { return k.Fit.Evidence != nil })
	weighed := record.Weighed(shown)
	line := func(cells []string, prior, se, slack, mark string) []string {
		if weighed {
			cells = append(cells, prior)
		}
		if sampled {
			cells = append(cells, se)
		}
		if bounded {
			cells = append(cells, slack)
		}
		return append(cells, mark)
	}
	t.Heads = line([]string{"rank", "kernel", "q*", "bayes", worth, "behind"}, "prior", "± s.e.", "slack", "")
	t.Left = append(t.Left, len(t.Heads)-1)
	for _, k := range shown {
		f, se, open := k.Fit, "", ""
		number := f.ELBO
		if f.Windows != nil {
			number = f.Windows.Nats
		}
		if f.Sampled(seen) {
			se = fmt.Sprintf("%.2f", float64(f.SE))
		}
		if slack, ok := f.Slack(); ok {
			open = words.Nats(slack)
		}
		prior := fmt.Sprintf("%+.2f", f.Preferred(live[0].Fit))
		t.Row(line([]string{strconv.Itoa(f.Rank), k.ID, fmt.Sprintf("%.4f", float64(f.Posterior)), fmt.Sprintf("%.4f", float64(f.Bayes)),
			fmt.Sprintf("%.2f", float64(number)), fmt.Sprintf("%.2f", f.Behind(live[0].Fit))}, prior, se, open, f.Remark(live[0].Fit))...)
	}
	if err := t.Write(w); err != nil {
		return err
	}
	if weighed {
		fmt.Fprintln(w, "prior: of the expression, in nats above the leader's, which the belief adds to the evidence")
	}
	if worth == "evidence" {
		fmt.Fprintln(w, "evidence: of windows of neighbouring rows beside inducing inputs, not by bounds")
	}
	if text := s.Evaluation.Unbounded(); text != "" {
		fmt.Fprintln(w, text)
	}
	if n := len(live) - shownKernels; n > 0 {
		fmt.Fprintf(w, "and %d more", n)
		if count[vbks.Pruned]+count[vbks.Failed] == 0 {
			fmt.Fprintln(w)
		} else {
			fmt.Fprint(w, "; ")
		}
	}
	if count[vbks.Pruned]+count[vbks.Failed] > 0 {
		fmt.Fprintf(w, "%d pruned, %d failed\n", count[vbks.Pruned], count[vbks.Failed])
	}
	return nil
}
