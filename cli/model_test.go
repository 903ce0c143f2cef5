package cli

import (
	"encoding/csv"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"example.com/kestrel/experiment/config/configtest"
	"example.com/kestrel/experiment/runtest"
	"example.com/kestrel/internal/must"
)

// A model file predicts without the run and its data, from another folder, what the run
// predicts; without rows it says what that costs; and predict reads standard input.
func TestModelLeavesItsMachine(t *testing.T) {
	table := configtest.PlaneFile(t)
	_, _, run := runtest.Finished(t, configtest.Plane(t, table))
	t.Chdir(t.TempDir())
	write(t, "new.csv", "height,hour\n2000,3\n1700,30\n")
	code, want, stderr := kestrel(t, "predict", run, "--data", "new.csv")
	if code != 0 {
		t.Fatal(stderr)
	}
	code, _, stderr = kestrel(t, "model", run, "-o", "m.kestrel")
	if code != 0 || !strings.Contains(stderr, "m.kestrel: 3 kernels at") {
		t.Fatalf("code %d: %s", code, stderr)
	}
	code, _, stderr = kestrel(t, "model", run, "-o", "bare.kestrel", "--without-rows", "--refit")
	if code != 0 || !strings.Contains(stderr, "without rows means differ by up to") || !strings.Contains(stderr, "no training rows") {
		t.Errorf("code %d: %s", code, stderr)
	}
	moved := filepath.Join(t.TempDir(), "moved")
	must.OK(t, os.Rename(run, moved))
	must.OK(t, os.Remove(table))
	for _, of := range []string{"m.kestrel", moved} {
		if code, got, stderr := kestrel(t, "predict", of, "--data", "new.csv"); code != 0 || got != want {
			t.Errorf("%s: code %d, %s\n%s\nwant\n%s", of, code, stderr, got, want)
		}
	}
	if code, got, stderr := kestrel(t, "predict", "bare.kestrel", "--data", "new.csv"); code != 0 || strings.Count(got, "\n") != 3 {
		t.Errorf("without rows: code %d, %s\n%s", code, stderr, got)
	}
	for _, c := range []struct{ args, want string }{
		{"model " + moved, "kestrel: model needs -o, the file to write to; for example -o m.kestrel\n"},
		{"model new.csv -o x", ""},
		{"predict new.csv --data new.csv", `kestrel: model file "new.csv": damaged, or no model file: zip: not a valid zip file` + "\n"},
		{"predict m.kestrel --data new.csv --refit", "kestrel model RUN --refit writes one"},
		{"model " + moved + " -o " + filepath.Join(moved, "model.kestrel"), "keeps for itself"},
	} {
		code, _, stderr := kestrel(t, strings.Fields(c.args)...)
		if code == 0 || !strings.Contains(stderr, c.want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: code %d: %q", c.args, code, stderr)
		}
	}
}

// The program for NumPy finds what kestrel predicts; it needs python3 with NumPy, or
// KESTREL_PYTHON. What a library cannot express is told in a line, and all libraries'
// programs are Python at least.
func TestExportPython(t *testing.T) {
	python := os.Getenv("KESTREL_PYTHON")
	if python == "" {
		python = "python3"
	}
	numpy := exec.Command(python, "-c", "import numpy").Run() == nil
	if !numpy {
		t.Logf("%s has no NumPy: what is written is not run", python)
	}
	table := configtest.PlaneFile(t)
	_, _, run := runtest.Finished(t, configtest.Plane(t, table,
		"kernels.expressions=SE[hour]*PER[hour]+LIN[height],RQ[;ard]+POLY2*MATERN32,RW[hour]+CONST,CP(SE,COS)[hour]+IRW[hour]+WN"))
	t.Chdir(t.TempDir())
	code, stdout, stderr := kestrel(t, "export", run, "--format", "python", "--top", "4", "-o", "s.py")
	if code != 0 || stdout != "s.py\n" {
		t.Fatalf("code %d: %s%s", code, stdout, stderr)
	}
	rows, err := os.Open("s.csv")
	must.OK(t, err)
	defer rows.Close()
	if recs, err := csv.NewReader(rows).ReadAll(); err != nil || len(recs) != 61 {
		t.Errorf("%d records of rows: %v", len(recs), err)
	}
	if numpy {
		out, err := exec.CommandContext(t.Context(), python, "s.py").CombinedOutput()
		_, text, found := strings.Cut(string(out), "largest relative difference ")
		worst, bad := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil || !found || bad != nil || !(worst < 1e-6) {
			t.Errorf("%v\n%s", err, out)
		}
	}
	for _, library := range []string{"sklearn", "gpytorch", "gpflow", "gpjax"} {
		code, _, stderr := kestrel(t, "export", run, "--format", "python", "--library", library, "--top", "4", "-o", library+".py")
		if code == 0 || !strings.Contains(stderr, "cannot express") || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: code %d: %s", library, code, stderr)
		}
	}
	for args, want := range map[string]string{
		"--library numpy":                      "kestrel: --library is about --format python\n",
		"--format python --library pymc":       "unknown library \"pymc\"; libraries are numpy, sklearn, gpytorch, gpflow, gpjax\n",
		"--format python --top 0":              "kestrel: --top 0: must be at least 1\n",
		"--format python -o s.txt":             "must end in .py\n",
		"--format python -o state/x/none.py":   "there is no such folder",
		"--format yaml":                        "must be csv, json or python\n",
		"--format python --library sklearn -x": "unknown",
	} {
		code, _, stderr := kestrel(t, append([]string{"export", run}, strings.Fields(args)...)...)
		if code != 2 || !strings.Contains(stderr, want) {
			t.Errorf("%s: code %d: %s", args, code, stderr)
		}
	}
}
