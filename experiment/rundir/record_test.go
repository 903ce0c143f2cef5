package rundir_test

import (
	"os"
	"path/filepath"
	"testing"

	"example.com/kestrel/experiment/inside"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/record/recordtest"
	"example.com/kestrel/experiment/rundir"
	"example.com/kestrel/internal/must"
)

// A directory goes on with an event where it failed: no row comes twice, none is
// torn.
func TestRecordAgain(t *testing.T) {
	events := recordtest.Eventful()
	want := filepath.Join(t.TempDir(), "run")
	d, err := rundir.Create(inside.Disk{}, want)
	must.OK(t, err)
	for i := range events {
		must.OK(t, d.Record(&events[i]))
	}
	must.OK(t, d.Close())
	dir := filepath.Join(t.TempDir(), "run")
	d, err = rundir.Create(inside.Disk{}, dir)
	must.OK(t, err)
	failed := 0
	for i := range events {
		files := d.GrowingFiles()
		var good, bad []inside.File
		for _, file := range files {
			f, err := os.Open((*file).Name()) // for reading: it takes nothing
			must.OK(t, err)
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
			must.OK(t, bad[k].Close())
		}
		if !recorded {
			must.OK(t, d.Record(&events[i]))
		}
	}
	must.OK(t, d.Close())
	if failed < 3*len(events) {
		t.Errorf("%d failures for %d events", failed, len(events))
	}
	for _, name := range []string{record.PosteriorFile, record.MetricsFile, record.KernelsFile, record.EventsFile, record.LogFile} {
		a, errA := os.ReadFile(filepath.Join(dir, name))
		b, errB := os.ReadFile(filepath.Join(want, name))
		if errA != nil || errB != nil || string(a) != string(b) {
			t.Errorf("%s differs: %v, %v\n%s\n%s", name, errA, errB, a, b)
		}
	}
}
