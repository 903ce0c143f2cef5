package rundir

import (
	"bytes"
	"os"

	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/inside"
	"example.com/kestrel/experiment/record"
)

// grown are the files that Make makes, before the first event.
func grown() []string { return append([]string{record.EventsFile, record.LogFile}, TableFiles()...) }

// clearUnbegun removes the files of a run that was killed before its first event, if there
// is nothing else in a directory: they are empty but for the names of columns. The
// owner's note stays, so that OnlyClaimed names what is left. It is an error if the
// process still is there.
func clearUnbegun(path string) error {
	if !unbegun(path) {
		return nil
	}
	owner, err := Claim(path)
	if err != nil {
		return err
	}
	defer owner.Close()
	if !unbegun(path) { // it has begun since
		return nil
	}
	for _, name := range grown() {
		owner.RemoveLeftovers(name)
		if err := owner.Remove(name); err != nil && !os.IsNotExist(err) {
			return files.Unwritable(path, err)
		}
	}
	return nil
}

// unbegun reports whether a directory holds nothing but what a run makes that has not
// begun, and some of it.
func unbegun(path string) bool {
	d, err := inside.Open(path)
	if err != nil {
		return false
	}
	defer d.Close()
	if d.CheckFile(notePath) != nil || !exists(d, notePath) || !exists(d, record.EventsFile) {
		return false
	}
	return OnlyClaimed(path, func(name string) bool {
		for _, own := range grown() {
			if inside.IsAside(name, own) || name == own && hasNoRows(d, name) {
				return true
			}
		}
		return false
	})
}

func exists(d *inside.Dir, name string) bool {
	_, err := d.Lstat(name)
	return err == nil
}

// hasNoRows reports whether a file is empty, or holds no more than the names of the
// columns of a table, which may be torn.
func hasNoRows(d *inside.Dir, name string) bool {
	info, err := d.Lstat(name)
	if err != nil || info.Size() == 0 {
		return err == nil && info.Mode().IsRegular()
	}
	head := header(name)
	if info.Size() > int64(len(head)) {
		return false
	}
	text, err := d.ReadFile(name, int64(len(head)))
	return err == nil && bytes.HasPrefix(head, text)
}

// header is what a table begins with; nil of another file.
func header(name string) []byte {
	var posterior, metrics bytes.Buffer
	if writeHeaders(&posterior, &metrics) != nil {
		return nil
	}
	switch name {
	case record.PosteriorFile:
		return posterior.Bytes()
	case record.MetricsFile:
		return metrics.Bytes()
	case record.KernelsFile:
		none := newTableRows()
		text, _ := files.FormatRows(none.kernelRows())
		return text
	case record.BaselinesFile:
		none := newTableRows()
		text, _ := files.FormatRows(none.baselineRows())
		return text
	}
	return nil
}

// Forget removes what Create has made of a run that has not begun, as far as that is
// all there is, but the directory itself.
func Forget(path string) {
	if clearUnbegun(path) == nil {
		Disclaim(path)
	}
}
