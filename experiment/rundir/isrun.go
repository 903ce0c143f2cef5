package rundir

import (
	"os"
	"path/filepath"
	"slices"

	"kestrel/experiment/record"
)

// RunFile reports whether a path names a file that the run in dir keeps for
// itself, which nothing else may replace.
func RunFile(dir, path string) bool {
	a, errA := os.Stat(dir)
	b, errB := os.Stat(filepath.Dir(path))
	if errA != nil || errB != nil || !os.SameFile(a, b) {
		return false
	}
	return slices.Contains([]string{record.ConfigFile, record.EventsFile, record.StateDir, record.PosteriorFile, record.MetricsFile,
		record.KernelsFile, record.LogFile}, filepath.Base(path))
}

// CheckRun returns an error, as record.Each does, if a path is not the directory
// of a run.
func CheckRun(path string) error {
	file, err := record.Open(path)
	if err != nil {
		return err
	}
	return file.Close()
}

// IsRun reports whether a path is the directory of a run.
func IsRun(path string) bool {
	_, err := os.Stat(filepath.Join(path, record.EventsFile))
	return path != "" && err == nil
}
