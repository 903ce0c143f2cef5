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
	// The log goes last: as long as it is there, this can be done again.
	for _, name := range append(TableFiles(), record.LogFile, record.ModelFile, filepath.Join(record.StateDir, record.CheckpointFile),
		record.ConfigFile, record.EventsFile) {
		if err := d.Rename(name, filepath.Join(aside, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return "", fmt.Errorf("run %q: what is there cannot be moved aside: %w", d.Path(), err)
		}
	}
	return aside, nil
}
