package experiment

import (
	"errors"
	"fmt"

	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/rundir"
	"example.com/kestrel/internal/guard"
)

// look pauses the run while something cannot be written for want of room, and
// lets it go on when there is some.
func (r *Run) look() {
	_ = r.do(func() error { // its error is that the run is closed
		if !r.stuckNow() && r.state() == record.Paused && r.shown.Cause == record.CauseDiskFull {
			r.enter(record.Running, "there is room on the disk again")
			r.next()
		}
		return nil
	})
}

// stuckNow reports whether something cannot be written for want of room, and
// pauses a running run if so.
func (r *Run) stuckNow() bool {
	if r.stuck == nil {
		return false
	}
	err := r.stuck()
	if err != nil && r.state() == record.Running {
		r.enterFor(record.CauseDiskFull, record.Paused, fmt.Sprintf("the disk is full (%v); the run goes on by itself when there is room", err))
	}
	return err != nil
}

// waitFor lets the run write its events through p.
func (r *Run) waitFor(p *rundir.RoomWaiter) error {
	return r.do(func() error {
		r.stuck, r.remarks = p.Stuck, p.Remarks
		return nil
	})
}

// fail ends the run with what went wrong with its files.
func (r *Run) fail(err error) {
	_ = r.do(func() error {
		var p *guard.PanicError
		if errors.As(err, &p) {
			r.tellStack(p)
		}
		r.tell(err)
		return nil
	})
}
