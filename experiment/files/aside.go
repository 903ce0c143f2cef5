package files

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"example.com/kestrel/experiment/inside"
)

// Aside is a file that is being written beside the one whose place it takes, as
// .NAME.kestrel-PROCESS-NUMBER. It is locked as long as it is written, so that the
// next who writes NAME can tell, on whatever machine, what a killed process left
// behind from what another is just writing.
type Aside struct {
	inside.File
	disk inside.Disk
	held *os.File // the file itself, which has the lock
	path string   // that it takes
	over bool
}

// NewAside begins to write a file aside, and removes what others that are no more
// have left of the same name. Drop must be called.
func NewAside(path string) (*Aside, error) { return newAside(inside.Disk{}, path) }

func newAside(disk inside.Disk, path string) (*Aside, error) {
	removeLeftovers(path)
	for {
		name := fmt.Sprintf("%s%d-%d", inside.AsidePrefix(filepath.Base(path)), os.Getpid(), rand.Uint32())
		f, err := disk.Create(filepath.Join(filepath.Dir(path), name))
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		// Before it was locked another may have taken it for a leftover.
		if lockAside(f) && stillThere(f) {
			return &Aside{File: disk.Opened(f.Name(), f), disk: disk, held: f, path: path}, nil
		}
		f.Close()
	}
}

// Finish syncs the file, which then lacks its place only. It gets the permissions
// of the file whose place it takes.
func (a *Aside) Finish() error {
	if info, err := os.Lstat(a.path); err == nil && info.Mode().IsRegular() {
		if err := a.held.Chmod(info.Mode().Perm()); err != nil {
			return err
		}
	}
	return a.Sync()
}

// Place puts a finished file in its place.
func (a *Aside) Place() error {
	if placedOpen {
		if err := a.disk.Place(a.Name(), a.path); err != nil {
			return err
		}
		a.over = true
		return a.Close()
	}
	if err := a.Close(); err != nil {
		return err
	}
	if err := a.disk.Place(a.Name(), a.path); err != nil {
		return err
	}
	a.over = true
	return nil
}

// Drop removes the file, unless it is in its place.
func (a *Aside) Drop() {
	if a.over {
		return
	}
	a.over = true
	if placedOpen {
		_ = a.disk.Remove(a.Name())
		a.Close()
	} else {
		a.Close()
		_ = a.disk.Remove(a.Name())
	}
}

// removeLeftovers removes the asides of a file that nobody writes any more. Those
// of versions before, .NAME.DIGITS, are left: what is named so may as well be the
// user's. What cannot be removed does no harm.
func removeLeftovers(path string) {
	dir := filepath.Dir(path)
	d, err := os.Open(dir)
	if err != nil {
		return
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1)
	for _, name := range names {
		if inside.IsAside(name, filepath.Base(path)) {
			removeAbandoned(filepath.Join(dir, name))
		}
	}
}

// stillThere reports whether an open file is the one of its name.
func stillThere(f *os.File) bool {
	open, errOpen := f.Stat()
	named, errNamed := os.Lstat(f.Name())
	return errOpen == nil && errNamed == nil && os.SameFile(open, named)
}

// longAgo reports whether a file was last written to a day ago or earlier: the
// measure where there are no locks.
func longAgo(info fs.FileInfo) bool { return time.Since(info.ModTime()) > 24*time.Hour }
