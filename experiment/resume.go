package experiment

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/inside"
	"example.com/kestrel/experiment/prepare"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/rundir"
	"example.com/kestrel/experiment/words"
	"example.com/kestrel/vbks"
)

// ResumeOptions say how a run is resumed.
type ResumeOptions struct {
	// FromStart begins again with the first evaluation, where there is no
	// checkpoint to go on from. What the run has written is moved to a folder of
	// its own in the run's directory, and the orders in its log are given again.
	FromStart bool

	// Data is where the run's table is now, if it is not where it was: the same file, or
	// one of the same rows with others behind them, which are learned from, too.
	Data string

	Unasked bool // as config.Config

	Cores int             // lanes where the config names none; 0: GOMAXPROCS
	Past  record.Recorder // nil, or told the events that stay in the log, before the run is ready
	Disk  inside.Disk     // as config.Config
}

// Resume takes up the run in a directory where it was cut off or stopped: at
// the last evaluation whose checkpoint and events are both there. It ends with
// the same posterior.csv and kernels.csv as a run that was never interrupted,
// byte for byte on one machine. The log is cut back to that evaluation; orders
// that stood behind it are carried out again, each after the evaluation after
// which it was given; the clock goes on from the last event that stays. What
// follows by itself, and is still to be done, is the result's Course.
//
// Errors, all of which but those of writing leave the directory as it was: no such run; another
// process writes it; one of its files is a link or no file; it has finished; its log is damaged where it matters; its
// checkpoint is missing, damaged, of another log or another version of the
// program (rundir.ErrNoCheckpoint); its data are gone or have changed.
func Resume(ctx context.Context, path string, o ResumeOptions, recorders ...record.Recorder) (_ *Session, err error) {
	if err := rundir.CheckRun(path); err != nil {
		return nil, err
	}
	owner, err := rundir.ClaimOn(o.Disk, path)
	if err != nil {
		return nil, err
	}
	s := &Session{Path: path}
	defer func() {
		if err != nil {
			err = s.abandon(ctx, owner, err)
		}
	}()
	var last *rundir.Checkpoint
	var unsaved error
	if !o.FromStart {
		last, unsaved = rundir.ReadCheckpoint(owner.Dir)
	}
	p, err := readPast(owner.Dir, last, unsaved, o)
	if err != nil {
		return nil, err
	}
	c, err := p.config(path, o)
	if err != nil {
		return nil, err
	}
	past, was := prepare.Past{Learned: p.saved.Learned()}, c.Data.Path
	if o.Data != "" {
		if past.Check, err = p.table(ctx, &c, o.Data, o.FromStart); err != nil {
			return nil, unusable(path, o, err)
		}
	}
	if p.start != nil && c.Data.FirstRows > 0 { // others came behind those that it began with, or come now
		p.begin = p.start.Data.Train
	}
	past.Begin = p.begin
	if s.job, err = prepare.PrepareFrom(ctx, c, past); err != nil {
		return nil, unusable(path, o, err)
	}
	if o.Data != "" {
		if order := p.newTable(s.job, was); order != nil {
			p.fresh = []record.Order{*order}
		}
		if p.complete() && s.job.Start.Data.Train <= p.all.Start.Data.Train {
			return nil, p.unchanged(path, o.Data)
		}
	}
	if err := p.fits(s.job.Trainer.Last()); err != nil {
		return nil, &rundir.NoCheckpoint{Path: path, Err: err}
	}
	if o.FromStart {
		s.dir, err = beginAgain(owner, p)
	} else {
		s.dir, err = rundir.Reopen(owner, p.cut(), p.start, o.Past)
	}
	if err != nil {
		return nil, err
	}
	s.Course = p.course()
	s.makeRun(recorders)
	return s, s.Run.takeUp(p)
}

// abandon gives back what a session has, and returns why.
func (s *Session) abandon(ctx context.Context, owner *rundir.Claimed, err error) error {
	if s.Run != nil {
		s.Run.Close()
	}
	if s.dir != nil {
		s.dir.Close() // and the owner's note with it
	} else {
		owner.Release()
	}
	if s.job != nil {
		s.job.Close()
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// config returns the config that the log began with.
func (p *pastRun) config(path string, o ResumeOptions) (config.Config, error) {
	var c config.Config
	var err error
	if p.all.Start != nil {
		c, err = config.OfRun(p.all.Start.Config, record.EventsFile)
	} else { // of a damaged log
		c, err = config.LoadInside(path, record.ConfigFile)
	}
	if err != nil {
		return c, fmt.Errorf("the config of run %q: %w", path, err)
	}
	c.Device.Cores, c.Unasked = o.Cores, o.Unasked
	prepare.Kept(&c, path)
	return c, nil
}

// unusable says of what could not be prepared what to do about it.
func unusable(path string, o ResumeOptions, err error) error {
	var changed *prepare.ChangedFile
	switch {
	case errors.As(err, &changed) && changed.Table() && o.Data == "":
		return fmt.Errorf("the data of run %q have changed since it began: %s has another sha256; put the old file back, or begin a new run; "+
			"if there are only more rows behind those of before, kestrel resume %s --data %s takes them in", path, changed.Path, words.Shell(path),
			words.Shell(changed.Path))
	case errors.As(err, &changed):
		return fmt.Errorf("the data of run %q have changed since it began: %s has another sha256; put the old file back, or begin a new run",
			path, changed.Path)
	case errors.Is(err, vbks.ErrCheckpoint):
		return &rundir.NoCheckpoint{Path: path, Err: err}
	}
	hint := ""
	if o.Data == "" && errors.Is(err, fs.ErrNotExist) {
		hint = "; if it has moved, name it with --data"
	}
	return fmt.Errorf("run %q: %w%s", path, err, hint)
}

// beginAgain moves what a run has written aside, where it can still be opened,
// and makes the files anew.
func beginAgain(owner *rundir.Claimed, p *pastRun) (*rundir.Directory, error) {
	aside, err := rundir.MoveAside(owner)
	if err != nil {
		return nil, err
	}
	p.notices = append(p.notices, fmt.Sprintf("begun again; what was there is in %s", aside))
	return rundir.Make(owner)
}
