package history

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"example.com/kestrel/experiment/inside"
	"example.com/kestrel/experiment/record"
)

// What Follow hands over at once, at most, and how it waits.
const (
	followEvents = 2000
	followBytes  = 4 << 20
	followPoll   = 200 * time.Millisecond // where none is given
	restPoll     = time.Second            // at least, once the run is at rest
)

// Follow reads the event log of a run directory from its beginning and goes on
// as another process appends to it, looking every poll (0: 200 ms). put is
// given the events in order, a few thousand at most, and may keep the slice; an
// incomplete last line waits until it is whole. Where the log is cut short or
// replaced, record.EventAnew comes first and it is read again. A run that is at rest
// may be re-optimised, so Follow goes on until ctx ends, and then returns nil.
// Errors are those of record.Each, except that a log may be empty.
func Follow(ctx context.Context, dir string, poll time.Duration, put func([]record.Event)) error {
	if poll <= 0 {
		poll = followPoll
	}
	f := &follower{dir: dir, put: put}
	defer f.close()
	if err := f.open(); err != nil {
		return err
	}
	timer := time.NewTimer(poll)
	defer timer.Stop()
	for {
		if err := f.drain(ctx); err != nil {
			return err
		}
		wait := poll
		if f.run.State.Settled() {
			wait = max(wait, restPoll)
		}
		timer.Reset(wait)
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		}
		if err := f.reopenIfReplaced(); err != nil {
			return err
		}
	}
}

// follower is one log being followed.
type follower struct {
	dir  string
	put  func([]record.Event)
	file *os.File
	log  *record.Decoder
	head []byte // how the log begins, to know it again
	run  record.Standing
	gone bool
}

// headSize is enough to tell two logs apart: an event begins with its time.
const headSize = 128

func (f *follower) open() error {
	file, err := record.Open(f.dir)
	if err != nil {
		return err
	}
	f.close()
	f.file, f.log = file, record.NewDecoder(file)
	f.head, f.run, f.gone = nil, record.Standing{}, false
	return nil
}

func (f *follower) close() {
	if f.file != nil {
		f.file.Close()
	}
}

// drain hands over what there is.
func (f *follower) drain(ctx context.Context) error {
	if len(f.head) < headSize {
		var err error
		if f.head, err = f.begin(); err != nil {
			return err
		}
	}
	for {
		begun := f.log.Read
		var events []record.Event
		end := false
		for len(events) < followEvents && f.log.Read-begun < followBytes && ctx.Err() == nil {
			e, err := f.log.Next()
			if err == io.EOF {
				end = true
				break
			}
			if err != nil {
				f.hand(events)
				return fmt.Errorf("%s: %w", filepath.Join(f.dir, record.EventsFile), err)
			}
			f.run.Apply(e)
			events = append(events, *e)
		}
		f.hand(events)
		if end || ctx.Err() != nil {
			return nil
		}
	}
}

// begin reads how the log begins.
func (f *follower) begin() ([]byte, error) {
	head := make([]byte, headSize)
	n, err := f.file.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("%s: %w", f.file.Name(), err)
	}
	return head[:n], nil
}

func (f *follower) hand(events []record.Event) {
	if len(events) > 0 {
		f.put(events)
	}
}

// tell hands over a remark of Follow's own.
func (f *follower) tell(what record.EventType, text string) {
	f.put([]record.Event{{V: record.Version, Type: what, Time: time.Now().UTC(), Notice: text}})
}

// look says what has the name of the log now; a link is not followed.
func (f *follower) look() (fs.FileInfo, error) {
	d, err := inside.Open(f.dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	if err := d.CheckFile(record.EventsFile); err != nil {
		return nil, err
	}
	return d.Lstat(record.EventsFile)
}

// reopenIfReplaced begins anew where the file is another one, or shorter than
// what has been read of it, or begins otherwise.
func (f *follower) reopenIfReplaced() error {
	path := filepath.Join(f.dir, record.EventsFile)
	now, err := f.look()
	if err != nil {
		if !f.gone {
			f.gone = true
			f.tell(record.EventNotice, fmt.Sprintf("%s cannot be read any more: %v", record.EventsFile, err))
		}
		return nil // it may come back
	}
	before, err := f.file.Stat()
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	same := os.SameFile(before, now) && now.Size() >= f.log.Read+int64(len(f.log.Line))
	if same {
		head, err := f.begin()
		if err != nil {
			return err
		}
		same = bytes.HasPrefix(head, f.head)
	}
	if same {
		f.gone = false
		return nil
	}
	if err := f.open(); err != nil {
		return err
	}
	f.tell(record.EventAnew, record.EventsFile+" has been replaced; it is read from its beginning")
	return nil
}
