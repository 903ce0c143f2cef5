//go:build unix

package cli

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The first signal ends a command that reads from a pipe into which nothing more
// is written, with exit code 130 and one line.
func TestSignalWhileReading(t *testing.T) {
	dir := t.TempDir()
	run, pipe := filepath.Join(dir, "run"), filepath.Join(dir, "pipe")
	tinyRun(t, run)
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for text, signal := range map[string]os.Signal{"": syscall.SIGTERM, "x\n1\n": os.Interrupt, "\x1f\x8b\x08\x00": syscall.SIGTERM} {
		var stderr strings.Builder
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), argsEnv+"=predict "+run+" --data "+pipe)
		cmd.Stderr = &stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		w, err := os.OpenFile(pipe, os.O_WRONLY, 0) // waits for the reader
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.WriteString(text); err != nil {
			t.Error(err)
		}
		begun := time.Now()
		stuck := time.AfterFunc(30*time.Second, func() { cmd.Process.Kill() })
		if err := cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		err = cmd.Wait()
		stuck.Stop()
		w.Close()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != exitInterrupted || stderr.String() != "kestrel: interrupted\n" {
			t.Errorf("%q: %v after %v: %s", text, err, time.Since(begun), stderr.String())
		}
	}
}

// A pipe is refused as a table, and leaves nothing behind; by a name that says
// nothing it may be a config, which is waited for a while.
func TestPipeIsNoTable(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"pipe", "pipe.csv", "pipe.txt.gz"} {
		if err := syscall.Mkfifo(name, 0o600); err != nil {
			t.Fatal(err)
		}
		want := "kestrel: config \"pipe\" cannot be read: it is no file, and nothing comes from it; name a TOML file or a table\n"
		if name != "pipe" {
			want = "kestrel: " + name + ": is a pipe: a table is read more than once; write it to a file first\n"
		}
		for _, args := range [][]string{{"data", "info", name}, {"run", name, "--headless", "--out", "run"}, {"compare", name, "--out", "run"}} {
			if code, stdout, stderr := kestrel(t, args...); code != exitUsage || stdout != "" || stderr != want {
				t.Errorf("%q: code %d: %s%s", args, code, stdout, stderr)
			}
		}
	}
	if _, err := os.Stat("run"); err == nil {
		t.Error("a directory is left")
	}
}
