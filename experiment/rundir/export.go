package rundir

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/output"
	"example.com/kestrel/experiment/record"
)

// ExportDir is the folder in a run's directory that tables are written to anew where
// no other is named.
const ExportDir = "export"

// Export writes the CSV tables of a run directory anew from its event log
// into dir, the same bytes as the run itself, without holding the whole log in
// memory: the run may be long, and it may still be running. The files beside them
// are written with them, all or none. A dir that is a run's own is refused.
func Export(path, dir string, beside ...files.File) error {
	if err := output.CheckFolder(dir); err != nil {
		return err
	}
	file, err := record.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	log := record.NewDecoder(file)
	first, err := log.Next()
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("run %q has no events yet; there is nothing to export", path)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", filepath.Join(path, record.EventsFile), err)
	}
	names := []string{record.PosteriorFile, record.MetricsFile, record.KernelsFile, record.BaselinesFile}
	for _, f := range beside {
		names = append(names, f.Name)
	}
	return output.WriteFolder(dir, names, func(to []io.Writer) error {
		for i, f := range beside {
			if _, err := to[len(to)-len(beside)+i].Write(f.Text); err != nil {
				return err
			}
		}
		rows, err := newTableRows(), writeHeaders(to[0], to[1])
		for e := first; err == nil; {
			if err = rows.write(e, to[0], to[1]); err != nil {
				return err
			}
			e, err = log.Next()
		}
		if !errors.Is(err, io.EOF) {
			return fmt.Errorf("%s: %w", filepath.Join(path, record.EventsFile), err)
		}
		if err := files.WriteRows(to[2], rows.kernelRows()...); err != nil {
			return err
		}
		return files.WriteRows(to[3], rows.baselineRows()...)
	})
}
