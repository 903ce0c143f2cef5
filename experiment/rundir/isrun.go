package rundir

import (
	"os"
	"path/filepath"

	"example.com/kestrel/experiment/record"
)

// CheckRun returns an error, as record.Each does, if a path is not the directory
// of a run.
func CheckRun(path string) error {
	file, err := record.Open(path)
	if err != nil {
		return err
	}
	return file.Close()
}

// IsRun reports whether a path is the directory of a run, be it one that cannot be
// read: what is there in the place of its event log is not looked at.
func IsRun(path string) bool {
	_, err := os.Lstat(filepath.Join(path, record.EventsFile))
	return path != "" && err == nil
}
