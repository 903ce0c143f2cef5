package datasets

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"example.com/kestrel/datasets/formats"
	"example.com/kestrel/datasets/sheets"
)

// StandardInput is the path that stands for it.
const StandardInput = "-"

// splitSheet divides book.xlsx#Sheet1 into the file and the sheet; sheet is "" of
// anything else.
func splitSheet(path string) (file, sheet string) {
	for i, c := range path {
		if c == '#' && slices.Contains([]string{".xlsx", ".xlsm"}, strings.ToLower(filepath.Ext(path[:i]))) {
			return path[:i], path[i+1:]
		}
	}
	return path, ""
}

// NamesSheet reports whether a path is that of a sheet in a workbook.
func NamesSheet(path string) bool {
	_, sheet := splitSheet(path)
	return sheet != ""
}

// rowsOf has a file that begins like lines of JSON or an array of NumPy's, of which in
// gives all, read as text, and reports whether it does.
func (s *source) rowsOf(begin []byte, in io.Reader) bool {
	switch begin = bytes.TrimLeft(bytes.TrimPrefix(begin, []byte("\xef\xbb\xbf")), " \t\r\n"); {
	case len(begin) > 0 && begin[0] == '{':
		s.Reader, s.unnamed = formats.Text(formats.JSONLines(withoutBOM(in))), -1
	case string(begin) == formats.MagicNPY:
		rows, err := formats.NPY(in)
		if err != nil {
			rows = func() ([]string, error) { return nil, err }
		}
		s.Reader = formats.Text(rows)
	default:
		return false
	}
	s.size = 0 // what is read of it says nothing of the rows
	return true
}

func withoutBOM(in io.Reader) io.Reader {
	b := bufio.NewReader(in)
	if bom, _ := b.Peek(3); string(bom) == "\xef\xbb\xbf" {
		b.Discard(3)
	}
	return b
}

var errArchivePipe = errors.New("is an archive, or a table of another program, which cannot be read from a pipe; write it to a file first")

// convert has what is read by its parts, a workbook, a zip or a Parquet file, read as
// text, and reports whether it is one.
func (s *source) convert(ctx context.Context, magic []byte, sheet string) (converted bool, err error) {
	zipped, parquet := bytes.HasPrefix(magic, []byte(sheets.XLSX)), bytes.HasPrefix(magic, []byte(formats.MagicParquet))
	switch {
	case !zipped && !parquet && sheet != "":
		return false, fmt.Errorf("is no workbook (.xlsx), of which # could name a sheet")
	case !zipped && !parquet:
		return false, nil
	case s.size == 0:
		return false, errArchivePipe
	}
	size := s.size
	s.size = 0
	if parquet {
		var rows formats.Rows
		err := sheets.Guarded(func() (err error) {
			rows, err = formats.Parquet(s.file, size)
			return err
		})
		s.Reader, s.unnamed = formats.Text(func() (row []string, err error) {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if e := sheets.Guarded(func() error { row, err = rows(); return nil }); e != nil {
				err = e
			}
			return row, err
		}), -1
		return true, err
	}
	z, err := zip.NewReader(s.file, size)
	if err != nil {
		return false, fmt.Errorf("is a damaged archive: %w", err)
	}
	if formats.Workbook(z) {
		s.Reader, err = workbookText(ctx, s.file, size, sheet)
		return true, err
	}
	if sheet != "" {
		return false, fmt.Errorf("is no workbook (.xlsx), of which # could name a sheet")
	}
	in, err := formats.Zip(z)
	if err != nil {
		return false, err
	}
	limit := func(from io.Reader) *unpacker {
		return &unpacker{Reader: from, stored: &counter{n: size}}
	}
	if in.Rows != nil {
		if in.Named {
			s.unnamed = -1
		}
		s.Reader = limit(formats.Text(in.Rows))
		return true, nil
	}
	plain := bufio.NewReaderSize(limit(in.File), 1<<12)
	begin, _ := plain.Peek(6) // its error comes again
	switch text := newUTF16Text(plain, begin); {
	case s.rowsOf(begin, plain):
	case text != nil:
		s.Reader = text
	default:
		s.Reader = plain
	}
	return true, nil
}
