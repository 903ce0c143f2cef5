package rundir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"kestrel/experiment/record"
)

// asideName is the folder in a run's directory for what the run had written
// before it was begun again.
func asideName(now time.Time) string { return "before-" + now.UTC().Format("20060102T150405Z") }

// MoveAside moves what a run has written to a folder in its directory, where it
// can still be opened, and returns the folder.
func MoveAside(path string) (aside string, err error) {
	aside = filepath.Join(path, asideName(time.Now()))
	if err := os.MkdirAll(filepath.Join(aside, record.StateDir), 0o755); err != nil {
		return "", unresumable(path, err)
	}
	removeTemporary(path)
	// The log goes last: as long as it is there, this can be done again.
	for _, name := range append(TableFiles(), record.LogFile, filepath.Join(record.StateDir, record.CheckpointFile),
		record.ConfigFile, record.EventsFile) {
		if err := os.Rename(filepath.Join(path, name), filepath.Join(aside, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return "", fmt.Errorf("run %q: what is there cannot be moved aside: %w", path, err)
		}
	}
	return aside, nil
}
