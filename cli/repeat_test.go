package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/kestrel/experiment/rundir"
	"example.com/kestrel/internal/thorough"
)

// repeats is a small repeat.
func repeats(args ...string) []string {
	return quick(append([]string{"run", "quickstart", "--out", "many", "--prune-top", "2"}, args...)...)
}

// The same command reads what is finished and makes the rest, says which is which,
// and gives the same summaries.
func TestRepeatGoesOn(t *testing.T) {
	thorough.Unraced(t)
	t.Chdir(t.TempDir())
	code, first, stderr := kestrel(t, repeats("--repeat", "2", "--json")...)
	if code != 0 || strings.Contains(stderr, "goes on") {
		t.Fatal(code, stderr)
	}
	code, again, stderr := kestrel(t, repeats("--repeat", "2", "--json")...)
	if want := "run 1 of 2, seed 1: finished already, in " + filepath.Join("many", "001") +
		"\nrun 2 of 2, seed 2: finished already, in " + filepath.Join("many", "002") + "\n"; code != 0 || again != first || stderr != want {
		t.Errorf("%d %s\nsummaries equal: %v", code, stderr, again == first)
	}
	if code, again, stderr = kestrel(t, repeats("--repeat", "2", "--quiet", "--json")...); code != 0 || again != first || stderr != "" {
		t.Error(code, stderr)
	}
	code, again, stderr = kestrel(t, repeats("--repeat", "3", "--json")...)
	if code != 0 || !strings.HasPrefix(again, first) || len(again) <= len(first) || !strings.HasPrefix(stderr,
		"goes on where it was cut: 2 of 3 runs finished\nrun 1 of 3, seed 1: finished already, in ") ||
		!strings.Contains(stderr, "\nrun 3 of 3, seed 3\n") {
		t.Errorf("one more: %d %s", code, stderr)
	}
	code, stdout, _ := kestrel(t, repeats("--repeat", "3")...)
	if code != 0 || stdout != "" {
		t.Errorf("%d %s", code, stdout)
	}
	code, _, stderr = kestrel(t, repeats("--repeat", "1")...)
	if want := "run 1 of 1, seed 1: finished already, in " + filepath.Join("many", "001") + "\n"; code != 0 || stderr != want {
		t.Errorf("one of them: %d %s", code, stderr)
	}
	// One that was thrown away is made again.
	if err := os.RemoveAll(filepath.Join("many", "002")); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr = kestrel(t, repeats("--repeat", "3")...)
	if code != 0 || !strings.HasPrefix(stderr, "goes on where it was cut: 2 of 3 runs finished\n") ||
		!strings.HasSuffix(stdout, "\nresults in "+filepath.Join("many", "002")+"\n") || strings.Count(stdout, "results in ") != 1 {
		t.Errorf("%d %s%s", code, stderr, stdout)
	}
	if left, err := filepath.Glob("many/.*"); err != nil || len(left) > 0 {
		t.Error(left, err)
	}
	write(t, "notes.txt", "")
	for _, c := range []struct {
		args []string
		want string
	}{
		{repeats("--repeat", "3", "--seed", "2"), `series of runs "many" was begun with seed = 1, now it is 2; ` +
			"choose another directory with --out, or state the same"},
		{repeats("--repeat", "3", "--prune-top", "1"), `series of runs "many" was begun with --prune-top = 2, now it is 1; ` +
			"choose another directory with --out, or state the same"},
		{repeats("--repeat", "3", "--out", "."), `output directory "." exists and is not empty; choose another with --out, or remove it`},
		{repeats("--repeat", "3", "--out", filepath.Join("many", "001")), `output directory "` + filepath.Join("many", "001") +
			`" is the directory of a run; choose another`},
		{tiny("--out", "many"), `output directory "many" holds a series of runs, not a study; choose another with --out`},
		{repeats(), `output directory "many" exists and is not empty; choose another with --out, or remove it`},
	} {
		if code, _, stderr := kestrel(t, append(c.args, "--quiet")...); code != 2 || stderr != "kestrel: "+c.want+"\n" {
			t.Errorf("%s: %d %s", c.args, code, stderr)
		}
	}
	owner, err := rundir.Claim("many")
	if err != nil {
		t.Fatal(err)
	}
	defer owner.Close()
	if code, _, stderr := kestrel(t, repeats("--repeat", "3")...); code != 2 || strings.Count(stderr, "\n") != 1 ||
		!strings.Contains(stderr, `"many" is being written by process `) {
		t.Errorf("two at once: %d %s", code, stderr)
	}
}

// A run that failed is kept, and told every time.
func TestRepeatThatFails(t *testing.T) {
	t.Chdir(t.TempDir())
	args := append(repeats("--repeat", "2", "--quiet"), "--set", "schedule.budget=1ns", "--set", "optimise.starts=1000")
	for range 2 {
		if code, _, stderr := kestrel(t, args...); code != exitFailed || !strings.HasPrefix(stderr, "kestrel: run 1 of 2: the run failed: ") ||
			!strings.HasSuffix(stderr, "; what was done is in "+filepath.Join("many", "001")+", remove it to try again\n") {
			t.Error(code, stderr)
		}
	}
}

// What can be told before leaves nothing behind.
func TestRepeatBadInput(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, set := range []string{"kernels.expressions=SE,SE+", "data.kernel=SE+", "device.kind=nosuch", "data.noise=0.2"} {
		if set == "data.noise=0.2" {
			t.Setenv("KESTREL_SIMD", "nosuch") // which is found out when the directory is taken
		}
		if code, _, stderr := kestrel(t, append(repeats("--repeat", "2", "--quiet"), "--set", set)...); code != 2 || stderr == "" {
			t.Errorf("%s: %d %s", set, code, stderr)
		}
	}
	if left, err := os.ReadDir("."); err != nil || len(left) != 0 {
		t.Errorf("something was left behind: %v", left)
	}
}
