package cli

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/kestrel/internal/thorough"
)

// filesIn returns the files below a folder with what is in them; links and folders
// by what they are.
func filesIn(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			all[name] = d.Type().String()
			return err
		}
		text, err := os.ReadFile(name)
		all[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// twoRuns makes the runs a and b, and what the commands that write need.
func twoRuns(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	tinyRun(t, "a")
	if err := os.CopyFS("b", os.DirFS("a")); err != nil {
		t.Fatal(err)
	}
	write(t, "new.csv", "x\n1\n")
}

// writers are the commands that write to a file that the user names, and to a
// folder.
var writers = map[string][]string{
	"file": {"predict a --data new.csv -o", "predict a --data new.csv --quiet --format json --out",
		"predict a --data new.csv --components -o", "report a -o",
		"bench --work a --kernels one --step adam --seconds 0.01 --profile"},
	"folder": {"export a -o", "export a --format json -o", "figures a -o", "figures b -o", "run quickstart --headless --out",
		"run quickstart --headless --repeat 2 --out", "quickstart --headless --out", "compare quickstart --out",
		"study --figures fig1a --variant i --seeds 1 -o", "bench --learn quickstart --kernels SE --seconds 0.01 --out"},
}

// refused tries all commands on targets of a kind: none may write.
func refused(t *testing.T, kind string, targets map[string]string) {
	t.Helper()
	before := filesIn(t, ".")
	for _, target := range slices.Sorted(maps.Keys(targets)) {
		for _, command := range writers[kind] {
			code, _, stderr := kestrel(t, append(strings.Fields(command), target)...)
			if code != exitUsage || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, targets[target]) {
				t.Errorf("%s %s: code %d %q, not %q", command, target, code, stderr, targets[target])
			}
			after := filesIn(t, ".")
			for name := range maps.Keys(before) {
				if after[name] != before[name] {
					t.Fatalf("%s %s has changed %s", command, target, name)
				}
			}
			if len(after) != len(before) {
				t.Fatalf("%s %s has left something: %v", command, target, slices.Sorted(maps.Keys(after)))
			}
		}
	}
}

// No command writes over what a run keeps for itself, be it the one that it reads
// or another.
func TestRunsAreKept(t *testing.T) {
	twoRuns(t)
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]string{}
	for _, run := range []string{"a", "b"} {
		for _, name := range []string{"config.toml", "events.jsonl", "posterior.csv", "metrics.csv", "kernels.csv", "log.txt"} {
			named[filepath.Join(run, name)] = ` is a file that the run "` + run + `" keeps for itself; choose another name`
		}
		for _, name := range []string{"state", "state/checkpoint.npz", "state/owner.json", "state/new"} {
			named[run+"/"+name] = ` lies in what the run "` + run + `" keeps for itself; choose another name`
		}
	}
	named["./b/../a/state/../events.jsonl"] = ` is a file that the run "a" keeps for itself; choose another name`
	named[filepath.Join(here, "b", "state", "checkpoint.npz")] = ` lies in what the run "b" keeps for itself; choose another name`
	refused(t, "file", named)
	refused(t, "folder", map[string]string{
		"b/state/new":                         ` lies in what the run "b" keeps for itself; choose another name`,
		filepath.Join(here, "a/state/x/../y"): ` lies in what the run "a" keeps for itself; choose another name`,
	})
	for _, command := range []string{"export a -o", "export a --format json -o", "figures a -o"} {
		for target, want := range map[string]string{
			"a":       `kestrel: -o "a" is the directory of a run; choose another` + "\n",
			"b":       `kestrel: -o "b" is the directory of a run; choose another` + "\n",
			"b/state": `kestrel: -o "b/state" lies in what the run "b" keeps for itself; choose another name` + "\n",
		} {
			if code, _, stderr := kestrel(t, append(strings.Fields(command), target)...); code != exitUsage || stderr != want {
				t.Errorf("%s %s: code %d %q", command, target, code, stderr)
			}
		}
	}
	// What is left of a run without its log is one, too.
	if err := os.Remove(filepath.Join("b", "events.jsonl")); err != nil {
		t.Fatal(err)
	}
	refused(t, "file", map[string]string{"b/config.toml": ` is a file that the run "b" keeps for itself; choose another name`})
	refused(t, "folder", map[string]string{"b/state/new": ` lies in what the run "b" keeps for itself; choose another name`})
	if code, _, stderr := kestrel(t, "compare", "quickstart", "-o", "b"); code != exitUsage ||
		stderr != `kestrel: output directory "b" is the directory of a run; choose another`+"\n" {
		t.Error(code, stderr)
	}
}

// Beside what a run keeps there is room, and what is written there by default is
// written again.
func TestRoomBesideARun(t *testing.T) {
	thorough.Unraced(t)
	twoRuns(t)
	before := filesIn(t, ".")
	for range 2 {
		for _, command := range []string{"predict a --data new.csv -o a/predictions.csv", "predict a --data new.csv -o b/p.csv", "report a",
			"export a", "export a --format json -o a/export", "figures a -o a/figures", "figures b -o a/figures"} {
			if code, _, stderr := kestrel(t, strings.Fields(command)...); code != 0 {
				t.Errorf("%s: code %d %s", command, code, stderr)
			}
		}
	}
	after := filesIn(t, ".")
	for name, text := range before {
		if after[name] != text {
			t.Errorf("%s has changed", name)
		}
	}
	for _, name := range []string{"a/predictions.csv", "b/p.csv", "a/report.html", "a/export/kernels.csv", "a/export/run.json",
		"a/figures/quickstart-rmse.png"} {
		if after[filepath.FromSlash(name)] == "" {
			t.Errorf("there is no %s", name)
		}
	}
}

// Figures and the tables of an export take their places together: where one of them
// cannot be written all stay as they were, and another call finishes. What a killed
// one has left goes then.
func TestSetsAreWhole(t *testing.T) {
	thorough.Unraced(t)
	twoRuns(t)
	for command, last := range map[string]string{"figures a": "quickstart-table.md", "export a": "kernels.csv"} {
		dir, _, _ := strings.Cut(command, " ")
		run := func() (int, string) {
			code, _, stderr := kestrel(t, append(strings.Fields(command), "-o", dir)...)
			return code, stderr
		}
		if code, stderr := run(); code != 0 {
			t.Fatal(code, stderr)
		}
		whole := filesIn(t, dir)
		if whole[filepath.Join(dir, last)] == "" {
			t.Fatalf("there is no %s: %v", last, slices.Sorted(maps.Keys(whole)))
		}
		for name, text := range whole {
			if text != fs.ModeDir.String() {
				write(t, name, "old")
			}
		}
		if err := os.Remove(filepath.Join(dir, last)); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(filepath.Join(dir, last), 0o755); err != nil {
			t.Fatal(err)
		}
		code, stderr := run()
		if !strings.HasSuffix(stderr, last+`" is a folder; name a file`+"\n") || code == 0 {
			t.Errorf("%s: code %d %q", command, code, stderr)
		}
		for name, text := range filesIn(t, dir) {
			if text != "old" && text != fs.ModeDir.String() {
				t.Errorf("%s: %s is new", command, name)
			}
		}
		if err := os.Remove(filepath.Join(dir, last)); err != nil {
			t.Fatal(err)
		}
		for name := range whole {
			if name != dir {
				write(t, filepath.Join(dir, "."+filepath.Base(name)+".kestrel-4294967295-1"), "half")
			}
		}
		if code, stderr := run(); code != 0 {
			t.Error(code, stderr)
		}
		if again := filesIn(t, dir); !maps.Equal(again, whole) {
			t.Errorf("%s: not what it was: %v", command, slices.Sorted(maps.Keys(again)))
		}
	}
}
