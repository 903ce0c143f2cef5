package rundir

import (
	"errors"
	"syscall"
	"testing"
	"time"

	"example.com/kestrel/internal/guard"
	"example.com/kestrel/internal/must"
)

// What waits for room on the disk is written from a timer's goroutine.
func TestPanicWhileWaitingForRoom(t *testing.T) {
	broken := make(chan error, 1)
	p := &RoomWaiter{poll: time.Millisecond, changed: func() {}, broken: func(err error) { broken <- err }}
	tries := 0
	must.OK(t, p.write(func() error {
		if tries++; tries < 3 {
			return syscall.ENOSPC
		}
		panic("writing is broken")
	}))
	var mistake *guard.PanicError
	if err := <-broken; !errors.As(err, &mistake) {
		t.Error(err)
	}
}
