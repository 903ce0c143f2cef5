package experiment

import (
	"context"
	"fmt"
	"os"

	"example.com/kestrel/device"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/prepare"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/rundir"
	"example.com/kestrel/experiment/steer"
	"example.com/kestrel/vbks"
)

// Session is a run with its data, device and directory: what the commands and
// the workbench begin and close.
type Session struct {
	Run    *Run
	Path   string        // of the run directory
	Course record.Course // of a resumed run: what still follows by itself

	job   *prepare.Job
	dir   *rundir.Directory
	saver *rundir.Saver      // writes to dir
	files *rundir.RoomWaiter // writes by saver
	steer *steer.Server      // nil: no orders are taken from other processes
}

// Begin loads and compiles what a config asks for, creates the run directory
// and makes the run, ready to be started. The recorders are told after the
// directory. What can be wrong with a config, its data or the directory is found
// before a file is written; then no directory is left that was not there before.
func Begin(ctx context.Context, c config.Config, path string, recorders ...record.Recorder) (*Session, error) {
	made := rundir.Missing(path)
	s := &Session{Path: path}
	err := rundir.Check(c.Disk, path)
	if err == nil {
		s.job, err = prepare.Prepare(ctx, c)
	}
	if err == nil {
		s.dir, err = rundir.Create(c.Disk, path)
	}
	if err == nil && c.KeepTable {
		err = s.keepTable()
	}
	if err != nil {
		if s.dir != nil {
			s.dir.Close()
			rundir.Forget(path)
		}
		if s.job != nil {
			s.job.Close()
		}
		for _, dir := range made {
			os.Remove(dir) // only empty ones can be
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, err
	}
	s.makeRun(recorders)
	return s, nil
}

// keepTable copies the table that the run learns from into its directory, where it is
// from then on.
func (s *Session) keepTable() error {
	path, err := s.dir.KeepTable(s.job.Data.Path)
	if err != nil {
		return fmt.Errorf("keeping the table: %w", err)
	}
	s.job.MoveTable(path)
	return nil
}

// makeRun makes the run of a session that has its job and its directory.
func (s *Session) makeRun(recorders []record.Recorder) {
	s.saver = rundir.NewSaver(s.dir, rundir.PauseOf(s.job.Config.Checkpoint))
	s.files = rundir.NewRoomWaiter(s.saver, rundir.FullDiskPoll, func() { s.Run.look() }, func(err error) { s.Run.fail(err) })
	s.Run = NewRun(s.job, append(record.Recorders{s.files}, recorders...))
	_ = s.Run.waitFor(s.files) // it is not closed
}

// Trainer is what a crew can be given to; nil of a run that is not of this program's trainer.
func (s *Session) Trainer() *vbks.Trainer {
	t, _ := s.job.Trainer.(*vbks.Trainer)
	return t
}

// Device describes the run's own device.
func (s *Session) Device() device.Info { return s.job.Device() }

// Cluster is what the config says of processes that take part.
func (s *Session) Cluster() config.ClusterChoice { return s.job.Config.Cluster }

// TakeOrders lets other processes of this user give the run orders. Where that cannot
// be, the owner's note says why, and the run goes on all the same.
func (s *Session) TakeOrders() {
	socket, none := "", ""
	at, err := steer.Listen(s.Run, s.Path)
	if err == nil {
		s.steer, socket = at, at.Path
	} else {
		none = err.Error()
	}
	if err := s.dir.Orders(socket, none); err != nil {
		s.RefuseOrders() // nobody would find it
	}
}

// RefuseOrders takes no more orders of other processes, once those in hand have been
// carried out.
func (s *Session) RefuseOrders() {
	if s.steer != nil {
		_ = s.steer.Close() // a socket that stays is removed by the next run
		s.steer = nil
	}
}

// Close stops the run if it is not at rest, writes everything and gives the
// device back.
func (s *Session) Close() error {
	s.RefuseOrders()
	err := s.Run.Close()
	if e := s.files.Close(); err == nil && e != nil {
		err = fmt.Errorf("run directory %q: %w", s.Path, e)
	}
	if e := s.saver.Close(); err == nil && e != nil {
		err = fmt.Errorf("run directory %q: %w", s.Path, e)
	}
	if e := s.dir.Close(); err == nil && e != nil {
		err = fmt.Errorf("run directory %q: %w", s.Path, e)
	}
	if e := s.job.Close(); err == nil {
		err = e
	}
	return err
}
