// Package elsewhere has what is read of the files of another machine read from where they lie
// on this one, and finds out there which files these are.
package elsewhere

import (
	"context"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

type (
	filesKey struct{}
	noteKey  struct{}
)

// With has what reads by ctx read the files that at names from where it says they are, and no
// others: whoever has work done here is to see no more of this machine than that. What is said of
// them, it says by the paths of before.
func With(ctx context.Context, at map[string]string) context.Context {
	if at == nil {
		at = map[string]string{}
	}
	return context.WithValue(ctx, filesKey{}, at)
}

// Own has what reads by ctx read a file of this machine, too.
func Own(ctx context.Context, path string) context.Context {
	if !Given(ctx) {
		return ctx
	}
	at := maps.Clone(files(ctx))
	at[path] = path
	return With(ctx, at)
}

// Given reports whether ctx has files of another machine.
func Given(ctx context.Context) bool { return files(ctx) != nil }

// files is where the files of another machine are; nil: ctx has none.
func files(ctx context.Context) map[string]string {
	at, _ := ctx.Value(filesKey{}).(map[string]string)
	return at
}

// Path is where a file is to be opened.
func Path(ctx context.Context, path string) (string, error) {
	at, ok := files(ctx)[path]
	switch {
	case ok:
		return at, nil
	case Given(ctx):
		return "", &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	}
	return path, nil
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

// Note notes a file that has been opened, where that is asked for.
func Note(ctx context.Context, path string) {
	n, ok := ctx.Value(noteKey{}).(*noted)
	if abs, err := filepath.Abs(path); ok && err == nil {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.paths = append(n.paths, abs)
	}
}

// Stat says what has a path; a folder of another machine is there where one of its files is.
func Stat(ctx context.Context, path string) (fs.FileInfo, error) {
	if len(Of(ctx, path)) > 0 {
		return os.Stat(os.TempDir()) // any folder is one
	}
	at, err := Path(ctx, path)
	if err != nil {
		return nil, err
	}
	return os.Stat(at)
}

// Of lists what another machine has sent of a folder.
func Of(ctx context.Context, dir string) (names []string) {
	for path := range files(ctx) {
		if filepath.Dir(path) == filepath.Clean(dir) {
			names = append(names, filepath.Base(path))
		}
	}
	slices.Sort(names)
	return names
}
