package ui

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"example.com/kestrel/baseline"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/words"
	"example.com/kestrel/kernelspace"
)

// term is a word on the screen, and what it means in this run; without a word a heading.
type term struct{ word, text string }

// terms explains the words of the view that is shown.
func (b *bench) terms() []term {
	switch b.views[b.at].name() {
	case "bench":
		return slices.Concat(b.beliefTerms(), b.scoreTerms(), nameTerms(b.hist.Start))
	case "kernel":
		return append(b.kernelTerms(), nameTerms(b.hist.Start)...)
	case "fit":
		words := []term{
			{"mean", "what the kernels predict together, each with its weight; one kernel alone where that is chosen"},
			{"of y, of f", "95 % of new rows are expected in the first band, the function itself in the second: noise is in the first only"},
			{"held out", "rows that nothing was learned from: how far they lie from the mean is the error that is to be expected"},
			{"residuals", "rows less the mean; what still has a shape there no kernel has explained"},
		}
		if b.hist.Start != nil && len(b.hist.Start.Inputs()) > 1 {
			words = append(words, term{"partial residuals", "each row where it would lie if its other inputs were those that are held: what is " +
				"left for the input along which the fit is drawn; i shows the rows as they are"})
		}
		return append(words, b.scoreTerms()...)
	case "similar":
		return []term{
			{"predictions", "1: two kernels predict the same on held-out rows, whatever they are called; choosing between such two matters little"},
			{"belief", "1: what raises the belief in one raises it in the other, since g sees kernels through their ELBOs only"},
		}
	case "growth":
		return []term{
			{"tree", "● is the way from a kernel that the run began with to the leader, one line a generation; below each stand the best of its " +
				"other neighbours that were tried. A kernel that comes again stands where it came first"},
			{"step", "what was done to the kernel above: a base kernel added, multiplied, replaced, removed, moved, on another column, or " +
				"behind a change point"},
			{"nats", "by how much the log evidence is above that of the kernel which the step was made from; not known: the two were " +
				"never compared with each other. A prior that pays for size is not in it"},
			{"at", "the evaluation in which both were compared last"},
			{"tried", "how many neighbours of a kernel came for its sake"},
			{"left", "no longer compared, after an evaluation: for room, or hopeless; it may come again on more rows"},
			{"waits", "has come, and is compared by the next evaluation"},
			{"front", "neighbours of the first kernels, by evidence and prior: those for which there was no room wait, unnamed"},
		}
	case "compare":
		return append([]term{
			{"other data", "errors and nats of runs on other rows, or on another target, say nothing about each other: they are kept apart"},
			{"belief", "q* of the leader: how much it is believed in, of 1 in all"},
			{"best baseline", "the best by CRPS of what is made without kernels, and how much better or worse than it the run predicts"},
			{"mean ± sd", "runs that differ in their seed alone are repeats: what differs among them is chance"},
		}, b.scoreTerms()...)
	}
	return slices.Concat([]term{
		{"evaluation", "after so much of the data all kernels have learned from it, and are compared and ranked anew"},
		{"by itself", "the program did it, as the config or the command line asks"},
		{"note", "what should be known of a result: why a kernel failed, what the data cannot tell"},
	}, loggedTerms(), b.scoreTerms())
}

// loggedTerms explain what the log has of predictions, as it is written there.
func loggedTerms() []term {
	return []term{
		{config.MethodAverage, "variational Bayesian kernel selection: the prediction of all kernels together, each with its weight"},
		{config.MethodSingle, "the prediction of the kernel of highest posterior alone, of the same run"},
		{"nlpd", "minus the logarithm of the predicted density of a held-out row, in nats, on average: less is better; " +
			"0.1 less is a tenth likelier"},
		{"in " + record.LevelText(record.CoverageLevels[0]), "the share of held-out rows in the intervals that should hold so many: " +
			"0.5 where they are right; likewise of the others"},
	}
}

// beliefWords are what is said of belief, and scoreWords of predictions; what it is in
// the run that is shown stands behind.
var (
	beliefWords = []term{
		{"q*", "how much a kernel is believed in, of 1 in all, the errors of its ELBO averaged over"},
		{"Bayes", "the same belief by Bayes' rule, which has no settings: from the ELBOs, their volumes and the errors of both"},
		{"ELBO", "a lower bound on the log probability of the rows under a kernel, in nats: more is better"},
		{"volume", "how much of the hyperparameters agrees with the rows, as the logarithm of a volume: " +
			"it is added to the ELBO where it is known"},
		{"nats", "differences of log probabilities: 1 nat behind is 2.7 times less likely, 5 nats 150 times"},
		{"gap", "the ELBO with the volume, less that of the leader: what ranks kernels of like q*"},
		{"its range", "where the gap may lie, by the bounds or by twice its error; │ is the leader's place, a range that reaches it is open"},
		{"slack", "what the bounds on a log probability leave open; more inducing inputs make it less"},
		{"settled", "no kernel tried may overtake it, with all data in and q* of 0.9; else grey"},
		{"certain", "a part of what the leader says that kernels with 95 % of the belief say, too; likely: with half of it; open: with " +
			"less, or where it may as well be nothing"},
		{"wanders", "goes up and down without a plan, as a price does: where it is it stays for a while, and nobody knows which way it " +
			"goes next"},
		{"swings", "how far a pattern goes up and down about its middle; small: less than a third of the largest part's"},
		{"M", "inducing inputs: kernels see the training rows through so many of them; more are dearer and tell more"},
		{"=", "cannot be told from the leader, within a nat or twice the error of the gap"},
		{"≠", "surely behind the leader, even if by little: their bounds do not overlap, so that no more inducing inputs would " +
			"turn it round; other hyperparameters might. How much it is behind the gap says"},
		{"!", "something is odd about it: see its card"},
	}
	scoreWords = []term{
		{"RMSE", "how far predictions are off as a rule"},
		{"coverage", "the share of held-out rows in the intervals that should hold 95 %"},
		{"CRPS", "the error of a whole predicted distribution, as the mean distance is of a point: less is better"},
		{config.MethodName(config.MethodAverage), "the prediction of all kernels together, each with its weight"},
		{"weight", "how much a kernel counts in a prediction, which need not be its q*"},
	}
	weightWords = map[string]string{
		"posterior": "the weights are q*", "bayes": "the weights are those of Bayes",
		"tempered": "tempered: 10 nats behind count as 1 does in Bayes, so that many kernels share in it, which forecasts better",
		"origins":  "origins: weights with which the kernels, fitted to the first rows alone, forecast those that follow best",
		"loo":      "loo: weights with which rows that are left out, one by one or as many as lie in a gap, are predicted best",
	}
)

// with puts behind words what they are in a run; words of which a run has no number are
// explained all the same.
func with(words []term, here map[string]string) []term {
	out := slices.Clone(words)
	for i := range out {
		if text := here[out[i].word]; text != "" {
			out[i].text += ": " + text
		}
	}
	return out
}

// beliefTerms explain what is believed of kernels.
func (b *bench) beliefTerms() []term {
	here := map[string]string{}
	e := b.hist.Evaluation
	if m := b.inducing(); m > 0 && b.hist.Start != nil {
		here["M"] = fmt.Sprintf("%d for %d rows", m, b.hist.Start.Data.Train)
	}
	var leader *record.Kernel
	if e != nil {
		leader = e.Leader()
	}
	if leader == nil {
		return with(beliefWords, here)
	}
	name := b.kernelName(leader.ID)
	here["q*"] = number(float64(leader.Fit.Posterior)) + " of " + name
	here["Bayes"] = number(float64(leader.Fit.Bayes))
	if r := ranked(e); len(r) > 1 {
		here["gap"] = fmt.Sprintf("%s nats for %s", gapText(r[1].Fit.Gap(leader.Fit), float64(r[1].Fit.SE)), b.kernelName(r[1].ID))
	}
	if slack, ok := leader.Fit.Slack(); ok {
		here["slack"] = words.Nats(slack) + " nats for the leader"
		if !leader.Fit.Usefully(e.RowsSeen) {
			here["slack"] += ", which is " + record.NotBounded
		}
	}
	here["settled"] = "this is not yet"
	if b.found().Settled {
		here["settled"] = "this is"
	}
	here["settled"] += "; the leader has " + changes(b.hist.Lead.Changes)
	return with(beliefWords, here)
}

func changes(n int) string {
	if n == 0 {
		return "never changed"
	}
	return "changed in " + words.Count(n, "evaluation")
}

// scoreTerms explain the errors on held-out rows.
func (b *bench) scoreTerms() []term {
	here := map[string]string{}
	if b.hist.Start != nil {
		here["weight"] = weightsText(b.hist.Start.Config)
	}
	if m := b.hist.Averaged(); m != nil {
		unit := b.hist.TargetUnit()
		here["RMSE"] = fmt.Sprintf("%s%s on %s", words.Significant(float64(m.RMSE), 3), unit, words.Count(m.TestRows, "held-out row"))
		if share := float64(m.Coverage95); !math.IsNaN(share) {
			here["coverage"] = fmt.Sprintf("%.0f %%", 100*share)
		}
		if crps := float64(m.CRPS); !math.IsNaN(crps) && crps != 0 {
			here["CRPS"] = words.Significant(crps, 3) + unit
		}
	}
	return with(scoreWords, here)
}

// weightsText says what the weights are that a config asks for, "" where that is not
// known.
func weightsText(text string) (said string) {
	_ = config.EachSetting(text, func(section, key, value string) { // what cannot be read has none
		for name, about := range weightWords {
			if section == "predict" && key == "weights" && strings.Contains(value, name) {
				said = about
			}
		}
	})
	return said
}

// heading divides words.
func heading(text string) term { return term{"", text} }

// nameTerms explain the names of kernels and of baselines: those that a run has, all
// with s nil.
func nameTerms(s *record.Start) []term {
	out := []term{heading("names of kernels")}
	for _, k := range kernelspace.BaseKernels() {
		if s == nil || slices.ContainsFunc(s.Kernels, func(i record.KernelInfo) bool { return usesBase(i.Name, k.Name) }) {
			out = append(out, term{k.Name, k.Plain})
		}
	}
	out = append(out, term{"A + B", "the sum: both at once, a part each"},
		term{"A×B", "the product: one is modulated by the other; PER×SE is a pattern that changes, LIN×PER one that grows"},
		term{"[name]", "on that column alone; no name: on all"})
	if s == nil || slices.ContainsFunc(s.Kernels, func(i record.KernelInfo) bool { return usesBase(i.Name, "CP") }) {
		out = append(out, term{"CP(A, B)", "A before a place that is learned, B behind it"})
	}
	var others []term
	add := func(name, label, about string) {
		if s == nil || s.Baselines != nil && slices.ContainsFunc(s.Baselines.Methods, func(m record.Baseline) bool { return m.Method == name }) {
			others = append(others, term{label, about})
		}
	}
	for _, m := range slices.Concat(baseline.Forecasts(), []baseline.Method{baseline.OfSeasons(0)}, baseline.Fillings()) {
		add(m.Name, m.Label, m.About)
	}
	for _, m := range baseline.Regressions() {
		add(m.Name, m.Label, m.About)
	}
	if len(others) > 0 {
		out = append(append(out, heading("baselines: what is compared with, made without kernels")), others...)
	}
	return out
}

// usesBase reports whether a kernel's name as it is read has a base kernel in it.
func usesBase(name, base string) bool {
	return slices.Contains(strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }), base)
}

// launcherTerms explain what is chosen in the launcher, and all that a run will say.
func launcherTerms() []term {
	return slices.Concat([]term{
		{"target", "the column that is to be explained and predicted; inputs are what it is explained by"},
		{"held out", "rows that nothing is learned from, to see how good predictions are: of a series the last ones"},
		{"time", "whether the input is time: then rows are a series, with seasons, and are forecast"},
		{"calendar", "inputs made of the time stamps: hour, weekday, day of the year"},
		{"text column", "an input by itself where its texts are few and two other columns or more are inputs; else left out until it is taken " +
			"in, under inputs or by data.types; each of its texts then has an effect (CAT)"},
		{"kernel", "a guess at what the data are made of, such as a line and a pattern that repeats; a run finds out which is believed"},
		{"auto", "the program chooses, by the data, and says what it has chosen"},
		{"seed", "of all that is random: the same seed gives the same run"},
		heading("what a run says"),
	}, beliefWords, scoreWords, []term{{"tempered", weightWords["tempered"]}}, nameTerms(nil))
}

// waitingTerms explain what is done before a run is there.
func waitingTerms() []term {
	return []term{
		{"loading", "the table is read, what its columns are is found out, rows are held out, and what the config leaves to the data is decided"},
		{"reading", "a run's directory is read: its events, its data, and, to go on with it, its last checkpoint"},
		{"trial", "of a series whose values are positive it is tried on its own past whether the values or their logarithm are forecast " +
			"better; data.transform names one of both, and nothing is tried"},
		{"target", "the column that is to be explained and predicted; inputs are what it is explained by"},
		{"to learn from", "rows that kernels will see; of very many the least and the greatest of each stretch are drawn"},
		{"held out", "rows that nothing is learned from, to see how good predictions are: of a series the last ones"},
		{"q", "leaves; a run that is still being prepared leaves nothing behind"},
	}
}

// kernelTerms explain what is known of one kernel.
func (b *bench) kernelTerms() []term {
	out := []term{
		{"variance", "how far this part goes from its mean, squared, in units of the target"},
		{"lengthscale", "over what distance it changes; far below it neighbours are alike, far beyond it they know nothing of each other; " +
			"of a level of a category, how much it has in common with others: below 0.5 hardly anything, above 2 most"},
		{"period", "after what distance it repeats"},
		{"noise", "what scatters about the function, as a variance: rows measured again would differ by its root"},
		{"×÷", "a value is likely within this factor, where q(log θ) is learned"},
		{"(a to b)", "with 95 % of the belief a value lies between these, where draws of the hyperparameters tell"},
	}
	if k := b.kernelNow(b.chosen()); k != nil && k.Fit != nil {
		if slack, ok := k.Fit.Slack(); ok {
			text := "its log probability by windows of neighbouring rows beside inducing inputs, within %s nats, its slack"
			if k.Fit.Windows == nil {
				text = "its log probability lies between two bounds, %s nats apart, which is its slack"
			}
			out = append(out, term{"evidence", fmt.Sprintf(text, words.Nats(slack))})
		}
		if text := k.Fit.FlagText(); text != "" {
			out = append(out, term{"!", text})
		}
	}
	return append(out, term{"covariance", "how alike the function is at two places so far apart"},
		term{"components", "the function taken apart into its summands; they add up to the mean"})
}
