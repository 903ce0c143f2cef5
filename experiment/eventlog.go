package experiment

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// eventLog appends events to a file, one a line, each in a single write. It
// knows where it stands, so that a checkpoint can say which event it rests on.
type eventLog struct {
	file *os.File
	hash hash.Hash // of all lines
	end  logPlace  // of the last line
	last logPlace  // where that line begins
}

// logPlace is a place in an event log.
type logPlace struct {
	bytes int64
	sum   [sha256.Size]byte // of what stands before it
}

// newEventLog begins a log in an empty file.
func newEventLog(file *os.File) *eventLog {
	l := &eventLog{file: file, hash: sha256.New()}
	l.end.sum = [sha256.Size]byte(l.hash.Sum(nil))
	l.last = l.end
	return l
}

func (l *eventLog) append(e *Event) error {
	line, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("event %s cannot be written: %w", e.Type, err)
	}
	line = append(line, '\n')
	if err := allOrNothing(func() error { _, err := l.file.Write(line); return err }, l.file); err != nil {
		return fmt.Errorf("event log: %w", err)
	}
	l.hash.Write(line) // never fails
	l.last = l.end
	l.end.bytes += int64(len(line))
	l.end.sum = [sha256.Size]byte(l.hash.Sum(nil))
	return nil
}

// openEvents opens the event log of a run directory.
func openEvents(dir string) (*os.File, error) {
	file, err := os.Open(filepath.Join(dir, eventsFile))
	if err == nil {
		return file, nil
	}
	info, statErr := os.Stat(dir)
	switch {
	case errors.Is(statErr, fs.ErrNotExist):
		return nil, fmt.Errorf("run %q does not exist; name the directory of a run, such as runs/…", dir)
	case statErr == nil && !info.IsDir():
		return nil, fmt.Errorf("run %q is a file; name the directory of a run", dir)
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("run %q has no %s; name the directory of a run", dir, eventsFile)
	}
	return nil, fmt.Errorf("run %q cannot be read: %w", dir, err)
}

// ReadEvents reads the event log of a run directory, whether the run is
// finished, crashed or still running: a last line that is not complete is left
// out.
func ReadEvents(dir string) ([]Event, error) {
	var events []Event
	err := eachEvent(context.Background(), dir, func(e *Event) { events = append(events, *e) })
	if err != nil {
		return nil, err
	}
	return events, nil
}

var errNoEvents = errors.New("has no events yet; it ended before it began")

// eachEvent reads the event log of a run directory, as ReadEvents does, one
// event at a time. A log without events is an error, and so is the end of ctx.
func eachEvent(ctx context.Context, dir string, take func(*Event)) error {
	file, err := openEvents(dir)
	if err != nil {
		return err
	}
	defer file.Close()
	d := newEventDecoder(file)
	for n := 0; ; n++ {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		e, err := d.next()
		switch {
		case err == io.EOF && n == 0:
			return fmt.Errorf("run %q %w", dir, errNoEvents)
		case err == io.EOF:
			return nil
		case err != nil:
			return fmt.Errorf("%s: %w", filepath.Join(dir, eventsFile), err)
		}
		take(e)
	}
}

// longestLine is more than any event takes, in bytes.
const longestLine = 256 << 20

// eventDecoder reads events from a log that may still grow.
type eventDecoder struct {
	in     *bufio.Reader
	number int    // of the line begun
	line   []byte // as far as it is there
	bad    error  // what is wrong with the line before, if it is not the last
	read   int64  // bytes of all complete lines
}

func newEventDecoder(r io.Reader) *eventDecoder {
	return &eventDecoder{in: bufio.NewReaderSize(r, 1<<20), number: 1}
}

// next returns the next event. At io.EOF it may be called again when there is
// more: a line that is not complete, or is damaged and the last, is being
// written or was torn by a crash.
func (d *eventDecoder) next() (*Event, error) {
	for {
		part, err := d.in.ReadSlice('\n')
		if d.bad != nil && len(part) > 0 {
			return nil, d.bad
		}
		d.line = append(d.line, part...)
		switch {
		case err == bufio.ErrBufferFull && len(d.line) < longestLine:
			continue
		case err == bufio.ErrBufferFull:
			return nil, fmt.Errorf("line %d is damaged: it does not end", d.number)
		case err != nil:
			return nil, err
		}
		e, err := decodeEvent(d.line, d.number)
		d.read += int64(len(d.line))
		d.line = d.line[:0]
		d.number++
		var damage *damagedLine
		switch {
		case errors.As(err, &damage):
			d.bad = err
		case err != nil || e != nil:
			return e, err
		}
	}
}

// damagedLine is the error of a line that is not an event.
type damagedLine struct {
	number int
	err    error
}

func (e *damagedLine) Error() string { return fmt.Sprintf("line %d is damaged: %v", e.number, e.err) }
func (e *damagedLine) Unwrap() error { return e.err }

// decodeEvent reads a line of the log; an empty one is no event.
func decodeEvent(line []byte, number int) (*Event, error) {
	if line = bytes.TrimSpace(line); len(line) == 0 {
		return nil, nil
	}
	var e Event
	if err := json.Unmarshal(line, &e); err != nil {
		return nil, &damagedLine{number, err}
	}
	if e.V > EventVersion {
		return nil, fmt.Errorf("line %d was written by a newer version of the program (format %d, known is %d); use that version", number, e.V, EventVersion)
	}
	return &e, nil
}
