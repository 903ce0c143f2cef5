package study

import (
	"context"
	"errors"
	"maps"
	"math"
	"slices"

	"example.com/kestrel/device"
	"example.com/kestrel/device/cpu"
	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/prepare"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/kernelspace/grow"
	"example.com/kestrel/vbks"
	"example.com/kestrel/vbks/exact"
	"example.com/kestrel/vbks/laplace"
	"example.com/kestrel/vbks/params"
)

// plant makes a data set ready.
func (p *Planted) plant(ctx context.Context, s *drawnSet, seed uint64, lanes int) (*planting, error) {
	job, err := s.prepare(ctx, &p.Config, seed, lanes)
	if err != nil {
		return nil, err
	}
	t := &planting{Planted: p, job: job, subject: job.Subject, seed: seed, lanes: lanes, planted: s.kernel, trained: map[string]*trained{},
		course: &course{}, since: cpuSeconds()}
	if t.judge, err = newJudge(&made{job: job}); err != nil {
		job.Close()
		return nil, err
	}
	return t, nil
}

// needed finds the evidence of the planted kernel, and by how many nats it is needed as it is; ok is
// false where it is not.
func (t *planting) needed(ctx context.Context, s *drawnSet) (nats files.Number, ok bool, err error) {
	space := []kernelspace.Expr{s.kernel}
	for _, n := range t.grammar.Neighbours(s.kernel) {
		if n.Kind == grow.Remove {
			space = append(space, n.Expr)
		}
	}
	k, program, err := t.exact(s.kernel)
	if err != nil {
		return 0, false, err
	}
	raw, _ := params.Raw(program, s.free, 0)
	free := k.Free(raw, s.variance)
	known, err := t.search(ctx, space, map[string][]float64{s.kernel.ID(): free})
	if err != nil {
		return 0, false, err
	}
	if err := t.climbFrom(ctx, known[0], free); err != nil {
		return 0, false, err
	}
	if t.truth = known[0].nats; math.IsNaN(t.truth) {
		return 0, false, nil
	}
	nats = files.Number(math.Inf(1))
	for _, k := range known[1:] {
		if k.nats < t.truth-nearNats && k.nats >= t.truth-nearNats-nearlyNats {
			if err := t.climb(ctx, k); err != nil {
				return 0, false, err
			}
		}
		if k.nats >= t.truth-nearNats {
			return 0, false, nil
		}
		if !math.IsNaN(k.nats) {
			nats = min(nats, files.Number(t.truth-k.nats))
		}
	}
	return nats, true, nil
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
	course  *course
	dev     device.Device // nil: not made yet
	cpu     float64       // s, of others' trainings, up to
	since   float64       // then
}

// host is the CPU, for what is not worth a card.
func (t *planting) host() device.Device { return cpu.New(cpu.Options{Lanes: max(1, t.lanes)}) }

// place is the device on which kernels are trained. What a trainer had on it is given back when
// nothing refers to the trainer any more.
func (t *planting) place() (device.Device, error) {
	if t.dev == nil {
		c := t.Config.Device
		if c.Lanes == 0 {
			c.Cores = max(1, t.lanes)
		}
		dev, err := prepare.OpenDevice(c)
		if err != nil {
			return nil, err
		}
		t.dev = dev
	}
	return t.dev, nil
}

// close gives the devices back.
func (t *planting) close() error {
	err := t.job.Close()
	if t.dev != nil {
		err = errors.Join(err, t.dev.Close())
	}
	return err
}

// trained is a kernel whose hyperparameters have been searched.
type trained struct {
	id      string
	expr    kernelspace.Expr
	nats    float64       // evidence, NaN where there is none
	volume  float64       // of its mode, in that
	kernel  *exact.Kernel // nil: not made ready yet
	free    []float64
	climbed bool
}

// climbFrom takes a kernel to its mode, from another free vector, too.
func (t *planting) climbFrom(ctx context.Context, k *trained, free []float64) error {
	if err := t.climb(ctx, k); err != nil || math.IsNaN(k.nats) {
		return err
	}
	return t.climbTo(ctx, k, free)
}

// climbTo climbs from a free vector. What it comes to counts with the volume of the mode that it is, which may be much
// narrower than the one that had been searched; with none where a trainer counts none.
func (t *planting) climbTo(ctx context.Context, k *trained, free []float64) error {
	top, density, err := k.kernel.Climb(ctx, free)
	if err != nil || math.IsNaN(density) {
		return err
	}
	volume, settings := 0.0, &t.subject.Settings
	if settings.Evidence != "mode" && settings.Hyperparameters == "point" && settings.ThetaPrior {
		volume, err = volumeAt(k.kernel, top)
	}
	if err == nil && density+volume > k.nats {
		k.nats, k.volume, k.free = density+volume, volume, top
	}
	return err
}

// volumeAt is that of a mode of the evidence, by Laplace.
func volumeAt(k *exact.Kernel, top []float64) (float64, error) {
	mean, sd, _, _ := k.Prior(k.Program())
	mode := laplace.Mode{Program: k.Program(), X: top, Prec: make([]float64, len(sd)), Mean: mean, Scale: k.Strides(top)}
	for i, s := range sd {
		mode.Prec[i] = 1 / (s * s)
	}
	of, err := laplace.Volumes([]laplace.Mode{mode}, func(_ []int, xs [][]float64) ([][]float64, error) {
		grad, ok, err := k.Gradient(xs[0])
		if !ok {
			grad = nil
		}
		return [][]float64{grad}, err
	})
	if err != nil {
		return 0, err
	}
	return of[0].Nats, nil
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
	if k.kernel == nil {
		var err error
		if k.kernel, _, err = t.exact(k.expr); err != nil {
			return err
		}
	}
	k.climbed = true
	return t.climbTo(ctx, k, k.free)
}

// asGood reports whether a kernel cannot be told from the planted one, or is better.
func (t *planting) asGood(ctx context.Context, k *trained) (bool, error) {
	if k.nats < t.truth-tieNats && k.nats >= t.truth-nearlyNats {
		was := k.climbed
		if err := t.climb(ctx, k); err != nil {
			return false, err
		}
		if !was {
			if err := t.keep(k); err != nil {
				return false, err
			}
		}
	}
	return k.nats >= t.truth-tieNats, nil
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
		found, err := t.searchWhole(ctx, space, guesses)
		if err != nil {
			return nil, err
		}
		var came []*trained
		for _, k := range found {
			if t.trained[k.id] == nil {
				t.trained[k.id] = k
				came = append(came, k)
			}
		}
		if err := t.keep(came...); err != nil {
			return nil, err
		}
	}
	var out []*trained
	for _, e := range kernels {
		out = append(out, t.trained[e.ID()])
	}
	return out, nil
}

// search has the hyperparameters of kernels searched as a run does it, and their modes measured.
func (t *planting) search(ctx context.Context, kernels []kernelspace.Expr, guesses map[string][]float64) (out []*trained, err error) {
	return t.searchWith(ctx, t.subject, t.subject.Settings, kernels, guesses)
}

// searchWhole is search as growth has it for its late kernels: with all rows as inducing inputs from the beginning, if there are few,
// since what is narrow in hyperparameters is not seen with fewer; of more on those that growth begins with, and what is not far
// behind there is climbed on all.
func (t *planting) searchWhole(ctx context.Context, kernels []kernelspace.Expr, guesses map[string][]float64) (out []*trained, err error) {
	s, sub := t.subject.Settings, *t.subject
	n := sub.Train.Rows()
	on := s.GrowRows(n)
	if on < n {
		sub.Train = sub.Train.UpTo(on)
	}
	if s.Inducing == 0 && on <= s.AllRows {
		s.Inducing = on
	}
	if out, err = t.searchWith(ctx, &sub, s, kernels, guesses); err != nil || on == n {
		return out, err
	}
	best := math.Inf(-1)
	for _, k := range slices.AppendSeq(slices.Clone(out), maps.Values(t.trained)) {
		if k.nats > best {
			best = k.nats
		}
	}
	for _, k := range out {
		if k.nats >= best-vbks.FarNats {
			if err := t.climb(ctx, k); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

func (t *planting) searchWith(
	ctx context.Context, sub *prepare.Subject, s vbks.Settings, kernels []kernelspace.Expr, guesses map[string][]float64,
) (out []*trained, err error) {
	space := make([]vbks.Candidate, len(kernels))
	for i, e := range kernels {
		space[i] = vbks.Candidate{Expr: e, Weight: 1}
	}
	s.Growth.On, s.EvaluateEvery, s.Refine = false, 1, 0
	if s.Evidence != "mode" { // volumes are for all of these the same kind
		s.Evidence = "laplace"
	}
	dev, err := t.place()
	if err != nil {
		return nil, err
	}
	trainer, err := learn(ctx, dev, sub, space, s, guesses)
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
