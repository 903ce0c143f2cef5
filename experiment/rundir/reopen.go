package rundir

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"example.com/kestrel/experiment/inside"
	"example.com/kestrel/experiment/record"
)

// Cut says where the event log of a run is cut when it is taken up again.
type Cut struct {
	Kept  int64         // bytes that stay
	Known *record.Place // nil, or what a checkpoint says of the log's beginning
}

// Reopen opens the files of a run to go on with them: the tables are made anew from what
// stays of the log, and told is told that, if it is not nil. The log itself is cut when
// the next event is written, in one with that, which may say what is lost by it. The
// owner's note is taken over. start is the run's first event.
func Reopen(owner *Claimed, cut Cut, start *record.Start, told record.Recorder) (_ *Directory, err error) {
	d := &Directory{Path: owner.Path(), dir: owner.Dir}
	defer func() {
		if err != nil {
			d.Close() // without the owner's note
		}
	}()
	removeTemporary(d.dir)
	if d.events, err = openLog(d.dir, cut); err != nil {
		return nil, err
	}
	info, err := d.events.File.Stat()
	if err != nil {
		return nil, unresumable(d.Path, err)
	}
	if info.Size() > cut.Kept {
		d.events.Cut = d.cutLog
	}
	if d.tables, err = remakeTables(d.dir, cut.Kept, told); err != nil {
		return nil, err
	}
	// It was cut off before this was written.
	if _, err := d.dir.Lstat(record.ConfigFile); errors.Is(err, os.ErrNotExist) {
		if err := writeConfig(d.dir, start); err != nil {
			return nil, err
		}
	}
	if d.log, err = appendLines(d.dir, record.LogFile); err != nil {
		return nil, unresumable(d.Path, err)
	}
	d.owner = owner
	return d, nil
}

// openLog opens the event log of a run at the place where it is to be cut, after a look
// whether it is the one that the checkpoint rests on.
func openLog(dir *inside.Dir, cut Cut) (*record.Log, error) {
	path := dir.Path()
	file, err := dir.OpenToWrite(record.EventsFile)
	if err != nil {
		return nil, unresumable(path, err)
	}
	l, err := readUpTo(file, cut)
	if err == nil {
		return l, nil
	}
	file.Close()
	var gap *NoCheckpoint
	if errors.As(err, &gap) {
		gap.Path = path
		return nil, err
	}
	return nil, unresumable(path, err)
}

func readUpTo(file inside.File, cut Cut) (*record.Log, error) {
	l := record.NewLog(file)
	if place := cut.Known; place != nil {
		switch at, err := l.Skip(place.Bytes); {
		case err != nil:
			return nil, err
		case at.Sum != place.Sum:
			return nil, &NoCheckpoint{
				Err: fmt.Errorf("its %s is not the one that the checkpoint rests on, or has been changed", record.EventsFile),
			}
		}
	}
	if _, err := l.Skip(cut.Kept); err != nil {
		return nil, err
	}
	return l, nil
}

// remakeTables makes the tables of a run anew from the first bytes of its event
// log and opens them to go on.
func remakeTables(dir *inside.Dir, kept int64, told record.Recorder) (*tables, error) {
	path := dir.Path()
	file, err := record.OpenIn(dir)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	log := record.NewDecoder(io.LimitReader(file, kept))
	made, err := replaceTables(dir, filepath.Join(record.StateDir, tablesPrefix), unresumable, func(t *tables) error {
		for {
			e, err := log.Next()
			if err == nil {
				err = t.Record(e)
			}
			if err == nil && told != nil {
				err = told.Record(e)
			}
			switch {
			case err == io.EOF:
				return nil
			case err != nil:
				return fmt.Errorf("the tables of run %q: %w", path, err)
			}
		}
	})
	if err != nil {
		return nil, err
	}
	t := &tables{tableRows: made.tableRows, dir: dir}
	if t.posterior, err = appendLines(dir, record.PosteriorFile); err != nil {
		return nil, unresumable(path, err)
	}
	if t.metrics, err = appendLines(dir, record.MetricsFile); err != nil {
		t.posterior.Close()
		return nil, unresumable(path, err)
	}
	return t, nil
}

// replaceTables makes tables in a folder aside, whose name begins so, and puts them
// in their places when they are whole. unwritable says of a path that it cannot be
// written; errors of fill are returned as they are.
func replaceTables(
	dir *inside.Dir, prefix string, unwritable func(path string, err error) error, fill func(*tables) error,
) (_ *tables, err error) {
	aside, err := dir.MkdirTemp(prefix)
	if err != nil {
		return nil, unwritable(dir.Path(), err)
	}
	defer func() { _ = dir.RemoveAll(aside) }()
	to, err := dir.Sub(aside)
	if err != nil {
		return nil, unwritable(dir.Path(), err)
	}
	defer to.Close()
	made, err := newTables(to)
	if err != nil {
		return nil, unwritable(dir.Path(), err)
	}
	made.lazy = true
	err = fill(made)
	if e := made.Close(); err == nil {
		err = e
	}
	if err != nil {
		return nil, err
	}
	for _, name := range TableFiles() {
		if err := dir.Rename(filepath.Join(aside, name), name); err != nil {
			return nil, unwritable(dir.Path(), err)
		}
	}
	return made, nil
}

// appendLines opens a file of lines to append to; a last line that has no end
// gets one.
func appendLines(dir *inside.Dir, name string) (inside.File, error) {
	file, err := dir.OpenOrCreate(name)
	if err != nil {
		return nil, err
	}
	size, err := file.Seek(0, io.SeekEnd)
	if last := make([]byte, 1); err == nil && size > 0 {
		if _, err = file.ReadAt(last, size-1); err == nil && last[0] != '\n' {
			_, err = file.Write([]byte("\n"))
		}
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// tablesPrefix begins the name of the folder, in the state folder, in which
// tables are made anew.
const tablesPrefix = ".tables"

// removeTemporary removes what a killed process was just writing aside, and nothing
// that is only named alike. What cannot be removed does no harm.
func removeTemporary(d *inside.Dir) {
	for _, name := range []string{record.EventsFile, record.ConfigFile, record.KernelsFile, record.BaselinesFile,
		record.ModelFile, record.TableFile, checkpointPath} {
		d.RemoveLeftovers(name)
	}
	for dir, names := range map[string][]string{
		".":             {"." + record.ConfigFile + ".", "." + record.KernelsFile + "."}, // of older versions
		record.StateDir: {"." + record.CheckpointFile + ".", tablesPrefix},
	} {
		entries, err := d.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, e := range entries {
			for _, name := range names {
				if numbered(e.Name(), name) && e.IsDir() == (name == tablesPrefix) {
					_ = d.RemoveAll(filepath.Join(dir, e.Name()))
				}
			}
		}
	}
}

// unresumable is unwritable for a run that is there already.
func unresumable(path string, err error) error {
	if refused := (*inside.Refused)(nil); errors.As(err, &refused) {
		return err
	}
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return fmt.Errorf("run %q cannot be written: %w; see to that and resume it again", path, err)
}
