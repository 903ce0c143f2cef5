package experiment

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"example.com/kestrel/experiment/history"
	"example.com/kestrel/experiment/history/historytest"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/record/recordtest"
	"example.com/kestrel/internal/must"
)

// The run ends and is re-optimised; its History is that of the whole log.
func TestFollowARun(t *testing.T) {
	dir := recorded(t)
	l, stop := historytest.Follow(t, dir)
	events, err := recordtest.Read(dir)
	must.OK(t, err)
	l.Until(t, "the run", func(e []record.Event) bool { return len(e) == len(events) })
	end, err := os.OpenFile(filepath.Join(dir, "events.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	must.OK(t, err)
	defer end.Close()
	must.OK(t, record.NewLog(end).Append(&record.Event{V: 1, Type: record.EventState,
		State: &record.StateChange{From: record.Finished, To: record.Running}}))
	l.Until(t, "what came after its end", func(e []record.Event) bool { return len(e) == len(events)+1 })
	must.OK(t, stop())
	var h history.History
	for i := range l.Events {
		h.Apply(&l.Events[i])
	}
	if s := historytest.Summarise(l.Events); !reflect.DeepEqual(h.Standing, s.Standing) || h.Evaluation != s.Evaluation || h.Start != s.Start {
		t.Errorf("history %+v, summary %+v", &h, s)
	}
}
