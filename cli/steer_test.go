//go:build linux || darwin

package cli

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/rundir"
	"example.com/kestrel/internal/must"
)

// headless starts a run without a screen, which computes on every core until it is
// stopped.
func headless(t *testing.T, dir string) (cmd *exec.Cmd, said *bytes.Buffer) {
	t.Helper()
	cmd, said = exec.Command(os.Args[0]), &bytes.Buffer{}
	cmd.Env = append(os.Environ(), argsEnv+"=run fig1a-authors --headless --quiet --set schedule.refine=5000 --out "+dir+shortRun)
	cmd.Stderr = said
	must.OK(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd, said
}

// sockets is a place for sockets of the test's own: the path of its folder is too long.
func sockets(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "k")
	must.OK(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	t.Setenv("XDG_RUNTIME_DIR", dir)
	return filepath.Join(dir, "kestrel")
}

// A run without a screen, in the midst of its work, takes every order of another
// process, by keys and by command, as the bench gives them, and ends by the last.
func TestSteering(t *testing.T) {
	sockets(t)
	dir := filepath.Join(t.TempDir(), "run")
	run, said := headless(t, dir)
	p := &terminal{t: t}
	p.until("an evaluation", func() bool { return count(events(dir), record.EventEvaluation) >= 1 })
	p = start(t, "open "+dir)
	p.until("the process", func() bool { return strings.Contains(p.output(), "takes") })
	states := func(to record.State, reason string) (n int) {
		for _, e := range events(dir) {
			if e.State != nil && e.State.To == to && e.State.Reason == reason {
				n++
			}
		}
		return n
	}
	p.keys(" ")
	p.until("a pause", func() bool { return states(record.Paused, "paused by the user") == 1 })
	// Only cells that change are written, so that words may come in pieces.
	p.until("the word of it", func() bool { return strings.Contains(p.output(), "paused") || strings.Contains(p.output(), "goes on") })
	p.keys(" ")
	p.until("its end", func() bool { return states(record.Running, "resumed by the user") == 1 })
	p.keys("p", "\x7f", "\x7f", "3", "\r")
	p.until("the pruning", func() bool { return count(events(dir), record.EventPruned) == 1 })
	p.until("the key", func() bool { return strings.Contains(p.output(), "restore") })
	p.keys("u")
	p.until("the restoring", func() bool { return count(events(dir), record.EventRestored) == 1 })
	p.keys("r", "\r")
	p.until("the re-optimising", func() bool { return count(events(dir), record.EventReoptimised) == 1 })

	last := func() *record.Evaluation {
		es := events(dir)
		for i := range slices.Backward(es) {
			if es[i].Evaluation != nil {
				return es[i].Evaluation
			}
		}
		return nil
	}
	p.until("all kernels", func() bool { return len(last().Below(5)) > 1 })
	for _, c := range []struct {
		args, out, err string
		code           int
	}{
		{"pause", "paused", "", 0},
		{"pause", "", "the run is paused and cannot be paused", exitFailed},
		{"prune --top 5", "paused", "", 0},
		{"prune --top 5", "", "--top 5 keeps all kernels", exitFailed},
		{"restore " + last().Below(5)[0], "paused", "", 0},
		{"prune NONE", "", "NONE", exitFailed},
		{"restore", "paused", "", 0},
		{"resume", "running", "", 0},
		{"reoptimise --evaluations 2", "running", "", 0},
		{"reoptimise --evaluations 0", "", "--evaluations 0: must be from 1", exitUsage},
		{"pause --top 3", "", "--top is about prune", exitUsage},
		{"prune", "", "prune needs", exitUsage},
		{"stopp", "", "did you mean stop?", exitUsage},
	} {
		code, out, errs := kestrel(t, append([]string{"order", dir}, strings.Fields(c.args)...)...)
		if c.out != "" {
			c.out = fmt.Sprintf("%s: %s\n", dir, c.out)
		}
		if code != c.code || out != c.out || !strings.Contains(errs, c.err) || strings.Count(errs, "\n") > 1 {
			t.Errorf("%s: %d %q %q, want %d %q %q", c.args, code, out, errs, c.code, c.out, c.err)
		}
	}
	es := events(dir)
	for what, want := range map[record.EventType]int{record.EventPruned: 2, record.EventRestored: 3, record.EventReoptimised: 2} {
		if n := count(es, what); n != want {
			t.Errorf("%s %d times, want %d", what, n, want)
		}
	}

	p.keys("s")
	p.until("the end", func() bool { return finished(events(dir)) })
	if es := events(dir); es[len(es)-1].State == nil || es[len(es)-1].State.Reason != "stopped by the user" {
		t.Errorf("it ends with %+v", es[len(es)-1])
	}
	err := run.Wait()
	got := run.ProcessState.ExitCode()
	if got != exitInterrupted || !strings.Contains(said.String(), "stopped by an order; everything up to") {
		t.Errorf("%v: %s", err, said)
	}
	if code := p.quit(); code != 0 {
		t.Errorf("the viewer: exit code %d", code)
	}
	if code, _, errs := kestrel(t, "order", dir, "pause"); code != exitFailed || !strings.Contains(errs, "no process carries it out") {
		t.Errorf("after the end: %d %s", code, errs)
	}
}

// The socket of a killed run is removed by the next run; until then who asks is told
// that the process is gone.
func TestSteeringAKilledRun(t *testing.T) {
	place := sockets(t)
	dir := filepath.Join(t.TempDir(), "run")
	run, _ := headless(t, dir)
	p := &terminal{t: t}
	p.until("an evaluation", func() bool { return count(events(dir), record.EventEvaluation) >= 1 })
	owner, _ := rundir.OwnerOf(dir)
	if owner.Socket == "" || filepath.Dir(owner.Socket) != place {
		t.Fatalf("%+v", owner)
	}
	must.OK(t, run.Process.Kill())
	_ = run.Wait()
	if _, err := os.Lstat(owner.Socket); err != nil {
		t.Fatalf("no socket is left: the test says nothing: %v", err)
	}
	if code, _, errs := kestrel(t, "order", dir, "pause"); code != exitFailed || !strings.Contains(errs, "no process carries it out") {
		t.Errorf("%d %s", code, errs)
	}
	tinyRun(t, filepath.Join(t.TempDir(), "other"))
	if _, err := os.Lstat(owner.Socket); !os.IsNotExist(err) {
		t.Errorf("the socket is still there: %v", err)
	}
}
