package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"example.com/kestrel/experiment/inside"
)

// Unwritable says so without repeating the path. What is inside.Refused says enough.
func Unwritable(path string, err error) error {
	if refused := (*inside.Refused)(nil); errors.As(err, &refused) {
		return err
	}
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		err = pe.Err
	} else if le := (*os.LinkError)(nil); errors.As(err, &le) {
		err = le.Err
	}
	return fmt.Errorf("output directory %q cannot be written: %w; choose another with --out", path, err)
}
