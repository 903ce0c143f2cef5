package files

import (
	"io"

	"example.com/kestrel/experiment/inside"
)

// AllOrNothing writes to files at their ends, all or nothing as far as the disk lets
// it: what a failed write left behind is cut again. A torn last line is
// understood by all readers, so where that fails, too, no harm is done.
func AllOrNothing(write func() error, files ...inside.File) error {
	ends := make([]int64, len(files))
	for i, f := range files {
		var err error
		if ends[i], err = f.Seek(0, io.SeekCurrent); err != nil {
			return err
		}
	}
	err := write()
	if err == nil {
		return nil
	}
	for i, f := range files {
		if f.Truncate(ends[i]) == nil {
			_, _ = f.Seek(ends[i], io.SeekStart)
		}
	}
	return err
}
