package series

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"example.com/kestrel/experiment/inside"
	"example.com/kestrel/experiment/output"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/rundir"
)

// Directory is a directory in which one process at a time makes a series.
type Directory struct {
	Path  string
	Known bool // it was begun earlier

	Owner *rundir.Claimed // open, and locked

	disk  inside.Disk
	names []string // of its own files, besides what is made
	made  []string // folders that were not there before, the longest first
	asked []byte   // what its note of what was asked said before
}

// Take takes a directory, which is new, empty or that of the same task: known says
// whether it has been begun, and its error, why it must not be gone on with. names
// are those of the files that it is told by, in it or in its state folder. What a
// killed process was just writing of them is removed. A directory that is refused
// is left as it was. Close must be called.
func Take(disk inside.Disk, path string, names []string, known func() (bool, error)) (*Directory, error) {
	d := &Directory{Path: path, disk: disk, names: names, made: rundir.Missing(path)}
	if _, err := d.check(known); err != nil {
		d.unmake()
		return nil, err
	}
	var err error
	if d.Owner, err = rundir.ClaimOn(disk, path); err != nil {
		d.unmake()
		return nil, err
	}
	if d.Known, err = d.check(known); err != nil { // another may have begun it since
		d.Owner.Release()
		return nil, err
	}
	rundir.RemoveProbes(path)
	for _, name := range names {
		d.Owner.RemoveLeftovers(name)
		d.Owner.RemoveLeftovers(filepath.Join(record.StateDir, name))
	}
	return d, nil
}

// check finds out whether the directory has been begun, and whether it may be used.
func (d *Directory) check(known func() (bool, error)) (bool, error) {
	if info, err := os.Stat(d.Path); err != nil || !info.IsDir() {
		return false, rundir.Check(d.disk, d.Path)
	}
	if err := output.CheckFolder(d.Path); err != nil {
		return false, fmt.Errorf("output directory %w", err)
	}
	if begun, err := known(); err != nil || begun {
		return begun, err
	}
	if rundir.OnlyClaimed(d.Path, d.aside) {
		return false, nil
	}
	return false, rundir.Check(d.disk, d.Path)
}

// aside reports whether a file was to become one of its own.
func (d *Directory) aside(name string) bool {
	return slices.ContainsFunc(d.names, func(n string) bool { return inside.IsAside(name, n) })
}

// Close gives the directory back. One in which nothing was made but a note of what
// was asked is removed.
func (d *Directory) Close() error {
	still := false
	if rundir.OnlyClaimed(d.Path, func(name string) bool { return name == askedFile || d.aside(name) }) {
		_ = os.Remove(filepath.Join(d.Path, record.StateDir, askedFile))
		rundir.Disclaim(d.Path)
		d.unmake()
		_, err := os.Lstat(filepath.Join(d.Path, record.StateDir))
		still = err == nil
	}
	err := d.Owner.Close()
	if still { // Windows removes nothing that is open
		rundir.Disclaim(d.Path)
		d.unmake()
	}
	return err
}

// GiveUp is Close where the directory cannot be used after all: what was written
// down when it was taken is taken back.
func (d *Directory) GiveUp() {
	if !d.Known {
		_ = d.Close() // why it is given up is said already
		return
	}
	if d.asked != nil {
		_ = d.Owner.ReplaceFile(filepath.Join(record.StateDir, askedFile), d.asked)
	}
	d.Owner.Release()
}

// unmake removes the folders that were made for it, as far as they are empty.
func (d *Directory) unmake() {
	for _, dir := range d.made {
		_ = os.Remove(dir)
	}
}

// CheckPlace returns an error if the path of a run in it leads through a link, or
// through what is no folder.
func (d *Directory) CheckPlace(path string) error {
	name, err := filepath.Rel(d.Path, path)
	if err == nil {
		err = d.Owner.CheckFolder(name)
	}
	return err
}
