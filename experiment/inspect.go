package experiment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"

	"kestrel/datasets"
	"kestrel/device"
	"kestrel/device/cpu"
	"kestrel/vbks"
)

// Inspector answers what a run has learned as of one evaluation, beside the
// run, on a lane of its own. All it returns is in the units of the data. It is
// safe for concurrent use; questions that compute are answered one after the
// other.
type Inspector struct {
	subject *subject
	dir     string // of the run; "" if it is live
	trainer *vbks.Trainer
	dev     device.Device
	turn    chan struct{} // held while the trainer is used
	ctx     context.Context
	cancel  context.CancelCauseFunc
}

var errInspectorClosed = errors.New("the inspector has been closed")

// ColumnInfo describes an input or the target over all rows of the data.
type ColumnInfo struct {
	datasets.Column
	Low, High float64
	Median    float64
}

// Inspect returns an inspector of the last evaluation. It waits neither for the
// evaluation under way nor for the end of a pause, and disturbs neither. Close
// must be called.
func (r *Run) Inspect(ctx context.Context) (*Inspector, error) {
	if r.subject == nil {
		return nil, errors.New("this run cannot be inspected")
	}
	r.mu.Lock()
	learned := r.learned
	r.mu.Unlock()
	if learned == nil {
		return nil, errNoResults
	}
	return newInspector(ctx, r.subject, learned)
}

// OpenInspector returns an inspector of what the run in a directory had learned
// when it was last saved: at an evaluation, a pruning or a restoring. The data
// are read again. Close must be called.
//
// Errors: no such run, no evaluation yet, a damaged checkpoint, data that are
// missing or have changed.
func OpenInspector(ctx context.Context, dir string) (*Inspector, error) {
	learned, err := lastSaved(dir)
	if err != nil {
		return nil, err
	}
	c, err := LoadConfig(filepath.Join(dir, configFile), nil)
	if err != nil {
		return nil, fmt.Errorf("run %q: %w", dir, err)
	}
	space, err := c.Kernels.Candidates()
	if err != nil {
		return nil, fmt.Errorf("run %q: %w", dir, err)
	}
	d, s, err := LoadData(ctx, &c)
	if err != nil {
		return nil, fmt.Errorf("data of run %q: %w", dir, err)
	}
	return openInspector(ctx, dir, newSubject(&c, d, s, space), learned)
}

// Reload returns another inspector of a run's directory as it was last saved,
// without reading the data again.
func (i *Inspector) Reload(ctx context.Context) (*Inspector, error) {
	if i.dir == "" {
		return nil, errors.New("an inspector of a live run is made by Run.Inspect")
	}
	learned, err := lastSaved(i.dir)
	if err != nil {
		return nil, err
	}
	return openInspector(ctx, i.dir, i.subject, learned)
}

// lastSaved reads the checkpoint of a run's directory.
func lastSaved(dir string) (map[string]vbks.Tensor, error) {
	learned, err := loadCheckpoint(filepath.Join(dir, stateDir, checkpoint))
	switch {
	case errors.Is(err, fs.ErrNotExist) && !IsRun(dir):
		return nil, fmt.Errorf("%q is not the directory of a run: it has no %s", dir, eventsFile)
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("run %q: %w", dir, errNoResults)
	}
	return learned, err
}

func openInspector(ctx context.Context, dir string, s *subject, learned map[string]vbks.Tensor) (*Inspector, error) {
	i, err := newInspector(ctx, s, learned)
	if err != nil {
		return nil, fmt.Errorf("run %q: %w", dir, err)
	}
	i.dir = dir
	return i, nil
}

func newInspector(ctx context.Context, s *subject, learned map[string]vbks.Tensor) (*Inspector, error) {
	dev := cpu.New(cpu.Options{Lanes: 1})
	t, err := vbks.Resume(ctx, dev, s.train, s.space, s.columns, s.settings, learned)
	if err == nil && t.Last() == nil {
		err = errNoResults
	}
	if err != nil {
		dev.Close()
		return nil, err
	}
	i := &Inspector{subject: s, trainer: t, dev: dev, turn: make(chan struct{}, 1)}
	i.ctx, i.cancel = context.WithCancelCause(context.Background())
	return i, nil
}

// Close ends the question under way and gives the device back.
func (i *Inspector) Close() error {
	i.cancel(errInspectorClosed)
	i.turn <- struct{}{}
	defer func() { <-i.turn }()
	return i.dev.Close()
}

// ask does work with the trainer when it is free.
func (i *Inspector) ask(ctx context.Context, work func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(i.ctx, func() { cancel(errInspectorClosed) })()
	select {
	case i.turn <- struct{}{}:
		defer func() { <-i.turn }()
	case <-ctx.Done():
	}
	if err := cmp.Or(i.ctx.Err(), ctx.Err()); err != nil {
		return cmp.Or(context.Cause(i.ctx), context.Cause(ctx))
	}
	return work(ctx)
}

// Evaluation returns the number of the evaluation that is inspected, from 1.
func (i *Inspector) Evaluation() int { return i.trainer.Last().Index }

// Inputs describes the input columns.
func (i *Inspector) Inputs() []ColumnInfo { return i.subject.ranges()[:i.subject.data.Dim] }

// Target describes the target.
func (i *Inspector) Target() ColumnInfo { return i.subject.ranges()[i.subject.data.Dim] }

// seen returns the training rows that the evaluation has seen.
func (i *Inspector) seen() []int32 { return i.subject.data.Train[:i.trainer.Last().RowsSeen] }

// input checks the number of an input column.
func (i *Inspector) input(column int) error {
	if column < 0 || column >= i.subject.data.Dim {
		return fmt.Errorf("there is no input %d; inputs are numbered from 0 to %d", column, i.subject.data.Dim-1)
	}
	return nil
}

// columnInfos describes the inputs and the target.
func columnInfos(d *datasets.Dataset) []ColumnInfo {
	var out []ColumnInfo
	describe := func(c datasets.Column, values []float64) {
		info := ColumnInfo{Column: c, Low: math.Inf(1), High: math.Inf(-1), Median: median(values)}
		for _, v := range values {
			info.Low, info.High = min(info.Low, v), max(info.High, v)
		}
		out = append(out, info)
	}
	for j, c := range d.Inputs {
		values := make([]float64, d.N())
		for r := range values {
			values[r] = d.Row(r)[j]
		}
		describe(c, values)
	}
	describe(d.Target, d.Y)
	return out
}
