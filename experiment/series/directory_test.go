package series

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/config/configtest"
	"example.com/kestrel/experiment/inside"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/rundir"
	"example.com/kestrel/internal/must"
)

func asked(steps string) Asked {
	return Asked{What: "study", Flags: map[string]string{"--seeds": steps}}
}

// put makes a file with its folders.
func put(t *testing.T, path, text string) {
	t.Helper()
	must.OK(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must.OK(t, os.WriteFile(path, []byte(text), 0o644))
}

// What a process leaves that is killed before it began is nothing, whenever that
// was; what it was just writing is removed.
func TestKilledBeforeItBegan(t *testing.T) {
	left := []string{"", "state/", "state/owner.json", ".probe123", "state/.asked.json.kestrel-1-77", ".config.toml.kestrel-1-5"}
	for i := range left {
		dir := filepath.Join(t.TempDir(), "d")
		for _, name := range left[:i+1] {
			if name == "" || strings.HasSuffix(name, "/") {
				must.OK(t, os.MkdirAll(filepath.Join(dir, name), 0o755))
			} else {
				put(t, filepath.Join(dir, name), "")
			}
		}
		d, err := TakeAsked(dir, asked("1"), []string{"config.toml"}, nil)
		if err != nil {
			t.Fatalf("%v: %v", left[:i+1], err)
		}
		if d.Known {
			t.Errorf("%v: it is known", left[:i+1])
		}
		for _, name := range left[3:] {
			if _, err := os.Lstat(filepath.Join(dir, name)); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s is still there: %v", name, err)
			}
		}
		put(t, filepath.Join(dir, "made"), "")
		must.OK(t, d.Close())
		if d, err = TakeAsked(dir, asked("1"), nil, nil); err != nil || !d.Known {
			t.Fatalf("again: %v", err)
		}
		must.OK(t, d.Close())
	}
}

// Directories of something else are refused in a line, and left as they were.
func TestForeignDirectories(t *testing.T) {
	for what, c := range map[string]struct {
		name, text, want string
	}{
		"a file of the user's": {"notes.txt", "", "exists and is not empty"},
		"one in its state":     {"state/notes.txt", "", "exists and is not empty"},
		"alike a remnant":      {".probe", "", "exists and is not empty"},
		"a run":                {record.EventsFile, "", "is the directory of a run"},
		"another series":       {"state/asked.json", `{"what": "series of runs"}`, "holds a series of runs, not a study"},
		"another task": {"state/asked.json", `{"what": "study", "flags": {"--seeds": "2"}}`,
			"was begun with --seeds = 2, now it is 1; choose another directory with --out, or state the same"},
		"one key less":      {"state/asked.json", `{"what": "study"}`, "was begun with --seeds = nothing, now it is 1"},
		"one key more":      {"state/asked.json", `{"what": "study", "flags": {"--seeds": "1", "--x": "2"}}`, "--x = 2, now it is nothing"},
		"damaged":           {"state/asked.json", `{"what`, "asked.json cannot be read: "},
		"a config that was": {"state/asked.json", `{"what": "study", "configs": {"": "no = 1"}}`, "asked.json cannot be read: "},
	} {
		dir := filepath.Join(t.TempDir(), "d")
		put(t, filepath.Join(dir, c.name), c.text)
		_, err := TakeAsked(dir, asked("1"), nil, nil)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") ||
			!strings.Contains(err.Error(), fmt.Sprintf("%q", dir)) {
			t.Errorf("%s: %v", what, err)
		}
		if left := names(t, dir); left != c.name {
			t.Errorf("%s: left %s", what, left)
		}
	}
	file := filepath.Join(t.TempDir(), "f")
	put(t, file, "")
	if _, err := TakeAsked(file, asked("1"), nil, nil); err == nil || !strings.Contains(err.Error(), "is a file") {
		t.Error(err)
	}
}

// names are those of all files in a directory.
func names(t *testing.T, dir string) string {
	t.Helper()
	var all []string
	must.OK(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			name, _ := filepath.Rel(dir, path)
			all = append(all, filepath.ToSlash(name))
		}
		return err
	}))
	return strings.Join(all, " ")
}

// One process at a time; a directory in which nothing was made is gone.
func TestOneAtATime(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d")
	d, err := TakeAsked(dir, asked("1"), nil, nil)
	must.OK(t, err)
	if _, err := TakeAsked(dir, asked("1"), nil, nil); err == nil || !strings.Contains(err.Error(), "is being written by process ") ||
		strings.Contains(err.Error(), "\n") {
		t.Errorf("a second one: %v", err)
	}
	must.OK(t, d.Close())
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nothing was made, but there is %q: %v", names(t, dir), err)
	}
}

// What no run is about may change, and what is allowed to.
func TestWhatMayChange(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d")
	a := asked("1")
	a.Configs = map[string]string{"x": configtest.Small(t).TOML()}
	d, err := TakeAsked(dir, a, nil, nil)
	must.OK(t, err)
	put(t, filepath.Join(dir, "made"), "")
	must.OK(t, d.Close())
	a = asked("1,2")
	a.Configs = map[string]string{"x": configtest.Small(t, "compare.rows=7").TOML()}
	for range 2 { // the second time it is what was asked before
		d, err = TakeAsked(dir, a, nil, func(key, was, is string) bool { return key == "--seeds" && was == "1" && is == "1,2" })
		must.OK(t, err)
		must.OK(t, d.Close())
	}
	a.Configs["x"] = configtest.Small(t, "schedule.steps=7").TOML()
	if _, err := TakeAsked(dir, a, nil, nil); err == nil || !strings.Contains(err.Error(), "with x, schedule.steps = 6, now it is 7") {
		t.Error(err)
	}
}

// What is held by another is not taken from it, nor what it has begun meanwhile.
func TestBegunMeanwhile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d")
	late := errors.New("begun by another")
	looks := 0
	_, err := Take(inside.Disk{}, dir, nil, func() (bool, error) {
		if looks++; looks > 0 && rundir.OnlyClaimed(dir, func(string) bool { return false }) {
			if _, err := os.Stat(filepath.Join(dir, record.StateDir)); err == nil {
				return false, late
			}
		}
		return false, nil
	})
	if !errors.Is(err, late) {
		t.Errorf("%v after %d looks", err, looks)
	}
	owner, err := rundir.Claim(dir) // it was given back
	must.OK(t, err)
	must.OK(t, owner.Close())
}

// A directory that is given up is as it was: its note, its owner, and the folders
// that were not there.
func TestGivenUp(t *testing.T) {
	base := t.TempDir()
	d, err := TakeAsked(filepath.Join(base, "a", "b"), asked("1"), nil, nil)
	must.OK(t, err)
	d.GiveUp()
	if entries, err := os.ReadDir(base); err != nil || len(entries) > 0 {
		t.Errorf("%v, %v", entries, err)
	}
	dir := filepath.Join(base, "there")
	must.OK(t, os.Mkdir(dir, 0o755))
	d, err = TakeAsked(dir, asked("1"), nil, nil)
	must.OK(t, err)
	d.GiveUp()
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("a directory that was there: %v, %v", entries, err)
	}
	d, err = TakeAsked(dir, asked("1"), nil, nil)
	must.OK(t, err)
	put(t, filepath.Join(dir, "made"), "")
	must.OK(t, d.Close())
	files := []string{filepath.Join(dir, "state", "asked.json"), filepath.Join(dir, "state", "owner.json")}
	var before []string
	for _, f := range files {
		text, err := os.ReadFile(f)
		must.OK(t, err)
		before = append(before, string(text))
	}
	if d, err = TakeAsked(dir, asked("2"), nil, func(string, string, string) bool { return true }); err != nil || !d.Known {
		t.Fatal(err)
	}
	d.GiveUp()
	for i, f := range files {
		if text, err := os.ReadFile(f); err != nil || string(text) != before[i] {
			t.Errorf("%s is %s, was %s, %v", f, text, before[i], err)
		}
	}
}

// A series of runs that an older version began, which wrote the evidence of series as what it comes to, goes on; where it is another
// one, it does not.
func TestOlderSeriesGoOn(t *testing.T) {
	c := config.Default()
	c.Data.Source, c.Data.Path, c.Settings.Priors = "csv", "t.csv", "series"
	of := func(evidence string, grow bool) Asked {
		c := c
		c.Settings.Evidence, c.Settings.Growth.On = evidence, grow
		return Asked{What: "series of runs", Configs: map[string]string{"": c.TOML()}}
	}
	for _, k := range []struct {
		was, now string
		grow, ok bool
	}{{"mode", "auto", false, true}, {"mode", "auto", true, false}, {"mode", "draws", false, false}, {"draws", "auto", false, false}} {
		dir := filepath.Join(t.TempDir(), "d")
		d, err := TakeAsked(dir, of(k.was, k.grow), nil, nil)
		must.OK(t, err)
		put(t, filepath.Join(dir, "made"), "")
		must.OK(t, d.Close())
		d, err = TakeAsked(dir, of(k.now, k.grow), nil, nil)
		if (err == nil) != k.ok || err != nil && !strings.Contains(err.Error(), "optimise.evidence") {
			t.Errorf("%+v: %v", k, err)
		}
		if err == nil {
			must.OK(t, d.Close())
		}
	}
}
