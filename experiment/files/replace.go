package files

import "example.com/kestrel/experiment/inside"

// ReplaceFile writes a file aside, syncs it and renames it, so that a reader
// finds the old one or the new one, whole.
func ReplaceFile(path string, text []byte) error {
	return replaceWith(inside.Disk{}, path, func(f inside.File) error {
		_, err := f.Write(text)
		return err
	})
}

// replaceWith replaces a file by what write writes: aside, synced, renamed. A link
// of that name is replaced, not followed.
func replaceWith(disk inside.Disk, path string, write func(inside.File) error) error {
	a, err := newAside(disk, path)
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
