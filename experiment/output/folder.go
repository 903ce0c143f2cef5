package output

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"example.com/kestrel/experiment/files"
)

// CheckFolder returns an error if a folder is none to write files to, because a run
// keeps it for itself. The error begins with the name.
func CheckFolder(name string) error {
	_, err := findFolder(name)
	return err
}

func findFolder(name string) (string, error) {
	at, err := find(name)
	if err == nil {
		err = checkFolder(name, at.path)
	}
	if err == nil && isRun(at.path) {
		err = fmt.Errorf("%q is the directory of a run; choose another", name)
	}
	return at.path, err
}

// MakeFolder makes a folder to write files to where there is none.
func MakeFolder(name string) error {
	path, err := findFolder(name)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(path, 0o755); err != nil {
		return files.Unwritable(name, err)
	}
	return nil
}

// WriteFolder writes files that belong together to a folder, as WriteAll does; it is
// made where there is none.
func WriteFolder(name string, fileNames []string, write func(to []io.Writer) error) error {
	if err := MakeFolder(name); err != nil {
		return err
	}
	names := make([]string, len(fileNames))
	for i, n := range fileNames {
		names[i] = inside(name, n)
	}
	return WriteAll(names, write)
}

// inside is a name in a folder; unlike filepath.Join it leaves "..", see find.
func inside(folder, name string) string {
	if os.IsPathSeparator(folder[len(folder)-1]) {
		return folder + name
	}
	return folder + string(filepath.Separator) + name
}

// WriteFiles writes files that belong together to a folder, as WriteFolder does.
func WriteFiles(name string, all []files.File) error {
	names := make([]string, len(all))
	for i, f := range all {
		names[i] = f.Name
	}
	return WriteFolder(name, names, func(to []io.Writer) error {
		for i, f := range all {
			if _, err := to[i].Write(f.Text); err != nil {
				return unwritable(inside(name, f.Name), err)
			}
		}
		return nil
	})
}
