package files

import (
	"errors"
	"fmt"
	"io/fs"

	"kestrel/experiment/inside"
)

// Unwritable says so without repeating the path. What is inside.Refused says enough.
func Unwritable(path string, err error) error {
	if refused := (*inside.Refused)(nil); errors.As(err, &refused) {
		return err
	}
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return fmt.Errorf("output directory %q cannot be written: %w; choose another with --out", path, err)
}
