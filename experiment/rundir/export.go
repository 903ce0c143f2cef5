package rundir

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"kestrel/experiment/files"
	"kestrel/experiment/inside"
	"kestrel/experiment/record"
)

// ExportDir is the folder in a run's directory that tables are written to anew where
// no other is named.
const ExportDir = "export"

// Export writes the CSV tables of a run directory anew from its event log
// into dir, the same bytes as the run itself, without holding the whole log in
// memory: the run may be long, and it may still be running. A dir that is a run's own is refused.
func Export(path, dir string) (err error) {
	if IsRun(dir) {
		return fmt.Errorf("%q is the directory of a run; choose another to export to", dir)
	}
	file, err := record.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	log := record.NewDecoder(file)
	e, err := log.Next()
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("run %q has no events yet; there is nothing to export", path)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", filepath.Join(path, record.EventsFile), err)
	}
	to, err := exportTo(path, dir)
	if err != nil {
		return files.Unwritable(dir, err)
	}
	defer to.Close()
	_, err = replaceTables(to, tablesPrefix, files.Unwritable, func(t *tables) error {
		for ; err == nil; e, err = log.Next() {
			if err := t.Record(e); err != nil {
				return err
			}
		}
		if !errors.Is(err, io.EOF) {
			return fmt.Errorf("%s: %w", filepath.Join(path, record.EventsFile), err)
		}
		return nil
	})
	return err
}

// exportTo makes and opens the folder to export to, which is no link where it lies
// in the run's directory.
func exportTo(run, dir string) (*inside.Dir, error) {
	if !liesIn(run, dir) {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
		return inside.Open(dir)
	}
	if RunFile(run, dir) {
		return nil, syscall.ENOTDIR
	}
	d, err := inside.Open(run)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	name := filepath.Base(dir)
	if err := d.MkdirAll(name); err != nil {
		return nil, err
	}
	to, err := d.Sub(name)
	if err != nil {
		return nil, err
	}
	for _, table := range TableFiles() {
		if err := to.CheckFile(table); err != nil {
			to.Close()
			return nil, err
		}
	}
	return to, nil
}
