package experiment

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"time"

	"kestrel/vbks"
)

// Directory is the directory of a run in the making. It is a Recorder.
type Directory struct {
	Path   string
	events *eventLog
	log    *os.File
	tables *tables
	owner  io.Closer // tells others that the run is being written
	rests  logRest   // what a checkpoint would rest on
	at     *Event    // being recorded
	done   int       // steps of that
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

// CheckDirectory returns an error if a run cannot be written to path, because
// there is something already or because it is not permitted. It creates the
// directory.
func CheckDirectory(path string) error {
	info, err := os.Stat(path)
	switch {
	case err == nil && !info.IsDir():
		return fmt.Errorf("output directory %q is a file; choose another with --out", path)
	case err == nil:
		entries, err := os.ReadDir(path)
		if err != nil {
			return unwritable(path, err)
		}
		if len(entries) > 0 {
			return fmt.Errorf("output directory %q exists and is not empty; choose another with --out, or remove it", path)
		}
	}
	if err := os.MkdirAll(path, 0o755); err != nil {
		return unwritable(path, err)
	}
	probe, err := os.CreateTemp(path, ".probe*")
	if err != nil {
		return unwritable(path, err)
	}
	probe.Close()
	if err := os.Remove(probe.Name()); err != nil {
		return unwritable(path, err)
	}
	return nil
}

// unwritable says so without repeating the path.
func unwritable(path string, err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return fmt.Errorf("output directory %q cannot be written: %w; choose another with --out", path, err)
}

// CreateDirectory makes the directory of a run with the files that grow.
func CreateDirectory(path string) (*Directory, error) {
	if err := CheckDirectory(path); err != nil {
		return nil, err
	}
	owner, err := WriteOwner(path)
	if err != nil {
		return nil, err
	}
	return createFiles(path, owner)
}

// createFiles makes the files that grow in a directory that is owned already,
// and takes the owner's note over.
func createFiles(path string, owner io.Closer) (*Directory, error) {
	d := &Directory{Path: path, owner: owner}
	file, err := os.Create(filepath.Join(path, eventsFile))
	if err == nil {
		d.events = newEventLog(file)
		d.log, err = os.Create(filepath.Join(path, logFile))
	}
	if err == nil {
		d.tables, err = newTables(path)
	}
	if err != nil {
		d.Close()
		return nil, unwritable(path, err)
	}
	return d, nil
}

// Record implements Recorder: the event log first, then what follows from it.
// Where it failed it may be called again with the same event, and goes on where
// it was.
func (d *Directory) Record(e *Event) error {
	if d.at != e {
		d.at, d.done = e, 0
	}
	for steps := d.steps(); d.done < len(steps); d.done++ {
		if err := steps[d.done](e); err != nil {
			return err
		}
	}
	d.at = nil
	return nil
}

// steps are what is done with an event, each wholly or not at all.
func (d *Directory) steps() []func(*Event) error {
	return []func(*Event) error{
		func(e *Event) error {
			err := d.events.append(e)
			if err == nil && e.Evaluation != nil {
				d.rests = logRest{before: d.events.last, after: d.events.end, what: e.Type, kernels: e.Kernels}
			}
			return err
		},
		func(e *Event) error {
			if e.Type != EventStarted {
				return nil
			}
			return writeConfig(d.Path, e.Start)
		},
		func(e *Event) error {
			return allOrNothing(func() error { return d.tables.Record(e) }, d.tables.posterior, d.tables.metrics)
		},
		func(e *Event) error {
			text := Describe(e)
			if text == "" {
				return nil
			}
			return allOrNothing(func() error {
				_, err := fmt.Fprintf(d.log, "%s %s\n", e.Time.Format(time.RFC3339), text)
				if err != nil {
					return fmt.Errorf("%s: %w", logFile, err)
				}
				return nil
			}, d.log)
		},
	}
}

// writeConfig writes the config that a run began with.
func writeConfig(dir string, s *Start) error {
	if err := replaceFile(filepath.Join(dir, configFile), []byte(s.header()+s.Config)); err != nil {
		return fmt.Errorf("%s: %w", configFile, err)
	}
	return nil
}

// header says in comments where a config was run.
func (s *Start) header() string {
	return fmt.Sprintf("# As run by kestrel %s, on %s.\n\n", s.Build, s.Device)
}

// Checkpoint saves what has been learned, with the place in the event log of
// the last evaluation, pruning or restoring, which it rests on. The log is on the disk before the checkpoint is, so that none is
// ever ahead of it.
func (d *Directory) Checkpoint(arrays map[string]vbks.Tensor) error {
	if err := d.events.file.Sync(); err != nil {
		return fmt.Errorf("event log: %w", err)
	}
	arrays = maps.Clone(arrays)
	d.rests.put(arrays)
	if err := saveCheckpoint(filepath.Join(d.Path, stateDir, checkpoint), arrays); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	return nil
}

// Close syncs and closes the files.
func (d *Directory) Close() error {
	var err error
	if d.tables != nil {
		err = d.tables.close()
	}
	files := []*os.File{d.log}
	if d.events != nil {
		files = append(files, d.events.file)
	}
	err = closeSynced(err, files...)
	if d.owner != nil {
		if e := d.owner.Close(); err == nil {
			err = e
		}
	}
	return err
}

// closeSynced syncs and closes the files that are there and returns the first
// error, err before any other.
func closeSynced(err error, files ...*os.File) error {
	for _, f := range files {
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

// IsRun reports whether a path is the directory of a run.
func IsRun(path string) bool {
	_, err := os.Stat(filepath.Join(path, eventsFile))
	return path != "" && err == nil
}

// MakeExportDirectory makes a directory for exports where there is none.
func MakeExportDirectory(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return unwritable(dir, err)
	}
	return nil
}
