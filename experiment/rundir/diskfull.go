package rundir

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"syscall"
	"time"

	"example.com/kestrel/experiment/record"
	"example.com/kestrel/internal/guard"
	"example.com/kestrel/vbks"
)

// FullDiskPoll is how often it is tried whether there is room again.
const FullDiskPoll = 2 * time.Second

// noRoom reports whether an error is about a full disk or a used up quota, as
// Unix has it.
func noRoom(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// writer is what a Saver of a Directory is to those that write to it. What fails for want
// of room must leave no trace that doing it again does not put right.
type writer interface {
	record.Recorder
	record.Checkpointer
}

// RoomWaiter writes to a directory, and where there is no room keeps what is to be
// written until there is.
type RoomWaiter struct {
	to      writer
	poll    time.Duration
	changed func()      // something was kept or written; called from a goroutine of its own
	broken  func(error) // so is this, with what else went wrong with what was kept

	mu      sync.Mutex
	waiting []func() error
	lacking error // why they wait, nil if they do not
	timer   *time.Timer
	closed  bool
}

// NewRoomWaiter makes a RoomWaiter that tries again after so long.
func NewRoomWaiter(to writer, poll time.Duration, changed func(), broken func(error)) *RoomWaiter {
	return &RoomWaiter{to: to, poll: poll, changed: changed, broken: broken}
}

// Record implements Recorder.
func (p *RoomWaiter) Record(e *record.Event) error {
	return p.write(func() error { return p.to.Record(e) })
}

// Checkpoint implements Checkpointer.
func (p *RoomWaiter) Checkpoint(arrays map[string]vbks.Tensor) error {
	return p.write(func() error { return p.to.Checkpoint(arrays) })
}

// Model writes the model file, if the directory has one. It does not wait for room: a
// run can be modelled again.
func (p *RoomWaiter) Model(write func(io.Writer) error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if to, ok := p.to.(record.Modeller); ok && len(p.waiting) == 0 {
		return to.Model(write)
	}
	return nil
}

func (p *RoomWaiter) write(f func() error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting = append(p.waiting, f)
	return p.flush()
}

// flush writes what waits, in order.
func (p *RoomWaiter) flush() error {
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
func (p *RoomWaiter) again() {
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

// Stuck returns why something waits, nil if nothing does.
func (p *RoomWaiter) Stuck() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lacking
}

// Remarks are those of the directory.
func (p *RoomWaiter) Remarks() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if to, ok := p.to.(remarker); ok {
		return to.Remarks()
	}
	return nil
}

// Close tries a last time and returns an error if something is left.
func (p *RoomWaiter) Close() error {
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
