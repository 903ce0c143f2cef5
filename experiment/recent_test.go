package experiment

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/kestrel/datasets"
	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/history/historytest"
	"example.com/kestrel/experiment/library"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/record/recordtest"
	"example.com/kestrel/experiment/rundir"
	"example.com/kestrel/internal/must"
)

// What the list says of a run agrees with its whole log, wherever it is cut.
func TestRunInfoAgreesWithTheLog(t *testing.T) {
	dir := recorded(t)
	must.OK(t, os.RemoveAll(filepath.Join(dir, record.StateDir))) // its owner's note too
	path := filepath.Join(dir, "events.jsonl")
	text, err := os.ReadFile(path)
	must.OK(t, err)
	lines := bytes.SplitAfter(text, []byte("\n"))
	for n := 1; n < len(lines); n++ {
		torn := append(bytes.Join(lines[:n], nil), `{"v":1,"ty`...)
		must.OK(t, os.WriteFile(path, torn, 0o644))
		events, err := recordtest.Read(dir)
		must.OK(t, err)
		want := historytest.Summarise(events)
		got := library.ReadRunInfo(dir)
		if got.Err != "" || got.Name != want.Name || got.Fate != want.State || want.State != record.Running && got.Reason != want.Reason ||
			!got.Started.Equal(want.Started) ||
			!got.Last.Equal(want.Time) || got.Seconds != float64(want.Seconds) || got.Kernels != 3 || got.Live || got.Word() != string(got.Fate) {
			t.Fatalf("%d lines: %+v\nwant %+v", n, got, want)
		}
		rmse := math.NaN()
		if len(want.Metrics) > 0 {
			rmse = float64(want.Metrics[0].RMSE)
		}
		if !recordtest.Same(got.RMSE, rmse) {
			t.Errorf("%d lines: RMSE %v, want %v", n, got.RMSE, rmse)
		}
		if e := want.Evaluation; e != nil {
			if l := e.Leader(); got.Evaluations != e.Index || got.Planned != e.Planned || got.Leader != l.ID || got.LeaderName != l.ID+", read" ||
				got.Posterior != float64(l.Fit.Posterior) {
				t.Errorf("%d lines: %+v", n, got)
			}
		} else if got.Leader != "" || !math.IsNaN(got.Posterior) {
			t.Errorf("%d lines: %+v", n, got)
		}
	}
}

// Of a long log only the beginning and the end are read.
func TestRunInfoOfALongLog(t *testing.T) {
	dir := t.TempDir()
	f, err := os.Create(filepath.Join(dir, record.EventsFile))
	must.OK(t, err)
	defer f.Close()
	l := record.NewLog(f)
	must.OK(t, l.Append(&record.Event{V: 1, Type: record.EventStarted, Start: &record.Start{Name: "long", Data: &datasets.Summary{},
		Kernels: make([]record.KernelInfo, 7)}}))
	must.OK(t, l.Append(&record.Event{V: 1, Type: record.EventState, State: &record.StateChange{From: record.Ready, To: record.Running}}))
	// A hole of 400 MB takes no place and would be no event.
	_, err = f.Seek(400<<20, io.SeekCurrent)
	must.OK(t, err)
	_, err = f.WriteString("\n")
	must.OK(t, err)
	for i := range 40 {
		e := recordtest.Evaluation(100+i, 200, 0.5, []float64{0.25, 0.75})
		e.Kernels[0].Fit.Source = strings.Repeat("x", 20_000)
		must.OK(t, l.Append(&record.Event{V: 1, Type: record.EventEvaluation, Evaluation: e, Seconds: files.Number(i)}))
	}
	if r := library.ReadRunInfo(dir); r.Err != "" || r.Fate != record.Running || r.Evaluations != 139 || r.Leader != "k1" ||
		r.Posterior != 0.75 || r.Seconds != 39 || r.Kernels != 7 {
		t.Errorf("%+v", r)
	}
}

func TestRecentRuns(t *testing.T) {
	root := filepath.Join(t.TempDir(), "runs")
	if runs, err := library.RecentRuns(root, 5); err != nil || len(runs) != 0 {
		t.Errorf("%v, %v", runs, err)
	}
	source := recorded(t)
	text, err := os.ReadFile(filepath.Join(source, "events.jsonl"))
	must.OK(t, err)
	began := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	age := 0
	put := func(path string, text []byte) {
		t.Helper()
		dir := filepath.Join(root, path)
		must.OK(t, os.MkdirAll(dir, 0o755))
		file := filepath.Join(dir, "events.jsonl")
		must.OK(t, os.WriteFile(file, text, 0o644))
		age++
		at := began.Add(time.Duration(age) * time.Hour)
		must.OK(t, os.Chtimes(file, at, at))
	}
	first, rest, _ := bytes.Cut(text, []byte("\n"))
	put("oldest", text)
	put("repeat/001", text)
	put("repeat/002", text)
	put("empty", nil)
	put("damaged", []byte("nonsense\nnonsense\n"))
	put("future", bytes.Replace(text, []byte(`"v":1`), []byte(`"v":7`), 1))
	put("end", append(append(append([]byte{}, first...), "\nnonsense\n"...), rest[:bytes.IndexByte(rest, '\n')+1]...))
	put("other/deeper/001", text) // is none of ours
	put(".hidden", text)
	put("cut", append(first, '\n'))
	must.OK(t, os.WriteFile(filepath.Join(root, "a file"), nil, 0o644))
	must.OK(t, os.MkdirAll(filepath.Join(root, "a folder"), 0o755))
	own, err := rundir.Claim(filepath.Join(root, "cut"))
	must.OK(t, err)

	runs, err := library.RecentRuns(root, 0)
	must.OK(t, err)
	var got []string
	for _, r := range runs {
		path, err := filepath.Rel(root, r.Path)
		must.OK(t, err)
		got = append(got, fmt.Sprintf("%s %s %v %s", filepath.ToSlash(path), r.Word(), r.Live, r.Err))
	}
	want := []string{
		"cut ready true ",
		"end damaged false a line near its end is damaged: invalid character 'o' in literal null (expecting 'u')",
		"future damaged false line 1 was written by a newer version of the program (format 7, known is 1); use that version",
		"damaged damaged false line 1 is damaged: invalid character 'o' in literal null (expecting 'u')",
		"empty damaged false no event yet",
		"repeat/002 finished false ",
		"repeat/001 finished false ",
		"oldest finished false ",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	must.OK(t, own.Close())
	if runs, err = library.RecentRuns(root, 1); err != nil || len(runs) != 1 || runs[0].Word() != "crashed" || runs[0].Live {
		t.Errorf("%+v, %v", runs, err)
	}
	if _, err := library.RecentRuns(filepath.Join(root, "a file"), 1); err == nil {
		t.Error("a file has runs")
	}
}
