package inspect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"

	"example.com/kestrel/device"
	"example.com/kestrel/device/cpu"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/finding"
	"example.com/kestrel/experiment/prepare"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/rundir"
	"example.com/kestrel/vbks"
)

// Inspector answers what a run has learned as of one evaluation, beside the
// run, on a lane of its own. All it returns is in the units of the data. It is
// safe for concurrent use; questions that compute are answered one after the
// other.
type Inspector struct {
	subject *prepare.Subject
	dir     string // of the run; "" if it is live
	trainer *vbks.Trainer
	dev     device.Device
	turn    chan struct{} // held while the trainer is used
	ctx     context.Context
	cancel  context.CancelCauseFunc
}

var errInspectorClosed = errors.New("the inspector has been closed")

// Open returns an inspector of what the run in a directory had learned
// when it was last saved: at an evaluation, a pruning or a restoring. The data
// are read again. Close must be called.
//
// Errors: no such run, no evaluation yet, a damaged checkpoint, data that are
// missing or have changed.
func Open(ctx context.Context, dir string) (*Inspector, error) { return OpenWith(ctx, dir, "") }

// OpenWith is Open for a run whose table is at another path now; "": where it was.
func OpenWith(ctx context.Context, dir, table string) (*Inspector, error) {
	return open(ctx, dir, table, nil)
}

// open is OpenWith with the cores of a team; nil: with one.
func open(ctx context.Context, dir, table string, team *cpu.Team) (*Inspector, error) {
	learned, err := lastSaved(dir)
	if err != nil {
		return nil, err
	}
	c, err := config.LoadInside(dir, record.ConfigFile)
	if err != nil {
		return nil, fmt.Errorf("run %q: %w", dir, err)
	}
	space, err := c.Kernels.Candidates()
	if err != nil {
		return nil, fmt.Errorf("run %q: %w", dir, err)
	}
	if prepare.Kept(&c, dir); table != "" {
		prepare.Elsewhere(&c, table)
	}
	d, s, err := prepare.LoadData(ctx, &c)
	if changed := (*prepare.ChangedFile)(nil); table != "" && errors.As(err, &changed) {
		return nil, fmt.Errorf("run %q: %s is not what it has read: it has another sha256", dir, changed.Path)
	}
	if err != nil {
		return nil, fmt.Errorf("data of run %q: %w", dir, err)
	}
	subject, err := prepare.NewSubject(&c, d, s, space)
	if err != nil {
		return nil, fmt.Errorf("run %q: %w", dir, err)
	}
	return openInspector(ctx, dir, subject, learned, team)
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
	return openInspector(ctx, i.dir, i.subject, learned, nil)
}

// lastSaved reads the checkpoint of a run's directory.
func lastSaved(dir string) (map[string]vbks.Tensor, error) {
	learned, err := rundir.Learned(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist) && dir == finding.Placeholder && !rundir.IsRun(dir):
		return nil, fmt.Errorf("%s stands for the folder of a run, which that names when it begins and ends, "+
			"as runs/sales: write it in its place",
			dir)
	case errors.Is(err, fs.ErrNotExist) && !rundir.IsRun(dir):
		return nil, fmt.Errorf("%q is not the directory of a run: it has no %s", dir, record.EventsFile)
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("run %q: %w", dir, record.ErrNoResults)
	}
	return learned, err
}

func openInspector(
	ctx context.Context, dir string, s *prepare.Subject, learned map[string]vbks.Tensor, team *cpu.Team,
) (*Inspector, error) {
	i, err := newInspector(ctx, s, learned, team)
	if errors.Is(err, record.ErrNoResults) {
		err = checkOwn(ctx, dir, err)
	}
	if err != nil {
		return nil, fmt.Errorf("run %q: %w", dir, err)
	}
	i.dir = dir
	return i, nil
}

// checkOwn returns, for a checkpoint without an evaluation, an error that says so if
// the log of its run has some; else the one that there was.
func checkOwn(ctx context.Context, dir string, none error) error {
	var all record.Standing
	if err := record.Each(ctx, dir, all.Apply); err != nil || all.Made == 0 {
		return none
	}
	return fmt.Errorf("its checkpoint has no evaluation, its %s has %d: the one does not belong to the other; "+
		"put its own %s/%s back, or begin the run again with kestrel resume --from-start, which keeps what is there in a folder",
		record.EventsFile, all.Made, record.StateDir, record.CheckpointFile)
}

// NewInspector returns an inspector of what a trainer of the subject had learned.
// Close must be called.
func NewInspector(ctx context.Context, s *prepare.Subject, learned map[string]vbks.Tensor) (*Inspector, error) {
	return newInspector(ctx, s, learned, nil)
}

// newInspector is NewInspector with the cores of a team; nil: with one of its own.
func newInspector(ctx context.Context, s *prepare.Subject, learned map[string]vbks.Tensor, team *cpu.Team) (*Inspector, error) {
	dev := cpu.New(cpu.Options{Lanes: 1, Team: team})
	t, err := vbks.Resume(ctx, dev, s.Train, s.Space, s.Columns, s.Settings, learned)
	if err == nil && t.Last() == nil {
		err = record.ErrNoResults
	}
	if err != nil {
		dev.Close()
		return nil, err
	}
	return inspectorOf(s, dev, t), nil
}

// inspectorOf returns an inspector that asks a trainer, which must have made an
// evaluation. Both have the device from now on.
func inspectorOf(s *prepare.Subject, dev device.Device, t *vbks.Trainer) *Inspector {
	i := &Inspector{subject: s, trainer: t, dev: dev, turn: make(chan struct{}, 1)}
	i.ctx, i.cancel = context.WithCancelCause(context.Background())
	return i
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
	if tell := prepare.Told(ctx); tell != nil {
		i.trainer.SetProgress(func(p vbks.Progress) { tell(prepare.StepOf(p)) })
		defer i.trainer.SetProgress(nil)
	}
	return work(ctx)
}

// Evaluation returns the number of the evaluation that is inspected, from 1.
func (i *Inspector) Evaluation() int { return i.trainer.Last().Index }

// Inputs describes the input columns.
func (i *Inspector) Inputs() []prepare.ColumnInfo { return i.subject.Ranges()[:i.subject.Data.Dim] }

// Target describes the target.
func (i *Inspector) Target() prepare.ColumnInfo { return i.subject.Ranges()[i.subject.Data.Dim] }

// seen returns the training rows that the evaluation has seen.
func (i *Inspector) seen() []int32 { return i.subject.Data.Train[:i.trainer.Last().RowsSeen] }

// input checks the number of an input column.
func (i *Inspector) input(column int) error {
	if column < 0 || column >= i.subject.Data.Dim {
		return fmt.Errorf("there is no input %d; inputs are numbered from 0 to %d", column, i.subject.Data.Dim-1)
	}
	return nil
}
