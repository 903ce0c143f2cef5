package rundir_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/rundir"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/vbks"
)

// slow is a directory whose checkpoints take a while. It writes down what was done, and when.
type slow struct {
	began time.Time
	takes time.Duration

	mu     sync.Mutex
	said   []string
	under  int
	most   int     // writes at a time
	errors []error // of the next writes
	panics bool
}

func (d *slow) say(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.said = append(d.said, fmt.Sprintf("%g ", time.Since(d.began).Seconds())+fmt.Sprintf(format, args...))
}

func (d *slow) log() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.said)
}

func (d *slow) Record(e *record.Event) error {
	what := string(e.Type)
	if e.State != nil {
		what = string(e.State.To)
	}
	d.say("%s", what)
	return nil
}

func (d *slow) Ready(arrays map[string]vbks.Tensor) (map[string]vbks.Tensor, error) {
	return arrays, nil
}

func (d *slow) Save(ready map[string]vbks.Tensor) error {
	d.mu.Lock()
	d.under++
	d.most = max(d.most, d.under)
	var err error
	if len(d.errors) > 0 {
		err, d.errors = d.errors[0], d.errors[1:]
	}
	panics := d.panics
	d.mu.Unlock()
	time.Sleep(d.takes)
	d.mu.Lock()
	d.under--
	d.mu.Unlock()
	if panics {
		panic("a mistake")
	}
	if err == nil {
		d.say("saved %v", ready["run"].Data[0])
	}
	return err
}

// learned is what evaluation n has learned, of so many bytes.
func learned(n float64, bytes int) map[string]vbks.Tensor {
	big := make([]float64, bytes/8)
	return map[string]vbks.Tensor{"run": {Shape: []int{1}, Data: []float64{n}}, "big": {Shape: []int{len(big)}, Data: big}}
}

func to(s record.State) *record.Event {
	return &record.Event{Type: record.EventState, State: &record.StateChange{To: s}}
}

// saving is a run of evaluations that take 25 s each, from 0 on, with a Saver that writes to d.
func saving(t *testing.T, d *slow, pause time.Duration, bytes, evaluations int) *rundir.Saver {
	t.Helper()
	s := rundir.NewSaver(d, pause)
	d.began = time.Now()
	must.OK(t, s.Record(to(record.Running)))
	for i := range evaluations {
		time.Sleep(25 * time.Second)
		must.OK(t, s.Record(&record.Event{Type: record.EventEvaluation}))
		must.OK(t, s.Checkpoint(learned(float64(i+1), bytes)))
	}
	return s
}

func equal(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Small checkpoints are there when the evaluation is; large ones are written beside the work,
// the newest of each minute, one at a time, and all when the run has come to rest: before that is
// recorded.
func TestSaver(t *testing.T) {
	const large = rundir.LargeCheckpoint
	synctest.Test(t, func(t *testing.T) {
		d := &slow{takes: time.Second}
		s := saving(t, d, rundir.AsTheyTake, 1000, 2)
		must.OK(t, s.Record(to(record.Finished)))
		must.OK(t, s.Record(&record.Event{Type: record.EventFinished}))
		equal(t, "small", d.log(), "0 running", "25 evaluation", "26 saved 1", "51 evaluation", "52 saved 2", "52 finished", "52 finished")
		if r := s.Remarks(); len(r) > 0 {
			t.Errorf("remarks %q", r)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		d := &slow{takes: 7 * time.Second}
		s := saving(t, d, rundir.AsTheyTake, large, 6)
		time.Sleep(time.Second)
		must.OK(t, s.Record(to(record.Stopping)))
		must.OK(t, s.Record(to(record.Stopped)))
		must.OK(t, s.Record(&record.Event{Type: record.EventFinished, State: &record.StateChange{To: record.Stopped}}))
		must.OK(t, s.Close())
		equal(t, "large", d.log(), "0 running", "25 evaluation", "32 saved 1", "50 evaluation", "75 evaluation", "99 saved 3", "100 evaluation",
			"125 evaluation", "150 evaluation", "151 stopping", "158 saved 6", "158 stopped", "158 stopped")
		r := s.Remarks()
		if len(r) != 2 || !strings.Contains(r[0], "a checkpoint of 17 MB was written beside the work in 7.0s") ||
			!strings.Contains(r[0], "at most every 60 s") || r[1] != "3 checkpoints were written beside the work, 51 MB in 21s" {
			t.Errorf("remarks %q", r)
		}
	})
	synctest.Test(t, func(t *testing.T) { // slower than evaluations
		d := &slow{takes: 40 * time.Second}
		s := saving(t, d, 12*time.Second, 1000, 4)
		must.OK(t, s.Record(to(record.Paused)))
		time.Sleep(time.Hour)
		must.OK(t, s.Checkpoint(learned(5, 1000))) // an order while it is paused
		must.OK(t, s.Record(to(record.Running)))
		equal(t, "slow", d.log(), "0 running", "25 evaluation", "50 evaluation", "65 saved 1", "75 evaluation", "100 evaluation", "100 paused",
			"117 saved 3", "157 saved 4", "3740 saved 5", "3740 running")
		if d.most != 1 {
			t.Errorf("%d writes at a time", d.most)
		}
	})
	synctest.Test(t, func(t *testing.T) { // small ones that take long
		d := &slow{takes: 3 * time.Second}
		s := saving(t, d, rundir.AsTheyTake, 1000, 3)
		must.OK(t, s.Close())
		equal(t, "dear", d.log(), "0 running", "25 evaluation", "28 saved 1", "53 evaluation", "78 evaluation", "81 saved 3")
	})
	synctest.Test(t, func(t *testing.T) { // behind an order what waits is written
		d := &slow{takes: time.Second}
		s := saving(t, d, time.Hour, 1000, 2)
		must.OK(t, s.Record(&record.Event{Type: record.EventReoptimised}))
		time.Sleep(5 * time.Second)
		equal(t, "ordered", d.log(), "0 running", "25 evaluation", "26 saved 1", "50 evaluation", "50 reoptimised", "51 saved 2")
	})
}

// What goes wrong with a checkpoint beside the work is told with the next event, if it goes wrong
// once more; where the disk is full that waits for room.
func TestSaverFails(t *testing.T) {
	broken := errors.New("broken")
	full := &os.PathError{Op: "write", Path: "c", Err: syscall.ENOSPC}
	synctest.Test(t, func(t *testing.T) {
		d := &slow{errors: []error{broken}}
		s := saving(t, d, time.Hour, 1000, 1)
		synctest.Wait()
		must.OK(t, s.Record(&record.Event{Type: record.EventMetrics}))
		equal(t, "once", d.log(), "0 running", "25 evaluation", "25 saved 1", "25 metrics")
	})
	synctest.Test(t, func(t *testing.T) {
		d := &slow{errors: []error{broken, broken}}
		s := saving(t, d, time.Hour, 1000, 1)
		synctest.Wait()
		if err := s.Record(&record.Event{Type: record.EventMetrics}); !errors.Is(err, broken) {
			t.Errorf("error %v", err)
		}
		must.OK(t, s.Record(to(record.Failed)))
		must.OK(t, s.Close())
		equal(t, "twice", d.log(), "0 running", "25 evaluation", "25 failed")
	})
	synctest.Test(t, func(t *testing.T) {
		d := &slow{panics: true}
		s := saving(t, d, time.Hour, 1000, 1)
		synctest.Wait()
		if err := s.Record(&record.Event{Type: record.EventMetrics}); err == nil || !strings.Contains(err.Error(), "a mistake") {
			t.Errorf("error %v", err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		d := &slow{errors: []error{full, full, full}}
		s := saving(t, d, time.Hour, 1000, 1)
		synctest.Wait()
		w := rundir.NewRoomWaiter(s, time.Second, func() {}, func(err error) { t.Error(err) })
		must.OK(t, w.Record(&record.Event{Type: record.EventMetrics}))
		if err := w.Stuck(); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("it does not wait: %v", err)
		}
		time.Sleep(time.Minute)
		equal(t, "full", d.log(), "0 running", "25 evaluation", "27 saved 1", "27 metrics")
		must.OK(t, errors.Join(w.Stuck(), w.Close(), s.Close()))
	})
	synctest.Test(t, func(t *testing.T) { // also at rest
		d := &slow{errors: []error{full, full, full}}
		s := saving(t, d, time.Hour, 1000, 1)
		w := rundir.NewRoomWaiter(s, time.Second, func() {}, func(err error) { t.Error(err) })
		must.OK(t, w.Record(to(record.Finished)))
		time.Sleep(time.Minute)
		equal(t, "full at rest", d.log(), "0 running", "25 evaluation", "27 saved 1", "27 finished")
		must.OK(t, errors.Join(w.Close(), s.Close()))
	})
}
