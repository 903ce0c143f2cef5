//go:build linux || darwin

package cli

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/kestrel/experiment/record"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/ui"
)

// Nobody is sent to a directory that was removed or moved while the run went on.
func TestGoneDirectories(t *testing.T) {
	for what, c := range map[string]struct {
		harm func(dir string) error
		end  func(*os.Process) error
		last string // of the lines of stderr, its beginning
		says string // on stdout
	}{
		"removed": {os.RemoveAll, func(*os.Process) error { return nil },
			"kestrel: the run failed: ", ""}, // why depends on what it was just writing
		"moved": {func(dir string) error { return os.Rename(dir, dir+"-moved") },
			func(p *os.Process) error { return p.Signal(os.Interrupt) },
			"kestrel: interrupted; everything up to there was in DIR, which was moved or removed",
			"\nresults were in DIR, which was moved or removed\n"},
	} {
		dir := filepath.Join(t.TempDir(), "run")
		var out, errs bytes.Buffer
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), argsEnv+"=run quickstart --headless --set schedule.refine=100000 --out "+dir)
		cmd.Stdout, cmd.Stderr = &out, &errs
		must.OK(t, cmd.Start())
		t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
		began := time.Now()
		for ; made(dir) < 1; time.Sleep(time.Millisecond) {
			if time.Since(began) > patience {
				t.Fatal("waited in vain for an evaluation")
			}
		}
		for c.harm(dir) != nil { // it was just written to
			if time.Since(began) > patience {
				t.Fatal("it cannot be harmed")
			}
		}
		must.OK(t, c.end(cmd.Process))
		if err := cmd.Wait(); err == nil {
			t.Errorf("%s: it has ended as if nothing were", what)
		}
		lines := strings.Split(strings.TrimSpace(errs.String()), "\n")
		if want := strings.ReplaceAll(c.last, "DIR", dir); !strings.HasPrefix(lines[len(lines)-1], want) ||
			strings.Contains(errs.String(), " is in ") {
			t.Errorf("%s: %q, not %q", what, lines[len(lines)-1], want)
		}
		if want := strings.ReplaceAll(c.says, "DIR", dir); !strings.Contains(out.String(), want) || strings.Contains(out.String(), "results in") {
			t.Errorf("%s: %q", what, out.String())
		}
	}
	dir := filepath.Join(t.TempDir(), "gone")
	for want, end := range map[string]ui.Outcome{
		"interrupted; everything up to there was in " + dir + ", which was moved or removed": {Path: dir, Interrupted: true},
		"the run failed; " + dir + ", where it was, was moved or removed":                    {Path: dir, Own: true, State: record.Failed},
		dir + ": finished; it was moved or removed\n":                                        {Path: dir, Own: true, State: record.Finished},
	} {
		var out bytes.Buffer
		if err := farewell(t.Context(), &out, end); err != nil {
			out.WriteString(err.Error())
		}
		if out.String() != want {
			t.Errorf("%q, not %q", out.String(), want)
		}
	}
}
