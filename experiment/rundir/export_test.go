package rundir

import "os"

// GrowingFiles are the files that a directory appends to, for a test to replace.
func (d *Directory) GrowingFiles() []**os.File {
	return []**os.File{&d.events.File, &d.tables.posterior, &d.tables.metrics, &d.log}
}
