package datasets

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// What is read of the data of another machine lies at other paths here; which files they
// were of is found out there, while they are loaded.

type (
	elsewhereKey struct{}
	noteKey      struct{}
)

// Elsewhere has what reads by ctx read the files that at names from where it says they are
// here. Datasets name them by the paths of before.
func Elsewhere(ctx context.Context, at map[string]string) context.Context {
	return context.WithValue(ctx, elsewhereKey{}, at)
}

// elsewhere is where the files of another machine are.
func elsewhere(ctx context.Context) map[string]string {
	at, _ := ctx.Value(elsewhereKey{}).(map[string]string)
	return at
}

// here is where a file is to be opened.
func here(ctx context.Context, path string) string {
	if at, ok := elsewhere(ctx)[path]; ok {
		return at
	}
	return path
}

// Noting has the absolute path of each file noted that is opened by the context it returns.
func Noting(ctx context.Context) (_ context.Context, opened func() []string) {
	n := &noted{}
	return context.WithValue(ctx, noteKey{}, n), func() []string {
		n.mu.Lock()
		defer n.mu.Unlock()
		slices.Sort(n.paths)
		n.paths = slices.Compact(n.paths)
		return slices.Clone(n.paths)
	}
}

type noted struct {
	mu    sync.Mutex
	paths []string
}

// note notes a file that has been opened, where that is asked for.
func note(ctx context.Context, path string) {
	n, ok := ctx.Value(noteKey{}).(*noted)
	if abs, err := filepath.Abs(path); ok && err == nil {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.paths = append(n.paths, abs)
	}
}

// stat says what has a path; a folder of another machine is there where one of its files is.
func stat(ctx context.Context, path string) (fs.FileInfo, error) {
	if len(filesOf(ctx, path)) > 0 {
		return os.Stat(os.TempDir()) // any folder is one
	}
	return os.Stat(here(ctx, path))
}

// filesOf lists what another machine has sent of a folder.
func filesOf(ctx context.Context, dir string) (names []string) {
	for path := range elsewhere(ctx) {
		if filepath.Dir(path) == filepath.Clean(dir) {
			names = append(names, filepath.Base(path))
		}
	}
	slices.Sort(names)
	return names
}
