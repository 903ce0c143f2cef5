package rundir

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"kestrel/experiment/record"
)

// Cut says where the event log of a run is cut when it is taken up again.
type Cut struct {
	Kept  int64         // bytes that stay
	Known *record.Place // nil, or what a checkpoint says of the log's beginning
}

// Reopen opens the files of a run to go on with them: the log is cut,
// the tables are made anew from it, and told is told what stays, if it is not
// nil. The owner's note is taken over. start is the run's first event.
func Reopen(path string, owner io.Closer, cut Cut, start *record.Start, told record.Recorder) (_ *Directory, err error) {
	d := &Directory{Path: path}
	defer func() {
		if err != nil {
			d.Close() // without the owner's note
		}
	}()
	removeTemporary(path)
	if d.events, err = cutLog(path, cut); err != nil {
		return nil, err
	}
	if d.tables, err = remakeTables(path, cut.Kept, told); err != nil {
		return nil, err
	}
	// It was cut off before this was written.
	config := filepath.Join(path, record.ConfigFile)
	if _, err := os.Stat(config); errors.Is(err, os.ErrNotExist) {
		if err := writeConfig(path, start); err != nil {
			return nil, err
		}
	}
	if d.log, err = appendLines(filepath.Join(path, record.LogFile)); err != nil {
		return nil, unresumable(path, err)
	}
	d.owner = owner
	return d, nil
}

// cutLog opens the event log of a run and cuts it, after a look whether it is
// the one that the checkpoint rests on.
func cutLog(path string, cut Cut) (*record.Log, error) {
	file, err := os.OpenFile(filepath.Join(path, record.EventsFile), os.O_RDWR, 0)
	if err != nil {
		return nil, unresumable(path, err)
	}
	l, err := cutFile(file, cut)
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

func cutFile(file *os.File, cut Cut) (*record.Log, error) {
	l := record.NewLog(file)
	if place := cut.Known; place != nil {
		switch at, err := l.Skip(place.Bytes); {
		case err != nil:
			return nil, err
		case at.Sum != place.Sum:
			return nil, &NoCheckpoint{Err: fmt.Errorf("its %s is not the one that the checkpoint rests on, or has been changed", record.EventsFile)}
		}
	}
	if _, err := l.Skip(cut.Kept); err != nil {
		return nil, err
	}
	if err := file.Truncate(cut.Kept); err != nil {
		return nil, err
	}
	return l, file.Sync()
}

// remakeTables makes the tables of a run anew from the first bytes of its event
// log, aside, puts them in their places and opens them to go on.
func remakeTables(path string, kept int64, told record.Recorder) (*tables, error) {
	file, err := record.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	aside, err := os.MkdirTemp(filepath.Join(path, record.StateDir), tablesPrefix)
	if err != nil {
		return nil, unresumable(path, err)
	}
	defer os.RemoveAll(aside)
	made, err := newTables(aside)
	if err != nil {
		return nil, unresumable(path, err)
	}
	made.lazy = true
	log := record.NewDecoder(io.LimitReader(file, kept))
	for err == nil {
		var e *record.Event
		if e, err = log.Next(); err != nil {
			break
		}
		if err = made.Record(e); err == nil && told != nil {
			err = told.Record(e)
		}
	}
	if e := made.Close(); err == io.EOF {
		err = e
	}
	if err != nil {
		return nil, fmt.Errorf("the tables of run %q: %w", path, err)
	}
	for _, name := range TableFiles() {
		if err := os.Rename(filepath.Join(aside, name), filepath.Join(path, name)); err != nil {
			return nil, unresumable(path, err)
		}
	}
	t := &tables{tableRows: made.tableRows, dir: path}
	if t.posterior, err = appendLines(filepath.Join(path, record.PosteriorFile)); err != nil {
		return nil, unresumable(path, err)
	}
	if t.metrics, err = appendLines(filepath.Join(path, record.MetricsFile)); err != nil {
		t.posterior.Close()
		return nil, unresumable(path, err)
	}
	return t, nil
}

// appendLines opens a file of lines to append to; a last line that has no end
// gets one.
func appendLines(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
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

// removeTemporary removes what a killed process was just writing aside. What
// cannot be removed does no harm.
func removeTemporary(path string) {
	for dir, names := range map[string][]string{
		path:                                 {record.ConfigFile, record.KernelsFile},
		filepath.Join(path, record.StateDir): {record.CheckpointFile, strings.TrimPrefix(tablesPrefix, ".")},
	} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, e := range entries {
			for _, name := range names {
				if strings.HasPrefix(e.Name(), "."+name) {
					_ = os.RemoveAll(filepath.Join(dir, e.Name()))
				}
			}
		}
	}
}

// unresumable is unwritable for a run that is there already.
func unresumable(path string, err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return fmt.Errorf("run %q cannot be written: %w; see to that and resume it again", path, err)
}
