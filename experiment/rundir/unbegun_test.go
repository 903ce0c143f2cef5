package rundir_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/kestrel/experiment/inside"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/record/recordtest"
	"example.com/kestrel/experiment/rundir"
	"example.com/kestrel/internal/must"
)

// A run that was killed before its first event, wherever that was, does not keep
// another from its directory.
func TestKilledBeforeItsFirstEvent(t *testing.T) {
	files := []string{record.EventsFile, record.LogFile, record.PosteriorFile, record.MetricsFile, record.KernelsFile,
		record.BaselinesFile}
	for left := range len(files) + 1 { // of them
		for _, torn := range []bool{false, true} {
			dir := filepath.Join(t.TempDir(), "run")
			d, err := rundir.Create(inside.Disk{}, dir)
			must.OK(t, err)
			must.OK(t, d.Close())
			for _, name := range files[left:] {
				must.OK(t, os.Remove(filepath.Join(dir, name)))
			}
			if torn && left == len(files) {
				must.OK(t, os.WriteFile(filepath.Join(dir, ".kernels.csv.kestrel-1-2"), []byte("kern"), 0o644))
			} else if torn && left > 2 {
				must.OK(t, os.Truncate(filepath.Join(dir, files[left-1]), 9))
			}
			must.OK(t, rundir.Check(inside.Disk{}, dir))
			if d, err = rundir.Create(inside.Disk{}, dir); err != nil {
				t.Fatalf("%d files: %v", left, err)
			}
			events := recordtest.Eventful()
			for i := range events {
				must.OK(t, d.Record(&events[i]))
			}
			must.OK(t, d.Close())
			if leftovers, _ := filepath.Glob(filepath.Join(dir, ".*")); len(leftovers) > 0 {
				t.Errorf("%d files: left %v", left, leftovers)
			}
		}
	}
}

// What has begun, holds anything else or is still owned is left as it is.
func TestNotKilledBeforeItsFirstEvent(t *testing.T) {
	for what, c := range map[string]struct{ name, text string }{
		"an event": {record.EventsFile, "{}"}, "a line of the log": {record.LogFile, "a"}, "a row": {record.MetricsFile, "1,2"},
		"the user's": {"notes.txt", ""}, "in its state": {"state/notes.txt", ""},
	} {
		dir := filepath.Join(t.TempDir(), "run")
		d, err := rundir.Create(inside.Disk{}, dir)
		must.OK(t, err)
		must.OK(t, d.Close())
		f, err := os.OpenFile(filepath.Join(dir, c.name), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		must.OK(t, err)
		_, err = f.WriteString(c.text)
		must.OK(t, err)
		must.OK(t, f.Close())
		before, err := os.ReadDir(dir)
		must.OK(t, err)
		if err := rundir.Check(inside.Disk{}, dir); err == nil || !strings.Contains(err.Error(), "exists and is not empty") {
			t.Errorf("%s: %v", what, err)
		}
		if after, err := os.ReadDir(dir); err != nil || len(after) != len(before) {
			t.Errorf("%s: %d files, were %d: %v", what, len(after), len(before), err)
		}
	}
	dir := filepath.Join(t.TempDir(), "run")
	d, err := rundir.Create(inside.Disk{}, dir)
	must.OK(t, err)
	defer d.Close()
	if err := rundir.Check(inside.Disk{}, dir); err == nil || !strings.Contains(err.Error(), "is being written by process ") {
		t.Error(err)
	}
	if _, err := os.Lstat(filepath.Join(dir, record.EventsFile)); err != nil {
		t.Error(err)
	}
}
