//go:build unix

package rundir_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/kestrel/experiment/inside"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/record/recordtest"
	"example.com/kestrel/experiment/rundir"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/vbks"
)

// halfWay makes a run directory with the first of some events; want is what its log
// is to hold in the end.
func halfWay(t *testing.T) (d *rundir.Directory, rest []record.Event, want []byte) {
	t.Helper()
	events := recordtest.Eventful()
	path := filepath.Join(t.TempDir(), "whole")
	d, err := rundir.Create(inside.Disk{}, path)
	must.OK(t, err)
	for i := range events {
		must.OK(t, d.Record(&events[i]))
	}
	must.OK(t, d.Close())
	want, err = os.ReadFile(filepath.Join(path, record.EventsFile))
	must.OK(t, err)
	d, err = rundir.Create(inside.Disk{}, filepath.Join(t.TempDir(), "run"))
	must.OK(t, err)
	half := len(events) / 2
	for i := range events[:half] {
		must.OK(t, d.Record(&events[i]))
	}
	if len(d.Remarks()) > 0 {
		t.Error("there was nothing to remark on")
	}
	return d, events[half:], want
}

// recordAll records events and returns the remarks and the first error.
func recordAll(d *rundir.Directory, events []record.Event) (remarks []string, err error) {
	for i := range events {
		if e := d.Record(&events[i]); err == nil {
			err = e
		}
		remarks = append(remarks, d.Remarks()...)
	}
	return remarks, err
}

// A log that was removed, replaced or appended to while the run writes it is put
// right, also after the last event, and what others wrote is kept.
func TestLogIsPutRight(t *testing.T) {
	theirs := []byte("theirs\n")
	for what, c := range map[string]struct {
		harm  func(log string) error
		says  string
		aside []byte // what is kept of others
	}{
		"removed": {os.Remove, "was removed while", nil},
		"replaced": {func(log string) error {
			return errors.Join(os.WriteFile(log+"~", theirs, 0o644), os.Rename(log+"~", log))
		},
			"was replaced", theirs},
		"a link": {func(log string) error {
			return errors.Join(os.WriteFile(log+"~", theirs, 0o644), os.Remove(log), os.Symlink(log+"~", log))
		}, "was replaced", theirs},
		"a folder": {func(log string) error { return errors.Join(os.Remove(log), os.Mkdir(log, 0o755)) }, "was replaced", nil},
		"appended": {func(log string) error {
			f, err := os.OpenFile(log, os.O_WRONLY|os.O_APPEND, 0)
			if err == nil {
				_, err = f.Write(theirs)
				err = errors.Join(err, f.Close())
			}
			return err
		}, "appended 7 bytes", theirs},
	} {
		for _, atEnd := range []bool{false, true} {
			d, rest, want := halfWay(t)
			log := filepath.Join(d.Path, record.EventsFile)
			if atEnd {
				_, err := recordAll(d, rest)
				must.OK(t, err)
			}
			must.OK(t, c.harm(log))
			if !atEnd {
				remarks, err := recordAll(d, rest)
				if err != nil || len(remarks) != 1 || !strings.Contains(remarks[0], c.says) {
					t.Errorf("%s: %q, %v", what, remarks, err)
				}
			}
			must.OK(t, d.Close())
			if got, err := os.ReadFile(log); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s (at the end: %v): the log is\n%s\n%v, want\n%s", what, atEnd, got, err, want)
			}
			if c.aside == nil {
				continue
			}
			kept, err := filepath.Glob(log + ".*")
			must.OK(t, err)
			if len(kept) != 1 {
				t.Fatalf("%s: %q is kept", what, kept)
			}
			if text, err := os.ReadFile(kept[0]); err != nil || !bytes.Equal(text, c.aside) {
				t.Errorf("%s: %q, %v is kept", what, text, err)
			}
		}
	}
}

// A log that was cut is an error, once, which says what to do; all else is written.
func TestCutLogEndsTheRun(t *testing.T) {
	d, rest, _ := halfWay(t)
	log := filepath.Join(d.Path, record.EventsFile)
	must.OK(t, os.Truncate(log, 100))
	err := d.Record(&rest[0])
	if err == nil || !strings.Contains(err.Error(), "another program cut events.jsonl") || !strings.Contains(err.Error(), "--from-start") ||
		strings.Contains(err.Error(), "\n") {
		t.Error(err)
	}
	_, err = recordAll(d, rest[1:])
	must.OK(t, err) // how the run ends goes to log.txt
	must.OK(t, d.Close())
	if info, err := os.Stat(log); err != nil || info.Size() != 100 {
		t.Errorf("the log is %v, %v", info.Size(), err)
	}
	whole, err := rundir.Create(inside.Disk{}, filepath.Join(t.TempDir(), "run"))
	must.OK(t, err)
	_, err = recordAll(whole, recordtest.Eventful())
	must.OK(t, err)
	must.OK(t, whole.Close())
	for _, name := range append(rundir.TableFiles(), record.LogFile) {
		got, errGot := os.ReadFile(filepath.Join(d.Path, name))
		want, errWant := os.ReadFile(filepath.Join(whole.Path, name))
		if errGot != nil || errWant != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %v, %v\n%s\nwant\n%s", name, errGot, errWant, got, want)
		}
	}
}

// A log that was changed and removed is not written anew.
func TestChangedLogIsNotWrittenAnew(t *testing.T) {
	d, rest, _ := halfWay(t)
	log := filepath.Join(d.Path, record.EventsFile)
	f, err := os.OpenFile(log, os.O_WRONLY, 0)
	must.OK(t, err)
	_, err = f.WriteString("changed")
	must.OK(t, errors.Join(err, f.Close(), os.Remove(log)))
	if err := d.Record(&rest[0]); err == nil || !strings.Contains(err.Error(), "changed and removed") {
		t.Error(err)
	}
	must.OK(t, d.Close())
}

// A run goes on in a directory that was moved, and says so once; where it was removed
// it ends.
func TestMovedDirectory(t *testing.T) {
	d, rest, want := halfWay(t)
	moved := d.Path + ".moved"
	must.OK(t, os.Rename(d.Path, moved))
	remarks, err := recordAll(d, rest)
	if err != nil || len(remarks) != 1 || !strings.Contains(remarks[0], "is not at "+d.Path+" any more") {
		t.Errorf("%q, %v", remarks, err)
	}
	must.OK(t, rundir.NewSaver(d, 0).Checkpoint(map[string]vbks.Tensor{}))
	must.OK(t, d.Close())
	if got, err := os.ReadFile(filepath.Join(moved, record.EventsFile)); err != nil || !bytes.Equal(got, want) {
		t.Errorf("the log is\n%s\n%v, want\n%s", got, err, want)
	}
	if _, err := os.Stat(filepath.Join(moved, record.StateDir, record.CheckpointFile)); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(d.Path); !os.IsNotExist(err) {
		t.Errorf("there is something where it was: %v", err)
	}
	d, rest, _ = halfWay(t)
	must.OK(t, os.RemoveAll(d.Path))
	if _, err := recordAll(d, rest); err == nil || !strings.Contains(err.Error(), "was removed while it ran") {
		t.Error(err)
	}
	d.Close()
}
