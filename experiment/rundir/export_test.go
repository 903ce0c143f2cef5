package rundir

import "example.com/kestrel/experiment/inside"

// GrowingFiles are the files that a directory appends to, for a test to replace.
func (d *Directory) GrowingFiles() []*inside.File {
	return []*inside.File{&d.events.File, &d.tables.posterior, &d.tables.metrics, &d.log}
}
