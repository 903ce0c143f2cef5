//go:build linux || darwin

package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"example.com/kestrel/experiment"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/library"
	"example.com/kestrel/internal/thorough"
)

// told is what everything that shows a run says of how it stands, in one word.
func told(t *testing.T, dir string) map[string]string {
	t.Helper()
	said := func(args ...string) []byte {
		t.Helper()
		var out, errs bytes.Buffer
		if code := Execute(args, &out, &errs); code != 0 {
			t.Fatalf("%q: exit code %d: %s", args, code, errs.String())
		}
		return out.Bytes()
	}
	word := func(pattern string, in []byte) string {
		t.Helper()
		m := regexp.MustCompile(pattern).FindSubmatch(in)
		if m == nil {
			t.Fatalf("no %q in %s", pattern, in)
		}
		return string(m[1])
	}
	fate := func(text []byte) string {
		t.Helper()
		var s struct{ Fate string }
		if err := json.Unmarshal(text, &s); err != nil {
			t.Fatal(err)
		}
		return s.Fate
	}
	page := filepath.Join(t.TempDir(), "page.html")
	said("report", dir, "-o", page)
	report, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	listed := library.ReadRunInfo(dir)
	return map[string]string{
		"open --summary":       word(`^quickstart  ([a-z]+)\b`, said("open", dir, "--summary")),
		"open --json":          fate(said("open", dir, "--json")),
		"export --format json": fate(said("export", dir, "--format", "json")),
		"report":               word(`<p><strong>([^<]*)</strong>`, report),
		"the launcher":         listed.Word(),
	}
}

// All who show a run say the same word of how it stands: of one that was killed,
// of one that goes on in another process, and of the others.
func TestAllSayTheSameOfARun(t *testing.T) {
	thorough.Unraced(t)
	all := func(dir, want string) {
		t.Helper()
		for who, said := range told(t, dir) {
			if said != want {
				t.Errorf("%s says %q, want %q", who, said, want)
			}
		}
	}
	const small = "run quickstart --headless --quiet --set schedule.refine="
	begin := func(args string) *exec.Cmd {
		t.Helper()
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), argsEnv+"="+args)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
		return cmd
	}
	until := func(dir string, evaluations int) {
		t.Helper()
		for began := time.Now(); made(dir) < evaluations; time.Sleep(5 * time.Millisecond) {
			if time.Since(began) > patience {
				t.Fatalf("waited in vain for evaluation %d", evaluations)
			}
		}
	}

	dir := filepath.Join(t.TempDir(), "run")
	cmd := begin(small + "100000 --out " + dir)
	until(dir, 1)
	all(dir, "running")
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Fatal("it ended before it was killed")
	}
	all(dir, "crashed")
	cmd = begin("resume --headless --quiet " + dir)
	until(dir, made(dir)+1)
	all(dir, "running")
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	all(dir, "stopped")

	var out, errs bytes.Buffer
	dir = filepath.Join(t.TempDir(), "run")
	if code := Execute(strings.Fields(small+"0 --out "+dir), &out, &errs); code != 0 {
		t.Fatal(errs.String())
	}
	all(dir, "finished")
	dir = filepath.Join(t.TempDir(), "run")
	if code := Execute(strings.Fields(small+"0 --set schedule.budget=1ms --out "+dir), &out, &errs); code == 0 {
		t.Fatal("it has not failed")
	}
	all(dir, "failed")

	c, err := config.Load("quickstart", nil)
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(t.TempDir(), "run")
	s, err := experiment.Begin(context.Background(), c, dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []func() error{s.Run.Start, s.Run.Pause} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	all(dir, "paused")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	all(dir, "stopped")
}
