package experiment

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/sbinet/npyio/npz"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/files/filestest"
	"example.com/kestrel/experiment/history/historytest"
	"example.com/kestrel/experiment/inside"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/record/recordtest"
	"example.com/kestrel/experiment/rundir"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/vbks"
)

// recorded makes a whole run of the fake trainer with a pruning in a directory.
func recorded(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "a", "run")
	d, err := rundir.Create(inside.Disk{}, dir)
	must.OK(t, err)
	r := fakeRun(t, newFake(3, "SE", "LIN*PER", `SE["a,b"]`), record.Recorders{rundir.NewSaver(d, 0)}, nil)
	must.OK(t, r.Start())
	settle(t, r)
	must.OK(t, r.Prune([]string{"LIN*PER"}))
	settle(t, r)
	must.OK(t, r.Reoptimize(vbks.Change{Rounds: 1}))
	settle(t, r)
	must.OK(t, r.Close())
	must.OK(t, d.Close())
	return dir
}

func TestDirectory(t *testing.T) {
	dir := recorded(t)
	rows := filestest.ReadCSV(t, filepath.Join(dir, "posterior.csv"))
	if got := strings.Join(rows[0],
		","); got != "evaluation,proportion,rows_seen,kernel_id,kernel,posterior,bayes,local_elbo,elbo_se,rank,status,elbo_rows,lower,upper,"+
		"point_posterior,point_bayes,windows,windows_low,windows_high,windows_rows" {
		t.Error(got)
	}
	if len(rows) != 1+3*(3+1+1) {
		t.Errorf("%d rows", len(rows))
	}
	if got := strings.Join(rows[2], "|"); got != "1|0.1|10|LIN*PER|LIN*PER, "+
		"read|0.07142857142857142|0.3333333333333333|-0.16666666666666666|0|2|live||||0.25|0.3333333333333333||||" {
		t.Error(got)
	}
	if got := strings.Join(rows[11], "|"); got != "3|0.3|30|LIN*PER|LIN*PER, read||||||pruned|||||||||" {
		t.Error(got)
	}
	rows = filestest.ReadCSV(t, filepath.Join(dir, "metrics.csv"))
	if got := strings.Join(rows[0],
		","); got != "evaluation,proportion,seconds,method,kernels,rmse,mae,nlpd,coverage95,test_rows,coverage50,coverage80,"+
		"leader_since,leader_changes,crps,interval_score" {
		t.Error(got)
	}
	if len(rows) != 1+2*5 {
		t.Errorf("%d rows of metrics", len(rows))
	}
	rows = filestest.ReadCSV(t, filepath.Join(dir, "kernels.csv"))
	want := [][]string{
		{"kernel_id", "kernel", "parameter", "column", "value", "unit"},
		{"SE", "SE, read", "SE.variance", "", "4.5", "K²"},
		{"SE", "SE, read", "SE.lengthscale", "time", "20", "s"},
		{"SE", "SE, read", "noise_variance", "", "2.25", "K²"},
	}
	if !reflect.DeepEqual(rows[:4], want) || len(rows) != 7 {
		t.Errorf("%q", rows)
	}
	if c, err := config.Load(filepath.Join(dir, "config.toml"), []config.Override{{Key: "data.path", Value: "x"}}); err != nil {
		t.Error(c, err)
	}
	events, err := recordtest.Read(dir)
	must.OK(t, err)
	if events[0].Type != record.EventStarted || events[len(events)-1].Type != record.EventFinished &&
		events[len(events)-1].Type != record.EventMetrics {
		t.Errorf("%s ... %s", events[0].Type, events[len(events)-1].Type)
	}
	for _, e := range events {
		if e.V != 1 || e.Time.IsZero() || e.Time.Location() != time.UTC {
			t.Errorf("%+v", e)
		}
	}
	log, err := os.ReadFile(filepath.Join(dir, "log.txt"))
	must.OK(t, err)
	for _, part := range []string{"running: started", "a notice", "pruned 1 kernel;", "re-optimising, rounds 1", "finished: all planned"} {
		if !strings.Contains(string(log), part) {
			t.Errorf("log.txt lacks %q:\n%s", part, log)
		}
	}
}

func TestCheckpointIsReadable(t *testing.T) {
	dir := recorded(t)
	r, err := npz.Open(filepath.Join(dir, "state", "checkpoint.npz"))
	must.OK(t, err)
	defer r.Close()
	var got []float64
	must.OK(t, r.Read("run.npy", &got))
	if shape := r.Header("run.npy").Descr.Shape; !reflect.DeepEqual(shape, []int{1, 2}) {
		t.Errorf("shape %v", shape)
	}
	if !reflect.DeepEqual(got, []float64{4, 0.1}) {
		t.Error(got)
	}
}

// A log is read up to a torn last line; damage before that is an error.
func TestTornLog(t *testing.T) {
	dir := recorded(t)
	path := filepath.Join(dir, "events.jsonl")
	text, err := os.ReadFile(path)
	must.OK(t, err)
	lines := bytes.SplitAfter(text, []byte("\n"))
	whole := len(lines) - 1
	for cut := 1; cut < len(lines[whole-1]); cut += 7 {
		must.OK(t, os.WriteFile(path, text[:len(text)-cut], 0o644))
		events, err := recordtest.Read(dir)
		if err != nil || len(events) != whole-1 {
			t.Fatalf("cut %d: %d events of %d, %v", cut, len(events), whole, err)
		}
	}
	must.OK(t, os.WriteFile(path, bytes.Replace(text, []byte(`{"v":1`), []byte(`{"v":`), 1), 0o644))
	if _, err := recordtest.Read(dir); err == nil || !strings.Contains(err.Error(), "line 1 is damaged") {
		t.Error(err)
	}
	must.OK(t, os.WriteFile(path, bytes.Replace(text, []byte(`{"v":1`), []byte(`{"v":2`), 1), 0o644))
	if _, err := recordtest.Read(dir); err == nil || !strings.Contains(err.Error(), "newer version") {
		t.Error(err)
	}
}

func TestDirectoryMessages(t *testing.T) {
	base := t.TempDir()
	full := filepath.Join(base, "full")
	must.OK(t, os.Mkdir(full, 0o755))
	must.OK(t, rundir.Check(inside.Disk{}, full)) // empty
	file := filepath.Join(full, "file")
	must.OK(t, os.WriteFile(file, nil, 0o644))
	for path, want := range map[string]string{
		full: `output directory "` + full + `" exists and is not empty; choose another with --out, or remove it`,
		file: `output directory "` + file + `" is a file; choose another with --out`,
		filepath.Join(file, "x"): `output directory "` + filepath.Join(file, "x") +
			`" cannot be written: not a directory; choose another with --out`,
	} {
		if err := rundir.Check(inside.Disk{}, path); err == nil || err.Error() != want {
			t.Errorf("got %v\nwant %s", err, want)
		}
	}
	for path, want := range map[string]string{
		filepath.Join(base, "none"): `run "` + filepath.Join(base, "none") + `" does not exist; name the directory of a run, such as runs/…`,
		full:                        `run "` + full + `" has no events.jsonl; name the directory of a run`,
		file:                        `run "` + file + `" is a file; name the directory of a run`,
	} {
		if _, err := recordtest.Read(path); err == nil || err.Error() != want {
			t.Errorf("got %v\nwant %s", err, want)
		}
	}
}

func TestDefaultPath(t *testing.T) {
	t.Chdir(t.TempDir())
	now := time.Date(2026, 1, 2, 16, 4, 5, 0, time.FixedZone("", 3600))
	path := rundir.DefaultPath("a", now)
	if path != filepath.Join("runs", "a-20260102T150405Z") {
		t.Error(path)
	}
	must.OK(t, rundir.Check(inside.Disk{}, path))
	if again := rundir.DefaultPath("a", now); again != path+"-2" {
		t.Error(again)
	}
}

func TestSummary(t *testing.T) {
	events, err := recordtest.Read(recorded(t))
	must.OK(t, err)
	var b strings.Builder
	must.OK(t, historytest.Summarise(events).WriteText(&b, time.Now()))
	for _, part := range []string{"fake  finished: all planned evaluations are done", "evaluation 4 of 4", "1 pruned, 0 failed", "vbks-s"} {
		if !strings.Contains(b.String(), part) {
			t.Errorf("the summary lacks %q:\n%s", part, b.String())
		}
	}
	b.Reset()
	must.OK(t, historytest.Summarise(events[:3]).WriteText(&b, time.Now()))
	for _, part := range []string{"the run is going on or was cut off", "no evaluation yet"} {
		if !strings.Contains(b.String(), part) {
			t.Errorf("the summary of a run under way lacks %q:\n%s", part, b.String())
		}
	}
}
