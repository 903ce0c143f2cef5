package rundir

import (
	"os"
	"path/filepath"
	"slices"

	"kestrel/experiment/inside"
	"kestrel/experiment/record"
)

// liesIn reports whether a path names something right in the directory of a run.
func liesIn(dir, path string) bool {
	a, errA := os.Stat(dir)
	b, errB := os.Stat(filepath.Dir(filepath.Clean(path)))
	return errA == nil && errB == nil && os.SameFile(a, b)
}

// RunFile reports whether a path names a file that the run in dir keeps for
// itself, which nothing else may replace.
func RunFile(dir, path string) bool {
	return liesIn(dir, path) && slices.Contains([]string{record.ConfigFile, record.EventsFile, record.StateDir, record.PosteriorFile,
		record.MetricsFile, record.KernelsFile, record.LogFile}, filepath.Base(path))
}

// CheckOutput returns an error if a path that is to be written names something right
// in the directory of a run that is neither a file nor a folder, but leads elsewhere.
func CheckOutput(dir, path string) error {
	if !liesIn(dir, path) {
		return nil
	}
	d, err := inside.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	name := filepath.Base(path)
	if info, err := d.Lstat(name); err == nil && info.IsDir() {
		return nil
	}
	return d.CheckFile(name)
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

// IsRun reports whether a path is the directory of a run, be it one that cannot be
// read: what is there in the place of its event log is not looked at.
func IsRun(path string) bool {
	_, err := os.Lstat(filepath.Join(path, record.EventsFile))
	return path != "" && err == nil
}
