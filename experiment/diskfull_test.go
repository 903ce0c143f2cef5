package experiment

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"sync"
	"syscall"
	"testing"
	"time"

	"kestrel/vbks"
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

func (n *narrow) Record(e *Event) error { return n.take(string(e.Type)) }

func (n *narrow) Checkpoint(map[string]vbks.Tensor) error { return n.take("checkpoint") }

func (n *narrow) clear() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.cleared = true
}

// narrowRun makes a run that writes to such a disk, with a little time between
// its events.
func narrowRun(t *testing.T, disk *narrow, poll time.Duration, others ...Recorder) (*Run, *roomWaiter) {
	t.Helper()
	var r *Run
	files := newRoomWaiter(disk, poll, func() { r.look() }, func(err error) { t.Error(err) }) // not before the run is started
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
	r = fakeRun(t, f, append(Recorders{files}, others...), nil)
	must(t, r.waitFor(files))
	return r, files
}

// A full disk pauses the run, which goes on by itself when there is room;
// nothing is lost or changes its order.
func TestFullDiskPauses(t *testing.T) {
	paused := 0
	for room := range 16 {
		disk, l := &narrow{room: room}, &log{}
		r, files := narrowRun(t, disk, 5*time.Millisecond, l)
		must(t, r.Start())
		// It may be at rest, and what it said last still be waiting.
		for began := time.Now(); r.Snapshot().State != Finished || files.stuck() != nil; time.Sleep(time.Millisecond) {
			if s := r.Snapshot().State; s == Paused || s == Finished {
				disk.clear()
			}
			if time.Since(began) > time.Minute {
				t.Fatalf("room for %d: the run is %s: %s", room, r.Snapshot().State, r.Snapshot().Reason)
			}
		}
		must(t, files.close())
		var told, written []string
		l.mu.Lock()
		for i := range l.events {
			told = append(told, string(l.events[i].Type))
			if s := l.events[i].State; s != nil && s.To == Paused {
				paused++
			}
		}
		l.mu.Unlock()
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
	must(t, r.Start())
	for began := time.Now(); r.Snapshot().State != Paused && !r.Snapshot().State.Settled(); time.Sleep(time.Millisecond) {
		if time.Since(began) > time.Minute {
			t.Fatal("the run is not paused")
		}
	}
	must(t, r.Stop("enough"))
	if err := files.close(); err == nil || !errors.Is(err, syscall.ENOSPC) {
		t.Error(err)
	}
}

// A directory goes on with an event where it failed: no row comes twice, none is
// torn.
func TestRecordAgain(t *testing.T) {
	want := filepath.Join(t.TempDir(), "run")
	_, _ = runIn(t, small(t), want)
	events, err := ReadEvents(want)
	must(t, err)
	dir := filepath.Join(t.TempDir(), "run")
	d, err := CreateDirectory(dir)
	must(t, err)
	failed := 0
	for i := range events {
		files := d.GrowingFiles()
		var good, bad []*os.File
		for _, file := range files {
			f, err := os.Open((*file).Name()) // for reading: it takes nothing
			must(t, err)
			good, bad = append(good, *file), append(bad, f)
			*file = f
		}
		recorded := false
		for k, file := range files {
			// An event that the files left say nothing of is through.
			if !recorded && d.Record(&events[i]) == nil {
				recorded = true
			} else if !recorded {
				failed++
			}
			*file = good[k]
			must(t, bad[k].Close())
		}
		if !recorded {
			must(t, d.Record(&events[i]))
		}
	}
	must(t, d.Close())
	if failed < 3*len(events) {
		t.Errorf("%d failures for %d events", failed, len(events))
	}
	for _, name := range []string{posteriorFile, metricsFile, kernelsFile, eventsFile, logFile} {
		a, errA := os.ReadFile(filepath.Join(dir, name))
		b, errB := os.ReadFile(filepath.Join(want, name))
		if errA != nil || errB != nil || string(a) != string(b) {
			t.Errorf("%s differs: %v, %v\n%s\n%s", name, errA, errB, a, b)
		}
	}
}
