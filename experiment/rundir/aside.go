package rundir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
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
	for _, name := range []string{record.PosteriorFile, record.MetricsFile, record.KernelsFile, record.LogFile,
		filepath.Join(record.StateDir, record.CheckpointFile), record.ConfigFile, record.EventsFile} {
		if err := os.Rename(filepath.Join(path, name), filepath.Join(aside, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return "", fmt.Errorf("run %q: what is there cannot be moved aside: %w", path, err)
		}
	}
	return aside, nil
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
