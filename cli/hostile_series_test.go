//go:build linux || darwin

package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"example.com/kestrel/internal/thorough"
)

// Likewise in a comparison, which holds runs.
func TestHostileComparison(t *testing.T) {
	thorough.Unraced(t)
	victims := t.TempDir()
	for _, name := range []string{"victim", "search.csv", "events.jsonl"} {
		if err := os.WriteFile(filepath.Join(victims, name), []byte("a victim\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	unharmed, tried, share := snapshot(t, victims), 0, thorough.OneIn(t, 4, "files in the way") // of five kinds
	for _, name := range []string{"config.toml", "final.csv", "metrics.csv", "table.csv", "state", "state/owner.json", "vbks", "vbks/1",
		"kernels", "kernels/1", "vbks/1/events.jsonl", "vbks/1/log.txt", "vbks/1/state"} {
		for _, k := range []struct {
			kind string
			put  func(path string) error
		}{
			{"a link outside", func(path string) error { return os.Symlink(victims, path) }},
			{"a link to a file", func(path string) error { return os.Symlink(filepath.Join(victims, "victim"), path) }},
			{"a link to nothing", func(path string) error { return os.Symlink("nothing", path) }},
			{"a second name", func(path string) error { return os.Link(filepath.Join(victims, "victim"), path) }},
			{"a pipe", func(path string) error { return syscall.Mkfifo(path, 0o644) }},
		} {
			kind, put := k.kind, k.put
			if tried++; tried%share != 0 {
				continue
			}
			dir := filepath.Join(t.TempDir(), "comparison")
			if err := os.CopyFS(dir, os.DirFS(filepath.Join(oldRuns, "comparison"))); err != nil {
				t.Fatal(err)
			}
			config, err := os.ReadFile(filepath.Join(dir, "config.toml"))
			if err != nil {
				t.Fatal(err)
			}
			asked := filepath.Join(t.TempDir(), "config.toml")
			path := filepath.Join(dir, name)
			if err := errors.Join(os.WriteFile(asked, config, 0o644), os.RemoveAll(path), put(path)); err != nil {
				t.Fatal(err)
			}
			for _, args := range [][]string{
				{"figures", dir, "-o", filepath.Join(t.TempDir(), "figures")},
				{"compare", asked, "--quiet", "--out", dir},
			} {
				said, code := timely(t, args...)
				what := fmt.Sprintf("%s, %s is %s: exit code %d, %q", args[0], name, kind, code, said)
				if snapshot(t, victims) != unharmed {
					t.Fatalf("%s: what lies elsewhere was changed", what)
				}
				if strings.Contains(said, "internal error") || strings.Contains(said, "panic") {
					t.Error(what)
				}
				written := name == "final.csv" || name == "table.csv"  // anew, in the place of what is there
				unread := name == "vbks/1" && kind != "a link outside" // and so no run
				if unread = unread || name == "table.csv" || strings.HasPrefix(name, "state") || strings.HasPrefix(name, "kernels"); code == 0 &&
					!(args[0] == "compare" && written) && !(args[0] == "figures" && unread) {
					t.Error(what)
				}
			}
		}
	}
}

// Likewise in a series of runs and in the directory of a study; what is refused is
// left as it was.
func TestHostileSeries(t *testing.T) {
	thorough.Unraced(t)
	base := t.TempDir()
	many, tables, victims := filepath.Join(base, "many"), filepath.Join(base, "tables"), filepath.Join(base, "victims")
	past := filepath.Join(base, "past")
	repeat := func(dir string) []string { return quick("run", "quickstart", "--repeat", "2", "--quiet", "--out", dir) }
	studied := func(dir string) []string { return append(tiny("--seeds", "1..2"), "--out", dir) }
	forecast := func(dir string) []string {
		return quick("backtest", "quickstart", "--horizon", "2", "--origins", "1", "--quiet", "--out", dir)
	}
	for _, args := range [][]string{repeat(many), repeat(victims), studied(tables), forecast(past)} {
		if said, code := timely(t, args...); code != 0 {
			t.Fatal(said)
		}
	}
	rows, err := filepath.Glob(filepath.Join(tables, "study-*.csv"))
	if err != nil || len(rows) != 2 {
		t.Fatal(rows, err)
	}
	unharmed := snapshot(t, victims)
	for _, args := range [][]string{
		{"report", filepath.Join(victims, "001"), "-o", filepath.Join(victims, "state", "owner.json")},
		{"export", filepath.Join(victims, "001"), "-o", filepath.Join(victims, "state")},
	} {
		if said, code := timely(t, args...); code != exitUsage || !strings.Contains(said, "a series of runs, keeps for itself; choose another") ||
			snapshot(t, victims) != unharmed {
			t.Errorf("%s: exit code %d, %q", args[0], code, said)
		}
	}
	for _, c := range []struct {
		from, name string
		again      func(dir string) []string
		figures    bool
	}{
		{many, "001", repeat, true}, {many, ".002.partial", repeat, false}, {many, "state", repeat, false},
		{many, "state/asked.json", repeat, false}, {many, "state/owner.json", repeat, false},
		{tables, filepath.Base(rows[0]), studied, false}, {tables, filepath.Base(rows[1]), studied, false},
		{tables, "state/asked.json", studied, false}, {past, "backtest.csv", forecast, false},
	} {
		for kind, put := range map[string]func(dir, path string) error{
			"a link outside": func(_, path string) error { return os.Symlink(filepath.Join(victims, "001"), path) },
			"a link inside":  func(dir, path string) error { return os.Symlink(filepath.Join(dir, "002"), path) },
			"a pipe":         func(_, path string) error { return syscall.Mkfifo(path, 0o644) },
		} {
			dir := filepath.Join(t.TempDir(), "d")
			path := filepath.Join(dir, c.name)
			if err := errors.Join(os.CopyFS(dir, os.DirFS(c.from)), os.RemoveAll(path), put(dir, path)); err != nil {
				t.Fatal(err)
			}
			before := snapshot(t, dir)
			commands := [][]string{c.again(dir)}
			if c.figures && kind != "a pipe" {
				commands = append(commands, []string{"figures", dir, "-o", filepath.Join(t.TempDir(), "figures")})
			}
			for _, args := range commands {
				said, code := timely(t, args...)
				if code != exitUsage || !strings.Contains(said, filepath.Base(c.name)) || !strings.Contains(said, "; ") ||
					strings.Count(said, "\n") != 1 {
					t.Errorf("%s, %s is %s: exit code %d, %q", args[0], c.name, kind, code, said)
				}
			}
			if snapshot(t, dir) != before {
				t.Errorf("%s is %s: the directory was changed", c.name, kind)
			}
			if snapshot(t, victims) != unharmed {
				t.Fatalf("%s is %s: what lies elsewhere was changed", c.name, kind)
			}
		}
	}
}

// A series that is refused for its device leaves nothing, so that it can be begun
// with another one; what is no run is not taken for the place of one when it is too
// late.
func TestRefusedSeriesLeaveNothing(t *testing.T) {
	base := t.TempDir()
	empty := snapshot(t, base)
	for _, args := range [][]string{
		quick("run", "quickstart", "--repeat", "2", "--quiet", "--set", "device.kind=cuda"), tiny("--set", "device.kind=cuda"),
		quick("compare", "quickstart", "--quiet", "--set", "device.kind=cuda"),
		quick("backtest", "quickstart", "--horizon", "2", "--quiet", "--set", "device.kind=cuda"),
	} {
		said, code := timely(t, append(args, "--out", filepath.Join(base, "a", "b"))...)
		if code == 0 {
			t.Skip("there is a card")
		}
		if left := snapshot(t, base); code != exitUsage || !strings.Contains(said, "cuda") || left != empty {
			t.Errorf("%s: exit code %d, %q, left %s", args[0], code, said, left)
		}
	}
	dir := filepath.Join(base, "many")
	args := quick("run", "quickstart", "--repeat", "2", "--quiet", "--out", dir)
	if said, code := timely(t, args...); code != 0 {
		t.Fatal(said)
	}
	if err := errors.Join(os.RemoveAll(filepath.Join(dir, "002")), os.MkdirAll(filepath.Join(dir, "002", "mine"), 0o755)); err != nil {
		t.Fatal(err)
	}
	before := snapshot(t, dir)
	if said, code := timely(t, args...); code != exitUsage || !strings.Contains(said, "is no run, and in the place of one") ||
		snapshot(t, dir) != before {
		t.Errorf("exit code %d, %q", code, said)
	}
}
