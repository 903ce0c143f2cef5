package series

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"example.com/kestrel/experiment"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/inside"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/rundir"
)

// Maker makes runs.
type Maker struct {
	Cores int               // lanes where a config names none; 0: GOMAXPROCS
	Say   func(line string) // what becomes of a run that was cut
	Disk  inside.Disk
	Crew  Crew     // has them made elsewhere; nil: they are made here
	Files []string // that their data are read from
}

// BegunError is the error of a run that had begun: not the user's to mend.
type BegunError struct{ Err error }

func (e *BegunError) Error() string { return e.Err.Error() }
func (e *BegunError) Unwrap() error { return e.Err }

// Partial is where a run is made, beside its place.
func Partial(path string) string {
	return filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".partial")
}

// checkFree returns an error if something that is no run has the place of one: it
// could not be put there when it is made.
func checkFree(path string) error {
	if _, err := os.Lstat(path); err == nil && !rundir.IsRun(path) {
		return fmt.Errorf("%q is no run, and in the place of one; move it elsewhere or remove it", path)
	}
	return nil
}

// Make makes a run up to its end beside its place and puts it there. What was cut
// is resumed as kestrel resume does it, or made anew where that cannot be. A failure
// of the kernels is an end, one of the disk or the program is not.
func (m *Maker) Make(ctx context.Context, c config.Config, course record.Course, path string, recorders ...record.Recorder) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if err := checkFree(path); err != nil {
		return err
	}
	partial := Partial(path)
	finish := m.finish
	if m.Crew != nil {
		finish = m.send
	}
	if err := finish(ctx, c, course, partial, recorders); err != nil {
		return err
	}
	if err := m.Disk.Place(partial, path); err != nil {
		return files.Unwritable(path, err)
	}
	return nil
}

// finish makes a run up to its end.
func (m *Maker) finish(ctx context.Context, c config.Config, course record.Course, path string, recorders record.Recorders) error {
	s, err := m.goOn(ctx, path, recorders)
	if errors.Is(err, experiment.ErrComplete) {
		return nil // but for being put in its place
	}
	if s == nil && err == nil {
		if err := m.Disk.RemoveAll(path); err != nil {
			return files.Unwritable(path, err)
		}
		c.Unasked, c.Disk = true, m.Disk
		if s, err = experiment.Begin(ctx, c, path, recorders); err == nil {
			s.Course = course
		}
	}
	if err != nil {
		return err
	}
	return drive(ctx, s, s.Course)
}

// drive lets a run take its course, up to its end, and closes it.
func drive(ctx context.Context, s *experiment.Session, course record.Course) error {
	end, err := s.Run.Drive(ctx, course)
	if e := s.Close(); err == nil {
		err = e
	}
	switch {
	case err != nil:
		return &BegunError{err}
	case end.State == record.Failed && !end.Cause.OfKernels():
		return &BegunError{errors.New(end.Reason)}
	}
	return nil
}

// goOn takes up a run that was cut; nil if there is none or it has nothing to go
// on from. The recorders are told its past first. The error is experiment.ErrComplete if it
// has come to its end. Where something was learnt and only the circumstances are
// in the way, they are the error: the run is not given up.
func (m *Maker) goOn(ctx context.Context, path string, recorders record.Recorders) (*experiment.Session, error) {
	if !rundir.IsRun(path) {
		return nil, nil
	}
	s, err := experiment.Resume(ctx, path, experiment.ResumeOptions{Unasked: true, Cores: m.Cores, Past: recorders, Disk: m.Disk},
		recorders)
	switch {
	case err == nil:
		m.Say("  goes on where it was cut")
		return s, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.Is(err, experiment.ErrComplete):
		return nil, err
	case !errors.Is(err, rundir.ErrNoCheckpoint):
		if learnt, e := learnt(ctx, path); e != nil || learnt {
			return nil, fmt.Errorf("%w; or remove %s, and the run is made anew", err, path)
		}
	}
	m.Say(fmt.Sprintf("  made anew: %v", err))
	return nil, nil
}

// learnt reports whether a run has seen rows. Where a loss of power has left no checkpoint
// the log may be damaged anywhere, and nothing can be gone on from.
func learnt(ctx context.Context, path string) (bool, error) {
	var s record.Standing
	err := record.Each(ctx, path, s.Apply)
	if errors.As(err, new(*record.DamagedLine)) {
		if _, e := rundir.Learned(path); errors.Is(e, fs.ErrNotExist) {
			return false, nil
		}
	}
	if errors.Is(err, record.ErrNoEvents) {
		err = nil
	}
	return s.Evaluation != nil && s.Evaluation.RowsSeen > 0, err
}
