package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"example.com/kestrel/experiment/finding"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/words"
	"example.com/kestrel/vbks"
)

// Bounds of what a page lists.
const (
	mostRanked   = 200 // kernels in the table
	detailed     = 10  // kernels with hyperparameters, and those equal to the leader up to
	mostDetailed = 20
	mostNamed    = 30 // kernels named in a list
)

// kernelLine is a kernel in the ranking.
type kernelLine struct {
	Rank                  int
	Name, ID              string
	Posterior, Bayes, Gap string
	Prior                 string  // above the leader's; empty where the space does not grow
	SE, Slack             string  // empty where the local ELBO is exact, or its slack not known
	Percent               float64 // of the posterior
	Mark                  string
}

// kernelDetail is what is known of a kernel.
type kernelDetail struct {
	Rank               int
	Name, ID, Sentence string
	Params             []paramLine
	Spread             bool // there are standard deviations
	Drawn              bool // there are intervals in their place
}

// paramLine is a hyperparameter in data units.
type paramLine struct{ Name, Column, Value, Unit, Words, Spread string }

// goneKernels are kernels that left for one reason.
type goneKernels struct {
	Status, Reason string
	Count          int
	Names          string
}

// kernels fills in all that is about single kernels.
func (r *reporter) kernels() {
	e := r.history.Evaluation
	var live []*record.Kernel
	for i := range e.Kernels {
		if e.Kernels[i].Fit != nil {
			live = append(live, &e.Kernels[i])
		}
	}
	slices.SortFunc(live, func(a, b *record.Kernel) int { return cmp.Compare(a.Fit.Rank, b.Fit.Rank) })
	r.page.Weighed = record.Weighed(live)
	for i, k := range live {
		if i < mostRanked {
			r.page.Kernels = append(r.page.Kernels, r.line(k, live[0]))
		}
		if i < detailed || k.Fit.Tied && i < mostDetailed {
			r.page.Details = append(r.page.Details, r.detail(k))
		}
	}
	r.page.Others, r.page.Unbounded = len(live)-len(r.page.Details), e.Unbounded()
	r.gone()
	r.summary(live)
}

func (r *reporter) line(k, leader *record.Kernel) kernelLine {
	f := k.Fit
	l := kernelLine{
		Rank: f.Rank, Name: r.name(k.ID), ID: k.ID, Posterior: fmt.Sprintf("%.4f", float64(f.Posterior)),
		Bayes: fmt.Sprintf("%.4f", float64(f.Bayes)),
		Gap:   fmt.Sprintf("%.2f", f.Behind(leader.Fit)), Mark: f.Remark(leader.Fit),
	}
	if r.page.Weighed {
		l.Prior = fmt.Sprintf("%+.2f", f.Preferred(leader.Fit))
	}
	if f.Sampled(r.history.Evaluation.RowsSeen) {
		l.SE = fmt.Sprintf("%.2f", float64(f.SE))
	}
	if slack, ok := f.Slack(); ok {
		l.Slack = words.Nats(slack)
	}
	if p := 100 * float64(f.Posterior); p >= 0 && p <= 100 {
		l.Percent = math.Round(10*p) / 10
	}
	return l
}

// name returns what a kernel is called for reading.
func (r *reporter) name(id string) string {
	if at := r.history.Index(id); at >= 0 {
		return r.history.Name(at)
	}
	return id
}

// info returns a kernel's description, nil if there is none.
func (r *reporter) info(id string) *record.KernelInfo {
	s := r.history.Start
	if s == nil {
		return nil
	}
	at := slices.IndexFunc(s.Kernels, func(k record.KernelInfo) bool { return k.ID == id })
	if at < 0 {
		return nil
	}
	return &s.Kernels[at]
}

func (r *reporter) detail(k *record.Kernel) kernelDetail {
	d := kernelDetail{Rank: k.Fit.Rank, Name: r.name(k.ID), ID: k.ID}
	info, s := r.info(k.ID), r.history.Start
	if info == nil {
		return d
	}
	if r.options != nil {
		if d.Sentence = finding.Kernel(s, *r.options, info, k.Fit.Params); d.Sentence != "" {
			d.Sentence = finding.NotFound(&r.history.Standing) + d.Sentence
		}
	}
	for i := range info.Params {
		p := &info.Params[i]
		if p.Fixed || i >= len(k.Fit.Params) {
			continue // another amplitude carries its scale
		}
		v := float64(k.Fit.Params[i])
		l := paramLine{Name: p.Name, Column: p.Column, Value: fiveDigits(v), Unit: p.Unit, Words: s.InWords(p, v)}
		if i == len(info.Params)-1 && v >= 0 {
			unit := ""
			if c := s.Target(); c != nil {
				unit = c.ModelledUnit()
			}
			l.Words = "standard deviation " + words.WithUnit(math.Sqrt(v), unit)
		}
		if p.Stated != "" {
			l.Words = strings.TrimPrefix(l.Words+", "+p.Stated, ", ")
		}
		if low, high, ok := k.Fit.Between(i); ok {
			l.Spread, d.Spread, d.Drawn = between(s, p, low, high), true, true
		} else if i < len(k.Fit.SD) && k.Fit.SD[i] > 0 {
			factor, amount := p.Spread(v, float64(k.Fit.SD[i]))
			if l.Spread = fmt.Sprintf("×÷ %.3g", factor); amount > 0 {
				l.Spread = "± " + words.WithUnit(amount, p.Unit)
			}
			d.Spread = true
		}
		d.Params = append(d.Params, l)
	}
	for _, f := range info.Fixed {
		d.Params = append(d.Params, paramLine{Name: f.Name, Column: f.Column, Value: fiveDigits(f.Value), Unit: f.Unit, Words: "set by the data"})
	}
	return d
}

// between writes what a hyperparameter lies between: where its value is told in words that are a place, too.
func between(s *record.Start, p *record.ParamInfo, low, high float64) string {
	low, high = words.Ends(low, high)
	if from, to := s.InWords(p, low), s.InWords(p, high); p.Place() && from != "" && to != "" {
		return from + " to " + to
	}
	return fiveDigits(low) + " to " + fiveDigits(high)
}

// gone lists the kernels that are pruned or have failed, with the reasons.
func (r *reporter) gone() {
	at := map[[2]string]int{}
	var names [][]string
	for _, k := range r.history.Evaluation.Kernels {
		if k.Status == vbks.Live {
			continue
		}
		key := [2]string{string(k.Status), k.Reason}
		i, ok := at[key]
		if !ok {
			i = len(names)
			at[key] = i
			names = append(names, nil)
			r.page.Gone = append(r.page.Gone, goneKernels{Status: string(k.Status), Reason: cmp.Or(k.Reason, "by the user")})
		}
		names[i] = append(names[i], r.name(k.ID))
	}
	for i := range r.page.Gone {
		g := &r.page.Gone[i]
		g.Count, g.Names = len(names[i]), listed(names[i], ", ")
		if share := r.history.Evaluation.LeftOut(g.Reason); share != "" {
			g.Reason += "; their q* " + share
		}
	}
	slices.SortStableFunc(r.page.Gone, func(a, b goneKernels) int { return cmp.Compare(a.Status, b.Status) })
}

// listed joins names, the first of many.
func listed(names []string, between string) string {
	if n := len(names) - mostNamed; n > 1 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:mostNamed], between), n)
	}
	return strings.Join(names, between)
}

// summary says in words what came out.
func (r *reporter) summary(live []*record.Kernel) {
	add := func(format string, args ...any) {
		r.page.Summary = append(r.page.Summary, fmt.Sprintf(format, args...))
	}
	if len(live) == 0 {
		add("No kernel is left.")
		return
	}
	e, leader := r.history.Evaluation, live[0]
	var equal []string
	var share, bayes float64
	for _, k := range live {
		if k == leader || k.Fit.Tied {
			equal = append(equal, r.name(k.ID))
			share += float64(k.Fit.Posterior)
			bayes += float64(k.Fit.Bayes)
		}
	}
	if len(equal) > 1 {
		add("%d kernels are equal within their errors: %s. Their log evidence differs from the leader’s by no more than twice the error "+
			"of the difference, or by one nat. "+
			"Together they hold q* = %.3f of the belief (%.3f by Bayes’ rule); how it is divided among them is no evidence.", len(equal),
			listed(equal, "; "), share, bayes)
	} else if len(live) > 1 {
		next := live[1]
		gap, from := next.Fit.Gap(leader.Fit), "ahead of"
		if gap > 0 {
			from = "behind"
		}
		ahead := fmt.Sprintf("%.1f nats", math.Abs(gap))
		if next.Fit.SE > 0 {
			ahead += fmt.Sprintf(" ± %.1f", float64(next.Fit.SE))
		}
		text := fmt.Sprintf("%s leads with q* = %.3f of the belief (%.3f by Bayes’ rule), %s %s %s", r.name(leader.ID),
			float64(leader.Fit.Posterior), float64(leader.Fit.Bayes), ahead, from, r.name(next.ID))
		if gap > 0 {
			text += " but for errors and prior weights"
		}
		add("%s.", text)
	} else {
		add("%s is the only kernel left.", r.name(leader.ID))
	}
	if text := r.history.Lead.Text(r.name(leader.ID)); text != "" {
		add("%s.", text)
	}
	if e.Proportion < 1 {
		add("So far %.3g %% of the training rows have been seen; the order may still change.", 100*e.Proportion)
	}
	if s := r.history.Start; s != nil && s.Data.Kernel != "" {
		if at := slices.IndexFunc(live, func(k *record.Kernel) bool { return k.ID == s.Data.Kernel }); at >= 0 {
			add("The data were drawn from %s, which is in place %d.", r.name(s.Data.Kernel), at+1)
		}
	}
}
