package vbks

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sort"
	"sync"

	"kestrel/device"
	"kestrel/kernelspace"
)

// Numbers that steer the search for good hyperparameters; the study behind
// them is in docs/architecture.md.
const (
	screenRows      = 256  // rows on which fresh starts are first tried
	screenSteps     = 15   // L-BFGS iterations there
	stageSteps      = 12   // iterations on all rows before a start must look promising
	promising       = 40.0 // nats that a start may be behind then
	transplantSlack = 30.0 // nats that a transplant may be behind the present solution
	maxPolished     = 3    // transplants optimised per kernel and round
	startRows       = 768  // rows on which the stochastic optimisers' starts are compared
	startInducing   = 64   // inducing inputs for that
	maxFactor       = 1e4  // of the jitter's escalation
)

// worker is a lane with its buffers: a group on the run's inducing inputs,
// and the collapsed bound on which solutions are searched for and compared.
// That one is on the same group where it is the local ELBO itself, and on a
// group of its own with few inducing inputs, the scout, where a stochastic
// optimiser takes the solutions further.
type worker struct {
	lane  device.Lane
	group *group
	bound *collapsed
	learn *learner // nil until a stochastic optimiser needs it
	index map[*rowSet]device.Index
}

func newWorker(main, scout *common, lane device.Lane, capacity, params int) (*worker, error) {
	g, err := newGroup(main, lane, capacity, params)
	if err != nil {
		return nil, err
	}
	search := g
	if scout != main {
		if search, err = newGroup(scout, lane, capacity, params); err != nil {
			return nil, err
		}
	}
	b, err := newCollapsed(search)
	if err != nil {
		return nil, err
	}
	return &worker{lane: lane, group: g, bound: b, index: map[*rowSet]device.Index{}}, nil
}

// rowSet is a choice of training rows: the first n, or those listed.
type rowSet struct {
	n    int
	rows []int32 // nil: the first n
	yy   float64 // Σ y²
}

// points returns the rows on a worker's lane.
func (w *worker) points(train device.Data, s *rowSet) (device.Points, error) {
	if s.rows == nil {
		return device.Points{Data: train, To: s.n}, nil
	}
	ix, ok := w.index[s]
	if !ok {
		var err error
		if ix, err = w.lane.NewIndex(s.rows); err != nil {
			return device.Points{}, err
		}
		w.index[s] = ix
	}
	return device.Points{Data: train, Index: ix, To: len(s.rows)}, nil
}

// solution is a point that a kernel's optimisation has reached.
type solution struct {
	x      []float64
	value  float64 // bound on the round's rows
	source string
	fresh  bool // changed since relatives last saw it
}

// round is one evaluation in the making. Nothing of the trainer changes before
// it commits.
type round struct {
	*Trainer
	number  int
	n       int
	screen  *rowSet
	rows    *rowSet // on which hyperparameters are compared
	sample  *rowSet // on which local ELBOs are estimated
	live    []int   // indices of the kernels that take part
	best    []solution
	factor  []float64
	failure []string // reason why a kernel failed
	states  []*State // what the stochastic optimisers arrived at
	elbo    []float64
	terms   [][]float64
}

func (t *Trainer) newRound(number int) (*round, error) {
	k := len(t.kernels)
	r := &round{
		Trainer: t, number: number, n: t.schedule(number),
		best: make([]solution, k), factor: make([]float64, k), failure: make([]string, k),
		states: make([]*State, k), elbo: make([]float64, k), terms: make([][]float64, k),
	}
	r.screen = t.spreadRows(r.n, screenRows)
	r.rows = &rowSet{n: r.n, yy: t.cumYY[r.n]}
	r.sample = t.elboSample(r.n)
	if !t.exact {
		r.rows = t.spreadRows(r.n, startRows)
	}
	for i, k := range t.kernels {
		r.factor[i] = 1
		if k.state != nil && k.state.Factor > 0 {
			r.factor[i] = k.state.Factor
		}
		if k.status == Live {
			r.live = append(r.live, i)
		}
	}
	if len(r.live) == 0 {
		return nil, fmt.Errorf("no kernel is left: every one has failed or been pruned")
	}
	return r, nil
}

// spreadRows takes at most count rows, evenly from the first n.
func (t *Trainer) spreadRows(n, count int) *rowSet {
	if n <= count {
		return &rowSet{n: n, yy: t.cumYY[n]}
	}
	s := &rowSet{n: count, rows: make([]int32, count)}
	for i := range s.rows {
		j := int(float64(i) * float64(n) / float64(count))
		s.rows[i] = int32(j)
		s.yy += t.data.Y[j] * t.data.Y[j]
	}
	return s
}

// close gives the round's row lists back.
func (r *round) close() {
	for _, w := range r.workers {
		for s, ix := range w.index {
			w.lane.Free(ix)
			delete(w.index, s)
		}
	}
}

// run does the work of the evaluation.
func (r *round) run(ctx context.Context) error {
	searched := r.live
	if !r.searching() {
		// Only kernels without a solution, if any.
		searched = slices.DeleteFunc(slices.Clone(r.live), func(k int) bool { return r.kernels[k].state != nil })
		for _, k := range r.live {
			if s := r.kernels[k].state; s != nil {
				r.best[k] = solution{x: s.Free, source: "last"}
			}
		}
	}
	if err := r.each(ctx, "optimise", searched, r.search); err != nil {
		return err
	}
	if r.settings.Transplants && r.searching() {
		if err := r.transplants(ctx); err != nil {
			return err
		}
	}
	if r.exact {
		for _, k := range r.live {
			r.elbo[k] = r.best[k].value
			if r.best[k].x != nil {
				r.states[k] = &State{Free: r.best[k].x, Factor: r.factor[k]}
			}
		}
		if r.settings.Hyperparameters == "point" {
			return nil
		}
		return r.each(ctx, "beliefs over hyperparameters", r.live, r.thetaUnit)
	}
	return r.each(ctx, "learn", r.live, r.learnUnit)
}

// each hands the kernels to the workers, a group at a time, and waits for all.
func (r *round) each(ctx context.Context, phase string, kernels []int, work func(context.Context, *worker, []int) error) error {
	units := slices.Collect(slices.Chunk(kernels, r.group))
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next, done := 0, 0
	var mu sync.Mutex
	take := func() []int {
		mu.Lock()
		defer mu.Unlock()
		if next == len(units) || ctx.Err() != nil {
			return nil
		}
		next++
		return units[next-1]
	}
	var wg sync.WaitGroup
	for _, w := range r.workers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for unit := take(); unit != nil; unit = take() {
				if err := work(ctx, w, unit); err != nil {
					cancel(err)
					return
				}
				mu.Lock()
				done += len(unit)
				d := done
				mu.Unlock()
				if r.progress != nil {
					r.progress(Progress{Done: d, Total: len(kernels), Phase: phase})
				}
			}
		}()
	}
	wg.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// load gives a worker's group g the kernels of a unit.
func (r *round) load(g *group, unit []int) error {
	programs := make([]*kernelspace.Program, len(unit))
	priors := make([]prior, len(unit))
	for i, k := range unit {
		programs[i], priors[i] = r.kernels[k].program, r.kernels[k].prior
	}
	if err := g.load(programs, priors); err != nil {
		return err
	}
	for i, k := range unit {
		g.lane.Write(g.factor, i, []float64{r.factor[k]})
	}
	return nil
}

// starts returns the number of fresh starts of this evaluation: all while data
// are few and at the end, half of them between.
func (r *round) starts() int {
	p := float64(r.n) / float64(r.data.Rows())
	if p >= 0.3 && p < 1 {
		return (r.settings.Starts + 1) / 2
	}
	return r.settings.Starts
}

// searching reports whether this evaluation looks for other solutions at all:
// always where the bound on all rows is the local ELBO; for the stochastic
// optimisers, whose solutions move on in between, at evaluations 1, 2, 4, 8, ...
func (r *round) searching() bool {
	return r.exact || r.number&(r.number-1) == 0
}

// search finds hyperparameters for the kernels of a unit: from the last
// optimum and from fresh starts.
func (r *round) search(ctx context.Context, w *worker, unit []int) error {
	if err := r.load(w.bound.group, unit); err != nil {
		return err
	}
	stop := func() error { return r.step(ctx) }
	rows, err := w.points(r.train, r.rows)
	if err != nil {
		return err
	}
	screen, err := w.points(r.train, r.screen)
	if err != nil {
		return err
	}
	onRows := w.bound.boundObjective(rows, r.rows.yy, stop)
	onScreen := w.bound.boundObjective(screen, r.screen.yy, stop)

	// The last optimum: optimised further on all rows, or only valued where the
	// stochastic optimiser will take it further.
	lastSteps := r.settings.Steps
	if !r.exact {
		lastSteps = 0
	}
	var sub []int
	var runs []*ascent
	for i, k := range unit {
		if s := r.kernels[k].state; s != nil {
			sub, runs = append(sub, i), append(runs, &ascent{start: s.Free})
		}
	}
	if err := r.climb(ctx, unit, sub, runs, lastSteps, onRows); err != nil {
		return err
	}
	for i, a := range runs {
		r.offer(unit[sub[i]], a, "last")
	}

	// Fresh starts, optimised a little on a few rows.
	all := make([]int, len(unit))
	for i := range unit {
		all[i] = i
	}
	type draft struct {
		x     []float64
		value float64
		label string
	}
	drafts := make([][]draft, len(unit))
	for s := range r.starts() {
		runs := make([]*ascent, len(unit))
		labels := make([]string, len(unit))
		for i, k := range unit {
			rng := stream(r.settings.Seed, r.kernels[k].id, r.number<<10+s)
			labels[i] = "fresh"
			switch {
			case s%2 == 1 && r.best[k].x != nil:
				runs[i] = &ascent{start: r.drawer.shake(r.kernels[k].program, r.best[k].x, rng)}
				labels[i] = "shaken"
			default:
				number := s
				if r.number > 1 && s == 0 && r.number%4 != 0 {
					number = -1 // the middling start has been tried
				}
				runs[i] = &ascent{start: r.drawer.draw(r.kernels[k].program, rng, number)}
			}
		}
		if err := r.climb(ctx, unit, all, runs, screenSteps, onScreen); err != nil {
			return err
		}
		for i, a := range runs {
			if a.x != nil {
				drafts[i] = append(drafts[i], draft{a.x, a.value, labels[i]})
			}
		}
	}
	// The best of them on all rows; at the ends of the stream the three best.
	polish := 1
	if r.exact && (r.number == 1 || r.n == r.data.Rows()) {
		polish = 3
	}
	for i := range drafts {
		sort.SliceStable(drafts[i], func(a, b int) bool { return drafts[i][a].value > drafts[i][b].value })
		// Equal values are the same optimum found twice.
		drafts[i] = slices.CompactFunc(drafts[i], func(a, b draft) bool { return a.value-b.value < 0.05 })
	}
	for place := range polish {
		var sub []int
		var runs []*ascent
		for i := range unit {
			if place < len(drafts[i]) {
				sub, runs = append(sub, i), append(runs, &ascent{start: drafts[i][place].x})
			}
		}
		if err := r.staged(ctx, unit, sub, runs, onRows); err != nil {
			return err
		}
		for i, a := range runs {
			k := unit[sub[i]]
			slack := 0.0
			if !r.exact && r.best[k].x != nil && r.kernels[k].state != nil {
				slack = 5 // a restart forgets q(v): it must be worth it
			}
			if a.x != nil && a.value > r.valueOf(k)+slack {
				r.offer(k, a, drafts[sub[i]][place].label)
			}
		}
	}
	for i, k := range unit {
		if r.best[k].x != nil {
			continue
		}
		if r.factor[k] < maxFactor {
			// No start could be evaluated: more jitter, once per evaluation and kept.
			r.factor[k] *= 10
			if err := r.search(ctx, w, []int{k}); err != nil {
				return err
			}
			if err := r.load(w.bound.group, unit); err != nil {
				return err
			}
			continue
		}
		r.failure[k] = r.describeFailure(k, runsStart(drafts[i], func(d draft) []float64 { return d.x }))
	}
	return nil
}

// runsStart returns the first draft's point, if any.
func runsStart[T any](drafts []T, x func(T) []float64) []float64 {
	if len(drafts) == 0 {
		return nil
	}
	return x(drafts[0])
}

// describeFailure says why no bound could be computed, with the
// hyperparameters tried.
func (r *round) describeFailure(k int, x []float64) string {
	kern := r.kernels[k]
	if x == nil {
		x = r.drawer.draw(kern.program, stream(r.settings.Seed, kern.id, r.number<<10), 0)
	}
	return fmt.Sprintf("%s: k(Z,Z) is not positive definite or the bound is not finite, even with %g times the jitter, e.g. at %s",
		kern.id, r.factor[k], r.formatParams(kern, x))
}

// formatParams lists a kernel's hyperparameters on one line.
func (t *Trainer) formatParams(k *kernel, x []float64) string {
	raw, noise := rawParams(k.program, x, t.floor)
	s := ""
	for _, i := range k.program.Free {
		p := k.program.Params[i]
		s += fmt.Sprintf("%s[%d].%s=%.4g ", p.Base, p.Leaf+1, p.Name, raw[i])
	}
	return s + fmt.Sprintf("noise=%.4g", noise)
}

// step is called between the steps of every optimisation.
func (r *round) step(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	if r.gate != nil {
		return r.gate(ctx)
	}
	return nil
}

// climb runs ascents; with 0 steps it only values the starts.
func (r *round) climb(ctx context.Context, unit, sub []int, runs []*ascent, steps int, obj objective) error {
	if len(sub) == 0 {
		return nil
	}
	if steps > 0 {
		for i, a := range runs {
			a.scale = r.strides(r.kernels[unit[sub[i]]].program, a.start)
		}
		return ascend(ctx, r.gate, sub, runs, steps, obj)
	}
	return value(sub, runs, obj)
}

// staged runs ascents on all rows, giving up after a few iterations those that
// are far behind their kernel's best.
func (r *round) staged(ctx context.Context, unit, sub []int, runs []*ascent, obj objective) error {
	for i, a := range runs {
		a.target, a.rivalled = r.valueOf(unit[sub[i]]), true
	}
	if err := r.climb(ctx, unit, sub, runs, min(stageSteps, r.settings.Steps), obj); err != nil {
		return err
	}
	var again []int
	var rest []*ascent
	for i, a := range runs {
		if a.x != nil && !a.hopeless() && a.value > r.valueOf(unit[sub[i]])-promising {
			a.start = a.x
			again, rest = append(again, sub[i]), append(rest, a)
		}
	}
	if r.settings.Steps <= stageSteps {
		return nil
	}
	return r.climb(ctx, unit, again, rest, r.settings.Steps-stageSteps, obj)
}

// valueOf returns the value of a kernel's best solution so far.
func (r *round) valueOf(k int) float64 {
	if r.best[k].x == nil {
		return math.Inf(-1)
	}
	return r.best[k].value
}

// offer takes an ascent's result if it is the kernel's best.
func (r *round) offer(k int, a *ascent, source string) bool {
	if a.x == nil || a.value <= r.valueOf(k) {
		return false
	}
	r.best[k] = solution{x: a.x, value: a.value, source: source, fresh: true}
	return true
}

// transplants tries the solutions of related kernels as starts, again and again
// while that changes something: once between, at most four times at the end.
func (r *round) transplants(ctx context.Context) error {
	times := 1
	if r.n == r.data.Rows() {
		times = 4
	}
	for time := range times {
		before := slices.Clone(r.best)
		changed := make([]bool, len(r.kernels))
		for _, k := range r.live {
			changed[k] = time == 0 || r.best[k].fresh
			r.best[k].fresh = false
		}
		var takers []int
		for _, k := range r.live {
			for _, rel := range r.kernels[k].kin {
				if changed[rel.from] && before[rel.from].x != nil && r.failure[k] == "" {
					takers = append(takers, k)
					break
				}
			}
		}
		err := r.each(ctx, "transplants", takers, func(ctx context.Context, w *worker, unit []int) error {
			return r.transplantUnit(ctx, w, unit, before, changed, time)
		})
		if err != nil {
			return err
		}
		moved := false
		for _, k := range r.live {
			gain := r.best[k].value - before[k].value
			r.best[k].fresh = gain > 0.5
			moved = moved || r.best[k].fresh
		}
		if !moved {
			break
		}
	}
	return nil
}

// transplantUnit values the transplants for the kernels of a unit and optimises
// the promising ones.
func (r *round) transplantUnit(ctx context.Context, w *worker, unit []int, givers []solution, changed []bool, times int) error {
	if err := r.load(w.bound.group, unit); err != nil {
		return err
	}
	rows, err := w.points(r.train, r.rows)
	if err != nil {
		return err
	}
	stop := func() error { return r.step(ctx) }
	obj := w.bound.boundObjective(rows, r.rows.yy, stop)
	plain := w.bound.boundValue(rows, r.rows.yy, stop)

	type trial struct {
		run   *ascent
		label string
	}
	trials := make([][]trial, len(unit))
	most := 0
	for i, k := range unit {
		kern := r.kernels[k]
		rng := stream(r.settings.Seed, kern.id, r.number<<10+900+times)
		for _, rel := range kern.kin {
			if !changed[rel.from] || givers[rel.from].x == nil || !r.worthwhile(rel, givers[rel.from].value, r.valueOf(k)) {
				continue
			}
			for _, x := range r.drawer.transplant(rel, r.kernels[rel.from].program, kern.program, givers[rel.from].x, r.best[k].x, rng) {
				trials[i] = append(trials[i], trial{&ascent{start: x}, rel.label})
			}
		}
		most = max(most, len(trials[i]))
	}
	for j := range most {
		var sub []int
		var runs []*ascent
		for i := range unit {
			if j < len(trials[i]) {
				sub, runs = append(sub, i), append(runs, trials[i][j].run)
			}
		}
		if err := r.step(ctx); err != nil {
			return err
		}
		if err := value(sub, runs, plain); err != nil {
			return err
		}
	}
	for i := range unit {
		sort.SliceStable(trials[i], func(a, b int) bool { return trials[i][a].run.value > trials[i][b].run.value })
		trials[i] = slices.DeleteFunc(trials[i], func(t trial) bool {
			return t.run.x == nil || t.run.value < r.valueOf(unit[i])-transplantSlack
		})
		trials[i] = trials[i][:min(len(trials[i]), maxPolished)]
	}
	for j := range maxPolished {
		var sub []int
		var runs []*ascent
		for i := range unit {
			if j < len(trials[i]) {
				run := trials[i][j].run
				run.start = run.x
				run.target, run.rivalled = r.valueOf(unit[i]), true
				sub, runs = append(sub, i), append(runs, run)
			}
		}
		if len(sub) == 0 {
			break
		}
		if err := r.climb(ctx, unit, sub, runs, r.settings.Steps, obj); err != nil {
			return err
		}
		for i, a := range runs {
			k := unit[sub[i]]
			slack := 0.0
			if !r.exact {
				slack = 2
			}
			if a.value > r.valueOf(k)+slack {
				r.offer(k, a, trials[sub[i]][j].label)
			}
		}
	}
	return nil
}

// worthwhile says whether a giver's solution can help at all: a kernel is
// hardly better than another that contains it.
func (r *round) worthwhile(rel relation, giver, taker float64) bool {
	switch rel.kind {
	case lift:
		return giver > taker-200
	case restriction:
		return giver > taker-1
	default:
		return giver > taker-30
	}
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
