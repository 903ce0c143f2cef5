package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/kestrel/internal/must"
	"example.com/kestrel/internal/thorough"
)

// tinyGaps makes a study of gaps tiny.
func tinyGaps(args ...string) []string {
	return append([]string{"study", "gaps", "--figure", "quickstart", "--variant", "iii", "--times", "2", "--set", "data.outputs=30",
		"--set", "data.support=40", "--set", "data.test=5", "--set", "kernels.expressions=SE,(PER+RQ)*LIN", "--set", "sparse.inducing=6",
		"--set", "schedule.evaluate_every=1", "--set", "schedule.steps=3", "--set", "optimise.starts=1",
		"--set", "schedule.refine=0", "--set", "sparse.compare_all=0"}, args...)
}

// A study that had fewer seeds goes on: what is there is not made again.
func TestGapsGoOn(t *testing.T) {
	thorough.Unraced(t)
	t.Chdir(t.TempDir())
	code, stdout, stderr := kestrel(t, tinyGaps("--seeds", "1", "--quiet", "-o", "g")...)
	if code != 0 || stderr != "" || !strings.Contains(stdout, "\n| quickstart | 1 | SE | ") ||
		!strings.Contains(stdout, "quickstart (iii): 2 kernels of 1 seeds are together ") {
		t.Fatal(code, stderr, stdout)
	}
	evenTables(t, stdout)
	file := filepath.Join("g", "study-gaps-iii-quickstart.csv")
	before, err := os.ReadFile(file)
	must.OK(t, err)
	must.OK(t, os.WriteFile(file, append(before, "iii,quickstart,2,torn"...), 0o644))
	code, stdout, stderr = kestrel(t, tinyGaps("--seeds", "1..2", "-o", "g")...)
	if code != 0 || !strings.Contains(stderr, "goes on where it was cut: 1 of 2 runs finished\n") ||
		!strings.Contains(stderr, "quickstart (iii), seed 1, 1 of 2: finished already\n") ||
		!strings.Contains(stdout, ": 4 kernels of 2 seeds ") {
		t.Error(code, stderr, stdout)
	}
	rows := records(t, file)
	if after, err := os.ReadFile(file); err != nil || !strings.HasPrefix(string(after), string(before)) || len(rows) != 5 {
		t.Errorf("%v, %s", err, after)
	}
	code, stdout, stderr = kestrel(t, tinyGaps("--seeds", "1..2", "--json", "--quiet", "-o", "g")...)
	if code != 0 || stderr != "" || strings.Count(stdout, `{"type":"kernel"`) != 4 || strings.Count(stdout, `"type":"summary"`) != 1 {
		t.Error(code, stderr, stdout)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{tinyGaps("--seeds", "2", "-o", "g"), `study of gaps "g" was begun with --seeds = 1..2, now it is 2`},
		{tinyGaps("--seeds", "1..2", "--times", "3", "-o", "g"), "--times = 2, now it is 3"},
		{tinyGaps("--seeds", "1", "--set", "seed=3"), "a study runs many seeds"},
		{tinyGaps("--times", "1"), "--times 1: must be at least 2"},
		{tinyGaps("--variant", "none"), "there is no variant"},
		{tinyGaps("--set", "sparse.inducing=auto"), "gaps are of one number of inducing inputs"},
	} {
		if code, _, stderr = kestrel(t, c.args...); code != 2 || !strings.Contains(stderr, c.want) {
			t.Error(code, stderr)
		}
	}
}
