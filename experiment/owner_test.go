package experiment

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// ownerChild names the run that a copy of the test program owns until it is
// killed.
const ownerChild = "KESTREL_TEST_OWNER"

// TestMain lets the test program be the owner of a run.
func TestMain(m *testing.M) {
	dir := os.Getenv(ownerChild)
	if dir == "" {
		os.Exit(m.Run())
	}
	own, err := WriteOwner(dir)
	if err != nil {
		os.Stdout.WriteString(err.Error() + "\n")
		os.Exit(1)
	}
	os.Stdout.WriteString("owner\n")
	time.Sleep(time.Hour)
	own.Close()
}

// A run has an owner as long as its process lives, also if it is killed.
func TestOwner(t *testing.T) {
	dir := t.TempDir()
	if o, known := OwnerOf(dir); known || o.Alive {
		t.Errorf("a run without a note has the owner %+v", o)
	}
	own := func() (*exec.Cmd, string) {
		t.Helper()
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), ownerChild+"="+dir)
		out, err := c.StdoutPipe()
		must(t, err)
		must(t, c.Start())
		line, err := bufio.NewReader(out).ReadString('\n')
		must(t, err)
		return c, strings.TrimSpace(line)
	}
	c, line := own()
	if line != "owner" {
		t.Fatal(line)
	}
	if o, known := OwnerOf(dir); !known || !o.Alive || o.PID != c.Process.Pid || o.Since.IsZero() {
		t.Errorf("%+v %v, want process %d", o, known, c.Process.Pid)
	}
	if _, err := WriteOwner(dir); err == nil || !strings.Contains(err.Error(), "is being written by process") {
		t.Errorf("a run got two owners: %v", err)
	}
	must(t, c.Process.Kill())
	if err := c.Wait(); err == nil {
		t.Error("the owner was not killed")
	}
	if o, known := OwnerOf(dir); !known || o.Alive || o.PID != c.Process.Pid {
		t.Errorf("after its end: %+v %v", o, known)
	}
	mine, err := WriteOwner(dir)
	must(t, err)
	if o, known := OwnerOf(dir); !known || !o.Alive || o.PID != os.Getpid() {
		t.Errorf("its own run: %+v %v", o, known)
	}
	if c, line := own(); !strings.Contains(line, "is being written by process") || c.Wait() == nil {
		t.Error("another process got a run that is owned: " + line)
	}
	must(t, mine.Close())
	if o, known := OwnerOf(dir); !known || o.Alive {
		t.Errorf("given back: %+v %v", o, known)
	}
	must(t, os.WriteFile(filepath.Join(dir, stateDir, ownerFile), []byte("{"), 0o644))
	if o, known := OwnerOf(dir); !known || o.Alive || o.PID != 0 {
		t.Errorf("a torn note: %+v %v", o, known)
	}
}
