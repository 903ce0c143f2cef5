package formats

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Archive is what a zip holds as a table: one file, or NumPy's arrays.
type Archive struct {
	File  io.Reader // the one file that it holds, as stored; nil
	Rows  Rows      // or NumPy's arrays
	Named bool      // whose columns have names
	Name  string    // of the one file
}

// mostArrays is the number of arrays of an archive that are read side by side.
const mostArrays = 1000

// Workbook reports whether a zip is a workbook (.xlsx).
func Workbook(z *zip.Reader) bool {
	return slices.ContainsFunc(z.File, func(f *zip.File) bool { return strings.EqualFold(f.Name, "xl/workbook.xml") })
}

// Zip finds the table in a zip. Unpacking is limited by who reads.
func Zip(z *zip.Reader) (*Archive, error) {
	arrays := len(z.File) > 0 && !slices.ContainsFunc(z.File, func(f *zip.File) bool { return !strings.HasSuffix(f.Name, ".npy") })
	open := func(f *zip.File) (io.Reader, error) {
		r, err := f.Open()
		if err != nil {
			return nil, fmt.Errorf("its file %.100q: %w", f.Name, err)
		}
		return r, nil
	}
	if arrays {
		if len(z.File) > mostArrays {
			return nil, fmt.Errorf("holds %d arrays, more than are read", len(z.File))
		}
		rows, named, err := npz(z, open)
		return &Archive{Rows: rows, Named: named}, err
	}
	var files []*zip.File
	for _, f := range z.File {
		if !f.FileInfo().IsDir() && !strings.HasPrefix(f.Name, "__MACOSX/") {
			files = append(files, f)
		}
	}
	switch len(files) {
	case 0:
		return nil, errors.New("is an archive without a file")
	case 1:
		r, err := open(files[0])
		return &Archive{File: r, Name: files[0].Name}, err
	}
	return nil, fmt.Errorf("is an archive of %d files, the first %.100q; a table is one file: unpack it", len(files), files[0].Name)
}
