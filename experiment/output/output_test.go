package output

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/kestrel/internal/must"
)

// namesIn lists a folder.
func namesIn(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must.OK(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}

// Of files that belong together none is in its place while another may still
// fail, and what was there stays.
func TestWriteAll(t *testing.T) {
	dir := t.TempDir()
	paths := []string{filepath.Join(dir, "a"), filepath.Join(dir, "b")}
	must.OK(t, os.WriteFile(paths[0], []byte("old"), 0o600))
	content := func(path string) string {
		text, err := os.ReadFile(path)
		must.OK(t, err)
		return string(text)
	}
	both := func(to []io.Writer) error {
		for i, text := range []string{"first", "second"} {
			if _, err := io.WriteString(to[i], text); err != nil {
				return err
			}
		}
		return nil
	}
	over := errors.New("over")
	err := WriteAll(paths, func(to []io.Writer) error {
		must.OK(t, both(to))
		return over
	})
	if err != over || namesIn(t, dir) != "a" || content(paths[0]) != "old" {
		t.Errorf("%v; left: %s", err, namesIn(t, dir))
	}
	must.OK(t, WriteAll(paths, both))
	if namesIn(t, dir) != "a b" || content(paths[0]) != "first" || content(paths[1]) != "second" {
		t.Errorf("%s: %q, %q", namesIn(t, dir), content(paths[0]), content(paths[1]))
	}
	// Where the second cannot be written, nothing is asked for.
	none := filepath.Join(dir, "none", "b")
	err = WriteAll([]string{paths[0], none}, func([]io.Writer) error { t.Error("written all the same"); return nil })
	if err == nil || !strings.HasPrefix(err.Error(), `"`+none+`" cannot be written: `) ||
		!strings.HasSuffix(err.Error(), "; choose another with --out") ||
		!errors.Is(err, os.ErrNotExist) || content(paths[0]) != "first" {
		t.Errorf("%v", err)
	}
}

// What is buffered last is on the disk before the first file is put in its place:
// a disk that is full then leaves nothing behind.
func TestWriteAllToAFullDisk(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("there is no /dev/full")
	}
	dir := t.TempDir()
	for _, paths := range [][]string{{filepath.Join(dir, "a"), "/dev/full"}, {"/dev/full", filepath.Join(dir, "a")}} {
		err := WriteAll(paths, func(to []io.Writer) error {
			for _, w := range to {
				if _, err := io.WriteString(w, "text"); err != nil {
					return err
				}
			}
			return nil
		})
		if err == nil || !strings.Contains(err.Error(), "cannot be written: no space left on device") || namesIn(t, dir) != "" {
			t.Errorf("%v: %v; left: %s", paths, err, namesIn(t, dir))
		}
	}
}
