package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/kestrel/internal/thorough"
)

// A comparison from the command line, its tables, its figures, and going on
// with it.
func TestCompareAndFigures(t *testing.T) {
	thorough.Unraced(t)
	t.Chdir(t.TempDir())
	args := quick("compare", "quickstart", "--out", "c", "--runs", "2", "--methods", "vbks,vbks-s,random,bo", "--set", "compare.budget=2",
		"--set", "compare.random_runs=3", "--set", "compare.rows=10", "--set", "compare.draws=2")
	code, stdout, stderr := kestrel(t, args...)
	if code != 0 {
		t.Fatal(code, stderr)
	}
	for _, part := range []string{"vbks, run 1, seed 1\n", "vbks, run 2, seed 2\n", "bo, run 1, seed 1\n", "  seed 1: trained "} {
		if !strings.Contains(stderr, part) {
			t.Errorf("progress lacks %q:\n%s", part, stderr)
		}
	}
	for _, part := range []string{"method  runs ", "random     3 ", "\ntables in c\n"} {
		if !strings.Contains(stdout, part) {
			t.Errorf("the table lacks %q:\n%s", part, stdout)
		}
	}
	before, err := os.ReadFile(filepath.Join("c", "table.csv"))
	if err != nil || !strings.HasPrefix(string(before), "run,vbks,vbks-s,random,bo\n1,") {
		t.Fatalf("%v: %s", err, before)
	}
	// Going on from the directory's own config finds everything done.
	code, stdout, stderr = kestrel(t, "compare", filepath.Join("c", "config.toml"), "--out", "c", "--json")
	var summary []struct {
		Method string
		RMSE   float64 `json:"rmse"`
	}
	if err := json.Unmarshal([]byte(stdout), &summary); code != 0 || stderr != "" || err != nil ||
		len(summary) != 4 || summary[3].Method != "bo" {
		t.Errorf("%d %q %v %s", code, stderr, err, stdout)
	}
	if code, stdout, stderr = kestrel(t, "compare", filepath.Join("c", "config.toml"), "--out", "c", "--json", "--runs", "1"); code != 0 ||
		!strings.Contains(stdout, `"rmse_sd": null`) {
		t.Errorf("one run: %d %s%s", code, stdout, stderr)
	}
	if code, _, stderr = kestrel(t, "compare", filepath.Join("c", "config.toml"), "-o", "c", "--quiet", "--runs", "2"); code != 0 ||
		stderr != "" {
		t.Error(code, stderr)
	}
	if after, err := os.ReadFile(filepath.Join("c", "table.csv")); err != nil || string(after) != string(before) {
		t.Errorf("another table: %v\n%s", err, after)
	}
	code, stdout, stderr = kestrel(t, "figures", "c", "-o", "f")
	if want := "f/quickstart-posterior.svg\nf/quickstart-rmse.svg\nf/quickstart-table.svg\n"; code != 0 || filepath.ToSlash(stdout) != want {
		t.Errorf("%d %s%s", code, stdout, stderr)
	}
	// What was read well but cannot be written is a failure, not bad usage.
	if code, stdout, stderr = kestrel(t, "figures", "c", "-o", filepath.Join("c", "table.csv")); code != exitFailed || stdout != "" ||
		stderr != `kestrel: output directory "`+filepath.Join("c", "table.csv")+`" cannot be written: `+
			"not a directory; choose another with --out\n" {
		t.Errorf("%d %s%s", code, stdout, stderr)
	}
	write(t, "none.csv", "a,b\n1,2\n2,3\n3,5\n4,1\n")
	for _, c := range []struct{ args, want string }{
		{"compare", `compare needs a config or a data file; for example kestrel compare fig1a`},
		{"compare quickstart --methods bo --out x",
			`compare.budget = "vbks" needs the method vbks or vbks-s; state a time or a number of kernels, or add one of them`},
		{"compare quickstart --methods boo", `--set compare.methods=boo: compare.methods has a wrong entry: ` +
			`it must be one of "vbks", "vbks-s", "vbks-prune", "random", "bo", "cks", not "boo"; did you mean "bo"?`},
		{"compare quickstart --runs 0", `--set compare.runs=0: compare.runs must be a whole number from 1 to 10000, not 0`},
		{"compare fig1a --out f", `output directory "f" exists and is not empty; choose another with --out, or remove it`},
		{"figures", `figures needs the directory of a run, of repeats or of a comparison; for example kestrel figures runs/… -o figures`},
		{"figures f", `"f" is neither a run nor a comparison, and no folder of runs`},
		{"figures c --top 0", `--top 0: must be at least 1`},
	} {
		if code, _, stderr := kestrel(t, strings.Fields(c.args)...); code != 2 || stderr != "kestrel: "+c.want+"\n" {
			t.Errorf("%s: code %d\n got %s\nwant kestrel: %s", c.args, code, stderr, c.want)
		}
	}
	if _, err := os.Stat("x"); err == nil {
		t.Error("something was left behind")
	}
}
