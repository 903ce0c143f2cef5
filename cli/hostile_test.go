//go:build linux || darwin

package cli

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.com/kestrel/experiment/config/configtest"
	"example.com/kestrel/experiment/library"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/runtest"
	"example.com/kestrel/internal/thorough"
)

// snapshot is what a folder holds, without following links: names, kinds and texts.
func snapshot(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s %s ", name, e.Type())
		switch {
		case e.Type().IsRegular():
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			b.Write(text)
		case e.Type()&fs.ModeSymlink != 0:
			to, err := os.Readlink(path)
			if err != nil {
				return err
			}
			b.WriteString(to)
		}
		b.WriteString("\n")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// timely runs a command, which must end.
func timely(t *testing.T, args ...string) (said string, code int) {
	t.Helper()
	type end struct {
		said string
		code int
	}
	done := make(chan end, 1)
	go func() {
		var out bytes.Buffer
		code := Execute(args, io.Discard, &out)
		done <- end{out.String(), code}
	}()
	select {
	case e := <-done:
		return e.said, e.code
	case <-time.After(patience):
		t.Fatalf("%q hangs", args)
		return "", 0
	}
}

// cutRun is the directory of a tiny run that was cut off in its middle.
func cutRun(t *testing.T) (dir string) {
	t.Helper()
	base := t.TempDir()
	dir = filepath.Join(base, "cut")
	whole, taken := filepath.Join(base, "whole"), false
	runtest.In(t, configtest.Small(t, "kernels.expressions=SE,LIN,PER+SE", "sparse.inducing=6"), whole,
		record.RecorderFunc(func(e *record.Event) error { // what comes behind an evaluation's checkpoint
			if e.Type == record.EventMetrics && !taken {
				taken = true
				runtest.CopyRun(t, whole, dir)
			}
			return nil
		}))
	if !taken {
		t.Fatal("the run had no scores")
	}
	return dir
}

// A run directory from elsewhere leads no command to read, write or remove what lies
// outside of it, nor to wait at a pipe: where something else stands in the place of
// one of its files a command refuses it in a line, before it changes anything, or
// does without that file.
func TestHostileRuns(t *testing.T) {
	thorough.Unraced(t)
	base := t.TempDir()
	points := filepath.Join(base, "points.csv")
	victims := filepath.Join(base, "victims")
	const text = "a victim\n"
	for path, text := range map[string]string{points: "x\n0\n1\n", filepath.Join(victims, "posterior.csv"): text,
		filepath.Join(victims, "owner.json"): text, filepath.Join(victims, "checkpoint.npz"): text,
		filepath.Join(victims, ".tables1"): text, filepath.Join(victims, "victim"): text} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	victim := filepath.Join(victims, "victim")
	unharmed := snapshot(t, victims)
	kinds := []struct {
		name string
		put  func(run, path string) error
		says string // of a file
	}{
		{"a link outside", func(_, path string) error { return os.Symlink(victim, path) }, "is a link"},
		{"a link inside", func(run, path string) error { return os.Symlink(filepath.Join(run, "own"), path) }, "is a link"},
		{"a link to nothing", func(run, path string) error { return os.Symlink(filepath.Join(run, "nothing"), path) }, "is a link"},
		{"a second name", func(_, path string) error { return os.Link(victim, path) }, "has a second name"},
		{"a pipe", func(_, path string) error { return syscall.Mkfifo(path, 0o644) }, "is a pipe"},
		{"a folder", func(_, path string) error { return os.Mkdir(path, 0o755) }, "is a folder"},
	}
	names := []string{"config.toml", "events.jsonl", "posterior.csv", "metrics.csv", "kernels.csv", "log.txt", "state", "state/owner.json",
		"state/checkpoint.npz", "export", "report.html"}
	out := filepath.Join(base, "out")
	commands := []struct {
		name  string
		args  func(run string) []string
		needs string // that it refuses, too
	}{
		{"open", func(run string) []string { return []string{"open", run, "--summary"} }, ""},
		{"resume", func(run string) []string { return []string{"resume", "--headless", "--quiet", run} }, "state/owner.json"},
		{"from start", func(run string) []string { return []string{"resume", "--headless", "--quiet", "--from-start", run} },
			"state/owner.json"},
		{"export", func(run string) []string { return []string{"export", run} }, "export"},
		{"report", func(run string) []string { return []string{"report", run} }, "report.html"},
		{"predict", func(run string) []string { return []string{"predict", run, "--data", points, "-o", out + ".csv"} }, ""},
		{"figures", func(run string) []string { return []string{"figures", run, "-o", out} }, ""},
	}
	cut := cutRun(t)
	tried, share := 0, thorough.OneIn(t, 5, "files in the way") // of seven commands
	for _, name := range names {
		for _, kind := range kinds {
			isFolder := name == "state" || name == "export"
			if isFolder && (kind.name == "a second name" || kind.name == "a folder") {
				continue // which a folder has not, and is
			}
			for _, c := range commands {
				optional := name == "state/owner.json" || name == "export" || name == "report.html"
				refuses := !optional || name == c.needs
				if !refuses && kind.name != "a link outside" && kind.name != "a pipe" {
					continue // which takes its time
				}
				if tried++; tried%share != 0 {
					continue
				}
				what := fmt.Sprintf("%s, %s is %s", c.name, name, kind.name)
				run := filepath.Join(t.TempDir(), "run")
				if err := os.CopyFS(run, os.DirFS(cut)); err != nil {
					t.Fatal(err)
				}
				own := filepath.Join(run, "own")
				path := filepath.Join(run, name)
				put := kind.put
				if isFolder && kind.name == "a link outside" {
					put = func(_, path string) error { return os.Symlink(victims, path) }
				}
				var err error
				if _, e := os.Lstat(path); e == nil { // what was there is what the link inside leads to
					err = os.Rename(path, own)
				} else {
					err = os.WriteFile(own, nil, 0o644)
				}
				if err == nil {
					err = put(run, path)
				}
				if err != nil {
					t.Fatal(what, err)
				}
				before := snapshot(t, run)
				said, code := timely(t, c.args(run)...)
				if snapshot(t, victims) != unharmed {
					t.Fatalf("%s: what lies elsewhere was changed", what)
				}
				if strings.Contains(said, "internal error") || strings.Contains(said, "panic") {
					t.Errorf("%s: %s", what, said)
				}
				if code != 0 && (strings.Count(said, "\n") != 1 || snapshot(t, run) != before) {
					t.Errorf("%s: refused after something was changed, or not in a line: %s", what, said)
				}
				says := kind.says
				output := name == "export" || name == "report.html" // what the command would write
				switch {
				case isFolder && kind.name == "a pipe" && output:
					says = "not a directory"
				case isFolder && kind.name == "a pipe":
					says = "is no folder"
				case output && kind.name == "a pipe":
					says = "is no file"
				case output && strings.HasPrefix(kind.name, "a link"):
					says = "goes through a link"
				}
				switch {
				case output && kind.name == "a second name": // another file takes the name
					if code != 0 {
						t.Errorf("%s: exit code %d: %s", what, code, said)
					}
				case refuses && name == "report.html" && kind.name == "a folder": // as any folder that was named
					says = "is a folder"
					fallthrough
				case refuses:
					if code == 0 || !strings.Contains(said, says) || !strings.Contains(said, name) {
						t.Errorf("%s: exit code %d, %q, want %q", what, code, said, says)
					}
				case code != 0:
					t.Errorf("%s: exit code %d: %s", what, code, said)
				}
			}
		}
	}
}

// The same from an archive, which holds links of both kinds.
func TestHostileArchive(t *testing.T) {
	base := t.TempDir()
	victim := filepath.Join(base, "victim")
	const text = "a victim\n"
	if err := os.WriteFile(victim, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	for what, link := range map[string]tar.Header{
		"a link":           {Typeflag: tar.TypeSymlink, Name: "run/log.txt", Linkname: "../../victim"},
		"a linked folder":  {Typeflag: tar.TypeSymlink, Name: "run/state", Linkname: "../.."},
		"an absolute link": {Typeflag: tar.TypeSymlink, Name: "run/events.jsonl", Linkname: victim},
		"a second name":    {Typeflag: tar.TypeLink, Name: "run/posterior.csv", Linkname: "own"},
		"a pipe":           {Typeflag: tar.TypeFifo, Name: "run/events.jsonl"},
	} {
		var packed bytes.Buffer
		w := tar.NewWriter(&packed)
		add := func(h tar.Header, text []byte) {
			t.Helper()
			h.Mode, h.Size = 0o644, int64(len(text))
			err := w.WriteHeader(&h)
			if err == nil {
				_, err = w.Write(text)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		add(tar.Header{Typeflag: tar.TypeReg, Name: "own"}, []byte(text))
		for _, name := range []string{"config.toml", "events.jsonl", "posterior.csv", "metrics.csv", "kernels.csv", "log.txt",
			"state/checkpoint.npz"} {
			if file := "run/" + name; file == link.Name || strings.HasPrefix(file, link.Name+"/") {
				continue
			}
			text, err := os.ReadFile(filepath.Join(oldRuns, "stopped", name))
			if err != nil {
				t.Fatal(err)
			}
			add(tar.Header{Typeflag: tar.TypeReg, Name: "run/" + name}, text)
		}
		add(link, nil)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(base, "unpacked")
		unpack(t, packed.Bytes(), to)
		before := snapshot(t, to)
		for _, args := range [][]string{
			{"resume", "--headless", "--quiet"}, {"resume", "--headless", "--quiet", "--from-start"}, {"export"}, {"open"},
		} {
			said, code := timely(t, append(args, filepath.Join(to, "run"))...)
			if code == 0 || strings.Count(said, "\n") != 1 || strings.Contains(said, "internal error") {
				t.Errorf("%s, %q: exit code %d, %q", what, args, code, said)
			}
			if now, err := os.ReadFile(victim); err != nil || string(now) != text {
				t.Fatalf("%s, %q: the victim is now %q, %v", what, args, now, err)
			}
			if snapshot(t, to) != before {
				t.Errorf("%s, %q: what was unpacked has changed", what, args)
			}
		}
		if err := os.RemoveAll(to); err != nil {
			t.Fatal(err)
		}
	}
}

// unpack unpacks an archive with tar, or by hand where that is missing or will not.
func unpack(t *testing.T, packed []byte, to string) {
	t.Helper()
	if err := os.MkdirAll(to, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("tar", "-xf", "-", "-C", to)
	cmd.Stdin = bytes.NewReader(packed)
	if cmd.Run() == nil {
		return
	}
	if err := errors.Join(os.RemoveAll(to), os.MkdirAll(to, 0o755)); err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(bytes.NewReader(packed)); ; {
		h, err := r.Next()
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(to, h.Name)
		err = os.MkdirAll(filepath.Dir(path), 0o755)
		switch {
		case err != nil:
		case h.Typeflag == tar.TypeSymlink:
			err = os.Symlink(h.Linkname, path)
		case h.Typeflag == tar.TypeLink:
			err = os.Link(filepath.Join(to, h.Linkname), path)
		case h.Typeflag == tar.TypeFifo:
			err = syscall.Mkfifo(path, 0o644)
		default:
			var text []byte
			if text, err = io.ReadAll(r); err == nil {
				err = os.WriteFile(path, text, 0o644)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// The directory of a run itself may be named by a link.
func TestRunNamedByALink(t *testing.T) {
	thorough.Unraced(t)
	base := t.TempDir()
	run, link, points := filepath.Join(base, "run"), filepath.Join(base, "link"), filepath.Join(base, "points.csv")
	if err := errors.Join(os.CopyFS(run, os.DirFS(cutRun(t))), os.Symlink(run, link),
		os.WriteFile(points, []byte("x\n0\n"), 0o644)); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"open", link}, {"export", link}, {"report", link}, {"predict", link, "--data", points, "-o", filepath.Join(base, "p.csv")},
		{"figures", link, "-o", filepath.Join(base, "figures")}, {"resume", "--headless", "--quiet", link}, {"open", link},
	} {
		if said, code := timely(t, args...); code != 0 {
			t.Errorf("%q: exit code %d, %s", args, code, said)
		}
	}
	for _, name := range []string{"export/posterior.csv", "report.html"} {
		if _, err := os.Lstat(filepath.Join(run, name)); err != nil {
			t.Error(err)
		}
	}
}

// A resume that is refused leaves the directory as it was: also the note of who wrote
// it, and that there was none.
func TestRefusedResumeChangesNothing(t *testing.T) {
	for _, without := range []string{"", "state/owner.json", "state"} {
		for _, name := range []string{"finished", "stopped"} {
			run := filepath.Join(t.TempDir(), "run")
			if err := os.CopyFS(run, os.DirFS(filepath.Join(oldRuns, name))); err != nil {
				t.Fatal(err)
			}
			if without != "" {
				if err := os.RemoveAll(filepath.Join(run, without)); err != nil {
					t.Fatal(err)
				}
			}
			checkpoint := filepath.Join(run, "state", "checkpoint.npz")
			if _, err := os.Stat(checkpoint); err == nil && name == "stopped" {
				if err := os.WriteFile(checkpoint, []byte("damaged"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			before := snapshot(t, run)
			said, code := timely(t, "resume", "--headless", "--quiet", run)
			if code == 0 || snapshot(t, run) != before {
				t.Errorf("%s without %q: exit code %d, or the directory has changed: %s", name, without, code, said)
			}
		}
	}
}

// One strange folder does not keep the launcher from the other runs.
func TestLauncherListsBesideStrangeRuns(t *testing.T) {
	root := t.TempDir()
	good := filepath.Join(root, "good")
	if err := os.CopyFS(good, os.DirFS(filepath.Join(oldRuns, "finished"))); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"pipe", "link", "folder", "second", "note"} {
		if err := os.MkdirAll(filepath.Join(root, name, "state"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	log := func(name string) string { return filepath.Join(root, name, "events.jsonl") }
	text, err := os.ReadFile(log("good"))
	if err != nil {
		t.Fatal(err)
	}
	own := filepath.Join(t.TempDir(), "own")
	if err := errors.Join(os.WriteFile(own, text, 0o644), syscall.Mkfifo(log("pipe"), 0o644), os.Symlink(log("good"), log("link")),
		os.Mkdir(log("folder"), 0o755), os.Link(own, log("second")), os.WriteFile(log("note"), text, 0o644),
		syscall.Mkfifo(filepath.Join(root, "note", "state", "owner.json"), 0o644),
		syscall.Mkfifo(filepath.Join(root, "lonely"), 0o644)); err != nil {
		t.Fatal(err)
	}
	done := make(chan []library.RunInfo, 1)
	go func() {
		runs, err := library.RecentRuns(root, 0)
		if err != nil {
			t.Error(err)
		}
		done <- runs
	}()
	var runs []library.RunInfo
	select {
	case runs = <-done:
	case <-time.After(patience):
		t.Fatal("the list of runs hangs")
	}
	said := map[string]string{}
	for _, r := range runs {
		said[filepath.Base(r.Path)] = r.Word() + " " + r.Err
	}
	for name, want := range map[string]string{"good": "finished ", "note": "finished ", "pipe": "is a pipe", "link": "is a link",
		"second": "second name", "folder": ""} {
		if got := said[name]; !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// A pipe given as a config is not waited for for ever.
func TestPipeAsConfig(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"run", pipe, "--headless", "--out", filepath.Join(dir, "run")}, {"config", "check", pipe}} {
		if said, code := timely(t, args...); code != exitUsage || !strings.Contains(said, "nothing comes from it") {
			t.Errorf("%q: exit code %d, %q", args, code, said)
		}
	}
	// One that says something is read.
	go func() {
		w, err := os.OpenFile(pipe, os.O_RDWR, 0)
		if err != nil {
			t.Error(err)
			return
		}
		_, err = w.WriteString("[data]\nsource = \"nonsense\"\n")
		time.Sleep(500 * time.Millisecond)
		if err := errors.Join(err, w.Close()); err != nil {
			t.Error(err)
		}
	}()
	time.Sleep(100 * time.Millisecond)
	if said, code := timely(t, "config", "check", pipe); code != exitUsage || !strings.Contains(said, "nonsense") {
		t.Errorf("exit code %d, %q", code, said)
	}
}
