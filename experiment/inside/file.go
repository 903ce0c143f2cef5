package inside

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"regexp"
	"strings"
)

// Open opens a file to read.
func (d *Dir) Open(name string) (*os.File, error) { return d.open(name, os.O_RDONLY) }

// OpenToWrite opens a file to read and go on with; it stays as it is.
func (d *Dir) OpenToWrite(name string) (File, error) {
	f, err := d.open(name, os.O_RDWR)
	if err != nil {
		return nil, err
	}
	return d.disk.Opened(d.Join(name), f), nil
}

// open opens a file that was a file of one name before it was opened, and is the
// same one after: opening itself would follow what came in between.
func (d *Dir) open(name string, flag int) (*os.File, error) {
	name = clean(name)
	before, err := d.Lstat(name)
	if err == nil {
		err = d.ordinary(name, before)
	}
	if err != nil {
		return nil, err
	}
	return d.openAs(name, flag, before)
}

// openAs opens a file that has been found to be an ordinary one.
func (d *Dir) openAs(name string, flag int, before fs.FileInfo) (*os.File, error) {
	f, err := d.root.OpenFile(name, flag|nonBlock, 0)
	if err != nil {
		return nil, err
	}
	if err := d.same(name, f, before); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func (d *Dir) same(name string, f *os.File, before fs.FileInfo) error {
	now, err := f.Stat()
	switch {
	case err != nil:
		return err
	case !os.SameFile(before, now):
		return d.changed(name)
	case openLinks(f, now) > 1:
		return d.refuseSecondName(name)
	}
	return d.ordinary(name, now)
}

// Holds returns an error unless an open file is the one of a name, and ordinary.
func (d *Dir) Holds(name string, open fs.FileInfo) error {
	name = clean(name)
	now, err := d.Lstat(name)
	switch {
	case err != nil:
		return err
	case !os.SameFile(open, now):
		return d.changed(name)
	}
	return d.ordinary(name, now)
}

// Create makes a file that is not there yet. Its name is on the disk when its folder
// has been synced.
func (d *Dir) Create(name string) (File, error) {
	name = clean(name)
	if err := d.parents(name); err != nil {
		return nil, err
	}
	f, err := d.root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, err
	}
	return d.disk.Opened(d.Join(name), f), nil
}

// OpenOrCreate opens a file to read and go on with, and makes it where it is
// missing.
func (d *Dir) OpenOrCreate(name string) (File, error) {
	f, err := d.OpenToWrite(name)
	if errors.Is(err, fs.ErrNotExist) {
		f, err = d.Create(name)
	}
	return f, err
}

// ReadFile reads a file of at most so many bytes (0: any).
func (d *Dir) ReadFile(name string, most int64) ([]byte, error) {
	f, err := d.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if most == 0 {
		return io.ReadAll(f)
	}
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(text)) > most {
		err = fmt.Errorf("%s is larger than %d KiB", d.Join(name), most>>10)
	}
	return text, err
}

// ReadFile is Dir.ReadFile for one file of a directory.
func ReadFile(dir, name string, most int64) ([]byte, error) {
	d, err := Open(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.ReadFile(name, most)
}

// ReplaceFile writes a file aside, syncs it and renames it, so that a reader finds
// the old one or the new one, whole, whatever happens. When it returns the new one is on
// the disk. A link in its place is replaced, not followed.
func (d *Dir) ReplaceFile(name string, text []byte) error {
	return d.Replace(name, func(f File) error {
		_, err := f.Write(text)
		return err
	})
}

// Replace replaces a file by what write writes, as ReplaceFile does.
func (d *Dir) Replace(name string, write func(File) error) error {
	if err := d.place(name, write); err != nil {
		return err
	}
	return d.Sync(path.Dir(clean(name)))
}

// ReplaceDerived is ReplaceFile for what is made of other files: after a loss of power
// the old one may still be there, whole, until the folder is synced.
func (d *Dir) ReplaceDerived(name string, text []byte) error {
	return d.place(name, func(f File) error {
		_, err := f.Write(text)
		return err
	})
}

// place replaces a file, and does not wait for its name to be on the disk.
func (d *Dir) place(name string, write func(File) error) error {
	name = clean(name)
	f, aside, err := d.createTemp(name)
	if err != nil {
		return err
	}
	placed := false
	defer func() {
		if !placed {
			_ = d.Remove(aside)
		}
	}()
	err = write(f)
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = d.Rename(aside, name)
	}
	placed = err == nil
	return err
}

// AsidePrefix begins the names under which a file is written aside, before its name is
// given to it; the process and a number follow.
func AsidePrefix(name string) string {
	if len(name) > longestName {
		h := fnv.New64a()
		h.Write([]byte(name)) // never fails
		name = fmt.Sprintf("%s-%016x", strings.ToValidUTF8(name[:longestName-17], ""), h.Sum64())
	}
	return "." + name + ".kestrel-"
}

// longestName is up to which a name stands in that of its aside; with what is
// added no more than the 255 bytes of common file systems are needed.
const longestName = 200

// asideNumbers are what follows.
var asideNumbers = regexp.MustCompile(`^[0-9]+-[0-9]+$`)

// IsAside reports whether a name is one under which a file of another name is
// written aside.
func IsAside(name, of string) bool {
	numbers, ok := strings.CutPrefix(name, AsidePrefix(of))
	return ok && asideNumbers.MatchString(numbers)
}

// RemoveLeftovers removes what a process that was killed has left aside of a file, for
// who holds the lock of the directory. What cannot be removed does no harm.
func (d *Dir) RemoveLeftovers(name string) {
	name = clean(name)
	entries, err := d.ReadDir(path.Dir(name))
	if err != nil {
		return
	}
	for _, e := range entries {
		if e.Type().IsRegular() && IsAside(e.Name(), path.Base(name)) {
			_ = d.Remove(path.Join(path.Dir(name), e.Name()))
		}
	}
}

// createTemp makes a file aside. It is not locked, as those of files.Aside are: who
// writes here holds the lock of the directory.
func (d *Dir) createTemp(name string) (f File, aside string, err error) {
	err = unused(func() error {
		aside = path.Join(path.Dir(name), fmt.Sprintf("%s%d-%d", AsidePrefix(path.Base(name)), os.Getpid(), rand.Uint32()))
		f, err = d.Create(aside)
		return err
	})
	return f, aside, err
}

// MkdirTemp makes a folder whose name begins so, and returns its name.
func (d *Dir) MkdirTemp(prefix string) (name string, err error) {
	err = unused(func() error {
		name = fmt.Sprintf("%s%d", clean(prefix), rand.Uint32())
		if err := d.parents(name); err != nil {
			return err
		}
		return d.mkdir(name)
	})
	return name, err
}

// unused tries names until one is not taken.
func unused(try func() error) (err error) {
	for range 1000 {
		if err = try(); !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return err
}
