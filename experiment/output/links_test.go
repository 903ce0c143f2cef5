//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package output

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"example.com/kestrel/internal/must"
)

// makeTree makes files (name, text), folders (name/, "") and links (name, -> to).
func makeTree(t *testing.T, all ...[2]string) {
	t.Helper()
	for _, f := range all {
		must.OK(t, os.MkdirAll(filepath.Dir(f[0]), 0o755))
		if to, ok := strings.CutPrefix(f[1], "-> "); ok {
			must.OK(t, os.Symlink(to, f[0]))
		} else if !strings.HasSuffix(f[0], "/") {
			must.OK(t, os.WriteFile(f[0], []byte(f[1]), 0o644))
		}
	}
}

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error { _, err := io.WriteString(w, s); return err }
}

// A link is followed: the file that it points at is replaced or made, and the link
// stays. ".." leads out of what a link points at.
func TestLinksAreFollowed(t *testing.T) {
	t.Chdir(t.TempDir())
	here, err := filepath.EvalSymlinks(".")
	must.OK(t, err)
	here, err = filepath.Abs(here)
	must.OK(t, err)
	makeTree(t, [2]string{"to/sub/", ""}, [2]string{"to/old", "old"}, [2]string{"link", "-> to/old"}, [2]string{"chain", "-> link"},
		[2]string{"dangling", "-> to/new"}, [2]string{"folder", "-> to/sub"}, [2]string{"absolute", "-> " + filepath.Join(here, "to", "abs")},
		[2]string{"up", "-> ../" + filepath.Base(here) + "/./to//sub/../up"})
	for _, c := range []struct{ name, file string }{
		{"link", "to/old"}, {"chain", "to/old"}, {"dangling", "to/new"}, {"folder/a", "to/sub/a"}, {"folder/../b", "to/b"},
		{"absolute", "to/abs"}, {"up", "to/up"}, {"./to/c", "to/c"}, {filepath.Join(here, "folder", "d"), "to/sub/d"},
	} {
		before, _ := os.Readlink(c.name)
		must.OK(t, Check(c.name))
		must.OK(t, Write(c.name, text(c.name)))
		got, err := os.ReadFile(c.file)
		if err != nil || string(got) != c.name {
			t.Errorf("%s: %q, %v", c.name, got, err)
		}
		if after, _ := os.Readlink(c.name); after != before {
			t.Errorf("%s pointed at %q and now at %q", c.name, before, after)
		}
	}
	makeTree(t, [2]string{"out", "-> to/made/here"})
	must.OK(t, WriteFolder("out", []string{"x"}, func(to []io.Writer) error { return text("x")(to[0]) }))
	must.OK(t, WriteFolder("folder/..", []string{"x"}, func(to []io.Writer) error { return text("x")(to[0]) }))
	for _, name := range []string{"to/made/here/x", "to/x"} {
		if _, err := os.Stat(name); err != nil {
			t.Error(err)
		}
	}
}

func TestBadNames(t *testing.T) {
	t.Chdir(t.TempDir())
	makeTree(t, [2]string{"round", "-> about"}, [2]string{"about", "-> round"}, [2]string{"folder/", ""}, [2]string{"link", "-> folder"},
		[2]string{"file", "old"})
	for name, want := range map[string]string{
		"":          `"" is no name; choose another`,
		"round":     `"round" goes through too many links; choose another name`,
		"folder":    `"folder" is a folder; name a file`,
		"link":      `"link" is a folder; name a file`,
		"new/":      `"new/" is a folder; name a file`,
		"none/file": `"none/file": there is no such folder; make it first`,
		"file/file": `"file/file": there is no such folder; make it first`,
	} {
		if err := Check(name); err == nil || err.Error() != want {
			t.Errorf("%q: %v", name, err)
		}
	}
	makeTree(t, [2]string{"same", "-> file"})
	err := WriteAll([]string{"file", "same"}, func([]io.Writer) error { t.Error("written all the same"); return nil })
	if err == nil || err.Error() != `"file" and "same" are one file; choose another name` {
		t.Error(err)
	}
}

// What a run keeps for itself is refused by whatever name; beside it there is room.
func TestOfRuns(t *testing.T) {
	t.Chdir(t.TempDir())
	makeTree(t, [2]string{"run/events.jsonl", "events"}, [2]string{"run/state/checkpoint.npz", "all"}, [2]string{"run/posterior.csv", "rows"},
		[2]string{"rest/state/checkpoint.npz", "all"}, [2]string{"other/events.jsonl", "events"}, [2]string{"run/out", "-> ../safe"},
		[2]string{"run/folder", "-> ../safe.d"}, [2]string{"run/export/x", "-> ../../safe"}, [2]string{"safe", "old"},
		[2]string{"safe.d/", ""}, [2]string{"file", "-> run/posterior.csv"}, [2]string{"dir", "-> run"},
		[2]string{"inner", "-> run/state"}, [2]string{"missing", "-> run/metrics.csv"}, [2]string{"beside", "-> run/beside.csv"},
		[2]string{"state/x", "old"})
	must.OK(t, os.Link("run/events.jsonl", "hard"))
	must.OK(t, os.Link("run/state/checkpoint.npz", "hard.npz"))
	must.OK(t, os.Link("run/posterior.csv", "run/copy.csv"))
	must.OK(t, syscall.Mkfifo("rest/log.txt", 0o644))
	keeps := func(name, run string) string {
		return `"` + name + `" is a file that the run "` + run + `" keeps for itself; choose another name`
	}
	lies := func(name, run string) string {
		return `"` + name + `" lies in what the run "` + run + `" keeps for itself; choose another name`
	}
	link := func(name, link string) string {
		return `"` + name + `" goes through a link in the run "run", and such links are not followed; ` +
			`remove "` + link + `" or choose another name`
	}
	for name, want := range map[string]string{
		"run/events.jsonl":         keeps("run/events.jsonl", "run"),
		"run/kernels.csv":          keeps("run/kernels.csv", "run"),
		"run/log.txt":              keeps("run/log.txt", "run"),
		"rest/config.toml":         keeps("rest/config.toml", "rest"),
		"rest/log.txt":             keeps("rest/log.txt", "rest"),
		"other/../run/metrics.csv": keeps("other/../run/metrics.csv", "run"),
		"file":                     keeps("file", "run"),
		"missing":                  keeps("missing", "run"),
		"dir/posterior.csv":        keeps("dir/posterior.csv", "run"),
		"hard":                     keeps("hard", "run"),
		"hard.npz":                 keeps("hard.npz", "run"),
		"run/copy.csv":             keeps("run/copy.csv", "run"),
		"run/state":                lies("run/state", "run"),
		"run/state/checkpoint.npz": lies("run/state/checkpoint.npz", "run"),
		"other/state/new":          lies("other/state/new", "other"),
		"inner/sub/../new":         lies("inner/sub/../new", "run"),
		"inner/../log.txt":         keeps("inner/../log.txt", "run"),
		"run/out":                  link("run/out", "run/out"),
		"run/folder/x":             link("run/folder/x", "run/folder"),
		"dir/export/x":             link("dir/export/x", "run/export/x"),
		"run/new.csv":              "",
		"run/export/new.csv":       "",
		"beside":                   "",
		"state/x":                  "",
	} {
		got := ""
		if err := Check(name, "run"); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %s\nnot %s", name, got, want)
		}
		if err := Write(name, text("new")); want == "" && err != nil {
			t.Errorf("%s: %v", name, err)
		} else if want != "" && err == nil && !strings.HasPrefix(name, "hard") { // a name of its own, which the run does not see
			t.Errorf("%s has been written", name)
		}
	}
	for name, want := range map[string]string{"run/events.jsonl": "events", "run/state/checkpoint.npz": "all", "run/posterior.csv": "rows",
		"safe": "old", "run/beside.csv": "new", "run/export/new.csv": "new", "state/x": "new"} {
		if got, err := os.ReadFile(name); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	for name, want := range map[string]string{
		"run": `"run" is the directory of a run; choose another`, "dir": `"dir" is the directory of a run; choose another`,
		"rest": `"rest" is the directory of a run; choose another`, "inner": lies("inner", "run"), "run/state/a/b": lies("run/state/a/b", "run"),
		"run/folder": link("run/folder", "run/folder"), "run/export": "", "run/a/b": "", "state": "", "safe.d": "",
	} {
		got := ""
		if err := CheckFolder(name); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %s\nnot %s", name, got, want)
		}
		if err := WriteFolder(name, []string{"a"}, func(to []io.Writer) error { return nil }); (err == nil) != (want == "") {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A folder that may be written to, with a link in it.
	if err := WriteFolder("run/export", []string{"a", "x"}, func([]io.Writer) error { return nil }); err == nil ||
		!strings.Contains(err.Error(), "are not followed") {
		t.Error(err)
	}
}

// So it is with what a series, a study or a comparison keeps; a run in it keeps its own.
func TestOfSeries(t *testing.T) {
	t.Chdir(t.TempDir())
	makeTree(t, [2]string{"set/state/owner.json", "all"}, [2]string{"set/config.toml", "old"}, [2]string{"set/final.csv", "old"},
		[2]string{"set/study-i-fig1a.csv", "old"}, [2]string{"set/001/events.jsonl", "events"}, [2]string{"set/link", "-> ../safe"},
		[2]string{"set/folder", "-> ../safe.d"}, [2]string{"set/sub/link", "-> ../../safe"}, [2]string{"safe", "old"},
		[2]string{"safe.d/", ""}, [2]string{"file", "-> set/final.csv"}, [2]string{"dir", "-> set"})
	must.OK(t, os.Link("set/final.csv", "hard"))
	must.OK(t, os.Link("set/study-i-fig1a.csv", "set/copy.csv"))
	must.OK(t, syscall.Mkfifo("set/pipe", 0o644))
	keeps := func(name string) string {
		return `"` + name + `" is a file that "set", a series of runs, keeps for itself; choose another name`
	}
	link := func(name, link string) string {
		return `"` + name + `" goes through a link in "set", a series of runs, and such links are not followed; ` +
			`remove "` + link + `" or choose another name`
	}
	before := namesIn(t, "set")
	for name, want := range map[string]string{
		"set/config.toml": keeps("set/config.toml"), "set/metrics.csv": keeps("set/metrics.csv"),
		"set/final.csv": keeps("set/final.csv"), "set/table.csv": keeps("set/table.csv"),
		"set/study-i-fig1a.csv": keeps("set/study-i-fig1a.csv"), "set/study-starts-ii-x.csv": keeps("set/study-starts-ii-x.csv"),
		"file": keeps("file"), "dir/final.csv": keeps("dir/final.csv"), "set/copy.csv": keeps("set/copy.csv"), "hard": keeps("hard"),
		"set/state/x": `"set/state/x" lies in what "set", a series of runs, keeps for itself; choose another name`,
		"set/link":    link("set/link", "set/link"), "set/folder/x": link("set/folder/x", "set/folder"),
		"set/sub/link": link("set/sub/link", "set/sub/link"),
		"set/pipe": `"set/pipe" is no file, in "set", a series of runs, which may be somebody else's; ` +
			`remove it or choose another name`,
		"set/001/config.toml": `"set/001/config.toml" is a file that the run "set/001" keeps for itself; choose another name`,
	} {
		if err := Check(name, "set"); err == nil || err.Error() != want {
			t.Errorf("%s: %v\nnot %s", name, err, want)
		}
		if err := Write(name, text("new")); err == nil && name != "hard" { // a name of its own, which the series does not see
			t.Errorf("%s has been written", name)
		}
	}
	if err := CheckFolder("set/folder"); err == nil || err.Error() != link("set/folder", "set/folder") {
		t.Error(err)
	}
	if after := namesIn(t, "set"); after != before {
		t.Errorf("there are %s, were %s", after, before)
	}
	for _, name := range []string{"safe", "set/config.toml", "set/final.csv", "set/study-i-fig1a.csv"} {
		if got, err := os.ReadFile(name); err != nil || string(got) != "old" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	must.OK(t, WriteFolder("set", []string{"rmse.png", "study-of-mine.md"}, func([]io.Writer) error { return nil }))
	must.OK(t, Write("set/sub/study-x.csv", text("new")))
}

// A pipe and a device are written as they are.
func TestPipesAndDevices(t *testing.T) {
	t.Chdir(t.TempDir())
	must.OK(t, syscall.Mkfifo("pipe", 0o644))
	must.OK(t, os.Symlink("pipe", "link"))
	for _, name := range []string{"pipe", "link"} {
		got := make(chan string)
		go func() {
			text, err := os.ReadFile("pipe")
			if err != nil {
				t.Error(err)
			}
			got <- string(text)
		}()
		must.OK(t, Check(name))
		must.OK(t, Write(name, text(name)))
		if s := <-got; s != name {
			t.Errorf("%s: %q", name, s)
		}
	}
	must.OK(t, Check(os.DevNull))
	must.OK(t, Write(os.DevNull, text("nothing")))
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		t.Errorf("%v, %v", info, err)
	}
	if info, err := os.Lstat("pipe"); err != nil || info.Mode()&os.ModeNamedPipe == 0 || namesIn(t, ".") != "link pipe" {
		t.Errorf("%v, %v: %s", info, err, namesIn(t, "."))
	}
}
