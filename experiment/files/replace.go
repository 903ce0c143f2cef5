package files

import "os"

// ReplaceFile writes a file aside, syncs it and renames it, so that a reader
// finds the old one or the new one, whole.
func ReplaceFile(path string, text []byte) error {
	return ReplaceWith(path, func(f *os.File) error {
		_, err := f.Write(text)
		return err
	})
}

// ReplaceWith replaces a file by what write writes: aside, synced, renamed. A link
// of that name is replaced, not followed.
func ReplaceWith(path string, write func(*os.File) error) error {
	a, err := NewAside(path)
	if err != nil {
		return err
	}
	defer a.Drop()
	if err := write(a.File); err != nil {
		return err
	}
	if err := a.Finish(); err != nil {
		return err
	}
	return a.Place()
}
