package vbks

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
	"time"
)

const (
	// "auto" begins with firstRung inducing inputs, with half of them for more than
	// fewKernels; each further rung has twice as many, for about a quarter of the
	// kernels, so that rungs take about equal time: their work per kernel grows with M².
	firstRung  = 64
	fewKernels = 36
	rungShare  = 0.25
	fewestLeft = 3
	// Rungs end at MostInducing, at Room, or where rows times M² are more than rungWork.
	// An optimiser that need not go through all rows at every step goes on as long as
	// what it does on a rung is at most mostRungWork, see Work; beyond paidRungWork, which is as much as
	// inducing inputs of their own may take, it is for fewestPaid kernels.
	rungWork     = 8e9
	mostRungWork = 5e12
	paidRungWork = 3e12
	fewestPaid   = 2
	// Without a scout a rung is searched in full where that takes at most so many times what it
	// takes on the first one; else solutions are taken up where they were.
	searchedRung = 2
	// wholeShare of the rows as inducing inputs take as long as all of them, with which the bound
	// is the log evidence and needs k(X,X) alone; numbers in between are left out.
	wholeShare = 0.4
	// Where a product of few rows with the inducing inputs is at most lightWork other
	// solutions are looked for on any rung.
	lightWork = 1e8
	// Within rungNats of the leader kernels stay, up to twice as many; of few rows and up to
	// fewLive kernels within what the leader has gained.
	rungNats = 10
	fewLive  = 12
	// Where all rows come early fewLive kernels go on, or as many as have rows³ of roughWork in
	// all: what is known of kernels then says little.
	roughWork = 5e9
	// A notice names so many kernels.
	fewNames = 6
	// A slack below settledNats decides nothing more.
	settledNats = 1
	// Where kernels that were left out have recallShare of the belief in the end, those of recallLeast and
	// more come back: it takes about as long as the evaluation before.
	recallShare = 0.5
	recallLeast = 0.01
)

// autoInducing reports whether the number of inducing inputs is the program's to
// choose.
func (s Settings) autoInducing() bool { return s.Inducing == 0 }

// Rungs returns the numbers of inducing inputs that a run of n rows goes through,
// with so many kernels at first: one, but where Inducing is 0 and the optimiser brings a new q(v) to its optimum in
// an evaluation. All kernels are compared with the first, and once
// all data are in use the best ones with more, up to Z = X where that is within
// reach, one evaluation each.
func (s Settings) Rungs(n, kernels int) []int {
	if !s.autoInducing() {
		return []int{min(s.Inducing, n)}
	}
	most, first := s.most(n), s.first(kernels)
	out := []int{min(first, most)}
	if e, err := s.Effort(n); err == nil && !e.Exact() && e.Ending(n, n, 1, out[0], true).Exact == 0 {
		return out // one evaluation does not bring q(v) of more to its optimum, and none tells bounds
	}
	left := kernels
	for m := 2 * first; out[len(out)-1] < most; m *= 2 {
		next := min(m, most)
		if (4*m > 3*most || s.wholeAt(n, m)) && s.reaches(n, s.RungKernels(n, kernels, left, most), most) { // a rung of nearly as many
			next = most
		}
		if left = s.RungKernels(n, kernels, left, next); !s.reaches(n, left, next) {
			break
		}
		out = append(out, next)
	}
	return out
}

// most is the largest number of inducing inputs that settings allow for n rows.
func (s Settings) most(n int) int {
	most := n
	for _, limit := range []int{s.MostInducing, s.Room} {
		if limit > 0 {
			most = min(most, limit)
		}
	}
	return most
}

// wholeAt reports whether all n rows come in the place of m of them as inducing inputs.
func (s Settings) wholeAt(n, m int) bool {
	e, err := s.Effort(n)
	return s.most(n) == n && float64(m) >= wholeShare*float64(n) && (err != nil || e.Exact())
}

// Like is how many inducing inputs, which are not all of the n rows, take as long as m of them.
func (s Settings) Like(n, m int) float64 {
	if m == n && s.wholeAt(n, m) {
		return wholeShare * float64(m)
	}
	return float64(m)
}

// reaches reports whether so many kernels may be compared with m inducing inputs.
func (s Settings) reaches(n, kernels, m int) bool {
	if float64(n)*float64(m)*float64(m) <= rungWork {
		return true
	}
	e, err := s.Effort(n)
	return err == nil && !e.Exact() && e.Work(n, kernels, m) <= mostRungWork
}

// first is the number of inducing inputs that so many kernels begin with.
func (s Settings) first(kernels int) int {
	switch {
	case s.FirstInducing > 0:
		return s.FirstInducing
	case kernels > fewKernels:
		return firstRung / 2
	}
	return firstRung
}

// RungKernels returns about how many of so many live kernels are compared on the next
// rung, with m inducing inputs, in a run of n rows and so many kernels at first: a
// quarter, or as many as take no longer than all kernels on the first rung.
func (s Settings) RungKernels(n, kernels, live, m int) int {
	if second := 2 * s.first(kernels); n <= s.AllRows && (m <= second || m == n && s.wholeAt(n, second)) {
		return live
	}
	least := min(live, max(fewestLeft, int(math.Ceil(rungShare*float64(live)))))
	e, err := s.Effort(n)
	if err != nil || e.Exact() {
		return least
	}
	for least > fewestPaid && e.Work(n, least, m) > paidRungWork {
		least--
	}
	most := e.Work(n, kernels, min(n, s.first(kernels)))
	return least + sort.Search(live-least, func(i int) bool { return e.Work(n, least+i+1, m) > most })
}

// researches reports whether so many live kernels are searched in full on the
// present rung. With other inducing inputs another optimum may be the best; on a scout looking for it
// takes the same on every rung.
func (t *Trainer) researches(live int) bool {
	if !t.optimizer.search().always {
		return true
	}
	work := func(kernels, m int) float64 {
		like := t.settings.Like(t.data.Rows(), m)
		return float64(kernels) * like * like
	}
	return t.rung == 0 || t.growsWhole() && t.compared != t.m || !t.resolving() && (t.rung == 1 && t.data.Rows() <= t.settings.AllRows ||
		work(live, t.m) <= searchedRung*work(t.atFirst(), t.rungs[0]))
}

// growsWhole reports whether a growing space is compared with all rows as inducing inputs as soon as all are in use: of
// few rows, where that takes little longer than with some of them, which hide what is narrow in hyperparameters, a sharp
// period above all.
func (t *Trainer) growsWhole() bool {
	return t.growing() && t.settings.autoInducing() && t.optimizer.search().always && !t.told && len(t.rungs) > 0 &&
		t.settings.GrowsWhole(t.data.Rows(), t.rungs[len(t.rungs)-1])
}

// GrowsWhole reports whether a space of n rows whose last rung has m inducing inputs grows with these as soon as all rows are in use.
func (s Settings) GrowsWhole(n, m int) bool { return n <= s.AllRows && m == n && s.GrowsWith(n, n) }

// base is the number of evaluations planned before the first rung is left.
func (t *Trainer) base() int {
	if g := &t.grown; g.rows > 0 {
		return g.evaluation + (g.rows-g.seen+g.step-1)/g.step + t.settings.Refine
	}
	return int(math.Ceil(1/t.settings.EvaluateEvery-1e-9)) + t.settings.Refine
}

// concluding reports whether an evaluation is the last one planned on its rung. While the space grows none is, and
// a space that has grown may have climbed rungs before the first of these.
func (t *Trainer) concluding(number int) bool {
	if t.expansion.grammar != nil {
		return !t.growing() && number >= t.rounds()+t.rung
	}
	return number >= t.rounds()
}

// climbs reports whether the next evaluation is the first of another rung.
func (t *Trainer) climbs() bool {
	return t.settings.autoInducing() && !t.told && t.rung+1 < len(t.rungs) && t.evaluation >= t.rounds()+t.rung
}

// limit ends the ladder where the next rung would go beyond MostSeconds, by what the
// last evaluation took. That it did is kept, so that a resumed run does not ask again.
func (t *Trainer) limit(e *Evaluation, took time.Duration) {
	most := t.settings.MostSeconds
	if most <= 0 || !t.climbs() {
		return
	}
	live := 0
	for i := range e.Kernels {
		if e.Kernels[i].Status == Live {
			live++
		}
	}
	m, stay := t.rungs[t.rung+1], 0
	if t.recalls() {
		stay = len(t.forgotten(e))
	} else {
		stay = len(t.finalists())
	}
	more, left := took.Seconds()*t.settings.growth(t.rows, live, t.m, stay, m), most-t.spent.Seconds()
	if more <= left {
		return
	}
	t.told = true
	of := fmt.Sprintf("%d kernels", stay)
	if stay == 1 {
		of = "1 kernel"
	}
	e.Notices = append(e.Notices, Notice{Text: fmt.Sprintf(
		"%d inducing inputs for %s would take about %.2g s more, sparse.most_seconds = %g leaves %.2g", m, of, more, most, math.Max(0, left))})
	if open, _, _, _ := undecided(e); len(open) > 1 {
		e.Notices = append(e.Notices, Notice{Text: t.together(open)})
	}
}

// growth is how many times as long as an evaluation of so many live kernels with m
// inducing inputs one of stay kernels with next takes: by the number of kernels and the
// square of M where all rows are gone through again and again.
func (s Settings) growth(rows, live, m, stay, next int) float64 {
	if e, err := s.Effort(rows); err == nil && !e.Exact() {
		return e.Work(rows, stay, next) / e.Work(rows, live, m)
	}
	wider := s.Like(rows, next) / float64(m)
	return wider * wider * float64(stay) / float64(live)
}

// climb moves to the next rung where the evaluations of this one are done:
// kernels that are not among its finalists are pruned. It returns how to undo it.
func (t *Trainer) climb(ctx context.Context) (undo func() error, err error) {
	undo = func() error { return nil }
	if !t.climbs() {
		return undo, nil
	}
	if t.recalls() {
		return t.recall(), nil
	}
	stay, err := t.farSighted(ctx, t.finalists())
	if err != nil {
		return undo, err
	}
	undo = t.keep()
	m := t.rungs[t.rung+1]
	t.leave()
	var names []string
	for i, k := range t.kernels {
		switch {
		case !k.current(t.rows): // restored ones, which have not been compared yet, stay
		case stay[i]:
			names = append(names, k.id)
		default:
			k.status, k.reason, k.left = Pruned, fmt.Sprintf("left out at M = %d, where %d are compared", m, len(stay)), m
		}
	}
	text := fmt.Sprintf("evaluation %d compares %d of %d kernels with %d inducing inputs", t.evaluation+1, len(names), len(t.kernels), m)
	switch {
	case len(names) == 1:
		text = fmt.Sprintf("evaluation %d: %s with %d inducing inputs", t.evaluation+1, names[0], m)
	case len(names) <= fewNames:
		text += ": " + strings.Join(names, ", ")
	}
	t.notices = append(slices.Clone(t.notices), Notice{Text: text})
	t.rung++
	if err := t.reinduce(m); err != nil {
		return func() error { return nil }, joined(err, undo())
	}
	return undo, nil
}

// forgotten are the kernels that were left out and have most of the belief, as many as take no
// longer with the present inducing inputs than those did that were compared with them, or than all
// kernels on the first rung; none where the others have more than half of it.
func (t *Trainer) forgotten(e *Evaluation) (out []int) {
	effort, err := t.settings.Effort(t.rows)
	if err != nil || effort.Exact() {
		return nil
	}
	share, live := 0.0, 0
	for i := range e.Kernels {
		k := &e.Kernels[i]
		switch {
		case k.Status == Live:
			live++
		case k.LeftOut && !t.kernels[i].seenNearby(t.rows): // else more is known of it than its place on a rung
			if share += k.Posterior; k.Posterior >= recallLeast {
				out = append(out, i)
			}
		}
	}
	if share < recallShare {
		return nil
	}
	slices.SortStableFunc(out, func(a, b int) int { return cmp.Compare(e.Kernels[b].Posterior, e.Kernels[a].Posterior) })
	most := math.Max(effort.Work(t.rows, live, t.m), effort.Work(t.rows, t.atFirst(), t.rungs[0]))
	return out[:sort.Search(len(out), func(i int) bool { return effort.Work(t.rows, i+1, t.m) > most })]
}

// lookBack plans an evaluation more where the ladder has ended and half of the belief or more is with kernels that
// were left out on the way: of those all that is known is where they stood then and how others have moved. It is
// asked whenever the belief has changed: what has been planned and is not needed any more is not made.
func (t *Trainer) lookBack(e *Evaluation) {
	if t.recalls() {
		if len(t.forgotten(e)) == 0 { // others have most of the belief by now
			t.rungs, t.again = t.rungs[:t.again], 0
		}
		return
	}
	if !t.settings.autoInducing() || t.again > 0 || !t.settings.integrates() || !t.concluding(e.Index) ||
		!t.told && t.rung+1 < len(t.rungs) || len(t.forgotten(e)) == 0 {
		return
	}
	t.again, t.told = t.rung+1, false
	t.rungs = append(slices.Clone(t.rungs[:t.again]), t.m)
}

// recalls reports whether the next rung, if there is one, is the one of lookBack.
func (t *Trainer) recalls() bool { return t.again > 0 && t.rung+1 == t.again }

// recall brings the kernels back that lookBack has planned an evaluation for. The others have been compared
// with as many inducing inputs and stay as they are. It returns how to undo it.
func (t *Trainer) recall() (undo func() error) {
	undo = t.keep()
	var names []string
	for _, i := range t.forgotten(t.last) {
		k := t.kernels[i]
		k.status, k.reason, k.low, k.rows, k.terms = Live, "", 0, 0, nil
		if k.ahead = nil; k.state != nil {
			k.state = k.state.unplaced()
		}
		names = append(names, k.id)
	}
	t.rung++
	t.recalled = t.evaluation + 1
	t.notices = append(slices.Clone(t.notices), Notice{Text: fmt.Sprintf(
		"evaluation %d brings back, with %d inducing inputs, what was left out with fewer and has most of the belief: %s",
		t.recalled, t.m, strings.Join(names, ", "))})
	return undo
}

// keep returns what brings the trainer back to where it is now; in between there may be
// other kernels' contents, rows and inducing inputs.
func (t *Trainer) keep() (undo func() error) {
	before := *t
	before.workers = nil // their memory is needed
	kernels := make([]kernel, len(t.kernels))
	for i, k := range t.kernels {
		kernels[i] = *k
	}
	t.setKernels(kernels)
	return func() error {
		*t = before
		if err := t.makeWorkers(); err != nil {
			return err
		}
		return t.prepareSearch()
	}
}

func joined(a, b error) error {
	if b == nil {
		return a
	}
	return fmt.Errorf("%w; %w", a, b)
}

// finalists chooses the kernels of the next rung: the best quarter by what is sure
// of their evidence, then those that might still be as good, by the middle of
// their bounds and by how far that has moved with the inducing inputs, up to as many again. Few inducing inputs are worse for rough
// kernels than for smooth ones, so that the local ELBO alone would leave them out. Of
// few rows all stay that are no further behind than the best has come on this rung.
func (t *Trainer) finalists() map[int]bool {
	var live []int
	for i, k := range t.kernels {
		if k.current(t.rows) {
			live = append(live, i)
		}
	}
	sure := func(i int) float64 {
		if k := t.kernels[i]; k.seenNearby(t.rows) {
			return k.nearby.Nats
		}
		if k := t.kernels[i]; t.nextRough() && k.heard.X != nil {
			return k.heard.Value
		}
		if b := t.kernels[i].bounds; b != nil {
			return b.Lower
		}
		return t.kernels[i].elbo
	}
	middle := func(i int) float64 {
		if b := t.kernels[i].bounds; b != nil && t.rows <= ProductRows && !t.nextRough() && !t.kernels[i].seenNearby(t.rows) {
			return b.Lower + b.Slack()/2
		}
		return sure(i)
	}
	by := func(value func(int) float64) []int {
		order := slices.Clone(live)
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(value(b), value(a)) })
		return order
	}
	count := t.settings.RungKernels(t.rows, t.atFirst(), len(live), t.rungs[t.rung+1])
	if t.nextRough() {
		cube := float64(t.rows) * float64(t.rows) * float64(t.rows)
		count = min(len(live), max(fewLive, int(roughWork/cube)))
	}
	most := 2 * count
	if !t.goesThrough() { // nor then do they take longer than a rung is to
		most = count
	}
	stay := map[int]bool{}
	order := by(sure)
	for _, i := range order[:count] {
		stay[i] = true
	}
	near := float64(rungNats)
	if t.data.Rows() <= t.settings.AllRows && len(live) <= fewLive {
		near = math.Max(near, t.rungGain(sure(order[0])))
		if t.settings.light(t.rows, t.rungs[t.rung+1]) {
			most = len(live)
		}
	}
	best := t.kernels[order[0]]
	hoped := func(i int) float64 {
		if t.rung == 0 || t.nextRough() { // it has moved with the rows
			return middle(i)
		}
		return middle(i) + t.kernels[i].drift(best, t.rows == t.data.Rows())
	}
	for _, i := range by(hoped) {
		if len(stay) < most && (hoped(i) > sure(order[0]) || sure(order[0])-sure(i) < near) {
			stay[i] = true
		}
	}
	return stay
}

// rungGain is by how much the best of what is sure has grown on this rung, 0 on the
// first. So much another kernel may gain on the next one: where the function is rougher than the
// inducing inputs are close, the bounds at the optimum of few say little about that of many.
func (t *Trainer) rungGain(sure float64) float64 {
	before := math.Inf(-1)
	for _, k := range t.kernels {
		if len(k.ends) > 0 {
			before = math.Max(before, k.ends[len(k.ends)-1].middle)
		}
	}
	if math.IsInf(before, -1) {
		return 0
	}
	return sure - before
}

// light reports whether little depends on how often bounds of n rows with m inducing
// inputs are evaluated.
func (s Settings) light(n, m int) bool {
	return n <= s.AllRows && float64(n)*float64(m)*float64(m) <= lightWork
}

// askedTwice reports whether bounds at what the first rung has found are not enough:
// of few rows another rung is cheap, and shows what is too rough for the first one,
// about which bounds at other hyperparameters say nothing.
func (t *Trainer) askedTwice(last bool, live int) bool {
	return t.rung == 0 && !last && live > 1 && t.data.Rows() <= t.settings.AllRows && t.optimizer.search().always
}

// searchedAgain reports whether all of so many live kernels will be searched for in full
// with more inducing inputs than now.
func (t *Trainer) searchedAgain(live int) bool {
	return t.settings.autoInducing() && !t.told && t.askedTwice(t.rung+1 == len(t.rungs), live)
}

// undecided are the live kernels whose bounds do not tell them from the leader, itself included, with the most that
// bounds leave open of one, and whether all of these have some; live is how many kernels are.
func undecided(e *Evaluation) (open []string, slack float64, bounded bool, live int) {
	bounded = true
	for i := range e.Kernels {
		k := &e.Kernels[i]
		if k.Status == Live {
			live++
		}
		switch {
		case k.Status != Live || k.Apart:
		case k.Evidence == nil:
			open, bounded = append(open, k.ID), false
		default:
			open, slack = append(open, k.ID), math.Max(slack, k.Evidence.Slack())
		}
	}
	return open, slack, bounded, live
}

// together says that the inducing inputs do not tell some kernels apart.
func (t *Trainer) together(open []string) string {
	text := fmt.Sprintf("%d inducing inputs do not tell these %d kernels apart: %s", t.m, len(open),
		strings.Join(open[:min(fewNames, len(open))], ", "))
	if more := len(open) - fewNames; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// tell finds out, after the last evaluation of a rung, whether more inducing inputs
// could change anything, and says so on the last rung if they could. A kernel that
// is alone need not be compared: it climbs for its predictions, and what matters is
// how far its q(v) may be from the posterior, KL = log evidence − local ELBO. Where the noise is
// audibly none, bounds are no reason to stay.
func (t *Trainer) tell(e *Evaluation, audibly bool) {
	if !t.settings.autoInducing() || !t.concluding(e.Index) {
		return
	}
	open, slack, bounded, live := undecided(e)
	// Where Z has fewer than were asked for it has every input that there is.
	if leader := &e.Kernels[e.Leader()]; live == 1 && bounded {
		slack = leader.Evidence.Upper - leader.ELBO
	}
	before, last := t.told, t.rung+1 == len(t.rungs) || t.recalls()
	settled := bounded && slack <= settledNats && !audibly && !t.askedTwice(last, live) && t.rung >= t.rough
	t.told = !t.recalls() && (settled || t.m < t.rungs[t.rung])
	text := ""
	switch {
	case t.told && !before && !last:
		text = fmt.Sprintf("%d inducing inputs are enough: fewer evaluations are needed than planned", t.m)
	case !t.told && last && bounded && len(open) > 1 && e.Kernels[e.Leader()].Windows == nil:
		text = t.together(open)
	default:
		return
	}
	e.Notices = append(e.Notices, Notice{Text: text})
}
