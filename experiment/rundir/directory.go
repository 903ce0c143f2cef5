package rundir

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"time"

	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/inside"
	"example.com/kestrel/experiment/npz"
	"example.com/kestrel/experiment/output"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/vbks"
)

// Directory is the directory of a run in the making. It is a Recorder.
type Directory struct {
	Path   string
	dir    *inside.Dir // closed with the owner's note
	events *record.Log
	log    inside.File
	tables *tables
	owner  *Claimed      // tells others that the run is being written
	rests  Rest          // what a checkpoint would rest on
	at     *record.Event // being recorded
	done   int           // steps of that

	lost    error // why the log cannot be gone on with, see keepLog
	told    bool  // that it is lost
	moved   bool  // the directory, which has been remarked on
	remarks []string
}

// DefaultPath names a new run directory: runs/<name>-<UTC time>, with a number
// behind it if there is one of that name already.
func DefaultPath(name string, now time.Time) string {
	base := filepath.Join("runs", name+"-"+now.UTC().Format("20060102T150405Z"))
	path := base
	for i := 2; ; i++ {
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			return path
		}
		path = fmt.Sprintf("%s-%d", base, i)
	}
}

// Check returns an error if a run cannot be written to path, because
// there is something already or because it is not permitted. It creates the
// directory, and clears one of what a run has left that was killed before it began.
func Check(disk inside.Disk, path string) error {
	info, err := os.Stat(path)
	switch {
	case err == nil && !info.IsDir():
		return fmt.Errorf("output directory %q is a file; choose another with --out", path)
	case err == nil:
		entries, err := os.ReadDir(path)
		if err != nil {
			return files.Unwritable(path, err)
		}
		if err := clearUnbegun(path); err != nil {
			return err
		}
		if len(entries) > 0 && !OnlyClaimed(path, func(string) bool { return false }) {
			return fmt.Errorf("output directory %q exists and is not empty; choose another with --out, or remove it", path)
		}
	}
	if err := output.CheckFolder(path); err != nil {
		return fmt.Errorf("output directory %w", err)
	}
	if err := disk.MkdirAll(path); err != nil {
		return files.Unwritable(path, err)
	}
	probe, err := os.CreateTemp(path, ".probe*")
	if err != nil {
		return files.Unwritable(path, err)
	}
	probe.Close()
	if err := os.Remove(probe.Name()); err != nil {
		return files.Unwritable(path, err)
	}
	return nil
}

// Create makes the directory of a run with the files that grow.
func Create(disk inside.Disk, path string) (*Directory, error) {
	if err := Check(disk, path); err != nil {
		return nil, err
	}
	owner, err := ClaimOn(disk, path)
	if err != nil {
		return nil, err
	}
	RemoveProbes(path)
	return Make(owner)
}

// Make makes the files that grow in a directory that is owned already,
// and takes the owner's note over.
func Make(owner *Claimed) (*Directory, error) {
	d := &Directory{Path: owner.Path(), dir: owner.Dir, owner: owner}
	file, err := d.dir.Create(record.EventsFile)
	if err == nil {
		d.events = record.NewLog(file)
		d.log, err = d.dir.Create(record.LogFile)
	}
	if err == nil {
		d.tables, err = newTables(d.dir)
	}
	if err == nil {
		err = d.dir.Sync(".") // what is synced of a file without a name is lost
	}
	if err != nil {
		d.Close()
		return nil, files.Unwritable(d.Path, err)
	}
	return d, nil
}

// Record implements Recorder: the event log first, then what follows from it.
// Where it failed it may be called again with the same event, and goes on where
// it was.
func (d *Directory) Record(e *record.Event) error {
	if d.at != e {
		d.at, d.done = e, 0
	}
	if d.done == 0 && d.lost == nil {
		if err := d.keepLog(); errors.As(err, new(*lostLog)) {
			d.lost = err
		} else if err != nil {
			return err
		}
	}
	for steps := d.steps(); d.done < len(steps); d.done++ {
		if err := steps[d.done](e); err != nil && (d.lost == nil || d.told || noRoom(err)) {
			return err
		}
	}
	d.at = nil
	if d.lost != nil && !d.told { // all but the log has been written
		d.told = true
		return d.lost
	}
	return nil
}

// steps are what is done with an event, each wholly or not at all.
func (d *Directory) steps() []func(*record.Event) error {
	return []func(*record.Event) error{
		func(e *record.Event) error {
			if e.Type != record.EventFinished {
				return nil
			}
			return d.syncTables() // which nobody makes anew where the log says this
		},
		func(e *record.Event) error {
			if d.lost != nil {
				return nil
			}
			err := d.events.Append(e)
			if err == nil && e.Evaluation != nil {
				before, after := d.events.Ends()
				d.rests = Rest{Before: before, After: after, What: e.Type, Kernels: e.Kernels}
			}
			return err
		},
		func(e *record.Event) error {
			if d.lost != nil || !promised(e) {
				return nil
			}
			return d.syncLog()
		},
		func(e *record.Event) error {
			if e.Type != record.EventStarted && e.Type != record.EventData {
				return nil
			}
			return writeConfig(d.dir, e.Start)
		},
		func(e *record.Event) error {
			return files.AllOrNothing(func() error { return d.tables.Record(e) }, d.tables.posterior, d.tables.metrics)
		},
		func(e *record.Event) error {
			text := record.Describe(e)
			if text == "" {
				return nil
			}
			return files.AllOrNothing(func() error {
				_, err := fmt.Fprintf(d.log, "%s %s\n", e.Time.Format(time.RFC3339), text)
				if err != nil {
					return fmt.Errorf("%s: %w", record.LogFile, err)
				}
				return nil
			}, d.log)
		},
	}
}

// promised reports whether an event must be on the disk when it has been recorded: an
// order that no checkpoint follows, and the end.
func promised(e *record.Event) bool {
	return e.Type == record.EventReoptimised || e.Type == record.EventData || e.Type == record.EventFinished
}

func (d *Directory) syncLog() error {
	if err := d.events.File.Sync(); err != nil {
		return fmt.Errorf("event log: %w", err)
	}
	return nil
}

// syncTables waits until all that is made of the log is on the disk.
func (d *Directory) syncTables() error {
	for name, f := range map[string]inside.File{record.PosteriorFile: d.tables.posterior, record.MetricsFile: d.tables.metrics,
		record.LogFile: d.log} {
		if err := f.Sync(); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return d.dir.Sync(".") // of the tables that are replaced
}

// writeConfig writes the config that a run began with, or that it has with another
// table.
func writeConfig(dir *inside.Dir, s *record.Start) error {
	if err := dir.ReplaceFile(record.ConfigFile, []byte(s.Header()+s.Config)); err != nil {
		return fmt.Errorf("%s: %w", record.ConfigFile, err)
	}
	return nil
}

// Ready makes a checkpoint of what has been learned, with the place in the event log of the last
// evaluation, pruning or restoring, which it rests on. The log is on the disk when it returns, so
// that no checkpoint is ever ahead of it.
func (d *Directory) Ready(arrays map[string]vbks.Tensor) (map[string]vbks.Tensor, error) {
	if err := d.syncLog(); err != nil {
		return nil, err
	}
	arrays = maps.Clone(arrays)
	d.rests.put(arrays)
	return arrays, nil
}

// Save replaces the checkpoint. Another goroutine may go on recording.
func (d *Directory) Save(ready map[string]vbks.Tensor) error {
	err := npz.Save(d.dir, checkpointPath, ready)
	if errors.Is(err, fs.ErrNotExist) && !d.dir.Gone() {
		return fmt.Errorf("the folder %s, with the checkpoint, was removed while the run wrote it; resume the run with --from-start",
			record.StateDir)
	}
	if err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	return nil
}

// Orders notes for other processes where this one takes orders, or why it takes none.
func (d *Directory) Orders(socket, none string) error { return d.owner.Orders(socket, none) }

// KeepTable copies a table into the directory and returns its path there.
func (d *Directory) KeepTable(from string) (path string, err error) {
	in, err := os.Open(from)
	if err != nil {
		return "", err
	}
	defer in.Close()
	err = d.dir.Replace(record.TableFile, func(f inside.File) error {
		_, err := io.Copy(f, in)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("%s: %w", record.TableFile, err)
	}
	return filepath.Join(d.Path, record.TableFile), nil
}

// Model replaces the model file.
func (d *Directory) Model(write func(io.Writer) error) error {
	err := d.dir.Replace(record.ModelFile, func(f inside.File) error { return write(f) })
	if err != nil {
		return fmt.Errorf("%s: %w", record.ModelFile, err)
	}
	return nil
}

// Close syncs and closes the files.
func (d *Directory) Close() error {
	var err error
	if d.tables != nil {
		err = d.tables.Close()
		if e := d.keepUnlessLost(); err == nil {
			err = e
		}
	}
	open := []inside.File{d.log}
	if d.events != nil {
		open = append(open, d.events.File)
	}
	err = closeSynced(err, open...)
	if d.tables != nil { // some of which have been replaced
		if e := d.dir.Sync("."); err == nil && !d.dir.Gone() {
			err = e
		}
	}
	if d.owner != nil {
		if e := d.owner.Close(); err == nil {
			err = e
		}
	}
	return err
}

// keepUnlessLost is keepLog after the last event. That the log was lost has been told.
func (d *Directory) keepUnlessLost() error {
	if d.lost != nil || d.events == nil {
		return nil
	}
	return d.keepLog()
}

// closeSynced syncs and closes the files that are there and returns the first
// error, err before any other.
func closeSynced(err error, open ...inside.File) error {
	for _, f := range open {
		if f == nil {
			continue
		}
		if e := f.Sync(); err == nil {
			err = e
		}
		if e := f.Close(); err == nil {
			err = e
		}
	}
	return err
}
