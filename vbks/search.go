package vbks

import (
	"context"
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/mat"

	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks/covariance"
	"example.com/kestrel/vbks/inducing"
	"example.com/kestrel/vbks/params"
	"example.com/kestrel/vbks/starts"
)

// ScreenRows is on how many rows fresh starts are first tried.
const ScreenRows = 256

// Numbers that steer the search for good hyperparameters; docs/architecture.md
// has the reasons.
const (
	screenShare     = 2     // with so many times as many inducing inputs those are the rows themselves
	screenSteps     = 5     // L-BFGS iterations there
	draftSteps      = 12    // further ones for the third that did best
	thoroughTimes   = 2     // as many starts, of few rows
	thoroughBest    = 3     // drafts that are followed on all rows in a thorough search
	cheapBest       = 6     // where bounds are cheap, and
	cheapVariants   = 3     // of each kind of variant there
	runnerUpNats    = 12.0  // nats that a second solution may be behind the best there
	stageSteps      = 12    // iterations on all rows before a start must look promising
	promising       = 40.0  // nats that a start may be behind then
	transplantSlack = 30.0  // nats that a transplant may be behind the present solution
	variantSlack    = 200.0 // nats that a variant may be behind the present solution
	variedBest      = 3     // variants of each of few kernels that are followed, of few rows,
	variedRounds    = 3     // so many times, as long as that gains
	mostBrought     = 4     // columns that a kernel gets back at a time, as long as each gains
	leftPeriods     = 4     // those that a solution leaves that are tried
	cheapWork       = 2e6   // where a product of the rows with the inducing inputs takes at most so much
	scoutFewest     = 10    // live kernels that the scout is still enlarged for
	scoutKernels    = 144   // and those for which it has
	scoutRows       = 768   // so many rows
	scoutInducing   = 64    // and so many inducing inputs
	maxFactor       = 1e4   // of the jitter's escalation
)

// starts returns the number of fresh starts of this evaluation: all while data
// are few and at the end, a third of them between. Of few rows a thorough search makes
// more, unless kernels are so many that they take from each other.
func (u *unit) starts() int {
	if u.order.Resumed || u.order.Late {
		return 0
	}
	p := float64(u.order.Rows) / float64(u.total)
	if p >= 0.3 && p < 1 {
		return (u.settings.Starts + 2) / 3
	}
	if u.thorough() && u.total <= u.settings.AllRows && len(u.models) <= fewKernels {
		return thoroughTimes * u.settings.Starts
	}
	return u.settings.Starts
}

// draft is a fresh start after some iterations on few rows.
type draft struct {
	x     []float64
	value float64 // on those rows
	label string
}

// search finds hyperparameters for the kernels of a unit: from the last
// optimum and from fresh starts.
func (u *unit) search(ctx context.Context) error {
	bound := u.worker.bound
	screened, err := u.screenBound()
	if err != nil {
		return err
	}
	if err := u.load(bound.group); err != nil {
		return err
	}
	rows, err := u.rows(u.order.Compared)
	if err != nil {
		return err
	}
	screen, err := u.rows(u.order.Screen)
	if err != nil {
		return err
	}
	onRows := bound.boundObjective(rows, u.order.Compared.YY, u.stop)
	onScreen := screened.boundObjective(screen, u.order.Screen.YY, u.stop)
	plain, plainly := bound.boundValue(rows, u.order.Compared.YY, u.stop), screened.boundValue(screen, u.order.Screen.YY, u.stop)
	explore := func() ([][]draft, error) { return u.explore(ctx, onRows, plain, onScreen, plainly) }
	if u.order.Part != nil {
		explore = func() ([][]draft, error) { return u.exploreApart(ctx, onRows, onScreen, plainly) }
	}
	drafts, err := explore()
	if err != nil {
		return err
	}
	for i := range u.outcomes {
		f := &u.outcomes[i]
		if f.Best.X != nil || f.Failure != "" {
			continue
		}
		if f.Factor < maxFactor {
			// No start could be evaluated: more jitter, once per evaluation and kept.
			f.Factor *= 10
			alone := *u
			alone.tasks, alone.outcomes = u.tasks[i:i+1], u.outcomes[i:i+1]
			if err := alone.search(ctx); err != nil {
				return err
			}
			if err := u.load(bound.group); err != nil {
				return err
			}
			continue
		}
		var tried []float64
		if len(drafts[i]) > 0 {
			tried = drafts[i][0].x
		}
		f.Failure = u.describeFailure(i, tried)
	}
	return nil
}

// explore looks for solutions on some rows, of all kinds of starts and of variants of what these have led to; plain and
// plainly are without gradients. It returns the fresh starts.
func (u *unit) explore(ctx context.Context, onRows, plain, onScreen, plainly objective) ([][]draft, error) {
	if err := u.resume(ctx, onRows, plain); err != nil {
		return nil, err
	}
	if err := u.guess(ctx, onRows); err != nil {
		return nil, err
	}
	if err := u.scan(ctx, onRows, plainly); err != nil {
		return nil, err
	}
	if err := u.roughen(ctx, onRows, plain); err != nil {
		return nil, err
	}
	drafts, err := u.freshStarts(ctx, onScreen, onRows)
	if err != nil {
		return nil, err
	}
	if err := u.polish(ctx, drafts, onRows); err != nil {
		return nil, err
	}
	if u.order.Thorough && u.optimizer.search().always {
		if err := u.bring(ctx, onRows, plain); err != nil {
			return nil, err
		}
	}
	fold := func() error { return u.fold(ctx, onRows, plainly) }
	if err := u.recur(ctx, onRows, plain); err != nil {
		return nil, err
	}
	if err := u.left(ctx, onRows, plain); err != nil {
		return nil, err
	}
	if err := fold(); err != nil {
		return nil, err
	}
	if err := u.second(func() error {
		if err := u.recur(ctx, onRows, plain); err != nil {
			return err
		}
		return fold()
	}); err != nil {
		return nil, err
	}
	return drafts, nil
}

// screenBound is the bound on which the rows of the screen try starts: with many more inducing inputs than these
// are rows that with these as inducing inputs, which is their evidence and takes a fraction.
func (u *unit) screenBound() (*collapsed, error) {
	s := u.order.Screen
	if bound := u.worker.bound; bound.m < screenShare*ScreenRows || u.order.Resumed {
		return bound, nil
	}
	var x []float64
	for i := range s.N {
		row := i
		if s.Rows != nil {
			row = int(s.Rows[i])
		}
		x = append(x, u.x[row*u.dim:(row+1)*u.dim]...)
	}
	z, _, err := inducing.Place(x, u.dim, s.N, "jittered", u.settings.Seed)
	if err != nil {
		return nil, err
	}
	b, err := u.boundOf(z)
	if err != nil {
		return nil, err
	}
	return b, u.load(b.group)
}

// resume takes the kernels of a unit up where they were: optimised further on
// all rows, or only valued where the optimiser will take them further. Where noise may
// be a rough function it is so at the start if that is better.
func (u *unit) resume(ctx context.Context, onRows, plain objective) error {
	var sub []int
	var runs []*ascent
	for i := range u.tasks {
		if s := u.tasks[i].Last; s != nil {
			sub, runs = append(sub, i), append(runs, &ascent{start: s.solution()})
		}
	}
	if u.order.Rough {
		trials := make([][]*ascent, len(u.tasks))
		for _, i := range sub {
			free := u.tasks[i].Last.solution()
			from := append([][]float64{free}, u.drawer.Roughen(u.model(i).program, free)...)
			if x := u.tasks[i].Known.Heard.X; x != nil {
				from = append(from, x)
			}
			for _, x := range from {
				trials[i] = append(trials[i], &ascent{start: x})
			}
		}
		best, err := foremost(trials, plain, 1, u.stop)
		if err != nil {
			return err
		}
		for j, i := range sub {
			if len(best[i]) > 0 {
				runs[j].start = best[i][0].x
			}
		}
	}
	if err := u.climb(ctx, sub, runs, u.optimizer.search().resumed(u.settings.Steps), onRows); err != nil {
		return err
	}
	for j, i := range sub {
		u.outcomes[i].see(runs[j])
		u.outcomes[i].offer(runs[j], "last")
	}
	return nil
}

// roughen tries, in a thorough search, whether what the present solutions take for
// noise is a rough function.
func (u *unit) roughen(ctx context.Context, onRows, plain objective) error {
	if !u.thorough() {
		return nil
	}
	return u.variants(ctx, onRows, plain, variantSlack, 1, "rougher", nil, u.drawer.Roughen)
}

// scan tries, in a thorough search of few kernels on few rows, periods of few cycles, by
// what they are worth on the rows of the screen.
func (u *unit) scan(ctx context.Context, onRows, onScreen objective) error {
	if !u.scanned() {
		return nil
	}
	return u.variants(ctx, onRows, onScreen, math.NaN(), u.followed(), "scanned", nil, u.drawer.Scan)
}

// fold tries whether the functions of the present solutions repeat, as they are, by what that is worth on the rows
// of the screen with more noise.
func (u *unit) fold(ctx context.Context, onRows, onScreen objective) error {
	if !u.scanned() {
		return nil
	}
	return u.variants(ctx, onRows, onScreen, math.NaN(), u.followed(), "folded", nil, u.drawer.Fold)
}

// second has variants made of the second best solutions, too, since the best need not lead as far: where bounds are
// cheap, and of kernels that have one that is not much worse.
func (u *unit) second(vary func() error) error {
	if !u.cheap() {
		return nil
	}
	first, some := make([]solution, len(u.outcomes)), false
	for i := range u.outcomes {
		f := &u.outcomes[i]
		first[i], f.Best = f.Best, u.runnerUp(i)
		some = some || f.Best.X != nil
	}
	var err error
	if some {
		err = vary()
	}
	for i := range u.outcomes {
		if f := &u.outcomes[i]; first[i].X != nil && first[i].Value >= f.value() {
			f.Best = first[i]
		}
	}
	return err
}

// runnerUp is the second best solution that is known of a member, if it is another and within runnerUpNats.
func (u *unit) runnerUp(i int) (second solution) {
	f := &u.outcomes[i]
	if f.Best.X == nil {
		return second
	}
	strides := u.strides(u.model(i).program, f.Best.X)
	for _, m := range f.Modes {
		if m.Stale || m.Value < f.Best.Value-runnerUpNats || second.X != nil && m.Value <= second.Value {
			continue
		}
		for a, v := range m.X {
			if math.Abs(v-f.Best.X[a]) > oneMode*strides[a] {
				second = m
				break
			}
		}
	}
	return second
}

// followed is how many variants of a kind are climbed, where many are made.
func (u *unit) followed() int {
	if u.cheap() {
		return cheapVariants
	}
	return 1
}

// recur tries, in a thorough search, variants of the present solutions, of few rows with
// periods as long as the data, too; of few rows also where solutions are only taken up with more inducing
// inputs, which may be the first to resolve one.
func (u *unit) recur(ctx context.Context, onRows, plain objective) error {
	few := u.fewRows()
	if !few && !u.thorough() {
		return nil
	}
	slack := variantSlack
	if !u.thorough() {
		slack = transplantSlack
	}
	most, rounds := 1, 1
	if few && u.thorough() && len(u.models) <= fewKernels {
		if rounds = variedRounds; u.total <= u.settings.AllRows {
			most = variedBest
		}
	}
	again := func(which []bool) error {
		return u.variants(ctx, onRows, plain, slack, most, "varied", which, u.drawer.Vary)
	}
	if err := u.whileGaining(rounds, again); err != nil {
		return err
	}
	if few && u.thorough() { // far from any optimum as they are made, so that only a climb tells
		if err := u.variants(ctx, onRows, plain, math.Inf(1), 1, "wrapped", nil, u.drawer.Wrap); err != nil {
			return err
		}
	}
	return nil
}

// left tries periods that the present solutions leave in the data, where recur tries variants; where bounds cost
// much, two, if one is worth something before it is optimised.
func (u *unit) left(ctx context.Context, onRows, plain objective) error {
	few := u.fewRows()
	if !few && !u.thorough() {
		return nil
	}
	slack, follow, most, faint := variantSlack, u.followed(), leftPeriods, u.scanned()
	if few && !u.thorough() && !u.settings.light(u.total, u.drawer.Inducing) {
		slack, follow, most, faint = transplantSlack, 1, 2, false
	}
	var failure error
	of := func(p *kernelspace.Program, x []float64) [][]float64 {
		out, err := u.drawer.Left(ctx, p, x, most, faint, u.factor)
		if failure == nil {
			failure = err
		}
		return out
	}
	if err := u.variants(ctx, onRows, plain, slack, follow, "left", nil, of); err != nil {
		return err
	}
	return failure
}

// factor is covariance.Factor on the unit's lane.
func (u *unit) factor(x []float64, p *kernelspace.Program, raw []float64, noise float64) (*mat.TriDense, error) {
	return covariance.Factor(u.worker.group.dev, u.worker.lane, x, p, raw, noise)
}

// bring tries whether columns along which kernels have become flat are of use after all, one
// after the other.
func (u *unit) bring(ctx context.Context, onRows, plain objective) error {
	return u.whileGaining(mostBrought, func(which []bool) error {
		return u.variants(ctx, onRows, plain, variantSlack, 1, "returned", which, u.drawer.Return)
	})
}

// whileGaining has variants made of all kernels, then of what these have led to, so many times in
// all: of each kernel as long as it gains, whatever becomes of the others.
func (u *unit) whileGaining(rounds int, variants func(which []bool) error) error {
	var gained []bool
	for range rounds {
		before := u.values()
		if err := variants(gained); err != nil {
			return err
		}
		gained = make([]bool, len(before))
		for i, v := range u.values() {
			gained[i] = v > before[i]
		}
		if !slices.Contains(gained, true) {
			break
		}
	}
	return nil
}

// values are those of the present solutions.
func (u *unit) values() (v []float64) {
	for i := range u.outcomes {
		v = append(v, u.outcomes[i].value())
	}
	return v
}

// variants tries what is made of the present solutions, and optimises so many of each kernel, the best
// that are no further than so many nats behind the present one; with NaN, whose values are of
// some of the rows, the best in any case. Without which it is done for all kernels.
func (u *unit) variants(ctx context.Context, onRows, plain objective, slack float64, most int, label string, which []bool,
	of func(p *kernelspace.Program, x []float64) [][]float64,
) error {
	trials := make([][]*ascent, len(u.tasks))
	for i := range u.tasks {
		if f := &u.outcomes[i]; f.Best.X != nil && (which == nil || which[i]) {
			for _, x := range of(u.model(i).program, f.Best.X) {
				trials[i] = append(trials[i], &ascent{start: x})
			}
		}
		if err := u.stop(); err != nil {
			return err
		}
	}
	tried, err := foremost(trials, plain, most, u.stop)
	if err != nil {
		return err
	}
	for place := range most {
		var sub []int
		var runs []*ascent
		for i, best := range tried {
			if place >= len(best) || best[place].value < u.outcomes[i].value()-slack {
				continue
			}
			a := &ascent{start: best[place].x}
			if !math.IsNaN(slack) {
				a.value, a.x = best[place].value, best[place].x
			}
			sub, runs = append(sub, i), append(runs, a)
		}
		if err := u.staged(ctx, sub, runs, onRows); err != nil {
			return err
		}
		for j, i := range sub {
			u.outcomes[i].see(runs[j])
			if a := runs[j]; a.x != nil && a.value > u.outcomes[i].value()+u.optimizer.search().restart {
				u.outcomes[i].offer(a, label)
			}
		}
	}
	return nil
}

// freshStarts makes the fresh starts of the kernels of a unit, optimised a little on a
// few rows: for each kernel, the best first.
func (u *unit) freshStarts(ctx context.Context, onScreen, onRows objective) ([][]draft, error) {
	all, donors := u.all(), u.donors()
	drafts := make([][]draft, len(all))
	for s := range u.starts() {
		runs := make([]*ascent, len(all))
		labels := make([]string, len(all))
		for i := range all {
			rng, program, best := u.stream(i, s), u.model(i).program, u.outcomes[i].Best.X
			labels[i] = "fresh"
			switch {
			case s%3 == 1 && best != nil:
				runs[i] = &ascent{start: u.drawer.Shake(program, best, rng)}
				labels[i] = "shaken"
			case s%3 == 2 && len(donors) > 0:
				runs[i] = &ascent{start: u.drawer.Recombine(program, donors, rng)}
				labels[i] = "recombined"
			default:
				number := s
				if u.order.Number > 1 && s == 0 && u.order.Number%4 != 0 {
					number = -1 // the middling start has been tried
				}
				runs[i] = &ascent{start: u.drawer.Draw(program, rng, number)}
			}
		}
		if err := u.climb(ctx, all, runs, screenSteps, onScreen); err != nil {
			return nil, err
		}
		for i, a := range runs {
			if a.x != nil {
				drafts[i] = append(drafts[i], draft{a.x, a.value, labels[i]})
			}
		}
	}
	// A third of them, at least three, go on: most starts show early what they
	// are worth.
	most := 0
	for i := range drafts {
		sortDrafts(drafts[i])
		share := max(3, (u.starts()+2)/3)
		if u.thorough() {
			share = max(3, (u.starts()+1)/2)
		}
		drafts[i] = drafts[i][:min(len(drafts[i]), share)]
		most = max(most, len(drafts[i]))
	}
	for place := range most {
		sub, runs := ascents(drafts, place)
		on := onScreen
		if u.thorough() {
			on = onRows
		}
		if err := u.climb(ctx, sub, runs, draftSteps, on); err != nil {
			return nil, err
		}
		for j, i := range sub {
			switch d := &drafts[i][place]; {
			case runs[j].x == nil && u.thorough(): // its value is of fewer rows
				d.value = math.Inf(-1)
			case runs[j].x != nil && (u.thorough() || runs[j].value > d.value):
				d.x, d.value = runs[j].x, runs[j].value
			}
		}
	}
	for i := range drafts {
		drafts[i] = slices.DeleteFunc(drafts[i], func(d draft) bool { return math.IsInf(d.value, -1) })
		sortDrafts(drafts[i])
	}
	return drafts, nil
}

// donors returns those of the order.
func (u *unit) donors() []starts.Donor {
	out := make([]starts.Donor, len(u.order.Donors))
	for i, g := range u.order.Donors {
		p := u.models[g.From].program
		raw, noise := params.Raw(p, g.X, u.floor)
		out[i] = starts.Donor{Program: p, Raw: raw, Noise: noise}
	}
	return out
}

// ascents makes an ascent from the draft at a place of every member that has so
// many.
func ascents(drafts [][]draft, place int) (sub []int, runs []*ascent) {
	for i := range drafts {
		if place < len(drafts[i]) {
			sub, runs = append(sub, i), append(runs, &ascent{start: drafts[i][place].x})
		}
	}
	return sub, runs
}

// sortDrafts puts the best first.
func sortDrafts(d []draft) {
	sort.SliceStable(d, func(a, b int) bool { return d[a].value > d[b].value })
}

// polish optimises the best draft of every kernel on all rows.
func (u *unit) polish(ctx context.Context, drafts [][]draft, onRows objective) error {
	follow := 1
	if u.thorough() {
		follow = thoroughBest
	}
	if u.cheap() {
		follow = cheapBest
	}
	for place := range follow {
		sub, runs := ascents(drafts, place)
		if err := u.staged(ctx, sub, runs, onRows); err != nil {
			return err
		}
		for j, i := range sub {
			a, slack := runs[j], 0.0
			u.outcomes[i].see(a)
			if u.outcomes[i].Best.X != nil && u.tasks[i].Last != nil {
				slack = u.optimizer.search().restart
			}
			if a.x != nil && a.value > u.outcomes[i].value()+slack {
				u.outcomes[i].offer(a, drafts[i][place].label)
			}
		}
	}
	return nil
}
