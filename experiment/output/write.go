package output

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"example.com/kestrel/experiment/files"
)

// bufferSize is how much is written at a time, in bytes.
const bufferSize = 1 << 16

// Check returns an error if a file cannot be written, as far as that can be told
// before. runs are those that the command reads: another name of a file of theirs
// is refused, too. The error begins with the name.
func Check(name string, runs ...string) error {
	at, err := findFile(name, runs)
	if err != nil || at.descriptor >= 0 {
		return err
	}
	if info, err := os.Stat(filepath.Dir(at.path)); err != nil || !info.IsDir() {
		return fmt.Errorf("%q: there is no such folder; make it first", name)
	}
	return nil
}

// findFile finds the place of a file.
func findFile(name string, runs []string) (place, error) {
	at, err := find(name)
	if err != nil || at.descriptor >= 0 {
		return at, err
	}
	if err := checkFile(name, at.path, runs); err != nil {
		return place{}, err
	}
	if info, err := os.Lstat(at.path); err == nil && info.IsDir() || os.IsPathSeparator(name[len(name)-1]) {
		return place{}, fmt.Errorf("%q is a folder; name a file", name)
	}
	return at, nil
}

// Write writes a file.
func Write(name string, write func(io.Writer) error) error {
	return WriteAll([]string{name}, func(to []io.Writer) error { return write(to[0]) })
}

// WriteAll writes files that belong together, and puts none of them in its place
// before all are whole and on the disk. Errors of write are returned as they are.
func WriteAll(names []string, write func(to []io.Writer) error) (err error) {
	all := make([]*open, 0, len(names))
	defer func() {
		for _, o := range all {
			o.drop()
		}
	}()
	to := make([]io.Writer, len(names))
	for i, name := range names {
		at, err := findFile(name, nil)
		if err != nil {
			return err
		}
		o := &open{name: name, at: at}
		for _, other := range all {
			if other.at == at && other.aside != nil {
				return fmt.Errorf("%q and %q are one file; choose another name", other.name, name)
			}
		}
		if err := o.open(); err != nil {
			return unwritable(name, err)
		}
		all = append(all, o)
		to[i] = o.buffer
	}
	if err := write(to); err != nil {
		return err
	}
	for _, step := range []func(*open) error{(*open).finish, (*open).place} {
		for _, o := range all {
			if err := step(o); err != nil {
				return unwritable(o.name, err)
			}
		}
	}
	return nil
}

// open is a file that is being written.
type open struct {
	name   string
	at     place
	aside  *files.Aside // nil: there is something else than a file, that is file
	file   io.WriteCloser
	buffer *bufio.Writer
}

func (o *open) open() error {
	var err error
	info, missing := os.Lstat(o.at.path)
	switch {
	case o.at.descriptor >= 0:
		o.file, err = openDescriptor(o.at.descriptor)
	case missing != nil || info.Mode().IsRegular():
		if o.aside, err = files.NewAside(o.at.path); err == nil {
			o.file = o.aside
		}
	default:
		o.file, err = os.OpenFile(o.at.path, os.O_WRONLY, 0)
	}
	o.buffer = bufio.NewWriterSize(o.file, bufferSize)
	return err
}

// finish writes the rest.
func (o *open) finish() error {
	err := o.buffer.Flush()
	if err == nil && o.aside != nil {
		err = o.aside.Finish()
	}
	return err
}

func (o *open) place() error {
	if o.aside != nil {
		return o.aside.Place()
	}
	return o.file.Close()
}

func (o *open) drop() {
	if o.aside != nil {
		o.aside.Drop()
	} else {
		o.file.Close()
	}
}

// fileError is why a file that the user has named cannot be written, without
// the name that it has while it is being written.
type fileError struct {
	name string
	err  error
}

func unwritable(name string, err error) error { return &fileError{name, err} }

func (e *fileError) Error() string {
	err := e.err
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		err = pe.Err
	} else if le := (*os.LinkError)(nil); errors.As(err, &le) {
		err = le.Err
	}
	return fmt.Sprintf("%q cannot be written: %v; choose another with --out", e.name, err)
}

func (e *fileError) Unwrap() error { return e.err }
