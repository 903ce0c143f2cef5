package files

import (
	"os"
	"path/filepath"
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
