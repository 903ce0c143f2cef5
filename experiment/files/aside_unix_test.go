//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package files

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"example.com/kestrel/internal/must"
)

// The permissions of what is replaced stay, those of a new file are the user's
// wish, and a link is replaced by ReplaceFile.
func TestReplacedPermissions(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "a"), filepath.Join(dir, "link")
	must.OK(t, os.WriteFile(path, nil, 0o640))
	must.OK(t, os.Chmod(path, 0o640))
	must.OK(t, ReplaceFile(path, []byte("a")))
	must.OK(t, os.Symlink("a", link))
	must.OK(t, ReplaceFile(link, []byte("link")))
	mask := syscall.Umask(0o077)
	err := ReplaceFile(filepath.Join(dir, "new"), nil)
	syscall.Umask(mask)
	must.OK(t, err)
	for name, want := range map[string]os.FileMode{"a": 0o640, "new": 0o600} {
		info, err := os.Lstat(filepath.Join(dir, name))
		must.OK(t, err)
		if info.Mode() != want {
			t.Errorf("%s: %v", name, info.Mode())
		}
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "a" {
		t.Errorf("%q, %v", text, err)
	}
	if info, err := os.Lstat(link); err != nil || !info.Mode().IsRegular() {
		t.Error("the link is there")
	}
}

// A link and a pipe that look like leftovers are not opened and stay.
func TestNoLeftovers(t *testing.T) {
	dir := t.TempDir()
	must.OK(t, os.WriteFile(filepath.Join(dir, "other"), []byte("other"), 0o644))
	must.OK(t, os.Symlink("other", filepath.Join(dir, ".a.kestrel-1-1")))
	must.OK(t, syscall.Mkfifo(filepath.Join(dir, ".a.kestrel-1-2"), 0o644))
	must.OK(t, ReplaceFile(filepath.Join(dir, "a"), nil))
	if names := namesIn(t, dir); names != ".a.kestrel-1-1 .a.kestrel-1-2 a other" {
		t.Error(names)
	}
}

// Killed while it writes, a process leaves its file, which goes when it is written
// the next time, and not before it is dead.
func TestKilledWriter(t *testing.T) {
	if path := os.Getenv("KESTREL_TEST_ASIDE"); path != "" {
		if _, err := NewAside(path); err == nil {
			os.Stdout.WriteString("writing\n")
			time.Sleep(time.Minute)
		}
		os.Exit(1)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	writer := exec.Command(os.Args[0], "-test.run=^TestKilledWriter$")
	writer.Env = append(os.Environ(), "KESTREL_TEST_ASIDE="+path)
	out, err := writer.StdoutPipe()
	must.OK(t, err)
	must.OK(t, writer.Start())
	_, err = out.Read(make([]byte, 1))
	must.OK(t, err)
	left := namesIn(t, dir)
	must.OK(t, ReplaceFile(path, nil))
	if names := namesIn(t, dir); left == "" || names != left+" a" {
		t.Errorf("%s, %s", left, names)
	}
	must.OK(t, writer.Process.Kill())
	_ = writer.Wait()
	if names := namesIn(t, dir); names != left+" a" {
		t.Errorf("%s, %s", left, names)
	}
	must.OK(t, ReplaceFile(path, nil))
	if names := namesIn(t, dir); names != "a" {
		t.Error(names)
	}
}
