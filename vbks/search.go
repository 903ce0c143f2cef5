package vbks

import (
	"context"
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/floats"

	"example.com/kestrel/device"
	"example.com/kestrel/vbks/params"
	"example.com/kestrel/vbks/secant"
	"example.com/kestrel/vbks/starts"
)

// ScreenRows is on how many rows fresh starts are first tried.
const ScreenRows = 256

// Numbers that steer the search for good hyperparameters; docs/architecture.md
// has the reasons.
const (
	screenShare     = 2    // with so many times as many inducing inputs those are the rows themselves
	screenSteps     = 5    // L-BFGS iterations there
	draftSteps      = 12   // further ones for the third that did best
	thoroughTimes   = 2    // as many starts, of few rows
	thoroughBest    = 3    // drafts that are followed on all rows in a thorough search
	cheapBest       = 6    // where bounds are cheap, and
	stageSteps      = 12   // iterations on all rows before a start must look promising
	promising       = 40.0 // nats that a start may be behind then
	transplantSlack = 30.0 // nats that a transplant may be behind the present solution
	cheapWork       = 2e6  // where a product of the rows with the inducing inputs takes at most so much
	scoutFewest     = 10   // live kernels that the scout is still enlarged for
	scoutKernels    = 144  // and those for which it has
	scoutRows       = 768  // so many rows
	scoutInducing   = 64   // and so many inducing inputs
	maxFactor       = 1e4  // of the jitter's escalation
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
	screened, screen, err := u.screenBound()
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
	onRows := bound.boundObjective(rows, u.order.Compared.YY, u.stop)
	onScreen := screened.boundObjective(screen, u.order.Screen.YY, u.stop)
	plain, plainly := bound.boundValue(rows, u.order.Compared.YY, u.stop), screened.boundValue(screen, u.order.Screen.YY, u.stop)
	if u.order.Valued {
		return u.resume(ctx, plain, plain)
	}
	explore := func() ([][]draft, error) { return u.explore(ctx, onRows, plain, onScreen, plainly) }
	if u.order.Part != nil {
		explore = func() ([][]draft, error) { return u.exploreApart(ctx, onRows, plain, onScreen, plainly) }
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
	if err := u.sift(ctx, onRows, plain); err != nil {
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

// screenBound is the bound on which the rows of the screen try starts, with these rows: with many more inducing inputs than these
// are rows, or with all rows as inducing inputs, their own evidence, which takes a fraction.
func (u *unit) screenBound() (*collapsed, device.Points, error) {
	s := u.order.Screen
	if bound := u.worker.bound; bound.m < screenShare*ScreenRows && bound.whole <= s.N || u.order.Resumed {
		rows, err := u.rows(s)
		return bound, rows, err
	}
	own, err := u.apart(s)
	if err != nil {
		return nil, device.Points{}, err
	}
	return own, device.All(own.train), nil
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
			if u.worker.bound.whole > 0 {
				from = append(from, u.drawer.Shift(u.model(i).program, free)...)
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
	steps := 0
	if !u.order.Valued {
		steps = u.optimizer.search().resumed(u.settings.Steps)
	}
	left, rest := sub, runs
	if s := u.order.Curved; s != nil && steps > 0 {
		curved, _, err := u.onPart(s)
		if err != nil {
			return err
		}
		if left, rest, err = u.ahead(sub, runs, curved, s.N, onRows); err != nil {
			return err
		}
	}
	if err := u.climb(ctx, left, rest, steps, onRows); err != nil {
		return err
	}
	for j, i := range sub {
		u.outcomes[i].see(runs[j])
		u.outcomes[i].offer(runs[j], sourceLast)
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

// PartRows stand for all rows where these take up to ten times as long.
const PartRows = 768

// exploreApart explores from the present solutions on the part of the rows that the order says, by their evidence, and
// takes what is better there to all rows.
func (u *unit) exploreApart(ctx context.Context, onRows, plain, onScreen, plainly objective) ([][]draft, error) {
	onPart, plainPart, err := u.onPart(u.order.Part)
	if err != nil {
		return nil, err
	}
	before := make([]solution, len(u.outcomes))
	var sub []int
	var runs []*ascent
	for i := range u.outcomes {
		f := &u.outcomes[i]
		if before[i] = f.Best; f.Best.X != nil {
			sub, runs = append(sub, i), append(runs, &ascent{start: f.Best.X})
		}
		f.Best, f.Modes = solution{}, nil
	}
	if err := u.climb(ctx, sub, runs, u.settings.Steps, onPart); err != nil {
		return nil, err
	}
	began := make([]solution, len(u.outcomes))
	for j, i := range sub {
		u.outcomes[i].offer(runs[j], before[i].Source)
		began[i] = u.outcomes[i].Best
	}
	drafts, err := u.explore(ctx, onPart, plainPart, onScreen, plainly)
	if err != nil {
		return nil, err
	}
	sub, runs = sub[:0], runs[:0]
	labels := make([]string, len(u.outcomes))
	for i := range u.outcomes {
		f := &u.outcomes[i]
		if f.Best.X != nil && (began[i].X == nil || f.Best.Value > began[i].Value+partNats) {
			sub, runs = append(sub, i), append(runs, &ascent{start: f.Best.X})
		}
		labels[i] = f.Best.Source
		f.Best, f.Modes = before[i], u.tasks[i].Known.Modes
	}
	if sub, runs, err = u.near(sub, runs, labels, plain); err != nil {
		return nil, err
	}
	left, rest, err := u.ahead(sub, runs, onPart, u.order.Part.N, onRows)
	if err != nil {
		return nil, err
	}
	if err := u.staged(ctx, left, rest, onRows); err != nil {
		return nil, err
	}
	for j, i := range sub {
		u.outcomes[i].see(runs[j])
		u.outcomes[i].offer(runs[j], labels[i])
	}
	return drafts, nil
}

// apart is the evidence of some of the rows.
func (u *unit) apart(s *rowSet) (*collapsed, error) {
	which := s.Rows
	if which == nil {
		for i := range s.N {
			which = append(which, int32(i))
		}
	}
	rows, err := takeOut(u.site, which)
	if err != nil {
		return nil, err
	}
	own, err := u.whole(rows.Data, len(u.tasks))
	if err != nil {
		return nil, err
	}
	return own, u.load(own.group)
}

// onPart is that with gradients and without.
func (u *unit) onPart(s *rowSet) (gradients, values objective, err error) {
	part, err := u.apart(s)
	if err != nil {
		return gradients, values, err
	}
	all := device.All(part.train)
	return part.boundObjective(all, s.YY, u.stop), part.boundValue(all, s.YY, u.stop), nil
}

const (
	// Up to so many of Newton's steps are made where some of the rows tell the curvature, which takes what two or three steps take,
	// until no more than arrivedNats are expected.
	newtonFirst = 12
	arrivedNats = 0.005
	// What some of the rows have gained no more than partNats by is not climbed on all: it is where it was.
	partNats = 0.1
)

// ahead takes ascents uphill by Newton's steps, with the curvature of the evidence of n' of the n rows,
//
//	−∇∇f ≈ n/n'·(CCᵀ)⁻¹,
//
// and returns those of which more is expected; they go on from there. Where sharp periods are multiplied L-BFGS takes dozens of
// gradients to learn that curvature from all rows.
func (u *unit) ahead(sub []int, runs []*ascent, curved objective, part int, obj objective) (left []int, rest []*ascent, err error) {
	if len(sub) == 0 {
		return nil, nil, nil
	}
	xs := make([][]float64, len(sub))
	for j, a := range runs {
		xs[j] = a.start
	}
	volumes, err := u.volumesBy(curved, sub, xs, nil)
	if err != nil {
		return nil, nil, err
	}
	for j, i := range sub {
		a, c := runs[j], volumes[j].Chol
		if c != nil {
			floats.Scale(math.Sqrt(float64(part)/float64(u.order.Rows)), c)
			x, v, gain, err := secant.Newton(a.start, c, newtonFirst, arrivedNats, func(x, grad []float64) (value float64, ok bool, err error) {
				if err := obj.eval([]int{i}, [][]float64{x}); err != nil {
					return 0, false, err
				}
				return obj.result(i, grad)
			})
			if err != nil {
				return nil, nil, err
			}
			if x != nil {
				if a.start = x; gain <= arrivedNats {
					a.x, a.value, a.arrived, a.left = x, v, true, gain
					continue
				}
			}
		}
		left, rest = append(left, i), append(rest, a)
	}
	return left, rest, nil
}

// near are those of some ascents which begin on all rows with as much as the order says. What is known of the others is where they
// begin.
func (u *unit) near(sub []int, runs []*ascent, labels []string, plain objective) (near []int, their []*ascent, err error) {
	if err := value(sub, runs, plain); err != nil {
		return nil, nil, err
	}
	for j, i := range sub {
		if a := runs[j]; a.x != nil && a.value < u.order.Least {
			u.outcomes[i].see(a)
			u.outcomes[i].offer(a, labels[i])
		} else {
			near, their = append(near, i), append(their, &ascent{start: a.start})
		}
	}
	return near, their, nil
}
