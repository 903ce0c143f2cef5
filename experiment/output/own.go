package output

import (
	"fmt"
	"os"
	"path/filepath"

	"kestrel/experiment/record"
)

// ownFiles are the names in its directory that a run keeps for itself.
func ownFiles() []string {
	return []string{record.ConfigFile, record.EventsFile, record.StateDir, record.PosteriorFile, record.MetricsFile,
		record.KernelsFile, record.LogFile}
}

// isRun reports whether a folder is that of a run, or of what is left of one. A
// link named like a run's state makes none of the folder that it lies in.
func isRun(dir string) bool {
	if _, err := os.Lstat(filepath.Join(dir, record.EventsFile)); err == nil {
		return true
	}
	state := filepath.Join(dir, record.StateDir)
	if info, err := os.Lstat(state); err != nil || !info.IsDir() {
		return false
	}
	_, err := os.Lstat(filepath.Join(state, record.CheckpointFile))
	return err == nil
}

// runAround is the directory of the run that a folder is, or lies in; "": none.
func runAround(dir string) string {
	for _, a := range above(dir) {
		if isRun(a) {
			return a
		}
	}
	return ""
}

// checkFolder refuses, for a folder without links, what lies in the state of a run
// or of a series.
func checkFolder(name, path string) error {
	for _, a := range above(path) {
		run := filepath.Dir(a)
		if filepath.Base(a) != record.StateDir && !same(a, filepath.Join(run, record.StateDir)) {
			continue
		}
		if isRun(run) {
			return fmt.Errorf("%q lies in what the run %q keeps for itself; choose another name", name, shown(run))
		}
		if _, err := os.Lstat(filepath.Join(a, record.OwnerFile)); err == nil { // of a series, a study, a comparison
			return fmt.Errorf("%q lies in what %q, a series of runs, keeps for itself; choose another name", name, shown(run))
		}
	}
	return nil
}

// checkFile refuses, for a file without links, what the run around it keeps for
// itself, what is no file in there, such as a pipe, which might be waited for, and
// what one of the runs keeps, by another name of the same file.
func checkFile(name, path string, runs []string) error {
	if err := checkFolder(name, path); err != nil {
		return err
	}
	refuse := func(run string) error {
		return fmt.Errorf("%q is a file that the run %q keeps for itself; choose another name", name, shown(run))
	}
	if dir := filepath.Dir(path); isRun(dir) {
		for _, own := range ownFiles() {
			if filepath.Base(path) == own {
				return refuse(dir)
			}
		}
	}
	around := runAround(filepath.Dir(path))
	if info, err := os.Lstat(path); around != "" && err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return fmt.Errorf("%q is no file, in the run %q, which may be somebody else's; remove it or choose another name", name, shown(around))
	}
	for _, run := range append([]string{around}, runs...) {
		if run == "" {
			continue
		}
		own := ownFiles()
		state, _ := os.ReadDir(filepath.Join(run, record.StateDir))
		for _, e := range state {
			own = append(own, filepath.Join(record.StateDir, e.Name()))
		}
		for _, name := range own {
			if same(path, filepath.Join(run, name)) {
				return refuse(run)
			}
		}
	}
	return nil
}

// same reports whether two names are of one file or folder.
func same(a, b string) bool {
	x, errX := os.Lstat(a)
	y, errY := os.Lstat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}
