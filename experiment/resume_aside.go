package experiment

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// asideName is the folder in a run's directory for what the run had written
// before it was begun again.
func asideName(now time.Time) string { return "before-" + now.UTC().Format("20060102T150405Z") }

// moveAside moves what a run has written to a folder in its directory, where it
// can still be opened, and returns the folder.
func moveAside(path string) (aside string, err error) {
	aside = filepath.Join(path, asideName(time.Now()))
	if err := os.MkdirAll(filepath.Join(aside, stateDir), 0o755); err != nil {
		return "", unresumable(path, err)
	}
	removeTemporary(path)
	// The log goes last: as long as it is there, this can be done again.
	for _, name := range []string{posteriorFile, metricsFile, kernelsFile, logFile, filepath.Join(stateDir, checkpoint), configFile, eventsFile} {
		if err := os.Rename(filepath.Join(path, name), filepath.Join(aside, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return "", fmt.Errorf("run %q: what is there cannot be moved aside: %w", path, err)
		}
	}
	return aside, nil
}
