//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package files

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// placedOpen: a file keeps its lock until it has its place.
const placedOpen = true

// lockAside reports false if another holds the lock. Where there are no locks
// nobody does.
func lockAside(f *os.File) bool { return !errors.Is(flock(f), syscall.EWOULDBLOCK) }

// flock locks an open file itself; package flock would open it once more.
func flock(f *os.File) error {
	for {
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != syscall.EINTR {
			return err
		}
	}
}

// removeAbandoned removes an aside whose lock nobody holds.
func removeAbandoned(path string) {
	open := func(mode int) (*os.File, error) {
		return os.OpenFile(path, mode|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	}
	f, err := open(os.O_RDWR) // NFS locks nothing that is open for reading
	if errors.Is(err, fs.ErrPermission) {
		f, err = open(os.O_RDONLY)
	}
	if err != nil {
		return
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return
	}
	switch err := flock(f); {
	case errors.Is(err, syscall.EWOULDBLOCK):
	case err == nil || longAgo(info):
		if stillThere(f) {
			os.Remove(path)
		}
	}
}
