package series

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/inside"
)

// Table is a CSV file that grows, to which what is made is added as soon as it is
// known.
type Table struct {
	Records [][]string // that were there, without the header

	file   inside.File // nil: it is not there yet, or closed
	name   string      // in the directory
	path   string      // for messages
	header []string
	ends   []int64 // of each record
	begins int64   // of the first
	end    int64   // of what stays
}

// OpenTable opens a table, if it is there, and reads it.
func OpenTable(dir *inside.Dir, name string, header []string) (*Table, error) {
	t := &Table{name: name, path: dir.Join(name), header: header}
	f, err := dir.OpenToWrite(name)
	if errors.Is(err, fs.ErrNotExist) {
		return t, nil
	}
	if err != nil {
		return nil, err
	}
	t.file = f
	if err := t.read(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return t, nil
}

// Settle makes a table that is not there, with its header, and cuts off what does not
// stay of one that is.
func (t *Table) Settle(dir *inside.Dir) error {
	dir.RemoveLeftovers(t.name)
	if t.file == nil {
		head, err := files.FormatRows([][]string{slices.Clone(t.header)})
		if err == nil {
			err = dir.ReplaceFile(t.name, head)
		}
		if err == nil {
			t.file, err = dir.OpenToWrite(t.name)
		}
		if err != nil {
			return err
		}
		t.end = int64(len(head))
	}
	if err := t.file.Truncate(t.end); err != nil {
		return err
	}
	if err := t.file.Sync(); err != nil { // or what was cut might come back behind a row that is written now
		return err
	}
	_, err := t.file.Seek(t.end, io.SeekStart)
	return err
}

// read reads what is there, up to its last whole line, or to the first zero byte: there are
// none in a table, but where it had grown and the power failed before all of it was on
// the disk.
func (t *Table) read() error {
	all, err := io.ReadAll(t.file)
	if err != nil {
		return err
	}
	all, _, _ = bytes.Cut(all, []byte{0})
	in := csv.NewReader(bytes.NewReader(all))
	for n := 0; ; n++ {
		cells, err := in.Read()
		if err == io.EOF {
			break
		}
		at := in.InputOffset()
		open := errors.Is(err, csv.ErrQuote) && at == int64(len(all)) // torn behind a line of a text of several
		if open || all[len(all)-1] != '\n' && (err != nil || at == int64(len(all))) {
			break
		}
		switch {
		case err != nil:
			return t.Damaged(n-1, err)
		case n == 0 && !slices.Equal(cells, t.header):
			return fmt.Errorf("%s has other columns than this version of kestrel writes; choose another directory with --out", t.path)
		case n == 0:
			t.begins = at
		default:
			t.Records, t.ends = append(t.Records, cells), append(t.ends, at)
		}
		t.end = at
	}
	if t.end == 0 {
		return t.Damaged(-1, errors.New("its header is torn"))
	}
	return nil
}

// Write adds rows, all or none, and waits until they are on the disk.
func (t *Table) Write(rows [][]string) error {
	err := files.AllOrNothing(func() error { return files.WriteRows(t.file, rows...) }, t.file)
	if err == nil {
		err = t.file.Sync()
	}
	return err
}

// Damaged says where, of the records from 0.
func (t *Table) Damaged(record int, err error) error {
	return fmt.Errorf("%s is damaged: line %d: %w; remove it, or choose another directory with --out", t.path, record+2, err)
}

// Leave cuts off, when it is settled, what is behind the first so many records.
func (t *Table) Leave(records int) {
	t.end = t.begins
	if records > 0 {
		t.end = t.ends[records-1]
	}
}

// Close closes the file, once.
func (t *Table) Close() error {
	f := t.file
	if t.file = nil; f == nil {
		return nil
	}
	return f.Close()
}
