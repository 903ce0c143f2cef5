//go:build unix

package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.com/kestrel/experiment/runtest"
)

// beginning starts the program in a process of its own.
func beginning(t *testing.T, args string) (*exec.Cmd, *strings.Builder) {
	t.Helper()
	cmd, said := exec.Command(os.Args[0]), &strings.Builder{}
	cmd.Env = append(os.Environ(), argsEnv+"="+args)
	cmd.Stderr = said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	return cmd, said
}

// A run whose workers are processes, of which one is killed, one stands still for longer
// than it may be silent, and one comes later, has the results of a run without any.
func TestRunWithWorkers(t *testing.T) {
	t.Chdir(t.TempDir())
	const config = "run quickstart --quiet --headless --set schedule.refine=1 --set data.outputs=150 --set cluster.lost_after=0.5 " +
		"--set cluster.work_here=false --out "
	if code, _, stderr := kestrel(t, strings.Fields(config+"want")...); code != 0 {
		t.Fatal(stderr)
	}
	run, runSaid := beginning(t, config+"d --cluster 127.0.0.1:0")
	until := func(what string, there func() bool) {
		t.Helper()
		for began := time.Now(); !there(); time.Sleep(time.Millisecond) {
			if time.Since(began) > patience {
				log, _ := os.ReadFile("d/log.txt")
				t.Fatalf("in vain: %s; %s%s", what, runSaid, log)
			}
		}
	}
	ticket := filepath.Join("d", ticketFile)
	until("a ticket", func() bool {
		b, _ := os.ReadFile(ticket)
		return strings.Contains(string(b), "\nseed SU") && strings.HasSuffix(string(b), "\n")
	})
	if info, err := os.Stat(ticket); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	logged := func(what string, least int) func() bool {
		return func() bool {
			b, _ := os.ReadFile("d/events.jsonl")
			return strings.Count(string(b), what) >= least
		}
	}
	const joined, lost = `"type":"worker-joined"`, `"type":"worker-lost"`
	worker := "worker --lanes 1 --ticket " + ticket
	killed, _ := beginning(t, worker)
	still, _ := beginning(t, worker)
	until("two workers", logged(joined, 2))
	until("an evaluation", func() bool { return made("d") >= 1 })
	killed.Process.Signal(syscall.SIGKILL)
	still.Process.Signal(syscall.SIGSTOP)
	killed.Wait()
	until("both are lost", logged(lost, 2))
	late, lateSaid := beginning(t, worker)
	until("a third one", logged(joined, 3))
	still.Process.Signal(syscall.SIGCONT)
	if err := run.Wait(); err != nil {
		t.Fatalf("%v: %s", err, runSaid)
	}
	for what, w := range map[string]*exec.Cmd{"late": late, "stopped": still} {
		if err := w.Wait(); err != nil {
			t.Errorf("%s: %v: %s", what, err, lateSaid)
		}
	}
	runtest.SameResults(t, "with workers", "d", "want", "want")
	if _, err := os.Stat(ticket); err == nil {
		t.Error("a ticket is left that is good for nothing")
	}
}

// What is wrong with the flags of a worker is told in a line.
func TestWorkerFlags(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("open", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"worker":                                                 "--ticket FILE is missing",
		"worker --join tower:4222 --ticket x":                    "no address such as kestrel://tower:4222",
		"worker --ticket open":                                   "chmod 600",
		"run quickstart --insecure":                              "--insecure needs --cluster",
		"run quickstart --cluster :1 --repeat 2 --out d":         "--cluster is for one run",
		"run quickstart --cluster nowhere --quiet --out e":       "no address such as :4222",
		"run quickstart --cluster :0 --insecure --quiet --out f": "--cluster 127.0.0.1:0",
	} {
		if code, _, stderr := kestrel(t, strings.Fields(args)...); code != exitUsage || !strings.Contains(stderr, want) {
			t.Errorf("%s: code %d: %s", args, code, stderr)
		}
	}
}
