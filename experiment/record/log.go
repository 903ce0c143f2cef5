package record

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

	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/inside"
)

// Log appends events to a file, one a line, each in a single write. It
// knows where it stands, so that a checkpoint can say which event it rests on.
type Log struct {
	File inside.File

	// Cut, if it is not nil, writes the next event, with a line end, in the place of what
	// stands behind the place that the log was read up to.
	Cut func(line []byte) error

	hash hash.Hash // of all lines
	end  Place     // of the last line
	last Place     // where that line begins
}

// Place is a place in an event log.
type Place struct {
	Bytes int64
	Sum   [sha256.Size]byte // of what stands before it
}

// NewLog begins a log in an empty file, or in one that Skip reads on.
func NewLog(file inside.File) *Log {
	l := &Log{File: file, hash: sha256.New()}
	l.end.Sum = [sha256.Size]byte(l.hash.Sum(nil))
	l.last = l.end
	return l
}

// Append writes an event. If it returns an error nothing of the event is there, as
// far as the disk lets it.
func (l *Log) Append(e *Event) error {
	line, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("event %s cannot be written: %w", e.Type, err)
	}
	line = append(line, '\n')
	if l.Cut != nil {
		err = l.Cut(line)
	} else {
		err = files.AllOrNothing(func() error { _, err := l.File.Write(line); return err }, l.File)
	}
	if err != nil {
		return fmt.Errorf("event log: %w", err)
	}
	l.Cut = nil
	l.hash.Write(line) // never fails
	l.last = l.end
	l.end.Bytes += int64(len(line))
	l.end.Sum = [sha256.Size]byte(l.hash.Sum(nil))
	return nil
}

// Ends returns where the last event begins and where it ends.
func (l *Log) Ends() (last, end Place) { return l.last, l.end }

// Skip reads on to a place of so many bytes, as if its events had been appended.
func (l *Log) Skip(to int64) (Place, error) {
	n, err := io.CopyN(l.hash, l.File, to-l.end.Bytes)
	l.end.Bytes += n
	l.end.Sum = [sha256.Size]byte(l.hash.Sum(nil))
	return l.end, err
}

// Open opens the event log of a run directory.
func Open(dir string) (*os.File, error) {
	d, err := inside.Open(dir)
	if err == nil {
		defer d.Close()
		return OpenIn(d)
	}
	info, statErr := os.Stat(dir)
	switch {
	case errors.Is(statErr, fs.ErrNotExist):
		return nil, fmt.Errorf("run %q does not exist; name the directory of a run, such as runs/…", dir)
	case statErr == nil && !info.IsDir():
		return nil, fmt.Errorf("run %q is a file; name the directory of a run", dir)
	}
	return nil, fmt.Errorf("run %q cannot be read: %w", dir, err)
}

// CheckFiles returns an inside.Refused if one of the files of a run is something else
// than a file, or its state folder something else than a folder. Any may be missing,
// and who may not look will hear of it where it matters.
func CheckFiles(d *inside.Dir) error {
	err := d.CheckFolder(StateDir)
	for _, name := range []string{EventsFile, ConfigFile, PosteriorFile, MetricsFile, KernelsFile, BaselinesFile, LogFile, ModelFile,
		TableFile, StateDir + "/" + CheckpointFile} {
		if errors.As(err, new(*inside.Refused)) {
			return err
		}
		err = d.CheckFile(name)
	}
	if errors.As(err, new(*inside.Refused)) {
		return err
	}
	return nil
}

// OpenIn is Open for a directory that is open already.
func OpenIn(d *inside.Dir) (*os.File, error) {
	if err := CheckFiles(d); err != nil {
		return nil, err
	}
	file, err := d.Open(EventsFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("run %q has no %s; name the directory of a run", d.Path(), EventsFile)
	case errors.As(err, new(*inside.Refused)):
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("run %q cannot be read: %w", d.Path(), err)
	}
	return file, nil
}

// ErrNoEvents is below the error of an empty log.
var ErrNoEvents = errors.New("has no events yet; it ended before it began")

// Each reads the event log of a run directory, whether the run is finished, crashed
// or still running, one event at a time: a last line that is not complete is left
// out. A log without events is an error, and so is the end of ctx.
func Each(ctx context.Context, dir string, take func(*Event)) error {
	file, err := Open(dir)
	if err != nil {
		return err
	}
	defer file.Close()
	d := NewDecoder(file)
	for n := 0; ; n++ {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		e, err := d.Next()
		switch {
		case err == io.EOF && n == 0:
			return fmt.Errorf("run %q %w", dir, ErrNoEvents)
		case err == io.EOF:
			return nil
		case err != nil:
			return fmt.Errorf("%s: %w", filepath.Join(dir, EventsFile), err)
		}
		take(e)
	}
}

// LongestLine is more than any event takes, in bytes.
const LongestLine = 256 << 20

// Decoder reads events from a log that may still grow.
type Decoder struct {
	in     *bufio.Reader
	number int    // of the line begun
	Line   []byte // as far as it is there
	bad    error  // what is wrong with the line before, if it is not the last
	Read   int64  // bytes of all complete lines

	longest int // LongestLine
}

// NewDecoder reads from the beginning of a log.
func NewDecoder(r io.Reader) *Decoder {
	return &Decoder{in: bufio.NewReaderSize(r, 1<<20), number: 1, longest: LongestLine}
}

// Next returns the next event. At io.EOF it may be called again when there is
// more: a line that is not complete, or is damaged and the last, is being
// written or was torn by a crash.
func (d *Decoder) Next() (*Event, error) {
	for {
		part, err := d.in.ReadSlice('\n')
		if d.bad != nil && len(part) > 0 {
			return nil, d.bad
		}
		d.Line = append(d.Line, part...)
		switch {
		case err == bufio.ErrBufferFull && len(d.Line) < d.longest:
			continue
		case err == bufio.ErrBufferFull:
			return nil, fmt.Errorf("line %d is damaged: it does not end", d.number)
		case err != nil:
			return nil, err
		}
		e, err := Decode(d.Line, d.number)
		d.Read += int64(len(d.Line))
		d.Line = d.Line[:0]
		d.number++
		var damage *DamagedLine
		switch {
		case errors.As(err, &damage):
			d.bad = err
		case err != nil || e != nil:
			return e, err
		}
	}
}

// DamagedLine is the error of a line that is not an event.
type DamagedLine struct {
	number int
	Err    error
}

func (e *DamagedLine) Error() string { return fmt.Sprintf("line %d is damaged: %v", e.number, e.Err) }

func (e *DamagedLine) Unwrap() error { return e.Err }

// Decode reads a line of the log; an empty one is no event.
func Decode(line []byte, number int) (*Event, error) {
	if line = bytes.TrimSpace(line); len(line) == 0 {
		return nil, nil
	}
	var e Event
	if err := json.Unmarshal(line, &e); err != nil {
		return nil, &DamagedLine{number, err}
	}
	if e.V > Version {
		return nil, fmt.Errorf("line %d was written by a newer version of the program (format %d, known is %d); use that version", number, e.V,
			Version)
	}
	return &e, nil
}

// ReadStart returns how a run began.
func ReadStart(ctx context.Context, dir string) (*Start, error) {
	var start *Start
	err := Each(ctx, dir, func(e *Event) {
		if e.Start != nil {
			start = e.Start
		}
	})
	if err == nil && start == nil {
		err = fmt.Errorf("run %q %w", dir, ErrNoEvents)
	}
	return start, err
}
