package experiment

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/record/recordtest"
	"example.com/kestrel/experiment/rundir"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/vbks"
)

// narrow is a disk that is full for a number of writes after a number of
// others. What it takes it keeps in order.
type narrow struct {
	mu      sync.Mutex
	room    int  // writes before it is full
	cleared bool // it is full no more
	written []string
}

func (n *narrow) take(what string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.room == 0 && !n.cleared {
		return fmt.Errorf("event log: %w", &os.PathError{Op: "write", Path: "events.jsonl", Err: syscall.ENOSPC})
	}
	if n.room > 0 {
		n.room--
	}
	n.written = append(n.written, what)
	return nil
}

func (n *narrow) Record(e *record.Event) error { return n.take(string(e.Type)) }

func (n *narrow) Checkpoint(map[string]vbks.Tensor) error { return n.take("checkpoint") }

func (n *narrow) clear() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.cleared = true
}

// narrowRun makes a run that writes to such a disk, with a little time between
// its events.
func narrowRun(t *testing.T, disk *narrow, poll time.Duration, others ...record.Recorder) (*Run, *rundir.RoomWaiter) {
	t.Helper()
	var r *Run
	files := rundir.NewRoomWaiter(disk, poll, func() { r.look() }, func(err error) { t.Error(err) }) // not before the run is started
	f := newFake(3, "SE", "LIN")
	f.steps = make(chan struct{})
	go func() {
		for {
			select {
			case f.steps <- struct{}{}:
				time.Sleep(300 * time.Microsecond)
			case <-t.Context().Done():
				return
			}
		}
	}()
	r = fakeRun(t, f, append(record.Recorders{files}, others...), nil)
	must.OK(t, r.waitFor(files))
	return r, files
}

// A full disk pauses the run, which goes on by itself when there is room;
// nothing is lost or changes its order.
func TestFullDiskPauses(t *testing.T) {
	paused := 0
	for room := range 16 {
		disk, l := &narrow{room: room}, &recordtest.Log{}
		r, files := narrowRun(t, disk, 5*time.Millisecond, l)
		must.OK(t, r.Start())
		// It may be at rest, and what it said last still be waiting.
		for began := time.Now(); r.Snapshot().State != record.Finished || files.Stuck() != nil; time.Sleep(time.Millisecond) {
			if s := r.Snapshot().State; s == record.Paused || s == record.Finished {
				disk.clear()
			}
			if time.Since(began) > time.Minute {
				t.Fatalf("room for %d: the run is %s: %s", room, r.Snapshot().State, r.Snapshot().Reason)
			}
		}
		must.OK(t, files.Close())
		var told, written []string
		l.Mu.Lock()
		for i := range l.Events {
			told = append(told, string(l.Events[i].Type))
			if s := l.Events[i].State; s != nil && s.To == record.Paused {
				paused++
			}
		}
		l.Mu.Unlock()
		checkpoints := 0
		for _, w := range disk.written {
			if w == "checkpoint" {
				checkpoints++
			} else {
				written = append(written, w)
			}
		}
		if !reflect.DeepEqual(written, told) || checkpoints != 3 {
			t.Errorf("room for %d: written %q and %d checkpoints, happened %q", room, written, checkpoints, told)
		}
	}
	if paused < 8 { // some are at their end before
		t.Errorf("%d of 16 runs were paused", paused)
	}
}

// A run that is stopped while the disk is full says what is missing.
func TestFullDiskAtTheEnd(t *testing.T) {
	r, files := narrowRun(t, &narrow{room: 3}, time.Millisecond)
	must.OK(t, r.Start())
	for began := time.Now(); r.Snapshot().State != record.Paused && !r.Snapshot().State.Settled(); time.Sleep(time.Millisecond) {
		if time.Since(began) > time.Minute {
			t.Fatal("the run is not paused")
		}
	}
	must.OK(t, r.Stop("enough"))
	if err := files.Close(); err == nil || !errors.Is(err, syscall.ENOSPC) {
		t.Error(err)
	}
}

// A run that waits for room on the disk ends when it is closed, and so do the
// attempts to write what waits.
func TestGoroutinesEndWithAFullDisk(t *testing.T) {
	for room := range 12 {
		synctest.Test(t, func(t *testing.T) {
			r, files := narrowRun(t, &narrow{room: room}, time.Second)
			must.OK(t, r.Start())
			time.Sleep(10 * time.Second)
			if s := r.Snapshot(); room < 8 && s.State != record.Paused {
				t.Errorf("room for %d: the run is %s", room, s.State)
			}
			must.OK(t, r.Close())
			if err := files.Close(); err != nil && !errors.Is(err, syscall.ENOSPC) {
				t.Error(err)
			}
		})
	}
}
