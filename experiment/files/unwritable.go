package files

import (
	"errors"
	"fmt"
	"io/fs"
)

// Unwritable says so without repeating the path.
func Unwritable(path string, err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return fmt.Errorf("output directory %q cannot be written: %w; choose another with --out", path, err)
}
