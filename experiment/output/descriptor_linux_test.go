package output

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"example.com/kestrel/internal/must"
)

// What is written to a descriptor comes behind what has been, as with the shell's
// > and >>, and the file stays the one that it is.
func TestDescriptors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	must.OK(t, err)
	defer f.Close()
	for _, dir := range []string{"/dev/fd", "/proc/self/fd", fmt.Sprintf("/proc/%d/fd", os.Getpid())} {
		name := fmt.Sprintf("%s/%d", dir, f.Fd())
		_, err = f.WriteString("before ")
		must.OK(t, err)
		must.OK(t, Check(name))
		must.OK(t, Write(name, text("written ")))
	}
	_, err = f.WriteString("after")
	must.OK(t, err)
	if got, err := os.ReadFile(path); err != nil || string(got) != "before written before written before written after" {
		t.Errorf("%q, %v", got, err)
	}
	if at, err := find("/dev/stdout"); err != nil || at.descriptor != 1 {
		t.Errorf("%v, %v", at, err)
	}
	if err := Write("/dev/fd/4711", text("")); err == nil ||
		err.Error() != `"/dev/fd/4711" cannot be written: bad file descriptor; choose another with --out` {
		t.Error(err)
	}
}
