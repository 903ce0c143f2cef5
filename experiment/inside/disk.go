package inside

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

// Disk is what files that must not be lost are written to. The zero value is the
// operating system's; a test has one watched, to find out what of it would be left
// after a loss of power.
type Disk struct{ Watch Watch }

// Watch is told what has been done to the names on a disk, after it was done, and what
// is opened to be written to. Paths are those by which a Disk was used.
type Watch interface {
	// Opened returns what is written to in the place of a file that has been opened.
	Opened(path string, f File) File
	Made(folder string)
	Renamed(from, to string)
	Removed(path string)  // with all that was in it
	Synced(folder string) // its names, not what is in its files
}

// File is a file that is written to. An *os.File is one.
type File interface {
	io.ReadWriteSeeker
	io.ReaderAt
	io.WriterAt
	io.Closer
	Truncate(size int64) error
	Sync() error
	Stat() (fs.FileInfo, error)
	Name() string
}

// Open opens a directory, which may be named by a link. Close must be called.
func (k Disk) Open(path string) (*Dir, error) {
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() { // asked before: opening a pipe waits for its other end
		err = &fs.PathError{Op: "open", Path: path, Err: syscall.ENOTDIR}
	}
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	return &Dir{root, path, k}, nil
}

// MkdirAll makes a folder, and those that it lies in, where they are missing. They are
// on the disk when it returns.
func (k Disk) MkdirAll(path string) error {
	path = filepath.Clean(path)
	there := path
	for there != filepath.Dir(there) {
		if _, err := os.Stat(there); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		there = filepath.Dir(there)
	}
	name, err := filepath.Rel(there, path)
	if err != nil || name == "." {
		return errors.Join(err, os.MkdirAll(path, 0o755)) // which says what is in the way
	}
	d, err := k.Open(there)
	if err != nil {
		return err
	}
	return errors.Join(d.MkdirAll(name), d.Close())
}

// Create makes a file that is not there yet, by its path; see Opened.
func (k Disk) Create(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644)
}

// Opened returns what is written to where a file has been opened by its path.
func (k Disk) Opened(path string, f *os.File) File {
	if k.Watch == nil {
		return f
	}
	return k.Watch.Opened(path, f)
}

// Place gives a file or a folder another name in the folder that it is in. It is on the
// disk when it returns.
func (k Disk) Place(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	if k.Watch != nil {
		k.Watch.Renamed(from, to)
	}
	return k.sync(filepath.Dir(to), os.Open)
}

// Remove removes a file.
func (k Disk) Remove(path string) error { return k.removed(path, os.Remove(path)) }

// RemoveAll removes a file, or a folder with what is in it. None is no error.
func (k Disk) RemoveAll(path string) error { return k.removed(path, os.RemoveAll(path)) }

// removed tells that something has been removed, unless that failed.
func (k Disk) removed(path string, err error) error {
	if err == nil && k.Watch != nil {
		k.Watch.Removed(path)
	}
	return err
}

// sync waits until the names in a folder are on the disk.
func (k Disk) sync(folder string, open func(string) (*os.File, error)) error {
	if err := syncFolder(folder, open); err != nil {
		return err
	}
	if k.Watch != nil {
		k.Watch.Synced(folder)
	}
	return nil
}

func syncFolder(folder string, open func(string) (*os.File, error)) error {
	if runtime.GOOS == "windows" { // folders cannot be
		return nil
	}
	f, err := open(folder)
	if errors.Is(err, fs.ErrPermission) { // one that must not be listed may be written to
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, syscall.EINVAL) {
		return err
	}
	return nil
}

// Sync waits until the names in a folder are on the disk, those that came and those
// that went: that what is in a file is there is worth nothing as long as its name may
// be lost. Where the system or the file system has no such thing there is nothing to
// wait for.
func (d *Dir) Sync(folder string) error {
	folder = clean(folder)
	return d.disk.sync(d.Join(folder), func(string) (*os.File, error) { return d.root.Open(folder) })
}
