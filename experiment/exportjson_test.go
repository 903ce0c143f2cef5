package experiment

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"example.com/kestrel/experiment/finding"
	"example.com/kestrel/experiment/history"
	"example.com/kestrel/experiment/history/historytest"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/record/recordtest"
	"example.com/kestrel/experiment/rundir"
	"example.com/kestrel/internal/must"
)

// The object that is written bit by bit is the one that all events at once make,
// and events that come after the reading are not in it.
func TestJSONExport(t *testing.T) {
	dir := recorded(t)
	path := filepath.Join(dir, record.EventsFile)
	whole, err := os.ReadFile(path)
	must.OK(t, err)
	ends := []int{}
	for i, b := range whole {
		if b == '\n' {
			ends = append(ends, i+1)
		}
	}
	for _, kept := range []int{1, 2, 5, len(ends)} {
		must.OK(t, os.WriteFile(path, whole[:ends[kept-1]], 0o644))
		events, err := recordtest.Read(dir)
		must.OK(t, err)
		all := struct {
			*history.Summary
			Evaluations []*record.Evaluation `json:"evaluations"`
			Metrics     []record.Metric      `json:"metrics"`
		}{Summary: historytest.Summarise(events)}
		owner, _ := rundir.OwnerOf(dir)
		all.Fate = rundir.Fate(&all.Standing, owner) // that of a summary of events alone is not known
		all.Finding = finding.As(&all.Standing, all.Fate, dir).Text()
		for i := range events {
			if e := events[i].Evaluation; e != nil {
				all.Evaluations = append(all.Evaluations, e)
			}
			all.Metrics = append(all.Metrics, events[i].Metrics...)
		}
		var want, got bytes.Buffer
		in := json.NewEncoder(&want)
		in.SetIndent("", "  ")
		in.SetEscapeHTML(false)
		must.OK(t, in.Encode(all))
		x, err := history.ReadJSON(t.Context(), dir)
		must.OK(t, err)
		must.OK(t, os.WriteFile(path, whole, 0o644)) // it goes on
		must.OK(t, x.Write(t.Context(), &got))
		if !bytes.Equal(got.Bytes(), want.Bytes()) {
			t.Errorf("%d events:\n%s\nwant\n%s", kept, got.Bytes(), want.Bytes())
		}
	}
	must.OK(t, os.WriteFile(path, nil, 0o644))
	if _, err := history.ReadJSON(t.Context(), dir); err == nil {
		t.Error("a log without events is exported")
	}
}
