package rundir

import (
	"fmt"
	"io"
	"math"
	"sync"
	"time"

	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/words"
	"example.com/kestrel/internal/guard"
	"example.com/kestrel/vbks"
)

// A checkpoint is written beside the work where it has so many bytes or the last one took so
// long, and then PauseBetween is between two of them.
const (
	LargeCheckpoint = 16 << 20
	dearCheckpoint  = 2 * time.Second
	PauseBetween    = time.Minute
)

// AsTheyTake is the pause of a Saver by which small checkpoints follow each evaluation.
const AsTheyTake time.Duration = -1

// saved is what a Saver writes to.
type saved interface {
	record.Recorder
	// Ready makes a checkpoint of what has been learned, which rests on what was recorded last.
	Ready(arrays map[string]vbks.Tensor) (map[string]vbks.Tensor, error)
	// Save writes it, beside all else.
	Save(ready map[string]vbks.Tensor) error
}

// Saver writes what a run has learned to its directory: small checkpoints at once, others beside
// the work, one at a time, and not before a pause behind the last one has passed. Where the run
// does not work, and behind orders, none waits; when it has come to rest all is on the disk. What a
// kill loses is made again: a checkpoint rests on its place in the log, wherever that ends.
// Methods are called one at a time.
type Saver struct {
	to    saved
	pause time.Duration
	auto  bool // the pause is for those that are large or dear

	mu      sync.Mutex
	next    map[string]vbks.Tensor // what is to be written; nil: nothing
	under   chan struct{}          // closed when the write under way has ended; nil: none is
	wake    *time.Timer            // when the pause has passed; nil: nothing waits for that
	failed  error                  // of the last write beside the work
	ended   time.Time              // when the last write did
	took    time.Duration          // it
	works   bool                   // the run does
	beside  tally
	remarks []string
}

// tally counts what was written beside the work.
type tally struct {
	writes int
	bytes  int64
	time   time.Duration
}

// NewSaver makes one that writes at most one checkpoint in so long a time while the run works,
// with 0 one after each evaluation; with AsTheyTake, the one or the other.
func NewSaver(to saved, pause time.Duration) *Saver {
	s := &Saver{to: to, pause: pause, auto: pause < 0}
	if s.auto {
		s.pause = PauseBetween
	}
	return s
}

// Record implements record.Recorder. What went wrong with a checkpoint is told here, too, after
// it was tried once more.
func (s *Saver) Record(e *record.Event) error {
	settles, fails := false, false
	if e.State != nil {
		settles, fails = e.State.To.Settled(), e.State.To == record.Failed
	}
	s.follow(e)
	if err := s.settle(settles); err != nil && (!fails || noRoom(err)) { // that it fails is recorded all the same
		return err
	}
	if err := s.to.Record(e); err != nil {
		return err
	}
	if e.Type == record.EventFinished {
		s.sum()
	}
	return nil
}

// follow goes by what an event says of the run: what waits is written where nothing or an order
// comes next.
func (s *Saver) follow(e *record.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e.State != nil {
		s.works = e.State.To == record.Running
	}
	switch e.Type {
	case record.EventState, record.EventFinished:
		if !s.works {
			s.start()
		}
	case record.EventPruned, record.EventRestored, record.EventReoptimised, record.EventData:
		s.start()
	}
}

// settle returns when all is written, where it must be: at rest, and where a write has failed.
func (s *Saver) settle(rests bool) error {
	s.mu.Lock()
	failed := s.failed != nil
	s.mu.Unlock()
	if rests || failed {
		return s.drain()
	}
	return nil
}

// Checkpoint implements record.Checkpointer.
func (s *Saver) Checkpoint(arrays map[string]vbks.Tensor) error {
	ready, err := s.to.Ready(arrays)
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.next = ready
	waits := s.works && s.failed == nil && s.apart(bytesOf(ready))
	if waits {
		s.arm()
	}
	s.mu.Unlock()
	if waits {
		return nil
	}
	return s.drain()
}

// apart reports whether a checkpoint is written beside the work.
func (s *Saver) apart(bytes int64) bool {
	if s.auto {
		return bytes >= LargeCheckpoint || s.took >= dearCheckpoint
	}
	return s.pause > 0
}

// arm has what waits written when the pause has passed; the lock is held.
func (s *Saver) arm() {
	if s.next == nil || s.under != nil || s.wake != nil {
		return
	}
	left := s.pause - time.Since(s.ended)
	if s.ended.IsZero() || left <= 0 {
		s.start()
		return
	}
	s.wake = time.AfterFunc(left, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.wake = nil
		s.start()
	})
}

// start begins to write what waits, unless a write is under way or has failed; the lock is held.
func (s *Saver) start() {
	if s.next == nil || s.under != nil || s.failed != nil {
		return
	}
	what, done := s.next, make(chan struct{})
	s.next, s.under = nil, done
	go func() {
		defer close(done)
		err := s.write(what)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.under = nil
		switch {
		case err != nil:
			s.failed = err
			s.keep(what)
		case s.works:
			s.count(bytesOf(what))
			s.arm()
		default:
			s.count(bytesOf(what))
			s.start()
		}
	}()
}

// keep has what could not be written wait again, unless there is something newer.
func (s *Saver) keep(what map[string]vbks.Tensor) {
	if s.next == nil {
		s.next = what
	}
}

// write writes a checkpoint and notes how long that took.
func (s *Saver) write(what map[string]vbks.Tensor) error {
	began := time.Now()
	err := guard.Do(func() error { return s.to.Save(what) })
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = time.Now()
	s.took = s.ended.Sub(began)
	return err
}

// count tells of the first write beside the work, and counts it; the lock is held.
func (s *Saver) count(bytes int64) {
	s.beside.writes++
	s.beside.bytes += bytes
	s.beside.time += s.took
	if s.beside.writes == 1 {
		s.remark("a checkpoint of %s was written beside the work in %s; the next ones come at most every %g s, and at stops: what a kill "+
			"leaves out of them is made again", words.Megabytes(bytes), words.ShortDuration(s.took), s.pause.Seconds())
	}
}

// sum tells what the checkpoints beside the work took in all.
func (s *Saver) sum() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b := s.beside; b.writes > 1 {
		s.remark("%d checkpoints were written beside the work, %s in %s", b.writes, words.Megabytes(b.bytes), words.ShortDuration(b.time))
	}
}

// remark keeps what the run is to tell; the lock is held.
func (s *Saver) remark(format string, args ...any) {
	s.remarks = append(s.remarks, fmt.Sprintf(format, args...))
}

// drain writes all that waits and returns when nothing is under way.
func (s *Saver) drain() error {
	for {
		s.mu.Lock()
		under, what := s.under, s.next
		if under == nil {
			s.next, s.failed = nil, nil
			if s.wake != nil {
				s.wake.Stop()
				s.wake = nil
			}
		}
		s.mu.Unlock()
		switch {
		case under != nil:
			<-under
			continue
		case what == nil:
			return nil
		}
		err := s.write(what)
		if noRoom(err) { // there will be some
			s.mu.Lock()
			s.failed = err
			s.keep(what)
			s.mu.Unlock()
		}
		if err != nil {
			return err
		}
	}
}

// Model writes the model file, if what is written to has one.
func (s *Saver) Model(write func(io.Writer) error) error {
	if to, ok := s.to.(record.Modeller); ok {
		return to.Model(write)
	}
	return nil
}

// Remarks returns what was found out since it was last called, also by what is written to.
func (s *Saver) Remarks() []string {
	s.mu.Lock()
	out := s.remarks
	s.remarks = nil
	s.mu.Unlock()
	if to, ok := s.to.(remarker); ok {
		out = append(out, to.Remarks()...)
	}
	return out
}

// remarker is what has something to tell besides errors.
type remarker interface{ Remarks() []string }

// Close writes what is left.
func (s *Saver) Close() error { return s.drain() }

// bytesOf is about how large the file of a checkpoint is.
func bytesOf(arrays map[string]vbks.Tensor) int64 {
	n := 0
	for _, a := range arrays {
		n += a.Len()
	}
	return 8 * int64(n)
}

// PauseOf is the pause of a Saver in seconds, as a config has it.
func PauseOf(seconds float64) time.Duration {
	if seconds < 0 {
		return AsTheyTake
	}
	return time.Duration(math.Round(seconds * float64(time.Second)))
}
