package experiment

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/kestrel/experiment/files/filestest"
	"example.com/kestrel/experiment/rundir"
	"example.com/kestrel/internal/must"
)

// The tables are those that the run itself wrote, and those of a log that is
// being written end with its last whole line.
func TestExportRun(t *testing.T) {
	dir := recorded(t)
	out := filepath.Join(dir, "export")
	must.OK(t, rundir.Export(dir, out))
	must.OK(t, rundir.Export(dir, out)) // again, over the first
	for _, name := range []string{"posterior.csv", "metrics.csv", "kernels.csv"} {
		want, err := os.ReadFile(filepath.Join(dir, name))
		must.OK(t, err)
		got, err := os.ReadFile(filepath.Join(out, name))
		must.OK(t, err)
		if !bytes.Equal(got, want) {
			t.Errorf("%s differs:\n%s\n%s", name, got, want)
		}
	}
	path := filepath.Join(dir, "events.jsonl")
	text, err := os.ReadFile(path)
	must.OK(t, err)
	first := bytes.Index(text, []byte(`"type":"evaluation"`))
	end := first + bytes.IndexByte(text[first:], '\n') + 1
	must.OK(t, os.WriteFile(path, text[:end+20], 0o644)) // one evaluation, and a part of what follows
	must.OK(t, rundir.Export(dir, out))
	if rows := filestest.ReadCSV(t, filepath.Join(out, "posterior.csv")); len(rows) != 1+3 {
		t.Errorf("%d rows of one evaluation of three kernels", len(rows))
	}
	must.OK(t, os.WriteFile(path, nil, 0o644))
	if err := rundir.Export(dir, out); err == nil || !strings.Contains(err.Error(), "no events yet") {
		t.Error(err)
	}
	must.OK(t, os.WriteFile(path, []byte("{\n{\n"), 0o644))
	if err := rundir.Export(dir, out); err == nil || !strings.Contains(err.Error(), "line 1 is damaged") {
		t.Error(err)
	}
}

func TestExportRunRefuses(t *testing.T) {
	dir := recorded(t)
	before, err := os.ReadFile(filepath.Join(dir, "posterior.csv"))
	must.OK(t, err)
	if err := rundir.Export(dir, dir); err == nil || !strings.Contains(err.Error(), "is the directory of a run") {
		t.Error(err)
	}
	after, err := os.ReadFile(filepath.Join(dir, "posterior.csv"))
	must.OK(t, err)
	if !bytes.Equal(before, after) {
		t.Error("the run's own table has changed")
	}
	if err := rundir.Export(filepath.Join(dir, "none"), filepath.Join(dir, "export")); err == nil ||
		!strings.Contains(err.Error(), "does not exist") {
		t.Error(err)
	}
	if err := rundir.Export(dir, filepath.Join(dir, "log.txt")); err == nil || !strings.Contains(err.Error(), "cannot be written") {
		t.Error(err)
	}
}
