package library

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"example.com/kestrel/datasets"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/rundir"
)

// IsTable reports whether a file is called as a table of data is, compressed or
// not.
func IsTable(name string) bool {
	switch plainExt(name) {
	case ".csv", ".tsv", ".txt", ".dat", ".data", ".jsonl", ".ndjson", ".npy", ".npz", ".parquet", ".zip", ".xlsx", ".xlsm":
		return true
	}
	return datasets.NamesSheet(name)
}

// plainExt returns a file's extension without that of its compression, in lower
// case.
func plainExt(name string) string {
	name = strings.ToLower(name)
	for _, z := range []string{".gz", ".xz", ".zst"} {
		name = strings.TrimSuffix(name, z)
	}
	return filepath.Ext(name)
}

// Bounds of the search for data: a home folder may hold a million files.
const (
	searchDepth   = 3
	searchEntries = 20_000
	searchOpened  = 200
)

// FindData lists files that may be run, at most so many (0: all): tables and
// configs in a folder and up to three levels below it, the nearest first. Hidden
// folders, those of runs and series and a folder runs are left out, and so are texts in
// which no table is found by itself, and tables that kestrel has written. What cannot be read is passed over.
func FindData(root string, most int) []string {
	f := &finder{most: most}
	level := []string{filepath.Clean(root)}
	for range searchDepth + 1 {
		var below []string
		for _, dir := range level {
			below = append(below, f.look(dir)...)
			if f.full() {
				return f.found
			}
		}
		level = below
	}
	return f.found
}

type finder struct {
	found        []string
	most         int
	seen, opened int
}

func (f *finder) full() bool {
	return f.most > 0 && len(f.found) >= f.most || f.seen >= searchEntries
}

// look lists the files of a folder and returns the folders in it.
func (f *finder) look(dir string) (below []string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if f.seen++; f.full() {
			return below
		}
		name, path := e.Name(), filepath.Join(dir, e.Name())
		switch {
		case strings.HasPrefix(name, "."):
		case e.IsDir():
			if name != "runs" && !rundir.IsRun(path) && !isSeries(path) {
				below = append(below, path)
			}
		case e.Type().IsRegular() || e.Type()&fs.ModeSymlink != 0:
			if f.runnable(path) {
				f.found = append(f.found, path)
			}
		}
	}
	return below
}

// runnable opens a file only where its name says too little.
func (f *finder) runnable(path string) bool {
	ext := plainExt(path)
	isTOML := filepath.Ext(path) == ".toml"
	if !isTOML && !IsTable(path) {
		return false
	}
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return false
	}
	if ext == ".csv" || ext == ".tsv" {
		return !isOutput(path)
	}
	if f.opened++; f.opened > searchOpened {
		return false
	}
	if isTOML {
		text, err := config.ReadConfig(path)
		return err == nil && config.IsConfig.Match(text)
	}
	columns, err := datasets.ReadHeader(datasets.Spec{Path: path})
	numbers := 0
	for _, c := range columns {
		if c.Kind == "number" || c.Kind == "time" {
			numbers++
		}
	}
	return err == nil && numbers > 1
}
