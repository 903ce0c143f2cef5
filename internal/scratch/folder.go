// Package scratch makes folders for a while, which the next one that is made removes
// where their process was killed.
package scratch

import (
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

// Folder is a folder of this process, which alone enters it.
type Folder struct {
	Path string
	lock *flock.Flock // held as long as the process lives, so that others know
}

// lockName is the file in a folder that its process has locked.
const lockName = ".lock"

// prefix begins the names of the folders of a kind.
func prefix(kind string) string { return "kestrel-" + kind + "-" }

// Make makes a folder among those for a while. Folders of its kind whose processes are no more
// are removed first: only those of this user that nobody else may enter, and in which the lock,
// which a living process holds, is free.
func Make(kind string) (*Folder, error) {
	sweep(kind)
	for {
		path, err := os.MkdirTemp("", prefix(kind)+"*")
		if err != nil {
			return nil, err
		}
		f := &Folder{Path: path, lock: flock.New(filepath.Join(path, lockName), flock.SetPermissions(0o600))}
		held, err := f.lock.TryLock()
		if _, gone := os.Lstat(filepath.Join(path, lockName)); gone != nil || err == nil && !held {
			f.Remove() // before it was locked another has taken it for what is left of a dead process
			continue
		}
		return f, nil // where there are no locks nobody sweeps
	}
}

// Remove removes the folder with all that is in it.
func (f *Folder) Remove() {
	_ = f.lock.Close()
	_ = os.RemoveAll(f.Path)
}

// sweep removes the folders of a kind whose processes are no more. What cannot be removed does no harm.
func sweep(kind string) {
	left, err := filepath.Glob(filepath.Join(os.TempDir(), prefix(kind)+"*"))
	if err != nil {
		return
	}
	for _, path := range left {
		if lock := abandoned(path); lock != nil {
			_ = os.RemoveAll(path) // locked, so that who is just making it knows
			_ = lock.Close()
			_ = os.RemoveAll(path) // there are systems on which nothing that is open is removed
		}
	}
}

// abandoned returns the lock of a folder of this user's that no process held any more, and nil of others.
func abandoned(path string) *flock.Flock {
	info, err := os.Lstat(path)
	if err != nil || !info.IsDir() || !private(info) {
		return nil
	}
	name := filepath.Join(path, lockName)
	if info, err = os.Lstat(name); err != nil || !info.Mode().IsRegular() || !private(info) {
		return nil // of a version without locks, or not of kestrel
	}
	lock := flock.New(name, flock.SetFlag(os.O_RDWR))
	if held, err := lock.TryLock(); err != nil || !held {
		_ = lock.Close()
		return nil
	}
	return lock
}
