package rundir

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"example.com/kestrel/experiment/record"
)

// OnlyClaimed reports whether a directory that is there holds nothing but what
// taking it and looking whether it can be written leave behind, and files that
// known names: it was killed before it began.
func OnlyClaimed(dir string, known func(name string) bool) bool {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false
	}
	for _, e := range entries {
		switch name := e.Name(); {
		case name == record.StateDir:
			state, err := os.ReadDir(filepath.Join(dir, name))
			if err != nil || slices.ContainsFunc(state, func(e os.DirEntry) bool { return !ownersFile(e.Name()) && !known(e.Name()) }) {
				return false
			}
		case !probe(name) && !known(name):
			return false
		}
	}
	return true
}

// Disclaim removes what OnlyClaimed names. What cannot be removed does no harm.
func Disclaim(dir string) {
	state := filepath.Join(dir, record.StateDir)
	for _, name := range []string{record.OwnerFile, filepath.Base(lockFile(record.OwnerFile))} {
		_ = os.Remove(filepath.Join(state, name))
	}
	RemoveProbes(dir)
	_ = os.Remove(state)
}

// Missing returns path and its parents as far as they do not exist, the longest
// first.
func Missing(path string) []string {
	var out []string
	for dir := filepath.Clean(path); ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(dir); err == nil || dir == filepath.Dir(dir) {
			return out
		}
		out = append(out, dir)
	}
}

// RemoveProbes removes what a process left that was killed while it looked whether
// a directory can be written.
func RemoveProbes(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if probe(e.Name()) {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

func ownersFile(name string) bool {
	return name == record.OwnerFile || name == lockFile(record.OwnerFile)
}

// probe reports whether Check has made a file of that name.
func probe(name string) bool { return numbered(name, ".probe") }

// numbered reports whether a name is a prefix and a number.
func numbered(name, prefix string) bool {
	number, ok := strings.CutPrefix(name, prefix)
	return ok && number != "" && strings.Trim(number, "0123456789") == ""
}
