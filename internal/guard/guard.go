// Package guard keeps mistakes of the program, panics, from ending it: they
// become errors of the goroutine that made them.
package guard

import (
	"fmt"
	"runtime/debug"
	"strings"
)

// PanicError is a mistake of the program, caught in the goroutine that made
// it so that the rest of the run can still be written down.
type PanicError struct {
	Value string // what panic was called with, as text
	Stack []byte // of the goroutine, as debug.Stack returns it
}

// Line is Value in one line.
func (e *PanicError) Line() string { return strings.Join(strings.Fields(e.Value), " ") }

// Error returns one line, without the stack.
func (e *PanicError) Error() string {
	return "internal error: " + e.Line()
}

// Do runs f. A panic, which on a goroutine of its own would end the whole
// program, becomes a PanicError.
func Do(f func() error) (err error) {
	defer func() {
		if p := Caught(recover()); p != nil {
			err = p
		}
	}()
	return f()
}

// Caught makes an error of what recover returns, nil of nil. A PanicError is returned as
// it is: who has caught it on another goroutine passes it on by a panic.
func Caught(recovered any) *PanicError {
	switch p := recovered.(type) {
	case nil:
		return nil
	case *PanicError:
		return p
	}
	return &PanicError{Value: fmt.Sprint(recovered), Stack: debug.Stack()}
}
