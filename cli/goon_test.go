//go:build linux || darwin

package cli

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.com/kestrel/experiment/runtest"
	"example.com/kestrel/internal/thorough"
)

// signalled runs the program, sends it a signal when there is something, and
// returns what it wrote to its standard error.
func signalled(t *testing.T, args []string, there func() bool, s os.Signal) (string, error) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), argsEnv+"="+strings.Join(args, " "))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for began := time.Now(); !there(); time.Sleep(5 * time.Millisecond) {
		if time.Since(began) > patience {
			t.Fatal("waited in vain")
		}
	}
	if err := cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Fatal(err)
	}
	err := cmd.Wait()
	return stderr.String(), err
}

// Repeats that are killed, and interrupted, go on with the command that the
// interruption names.
func TestRepeatAfterSignals(t *testing.T) {
	thorough.Unraced(t)
	t.Chdir(t.TempDir())
	args := func(dir string) []string {
		return strings.Fields("run quickstart --repeat 2 --prune-top 3 --then-refine 1 --set schedule.evaluate_every=0.1 " +
			"--set schedule.refine=1 --set data.outputs=80 --set sparse.inducing=8 --set kernels.expressions=SE,LIN,PER,RQ --quiet --out " + dir)
	}
	if code, _, stderr := kestrel(t, args("want")...); code != 0 {
		t.Fatal(stderr)
	}
	in := func(dir string, evaluations int) func() bool {
		return func() bool { return made(dir) >= evaluations }
	}
	signalled(t, args("d"), in("d/.001.partial", 4), syscall.SIGKILL)
	said, err := signalled(t, args("d"), in("d/.002.partial", 2), syscall.SIGTERM)
	var exit *exec.ExitError
	if want := "kestrel: interrupted; 1 of 2 runs finished; kestrel run quickstart --prune-top 3 --quiet --repeat 2 " +
		"--set schedule.evaluate_every=0.1 --set schedule.refine=1 --set data.outputs=80 --set sparse.inducing=8 " +
		"--set kernels.expressions=SE,LIN,PER,RQ --then-refine 1 --out d goes on\n"; said != want ||
		!errors.As(err, &exit) || exit.ExitCode() != exitInterrupted {
		t.Fatalf("%v: %s", err, said)
	}
	command := strings.TrimSuffix(strings.TrimPrefix(said, "kestrel: interrupted; 1 of 2 runs finished; kestrel "), " goes on\n")
	if code, _, stderr := kestrel(t, strings.Fields(command)...); code != 0 || stderr != "" {
		t.Fatal(stderr)
	}
	for _, run := range []string{"001", "002"} {
		runtest.SameResults(t, run, filepath.Join("d", run), filepath.Join("want", run), filepath.Join("want", run))
	}
	if left, err := os.ReadDir("d"); err != nil || len(left) != 3 {
		t.Errorf("left: %v, %v", left, err)
	}
}
