package ui

import (
	"fmt"
	"math"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/words"
)

// term is a word on the screen, and what it means in this run.
type term struct{ word, text string }

// terms explains the words of the view that is shown.
func (b *bench) terms() []term {
	switch b.views[b.at].name() {
	case "bench":
		return append(b.beliefTerms(), b.scoreTerms()...)
	case "kernel":
		return b.kernelTerms()
	case "fit":
		return append([]term{
			{"mean", "what the kernels predict together, each with its q*; one kernel alone where that is chosen"},
			{"of y, of f", "95 % of new rows are expected in the first band, the function itself in the second: noise is in the first only"},
			{"held out", "rows that nothing was learned from: how far they lie from the mean is the error that is to be expected"},
			{"residuals", "rows less the mean; what still has a shape there no kernel has explained"},
		}, b.scoreTerms()...)
	case "similar":
		return []term{
			{"predictions", "1: two kernels predict the same on held-out rows, whatever they are called; choosing between such two matters little"},
			{"belief", "1: what raises the belief in one raises it in the other, since g sees kernels through their ELBOs only"},
		}
	case "compare":
		return append([]term{
			{"other data", "errors and nats of runs on other rows, or on another target, say nothing about each other: they are kept apart"},
			{"mean ± sd", "runs that differ in their seed alone are repeats: what differs among them is chance"},
		}, b.scoreTerms()...)
	}
	return []term{
		{"evaluation", "after so much of the data all kernels have learned from it, and are compared and ranked anew"},
		{"by itself", "the program did it, as the config or the command line asks"},
		{"note", "what should be known of a result: why a kernel failed, what the data cannot tell"},
	}
}

// beliefTerms explain what is believed of kernels.
func (b *bench) beliefTerms() []term {
	e := b.hist.Evaluation
	out := []term{}
	add := func(word, format string, args ...any) { out = append(out, term{word, fmt.Sprintf(format, args...)}) }
	var leader *record.Kernel
	if e != nil {
		leader = e.Leader()
	}
	if leader == nil {
		add("q*", "how much a kernel is believed in, of 1 in all; known after the first evaluation")
	} else {
		add("q*", "how much a kernel is believed in, of 1 in all, the errors of its ELBO averaged over: %s of %s here",
			number(float64(leader.Fit.Posterior)),
			b.kernelName(leader.ID))
		add("Bayes", "the same by Bayes' rule, from the ELBOs alone: %s", number(float64(leader.Fit.Bayes)))
	}
	add("ELBO", "a lower bound on the log probability of the rows under a kernel, in nats: more is better")
	add("nats", "differences of log probabilities: 1 nat behind is 2.7 times less likely, 5 nats 150 times")
	if r := ranked(e); leader != nil && len(r) > 1 {
		gap := float64(r[1].Fit.ELBO - leader.Fit.ELBO)
		add("gap", "the ELBO less that of the leader: %s nats for %s", gapText(gap, float64(r[1].Fit.SE)), b.kernelName(r[1].ID))
		add("its range", "where the gap may lie, by the bounds or by twice its error; │ is the leader's place, a range that reaches it is open")
	}
	if leader != nil {
		if slack, ok := leader.Fit.Slack(); ok {
			add("slack", "what the bounds on a log probability leave open: %s nats for the leader; more inducing inputs make it less",
				words.Nats(slack))
		}
		text := "no other kernel may come to lead, with all data in and q* of 0.9; else grey"
		if b.found().Settled {
			text += ": this is"
		} else {
			text += ": this is not yet"
		}
		add("settled", "%s; the leader has %s", text, changes(b.hist.Lead.Changes))
	}
	if m := b.inducing(); m > 0 && b.hist.Start != nil {
		add("M", "inducing inputs: kernels see the %d training rows through %d of them; more are dearer and tell more",
			b.hist.Start.Data.Train, m)
	}
	add("= ≠ !", "= cannot be told from the leader; "+
		"≠ is worse whatever more inducing inputs would say; ! see its card: something is odd about it")
	return out
}

func changes(n int) string {
	if n == 0 {
		return "never changed"
	}
	return "changed in " + words.Count(n, "evaluation")
}

// scoreTerms explain the errors on held-out rows.
func (b *bench) scoreTerms() (out []term) {
	m := b.hist.Averaged()
	if m == nil {
		return nil
	}
	out = append(out, term{"RMSE", fmt.Sprintf("how far predictions are off as a rule, on %s: %s%s",
		words.Count(m.TestRows, "held-out row"), words.Significant(float64(m.RMSE), 3), b.hist.TargetUnit())})
	if share := float64(m.Coverage95); !math.IsNaN(share) {
		out = append(out, term{"coverage", fmt.Sprintf("the share of held-out rows in the intervals that should hold 95 %%: %.0f %%", 100*share)})
	}
	if crps := float64(m.CRPS); !math.IsNaN(crps) && crps != 0 {
		out = append(out, term{"CRPS", fmt.Sprintf("the error of a whole predicted distribution, as the mean distance is of a point: %s%s",
			words.Significant(crps, 3), b.hist.TargetUnit())})
	}
	return append(out, term{config.MethodName(config.MethodAverage), "the prediction of all kernels together, each with its q*"})
}

// kernelTerms explain what is known of one kernel.
func (b *bench) kernelTerms() []term {
	out := []term{
		{"variance", "how far this part goes from its mean, squared, in units of the target"},
		{"lengthscale", "over what distance it changes; far below it neighbours are alike, far beyond it they know nothing of each other"},
		{"period", "after what distance it repeats"},
		{"noise", "what scatters about the function, as a variance: rows measured again would differ by its root"},
		{"×÷", "a value is likely within this factor, where q(log θ) is learned"},
	}
	if k := b.kernelNow(b.chosen()); k != nil && k.Fit != nil {
		if slack, ok := k.Fit.Slack(); ok {
			out = append(out, term{"evidence",
				fmt.Sprintf("its log probability lies between two bounds, %s nats apart, which is its slack", words.Nats(slack))})
		}
		if text := k.Fit.FlagText(); text != "" {
			out = append(out, term{"!", text})
		}
	}
	return append(out, term{"covariance", "how alike the function is at two places so far apart"},
		term{"components", "the function taken apart into its summands; they add up to the mean"})
}
