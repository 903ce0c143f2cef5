package inside

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
)

// Dir is an open directory. Names are relative to it, with slashes or the
// system's separators; it stays the same directory where it is moved.
type Dir struct {
	root *os.Root
	path string
	disk Disk
}

// Open opens a directory of the operating system's disk, see Disk.Open.
func Open(path string) (*Dir, error) { return Disk{}.Open(path) }

// Close closes the directory; what was opened in it stays open.
func (d *Dir) Close() error { return d.root.Close() }

// Path returns the path that the directory was opened by.
func (d *Dir) Path() string { return d.path }

// Join returns the path of what has a name in the directory, for people.
func (d *Dir) Join(name string) string { return filepath.Join(d.path, name) }

// Sub opens a folder in the directory. Close must be called.
func (d *Dir) Sub(name string) (*Dir, error) {
	name = clean(name)
	info, err := d.realFolder(name)
	if err != nil {
		return nil, err
	}
	root, err := d.root.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	if now, err := root.Stat("."); err != nil || !os.SameFile(info, now) {
		root.Close()
		return nil, errors.Join(d.changed(name), err)
	}
	return &Dir{root, d.Join(name), d.disk}, nil
}

func clean(name string) string { return path.Clean(filepath.ToSlash(name)) }

func (d *Dir) changed(name string) error {
	return d.refuse(name, "was replaced while it was opened", "try again")
}

// parents refuses a name that leads through what is no folder of the directory.
func (d *Dir) parents(name string) error {
	for i := range len(name) {
		if name[i] != '/' {
			continue
		}
		info, err := d.root.Lstat(name[:i])
		if err == nil {
			err = d.folder(name[:i], info)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Lstat says what has a name in the directory, and does not follow it.
func (d *Dir) Lstat(name string) (fs.FileInfo, error) {
	name = clean(name)
	if err := d.parents(name); err != nil {
		return nil, err
	}
	return d.root.Lstat(name)
}

// realFolder is Lstat for a folder.
func (d *Dir) realFolder(name string) (fs.FileInfo, error) {
	info, err := d.Lstat(name)
	if err == nil {
		err = d.folder(name, info)
	}
	return info, err
}

// CheckFile returns an error if a name has something else than a file, or leads
// through something else than folders. A file may also be missing.
func (d *Dir) CheckFile(name string) error { return d.check(name, d.ordinary) }

// CheckFolder is CheckFile for a folder.
func (d *Dir) CheckFolder(name string) error { return d.check(name, d.folder) }

func (d *Dir) check(name string, as func(string, fs.FileInfo) error) error {
	info, err := d.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	return as(clean(name), info)
}

// ReadDir lists a folder.
func (d *Dir) ReadDir(name string) ([]fs.DirEntry, error) {
	s, err := d.Sub(name)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return fs.ReadDir(s.root.FS(), ".")
}

// MkdirAll makes a folder, and those that it lies in, where they are missing. They are
// on the disk when it returns.
func (d *Dir) MkdirAll(name string) error {
	name = clean(name)
	parts := strings.Split(name, "/")
	for i := range parts {
		part := strings.Join(parts[:i+1], "/")
		switch err := d.mkdir(part); {
		case err == nil:
			if err := d.Sync(path.Dir(part)); err != nil {
				return err
			}
		case !errors.Is(err, fs.ErrExist):
			return err
		}
		if _, err := d.realFolder(part); err != nil {
			return err
		}
	}
	return nil
}

// Rename gives what has a name another one, in the place of what file has that.
// Neither is followed.
func (d *Dir) Rename(from, to string) error {
	from, to = clean(from), clean(to)
	if err := d.parents(from); err != nil {
		return err
	}
	if err := d.parents(to); err != nil {
		return err
	}
	if err := d.root.Rename(from, to); err != nil {
		return err
	}
	if d.disk.Watch != nil {
		d.disk.Watch.Renamed(d.Join(from), d.Join(to))
	}
	return nil
}

// Remove removes a file or an empty folder.
func (d *Dir) Remove(name string) error {
	name = clean(name)
	if err := d.parents(name); err != nil {
		return err
	}
	return d.disk.removed(d.Join(name), d.root.Remove(name))
}

// RemoveAll removes a file, or a folder with what is in it.
func (d *Dir) RemoveAll(name string) error {
	name = clean(name)
	if err := d.parents(name); err != nil {
		return err
	}
	return d.disk.removed(d.Join(name), d.root.RemoveAll(name))
}

// mkdir makes one folder.
func (d *Dir) mkdir(name string) error {
	err := d.root.Mkdir(name, 0o755)
	if err == nil && d.disk.Watch != nil {
		d.disk.Watch.Made(d.Join(name))
	}
	return err
}

// Gone reports whether the directory has been removed.
func (d *Dir) Gone() bool {
	info, err := d.root.Stat(".")
	return err != nil || gone(info)
}

// Moved reports whether another directory, or none, has the path that this one was
// opened by.
func (d *Dir) Moved() bool {
	there, err := os.Stat(d.path)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
	}
	here, err := d.root.Stat(".")
	return err == nil && !os.SameFile(there, here)
}
