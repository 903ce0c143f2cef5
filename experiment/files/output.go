package files

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// outputBuffer is how much is written at a time, in bytes.
const outputBuffer = 1 << 16

// CheckOutput returns an error if a path cannot be that of a file to write, as
// far as that can be told before.
func CheckOutput(path string) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fmt.Errorf("-o %q is a folder; name a file", path)
	}
	if info, err := os.Stat(filepath.Dir(path)); err != nil || !info.IsDir() {
		return fmt.Errorf("-o %q: there is no such folder; make it first", path)
	}
	return nil
}

// WriteOutput writes a file for the user: aside, and in its place once it is
// whole, unless there is something else than a file of that name, such as a
// pipe.
func WriteOutput(path string, write func(io.Writer) error) error {
	return WriteOutputs([]string{path}, func(to []io.Writer) error { return write(to[0]) })
}

// WriteOutputs writes files that belong together as WriteOutput does, and puts
// none of them in its place before all are whole and on the disk. Errors of write
// are returned as they are.
func WriteOutputs(paths []string, write func(to []io.Writer) error) error {
	var files []*os.File
	var own error // of write
	all := func() error {
		buffers := make([]*bufio.Writer, len(files))
		to := make([]io.Writer, len(files))
		for i, f := range files {
			buffers[i] = bufio.NewWriterSize(f, outputBuffer)
			to[i] = buffers[i]
		}
		if own = write(to); own != nil {
			return own
		}
		for i, f := range files {
			if err := buffers[i].Flush(); err != nil {
				return err
			}
			if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
				if err := f.Sync(); err != nil {
					return err
				}
			}
		}
		return nil
	}
	// From the last to the first, each is open while those before it are: the
	// innermost call writes them all, and only then is one after the other renamed.
	for _, path := range slices.Backward(paths) {
		inner := all
		all = func() error {
			err := openOutput(path, func(f *os.File) error {
				files = append(files, f)
				return inner()
			})
			var known *outputError
			if err == nil || err == own || errors.As(err, &known) {
				return err
			}
			return &outputError{path, err}
		}
	}
	return all()
}

// openOutput lets write fill a file that takes the place of path then, or what is
// there if that is something else than a file.
func openOutput(path string, write func(*os.File) error) error {
	info, err := os.Stat(path)
	if err != nil || info.Mode().IsRegular() {
		return ReplaceWith(path, write)
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	err = write(f)
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}

// outputError is why a file that the user has named cannot be written, without
// the name that it has while it is being written.
type outputError struct {
	path string
	err  error
}

func (e *outputError) Error() string {
	err := e.err
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		err = pe.Err
	} else if le := (*os.LinkError)(nil); errors.As(err, &le) {
		err = le.Err
	}
	return fmt.Sprintf("%q cannot be written: %v; choose another with --out", e.path, err)
}

func (e *outputError) Unwrap() error { return e.err }
