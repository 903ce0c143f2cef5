package rundir

import (
	"errors"
	"fmt"
)

// ErrNoCheckpoint is below the errors of a run that has evaluations but nothing
// to go on from.
var ErrNoCheckpoint = errors.New("no checkpoint to go on from")

// NoCheckpoint is such an error.
type NoCheckpoint struct {
	Path string
	Err  error
}

func (e *NoCheckpoint) Error() string {
	return fmt.Sprintf("run %q cannot go on where it was: %v; --from-start begins it again and keeps what is there in a folder", e.Path, e.Err)
}

func (e *NoCheckpoint) Unwrap() []error { return []error{ErrNoCheckpoint, e.Err} }
