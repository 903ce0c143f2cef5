package vbks

import (
	"context"
	"fmt"
	"math"

	"example.com/kestrel/device"
	"example.com/kestrel/vbks/starts"
)

// refitSteps is the most L-BFGS iterations of a refit: a tenth more rows move an
// optimum a little.
const refitSteps = 20

// RefitGradients is how many gradients of the bound it takes as a rule; where that is flat already it ends earlier.
const RefitGradients = 15

// Refit returns a trainer that only predicts, from other rows than those of the last
// evaluation: as a rule those and what had been held out. They must be standardised
// alike. On dev it has the kernels, priors, ranking and weights of t, and as many
// inducing inputs for a row, placed anew.
//
// With the optimiser "collapsed" and point estimates the kernels that o predicts with
// climb from their hyperparameters, at most refitSteps iterations on the bound of the
// new rows; those of weight below AveragedWeight, and all with other optimisers or
// q(log θ), keep theirs. q(v) is the optimum for all the rows. The factor of Calibrate
// stays.
func (t *Trainer) Refit(ctx context.Context, dev device.Device, data Training, o PredictOptions) (*Trainer, error) {
	if _, err := t.Calibrate(ctx); err != nil {
		return nil, err
	}
	if err := t.weigh(ctx, o); err != nil {
		return nil, err
	}
	out, err := t.onRows(ctx, dev, data, o)
	if err == nil {
		out.progress = nil
	}
	return out, err
}

// onRows is Refit without the factor of Calibrate.
func (t *Trainer) onRows(ctx context.Context, dev device.Device, data Training, o PredictOptions) (*Trainer, error) {
	kernels, weights, err := t.chosen(o)
	if err != nil {
		return nil, err
	}
	count, err := t.weightsFor(ctx, data)
	if err != nil {
		return nil, err
	}
	out, err := t.onto(dev, data, count)
	if err != nil {
		return nil, err
	}
	out.progress = t.progress
	m := math.Ceil(float64(t.m) * float64(data.Rows()) / float64(t.data.Rows()))
	if err := out.place(ctx, min(int(m), data.Rows())); err != nil {
		return nil, err
	}
	if err := out.makeWorkers(); err != nil {
		return nil, fmt.Errorf("memory for the kernels: %w", err)
	}
	for _, k := range out.kernels {
		if k.state != nil {
			k.state = k.state.unplaced()
		}
		if k.ahead != nil {
			k.ahead = k.ahead.unplaced()
		}
	}
	weighty := func(least float64) (some []int) {
		for j, i := range kernels {
			if weights[j] >= least {
				some = append(some, i)
			}
		}
		return some
	}
	r := &round{Trainer: out, number: t.evaluation, n: out.rows, outcomes: out.unknown()}
	defer r.close()
	switch {
	case !out.optimizer.bounded():
		err = r.relearn(ctx, weighty(Negligible))
	case out.settings.pointEstimates():
		err = r.reclimb(ctx, weighty(AveragedWeight))
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Twin returns a trainer that predicts as t does, on another device, which it has for
// itself.
func (t *Trainer) Twin(dev device.Device) (*Trainer, error) {
	out, err := t.onto(dev, t.data, t.weighing.weights)
	if err != nil {
		return nil, err
	}
	if err := out.lay(t.inducing); err != nil {
		return nil, err
	}
	return out, out.makeWorkers()
}

// onto returns a trainer of the same kernels and standing, on a device that has rows of
// these weights (nil: all 1) but neither inducing inputs nor workers yet. It shares what is not written to.
func (t *Trainer) onto(dev device.Device, data Training, weights []float64) (*Trainer, error) {
	out := *t
	out.kernels = make([]*kernel, len(t.kernels))
	for i, k := range t.kernels {
		copied := *k
		copied.spread = spread{}
		out.kernels[i] = &copied
	}
	out.uncalibrated = t.Uncalibrated()
	out.dev, out.data, out.rows, out.predicts = dev, data, data.Rows(), true
	if !t.predicts && t.calibrated != t.evaluation {
		out.calibration = nil
	}
	if out.located = t.evaluation; !t.predicts && t.located != t.evaluation || &data.X[0] != &t.data.X[0] {
		out.local = nil
	}
	out.scales = starts.Summarise(data.X, data.Y, data.Dim) // priors and the noise's floor stay
	out.scales.Seasons, out.scales.Cycle, out.span = data.Seasons, data.Cycle, out.scales.Span
	out.data.First, out.data.Begin, out.first = 0, 0, out.scales
	out.elboRows = permutation(out.rows, t.settings.Seed)
	out.drawer, out.scout, out.workers, out.lost = nil, nil, nil, nil
	out.gate, out.held, out.progress, out.perform, out.crew, out.states = nil, nil, nil, doHere, nil, nil
	return &out, out.setWeights(weights)
}

// reclimb takes the hyperparameters of kernels uphill on all rows. One that cannot
// be computed there keeps those that it had.
func (r *round) reclimb(ctx context.Context, kernels []int) error {
	for _, i := range kernels {
		r.outcomes[i].Best = solution{X: r.kernels[i].state.Free, Source: sourceLast}
	}
	o := r.order(phaseTune)
	o.Tuned, o.Steps, o.Further = r.tuneSample(r.n), refitSteps, true
	if err := r.each(ctx, o, r.tasks(kernels)); err != nil {
		return err
	}
	for _, i := range kernels {
		if f := &r.outcomes[i]; f.Failure == "" {
			r.kernels[i].state = &State{Free: f.Best.X, Factor: f.Factor}
		}
	}
	return nil
}

// relearn makes an exact pass over all rows for kernels of a stochastic optimiser, at
// their hyperparameters.
func (r *round) relearn(ctx context.Context, kernels []int) error {
	kernels, err := r.adoptAgain(ctx, kernels)
	if err != nil {
		return err
	}
	for _, i := range kernels {
		st := r.kernels[i].state
		r.outcomes[i].Best, r.outcomes[i].State = solution{X: st.Free, Source: sourceLast}, st
	}
	o := r.order(phaseLearn)
	o.Settled, o.Pass, o.Estimated = true, true, r.elboSample(r.n)
	if err := r.each(ctx, o, r.tasks(kernels)); err != nil {
		return err
	}
	for _, i := range kernels {
		f := &r.outcomes[i]
		if f.Failure != "" {
			return fmt.Errorf("kernel %s cannot be fitted again: %s", r.kernels[i].id, f.Failure)
		}
		r.kernels[i].state = f.State
	}
	return nil
}
