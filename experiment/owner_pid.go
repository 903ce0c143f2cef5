//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package experiment

import (
	"errors"
	"os"
	"runtime"
	"syscall"
)

// lockOwner takes no lock where there is none of the kind that is needed.
func lockOwner(*os.File, bool) error { return nil }

// ownerAlive asks whether there is a process of the owner's number. Another one
// may have got that number since.
func ownerAlive(_ *os.File, o Owner) (bool, error) {
	host, err := os.Hostname()
	if err != nil {
		return false, err
	}
	if o.PID <= 0 || o.Host != host {
		return false, errors.New("the owner is on another machine")
	}
	p, err := os.FindProcess(o.PID)
	if err != nil {
		return false, nil
	}
	defer p.Release()
	return runtime.GOOS == "windows" || p.Signal(syscall.Signal(0)) == nil, nil
}
