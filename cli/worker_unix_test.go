//go:build unix

package cli

import (
	"net"
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

// beginning starts the program in a process of its own.
func beginning(t *testing.T, args string) (*exec.Cmd, *strings.Builder) {
	t.Helper()
	cmd, said := exec.Command(os.Args[0]), &strings.Builder{}
	cmd.Env = append(os.Environ(), argsEnv+"="+args)
	cmd.Stderr, cmd.Stdout = said, said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	return cmd, said
}

// freeAddress is one of this machine that nobody listens at.
func freeAddress(t *testing.T) string {
	t.Helper()
	port, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer port.Close()
	return port.Addr().String()
}

const joined, lost = `"type":"worker-joined"`, `"type":"worker-lost"`

// waitFor waits until something is there.
func waitFor(t *testing.T, what string, there func() bool) {
	t.Helper()
	for began := time.Now(); !there(); time.Sleep(5 * time.Millisecond) {
		if time.Since(began) > patience {
			log, _ := os.ReadFile("d/log.txt")
			t.Fatalf("in vain: %s; %s", what, log)
		}
	}
}

// whole reports whether a ticket is written.
func whole(ticket string) func() bool {
	return func() bool {
		b, _ := os.ReadFile(ticket)
		return strings.Contains(string(b), "\nseed SU") && strings.HasSuffix(string(b), "\n")
	}
}

// inLog reports whether something stands in a run's log so often.
func inLog(run, what string, least int) func() bool {
	return func() bool {
		b, _ := os.ReadFile(filepath.Join(run, "events.jsonl"))
		return strings.Count(string(b), what) >= least
	}
}

// A run whose workers are processes, of which one is killed, one stands still for longer
// than it may be silent, and one comes later, has the results of a run without any.
func TestRunWithWorkers(t *testing.T) {
	t.Chdir(t.TempDir())
	const config = "run quickstart --quiet --headless --set schedule.refine=1 --set data.outputs=60 --set data.support=40 " +
		"--set kernels.expressions=SE,LIN,PER,RQ --set cluster.lost_after=0.5 --set cluster.work_here=false --out "
	if code, _, stderr := kestrel(t, strings.Fields(config+"want")...); code != 0 {
		t.Fatal(stderr)
	}
	run, runSaid := beginning(t, config+"d --cluster 127.0.0.1:0")
	until := func(what string, there func() bool) {
		t.Helper()
		waitFor(t, what, there)
	}
	ticket := filepath.Join("d", ticketFile)
	until("a ticket", whole(ticket))
	if info, err := os.Stat(ticket); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	logged := func(what string, least int) func() bool { return inLog("d", what, least) }
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
	for _, name := range []string{ticket, "d/" + runKey} {
		if _, err := os.Stat(name); err == nil {
			t.Errorf("%s is left, which is good for nothing", name)
		}
	}
}

// A run that is killed and resumed serves with the ticket of before: its worker comes back by
// itself. Whoever the owner sends away leaves.
func TestWorkersComeBack(t *testing.T) {
	t.Chdir(t.TempDir())
	const config = "run quickstart --quiet --headless --set schedule.refine=1 --set data.outputs=60 --set data.support=40 " +
		"--set kernels.expressions=SE,LIN,PER,RQ --set cluster.lost_after=0.5 --set cluster.work_here=false --out "
	if code, _, stderr := kestrel(t, strings.Fields(config+"want")...); code != 0 {
		t.Fatal(stderr)
	}
	address := freeAddress(t)
	run, _ := beginning(t, config+"d --cluster "+address)
	ticket := filepath.Join("d", ticketFile)
	waitFor(t, "a ticket", whole(ticket))
	before, err := os.ReadFile(ticket)
	if err != nil {
		t.Fatal(err)
	}
	worker, said := beginning(t, "worker --lanes 1 --ticket "+ticket)
	waitFor(t, "an evaluation", func() bool { return made("d") >= 1 })
	run.Process.Signal(syscall.SIGKILL)
	run.Wait()
	again, againSaid := beginning(t, "resume d --headless --quiet --cluster "+address)
	waitFor(t, "the worker again", inLog("d", joined, 2))
	if code, out, stderr := kestrel(t, "cluster", "status", "d"); code != 0 ||
		!strings.HasPrefix(out, "d: ") || !strings.Contains(out, "s ago") {
		t.Errorf("%d: %s%s", code, out, stderr)
	}
	if now, err := os.ReadFile(ticket); err != nil || string(now) != string(before) {
		t.Errorf("another ticket: %v", err)
	}
	if err := again.Wait(); err != nil {
		t.Fatalf("%v: %s", err, againSaid)
	}
	if err := worker.Wait(); err != nil {
		t.Errorf("%v: %s", err, said)
	}
	runtest.SameResults(t, "resumed with workers", "d", "want", "want")
}

// Runs of a series that workers make, of which one is killed, as is the command in between, are
// those of the command alone; it goes on with the ticket of before.
func TestSeriesWithWorkers(t *testing.T) {
	thorough.Unraced(t)
	t.Chdir(t.TempDir())
	const config = "run quickstart --repeat 4 --prune-top 1 --set schedule.refine=1 --set data.outputs=60 --set data.support=40 " +
		"--set kernels.expressions=SE,LIN,PER --set device.kind=cpu --out "
	if code, _, stderr := kestrel(t, strings.Fields(config+"want --quiet")...); code != 0 {
		t.Fatal(stderr)
	}
	address := freeAddress(t)
	const by = " --set cluster.work_here=false --set cluster.lost_after=0.5 --cluster "
	series, _ := beginning(t, config+"d --quiet"+by+address)
	ticket := filepath.Join("d", ticketFile)
	waitFor(t, "a ticket", whole(ticket))
	there := func(run string) func() bool {
		return func() bool { _, err := os.Stat(filepath.Join("d", run)); return err == nil }
	}
	killed, _ := beginning(t, "worker --lanes 1 --ticket "+ticket)
	waitFor(t, "a run", func() bool { // whichever is the first
		return there("001")() || there("002")() || there("003")() || there("004")()
	})
	killed.Process.Signal(syscall.SIGKILL)
	series.Process.Signal(syscall.SIGKILL)
	killed.Wait()
	series.Wait()
	again, againSaid := beginning(t, config+"d"+by+address)
	waitFor(t, "the server again", func() bool {
		c, err := net.Dial("tcp", address)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	worker, said := beginning(t, "worker --lanes 2 --ticket "+ticket)
	left := make(chan error, 1)
	go func() {
		err := worker.Wait()
		if left <- err; err != nil {
			again.Process.Kill() // it would wait for another one
		}
	}()
	if err := again.Wait(); err != nil {
		t.Fatalf("%v: %s; the worker: %s", err, againSaid, said)
	}
	if err := <-left; err != nil {
		t.Errorf("%v: %s", err, said)
	}
	if text := againSaid.String(); !strings.Contains(text, "goes on where it was cut: ") || !strings.Contains(text, " joined, 2 lanes\n") ||
		!strings.Contains(text, ": made by ") || !strings.Contains(text, "in "+filepath.Join("d", "004")) { // or it was finished already
		t.Error(text)
	}
	for _, run := range []string{"001", "002", "003", "004"} {
		at, want := filepath.Join("d", run), filepath.Join("want", run)
		runtest.SameResults(t, run, at, want, want)
	}
	if there(ticketFile)() || there(runKey)() {
		t.Error("a ticket is left, which is good for nothing")
	}
}

// A server stands between runs; its workers stay until they are sent away.
func TestClusterCommands(t *testing.T) {
	t.Chdir(t.TempDir())
	server, _ := beginning(t, "cluster start c --listen 127.0.0.1:0")
	owner := filepath.Join("c", ownerFile)
	waitFor(t, "its tickets", whole(owner))
	if code, out, stderr := kestrel(t, "cluster", "status", "c"); code != 0 || !strings.HasSuffix(out, ": no run\n") {
		t.Errorf("%d: %s%s", code, out, stderr)
	}
	worker, said := beginning(t, "worker --stay --lanes 1 --ticket "+filepath.Join("c", ticketFile))
	id, err := served("c")
	if err != nil {
		t.Fatal(err)
	}
	short := "run quickstart --quiet --headless --set schedule.refine=0 --set data.outputs=40 --set data.support=40 " +
		"--set cluster.work_here=false"
	for _, name := range []string{"d", "e"} {
		args := short + " --out " + name + " --cluster kestrel://" + id.Address + " --ticket " + owner
		if code, _, stderr := kestrel(t, strings.Fields(args)...); code != 0 {
			t.Fatal(stderr)
		}
	}
	runtest.SameResults(t, "the second run", "e", "d", "d")
	if code, _, stderr := kestrel(t, "cluster", "drain", "c", "--all"); code != 0 {
		t.Error(stderr)
	}
	if err := worker.Wait(); err != nil || !strings.Contains(said.String(), "sent away") {
		t.Errorf("%v: %s", err, said)
	}
	if code, out, stderr := kestrel(t, "cluster", "ticket", "c", "--address", "h:1"); code != 0 ||
		!strings.Contains(out, "address h:1\n") || !strings.Contains(out, id.Ticket().Seed) {
		t.Errorf("%d: %s%s", code, out, stderr)
	}
	if code, _, stderr := kestrel(t, "cluster", "ticket", "c", "--new"); code != 0 {
		t.Error(stderr)
	}
	server.Process.Signal(syscall.SIGTERM)
	server.Wait()
	if other, err := served("c"); err != nil || other.Ticket().Seed == id.Ticket().Seed || other.Ticket().Pin == id.Ticket().Pin {
		t.Errorf("the keys are those of before: %v", err)
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
		"study --figures quickstart --cluster :1":                "--cluster needs --out",
		"study calibrate --cluster :1":                           "--cluster needs --out",
		"study calibrate --cluster :1 --workers 2 --out d":       "--workers is for this process alone",
		"study gaps --figure quickstart --cluster :1":            "--cluster needs --out",
		"compare quickstart --cluster :1 --ticket x --out d":     "--ticket needs --cluster kestrel://",
		"backtest x.csv --horizon 2 --insecure --out d":          "--insecure needs --cluster",
		"run quickstart --cluster nowhere --quiet --out e":       "no address such as :4222",
		"run quickstart --cluster :0 --insecure --quiet --out f": "--cluster 127.0.0.1:0",
		"run quickstart --cluster kestrel://h:1 --out g":         "needs --ticket FILE: owner.ticket",
		"run quickstart --cluster :1 --ticket x --out g":         "--ticket needs --cluster kestrel://",
		"cluster status .":                                       "no server of workers has this directory",
		"cluster drain .":                                        "the names of workers, or --all",
		"cluster start h --insecure":                             "--insecure needs an address of this machine alone",
	} {
		if code, _, stderr := kestrel(t, strings.Fields(args)...); code != exitUsage || !strings.Contains(stderr, want) {
			t.Errorf("%s: code %d: %s", args, code, stderr)
		}
	}
}
