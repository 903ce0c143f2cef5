package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/kestrel/internal/must"
	"example.com/kestrel/internal/thorough"
)

// tinyPlanted makes a study of planted kernels tiny.
func tinyPlanted(args ...string) []string {
	return append([]string{"study", "planted", "--base", "SE,LIN", "--leaves", "2..2", "--rows", "40..50",
		"--set", "kernels.grow_leaves=2", "--set", "kernels.grow_live=4", "--set", "sparse.inducing=10", "--set", "schedule.evaluate_every=0.5",
		"--set", "schedule.refine=0", "--set", "optimise.starts=1", "--set", "posterior.samples=200"}, args...)
}

// A study that had fewer seeds goes on: what is there is not made again.
func TestPlantedGoesOn(t *testing.T) {
	thorough.Unraced(t)
	t.Chdir(t.TempDir())
	code, stdout, stderr := kestrel(t, tinyPlanted("--seeds", "1", "--quiet", "-o", "p")...)
	if code != 0 || stderr != "" || !strings.Contains(stdout, "\n| 1 | 50 | ") ||
		!strings.Contains(stdout, "SE,LIN: growth has found the planted kernel") {
		t.Fatal(code, stderr, stdout)
	}
	evenTables(t, stdout)
	file := filepath.Join("p", "study-planted.csv")
	before, err := os.ReadFile(file)
	must.OK(t, err)
	must.OK(t, os.WriteFile(file, append(before, `"SE,LIN",2,torn`...), 0o644))
	code, stdout, stderr = kestrel(t, tinyPlanted("--seeds", "1..2", "-o", "p")...)
	if code != 0 || !strings.Contains(stderr, "goes on where it was cut: 1 of 2 runs finished\n") ||
		!strings.Contains(stderr, "SE,LIN, seed 1, 1 of 2: finished already\n") || !strings.Contains(stdout, " of 2 data sets, ") {
		t.Error(code, stderr, stdout)
	}
	rows := records(t, file)
	if after, err := os.ReadFile(file); err != nil || !strings.HasPrefix(string(after), string(before)) || len(rows) != 3 {
		t.Errorf("%v, %s", err, after)
	}
	code, stdout, stderr = kestrel(t, tinyPlanted("--seeds", "1..2", "--json", "--quiet", "-o", "p")...)
	if code != 0 || stderr != "" || strings.Count(stdout, `{"type":"set"`) != 2 || strings.Count(stdout, `"type":"summary"`) != 1 {
		t.Error(code, stderr, stdout)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{tinyPlanted("--seeds", "2", "-o", "p"), `study of planted kernels "p" was begun with --seeds = 1..2, now it is 2`},
		{tinyPlanted("--seeds", "1..2", "--rows", "40..60", "-o", "p"), "--rows = 40..50, now it is 40..60"},
		{tinyPlanted("--set", "seed=3"), "kernels are planted in data that are drawn"},
		{tinyPlanted("--leaves", "3"), "--leaves: "},
		{tinyPlanted("--rows", "3"), "--rows: "},
		{tinyPlanted("--seeds", "a"), "--seeds: "},
		{tinyPlanted("--base", "SE+LIN"), "is not a base kernel"},
	} {
		if code, _, stderr = kestrel(t, c.args...); code != 2 || !strings.Contains(stderr, c.want) {
			t.Error(code, stderr)
		}
	}
}
