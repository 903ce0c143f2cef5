package vbks

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"example.com/kestrel/kernelspace"
	"example.com/kestrel/kernelspace/grow"
	"example.com/kestrel/vbks/front"
	"example.com/kestrel/vbks/params"
	"example.com/kestrel/vbks/periods"
	"example.com/kestrel/vbks/promise"
	"example.com/kestrel/vbks/starts"
)

// Grow announces rows behind those that are known, up to so many of Training in all. The
// next evaluations take them in, each the share of all that Settings.EvaluateEvery says,
// then Refine more follow. The first of these begins with what has been learned:
// hyperparameters and modes stay, and so do priors, the noise's floor, candidate periods
// and who has been pruned; inducing inputs are placed anew over all rows, and where their
// number is chosen by itself, it is chosen again: kernels that were left out for it take
// part. Until then nothing changes.
func (t *Trainer) Grow(rows int) error {
	switch {
	case t.last == nil:
		return errors.New("there is no evaluation yet")
	case rows <= max(t.wanted(), t.grown.rows) || rows > t.all.Rows():
		return fmt.Errorf("there are %d rows, %d in all; they cannot grow to %d", t.wanted(), t.all.Rows(), rows)
	}
	t.grown = growth{
		evaluation: t.evaluation, seen: t.rows, rows: rows, step: int(math.Ceil(t.settings.EvaluateEvery*float64(rows) - 1e-9)),
	}
	t.rungs, t.rung, t.rough, t.again, t.told = t.settings.Rungs(rows, t.atFirst()), 0, 0, 0, false
	t.expansion.blurred = false
	if !t.settings.autoInducing() {
		t.rungs[0] = t.settings.Inducing
	}
	t.extra, t.spent = 0, 0
	return nil
}

// moveOn does what stands before the next evaluation: rows that have been announced are
// taken in, kernels enter and leave, or another rung is climbed. It returns how to undo it.
func (t *Trainer) moveOn(ctx context.Context) (undo func() error, err error) {
	t.expansion.entered, t.expansion.left = nil, nil
	unweigh, err := t.reweigh(ctx)
	if err != nil {
		return func() error { return nil }, err
	}
	back := func() error { return nil }
	if t.apart > 0 && !t.growing() && t.grown.rows <= t.data.Rows() {
		back, err = t.takeRest()
	} else if t.grown.rows <= t.data.Rows() && t.growing() && t.last != nil {
		back, err = t.goOn(ctx)
	} else if t.grown.rows <= t.data.Rows() {
		back, err = t.climb(ctx)
	} else if err = ctx.Err(); err != nil {
		err = context.Cause(ctx)
	} else {
		undo := t.keep()
		if err = t.takeIn(""); err != nil {
			err = joined(err, undo())
		} else {
			back = undo
		}
	}
	undo = func() error {
		err := back()
		unweigh()
		return err
	}
	if err != nil {
		unweigh()
		return func() error { return nil }, err
	}
	return undo, nil
}

// goOn is moveOn while the space grows. If it returns an error nothing is changed.
func (t *Trainer) goOn(ctx context.Context) (undo func() error, err error) {
	none := func() error { return nil }
	blur, err := t.sharpen()
	if err != nil {
		return none, err
	}
	unspread := t.spread(ctx)
	undo = func() error {
		unspread()
		return blur()
	}
	if ctx.Err() != nil { // what neighbours promise may not be known
		return none, joined(context.Cause(ctx), undo())
	}
	if t.apart == 0 || !t.expansion.planned.Over {
		return undo, nil
	}
	untake, err := t.takeRest()
	if err != nil {
		return none, joined(err, undo())
	}
	before := undo
	return func() error { return errors.Join(untake(), before()) }, nil
}

// takeIn makes the rows that have been announced known, and says why, if that is not that they came.
func (t *Trainer) takeIn(why string) error {
	before := t.data.Rows()
	if err := t.know(t.grown.rows); err != nil {
		return err
	}
	t.expansion.over, t.expansion.passed = false, nil
	if t.apart > 0 { // periods are those of fewer
		t.apart, t.drawer = 0, nil
	}
	back := 0
	for _, k := range t.kernels {
		if k.ends = nil; k.status == Pruned && k.left > 0 {
			k.status, k.reason, k.left, k.rows, k.terms = Live, "", 0, 0, nil
			back++
		}
	}
	text := fmt.Sprintf("evaluation %d takes in rows behind the %d that there were: %d in all", t.evaluation+1, before, t.data.Rows())
	if why != "" {
		text = fmt.Sprintf("%s: evaluation %d takes in the others, %d in all", why, t.evaluation+1, t.data.Rows())
	}
	if back == 1 {
		text += "; a kernel that was left out takes part again"
	} else if back > 1 {
		text += fmt.Sprintf("; %d kernels that were left out take part again", back)
	}
	t.notices = append(t.notices[:len(t.notices):len(t.notices)], Notice{Text: text})
	return t.reinduce(t.rungs[t.rung])
}

// expansion is how the space of kernels grows.
type expansion struct {
	grammar *grow.Grammar // that it grows in; nil: it never has
	on      bool          // kernels come and go
	over    bool          // there is no more to try
	ended   int           // the evaluation after which that was found, 0: none
	blurred bool          // the leader is one of those that the inducing inputs show too little of; more come next
	tried   front.Tried   // kernels that have left; not modified
	params  int           // hyperparameters of a kernel, at most
	entered []Entered     // before the last evaluation, or that in the making
	left    []string
	planned front.Plan   // before the last evaluation
	passed  front.Passed // of all rows

	promised, ordered map[string]promised // of the leaders before it, as far as it is known
}

// growing reports whether kernels may enter before the next evaluation.
func (t *Trainer) growing() bool { return t.expansion.on && !t.expansion.over }

// reopen lets the space go on growing though there was no more to try, where what was left, compared once more, has
// other leaders, with neighbours that have not been tried. The error is the context's cause.
func (t *Trainer) reopen(ctx context.Context, e *Evaluation) error {
	x := &t.expansion
	if !x.on || !x.over || t.evaluation != x.ended+1 || t.rows < t.data.Rows() || len(t.front(nil, nil).Enter) == 0 {
		return nil
	}
	plan := t.front(t.promises(ctx))
	if ctx.Err() != nil { // what neighbours promise may not be known
		return context.Cause(ctx)
	}
	if len(plan.Enter) == 0 {
		return nil
	}
	x.over = false
	neighbours := "a neighbour"
	if n := len(plan.Enter) + plan.Waiting; n > 1 {
		neighbours = fmt.Sprintf("%d neighbours", n)
	}
	e.Notices = slices.DeleteFunc(slices.Clone(e.Notices), saysGrownUp) // it does not hold
	text := fmt.Sprintf("the space of kernels grows again: compared once more, its leaders have %s to try", neighbours)
	e.Notices = append(e.Notices, Notice{Text: text})
	return nil
}

// rounds is the number of evaluations before the first rung is left: those planned and
// asked for, and while the space grows one more than the next, which the last kernels to
// enter are compared by.
func (t *Trainer) rounds() int {
	n := t.base() + t.extra
	if t.growing() || t.apart > 0 {
		n = max(n, t.evaluation+2-t.rung)
	}
	return n
}

// mostKernels is how many may be compared at once.
func (t *Trainer) mostKernels() int {
	if t.expansion.grammar != nil {
		return max(len(t.kernels), t.growLive())
	}
	return len(t.kernels)
}

// growLive is how many kernels of a growing space are compared at a time.
func (t *Trainer) growLive() int {
	if len(t.rungs) == 0 {
		return t.settings.Growth.Live
	}
	return t.settings.GrowLive(t.data.Rows(), t.schedule(t.evaluation+1), t.rungs[0], t.m)
}

// sharper reports whether evaluation number may be made with the inducing inputs of the next
// rung though the space still grows.
func (t *Trainer) sharper(number int) bool {
	if !t.growing() || !t.settings.autoInducing() || !t.optimizer.search().always || t.told || t.rung+1 >= len(t.rungs) ||
		t.settings.MostSeconds > 0 && t.spent.Seconds() >= t.settings.MostSeconds {
		return false
	}
	m, n := t.rungs[t.rung+1], t.schedule(number)
	return (n == t.data.Rows() || m <= n/2) && t.settings.GrowsWith(n, m)
}

// sharpen climbs to the next rung, with all kernels, where the present inducing inputs show
// too little of the leader to say where the space should grow (or holds rows back, see holdBack), and to the last one as
// soon as growsWhole says so. It returns how to undo it.
func (t *Trainer) sharpen() (undo func() error, err error) {
	undo = func() error { return nil }
	if t.expansion.blurred && t.holds(t.rows) {
		return t.holdBack()
	}
	whole := t.growsWhole() && t.schedule(t.evaluation+1) == t.data.Rows()
	if !whole && !t.expansion.blurred || !t.settings.autoInducing() || t.rung+1 >= len(t.rungs) { // the latter by order since
		return undo, nil
	}
	undo = t.keep()
	rung := t.rung + 1
	if whole {
		rung = len(t.rungs) - 1
	}
	t.extra -= rung - t.rung // the rungs' evaluations are among those that are planned
	t.rung = rung
	t.expansion.blurred = false
	if err := t.reinduce(t.rungs[t.rung]); err != nil {
		return func() error { return nil }, joined(err, undo())
	}
	return undo, nil
}

// blur finds out whether the inducing inputs show enough of the function to say where a growing
// space should grow: a kernel that has a part for what they do not show is no better with
// them than one that has not. They do not where they leave more nats of the best kernel open than those have that
// leave, or what it takes for noise is alike in neighbouring rows.
func (r *round) blur(ctx context.Context) error {
	best := r.foremost()
	if best < 0 || !r.sharper(r.number+1) {
		return nil
	}
	on := fmt.Sprintf("the space goes on growing with %d", r.rungs[r.rung+1])
	if r.holds(r.n) {
		on = fmt.Sprintf("the space goes on growing on %d of %d rows first, all of them inducing inputs", r.heldRows(r.n), r.data.Rows())
	}
	if b := r.outcomes[best].Evidence; b != nil && b.Slack() > front.Hopeless {
		r.blurred = fmt.Sprintf("%d inducing inputs leave %.3g nats of %s open: %s",
			r.m, b.Slack(), r.kernels[best].id, on)
		return nil
	}
	if r.dim > 1 {
		return nil
	}
	_, p, x, left, err := r.remainder(ctx, r.neighbours(heardRows, heardRuns))
	if err == nil && p.Noise >= leastRough && periods.Alike(x, left) > alikeSDs {
		r.blurred = fmt.Sprintf("what %d inducing inputs take for noise is alike in neighbouring rows: %s", r.m, on)
	}
	return err
}

// expand makes the grammar of the space that the run began with, and gives the kernels
// their prior in it. From here on the space grows, with the evidence that goes with that. If it returns an error nothing is changed.
func (t *Trainer) expand() error {
	of := func(err error) error { return fmt.Errorf("a growing space of kernels: %w", err) }
	if err := t.bringable(); err != nil {
		return of(err)
	}
	exprs := make([]kernelspace.Expr, len(t.space))
	for i, c := range t.space {
		exprs[i] = c.Expr
	}
	g, err := grow.New(exprs, t.settings.Growth.Options(t.columns))
	if err != nil {
		return of(err)
	}
	each, more := 0, 0
	for _, e := range g.Kinds() {
		k, err := t.compile([]Candidate{{Expr: e}})
		if err != nil {
			return of(err)
		}
		own := len(k[0].program.Own().Params)
		each, more = max(each, own), max(more, len(k[0].program.Params)-own)
	}
	t.expansion.grammar, t.expansion.on, t.expansion.params = g, true, g.Leaves()*each+more
	if t.asked == autoEvidence {
		asked := t.settings
		asked.Evidence = t.asked
		t.settings.Evidence = asked.evidence(t.optimizer.bounded(), true)
	}
	t.assume(t.kernels)
	return nil
}

// bringable reports why late kernels cannot be brought to where the others are, nil if they can.
func (t *Trainer) bringable() error {
	n := t.data.Rows()
	e, err := t.settings.Effort(n)
	if err == nil && !e.Exact() && e.Ending(n, n, 1, min(n, t.settings.first(1)), true).Exact == 0 {
		err = fmt.Errorf("what %q makes of a late kernel cannot be brought to where the others are; take \"natural\" or \"collapsed\"",
			t.settings.Optimizer)
	}
	return err
}

// growable reports why the space cannot grow from here on, nil if it can.
func (t *Trainer) growable() error {
	for _, c := range t.space {
		switch {
		case c.weight() != t.space[0].weight():
			return errors.New("weights of kernels do not go with a space that grows, whose prior is over all kernels that may come")
		case c.Known != nil:
			return errors.New("stated hyperparameters do not go with a space that grows: they are about the kernels that there are")
		}
	}
	return t.bringable()
}

// assume gives kernels their prior in the grammar.
func (t *Trainer) assume(kernels []*kernel) {
	for _, k := range kernels {
		m := *k.model
		m.logPrior = t.expansion.grammar.LogPrior(m.expr)
		k.model = &m
	}
}

// regrow lets the space grow from here on, or no more, and returns how to undo it. If it returns an error nothing is changed, but
// for lanes that have been lost and what has been said of memory.
func (t *Trainer) regrow(on bool) (undo func() error, err error) {
	x, evidence := t.expansion, t.settings.Evidence
	if x.grammar != nil || !on {
		t.expansion.on, t.expansion.over = on, false
		return func() error {
			t.expansion = x
			return nil
		}, nil
	}
	if err := t.growable(); err != nil {
		return nil, err
	}
	models, pasts := make([]*model, len(t.kernels)), make([][]pastELBO, len(t.kernels))
	for i, k := range t.kernels {
		models[i], pasts[i] = k.model, k.past
	}
	ready := func() error { // lanes may need room for larger kernels, or no more
		t.scout = nil
		if err := t.makeWorkers(); err != nil {
			return err
		}
		return t.prepareSearch()
	}
	var raised []Notice
	undo = func() error {
		t.notices = slices.DeleteFunc(slices.Clone(t.notices), func(n Notice) bool { return slices.Contains(raised, n) })
		t.expansion, t.settings.Evidence = x, evidence
		for i, k := range t.kernels {
			k.model, k.past = models[i], pasts[i]
		}
		return ready()
	}
	if err := t.expand(); err != nil {
		return nil, err
	}
	if t.settings.Evidence != evidence { // what it changes is no innovation
		for _, k := range t.kernels {
			k.past = nil
		}
	}
	if err := ready(); err != nil {
		return nil, joined(err, undo())
	}
	raised = t.raised()
	t.notices = append(slices.Clip(t.notices), raised...)
	return undo, nil
}

// spread lets kernels leave and enter before the next evaluation, as what is known of
// those that there are says. It returns how to undo it.
func (t *Trainer) spread(ctx context.Context) (undo func()) {
	before, x := *t, &t.expansion
	undo = func() { // what has become of the lanes stays
		before.workers, before.group, before.lost, before.scout = t.workers, t.group, t.lost, t.scout
		*t = before
	}
	if t.compared != t.m {
		x.tried, x.passed = x.tried.Again(t.rows), nil
	}
	plan := t.front(t.promises(ctx))
	if x.left, x.planned = plan.Leave, plan; t.apart == 0 { // on more rows it goes on anyway
		x.passed = plan.Passed
	}
	if plan.Over && t.apart == 0 {
		x.over, x.ended = true, t.evaluation
		t.extra = max(t.extra, t.evaluation+1-t.base()-t.rung) // those that are left are compared once more
		t.notices = append(slices.Clip(t.notices), Notice{Text: t.endOfGrowth(plan.Leaders)})
	}
	if len(plan.Leave)+len(plan.Enter) == 0 {
		return undo
	}
	stay := make([]*kernel, 0, len(t.kernels)+len(plan.Enter))
	for _, k := range t.kernels {
		rows := k.rows
		if k.status == Failed {
			rows = front.Forever
		} else if t.undecided(k) {
			rows = front.Undecided(rows)
		}
		if slices.Contains(plan.Leave, k.id) {
			x.tried = x.tried.Leave(k.id, rows)
			continue
		}
		copied := *k
		stay = append(stay, &copied)
	}
	for _, e := range plan.Enter {
		c := Candidate{Expr: e.Expr, Weight: 1}
		k, err := t.compile([]Candidate{c})
		if err != nil { // it means nothing with these inputs
			x.tried = x.tried.Leave(e.Expr.ID(), front.Forever)
			continue
		}
		t.assume(k)
		stay = append(stay, k[0])
		x.entered = append(x.entered, Entered{c, e.Parent, e.Step, k[0].logPrior})
	}
	if t.compared != t.m { // nor have these been compared as others will be
		x.tried = x.tried.Again(t.rows)
	}
	t.kernels = stay
	t.relate()
	return undo
}

// front plans what leaves and enters, by what neighbours may gain if that is known.
func (t *Trainer) front(gains, order front.Gains) front.Plan {
	space := make([]front.Kernel, len(t.kernels))
	for i, k := range t.kernels {
		current := k.current(t.rows)
		space[i] = front.Kernel{Expr: k.expr, Leads: k.id == t.leader, Compared: current,
			Waits: k.status == Live && !current, Gone: k.status == Failed || k.status == Pruned && k.reason == byBelief}
		if current {
			space[i].Score = k.worth()/t.settings.EvidenceScale + k.logPrior
		}
	}
	x := &t.expansion
	return x.tried.Next(x.grammar, space, t.rows, t.data.Rows(), t.growLive(), gains, order, x.passed)
}

// PromisedRows are the most rows seen of which some hundred say what neighbours promise.
const PromisedRows = 2000

// promised is what neighbours of a kernel gain on its solution, of so many rows.
type promised struct {
	rows  int
	free  []float64
	gains map[string]float64
}

// promises are what says how much neighbours of a kernel may gain on it, where few rows have been seen, and which of many
// gain most; nil elsewhere. They follow from what is kept of the kernels, so that a run that is taken up again has the same.
func (t *Trainer) promises(ctx context.Context) (gains, order front.Gains) {
	if t.weighing.weights != nil {
		return nil, nil
	}
	if order = t.promising(ctx, promise.Rough, &t.expansion.ordered); t.rows > PromisedRows {
		return nil, order
	}
	return t.promising(ctx, promise.Most, &t.expansion.promised), order
}

// promising is what says how much neighbours gain on a kernel by so many rows, and keeps what it finds until it is made anew.
func (t *Trainer) promising(ctx context.Context, most int, found *map[string]promised) front.Gains {
	compile := func(e kernelspace.Expr) (*kernelspace.Program, error) {
		k, err := t.compile([]Candidate{{Expr: e}})
		if err != nil {
			return nil, err
		}
		return k[0].program, nil
	}
	known := *found
	*found = map[string]promised{}
	var rows *promise.Rows
	return func(e kernelspace.Expr, to []grow.Neighbour) map[string]float64 {
		at := slices.IndexFunc(t.kernels, func(k *kernel) bool { return k.id == e.ID() })
		if at < 0 || t.kernels[at].state == nil {
			return nil
		}
		k := t.kernels[at]
		p, asked := (*found)[k.id]
		if !asked {
			var ok bool
			if p, ok = known[k.id]; !ok || p.rows != t.rows || !slices.Equal(p.free, k.state.Free) {
				p = promised{t.rows, slices.Clone(k.state.Free), map[string]float64{}}
			}
			(*found)[k.id] = p
		}
		missing := slices.DeleteFunc(slices.Clone(to), func(n grow.Neighbour) bool {
			_, ok := p.gains[n.Expr.ID()]
			return ok
		})
		if len(missing) == 0 {
			return p.gains
		}
		if rows == nil {
			rows = promise.New(t.data.X[:t.rows*t.dim], t.data.Y[:t.rows], t.dim, t.scales, t.settings.Seed, most)
		}
		raw, noise := params.Raw(k.program, k.state.Free, t.floor)
		maps.Copy(p.gains, rows.Gains(ctx, promise.Solution{Program: k.program, Raw: raw, Noise: noise}, missing, compile))
		return p.gains
	}
}

// relate finds the kinship of the kernels that there are now.
func (t *Trainer) relate() {
	exprs := make([]kernelspace.Expr, len(t.kernels))
	for i, k := range t.kernels {
		exprs[i] = k.expr
	}
	for i, kin := range starts.Kinship(exprs) {
		m := *t.kernels[i].model
		m.kin = kin
		t.kernels[i].model = &m
	}
}

// grownUp begins the notice that there is no more to try.
const grownUp = "the space of kernels grows no more"

// saysGrownUp reports whether a notice is that one.
func saysGrownUp(n Notice) bool { return strings.HasPrefix(n.Text, grownUp) }

// endOfGrowth says that there is no more to try, of so many leaders.
func (t *Trainer) endOfGrowth(leaders int) string {
	first := fmt.Sprintf("the first %d", leaders)
	if leaders == 1 {
		first = "the first"
	}
	f, most := t.expansion.standing(t.kernels), ""
	if f.Beyond > 0 {
		most = fmt.Sprintf(" of the %d that promise most", front.Wide)
	}
	return fmt.Sprintf(grownUp+": no neighbour of %s is better%s; %d kernels tried of %s up to %d leaves",
		first, most, f.Tried, grow.CountText(f.Of), f.Leaves)
}

// save adds it to a checkpoint.
func (x *expansion) save(add func(name string, data []float64, shape ...int), text func(name, s string)) {
	number := map[bool]float64{true: 1}
	add("growth", []float64{number[x.on], number[x.over]})
	if x.blurred {
		add("growth/blurred", []float64{1})
	}
	if x.over {
		add("growth/ended", []float64{float64(x.ended)})
	}
	if lines, scores := x.passed.Lines(); len(lines) > 0 {
		text("growth/passed", strings.Join(lines, "\n"))
		add("growth/passed/scores", scores)
	}
	ids := slices.Sorted(maps.Keys(x.tried))
	if len(ids) == 0 {
		return
	}
	rows := make([]float64, len(ids))
	for i, id := range ids {
		rows[i] = float64(x.tried[id])
	}
	text("growth/tried", strings.Join(ids, "\n"))
	add("growth/rows", rows)
}

// late divides the live kernels into those that came after the first evaluation and have no
// solution yet, and the others.
func (r *round) late() (late, others []int) {
	for _, k := range r.live {
		if r.evaluation > 0 && r.kernels[k].state == nil {
			late = append(late, k)
		} else {
			others = append(others, k)
		}
	}
	return late, others
}
