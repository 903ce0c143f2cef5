package rundir

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"kestrel/experiment/files"
	"kestrel/experiment/record"
)

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
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return files.Unwritable(dir, err)
	}
	t, err := newTables(dir)
	if err != nil {
		return files.Unwritable(dir, err)
	}
	t.lazy = true
	defer func() {
		if e := t.Close(); err == nil {
			err = e
		}
	}()
	for ; err == nil; e, err = log.Next() {
		if err := t.Record(e); err != nil {
			return err
		}
	}
	if !errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: %w", filepath.Join(path, record.EventsFile), err)
	}
	return nil
}
