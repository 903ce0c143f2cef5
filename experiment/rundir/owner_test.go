package rundir

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/kestrel/experiment/record"
	"example.com/kestrel/internal/must"
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
	own, err := Claim(dir)
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
		must.OK(t, err)
		must.OK(t, c.Start())
		line, err := bufio.NewReader(out).ReadString('\n')
		must.OK(t, err)
		return c, strings.TrimSpace(line)
	}
	c, line := own()
	if line != "owner" {
		t.Fatal(line)
	}
	if o, known := OwnerOf(dir); !known || !o.Alive || o.PID != c.Process.Pid || o.Since.IsZero() {
		t.Errorf("%+v %v, want process %d", o, known, c.Process.Pid)
	}
	if _, err := Claim(dir); err == nil || !strings.Contains(err.Error(), "is being written by process") {
		t.Errorf("a run got two owners: %v", err)
	}
	must.OK(t, c.Process.Kill())
	if err := c.Wait(); err == nil {
		t.Error("the owner was not killed")
	}
	if o, known := OwnerOf(dir); !known || o.Alive || o.PID != c.Process.Pid {
		t.Errorf("after its end: %+v %v", o, known)
	}
	mine, err := Claim(dir)
	must.OK(t, err)
	if o, known := OwnerOf(dir); !known || !o.Alive || o.PID != os.Getpid() {
		t.Errorf("its own run: %+v %v", o, known)
	}
	if c, line := own(); !strings.Contains(line, "is being written by process") || c.Wait() == nil {
		t.Error("another process got a run that is owned: " + line)
	}
	must.OK(t, mine.Close())
	if o, known := OwnerOf(dir); !known || o.Alive {
		t.Errorf("given back: %+v %v", o, known)
	}
	must.OK(t, os.WriteFile(filepath.Join(dir, record.StateDir, record.OwnerFile), []byte("{"), 0o644))
	if o, known := OwnerOf(dir); !known || o.Alive || o.PID != 0 {
		t.Errorf("a torn note: %+v %v", o, known)
	}
}

// A link in the place of the note leads nobody to write elsewhere, or to take
// what is read there for an owner.
func TestOwnerFollowsNoLink(t *testing.T) {
	for _, name := range []string{record.OwnerFile, filepath.Base(lockFile(record.OwnerFile))} {
		for _, there := range []bool{true, false} {
			dir, victim := t.TempDir(), filepath.Join(t.TempDir(), "victim")
			must.OK(t, os.Mkdir(filepath.Join(dir, record.StateDir), 0o755))
			text := `{"pid":1,"host":"here"}`
			if there {
				must.OK(t, os.WriteFile(victim, []byte(text), 0o644))
			}
			if err := os.Symlink(victim, filepath.Join(dir, record.StateDir, name)); err != nil {
				t.Skip(err) // Windows asks for a privilege
			}
			own, err := Claim(dir)
			if want := fmt.Sprintf("%s in %q is a link", filepath.Join(record.StateDir, name), dir); err == nil {
				own.Close()
				t.Errorf("%s: followed", name)
			} else if !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%q, want %q", err, want)
			}
			if o, known := OwnerOf(dir); known || o.Alive || o.PID != 0 {
				t.Errorf("%s: %+v %v", name, o, known)
			}
			if got, err := os.ReadFile(victim); there && string(got) != text || !there && !os.IsNotExist(err) {
				t.Errorf("%s: behind the link is %q, %v", name, got, err)
			}
		}
	}
}

// Where the link comes between the question and the opening, opening refuses.
func TestOpeningFollowsNoLink(t *testing.T) {
	if lockFile(record.OwnerFile) != record.OwnerFile {
		t.Skip("there is no such flag here")
	}
	dir := t.TempDir()
	link, victim := filepath.Join(dir, "link"), filepath.Join(dir, "victim")
	must.OK(t, os.Symlink(victim, link))
	lock := newLock(link, os.O_RDWR|os.O_CREATE)
	if err := take(lock.TryLock); err == nil {
		t.Error("a lock was taken through a link")
	}
	if _, err := os.Lstat(victim); !os.IsNotExist(err) {
		t.Errorf("a file was made through a link: %v", err)
	}
	must.OK(t, os.WriteFile(victim, nil, 0o644))
	lock = newLock(link, os.O_RDONLY)
	if err := take(lock.TryRLock); err == nil {
		t.Error("a reader's lock was taken through a link")
	}
}
