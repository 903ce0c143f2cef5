package finding

import (
	"fmt"
	"math"
	"strings"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/words"
	"example.com/kestrel/vbks"
)

const (
	fewRows = 20 // training rows are too few to say much below this
	// mostly is the share of the belief that is worth a word with kernels behind those that cannot be told from the leader, or left out.
	mostly    = 0.5
	fewest    = 0.05 // of the belief: kernels that were left out with less are not counted
	muchWorse = 0.05 // a CRPS above a baseline's by this share is no chance
)

// percent writes a share.
func percent(share float64) string {
	switch p := 100 * share; {
	case p >= 99.95 && p < 100:
		return "more than 99.9 %"
	case p > 0 && p < 0.05:
		return "less than 0.1 %"
	case p > 99 && p < 100, p > 0 && p < 1:
		return fmt.Sprintf("%.1f %%", p)
	default:
		return fmt.Sprintf("%.0f %%", p)
	}
}

// sure says how sure it is that this kernel leads, and since when.
func (r *reading) sure() string {
	all := len(r.Evaluation.Kernels)
	only := ""
	switch { // there is nothing that it leads
	case r.live == 1 && all == 1:
		only = "It is the only kernel that was compared"
	case r.nothing:
		return r.least()
	case r.live == 1:
		only = fmt.Sprintf("It is the only one left of %d kernels", all)
	}
	if only != "" && r.restless() && !r.nothing {
		return only + "; " + moving + "."
	} else if only != "" {
		return only + "."
	}
	text, not := r.leads(), "; not settled"
	p := r.posterior()
	if !math.IsNaN(p) {
		text += ", with " + percent(p) + " of the belief (q*)"
	}
	plain := r.plainly(all)
	if r.settled() {
		plain = ""
	}
	if plain != "" {
		text, not = plain+". Which kernel is best is not settled: this one"+strings.TrimPrefix(text, "It"), ""
	}
	var doubts []string
	if n := len(r.equal); n > 0 {
		doubts = append(doubts, others(n)+" "+r.equals())
	}
	if n := len(r.open); n > 0 {
		doubts = append(doubts, others(n)+" may yet be better (bounds too wide)")
	}
	switch {
	case r.left > mostly:
		doubts = append(doubts, fmt.Sprintf("%s of the belief is with %s that %d inducing inputs were not tried on", percent(r.left),
			others(r.absent), r.Evaluation.Inducing))
	case plain != "": // what all likely kernels say has been said
	case len(doubts) == 0 && p < surely:
		doubts = append(doubts, "the other "+percent(1-p)+" is with kernels behind it")
	case len(doubts) > 0 && r.behind > mostly:
		doubts = append(doubts, percent(r.behind)+" of the belief is with kernels behind it")
	}
	switch {
	case r.settled() && r.restless(): // the choice is, and one sentence says both
		return text + "; settled among " + r.tried() + ", though " + moving + "."
	case r.settled():
		return text + "; settled among " + r.tried() + "."
	case r.restless():
		doubts = append(doubts, moving)
	}
	if len(doubts) == 0 { // other sentences say why, or what is to come
		return text + not + "."
	}
	if plain != "" {
		return text + "; " + words.Join(doubts) + "."
	}
	return text + not + ": " + words.Join(doubts) + "."
}

// moving is what is said of hyperparameters that more steps would still move, by little: what was
// held out tells what they are good for.
const moving = "its hyperparameters have not quite come to rest"

// still reports whether the leader's hyperparameters have not come to rest, and nobody works at them.
func (r *reading) still() bool { return flagged(r.leader, vbks.StillMoving) && r.State.Settled() }

// restless reports whether that is so and the prediction was scored all the same.
func (r *reading) restless() bool { return r.still() && r.Averaged() != nil }

// tried says among how many kernels the leader leads: what was not in the space nobody has
// tried, and what was pruned before the end not to the end.
func (r *reading) tried() string {
	tried, pruned := 0, 0
	for i := range r.Evaluation.Kernels {
		k := &r.Evaluation.Kernels[i]
		if k.Status == vbks.Failed {
			continue
		}
		tried++
		if k.Status == vbks.Pruned && k.Left == nil { // what is left out has a share of the belief
			pruned++
		}
	}
	tried += max(0, len(r.Start.Kernels)-len(r.Evaluation.Kernels)) // those that have come and gone
	text := "the " + numeral(tried) + " kernels tried"
	if pruned > 0 {
		text += ", " + numeral(pruned) + " of them pruned before the end"
	}
	return text
}

// leads says since when this kernel leads.
func (r *reading) leads() string {
	switch l := &r.Lead; {
	case l.Changes == 0:
		return "It leads from the first evaluation on"
	case l.Since < 1:
		return fmt.Sprintf("It leads since %s of the data", percent(l.Since))
	}
	return "It leads since all data are in"
}

// butFor is moving in brief.
const butFor = " but for its hyperparameters."

// briefly is sure without numbers of kernels.
func (r *reading) briefly(settled bool) string {
	switch {
	case r.nothing || r.live == 1:
		return r.sure()
	case settled && r.restless():
		return r.leads() + "; settled" + butFor
	case settled:
		return r.leads() + "; settled."
	}
	if plain := r.plainly(3); plain != "" {
		return plain + "."
	}
	return r.leads() + "; not settled."
}

// tersely is sure in a word or two.
func (r *reading) tersely(settled bool) string {
	switch {
	case r.nothing: // what to do matters more
		return ""
	case r.live == 1:
		return r.sure()
	case settled && r.restless():
		return "Settled" + butFor
	case settled:
		return "Settled."
	}
	if plain := r.plainly(1); plain != "" {
		return plain + "."
	}
	return "Not settled."
}

// least says how little the leader is above a constant and noise, and whether that is
// known.
func (r *reading) least() string {
	best := "The best of " + words.Count(r.live, "kernel")
	if r.live == 1 {
		best = "It"
	}
	text := ""
	switch gain, known := aboveNothing(r.Standing, r.leader); {
	case !known && len(r.open) == 0:
		return ""
	case !known:
		return "But " + others(len(r.open)) + " may yet be better (bounds too wide)."
	case gain >= 0.05:
		text = fmt.Sprintf("%s is %.1f nats likelier than that, which is too little", best, gain)
	default:
		text = best + " tells no more than that"
	}
	if n := len(r.open); n > 0 {
		text += "; not settled: " + others(n) + " may yet be better (bounds too wide)"
	}
	return text + "."
}

func others(n int) string {
	if n == 1 {
		return "one other"
	}
	return numeral(n) + " others"
}

// distrust says why what the run says should not be trusted, "" if nothing is known to
// speak against it; wrong is what of it is so and not only may be so.
func (r *reading) distrust() (text, wrong string) {
	var why []string
	if n := r.Start.Data.Train; n < fewRows {
		why = append(why, fmt.Sprintf("%s are few for %s", words.Count(n, "row"), words.Count(freed(r.Start, r.leader), "hyperparameter")))
	}
	if flagged(r.leader, vbks.NotTheTruth) {
		why = append(why, "the data were drawn from "+r.Start.Data.Kernel+", which is not first")
	}
	if flagged(r.leader, vbks.NoiseAtFloor) {
		why = append(why, "the noise is at its floor, as of rows that repeat or were computed")
	}
	if failed := r.Evaluation.Failed(); 2*failed > len(r.Evaluation.Kernels) {
		why = append(why, fmt.Sprintf("%d of %s failed", failed, words.Count(len(r.Evaluation.Kernels), "kernel")))
	}
	// A baseline has seen all rows; a part of them is no reason for distrust.
	if m := r.Averaged(); m != nil && m.Intervals() == record.TooNarrow && r.whole() {
		why = append(why, "its intervals are too narrow")
	}
	if _, reference, _, ok := r.Beside(); ok && reference.More > muchWorse && !r.nothing && r.whole() {
		why = append(why, "it predicts worse than "+reference.Label)
	}
	if r.still() && !r.restless() {
		why = append(why, "its hyperparameters have not come to rest")
	}
	if len(why) > 0 {
		wrong = "Do not trust it: " + strings.Join(why, "; ") + "."
	}
	text = wrong
	// What need not be wrong, but may not be what it looks like.
	var look []string
	if r.once() {
		look = append(look, "a period is seen less than twice and may be none")
	}
	if flagged(r.leader, vbks.PeriodsEqual) {
		look = append(look, "two periods are one and the same")
	}
	if flagged(r.leader, vbks.IdleSummand) && !r.nothing {
		look = append(look, "one part explains next to nothing")
	}
	if r.farOut() {
		look = append(look, percent(float64(r.Averaged().Coverage50))+" of the held-out rows lie in intervals for 50 %: a few rows far out may "+
			"hide what there is")
	}
	if n := r.Evaluation.Noise; n != nil && n.Outliers > 0 {
		look = append(look, percent(n.Outliers)+" of the rows are outliers, which count for little")
	}
	if len(look) > 0 {
		text = strings.TrimSpace(text + " But " + words.Join(look) + ".")
	}
	return text, wrong
}

// farOut reports whether a few rows seem to be outliers that nobody has looked for.
func (r *reading) farOut() bool {
	m := r.Averaged()
	if m == nil || !r.whole() || !m.FarOut() {
		return false
	}
	normal := true
	_ = config.EachSetting(r.Start.Config, func(section, key, value string) { // what cannot be read has the default
		normal = normal && !(section == "kernels" && key == "likelihood" && !strings.Contains(value, "gaussian"))
	})
	return normal
}

// once reports whether what the data show has a period that they do not show twice: of
// other ones nothing is said.
func (r *reading) once() bool {
	return flagged(r.leader, vbks.PeriodOnce) && !r.nothing && strings.Contains(strings.ToLower(r.what()), mayBe)
}

// comparison is how much is said of what the prediction is worth beside baselines.
type comparison int

const (
	withBoth  comparison = iota // what needs no thought, and the best of all
	withFirst                   // what needs no thought; the best only where that is no worse than the prediction
	withOne                     // the best where that is better, else what needs no thought
)

// error says what the prediction is worth beside a baseline, which has seen all rows.
func (r *reading) error() string {
	return r.soFar(r.worth(withBoth))
}

// compared is error with less of the baselines where that compares with one; else "".
func (r *reading) compared(how comparison) string {
	if _, _, _, ok := r.Beside(); !ok {
		return ""
	}
	return r.soFar(r.worth(how))
}

// soFar says of what it is worth that rows are still to come.
func (r *reading) soFar(text string) string {
	if text == "" || r.whole() || r.Start.Data.Test == 0 {
		return text
	}
	return "So far " + strings.ToLower(text[:1]) + text[1:]
}

// worth compares with baselines.
func (r *reading) worth(how comparison) string {
	text := r.score(how)
	if of := r.Start.NotScored(); of != "" && text != "" && how == withBoth {
		text = strings.TrimSuffix(text, ".") + "; of " + of + " that says nothing."
	}
	return text
}

// onMoreRows is the least error of a baseline where that was scored on all rows held out and
// the run, which is not through, on some of them: a factor between the two would claim too much.
func (r *reading) onMoreRows(m *record.Metric, unit string) string {
	b := r.Start.Baselines
	if b == nil || m.TestRows >= b.Rows {
		return ""
	}
	best := b.Best(func(s *record.BaselineScore) files.Number { return s.RMSE })
	if best == nil {
		return ""
	}
	return fmt.Sprintf(", that of %s on all %d is %s", best.Label, b.Rows, words.WithUnit(float64(best.Score.RMSE), unit))
}

// score is worth without what it says nothing of.
func (r *reading) score(how comparison) string {
	m, full := r.Averaged(), how == withBoth
	if m == nil {
		if r.Start.Data.Test == 0 {
			return "No rows were held out, so its error is not known."
		}
		return ""
	}
	task, reference, best, ok := r.Beside()
	if !ok {
		unit := ""
		if c := r.Start.Target(); c != nil {
			unit = c.Unit
		}
		text := "Its error on " + words.Count(m.TestRows, "held-out row") + " is " + words.WithUnit(float64(m.RMSE), unit) + " (RMSE)"
		return text + r.onMoreRows(m, unit) + "."
	}
	if r.nothing { // to be better than what is farther from a constant is nothing, too
		reference = best
	}
	among := fmt.Sprintf("the best of %d baselines", best.Of)
	if best.Worse && !full && best.Label != reference.Label {
		if len(best.Label) > len(among) {
			best.Label = among
		}
		if how == withOne { // to be better than what needs no thought would sound like praise
			best.Label = among
			reference = best
		}
	}
	verb, what := "Predicts", "predictions"
	switch {
	case task == record.TaskForecast:
		verb, what = "Forecasts", "forecasts"
	case r.Start.NotScored() != "":
		verb, what = "Fills gaps between rows", "gaps filled between rows"
	}
	text, end, joint, equal := verb+" "+reference.Than, " (CRPS).", " and ", "as well as "
	if !strings.HasSuffix(reference.Than, " than") { // "equal to that of"
		text = "The CRPS of " + what
		if !full {
			text = "Its CRPS"
		}
		text, end = text+" is "+strings.TrimPrefix(reference.Than, "is "), "."
		joint, equal = ", ", "equal to that of "
	}
	text += " " + reference.Label
	switch {
	case best.Of < 2:
	case best.Label == reference.Label && full:
		text += ", " + among
	case best.Label == reference.Label:
	case best.Worse && strings.HasSuffix(reference.Than, " than") && !strings.HasSuffix(best.Than, " than"): // "4 times that of"
		text += "; the CRPS is " + strings.TrimPrefix(best.Than, "is ") + " " + best.Label
		end = "."
	case best.Worse && reference.Worse:
		text += " and " + best.Than + " " + best.Label
	case best.Worse:
		text += ", but " + best.Than + " " + best.Label
	case strings.HasPrefix(best.Than, "equal") && !full && strings.HasSuffix(reference.Than, " than"):
		text += ", no better than " + among
	case full && strings.HasPrefix(best.Than, "equal"):
		text += joint + equal + among + ", " + best.Label
	case full:
		text += joint + best.Than + " " + among + ", " + best.Label
	}
	return text + end
}

// longLabel is how long the name of a baseline may be in a warning.
const longLabel = 24

// warning says in a few words that a baseline is clearly better, "" where none is or distrust says it.
func (r *reading) warning() string {
	_, reference, best, ok := r.Beside()
	if !ok || r.nothing || !r.whole() || !(best.More > muchWorse) || reference.More > muchWorse {
		return ""
	}
	if len(best.Label) > longLabel {
		return "But a baseline does better."
	}
	return "But " + best.Label + " does better."
}

// coverage says how much of what was held out lies within the intervals.
func (r *reading) coverage() string {
	m := r.Averaged()
	if m == nil || math.IsNaN(float64(m.Coverage95)) {
		return ""
	}
	text := percent(float64(m.Coverage95)) + " of " + words.Count(m.TestRows, "held-out row") + " in the 95 % interval"
	switch m.Intervals() {
	case record.TooNarrow:
		text += ": " + record.TooNarrow
	case record.TooWide:
		text += m.In80() + ": intervals " + record.TooWide
	}
	return text + "."
}
