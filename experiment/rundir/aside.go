package rundir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"example.com/kestrel/experiment/record"
)

// asideName is the folder in a run's directory for what the run had written
// before it was begun again.
func asideName(now time.Time) string { return "before-" + now.UTC().Format("20060102T150405Z") }

// MoveAside moves what a run has written to a folder in its directory, where it
// can still be opened, and returns the folder's name.
func MoveAside(d *Claimed) (aside string, err error) {
	aside = asideName(time.Now())
	if err := d.MkdirAll(filepath.Join(aside, record.StateDir)); err != nil {
		return "", unresumable(d.Path(), err)
	}
	removeTemporary(d.Dir)
	move := func(names ...string) error {
		for _, name := range names {
			if err := d.Rename(name, filepath.Join(aside, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
				return err
			}
		}
		for _, folder := range []string{aside, filepath.Join(aside, record.StateDir), record.StateDir, "."} {
			if err := d.Sync(folder); err != nil {
				return err
			}
		}
		return nil
	}
	err = move(append(TableFiles(), record.LogFile, record.ModelFile, filepath.Join(record.StateDir, record.CheckpointFile),
		record.ConfigFile)...)
	if err == nil { // the log goes last: as long as it is there, this can be done again
		err = move(record.EventsFile)
	}
	if err != nil {
		return "", fmt.Errorf("run %q: what is there cannot be moved aside: %w", d.Path(), err)
	}
	return aside, nil
}
