package experiment

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
	"time"

	"kestrel/internal/guard"
	"kestrel/vbks"
)

// fullDiskPoll is how often it is tried whether there is room again.
const fullDiskPoll = 2 * time.Second

// noRoom reports whether an error is about a full disk or a used up quota, as
// Unix has it.
func noRoom(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// files is what a Directory is to those that write to it. What fails for want
// of room must leave no trace that doing it again does not put right.
type files interface {
	Recorder
	Checkpointer
}

// roomWaiter writes to files, and where there is no room keeps what is to be
// written until there is.
type roomWaiter struct {
	to      files
	poll    time.Duration
	changed func()      // something was kept or written; called from a goroutine of its own
	broken  func(error) // so is this, with what else went wrong with what was kept

	mu      sync.Mutex
	waiting []func() error
	lacking error // why they wait, nil if they do not
	timer   *time.Timer
	closed  bool
}

// newRoomWaiter makes a roomWaiter that tries again after so long.
func newRoomWaiter(to files, poll time.Duration, changed func(), broken func(error)) *roomWaiter {
	return &roomWaiter{to: to, poll: poll, changed: changed, broken: broken}
}

// Record implements Recorder.
func (p *roomWaiter) Record(e *Event) error {
	return p.write(func() error { return p.to.Record(e) })
}

// Checkpoint implements Checkpointer.
func (p *roomWaiter) Checkpoint(arrays map[string]vbks.Tensor) error {
	return p.write(func() error { return p.to.Checkpoint(arrays) })
}

func (p *roomWaiter) write(f func() error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting = append(p.waiting, f)
	return p.flush()
}

// flush writes what waits, in order.
func (p *roomWaiter) flush() error {
	for len(p.waiting) > 0 {
		err := p.waiting[0]()
		if noRoom(err) {
			p.lacking = err
			if !p.closed {
				go p.changed()
				if p.timer == nil {
					p.timer = time.AfterFunc(p.poll, p.again)
				}
			}
			return nil
		}
		p.waiting = p.waiting[1:]
		if err != nil {
			return err
		}
	}
	if p.lacking != nil {
		p.lacking = nil
		go p.changed()
	}
	return nil
}

// again tries whether there is room.
func (p *roomWaiter) again() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.timer = nil
	if p.closed {
		return
	}
	if err := guard.Do(p.flush); err != nil {
		go p.broken(err)
	}
}

// stuck returns why something waits, nil if nothing does.
func (p *roomWaiter) stuck() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lacking
}

// close tries a last time and returns an error if something is left.
func (p *roomWaiter) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	if p.timer != nil {
		p.timer.Stop()
	}
	if err := p.flush(); err != nil {
		return err
	}
	if len(p.waiting) > 0 {
		return fmt.Errorf("%w; what came last could not be written: make room and resume the run", p.lacking)
	}
	return nil
}

// look pauses the run while something cannot be written for want of room, and
// lets it go on when there is some.
func (r *Run) look() {
	_ = r.do(func() error { // its error is that the run is closed
		if !r.stuckNow() && r.state() == Paused && r.shown.Cause == CauseDiskFull {
			r.enter(Running, "there is room on the disk again")
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
	if err != nil && r.state() == Running {
		r.enterFor(CauseDiskFull, Paused, fmt.Sprintf("the disk is full (%v); the run goes on by itself when there is room", err))
	}
	return err != nil
}

// waitFor lets the run write its events through p.
func (r *Run) waitFor(p *roomWaiter) error {
	return r.do(func() error {
		r.stuck = p.stuck
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

// allOrNothing writes to files at their ends, all or nothing as far as the disk lets
// it: what a failed write left behind is cut again. A torn last line is
// understood by all readers, so where that fails, too, no harm is done.
func allOrNothing(write func() error, files ...*os.File) error {
	ends := make([]int64, len(files))
	for i, f := range files {
		var err error
		if ends[i], err = f.Seek(0, io.SeekCurrent); err != nil {
			return err
		}
	}
	err := write()
	if err == nil {
		return nil
	}
	for i, f := range files {
		if f.Truncate(ends[i]) == nil {
			_, _ = f.Seek(ends[i], io.SeekStart)
		}
	}
	return err
}
