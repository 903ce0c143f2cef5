package experiment

import (
	"errors"
	"fmt"
)

// ErrNoCheckpoint is below the errors of a run that has evaluations but nothing
// to go on from.
var ErrNoCheckpoint = errors.New("no checkpoint to go on from")

// noCheckpoint is such an error.
type noCheckpoint struct {
	path string
	err  error
}

func (e *noCheckpoint) Error() string {
	return fmt.Sprintf("run %q cannot go on where it was: %v; --from-start begins it again and keeps what is there in a folder", e.path, e.err)
}
func (e *noCheckpoint) Unwrap() []error { return []error{ErrNoCheckpoint, e.err} }
