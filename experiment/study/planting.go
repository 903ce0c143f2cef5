package study

import (
	"context"
	"math"

	"example.com/kestrel/device"
	"example.com/kestrel/device/cpu"
	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/prepare"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/kernelspace/grow"
	"example.com/kestrel/vbks"
	"example.com/kestrel/vbks/exact"
	"example.com/kestrel/vbks/params"
)

// plant makes a data set known; nil where the planted kernel is not needed as it is, else by how
// many nats it is.
func (p *Planted) plant(ctx context.Context, s *drawnSet, seed uint64, lanes int) (t *planting, needed files.Number, err error) {
	job, err := s.prepare(ctx, &p.Config, seed, lanes)
	if err != nil {
		return nil, 0, err
	}
	defer func() {
		if t == nil {
			job.Close()
		}
	}()
	of := &planting{Planted: p, job: job, subject: job.Subject, seed: seed, lanes: lanes, planted: s.kernel, trained: map[string]*trained{}}
	if of.judge, err = newJudge(&made{job: job}); err != nil {
		return nil, 0, err
	}
	space := []kernelspace.Expr{s.kernel}
	for _, n := range p.grammar.Neighbours(s.kernel) {
		if n.Kind == grow.Remove {
			space = append(space, n.Expr)
		}
	}
	k, program, err := of.exact(s.kernel)
	if err != nil {
		return nil, 0, err
	}
	raw, _ := params.Raw(program, s.free, 0)
	free := k.Free(raw, s.variance)
	known, err := of.search(ctx, space, map[string][]float64{s.kernel.ID(): free})
	if err != nil {
		return nil, 0, err
	}
	if err := of.climbFrom(ctx, known[0], free); err != nil {
		return nil, 0, err
	}
	if of.truth = known[0].nats; math.IsNaN(of.truth) {
		return nil, 0, nil
	}
	needed = files.Number(math.Inf(1))
	for _, k := range known[1:] {
		if k.nats < of.truth-nearNats && k.nats >= of.truth-nearNats-nearlyNats {
			if err := of.climb(ctx, k); err != nil {
				return nil, 0, err
			}
		}
		if k.nats >= of.truth-nearNats {
			return nil, 0, nil
		}
		if !math.IsNaN(k.nats) {
			needed = min(needed, files.Number(of.truth-k.nats))
		}
	}
	return of, needed, nil
}

// planting is a data set, and what is known of kernels on it.
type planting struct {
	*Planted
	job     *prepare.Job
	subject *prepare.Subject
	judge   *judge
	seed    uint64
	lanes   int
	planted kernelspace.Expr
	truth   float64 // its evidence
	trained map[string]*trained
}

func (t *planting) device() device.Device { return cpu.New(cpu.Options{Lanes: max(1, t.lanes)}) }

// trained is a kernel whose hyperparameters have been searched.
type trained struct {
	id      string
	expr    kernelspace.Expr
	nats    float64 // evidence, NaN where there is none
	volume  float64 // of its mode, in that
	kernel  *exact.Kernel
	free    []float64
	climbed bool
}

// climbFrom takes a kernel to its mode, from another free vector, too.
func (t *planting) climbFrom(ctx context.Context, k *trained, free []float64) error {
	if err := t.climb(ctx, k); err != nil || math.IsNaN(k.nats) {
		return err
	}
	nats, err := k.kernel.Climb(ctx, free)
	if nats+k.volume > k.nats {
		k.nats = nats + k.volume
	}
	return err
}

func (t *planting) exact(e kernelspace.Expr) (*exact.Kernel, *kernelspace.Program, error) {
	p, err := vbks.Candidate{Expr: e}.Program(t.subject.Options())
	if err != nil {
		return nil, nil, err
	}
	k, err := t.judge.rows.Kernel(p)
	return k, p, err
}

// of values a kernel where a trainer has brought it.
func (t *planting) of(r *vbks.KernelResult) (*trained, error) {
	e, err := kernelspace.Parse(r.ID)
	if err != nil {
		return nil, err
	}
	out := &trained{id: r.ID, expr: e.Canonical(), nats: math.NaN(), volume: r.Volume}
	if r.Status != vbks.Live {
		return out, nil
	}
	if out.kernel, _, err = t.exact(out.expr); err != nil {
		return nil, err
	}
	raw := make([]float64, len(r.Params))
	for i, v := range r.Params {
		raw[i] = v.Value
	}
	out.free = out.kernel.Free(raw, r.Noise)
	if v, ok, err := out.kernel.At(out.free); err != nil || !ok {
		return out, err
	} else {
		out.nats = v + out.volume
	}
	return out, nil
}

// climb takes a kernel to its mode.
func (t *planting) climb(ctx context.Context, k *trained) error {
	if k.climbed || math.IsNaN(k.nats) {
		return nil
	}
	k.climbed = true
	nats, err := k.kernel.Climb(ctx, k.free)
	if err == nil && nats+k.volume > k.nats {
		k.nats = nats + k.volume
	}
	return err
}

// asGood reports whether a kernel cannot be told from the planted one, or is better.
func (t *planting) asGood(ctx context.Context, k *trained) (bool, error) {
	if k.nats < t.truth-tieNats && k.nats >= t.truth-nearlyNats {
		if err := t.climb(ctx, k); err != nil {
			return false, err
		}
	}
	return k.nats >= t.truth-tieNats, nil
}

// grow makes the run of growth.
func (t *planting) grow(ctx context.Context, row *PlantedRow) error {
	sub, began := t.subject, cpuSeconds()
	trainer, err := vbks.New(ctx, t.device(), sub.Train, sub.Space, sub.Columns, sub.Settings)
	if err != nil {
		return ended(ctx, err)
	}
	then := map[string]int{} // how many had been trained with a kernel when it came, or came again
	for !trainer.Done() {
		if _, err = trainer.Next(ctx); err != nil {
			if ctx.Err() != nil {
				return ended(ctx, err)
			}
			row.Failure = err.Error()
			return nil
		}
		came := trainer.Last().Entered
		if trainer.Last().Index == 1 {
			for _, c := range sub.Space {
				came = append(came, vbks.Entered{Candidate: c})
			}
		}
		row.Tried += len(came)
		for _, e := range came {
			then[e.Expr.ID()] = row.Tried
		}
	}
	row.CPU, row.Met = files.Number(cpuSeconds()-began), then[t.planted.ID()] > 0
	last := trainer.Last()
	found, err := t.of(&last.Kernels[last.Leader()])
	if err != nil {
		return err
	}
	again, err := t.search(ctx, []kernelspace.Expr{found.expr}, map[string][]float64{found.id: found.free})
	if err != nil {
		return err
	}
	leader := again[0]
	if err := t.climbFrom(ctx, leader, found.free); err != nil {
		return err
	}
	row.Leader, row.LeaderLeaves, row.TriedThen = leader.id, leader.expr.NumLeaves(), then[leader.id]
	row.Gap = files.Number(t.truth - leader.nats)
	row.PriorGap = row.Gap + files.Number(t.grammar.LogPrior(t.planted)-t.grammar.LogPrior(leader.expr))
	return nil
}

// train searches the hyperparameters of kernels that have not been trained, all rows at once,
// beside the best of those that have, and returns what is known of all of them.
func (t *planting) train(ctx context.Context, kernels []kernelspace.Expr, best *trained) ([]*trained, error) {
	var space []kernelspace.Expr
	for _, e := range kernels {
		if t.trained[e.ID()] == nil {
			space = append(space, e)
		}
	}
	if len(space) > 0 {
		guesses := map[string][]float64{}
		if best != nil {
			space = append(space, best.expr)
			guesses[best.id] = best.free
		}
		found, err := t.search(ctx, space, guesses)
		if err != nil {
			return nil, err
		}
		for _, k := range found {
			if t.trained[k.id] == nil {
				t.trained[k.id] = k
			}
		}
	}
	var out []*trained
	for _, e := range kernels {
		out = append(out, t.trained[e.ID()])
	}
	return out, nil
}

// search has the hyperparameters of kernels searched, and their modes measured.
func (t *planting) search(ctx context.Context, kernels []kernelspace.Expr, guesses map[string][]float64) (out []*trained, err error) {
	s := t.subject.Settings
	space := make([]vbks.Candidate, len(kernels))
	for i, e := range kernels {
		space[i] = vbks.Candidate{Expr: e, Weight: 1}
	}
	s.Growth.On, s.EvaluateEvery, s.Refine = false, 1, 0
	if s.Evidence != "mode" { // volumes are for all of these the same kind
		s.Evidence = "laplace"
	}
	if s.Inducing == 0 {
		s.Inducing = min(rivalInducing, t.subject.Train.Rows())
	}
	trainer, err := learn(ctx, t.device(), t.subject, space, s, guesses)
	if err != nil {
		return nil, err
	}
	last := trainer.Last()
	for i := range last.Kernels {
		k, err := t.of(&last.Kernels[i])
		if err != nil {
			return nil, err
		}
		out = append(out, k)
	}
	return out, nil
}

// compete lets another search train kernels until one is as good as the planted one, there are
// no more to try, or there have been so many.
func (t *planting) compete(ctx context.Context, r rival, most int) (*RivalRow, error) {
	out := &RivalRow{Name: r.name()}
	scores := map[string]float64{}
	var best *trained
	for out.Trained < most {
		next, err := r.next(ctx, scores)
		if err != nil || len(next) == 0 {
			return out, err
		}
		next = next[:min(len(next), most-out.Trained)]
		done, err := t.train(ctx, next, best)
		if err != nil {
			return nil, err
		}
		for _, k := range done {
			out.Trained++
			if out.Found, err = t.asGood(ctx, k); err != nil || out.Found {
				return out, err
			}
			scores[k.id] = k.nats
			if !math.IsNaN(k.nats) && (best == nil || k.nats > best.nats) {
				best = k
			}
		}
	}
	return out, nil
}
