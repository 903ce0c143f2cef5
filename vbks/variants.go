package vbks

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks/covariance"
)

// Numbers that steer what is made of solutions; docs/architecture.md has the reasons.
const (
	cheapVariants = 3     // variants of each kind that are followed where bounds are cheap
	runnerUpNats  = 12.0  // nats that a second solution may be behind the best
	variantSlack  = 200.0 // nats that a variant may be behind the present solution
	variedBest    = 3     // variants of each of few kernels that are followed, of few rows,
	variedRounds  = 3     // so many times, as long as that gains
	mostBrought   = 4     // columns that a kernel gets back at a time, as long as each gains
	leftPeriods   = 4     // those that a solution leaves that are tried
	siftedWants   = 6     // periods that a covariance wants at a leaf's place that are tried, and followed
	siftedBest    = 2
	pairedWants   = 12 // products of two periods that are tried, and followed
	pairedBest    = 4
)

// roughen tries, in a thorough search, whether what the present solutions take for
// noise is a rough function.
func (u *unit) roughen(ctx context.Context, onRows, plain objective) error {
	if !u.thorough() {
		return nil
	}
	return u.variants(ctx, onRows, plain, variantSlack, 1, "rougher", nil, surely(u.drawer.Roughen))
}

// scan tries, in a thorough search of few kernels on few rows, periods of few cycles, by
// what they are worth on the rows of the screen.
func (u *unit) scan(ctx context.Context, onRows, onScreen objective) error {
	if !u.scanned() {
		return nil
	}
	return u.variants(ctx, onRows, onScreen, math.NaN(), u.followed(), "scanned", nil, surely(u.drawer.Scan))
}

// fold tries whether the functions of the present solutions repeat, as they are, by what that is worth on the rows
// of the screen with more noise.
func (u *unit) fold(ctx context.Context, onRows, onScreen objective) error {
	if !u.scanned() {
		return nil
	}
	return u.variants(ctx, onRows, onScreen, math.NaN(), u.followed(), "folded", nil, surely(u.drawer.Fold))
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
		return u.variants(ctx, onRows, plain, slack, most, "varied", which, surely(u.drawer.Vary))
	}
	if err := u.whileGaining(rounds, again); err != nil {
		return err
	}
	if few && u.thorough() { // far from any optimum as they are made, so that only a climb tells
		if err := u.variants(ctx, onRows, plain, math.Inf(1), 1, "wrapped", nil, surely(u.drawer.Wrap)); err != nil {
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
	return u.variants(ctx, onRows, plain, slack, follow, "left", nil, func(p *kernelspace.Program, x []float64) ([][]float64, error) {
		return u.drawer.Left(ctx, p, x, most, faint, u.factor)
	})
}

// sift tries periods that the covariances of the present solutions want at the places of leaves PER, and two where one has
// short details, where all rows, or those that are searched on, are inducing inputs: fewer show nothing of them.
func (u *unit) sift(ctx context.Context, onRows, plain objective) error {
	if !u.scanned() || u.worker.bound.whole == 0 && u.order.Part == nil {
		return nil
	}
	paired := func(p *kernelspace.Program, x []float64) ([][]float64, error) {
		return u.drawer.Pair(ctx, p, x, pairedWants, u.factor)
	}
	pair := func(which []bool) error {
		return u.variants(ctx, onRows, plain, math.Inf(1), pairedBest, "paired", which, paired)
	}
	if err := pair(nil); err != nil {
		return err
	}
	sifted := func(p *kernelspace.Program, x []float64) ([][]float64, error) {
		return u.drawer.Sift(ctx, p, x, siftedWants, u.factor, u.covariance)
	}
	before := u.values()
	if err := u.variants(ctx, onRows, plain, math.Inf(1), siftedBest, "sifted", nil, sifted); err != nil {
		return err
	}
	if gained := u.gained(before); slices.Contains(gained, true) { // one period with short details may stand for two
		return pair(gained)
	}
	return nil
}

// factor is covariance.Factor on the unit's lane.
func (u *unit) factor(x []float64, p *kernelspace.Program, raw []float64, noise float64) (*mat.TriDense, error) {
	return covariance.Factor(u.worker.group.dev, u.worker.lane, x, p, raw, noise)
}

// covariance is covariance.Values likewise.
func (u *unit) covariance(x []float64, p *kernelspace.Program, raw []float64) ([]float64, error) {
	return covariance.Values(u.worker.group.dev, u.worker.lane, x, p, raw)
}

// bring tries whether columns along which kernels have become flat are of use after all, one
// after the other.
func (u *unit) bring(ctx context.Context, onRows, plain objective) error {
	return u.whileGaining(mostBrought, func(which []bool) error {
		return u.variants(ctx, onRows, plain, variantSlack, 1, "returned", which, surely(u.drawer.Return))
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
		if gained = u.gained(before); !slices.Contains(gained, true) {
			break
		}
	}
	return nil
}

// surely is what makes starts and cannot fail.
func surely(of func(p *kernelspace.Program, x []float64) [][]float64) func(p *kernelspace.Program, x []float64) ([][]float64, error) {
	return func(p *kernelspace.Program, x []float64) ([][]float64, error) { return of(p, x), nil }
}

// gained says of which kernels the present solutions are better than those with some values.
func (u *unit) gained(before []float64) []bool {
	gained := make([]bool, len(before))
	for i, v := range u.values() {
		gained[i] = v > before[i]
	}
	return gained
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
	of func(p *kernelspace.Program, x []float64) ([][]float64, error),
) error {
	trials := make([][]*ascent, len(u.tasks))
	for i := range u.tasks {
		if f := &u.outcomes[i]; f.Best.X != nil && (which == nil || which[i]) {
			made, err := of(u.model(i).program, f.Best.X)
			if err != nil {
				return err
			}
			for _, x := range made {
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
