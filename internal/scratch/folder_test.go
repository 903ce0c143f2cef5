package scratch

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"example.com/kestrel/internal/must"
)

// holding tells the test's own program to make a folder, say which, and wait to be killed.
const holding = "KESTREL_TEST_HOLDS_SCRATCH"

func TestMain(m *testing.M) {
	if os.Getenv(holding) == "" {
		os.Exit(m.Run())
	}
	f, err := Make("test")
	if err != nil {
		panic(err)
	}
	_, _ = os.Stdout.WriteString(f.Path + "\n")
	_, _ = os.Stdin.Read(make([]byte, 1))
}

func there(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// What a process had that was killed is removed by the next one, what a living one has is not.
func TestKilledProcessesLeaveNothing(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("TMP", os.Getenv("TMPDIR"))
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), holding+"=yes")
	in, err := c.StdinPipe()
	must.OK(t, err)
	defer in.Close()
	out, err := c.StdoutPipe()
	must.OK(t, err)
	must.OK(t, c.Start())
	said := make([]byte, 4096)
	n, err := out.Read(said)
	must.OK(t, err)
	path := strings.TrimSpace(string(said[:n]))
	must.OK(t, os.WriteFile(filepath.Join(path, "kept"), []byte("much"), 0o600))

	own, err := Make("test")
	must.OK(t, err)
	if !there(path) || !there(own.Path) {
		t.Fatalf("%s is removed while its process lives", path)
	}
	must.OK(t, c.Process.Kill())
	_ = c.Wait()
	another, err := Make("other")
	must.OK(t, err)
	if !there(path) {
		t.Error("a folder of another kind is removed")
	}
	another.Remove()
	second, err := Make("test")
	must.OK(t, err)
	if there(path) || !there(own.Path) || !there(second.Path) {
		t.Errorf("left of the killed: %v; there: %v, %v", there(path), there(own.Path), there(second.Path))
	}
	own.Remove()
	second.Remove()
	if left, _ := os.ReadDir(os.TempDir()); len(left) > 0 {
		t.Errorf("%v are left", left)
	}
}

// Nothing is removed that does not look like what a process of this user has left.
func TestStrangersAreLeft(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	t.Setenv("TMP", temp)
	elsewhere := t.TempDir()
	make := func(name string, mode os.FileMode, lock os.FileMode) string {
		path := filepath.Join(temp, name)
		must.OK(t, os.Mkdir(path, 0o700))
		if lock != 0 {
			must.OK(t, os.WriteFile(filepath.Join(path, lockName), nil, lock))
		}
		must.OK(t, os.Chmod(path, mode))
		return path
	}
	stay := []string{
		make("kestrel-test-nolock", 0o700, 0),
		make("kestrel-testing-1", 0o700, 0o600),
		make("test-1", 0o700, 0o600),
		elsewhere,
	}
	if runtime.GOOS != "windows" {
		stay = append(stay, make("kestrel-test-open", 0o755, 0o600), make("kestrel-test-shared", 0o700, 0o666))
		must.OK(t, os.WriteFile(filepath.Join(elsewhere, lockName), nil, 0o600))
		link := filepath.Join(temp, "kestrel-test-link")
		must.OK(t, os.Symlink(elsewhere, link))
		linked := make("kestrel-test-linked", 0o700, 0)
		must.OK(t, os.Symlink(filepath.Join(elsewhere, lockName), filepath.Join(linked, lockName)))
		stay = append(stay, link, linked)
	}
	must.OK(t, os.WriteFile(filepath.Join(temp, "kestrel-test-file"), nil, 0o600))
	stay = append(stay, filepath.Join(temp, "kestrel-test-file"))
	dead := make("kestrel-test-dead", 0o700, 0o600)
	f, err := Make("test")
	must.OK(t, err)
	defer f.Remove()
	for _, path := range stay {
		if !there(path) {
			t.Errorf("%s is removed", path)
		}
	}
	if there(dead) {
		t.Error("what is left of a dead process stays")
	}
}
