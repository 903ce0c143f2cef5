package output

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"example.com/kestrel/experiment/record"
)

// ownFiles are the names in its directory that a run keeps for itself.
func ownFiles() []string {
	return []string{record.ConfigFile, record.EventsFile, record.StateDir, record.PosteriorFile, record.MetricsFile,
		record.KernelsFile, record.BaselinesFile, record.LogFile, record.ModelFile, record.TableFile}
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

// isSeries reports whether a folder that is no run is that of a series: of runs, a
// study, a comparison or a backtest.
func isSeries(dir string) bool {
	state := filepath.Join(dir, record.StateDir)
	if info, err := os.Lstat(state); err != nil || !info.IsDir() {
		return false
	}
	_, err := os.Lstat(filepath.Join(state, record.OwnerFile))
	return err == nil
}

// keeper is a folder that keeps files for itself.
type keeper struct {
	dir    string // "": none
	series bool   // no run
}

// keeperOf finds out what a folder is.
func keeperOf(dir string) keeper {
	switch {
	case isRun(dir):
		return keeper{dir: dir}
	case isSeries(dir):
		return keeper{dir, true}
	}
	return keeper{}
}

// keeperAround is the innermost one that a folder is, or lies in.
func keeperAround(dir string) keeper {
	for _, a := range above(dir) {
		if k := keeperOf(a); k.dir != "" {
			return k
		}
	}
	return keeper{}
}

func (k keeper) String() string {
	if k.series {
		return fmt.Sprintf("%q, a series of runs", shown(k.dir))
	}
	return fmt.Sprintf("the run %q", shown(k.dir))
}

// keeps is what is said of what it has.
func (k keeper) keeps() string {
	if k.series {
		return k.String() + ", keeps for itself"
	}
	return k.String() + " keeps for itself"
}

// owns reports whether a name in the folder is one of its own.
func (k keeper) owns(name string) bool {
	if k.series {
		return slices.Contains(record.ComparisonFiles(), name) || slices.Contains(record.BacktestFiles(), name) || record.IsStudyFile(name)
	}
	return slices.Contains(ownFiles(), name)
}

// files are the names of its own that are there, and those in its state.
func (k keeper) files() (own []string) {
	if k.dir == "" {
		return nil
	}
	entries, _ := os.ReadDir(k.dir)
	for _, e := range entries {
		if k.owns(e.Name()) {
			own = append(own, e.Name())
		}
	}
	state, _ := os.ReadDir(filepath.Join(k.dir, record.StateDir))
	for _, e := range state {
		own = append(own, filepath.Join(record.StateDir, e.Name()))
	}
	return own
}

// checkFolder refuses, for a folder without links, what lies in the state of a run
// or of a series.
func checkFolder(name, path string) error {
	for _, a := range above(path) {
		run := filepath.Dir(a)
		if filepath.Base(a) != record.StateDir && !same(a, filepath.Join(run, record.StateDir)) {
			continue
		}
		if k := keeperOf(run); k.dir != "" {
			return fmt.Errorf("%q lies in what %s; choose another name", name, k.keeps())
		}
	}
	return nil
}

// checkFile refuses, for a file without links, what the run or the series around it
// keeps for itself, what is no file in there, such as a pipe, which might be waited
// for, and what one of the runs keeps, by another name of the same file.
func checkFile(name, path string, runs []string) error {
	if err := checkFolder(name, path); err != nil {
		return err
	}
	refuse := func(k keeper) error {
		return fmt.Errorf("%q is a file that %s; choose another name", name, k.keeps())
	}
	if k := keeperOf(filepath.Dir(path)); k.dir != "" && k.owns(filepath.Base(path)) {
		return refuse(k)
	}
	around := keeperAround(filepath.Dir(path))
	if info, err := os.Lstat(path); around.dir != "" && err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return fmt.Errorf("%q is no file, in %s, which may be somebody else's; remove it or choose another name", name, around)
	}
	keepers := []keeper{around}
	for _, run := range runs {
		keepers = append(keepers, keeper{run, !isRun(run) && isSeries(run)})
	}
	for _, k := range keepers {
		for _, name := range k.files() {
			if same(path, filepath.Join(k.dir, name)) {
				return refuse(k)
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
