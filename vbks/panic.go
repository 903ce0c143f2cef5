package vbks

import (
	"fmt"
	"runtime/debug"
)

// PanicError is a mistake of the program, caught in the goroutine that made
// it so that the rest of the run can still be written down.
type PanicError struct {
	Value any    // what panic was called with
	Stack []byte // of the goroutine, as debug.Stack returns it
}

// Error returns one line, without the stack.
func (e *PanicError) Error() string { return fmt.Sprintf("internal error: %v", e.Value) }

// guarded runs f on a goroutine of its own account: a panic, which would end
// the whole program, becomes an error.
func guarded(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &PanicError{Value: p, Stack: debug.Stack()}
		}
	}()
	return f()
}
