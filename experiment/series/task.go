package series

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"example.com/kestrel/datasets/elsewhere"
	"example.com/kestrel/experiment"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/rundir"
	"example.com/kestrel/experiment/words"
	"example.com/kestrel/vbks/wire"
)

// Crew has tasks done on other machines, or on this one.
type Crew interface {
	// Do returns when a task is done and has been taken, else why it cannot be done, or the
	// cause of ctx's end. It may be called from several goroutines.
	Do(ctx context.Context, t *Task) error
	// Alone says whether each machine does one task at a time with all of its lanes, or one a lane.
	Alone(alone bool)
}

// Task is whole work that one machine does by itself: a run, a training.
type Task struct {
	Kind  string   // says who does it, see Order
	Body  []byte   // for them
	Files []string // paths of the data
	Begun bool     // in this process, which goes on with it
	// Here does it in this process. Take takes what came of it elsewhere, by whom, with an archive
	// where there is one.
	Here func(ctx context.Context) error
	Take func(by string, body []byte, archive io.Reader) error
}

// Order is a task as it comes to the machine that does it.
type Order struct {
	Kind   string
	Body   []byte
	Dir    string            // an empty folder
	Device string            // kind of the device to compute on
	Lanes  int               // how many of it
	Files  map[string]string // where the data lie, by their paths there where the task is from
}

// Result is what comes of a task.
type Result struct {
	Body    []byte
	Archive string // a file in the order's Dir; "": there is none
}

// Config reads the config of a task, for this machine.
func (o *Order) Config(text string) (config.Config, error) {
	c, err := config.Default().Read([]byte(text), "the task's config", nil)
	c.Device.Cores, c.Device.Only = o.Lanes, o.Device
	return c, err
}

// Context has the data of the task read by ctx.
func (o *Order) Context(ctx context.Context) context.Context { return elsewhere.With(ctx, o.Files) }

// RunTask is the kind of task that makes a run, up to its end.
const RunTask = "run"

// runOrder is the body of one.
type runOrder struct {
	Config string // resolved, TOML
	Course record.Course
}

// send has a run made by the crew, in a folder beside its place.
func (m *Maker) send(ctx context.Context, c config.Config, course record.Course, partial string, recorders record.Recorders) error {
	here := false
	err := m.Crew.Do(ctx, &Task{
		Kind: RunTask, Body: wire.Encode(&runOrder{c.TOML(), course}), Files: m.Files, Begun: rundir.IsRun(partial),
		Here: func(ctx context.Context) error {
			here = true
			return m.finish(ctx, c, course, partial, recorders)
		},
		Take: func(by string, _ []byte, archive io.Reader) error {
			if err := m.unpack(archive, partial); err != nil {
				return fmt.Errorf("the run that %s made: %w", by, err)
			}
			m.Say(fmt.Sprintf("  seed %d: made by %s", c.Settings.Seed, words.PlainLine(by)))
			return nil
		},
	})
	if err != nil && !here && ctx.Err() == nil {
		return &BegunError{err}
	}
	return err
}

// unpack puts a run that came from elsewhere into the place of what is there.
func (m *Maker) unpack(archive io.Reader, path string) error {
	if archive == nil {
		return errNoRun
	}
	if err := m.Disk.RemoveAll(path); err != nil {
		return files.Unwritable(path, err)
	}
	if err := Unpack(archive, m.Disk, path); err != nil {
		return err
	}
	if !rundir.IsRun(path) {
		return errNoRun
	}
	return nil
}

// DoRun does a task of RunTask: it makes the run and packs its directory.
func DoRun(ctx context.Context, o *Order) (r Result, err error) {
	work, err := wire.Decode[runOrder](o.Body)
	if err != nil {
		return r, err
	}
	c, err := o.Config(work.Config)
	if err != nil {
		return r, err
	}
	c.Unasked = true
	path := filepath.Join(o.Dir, "run")
	s, err := experiment.Begin(o.Context(ctx), c, path)
	if err != nil {
		return r, err
	}
	if err := drive(ctx, s, work.Course); err != nil {
		return r, err
	}
	r.Archive = filepath.Join(o.Dir, "archive")
	f, err := os.Create(r.Archive)
	if err != nil {
		return r, err
	}
	err = Pack(f, path)
	if e := f.Close(); err == nil {
		err = e
	}
	return r, err
}
