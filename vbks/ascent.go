package vbks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/optimize"

	"example.com/kestrel/device"
	"example.com/kestrel/internal/guard"
	"example.com/kestrel/vbks/secant"
)

// ascent is one L-BFGS maximisation of a member's bound, from a start.
type ascent struct {
	start []float64
	scale []float64 // the optimiser sees x/scale; nil for ones
	x     []float64 // best point seen; nil if no evaluation succeeded
	value float64   // its bound
	evals int

	// If rivalled, a solution is known already, the point rival of value target:
	// the run ends early when it gains so slowly that it will not come near, or
	// when it is on its way to the rival itself.
	target   float64
	rivalled bool
	rival    []float64
	trail    []float64 // best value after each evaluation

	enough float64 // the run ends where no more nats are expected than this; 0: it does not

	curve secant.Memory // of the best points, one after the other, in units of
	units []float64     // the first scale

	arrived bool    // other steps have led to x, and expect no more than left
	left    float64 // nats

	broken *guard.PanicError // a mistake ended the run, and it counts for nothing
}

const (
	// A run that at the rate of its last hopelessWindow evaluations would not
	// reach the target in hopelessHorizon times as many is given up.
	hopelessWindow  = 8
	hopelessHorizon = 15
	// A run that after nearWindow evaluations is within nearDistance strides of its rival
	// in every direction and not a tenth of a nat above it is climbing the same
	// hill. Hills of periods stand much closer than others: their strides are small. What
	// such a run has gained by then counts, what it would still gain is given up.
	nearWindow   = 4
	nearDistance = 0.3
	// What a run still expects is asked after enoughWindow evaluations.
	enoughWindow = 6
)

// against sets the solution that a run has to beat.
func (a *ascent) against(s *solution) {
	a.target, a.rivalled, a.rival = math.Inf(-1), true, s.X
	if s.X != nil {
		a.target = s.Value
	}
}

// hopeless reports whether the run is to be given up: because it is close to an optimum, will not surpass
// its target, or, though it may be up to 0.1 nats above, because it is close to
// the rival.
func (a *ascent) hopeless() bool {
	n := len(a.trail)
	if a.enough > 0 && n > enoughWindow && a.further() <= a.enough {
		return true
	}
	if !a.rivalled {
		return false
	}
	if n > nearWindow && a.value <= a.target+0.1 && a.nearRival() {
		return true
	}
	if n <= hopelessWindow || a.value >= a.target-0.5 {
		return false
	}
	gain := a.trail[n-1] - a.trail[n-1-hopelessWindow]
	return a.value+hopelessHorizon*gain < a.target
}

// further is what the run would still have gained, by the gradient where it ended and
// the curvature on its way there, in nats: much, if that is far from an optimum.
func (a *ascent) further() float64 {
	if a.arrived {
		return a.left
	}
	return a.curve.Gain()
}

// remember tells the curve a new best point.
func (a *ascent) remember(x, grad []float64) {
	if a.units == nil {
		if a.units = a.scale; a.scale == nil {
			a.units = slices.Repeat([]float64{1}, len(x))
		}
	}
	z, g := make([]float64, len(x)), make([]float64, len(x))
	for i, u := range a.units {
		z[i], g[i] = x[i]/u, grad[i]*u
	}
	a.curve.Step(z, g)
}

func (a *ascent) nearRival() bool {
	for i, x := range a.rival {
		far := nearDistance
		if a.scale != nil {
			far *= a.scale[i]
		}
		if math.Abs(a.x[i]-x) >= far {
			return false
		}
	}
	return a.rival != nil
}

// errUnusable ends an optimisation whose start cannot be evaluated.
var errUnusable = errors.New("vbks: the objective cannot be evaluated at the start")

// objective evaluates the named members at the points set in free: values and
// gradients are then to be had through result.
type objective struct {
	eval   func(sub []int, xs [][]float64) error // xs[i] belongs to sub[i]
	result func(k int, grad []float64) (value float64, ok bool, err error)
}

// asker runs gonum's L-BFGS on its own goroutine and hands every evaluation
// that it asks for to the driver, so that what many kernels ask for is one
// batch on the device.
type asker struct {
	ask  chan []float64
	tell chan answer
	done chan struct{}
	quit chan struct{} // closed where the driver goes without an answer
}

type answer struct {
	value float64
	grad  []float64
	ok    bool
	stop  bool
}

// run optimises from a.start and records the best point seen.
//
// The shutdown protocol: an asker's goroutine is either waiting at ask or tell,
// where the driver serves it, or it ends by closing done. To stop it early the
// driver answers with stop set, or, where it is torn out of its work by a panic,
// closes quit; the optimiser then returns at its next look at the problem's
// status without asking again. A panic of the optimiser or here ends this ascent
// only.
func (q *asker) run(a *ascent, iterations int) {
	defer close(q.done)
	if err := guard.Do(func() error { return q.optimise(a, iterations) }); err != nil {
		errors.As(err, &a.broken)
		a.x = nil
	}
}

// optimise is run without its end; the error is a guard.PanicError.
func (q *asker) optimise(a *ascent, iterations int) error {
	var (
		at, grad []float64
		value    float64
		stopped  bool
	)
	scaled := func(x []float64, times bool) []float64 {
		y := slices.Clone(x)
		for i, s := range a.scale {
			if times {
				y[i] *= s
			} else {
				y[i] /= s
			}
		}
		return y
	}
	evaluate := func(z []float64) {
		if at != nil && slices.Equal(at, z) {
			return
		}
		at = append(at[:0], z...)
		x := scaled(z, true)
		if grad == nil {
			grad = make([]float64, len(x))
		}
		if stopped {
			return
		}
		r, ok := q.exchange(x)
		if !ok {
			stopped = true
			return
		}
		a.evals++
		switch {
		case r.stop:
			stopped = true
		case r.ok:
			value = -r.value
			for i, g := range scaled(r.grad, true) {
				grad[i] = -g
			}
			if a.x == nil || r.value > a.value {
				a.x, a.value = slices.Clone(x), r.value
				a.remember(x, r.grad)
			} else if len(a.trail) == 0 { // the start, which has been valued before, but for rounding there
				a.remember(x, r.grad)
			}
			a.trail = append(a.trail, a.value)
		case a.x == nil:
			stopped = true
		default:
			a.trail = append(a.trail, a.value)
			// A point that cannot be evaluated is a wall: higher than the best
			// by enough that the line search turns back.
			var d2 float64
			for i := range x {
				d := x[i] - a.x[i]
				grad[i] = d
				if a.scale != nil {
					grad[i] *= a.scale[i]
				}
				d2 += d * d
			}
			value = -a.value + 1e3 + math.Abs(a.value) + d2/2
		}
	}
	problem := optimize.Problem{
		Func: func(x []float64) float64 { evaluate(x); return value },
		Grad: func(dst, x []float64) { evaluate(x); copy(dst, grad) },
		Status: func() (optimize.Status, error) {
			if stopped || a.hopeless() {
				stopped = true
				return optimize.Failure, errUnusable
			}
			return optimize.NotTerminated, nil
		},
	}
	start := scaled(a.start, false)
	// A line search that finds no better point ends gonum's run, often only
	// because the curvature memory is stale: go on from the best point with a
	// fresh memory while that still gains.
	for left := iterations; left > 0 && !stopped; {
		before := a.value
		had := a.x != nil
		settings := &optimize.Settings{
			MajorIterations:   left,
			FuncEvaluations:   3*left + 10,
			GradientThreshold: 1e-4,
			Converger:         &optimize.FunctionConverge{Absolute: 0.01, Iterations: 6},
		}
		at = nil
		result, err := guard.Minimise(problem, start, settings, &optimize.LBFGS{Store: 12, Linesearcher: &secant.Stride{}})
		if mistake := (*guard.PanicError)(nil); errors.As(err, &mistake) {
			return mistake
		}
		if a.x == nil || result == nil {
			return nil
		}
		left -= max(result.MajorIterations, 1)
		if err == nil && result.Status != optimize.Failure {
			return nil
		}
		if had && a.value < before+0.1 {
			return nil
		}
		start = scaled(a.x, false)
	}
	return nil
}

// exchange asks for the value at x and waits for the answer; ok is false if the
// driver is gone.
func (q *asker) exchange(x []float64) (r answer, ok bool) {
	select {
	case q.ask <- x:
	case <-q.quit:
		return r, false
	}
	select {
	case r = <-q.tell:
		return r, true
	case <-q.quit:
		return r, false
	}
}

// ascend maximises the bounds of the members sub, each from its ascent's
// start, by at most the given number of L-BFGS iterations. Every round is one
// batch of the members that still ask.
func ascend(ctx context.Context, g gate, sub []int, runs []*ascent, iterations int, obj objective) error {
	askers := make([]*asker, len(sub))
	quit := make(chan struct{})
	for i := range sub {
		askers[i] = &asker{ask: make(chan []float64), tell: make(chan answer), done: make(chan struct{}), quit: quit}
		go askers[i].run(runs[i], iterations)
	}
	defer func() { // after a panic on the device they still wait
		close(quit)
		for _, q := range askers {
			<-q.done
		}
	}()
	live := make([]bool, len(sub))
	for i := range live {
		live[i] = true
	}
	var failure error
	for {
		var asking []int // positions in sub
		var members []int
		var xs [][]float64
		for i, q := range askers {
			if !live[i] {
				continue
			}
			select {
			case x := <-q.ask:
				asking, members, xs = append(asking, i), append(members, sub[i]), append(xs, x)
			case <-q.done:
				live[i] = false
			}
		}
		if len(asking) == 0 {
			return failure
		}
		if failure == nil {
			failure = ctx.Err()
		}
		if failure == nil && g != nil {
			failure = g(ctx)
		}
		if failure == nil {
			failure = obj.eval(members, xs)
		}
		for j, i := range asking {
			r := answer{stop: true}
			if failure == nil {
				r = answer{grad: make([]float64, len(xs[j]))}
				r.value, r.ok, failure = obj.result(members[j], r.grad)
				r.stop = failure != nil
			}
			askers[i].tell <- r
		}
	}
}

// boundObjective is the collapsed bound on the rows x.
func (c *collapsed) boundObjective(x device.Points, yy float64, stop stopped) objective {
	return objective{
		eval: func(sub []int, xs [][]float64) error {
			for i, k := range sub {
				c.setFree(k, xs[i])
			}
			return c.eval(sub, x, yy, true, stop)
		},
		result: c.result,
	}
}

// boundValue is boundObjective without gradients.
func (c *collapsed) boundValue(x device.Points, yy float64, stop stopped) objective {
	o := c.boundObjective(x, yy, stop)
	o.eval = func(sub []int, xs [][]float64) error {
		for i, k := range sub {
			c.setFree(k, xs[i])
		}
		return c.eval(sub, x, yy, false, stop)
	}
	return o
}

// guess begins, besides, from what is given for the kernels of a unit.
func (u *unit) guess(ctx context.Context, onRows objective) error {
	var sub []int
	var runs []*ascent
	for i := range u.tasks {
		if x := u.guesses[u.model(i).id]; x != nil && !u.order.Resumed && !u.order.Late {
			a := &ascent{start: x}
			sub, runs = append(sub, i), append(runs, a)
		}
	}
	if err := u.climb(ctx, sub, runs, u.settings.Steps, onRows); err != nil {
		return err
	}
	for j, i := range sub {
		u.outcomes[i].see(runs[j])
		u.outcomes[i].offer(runs[j], "guess")
	}
	return nil
}

// Climbed is where an ascent of a kernel's bound has ended.
type Climbed struct {
	Free   []float64
	Value  float64 // the bound that is searched on, nats
	ELBO   float64 // and the local ELBO there
	Gain   float64 // that is still expected
	Failed bool    // the bound cannot be evaluated where it began
}

// Climb takes a kernel uphill on all rows from where it stands, and from some other free
// vectors, beside the run, by at most so many iterations each: out[0] is its own.
func (t *Trainer) Climb(ctx context.Context, id string, from [][]float64, steps int) ([]Climbed, error) {
	k := slices.IndexFunc(t.kernels, func(k *kernel) bool { return k.id == id })
	if k < 0 || !t.optimizer.bounded() {
		return nil, fmt.Errorf("%s: no bound of such a kernel is searched on all rows", id)
	}
	if _, err := t.solved(id); err != nil {
		return nil, err
	}
	from = append([][]float64{t.kernels[k].state.Free}, from...)
	o := &order{Phase: phaseEvidence, Rows: t.data.Rows()}
	out := make([]Climbed, len(from))
	for i, x := range from {
		u := newUnit(ctx, t.site(), o, t.workers[0], []task{{Kernel: k, Known: outcome{Factor: 1}}})
		if err := u.load(u.worker.group); err != nil {
			return nil, err
		}
		bound, err := u.worker.ownBound()
		if err != nil {
			return nil, err
		}
		a := &ascent{start: x}
		if err := u.climb(ctx, u.all(), []*ascent{a}, steps, bound.boundObjective(u.seen(), u.seenYY(), u.stop)); err != nil {
			return nil, err
		}
		if a.x == nil {
			out[i].Failed = true
			continue
		}
		f := &u.outcomes[0]
		f.State, f.ELBO = &State{Free: a.x}, a.value
		if err := u.evidence(); err != nil {
			return nil, err
		}
		out[i] = Climbed{Free: a.x, Value: a.value, ELBO: f.ELBO, Gain: a.further()}
	}
	return out, nil
}

// climb runs ascents; with 0 steps it only values the starts.
func (u *unit) climb(ctx context.Context, sub []int, runs []*ascent, steps int, obj objective) error {
	if len(sub) == 0 {
		return nil
	}
	if steps > 0 {
		for j, a := range runs {
			a.scale = u.strides(u.model(sub[j]).program, a.start)
		}
		if err := ascend(ctx, u.gate, sub, runs, steps, obj); err != nil {
			return err
		}
		for j, a := range runs {
			u.breaks(sub[j], a, a.start)
		}
		return nil
	}
	return value(sub, runs, obj)
}

// breaks marks member i failed if a mistake of the program ended its ascent; free
// is where that began.
func (u *unit) breaks(i int, a *ascent, free []float64) {
	f := &u.outcomes[i]
	if a.broken == nil || f.Failure != "" {
		return
	}
	f.Failure = fmt.Sprintf("%v, optimising from %s", a.broken, u.formatParams(u.model(i), free))
	f.Mistake = a.broken
}

// staged runs ascents on all rows, giving up after a few iterations those that
// are far behind their kernel's best.
func (u *unit) staged(ctx context.Context, sub []int, runs []*ascent, obj objective) error {
	for j, a := range runs {
		a.against(&u.outcomes[sub[j]].Best)
	}
	if err := u.climb(ctx, sub, runs, min(stageSteps, u.settings.Steps), obj); err != nil {
		return err
	}
	var again []int
	var rest []*ascent
	for j, a := range runs {
		if a.x != nil && !a.hopeless() && a.value > u.outcomes[sub[j]].value()-promising {
			a.start = a.x
			again, rest = append(again, sub[j]), append(rest, a)
		}
	}
	if u.settings.Steps <= stageSteps {
		return nil
	}
	return u.climb(ctx, again, rest, u.settings.Steps-stageSteps, obj)
}

// value evaluates the bound at the starts, without gradients.
func value(sub []int, runs []*ascent, obj objective) error {
	xs := make([][]float64, len(sub))
	for i, a := range runs {
		xs[i] = a.start
	}
	if err := obj.eval(sub, xs); err != nil {
		return err
	}
	for i, k := range sub {
		v, ok, err := obj.result(k, nil)
		if err != nil {
			return err
		}
		runs[i].evals++
		if ok {
			runs[i].x, runs[i].value = slices.Clone(xs[i]), v
		}
	}
	return nil
}

// foremost values trials, some for each member, and returns so many of each member, those with the greatest values,
// the best first.
func foremost(trials [][]*ascent, plain objective, most int, stop stopped) ([][]*ascent, error) {
	best := make([][]*ascent, len(trials))
	for j, some := 0, true; some; j++ {
		var sub []int
		var runs []*ascent
		for i := range trials {
			if j < len(trials[i]) {
				sub, runs = append(sub, i), append(runs, trials[i][j])
			}
		}
		if some = len(sub) > 0; !some {
			break
		}
		if err := stop(); err != nil {
			return nil, err
		}
		if err := value(sub, runs, plain); err != nil {
			return nil, err
		}
		for k, i := range sub {
			a := runs[k]
			if a.x == nil {
				continue
			}
			at := len(best[i])
			for at > 0 && a.value > best[i][at-1].value {
				at--
			}
			best[i] = slices.Insert(best[i], at, a)
			best[i] = best[i][:min(most, len(best[i]))]
		}
	}
	return best, nil
}

// trials values starts and returns those that can be, best first.
func (u *unit) trials(starts [][]float64, by *windowObjective) (out []*ascent, err error) {
	for _, x := range starts {
		a := &ascent{start: x}
		if err := value(u.all(), []*ascent{a}, by.values()); err != nil {
			return nil, err
		}
		if a.x != nil {
			out = append(out, a)
		}
	}
	slices.SortStableFunc(out, func(a, b *ascent) int { return cmp.Compare(b.value, a.value) })
	return out, nil
}
