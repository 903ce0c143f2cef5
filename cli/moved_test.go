package cli

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/kestrel/experiment/record/recordtest"
	"example.com/kestrel/internal/must"
)

// waveTable is a table of n rows.
func waveTable(n int) string {
	var b strings.Builder
	b.WriteString("x,y\n")
	for i := range n {
		fmt.Fprintf(&b, "%v,%v\n", float64(i)/7, math.Sin(float64(i)/9)+float64(i*i%5)/20)
	}
	return b.String()
}

// waveRun makes a small run of a table, or of standard input.
func waveRun(t *testing.T, of, dir string, more ...string) (code int, stdout, stderr string) {
	t.Helper()
	args := append([]string{"run", of, "--headless", "--quiet", "--out", dir}, more...)
	for _, s := range []string{"kernels.expressions=SE,LIN", "sparse.inducing=6", "schedule.evaluate_every=0.5", "schedule.steps=4",
		"optimise.starts=1", "schedule.refine=0", "optimise.evidence=mode", "data.time=no"} {
		args = append(args, "--set", s)
	}
	return kestrel(t, args...)
}

// A run that has been moved to another folder and whose data have been deleted still
// predicts, opens, exports, reports and gives its model; what needs the data says so in
// one line, and takes them from elsewhere.
func TestRunLeavesItsFolderAndItsData(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "wave.csv", waveTable(60))
	write(t, "new.csv", "x\n1\n9\n")
	if code, _, stderr := waveRun(t, "wave.csv", "run"); code != 0 {
		t.Fatal(stderr)
	}
	same := func(name string) []byte {
		t.Helper()
		text, err := os.ReadFile(name)
		must.OK(t, err)
		return text
	}
	_, predictions, _ := kestrel(t, "predict", "run", "--data", "new.csv", "--quiet")
	_, summary, _ := kestrel(t, "open", "run", "--summary")
	_, export, _ := kestrel(t, "export", "run", "--format", "json")
	_, _, _ = kestrel(t, "model", "run", "-o", "m.kestrel")
	whole, _, _ := kestrel(t, "report", "run", "-o", "whole.html")
	must.OK(t, os.MkdirAll(filepath.Join("far", "away"), 0o755))
	moved := filepath.Join("far", "away", "r")
	must.OK(t, os.Rename("run", moved))
	must.OK(t, os.Rename("wave.csv", filepath.Join("far", "elsewhere.csv")))
	table := filepath.Join("far", "elsewhere.csv")

	if code, got, stderr := kestrel(t, "predict", moved, "--data", "new.csv"); code != 0 || got != predictions ||
		!strings.Contains(stderr, "its data are gone") {
		t.Errorf("predict: code %d\n%s%s\nwas\n%s", code, got, stderr, predictions)
	}
	if code, got, _ := kestrel(t, "open", moved, "--summary"); code != 0 || got != summary {
		t.Errorf("open: code %d\n%s\nwas\n%s", code, got, summary)
	}
	if code, got, _ := kestrel(t, "export", moved, "--format", "json"); code != 0 ||
		strings.Replace(got, `"name":"r"`, `"name":"run"`, 1) != export {
		t.Errorf("export: code %d\n%.300s\nwas\n%.300s", code, got, export)
	}
	if code, _, stderr := kestrel(t, "export", moved, "-o", "tables"); code != 0 ||
		!bytes.Equal(same(filepath.Join("tables", "posterior.csv")), same(filepath.Join(moved, "posterior.csv"))) {
		t.Error("export", code, stderr)
	}
	if code, _, stderr := kestrel(t, "model", moved, "-o", "copy.kestrel"); code != 0 || !strings.Contains(stderr, "model.kestrel is copied") {
		t.Error("model", code, stderr)
	}
	for _, model := range []string{"m.kestrel", "copy.kestrel"} {
		if code, got, stderr := kestrel(t, "predict", model, "--data", "new.csv"); code != 0 || got != predictions {
			t.Errorf("%s: code %d\n%s%s", model, code, got, stderr)
		}
	}
	const hint = "not found; looked for"
	code, _, stderr := kestrel(t, "report", moved, "-o", "half.html")
	if page := string(same("half.html")); code != 0 || whole != 0 || !strings.Contains(stderr, "note: The fit, residuals and calibration") ||
		!strings.Contains(page, "if it has moved, name it with --data") || !strings.Contains(page, "SE") ||
		strings.Contains(string(same("whole.html")), "are missing here") {
		t.Errorf("report: code %d, %s", code, stderr)
	}
	for _, args := range []string{
		"export %s --format python -o s.py", "model %s --refit -o x.kestrel", "model %s --without-rows -o x.kestrel",
	} {
		code, _, stderr := kestrel(t, strings.Fields(fmt.Sprintf(args, moved))...)
		if code == 0 || !strings.Contains(stderr, hint) || !strings.Contains(stderr, "with --data") || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: code %d, %s", args, code, stderr)
		}
		if code, _, stderr := kestrel(t, strings.Fields(fmt.Sprintf(args, moved)+" --data "+table)...); code != 0 {
			t.Errorf("%s with the data: code %d, %s", args, code, stderr)
		}
	}
	if code, _, stderr := kestrel(t, "report", moved, "--data", table, "-o", "again.html"); code != 0 || stderr != "" ||
		strings.Count(string(same("again.html")), "<svg") != strings.Count(string(same("whole.html")), "<svg") {
		t.Errorf("report with the data: code %d, %s", code, stderr)
	}
	write(t, "other.csv", waveTable(59))
	if code, _, stderr := kestrel(t, "export", moved, "--format", "python", "-o", "s.py", "--data", "other.csv"); code != exitUsage ||
		!strings.HasSuffix(stderr, "other.csv is not what it has read: it has another sha256\n") {
		t.Errorf("code %d, %s", code, stderr)
	}
}

// A run that was cut off goes on with its table where that is now, and remembers it; rows
// that have come since are learned from.
func TestResumeWithData(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "wave.csv", waveTable(60))
	if code, _, stderr := waveRun(t, "wave.csv", "run", "--set", "schedule.budget=1"); code != 0 {
		t.Fatal(stderr)
	}
	// Cut off: behind its last evaluation.
	log, err := os.ReadFile(filepath.Join("run", "events.jsonl"))
	must.OK(t, err)
	at := bytes.Index(log, []byte(`{"v":1,"type":"metrics"`))
	must.OK(t, os.Truncate(filepath.Join("run", "events.jsonl"), int64(at)))
	must.OK(t, os.Mkdir("moved", 0o755))
	table := filepath.Join("moved", "wave.csv")
	must.OK(t, os.Rename("wave.csv", table))
	for args, want := range map[string]string{
		"resume run":                     "if it has moved, name it with --data\n",
		"resume run --data none.csv":     "none.csv\n",
		"resume run --data -":            "read only once",
		"resume run --data moved":        "is a folder",
		"resume none --data wave.csv":    "does not exist",
		"open run --data moved/wave.csv": "unknown flag: --data",
	} {
		code, _, stderr := kestrel(t, strings.Fields(args)...)
		if code != exitUsage || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: code %d, %s", args, code, stderr)
		}
	}
	code, _, stderr := kestrel(t, "resume", "run", "--data", table)
	if code != 0 || !strings.Contains(stderr, "the table is ") {
		t.Errorf("code %d, %s", code, stderr)
	}
	write(t, "new.csv", "x\n1\n")
	if code, _, stderr := kestrel(t, "predict", "run", "--data", "new.csv"); code != 0 || strings.Contains(stderr, "gone") {
		t.Errorf("code %d, %s", code, stderr)
	}
	write(t, table, waveTable(75))
	code, stdout, stderr := kestrel(t, "resume", "run", "--data", table, "--json")
	if code != 0 || !strings.Contains(stdout, `"rows_seen": 69`) || !strings.Contains(stderr, "15 training rows behind the 54") ||
		!strings.Contains(stderr, "note: scaling, priors, seasons, candidate periods and the 6 held-out rows stay those of the first 60 rows") {
		t.Errorf("code %d, %s%.2000s", code, stderr, stdout)
	}
	code, _, stderr = kestrel(t, "resume", "run")
	if code != exitUsage || !strings.Contains(stderr, "needs no resuming") {
		t.Errorf("code %d, %s", code, stderr)
	}
}

// asStandardInput makes a text the program's standard input, through a pipe.
func asStandardInput(t *testing.T, text string) {
	t.Helper()
	r, w, err := os.Pipe()
	must.OK(t, err)
	was := os.Stdin
	os.Stdin = r
	t.Cleanup(func() { os.Stdin = was; r.Close() })
	go func() { _, _ = w.WriteString(text); w.Close() }()
}

// A table from standard input gives the run that it gives as a file, which keeps it: moved
// elsewhere it goes on, reports and predicts. What cannot be read twice says so, and
// nothing is left of a table that is none.
func TestRunOfStandardInput(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("TMPDIR", t.TempDir())
	write(t, "wave.csv", waveTable(60))
	if code, _, stderr := waveRun(t, "wave.csv", "file"); code != 0 {
		t.Fatal(stderr)
	}
	asStandardInput(t, waveTable(60))
	if code, _, stderr := waveRun(t, "-", "run"); code != 0 {
		t.Fatal(stderr)
	}
	must.OK(t, os.Rename("run", "moved"))
	for _, name := range []string{"posterior.csv", "kernels.csv"} {
		a, errA := os.ReadFile(filepath.Join("file", name))
		b, errB := os.ReadFile(filepath.Join("moved", name))
		if errA != nil || errB != nil || !bytes.Equal(a, b) {
			t.Errorf("%s is not that of the file: %v, %v", name, errA, errB)
		}
	}
	if kept, err := os.ReadFile(filepath.Join("moved", "table")); err != nil || string(kept) != waveTable(60) {
		t.Errorf("kept %q, %v", kept, err)
	}
	if code, _, stderr := kestrel(t, "report", "moved"); code != 0 || stderr != "" {
		t.Errorf("report: code %d, %s", code, stderr)
	}
	write(t, "longer.csv", waveTable(70))
	if code, _, stderr := kestrel(t, "resume", "moved", "--data", "longer.csv", "--quiet"); code != 0 {
		t.Errorf("resume: code %d, %s", code, stderr)
	}
	if es, err := recordtest.Read("moved"); err != nil || es[0].Start.Data.Name != "stdin" {
		t.Errorf("%v", err)
	}
	before, err := os.ReadDir(".")
	must.OK(t, err)
	for _, c := range []struct{ text, args, want string }{
		{"x,y\n1,2\n3,4,5\n", "run - --out new", "stdin: line 3: 3 fields where the first line has 2"},
		{"", "- --out new", "stdin: has no rows"},
		{waveTable(9), "run - --repeat 2 --out new",
			"--repeat reads its table for every run, and standard input (-) can be read once; write it to a file first"},
		{waveTable(9), "data info -",
			"data from standard input (-) are read only once, by kestrel run and predict; write them to a file first"},
		{waveTable(9), "run - --out moved",
			`output directory "moved" exists and is not empty; choose another with --out, or remove it`},
		{waveTable(9), "predict file --data new.csv -o moved/table",
			`-o "moved/table" is a file that the run "moved" keeps for itself; choose another name`},
	} {
		asStandardInput(t, c.text)
		if code, _, stderr := kestrel(t, strings.Fields(c.args)...); code != exitUsage || stderr != "kestrel: "+c.want+"\n" {
			t.Errorf("%s: code %d, %q\nwant %q", c.args, code, stderr, c.want)
		}
	}
	after, err := os.ReadDir(".")
	must.OK(t, err)
	left, err := os.ReadDir(os.TempDir())
	left = slices.DeleteFunc(left, func(e os.DirEntry) bool { return strings.HasPrefix(e.Name(), "kestrel-") }) // of runs' sockets
	if len(after) != len(before) || err != nil || len(left) > 0 {
		t.Errorf("%v was left, and %v aside: %v", after, left, err)
	}
	if err := copyAside(t.Context(), filepath.Join(t.TempDir(), "a"), strings.NewReader("abc"), 2); err == nil ||
		!strings.Contains(err.Error(), "data from standard input: more than") {
		t.Error(err)
	}
	r, w, err := os.Pipe()
	must.OK(t, err)
	defer w.Close()
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errInterrupted)
	if err := copyAside(ctx, filepath.Join(t.TempDir(), "a"), r, 2); err != errInterrupted {
		t.Error(err)
	}
}
