package vbks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"example.com/kestrel/device"
	"example.com/kestrel/internal/guard"
	"example.com/kestrel/vbks/cost"
)

// round is one evaluation in the making. Nothing of the trainer changes before
// it commits, and units of work change nothing but their own outcomes.
type round struct {
	*Trainer
	number   int
	n        int
	screen   *rowSet
	compared *rowSet         // on which hyperparameters are compared
	live     []int           // indices of the kernels that take part
	given    []gift          // the last evaluation's solutions, best first
	outcomes []outcome       // of every kernel of the space
	stood    map[int]bool    // whose solutions are as they were and known to relatives, see stand
	remarks  []Notice        // to be told with the evaluation
	nearby   map[int]*nearby // what windows say, by place of the kernel; nil: nothing

	stages []KernelProgress

	asks       bool   // it only predicts, under the last evaluation
	tooNarrow  bool   // windows of neighbours do not see what matters
	unresolved bool   // the noise is a function that is too rough for the inducing inputs
	audibly    bool   // so it is where not all rows can come next
	blurred    string // why a growing space needs more inducing inputs to go on, "" where it does not
}

func (t *Trainer) newRound(number int) (*round, error) {
	n := t.schedule(number)
	rows, _ := t.scoutSize(n)
	r := &round{Trainer: t, number: number, n: n, outcomes: t.unknown(),
		screen: t.spreadRows(n, ScreenRows), compared: t.spreadRows(n, rows), given: t.donors()}
	for i, k := range t.kernels {
		if k.status == Live && !(number == t.recalled && k.current(n)) {
			r.live = append(r.live, i)
		}
	}
	if len(r.live) == 0 {
		return nil, fmt.Errorf("no kernel is left: every one has failed or been pruned")
	}
	return r, nil
}

// unknown is what is known of the kernels before a round: the escalation of the
// jitter.
func (t *Trainer) unknown() []outcome {
	out := make([]outcome, len(t.kernels))
	for i, k := range t.kernels {
		out[i].Factor = 1
		if k.state != nil && k.state.Factor > 0 {
			out[i].Factor = k.state.Factor
		}
		out[i].Heard = k.heard
	}
	return out
}

// donors returns the better half of the live kernels' solutions, at least six,
// best first.
func (t *Trainer) donors() []gift {
	var live []int
	for i, k := range t.kernels {
		if k.current(t.rows) {
			live = append(live, i)
		}
	}
	slices.SortStableFunc(live, func(a, b int) int { return cmp.Compare(t.kernels[b].elbo, t.kernels[a].elbo) })
	live = live[:min(len(live), max(6, len(live)/2))]
	out := make([]gift, len(live))
	for i, k := range live {
		out[i] = gift{From: k, X: t.kernels[k].state.solution(), Value: t.kernels[k].elbo}
	}
	return out
}

// order returns what the units of a phase have in common. The search is thorough on which
// all depends: the first on all rows and the last on a rung, but where each kernel is
// searched for again with more inducing inputs, or late kernels closely, see closely.
func (r *round) order(p phase) *order {
	all := r.n == r.data.Rows() && (r.Trainer.rows < r.n || r.concluding(r.number))
	return &order{Phase: p, Number: r.number, Rows: r.n, Screen: r.screen, Compared: r.compared, Donors: r.given, Least: math.Inf(-1),
		Thorough: all && !r.searchedAgain(len(r.live))}
}

// tasks returns what units read of kernels, the costliest first: what takes long
// must not come last, when the other lanes are idle.
func (r *round) tasks(kernels []int) []task {
	out := make([]task, len(kernels))
	for i, k := range r.costliestFirst(kernels) {
		out[i] = task{Kernel: k, Last: r.kernels[k].state, Known: r.outcomes[k]}
		if r.asks {
			out[i].Last = r.kernels[k].predictor()
		}
	}
	return out
}

// costliestFirst returns the kernels in the order in which workers should take
// them: what takes long must not come last, when the other lanes are idle.
func (t *Trainer) costliestFirst(kernels []int) []int {
	out := slices.Clone(kernels)
	slices.SortStableFunc(out, func(a, b int) int {
		return cmp.Compare(cost.Search(t.kernels[b].program), cost.Search(t.kernels[a].program))
	})
	return out
}

// close gives the round's row lists back.
func (r *round) close() {
	for _, w := range r.workers {
		w.forget()
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
				r.outcomes[k].Best = solution{X: s.Free, Source: sourceLast}
			}
		}
	}
	// With many more inducing inputs than at first a search without a scout would cost many times
	// as much as it finds: the solutions are those of before, moved a little.
	full := r.researches(len(r.live))
	// Nor where it is only for kernels that have come late, or the others have been searched
	// for on the same rows.
	if !full || r.growing() && (r.n == r.Trainer.rows || !r.due()) {
		o := r.order(phaseSearch)
		o.Resumed, o.Rough = true, r.resolving() || r.m == r.n && r.optimizer.search().always
		if rows := r.settings.Growth.Rows; rows > 0 {
			o.Curved = r.partOf(rows)
		}
		solved := slices.DeleteFunc(slices.Clone(searched), func(k int) bool { return r.kernels[k].state == nil })
		moving, err := r.stand(ctx, solved)
		if err != nil {
			return err
		}
		if err := r.each(ctx, o, r.tasks(moving)); err != nil {
			return err
		}
		searched = slices.DeleteFunc(slices.Clone(searched), func(k int) bool { return r.kernels[k].state != nil })
	}
	o, closely := r.order(phaseSearch), r.closely(searched)
	o.Thorough = o.Thorough && !closely
	if rows := r.settings.Growth.Rows; rows > 0 && closely {
		o.Part, o.Least = r.partOf(rows), r.best()-FarNats
	}
	if err := r.each(ctx, o, r.tasks(searched)); err != nil {
		return err
	}
	if r.settings.Transplants && r.searching() {
		// Where solutions are only taken up, with more inducing inputs than before, a
		// relative may have become better than what contains it.
		exact := r.optimizer.search().always && r.n == r.data.Rows()
		sparing := !full && !(r.settings.light(r.n, r.m) && len(r.live) <= fewLive)
		if full || exact || r.growing() { // late kernels begin at their parents' solutions, too
			if err := r.transplants(ctx, sparing); err != nil {
				return err
			}
		}
	}
	if closely {
		if err := r.lookAgain(ctx, searched); err != nil {
			return err
		}
	}
	return r.optimizer.complete(ctx, r)
}

const (
	sourceLast = "last" // of a solution: the evaluation before

	// A solution stands in a growing space, until a relative has a better one, where an ascent on the same rows and inducing inputs
	// expected no more than stoodNats of going on, and what is made of it has been tried.
	stoodNats = 0.05
	// Its value is the same then, but for rounding and jitter.
	stoodSlack = 1e-3
)

// stand takes solutions as they were that another evaluation would climb and vary in vain: a growing space has many on the same
// rows. The other kernels are returned.
func (r *round) stand(ctx context.Context, kernels []int) (moving []int, err error) {
	if !r.growing() || !r.optimizer.search().always {
		return kernels, nil
	}
	var still []int
	for _, k := range kernels {
		if r.stands(k) {
			still = append(still, k)
		} else {
			moving = append(moving, k)
		}
	}
	o := r.order(phaseSearch)
	o.Resumed, o.Valued = true, true
	if err := r.each(ctx, o, r.tasks(still)); err != nil {
		return nil, err
	}
	r.stood = map[int]bool{}
	for _, k := range still {
		f, was := &r.outcomes[k], r.kernels[k]
		if f.Failure == "" && !was.worthAgain(f.value()) { // rows count for more or less than they did, say
			f.Best, f.Modes = solution{}, nil
			moving = append(moving, k)
			continue
		}
		f.Best.Gain = was.gain
		r.stood[k] = was.source == sourceLast // what a close search has found relatives have not seen
	}
	slices.Sort(moving)
	return moving, nil
}

// worthAgain reports whether a value is what the kernel's solution had at the last evaluation, on the bound that is searched: the
// local ELBO, or, where that is of another bound than the searched one, the lower of the two that then hold.
func (k *kernel) worthAgain(value float64) bool {
	return math.Abs(value-k.elbo) <= stoodSlack || k.bounds != nil && math.Abs(value-k.bounds.Lower) <= stoodSlack
}

// stands reports whether the last evaluation has done for the kernel's solution what another would do: taken it up, or, where
// it is the first that the kernel remembers, searched as closely as late kernels are.
func (r *round) stands(i int) bool {
	k := r.kernels[i]
	if len(k.past) == 0 || !(k.gain > 0 && k.gain <= stoodNats) || k.source != sourceLast && (len(k.past) > 1 || !r.lateClosely()) {
		return false
	}
	p := k.past[0]
	return p.evaluation+1 == r.number && p.rows == r.n && p.inducing == r.m && !p.windows
}

// closely reports whether the kernels that are searched for are late ones, which are to be as closely as those that there
// were in the end: of all rows, if these are few, or inducing inputs, too. A period that is missed looks like noise, so
// that its kernel leaves, and what would be made of it does not enter.
func (r *round) closely(searched []int) bool {
	return r.lateClosely() && !slices.ContainsFunc(searched, func(k int) bool { return r.kernels[k].state != nil })
}

// lateClosely reports whether late kernels are, if there are any.
func (r *round) lateClosely() bool {
	n := r.data.Rows()
	return r.growing() && r.n == n && (n <= r.settings.AllRows || r.m == n) && r.optimizer.search().always
}

// partOf are so many of the rows, on which late kernels are searched where bounds on all are dear; nil: on all.
func (r *round) partOf(rows int) *rowSet {
	if !r.growing() || !r.dear() || r.n <= rows {
		return nil
	}
	return r.spreadRows(r.n, rows)
}

// dear reports whether bounds are on many rows, which are all inducing inputs.
func (r *round) dear() bool {
	return r.n == r.data.Rows() && r.m >= r.n && r.settings.Dear(r.n) && r.optimizer.search().always
}

// FarNats behind the best kernel a late one is not searched for any closer: what misses that much lacks another part.
const FarNats = 50

// found is the value of what this evaluation has found for a kernel so far, best that of the best one.
func (r *round) found(k int) float64 {
	if r.outcomes[k].Failure != "" {
		return math.Inf(-1)
	}
	return r.outcomes[k].value()
}

func (r *round) best() float64 {
	best := math.Inf(-1)
	for _, k := range r.live {
		best = max(best, r.found(k))
	}
	return best
}

// lookAgain searches late kernels that may lead closely, from where fresh starts and relatives have brought them.
func (r *round) lookAgain(ctx context.Context, late []int) error {
	least := r.best() - FarNats
	near := slices.DeleteFunc(slices.Clone(late), func(k int) bool { return !(r.found(k) >= least) })
	o := r.order(phaseSearch)
	if r.settings.Growth.Rows > 0 {
		o.Least = least
	}
	o.Thorough, o.Late = true, true
	o.Part = r.partOf(cmp.Or(r.settings.Growth.Rows, PartRows))
	return r.each(ctx, o, r.tasks(near))
}

// searching reports whether this evaluation looks for other solutions at all:
// always where the bound on all rows is the local ELBO; for the stochastic
// optimisers, whose solutions move on in between, at evaluations 1, 2, 4, 8, ...,
// once all data are in use, after a change of the inducing inputs, and where kernels have
// come late.
func (r *round) searching() bool {
	return r.due() || slices.ContainsFunc(r.live, func(k int) bool { return r.kernels[k].state == nil })
}

// due is searching but for kernels that have no solution yet.
func (r *round) due() bool {
	if r.optimizer.search().always || r.number&(r.number-1) == 0 || r.n == r.data.Rows() && r.Trainer.rows < r.n {
		return true
	}
	return slices.ContainsFunc(r.live, func(k int) bool {
		s := r.kernels[k].state
		return s != nil && s.Mean == nil
	})
}

// each hands the tasks of a phase to the workers, a unit at a time, and takes the
// outcomes over. No result depends on their order, nor on the division into units:
// where a lane is lost or has too little memory, its units are begun again, on
// other lanes or in smaller ones.
func (r *round) each(ctx context.Context, o *order, tasks []task) error {
	p := &Phase{Name: string(o.Phase), round: r, order: o, tasks: tasks}
	r.queue(tasks)
	if r.crew != nil && len(tasks) > 0 && o.sent() {
		return r.crew.Each(ctx, p)
	}
	return lanes{}.Each(ctx, p)
}

// lanes are the crew of a run that has no other: those of its own device.
type lanes struct{}

// Each is that of a crew.
func (lanes) Each(ctx context.Context, ph *Phase) error {
	p := &pass{Phase: ph, round: ph.round, site: ph.round.site(), order: ph.order}
	for left := ph.tasks; len(left) > 0; {
		p.units = p.divide(left, ph.order.Phase)
		if err := p.run(ctx); err != nil {
			return err
		}
		left = slices.Concat(p.units...)
	}
	return nil
}

// divide makes units of tasks. A kernel with inducing inputs of its own, or that is to
// get some, is one: a lane's kernels share theirs, which its products with them are laid
// out for.
func (r *round) divide(tasks []task, p phase) [][]task {
	var alone [][]task
	var shared []task
	for _, t := range tasks {
		if t.Known.Own != nil || p == phaseOwn {
			alone = append(alone, []task{t})
		} else {
			shared = append(shared, t)
		}
	}
	if len(shared) == 0 {
		return alone
	}
	return append(alone, divide(shared, len(r.workers), r.group)...)
}

// queue marks the kernels of tasks as waiting for a worker.
func (r *round) queue(tasks []task) {
	if r.stages == nil {
		r.stages = slices.Repeat([]KernelProgress{{Bound: math.NaN()}}, len(r.outcomes))
	}
	for _, t := range tasks {
		r.stages[t.Kernel].Stage = Queued
	}
}

// divide makes units of tasks, which come costliest first: at most as many in one
// as a worker takes at a time, and no fewer units than workers, as far as that
// goes. Tasks are dealt to them in turn, so that they cost about the same.
func divide[T any](tasks []T, workers, group int) [][]T {
	lanes := max(1, workers)
	size := max(1, min(group, (len(tasks)+lanes-1)/lanes))
	units := make([][]T, (len(tasks)+size-1)/size)
	for i, k := range tasks {
		units[i%len(units)] = append(units[i%len(units)], k)
	}
	return units
}

// pass is an attempt at a phase of a round. Units that a failing lane gave back
// are left in units.
type pass struct {
	*Phase
	*round
	site  *site
	order *order

	mu    sync.Mutex
	units [][]task
	short error // memory that was lacking; no more units are begun
	gone  map[*worker]error
}

// run has the workers take units until there are none. Then what failed is put
// in order: lost lanes are out of use, groups fit into memory.
func (p *pass) run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	p.short, p.gone = nil, map[*worker]error{}
	var wg sync.WaitGroup
	// A worker has buffers of what it has done: where there is one unit only, it is
	// always the same one's.
	for _, w := range p.workers[:min(len(p.workers), len(p.units))] {
		wg.Go(func() {
			err := guard.Do(func() error {
				for unit := p.take(ctx); unit != nil; unit = p.take(ctx) {
					if again, err := p.attempt(ctx, w, unit); !again {
						return err
					}
				}
				return nil
			})
			if err != nil {
				cancel(err)
			}
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var last error
	p.Trainer.workers = slices.DeleteFunc(slices.Clone(p.workers), func(w *worker) bool {
		err := p.gone[w]
		if err != nil {
			p.lose(w.number, err)
			last = err
		}
		return err != nil
	})
	if len(p.workers) == 0 {
		return noLane(last)
	}
	if p.short != nil {
		for _, w := range p.workers {
			w.forget()
		}
		return p.settle(p.short)
	}
	return nil
}

// take returns the next unit, nil if there is none or no more are to be begun.
func (p *pass) take(ctx context.Context) []task {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.units) == 0 || p.short != nil || ctx.Err() != nil {
		return nil
	}
	unit := p.units[0]
	p.units = p.units[1:]
	p.stage(unit, Working)
	return unit
}

// attempt does the work for a unit and reports whether the worker may take
// another. A unit whose lane fails is given back, and what it has found is
// forgotten.
func (p *pass) attempt(ctx context.Context, w *worker, tasks []task) (again bool, err error) {
	u := newUnit(ctx, p.site, p.order, w, tasks)
	err = p.perform(ctx, u)
	lost, short := errors.Is(err, device.ErrLost), errors.Is(err, device.ErrOutOfMemory)
	if err != nil && !lost && !short {
		return false, err
	}
	if short {
		// A failure that the lane still keeps is of this attempt.
		if e := w.lane.Sync(); errors.Is(e, device.ErrLost) {
			lost, err = true, e
		}
	}
	if err == nil {
		p.keep(u.tasks, u.outcomes)
		return true, nil
	}
	p.giveBack(u, err, lost)
	return false, nil
}

// giveBack takes a unit back whose lane has failed.
func (p *pass) giveBack(u *unit, err error, lost bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.units = append(p.units, u.tasks)
	p.stage(u.tasks, Queued)
	if lost {
		p.gone[u.worker] = err
	} else {
		p.short = err
	}
}
