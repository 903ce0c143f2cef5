//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package experiment

import (
	"errors"
	"os"
	"syscall"
)

// lockOwner takes an advisory lock that the system gives back when the process
// ends. It returns errOwned if another holder is in the way.
func lockOwner(f *os.File, exclusive bool) error {
	how := syscall.LOCK_SH
	if exclusive {
		how = syscall.LOCK_EX
	}
	for {
		err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.EWOULDBLOCK):
			return errOwned
		case errors.Is(err, syscall.ENOSYS), errors.Is(err, syscall.EOPNOTSUPP), errors.Is(err, syscall.ENOLCK), errors.Is(err, syscall.EINVAL):
			return errNoLocks
		}
		return err
	}
}

// ownerAlive tries the owner's lock.
func ownerAlive(f *os.File, _ Owner) (bool, error) {
	err := lockOwner(f, false)
	if errors.Is(err, errOwned) {
		return true, nil
	}
	return false, err
}
