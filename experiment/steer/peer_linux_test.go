package steer

import (
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"example.com/kestrel/internal/must"
)

// Another user who gets to the socket all the same is not even greeted, and another's
// socket is not spoken to.
func TestOtherUsers(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can be another user")
	}
	dir := ownPlace(t)
	run := &noted{}
	s, _ := listenFor(t, run)
	for path := dir; path != "/tmp"; path = filepath.Dir(path) {
		must.OK(t, os.Chmod(path, 0o755))
	}
	must.OK(t, os.Chmod(s.Path, 0o777))
	var c net.Conn
	asAnother(t, func() (err error) { c, err = net.Dial("unix", s.Path); return err })
	defer c.Close()
	must.OK(t, c.SetDeadline(time.Now().Add(time.Minute)))
	_, _ = c.Write([]byte(`{"v":1,"order":"stop"}` + "\n"))
	if said, err := io.ReadAll(c); len(said) > 0 || run.got() != "" {
		t.Errorf("another user is told %q (%v); ordered %q", said, err, run.got())
	}

	theirs := filepath.Join(dir, "their.sock")
	must.OK(t, os.Chmod(dir, 0o777))
	var at *net.UnixListener
	asAnother(t, func() (err error) {
		at, err = net.ListenUnix("unix", &net.UnixAddr{Name: theirs, Net: "unix"})
		return err
	})
	defer at.Close()
	must.OK(t, os.Chmod(dir, 0o700))
	r := &Remote{}
	r.Owner.Socket = theirs
	if err := r.Stop(""); err == nil || !strings.Contains(err.Error(), "user 65534 is at the other end") {
		t.Errorf("another user's socket: %v", err)
	}
}

// asAnother does something as the user nobody.
func asAnother(t *testing.T, f func() error) {
	t.Helper()
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with its rights
		if _, _, e := unix.RawSyscall(unix.SYS_SETRESUID, ^uintptr(0), 65534, ^uintptr(0)); e != 0 {
			done <- errors.New(e.Error())
			return
		}
		done <- f()
	}()
	must.OK(t, <-done)
}
