package vbks

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"example.com/kestrel/vbks/starts"
)

const (
	// Log evidence by windows is with windowInducing inducing inputs, up to mostBeside where that is less than a bound, twice
	// as many where windows are twice as wide.
	windowInducing = 64
	mostBeside     = 256
	windowBlock    = 64
	// Kernels that are windowNats behind the best on few rows are not climbed on more, but for the foremost, see windowMost.
	// So many are valued by wider windows.
	windowNats = 20
	mostWide   = 4
	// What 8,000 rows say of a gap may be so far off of what all say, as they need not show what tells kernels apart; of more
	// or fewer rows in inverse proportion to the root of their number.
	fewRowsNats = 3.0
	// L-BFGS iterations on the fewest rows, from so many starts, on more, and where Newton's steps did not end; they end before
	// where no more than openGain nats are expected. What kin have found is climbed from on more rows where it is
	// giftNats below what is known, or better.
	// On some of the rows one goes on, windowTimes in all, where farGain nats are: a kernel that is told off there with so much
	// open would have a share of the belief for what it might be.
	windowStarts = 2
	windowTimes  = 3
	farGain      = 3
	windowFirst  = 40
	windowSteps  = 24
	windowFew    = 8
	windowMany   = 200_000
	openGain     = 0.3
	giftNats     = 3
	// What wider windows change of the best is an error of all; above narrowNats that is said, above asideNats windows are
	// not asked any more: with errors as large all kernels are equal, and those that have a bound on all rows are not.
	narrowNats = 10
	asideNats  = 20
	windowRuns = 8
	// On all rows, where these have curvedTimes as many blocks as there are inducing inputs, up to newtonSteps steps are
	// Newton's, by the curvature of one block for each of these.
	curvedTimes = 4
	newtonSteps = 4
	// So many periods of what a solution leaves are tried, and so many more kernels on all rows for one that stands in what the
	// best one leaves.
	mostStanding  = 3
	mostRepeating = 2
)

// windowLevels are the rows on which log evidence by windows is climbed before all are.
var windowLevels = []int{2_000, 8_000, 32_000}

// windowMost is how many kernels are climbed on so many of n rows, if these are not the fewest: least however far behind
// they are, most of those that are not far.
func windowMost(rows, n int) (least, most int) {
	switch {
	case rows == n && n > windowMany:
		return 2, 2
	case rows == n:
		return mostWide, min(6, max(mostWide, 300_000/n))
	case rows == windowLevels[1]:
		return mostWide, math.MaxInt
	}
	return mostWide, 8
}

// windowAscent is where ascents of a kernel's log evidence by windows have arrived.
type windowAscent struct {
	At   solution // on the rows of the order, with log p(θ)
	Wide float64  // its value by wider windows, where these were asked for
	Left float64  // nats that a period gains which stands in what it leaves of all rows; 0: none does
}

// Windows is a kernel's log evidence by windows of neighbours beside inducing inputs, see package windows, at the
// hyperparameters that are the best so.
type Windows struct {
	Nats      float64 // with log p(θ); of a kernel that few rows have told off, that of the best less the gap there
	Low, High float64 // how far below and above that it may be, nats
	Rows      int     // that it was last computed from
}

// nearby is a kernel's Windows, with what they come from.
type nearby struct {
	Windows
	x      []float64 // free vector
	behind float64   // the gap to the best
	seen   int       // rows
	m      int       // inducing inputs beside windows
}

// looks reports whether an evaluation has log evidence by windows: where rows have one order and are more than could all
// be inducing inputs, at its end on each rung.
func (r *round) looks() bool {
	return r.settings.windowed() && !r.narrow && r.dim == 1 && r.expansion.grammar == nil && r.n == r.data.Rows() && r.concluding(r.number) &&
		r.rungs[len(r.rungs)-1] < r.n
}

// windowed reports whether settings ask for that.
func (s Settings) windowed() bool {
	return s.Windows && s.autoInducing() && s.integrates() && s.pointEstimates() && s.Optimizer != "adam"
}

// nextLevel is on how many of n rows kernels are climbed next that have been on so many.
func nextLevel(rows, n int) int {
	for _, more := range windowLevels {
		if more > rows && 2*more <= n {
			return more
		}
	}
	return n
}

// look finds the kernels' log evidence by windows. Few inducing inputs take a function that is rough for noise, and
// kernels that have a part for it are then hundreds or thousands of nats too low, which no bound tells. All are climbed on few
// rows, in runs of neighbours, the best of these on more, and on all. What has been found with fewer inducing inputs
// stands, since it does not depend on them, but where a local ELBO, which is a bound, lies above it: what repeats, or is rough
// at a distance, is not in windows, and there are more inducing inputs beside them then.
func (r *round) look(ctx context.Context) error {
	if !r.looks() {
		return nil
	}
	if err := r.compare(ctx); err != nil {
		return err
	}
	return r.adopt(ctx)
}

// compare is look without what kernels predict with.
func (r *round) compare(ctx context.Context) error {
	r.nearby = map[int]*nearby{}
	top, some := math.Inf(-1), false // of those that are known
	m, contradicted := windowInducing, false
	for _, k := range r.live {
		if n := r.kernels[k].nearby; n != nil && n.seen == r.n {
			m = max(m, n.m)
			contradicted = contradicted || r.outcomes[k].Failure == "" && r.outcomes[k].ELBO > n.Nats+settledNats
		}
	}
	if more := min(mostBeside, max(2*m, r.m)); contradicted && more > m {
		m = more
	} else {
		contradicted = false
	}
	var left []int
	for k, of := range r.kernels {
		n := of.nearby
		known := n != nil && n.seen == r.n
		if known && contradicted && slices.Contains(r.live, k) {
			r.outcomes[k].Windowed.At = solution{X: n.x}
			known = false
		}
		if known && of.status == Live {
			top, some = math.Max(top, n.Nats), true
		}
		switch {
		case !slices.Contains(r.live, k) || r.outcomes[k].State == nil || r.outcomes[k].Failure != "":
		case known:
			copied := *n
			r.nearby[k] = &copied
		default:
			left = append(left, k)
		}
	}
	if len(left) == 0 {
		r.bounded()
		return nil
	}
	if some { // beside the best, whose gap tells how far behind they are
		for k, n := range r.nearby {
			if n.Nats == top {
				left = append(left, k)
			}
		}
		slices.Sort(left)
	}
	worth := func(k int) float64 { return r.outcomes[k].Windowed.At.Value }
	o := r.order(phaseWindows)
	o.Inducing = m
	for rows := nextLevel(0, r.n); ; rows = nextLevel(rows, r.n) {
		if o.Near = nil; rows < r.n {
			o.Near = r.neighbours(rows, windowRuns)
		}
		if err := r.lookOn(ctx, o, left); err != nil {
			return err
		}
		left = slices.DeleteFunc(left, func(k int) bool { return r.outcomes[k].Windowed.At.X == nil })
		if len(left) == 0 {
			clear(r.nearby)
			return nil
		}
		slices.SortStableFunc(left, func(a, b int) int { return cmp.Compare(worth(b), worth(a)) })
		next, n, best := nextLevel(rows, r.n), 0, worth(left[0])
		least, most := windowMost(next, r.n)
		for place, k := range left {
			at := &r.outcomes[k].Windowed.At
			r.nearby[k] = &nearby{Windows{math.NaN(), 0, math.Max(0, at.Gain), rows}, at.X, best - at.Value, r.n, m}
			if place < least || n < most && best-at.Value < windowNats {
				n++
			}
		}
		if rows == r.n {
			break
		}
		left, o.Again = left[:n], true
	}
	if more := r.repeatMore(left[0]); len(more) > 0 {
		if err := r.lookOn(ctx, o, more); err != nil {
			return err
		}
		for _, k := range more {
			if at := &r.outcomes[k].Windowed.At; at.X != nil {
				r.nearby[k] = &nearby{Windows{math.NaN(), 0, math.Max(0, at.Gain), r.n}, at.X, 0, r.n, m}
				left = append(left, k)
			}
		}
		slices.SortStableFunc(left, func(a, b int) int { return cmp.Compare(worth(b), worth(a)) })
	}
	wide := left[:min(mostWide, len(left))]
	o.Wide = true
	if err := r.each(ctx, o, r.tasks(wide)); err != nil {
		return err
	}
	// What the best one gains by wider windows the others do, too, but for an error.
	wider := func(k int) float64 { return r.outcomes[k].Windowed.Wide }
	wide = slices.DeleteFunc(slices.Clone(wide), func(k int) bool { return math.IsInf(wider(k), -1) })
	best, shift := left[0], 0.0
	for i, k := range wide {
		if i == 0 || wider(k) > wider(best) {
			best, shift = k, wider(k)-worth(k)
		}
	}
	if off := math.Abs(shift); off > narrowNats {
		what := "gaps below that tell nothing"
		if r.tooNarrow = off > asideNats; r.tooNarrow {
			what = "local ELBOs decide instead"
		}
		r.remarks = append(r.remarks, Notice{Kernel: r.kernels[best].id, Text: fmt.Sprintf("windows of %d neighbours beside %d inducing inputs "+
			"do not see all: by some twice as wide with twice as many the log evidence of %s is %.0f nats %s; %s",
			2*windowBlock, m, r.kernels[best].id, off, map[bool]string{true: "higher", false: "lower"}[shift > 0], what)})
	}
	if r.tooNarrow {
		clear(r.nearby)
		return nil
	}
	for k, n := range r.nearby {
		e := math.Abs(shift)
		switch {
		case slices.Contains(wide, k):
			n.Nats = wider(k)
			e += math.Abs(wider(k) - worth(k) - shift)
		case n.Rows == r.n && slices.Contains(left, k):
			n.Nats = worth(k) + shift
		case math.IsNaN(n.Nats):
			n.Nats = worth(best) + shift - n.behind
			e += fewRowsNats * math.Sqrt(float64(windowLevels[1])/float64(n.Rows))
		default: // known before
			continue
		}
		n.Low, n.High = e, e+n.High
	}
	r.bounded()
	return nil
}

// repeatMore are kernels that all rows have not been asked about and that have more summands which repeat than the best
// one, where a period stands in what that leaves: the foremost of those that few rows have not told off, at what these say.
func (r *round) repeatMore(best int) (more []int) {
	if r.outcomes[best].Windowed.Left == 0 {
		return nil
	}
	repeats := func(k int) int {
		return len(starts.Repeating(r.kernels[k].program, r.first, r.settings.Priors == seriesPriors))
	}
	for k, n := range r.nearby {
		if n.Rows < r.n && n.behind < windowNats && slices.Contains(r.live, k) && repeats(k) > repeats(best) {
			more = append(more, k)
		}
	}
	slices.SortFunc(more, func(a, b int) int {
		return cmp.Or(cmp.Compare(r.nearby[a].behind, r.nearby[b].behind), cmp.Compare(a, b))
	})
	more = more[:min(mostRepeating, len(more))]
	for _, k := range more {
		r.outcomes[k].Windowed.At = solution{X: r.nearby[k].x}
	}
	return more
}

// bounded raises log evidence by windows to local ELBOs that are above it, and finds the gaps to the best.
func (r *round) bounded() {
	top := math.Inf(-1)
	for k, of := range r.kernels {
		n := r.nearby[k]
		if n == nil {
			if of.current(r.n) && of.seenNearby(r.n) { // it takes no part in this evaluation
				top = math.Max(top, of.nearby.Nats)
			}
			continue
		}
		if f := &r.outcomes[k]; f.Failure == "" && f.ELBO > n.Nats {
			n.Nats, n.Low = f.ELBO, 0
		}
		top = math.Max(top, n.Nats)
	}
	for _, n := range r.nearby {
		n.behind = top - n.Nats
	}
}

// adopts reports whether kernels predict at the hyperparameters of their log evidence by windows: of a series in time, which
// is forecast. What lies between rows that are known is not: beside inducing inputs that are far apart those of a
// smoother function tell more.
func (t *Trainer) adopts() bool {
	return t.optimizer.stepping() != nil && (t.settings.Weights == OriginsWeights || t.settings.Weights == TemperedWeights)
}

// adopt finds, for the kernels that windows have told of all rows, what the rows say of f at the inducing inputs beside
// windows: the q(v) that forecasts come from, in which a rough function is no noise.
func (r *round) adopt(ctx context.Context) error {
	if !r.adopts() {
		return nil
	}
	var some []int
	for k, n := range r.nearby {
		if n.Rows == r.n {
			r.outcomes[k].Windowed.At.X = n.x
			some = append(some, k)
		}
	}
	slices.Sort(some)
	return r.believe(ctx, some)
}

// adoptAgain is adopt for a trainer of other rows. It returns the kernels that do without.
func (r *round) adoptAgain(ctx context.Context, kernels []int) (others []int, err error) {
	var some []int
	for _, k := range kernels {
		if s := r.kernels[k].ahead; s != nil {
			r.outcomes[k].Windowed.At.X, some = s.Free, append(some, k)
		} else {
			others = append(others, k)
		}
	}
	if err := r.believe(ctx, some); err != nil {
		return nil, err
	}
	for _, k := range some {
		if r.kernels[k].ahead = r.outcomes[k].Ahead; r.kernels[k].ahead == nil { // it cannot be computed there
			others = append(others, k)
		}
	}
	slices.Sort(others)
	return others, nil
}

// believe finds q(v) of kernels at the hyperparameters that ascents by windows have arrived at.
func (r *round) believe(ctx context.Context, kernels []int) error {
	if len(kernels) == 0 {
		return nil
	}
	o := r.order(phaseWindows)
	o.Belief, o.Inducing = true, windowInducing
	if err := r.site().place(o); err != nil {
		return err
	}
	return r.each(ctx, o, r.tasks(kernels))
}

// inAverage is what a live kernel counts for in predictions: what is believed of it, by q* and by Bayes' rule, and what it is
// worth. Where the belief is by windows, but predictions are not, these are by local ELBOs, softly: a kernel's evidence says
// little of what inducing inputs make of it between rows.
func (t *Trainer) inAverage(i int) (posterior, bayes, worth float64) {
	res, k := &t.last.Kernels[i], t.kernels[i]
	if res.Windows == nil || t.adopts() {
		return res.Posterior, res.Bayes, k.worth()
	}
	top, sum := math.Inf(-1), 0.0
	own := func(k *kernel) float64 { return (k.elbo + k.volume) / t.settings.EvidenceScale }
	for j := range t.last.Kernels {
		if t.last.Kernels[j].Status == Live {
			top = math.Max(top, own(t.kernels[j])+t.kernels[j].logPrior)
		}
	}
	for j := range t.last.Kernels {
		if t.last.Kernels[j].Status == Live {
			sum += math.Exp(own(t.kernels[j]) + t.kernels[j].logPrior - top)
		}
	}
	share := math.Exp(own(k)+k.logPrior-top) / sum
	return share, share, k.elbo + k.volume
}

// predictor is the state that a kernel predicts with.
func (k *kernel) predictor() *State {
	if k.ahead != nil {
		return k.ahead
	}
	return k.state
}

// lookOn climbs kernels on the rows of an order; on some of them they take what their kin have found there, where that is better.
func (r *round) lookOn(ctx context.Context, o *order, kernels []int) error {
	if err := r.site().place(o); err != nil {
		return err
	}
	o.Time = 0
	if err := r.each(ctx, o, r.tasks(kernels)); err != nil || o.Near == nil && o.Again {
		return err
	}
	return r.passOn(ctx, o, kernels, func(f *outcome) *solution { return &f.Windowed.At })
}
