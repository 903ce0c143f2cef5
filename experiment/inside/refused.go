package inside

import (
	"fmt"
	"io/fs"
	"path/filepath"
)

// Refused is the error of what is not opened for what it is. It is a line for
// people, with what to do.
type Refused struct {
	Dir, Name string // the name is relative to the directory
	is, mend  string
}

func (e *Refused) Error() string {
	return fmt.Sprintf("%s in %q %s; %s", filepath.FromSlash(e.Name), e.Dir, e.is, e.mend)
}

func (d *Dir) refuse(name, is, mend string) error { return &Refused{d.path, name, is, mend} }

func (d *Dir) refuseLink(name string) error {
	return d.refuse(name, "is a link", "kestrel follows none in there: put what it leads to in its place, or remove it")
}

// ordinary refuses what is no file of one name.
func (d *Dir) ordinary(name string, info fs.FileInfo) error {
	mode := info.Mode()
	switch {
	case mode.IsRegular() && links(info) > 1:
		return d.refuseSecondName(name)
	case mode.IsRegular():
		return nil
	case mode&fs.ModeSymlink != 0:
		return d.refuseLink(name)
	}
	is := "is no file"
	switch {
	case mode.IsDir():
		is = "is a folder"
	case mode&fs.ModeNamedPipe != 0:
		is = "is a pipe"
	case mode&fs.ModeSocket != 0:
		is = "is a socket"
	case mode&fs.ModeDevice != 0:
		is = "is a device"
	}
	return d.refuse(name, is, "a file belongs there: put it in its place, or remove what is there")
}

func (d *Dir) refuseSecondName(name string) error {
	return d.refuse(name, "has a second name (a hard link)",
		"it may be somebody else's file: put a copy in its place, as cp -r of the whole directory makes it, or remove it")
}

// folder refuses what is no folder.
func (d *Dir) folder(name string, info fs.FileInfo) error {
	switch {
	case info.IsDir():
		return nil
	case info.Mode()&fs.ModeSymlink != 0:
		return d.refuseLink(name)
	}
	return d.refuse(name, "is no folder", "a folder belongs there: remove what is there")
}
