package files

import (
	"os"
	"path/filepath"
	"strings"
)

// ReplaceFile writes a file aside, syncs it and renames it, so that a reader
// finds the old one or the new one, whole.
func ReplaceFile(path string, text []byte) error {
	return ReplaceWith(path, func(f *os.File) error {
		_, err := f.Write(text)
		return err
	})
}

// ReplaceWith replaces a file by what write writes: aside, synced, renamed.
func ReplaceWith(path string, write func(*os.File) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	err = write(f)
	if err == nil {
		err = f.Chmod(0o644)
	}
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	return err
}

// RemoveAside removes what a process that was killed has left aside of a file that
// it was just replacing. What cannot be removed does no harm.
func RemoveAside(path string) {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return
	}
	for _, e := range entries {
		if Aside(e.Name(), filepath.Base(path)) {
			_ = os.Remove(filepath.Join(filepath.Dir(path), e.Name()))
		}
	}
}

// Aside reports whether a name is one under which ReplaceWith writes the file of
// another name.
func Aside(name, of string) bool {
	number, ok := strings.CutPrefix(name, "."+of+".")
	return ok && number != "" && strings.Trim(number, "0123456789") == ""
}
