package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/kestrel/experiment/history"
	"example.com/kestrel/experiment/rundir"
	"example.com/kestrel/internal/thorough"
)

// oldRuns are runs of an older version of the program, see the README there.
const oldRuns = "../experiment/testdata/runs"

// said runs a command that must succeed.
func said(t *testing.T, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	if code := Execute(args, &out, &errs); code != 0 {
		t.Fatalf("%q: exit code %d: %s", args, code, errs.String())
	}
	return out.String()
}

// Runs of an older version open, have the tables that it made of them, can be
// reported on, predict, and are resumed where there is something left to do. The
// tables are regression values, made by that version.
func TestOldRuns(t *testing.T) {
	thorough.Unraced(t)
	for _, c := range []struct {
		name, fate  string
		evaluations int
		resumed     string // its fate afterwards, "" where it is not resumed
		planned     int
	}{
		{"finished", "finished", 3, "", 0},
		{"adam", "finished", 3, "", 0},
		{"natural", "finished", 3, "", 0},
		{"pruned", "finished", 4, "", 0},
		{"failed", "failed", 0, "failed", 0},
		{"killed", "crashed", 3, "finished", 62},
		{"stopped", "stopped", 5, "finished", 62},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), c.name)
			if err := os.CopyFS(dir, os.DirFS(filepath.Join(oldRuns, c.name))); err != nil {
				t.Fatal(err)
			}
			_, known := rundir.OwnerOf(dir)
			stands := func(fate string, evaluations int) {
				t.Helper()
				if fate == "crashed" && !known { // there are no locks here
					fate = "running"
				}
				var s history.Summary
				if err := json.Unmarshal([]byte(said(t, "open", dir, "--json")), &s); err != nil {
					t.Fatal(err)
				}
				if kind := s.Start.DeviceKind; string(s.Fate) != fate || s.Made != evaluations || kind != "cpu" {
					t.Errorf("%s after %d evaluations on %q, want %s after %d", s.Fate, s.Made, kind, fate, evaluations)
				}
			}
			stands(c.fate, c.evaluations)
			if text := said(t, "open", dir, "--summary"); !strings.Contains(text, c.fate) && known {
				t.Errorf("the summary does not say %s:\n%s", c.fate, text)
			}
			tables := filepath.Join(t.TempDir(), "tables")
			said(t, "export", dir, "-o", tables)
			for _, name := range []string{"posterior.csv", "metrics.csv", "kernels.csv"} {
				got, errGot := os.ReadFile(filepath.Join(tables, name))
				want, errWant := os.ReadFile(filepath.Join(oldRuns, "expected", c.name, name))
				got = withoutLater(got, want)
				if errGot != nil || errWant != nil || !bytes.Equal(got, want) {
					t.Errorf("%s differs (%v, %v):\n%s\nwant\n%s", name, errGot, errWant, got, want)
				}
			}
			said(t, "export", dir, "--format", "json", "-o", filepath.Join(t.TempDir(), "json"))
			said(t, "report", dir, "-o", filepath.Join(t.TempDir(), "page.html"))
			if c.evaluations > 0 {
				points := filepath.Join(t.TempDir(), "points.csv")
				if err := os.WriteFile(points, []byte("x\n0\n1\n"), 0o644); err != nil {
					t.Fatal(err)
				}
				said(t, "predict", dir, "--data", points, "-o", filepath.Join(t.TempDir(), "predictions.csv"))
				if c.name == "pruned" { // of all that others have
					said(t, "figures", dir, "-o", filepath.Join(t.TempDir(), "figures"))
				}
			}
			var out, errs bytes.Buffer
			code := Execute([]string{"resume", "--headless", "--quiet", dir}, &out, &errs)
			switch c.resumed {
			case "":
				if code != exitUsage || !strings.Contains(errs.String(), "needs no resuming") {
					t.Errorf("resumed: exit code %d, %s", code, errs.String())
				}
			case "failed": // there is no more time than before, which may be enough on another day
				if code == 0 {
					stands("finished", 1)
				} else {
					stands("failed", 0)
				}
			default:
				if code != 0 {
					t.Errorf("resumed: exit code %d, %s", code, errs.String())
				}
				stands(c.resumed, c.planned)
			}
		})
	}
}

// A comparison and a study of an older version are taken up: what is there is
// not done again.
func TestOldComparison(t *testing.T) {
	thorough.Unraced(t)
	dir := filepath.Join(t.TempDir(), "comparison")
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(oldRuns, "comparison"))); err != nil {
		t.Fatal(err)
	}
	said(t, "figures", dir, "-o", filepath.Join(t.TempDir(), "figures"))
	// Its config has not what newer versions decide otherwise by default, which is to be stated.
	said(t, "compare", filepath.Join(dir, "config.toml"), "--quiet", "--out", dir,
		"--set", "optimise.evidence=mode", "--set", "sparse.bound=elbo", "--set", "sparse.compare_all=0",
		"--set", "predict.local=none", "--set", "sparse.own=off", "--set", "sparse.windows=false")
	for _, name := range []string{"metrics.csv", "final.csv", "table.csv"} {
		got, errGot := os.ReadFile(filepath.Join(dir, name))
		want, errWant := os.ReadFile(filepath.Join(oldRuns, "comparison", name))
		got = withoutLater(got, want)
		if errGot != nil || errWant != nil || !bytes.Equal(got, want) {
			t.Errorf("%s differs (%v, %v):\n%s\nwant\n%s", name, errGot, errWant, got, want)
		}
	}
}

// withoutLater leaves out the columns of a table that came after those of an older one.
// No cell of these tables holds a comma.
func withoutLater(table, older []byte) []byte {
	header, _, _ := bytes.Cut(older, []byte("\n"))
	columns := bytes.Count(header, []byte(",")) + 1
	var out []byte
	for line := range bytes.Lines(table) {
		cells := bytes.Split(bytes.TrimSuffix(line, []byte("\n")), []byte(","))
		out = append(append(out, bytes.Join(cells[:min(columns, len(cells))], []byte(","))...), '\n')
	}
	return out
}
