//go:build unix

package experiment

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/kestrel/experiment/inside"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/record/recordtest"
	"example.com/kestrel/experiment/rundir"
	"example.com/kestrel/internal/must"
)

// Who watches a run hears that its log was removed, and finds it whole; where it was
// cut the run fails in words, which log.txt has.
func TestHarmedLogIsTold(t *testing.T) {
	for _, c := range []struct {
		harm  func(log string) error
		state record.State
		says  string
	}{
		{os.Remove, record.Finished, "was removed while the run wrote it"},
		{func(log string) error { return os.Truncate(log, 9) }, record.Failed, "another program cut events.jsonl"},
	} {
		dir := filepath.Join(t.TempDir(), "run")
		d, err := rundir.Create(inside.Disk{}, dir)
		must.OK(t, err)
		harmed := false
		harm := record.RecorderFunc(func(e *record.Event) error { // after the directory has the event
			if e.Type == record.EventEvaluation && !harmed {
				harmed = true
				return c.harm(filepath.Join(dir, record.EventsFile))
			}
			return nil
		})
		files, told := rundir.NewRoomWaiter(rundir.NewSaver(d, 0), time.Minute, func() {}, func(err error) { t.Error(err) }), &recordtest.Log{}
		r := fakeRun(t, newFake(3, "SE", "LIN"), record.Recorders{files, harm, told}, nil)
		must.OK(t, r.waitFor(files))
		must.OK(t, r.Start())
		settle(t, r)
		s := r.Snapshot()
		must.OK(t, r.Close())
		must.OK(t, files.Close())
		must.OK(t, d.Close())
		if s.State != c.state {
			t.Errorf("%s: %s", s.State, s.Reason)
		}
		if c.state == record.Failed {
			text, err := os.ReadFile(filepath.Join(dir, record.LogFile))
			if err != nil || !strings.Contains(s.Reason, c.says) || !strings.Contains(string(text), c.says) {
				t.Errorf("%q, %v\n%s", s.Reason, err, text)
			}
			continue
		}
		said := 0
		for i := range told.Events {
			if strings.Contains(told.Events[i].Notice, c.says) {
				said++
			}
		}
		events, err := recordtest.Read(dir)
		if err != nil || said != 1 || len(events) != len(told.Events) {
			t.Errorf("told %d times; %d events of %d, %v", said, len(events), len(told.Events), err)
		}
	}
}
