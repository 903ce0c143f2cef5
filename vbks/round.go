package vbks

import (
	"context"
	"fmt"
	"slices"
	"sync"

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
	live    []int   // indices of the kernels that take part
	donors  []donor // the last evaluation's solutions, best first
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
	return r.each(ctx, "learn", r.costliestFirst(r.live), r.learnUnit)
}

// each hands the kernels to the workers, a group at a time, and waits for all.
// No result depends on their order.
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
			err := guarded(func() error {
				for unit := take(); unit != nil; unit = take() {
					if err := work(ctx, w, unit); err != nil {
						return err
					}
					mu.Lock()
					done += len(unit)
					d := done
					mu.Unlock()
					if r.progress != nil {
						r.progress(Progress{Done: d, Total: len(kernels), Phase: phase})
					}
				}
				return nil
			})
			if err != nil {
				cancel(err)
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
