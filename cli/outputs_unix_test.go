//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package cli

import (
	"os"
	"strings"
	"syscall"
	"testing"
)

// Nor through links, to whatever they point, and not by another name of the same
// file. Within a run no link is followed.
func TestRunsAreKeptFromLinks(t *testing.T) {
	twoRuns(t)
	for name, to := range map[string]string{"run": "b", "file": "b/events.jsonl", "chain": "file", "state": "a/state",
		"checkpoint": "run/state/checkpoint.npz", "a/out": "../safe/file", "a/out.d": "../safe", "dangling": "b/state/new",
		"a/report.html": "../new.csv", "a/export": "../safe"} {
		if err := os.Symlink(to, name); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir("safe", 0o755); err != nil {
		t.Fatal(err)
	}
	const keeps, lies, link = ` keeps for itself; choose another name`, ` lies in what the run `, ` goes through a link in the run "a", `
	refused(t, "file", map[string]string{"run/config.toml": keeps, "file": keeps, "chain": keeps, "state/owner.json": lies,
		"checkpoint": lies, "state/../log.txt": keeps, "dangling": lies, "a/out": link, "a/out.d/file": link})
	refused(t, "folder", map[string]string{"state/new": lies, "run/state/new": lies, "a/out.d/new": link, "a/out.d": link, "dangling": lies})
	for _, command := range []string{"report a", "export a"} {
		if code, _, stderr := kestrel(t, strings.Fields(command)...); code != exitUsage || !strings.Contains(stderr, link) {
			t.Errorf("%s: code %d %q", command, code, stderr)
		}
	}
	if err := os.Link("a/state/checkpoint.npz", "hard"); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"predict a --data new.csv -o hard", "report a -o hard"} {
		if code, _, stderr := kestrel(t, strings.Fields(command)...); code != exitUsage ||
			!strings.HasPrefix(stderr, `kestrel: `) || !strings.Contains(stderr, `"a"`) {
			t.Errorf("%s: code %d %q", command, code, stderr)
		}
	}
}

// A link outside of runs is followed and stays; a pipe is written as it is.
func TestOutputsThroughLinks(t *testing.T) {
	twoRuns(t)
	if err := os.Mkdir("safe", 0o755); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"file": "safe/file", "folder": "safe"} {
		if err := os.Symlink(to, name); err != nil {
			t.Fatal(err)
		}
	}
	for _, command := range writers["file"] {
		for _, target := range []string{"file", "folder/other"} {
			if code, _, stderr := kestrel(t, append(strings.Fields(command), target)...); code != 0 {
				t.Errorf("%s %s: code %d %q", command, target, code, stderr)
			}
		}
		for _, name := range []string{"safe/file", "safe/other"} {
			if text, err := os.ReadFile(name); err != nil || len(text) == 0 {
				t.Errorf("%s: %s: %v", command, name, err)
			}
			_ = os.Remove(name) // dangling the next time
		}
	}
	if to, err := os.Readlink("file"); err != nil || to != "safe/file" {
		t.Errorf("the link points at %q, %v", to, err)
	}
	if err := syscall.Mkfifo("pipe", 0o644); err != nil {
		t.Fatal(err)
	}
	got := make(chan string)
	go func() {
		text, err := os.ReadFile("pipe")
		if err != nil {
			t.Error(err)
		}
		got <- string(text)
	}()
	code, _, stderr := kestrel(t, "predict", "a", "--data", "new.csv", "-o", "pipe")
	if text := <-got; code != 0 || !strings.HasPrefix(text, "row,x,") {
		t.Errorf("%d %q %q", code, stderr, text)
	}
}
