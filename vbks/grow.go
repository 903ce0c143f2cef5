package vbks

import (
	"context"
	"errors"
	"fmt"
	"math"

	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks/starts"
)

// growth is how rows behind those that there were are taken in: after an evaluation
// that had seen so many, each further one adds step until there are no more.
type growth struct {
	evaluation, seen, step int
	rows                   int // known since; 0: there has been none
}

// upTo are the first n rows.
func (d Training) upTo(n int) Training {
	d.X, d.Y = d.X[:n*d.Dim:n*d.Dim], d.Y[:n:n]
	if d.NoiseSD != nil {
		d.NoiseSD = d.NoiseSD[:n:n]
	}
	return d
}

// known are the rows that there are at the beginning.
func (d Training) known() Training {
	if d.Begin > 0 && d.Begin < d.Rows() && len(d.X) == d.Rows()*d.Dim {
		return d.upTo(d.Begin)
	}
	return d
}

// of are the rows that a checkpoint knows, which are fewer where the data may grow.
func (d Training) of(arrays map[string]Tensor) Training {
	if run := arrays["run"].Data; d.First > 0 && len(run) == runFields && run[4] >= float64(d.First) && run[4] <= float64(d.Rows()) {
		d.Begin = int(run[4])
	}
	return d
}

// deciding is the number of rows that priors and the like are of.
func (d Training) deciding() int {
	if d.First > 0 {
		return min(d.First, d.Rows())
	}
	return d.Rows()
}

// scales are those of the first n rows.
func (d Training) scales(n int) kernelspace.Scales {
	s := starts.Summarise(d.X[:n*d.Dim], d.Y[:n], d.Dim)
	s.Seasons = d.Seasons
	return s
}

// Grow announces rows behind those that are known, up to so many of Training in all. The
// next evaluations take them in, each the share of all that Settings.EvaluateEvery says,
// then Refine more follow. The first of these begins with what has been learned:
// hyperparameters and modes stay, and so do priors, the noise's floor, candidate periods
// and who has been pruned; inducing inputs are placed anew over all rows, and where their
// number is chosen by itself, it is chosen again: kernels that were left out for it take
// part. Until then nothing changes.
func (t *Trainer) Grow(rows int) error {
	switch {
	case t.last == nil:
		return errors.New("there is no evaluation yet")
	case rows <= max(t.data.Rows(), t.grown.rows) || rows > t.all.Rows():
		return fmt.Errorf("there are %d rows, %d in all; they cannot grow to %d", t.data.Rows(), t.all.Rows(), rows)
	}
	t.grown = growth{
		evaluation: t.evaluation, seen: t.rows, rows: rows, step: int(math.Ceil(t.settings.EvaluateEvery*float64(rows) - 1e-9)),
	}
	t.rungs, t.rung, t.rough, t.told = t.settings.Rungs(rows, len(t.kernels)), 0, 0, false
	if !t.settings.autoInducing() {
		t.rungs[0] = t.settings.Inducing
	}
	t.extra, t.spent = 0, 0
	return nil
}

// moveOn does what stands before the next evaluation: rows that have been announced are
// taken in, or another rung is climbed. It returns how to undo it.
func (t *Trainer) moveOn(ctx context.Context) (undo func() error, err error) {
	unweigh, err := t.reweigh(ctx)
	if err != nil {
		return func() error { return nil }, err
	}
	back := func() error { return nil }
	if t.grown.rows <= t.data.Rows() {
		back, err = t.climb()
	} else if err = ctx.Err(); err != nil {
		err = context.Cause(ctx)
	} else {
		undo := t.keep()
		if err = t.takeIn(); err != nil {
			err = joined(err, undo())
		} else {
			back = undo
		}
	}
	undo = func() error {
		err := back()
		unweigh()
		return err
	}
	if err != nil {
		unweigh()
		return func() error { return nil }, err
	}
	return undo, nil
}

// know makes the first n rows of all those that there are known.
func (t *Trainer) know(n int) error {
	t.data = t.all.upTo(n)
	if err := t.setWeights(t.weightsOfAll()); err != nil {
		return err
	}
	t.scales = t.data.scales(n)
	t.span = t.scales.Span
	t.elboRows = permutation(n, t.settings.Seed)
	return nil
}

// takeIn makes the rows that have been announced known.
func (t *Trainer) takeIn() error {
	before := t.data.Rows()
	if err := t.know(t.grown.rows); err != nil {
		return err
	}
	back := 0
	for _, k := range t.kernels {
		if k.ends = nil; k.status == Pruned && k.left > 0 {
			k.status, k.reason, k.left, k.rows, k.terms = Live, "", 0, 0, nil
			back++
		}
	}
	text := fmt.Sprintf("evaluation %d takes in rows behind the %d that there were: %d in all", t.evaluation+1, before, t.data.Rows())
	if back == 1 {
		text += "; a kernel that was left out takes part again"
	} else if back > 1 {
		text += fmt.Sprintf("; %d kernels that were left out take part again", back)
	}
	t.notices = append(t.notices[:len(t.notices):len(t.notices)], Notice{Text: text})
	return t.reinduce(t.rungs[0])
}
