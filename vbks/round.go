package vbks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"kestrel/device"
	"kestrel/internal/guard"
	"kestrel/kernelspace"
)

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
	tuned   *rowSet // on which hyperparameters are tuned; nil: they are not
	live    []int   // indices of the kernels that take part
	donors  []donor // the last evaluation's solutions, best first
	best    []solution
	factor  []float64
	failure []string // reason why a kernel failed
	broken  []error  // and the guard.PanicError, if that was one
	states  []*State // what the stochastic optimisers arrived at
	elbo    []float64
	terms   [][]float64
}

func (t *Trainer) newRound(number int) (*round, error) {
	k := len(t.kernels)
	r := &round{
		Trainer: t, number: number, n: t.schedule(number),
		best: make([]solution, k), factor: make([]float64, k), failure: make([]string, k), broken: make([]error, k),
		states: make([]*State, k), elbo: make([]float64, k), terms: make([][]float64, k),
	}
	r.screen = t.spreadRows(r.n, screenRows)
	r.rows = &rowSet{n: r.n, yy: t.cumYY[r.n]}
	r.sample = t.elboSample(r.n)
	if !t.exact {
		rows, _ := t.scoutSize()
		r.rows = t.spreadRows(r.n, rows)
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
	r.donors = t.donors()
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
				r.best[k] = solution{x: s.Free, source: "last"}
			}
		}
	}
	if err := r.each(ctx, "optimise", r.costliestFirst(searched), r.search); err != nil {
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
		return r.each(ctx, "beliefs over hyperparameters", r.costliestFirst(r.live), r.thetaUnit)
	}
	if r.tuning() {
		r.tuned = r.tuneSample()
		if err := r.each(ctx, "tune", r.costliestFirst(r.live), r.tuneUnit); err != nil {
			return err
		}
	}
	return r.each(ctx, "learn", r.costliestFirst(r.live), r.learnUnit)
}

// each hands the kernels to the workers, a unit at a time, and waits for all.
// No result depends on their order, nor on the division into units: where a lane
// is lost or has too little memory, its units are begun again, on other lanes
// or in smaller ones.
func (r *round) each(ctx context.Context, phase string, kernels []int, work func(context.Context, *worker, []int) error) error {
	p := &pass{round: r, phase: phase, total: len(kernels), work: work}
	for left := kernels; len(left) > 0; {
		p.units = r.divide(left)
		if err := p.run(ctx); err != nil {
			return err
		}
		left = slices.Concat(p.units...)
	}
	return nil
}

// divide makes units of kernels, which come costliest first: at most as many in
// one as a worker takes at a time, and no fewer units than workers, as far as
// that goes. Kernels are dealt to them in turn, so that they cost about the same.
func (r *round) divide(kernels []int) [][]int {
	lanes := max(1, len(r.workers))
	size := max(1, min(r.group, (len(kernels)+lanes-1)/lanes))
	units := make([][]int, (len(kernels)+size-1)/size)
	for i, k := range kernels {
		units[i%len(units)] = append(units[i%len(units)], k)
	}
	return units
}

// pass is an attempt at a phase of a round. Units that a failing lane gave back
// are left in units.
type pass struct {
	*round
	phase       string
	total, done int // kernels
	work        func(context.Context, *worker, []int) error

	mu    sync.Mutex
	units [][]int
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
	for _, w := range p.workers {
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
func (p *pass) take(ctx context.Context) []int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.units) == 0 || p.short != nil || ctx.Err() != nil {
		return nil
	}
	unit := p.units[0]
	p.units = p.units[1:]
	return unit
}

// attempt does the work for a unit and reports whether the worker may take
// another. A unit whose lane fails is given back with its kernels as they were.
func (p *pass) attempt(ctx context.Context, w *worker, unit []int) (again bool, err error) {
	before := p.save(unit)
	err = p.work(ctx, w, unit)
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
	p.mu.Lock()
	switch {
	case err == nil:
		p.done += len(unit)
	default:
		p.restore(before)
		p.units = append(p.units, unit)
		if lost {
			p.gone[w] = err
		} else {
			p.short = err
		}
	}
	done := p.done
	p.mu.Unlock()
	if err == nil && p.progress != nil {
		p.progress(Progress{Done: done, Total: p.total, Phase: p.phase})
	}
	return err == nil, nil
}

// found is what a round has found out about a kernel.
type found struct {
	kernel  int
	best    solution
	factor  float64
	failure string
	broken  error
	state   *State
	elbo    float64
	terms   []float64
}

// save returns what is known of kernels, for restore. A round that only
// predicts finds nothing out.
func (r *round) save(kernels []int) []found {
	if r.best == nil {
		return nil
	}
	out := make([]found, len(kernels))
	for i, k := range kernels {
		out[i] = found{k, r.best[k], r.factor[k], r.failure[k], r.broken[k], nil, r.elbo[k], r.terms[k]}
		if s := r.states[k]; s != nil {
			copied := *s // its slices are replaced, never written into
			out[i].state = &copied
		}
	}
	return out
}

// restore undoes what was found out since save.
func (r *round) restore(before []found) {
	for _, f := range before {
		k := f.kernel
		r.best[k], r.factor[k], r.failure[k], r.broken[k] = f.best, f.factor, f.failure, f.broken
		r.states[k], r.elbo[k], r.terms[k] = f.state, f.elbo, f.terms
	}
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
