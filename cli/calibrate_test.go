package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/kestrel/internal/must"
	"example.com/kestrel/internal/thorough"
)

// tinyCalibrate makes a calibration tiny.
func tinyCalibrate(args ...string) []string {
	return append([]string{"study", "calibrate", "--spaces", "K12", "--rows", "20..30", "--set", "optimise.starts=1",
		"--set", "schedule.steps=3", "--set", "schedule.refine=0", "--set", "posterior.samples=100", "--set", "sparse.inducing=6"},
		append(slices.Clone(quicker), args...)...)
}

// A study that had fewer data sets goes on: what is there is not made again.
func TestCalibrateGoesOn(t *testing.T) {
	thorough.Unraced(t)
	t.Chdir(t.TempDir())
	code, stdout, stderr := kestrel(t, tinyCalibrate("--sets", "1", "--quiet", "-o", "c")...)
	if code != 0 || stderr != "" {
		t.Fatal(code, stderr)
	}
	file := filepath.Join("c", "study-calibration.csv")
	before, err := os.ReadFile(file)
	must.OK(t, err)
	for _, part := range []string{"| space | seed |", "\n| K12 | 1 | ", "\n### K12, Bayes: 1 data set\n", "\n### K12, q*: ", "\nHits ",
		"Log score "} {
		if !strings.Contains(stdout, part) {
			t.Errorf("no %q in\n%s", part, stdout)
		}
	}
	must.OK(t, os.WriteFile(file, append(before, "K12,2,torn"...), 0o644))
	code, stdout, stderr = kestrel(t, tinyCalibrate("--sets", "3", "--workers", "2", "-o", "c")...)
	if code != 0 || !strings.Contains(stderr, "goes on where it was cut: 1 of 3 runs finished\n") ||
		!strings.Contains(stderr, "K12, seed 3: ") || strings.Contains(stderr, "seed 1: ") ||
		!strings.Contains(stdout, "\n### K12, Bayes: 3 data sets\n") {
		t.Error(code, stderr, stdout)
	}
	rows := records(t, file)
	if after, err := os.ReadFile(file); err != nil || !strings.HasPrefix(string(after), string(before)) || len(rows) != 4 {
		t.Errorf("%v, %s", err, after)
	}
	evenTables(t, stdout)
	code, stdout, stderr = kestrel(t, tinyCalibrate("--sets", "3", "--json", "-o", "c")...)
	if code != 0 || stderr != "" {
		t.Fatal(code, stderr)
	}
	var types []string
	for line := range strings.Lines(stdout) {
		var o struct {
			Type    string
			Summary struct {
				Sets int
				Bins []struct{ Sets int }
			}
		}
		must.OK(t, json.Unmarshal([]byte(line), &o))
		types = append(types, o.Type)
		if o.Type == "summary" && (o.Summary.Sets != 3 || len(o.Summary.Bins) != 8) {
			t.Error(line)
		}
	}
	if got := strings.Join(types, " "); got != "set set set summary summary summary" {
		t.Error(got)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{tinyCalibrate("--sets", "2", "-o", "c"), "--sets = 3, now it is 2"},
		{tinyCalibrate("--sets", "3", "--prior", "other", "-o", "c"), "--prior = same, now it is other"},
		{tinyCalibrate("--sets", "3", "--set", "schedule.steps=4", "-o", "c"), "K12, schedule.steps = 3, now it is 4"},
	} {
		if code, _, stderr = kestrel(t, c.args...); code != 2 || stderr != `kestrel: calibration study "c" was begun with `+c.want+
			"; choose another directory with --out, or state the same\n" {
			t.Error(code, stderr)
		}
	}
}

func TestCalibrateBadInput(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, c := range []struct{ args, want string }{
		{"--sets 0", "--sets 0: must be at least 1"},
		{"--workers 0", "--workers 0: must be at least 1"},
		{"--rows 5..9", `--rows: "5..9" is no range of rows from 10 to 10000, such as 300..1000`},
		{"--prior new", `there is no prior "new"; priors are same, other`},
		{"--spaces K12,K12", "--spaces: K12 is asked for twice"},
		{"--spaces=", "--spaces: name a set of kernels"},
		{"--set data.noise=1", "--set data.noise=1: a calibration draws its data and its kernels itself"},
		{"--set schedule.step=1", `--set schedule.step=1: unknown key "schedule.step"; did you mean "schedule.steps"?`},
	} {
		code, stdout, stderr := kestrel(t, append([]string{"study", "calibrate", "-o", "c"}, strings.Fields(c.args)...)...)
		if code != 2 || stderr != "kestrel: "+c.want+"\n" || stdout != "" {
			t.Errorf("%s: code %d\n got %s\nwant kestrel: %s", c.args, code, stderr+stdout, c.want)
		}
	}
	code, _, stderr := kestrel(t, "study", "calibrat")
	if code != 2 || stderr != "kestrel: study has no command \"calibrat\"; did you mean calibrate?\n" {
		t.Error(code, stderr)
	}
	if left, err := os.ReadDir("."); err != nil || len(left) != 0 {
		t.Errorf("something was left behind: %v", left)
	}
}
