package rundir

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"example.com/kestrel/experiment/inside"
	"example.com/kestrel/experiment/record"
)

// lostLog is the error of an event log that was damaged while the run wrote it, so
// that the run cannot go on.
type lostLog struct{ what string }

func (e *lostLog) Error() string { return e.what }

func errRemoved() error {
	return &lostLog{"the directory of the run was removed while it ran, and what it had written with it; run it again"}
}

// keepLog looks whether the event log still is where and what it was, for others may
// remove, replace or cut it, or move the directory. It puts right what can be and
// remarks on it; nothing that it finds is lost. The error is a lostLog where the log
// is not whole any more.
func (d *Directory) keepLog() error {
	_, end := d.events.Ends()
	open, err := d.events.File.Stat()
	if err != nil {
		return fmt.Errorf("event log: %w", err)
	}
	there, err := d.dir.Lstat(record.EventsFile)
	switch {
	case errors.Is(err, fs.ErrNotExist) && d.dir.Gone():
		return errRemoved()
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("event log: %w", err)
	}
	if !d.moved && d.dir.Moved() {
		d.moved = true
		d.remark("the directory of the run is not at %s any more; the run goes on writing to where it was moved: kestrel open shows it there",
			d.Path)
	}
	if open.Size() < end.Bytes {
		return &lostLog{fmt.Sprintf("another program cut %s from %d to %d bytes while the run wrote it; the tables, %s and %s/%s are whole, "+
			"kestrel predict works with them; put a copy of %s back and resume the run, or resume it with --from-start",
			record.EventsFile, end.Bytes, open.Size(), record.LogFile, record.StateDir, record.CheckpointFile, record.EventsFile)}
	}
	if open.Size() > end.Bytes && d.events.Cut == nil {
		if err := d.cutForeign(end.Bytes, open.Size()); err != nil {
			return fmt.Errorf("event log: %w", err)
		}
	}
	if err == nil && os.SameFile(open, there) {
		return nil
	}
	what := "was removed"
	if err == nil {
		aside, err := d.asideOf("replaced")
		if err == nil {
			err = d.dir.Rename(record.EventsFile, aside)
		}
		if err != nil {
			return fmt.Errorf("event log: %w", err)
		}
		what = fmt.Sprintf("was replaced, by what is now %s,", aside)
	}
	if err := d.rewriteLog(end); errors.Is(err, fs.ErrNotExist) {
		return errRemoved()
	} else if err != nil {
		return err
	}
	d.remark("%s %s while the run wrote it; it has been written anew, whole", record.EventsFile, what)
	return nil
}

// cutForeign moves what another program has appended to the log to a file of its own.
func (d *Directory) cutForeign(end, size int64) error {
	aside, err := d.asideOf("appended")
	if err != nil {
		return err
	}
	err = d.dir.Replace(aside, func(to inside.File) error {
		_, err := io.Copy(to, io.NewSectionReader(d.events.File, end, size-end))
		return err
	})
	if err == nil {
		err = d.events.File.Truncate(end)
	}
	if err == nil {
		d.remark("another program has appended %d bytes to %s while the run wrote it; they are now in %s", size-end, record.EventsFile, aside)
	}
	return err
}

// asideOf is an unused name beside the log.
func (d *Directory) asideOf(what string) (string, error) {
	base := fmt.Sprintf("%s.%s-%s", record.EventsFile, what, time.Now().UTC().Format("20060102T150405Z"))
	name := base
	for i := 2; ; i++ {
		if _, err := d.dir.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			return name, nil
		} else if err != nil {
			return "", err
		}
		name = fmt.Sprintf("%s-%d", base, i)
	}
}

// rewriteLog writes the log to its place from the file that the run still has open,
// which has no name any more, and goes on with that.
func (d *Directory) rewriteLog(end record.Place) error {
	if err := d.placeLog(end, nil); err != nil {
		return fmt.Errorf("event log: %w", err)
	}
	d.events.Cut = nil // what was behind it is gone
	return nil
}

// cutLog writes the log anew with a line in the place of what stands behind its end, so
// that a reader finds the one or the other.
func (d *Directory) cutLog(line []byte) error {
	_, end := d.events.Ends()
	return d.placeLog(end, line)
}

// placeLog writes the log to its place as it is up to its end, with a line more, and goes
// on with that.
func (d *Directory) placeLog(end record.Place, line []byte) error {
	old := d.events.File
	closed := false
	err := d.dir.Replace(record.EventsFile, func(to inside.File) error {
		sum := sha256.New()
		if _, err := io.Copy(io.MultiWriter(to, sum), io.NewSectionReader(old, 0, end.Bytes)); err != nil {
			return err
		}
		if [sha256.Size]byte(sum.Sum(nil)) != end.Sum {
			return &lostLog{fmt.Sprintf("another program changed and removed %s while the run wrote it; resume the run with --from-start",
				record.EventsFile)}
		}
		if line == nil { // it has no name: what is open is all that there is
			return nil
		}
		if _, err := to.Write(line); err != nil {
			return err
		}
		closed = true
		return old.Close() // Windows replaces nothing that is open
	})
	if err != nil && !closed {
		return err
	}
	at := end.Bytes
	if err == nil {
		at += int64(len(line))
	}
	file, e := d.dir.OpenToWrite(record.EventsFile)
	if e == nil {
		d.events.File = file
		_, e = file.Seek(at, io.SeekStart)
	}
	if !closed {
		_ = old.Close() // all of it is in the other
	}
	if err == nil {
		err = e
	}
	return err
}

// remark keeps what the run is to tell.
func (d *Directory) remark(format string, args ...any) {
	d.remarks = append(d.remarks, fmt.Sprintf(format, args...))
}

// Remarks returns what was found out since it was last called, to be told as
// notices.
func (d *Directory) Remarks() []string {
	out := d.remarks
	d.remarks = nil
	return out
}
