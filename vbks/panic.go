package vbks

import (
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
)

// PanicError is a mistake of the program, caught in the goroutine that made
// it so that the rest of the run can still be written down.
type PanicError struct {
	Value any    // what panic was called with
	Stack []byte // of the goroutine, as debug.Stack returns it
}

// Error returns one line, without the stack.
func (e *PanicError) Error() string {
	return "internal error: " + strings.Join(strings.Fields(fmt.Sprint(e.Value)), " ")
}

// Guarded runs f. A panic, which on a goroutine of its own would end the whole
// program, becomes a PanicError.
func Guarded(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &PanicError{Value: p, Stack: debug.Stack()}
		}
	}()
	return f()
}

// together runs functions on goroutines of their own and returns their errors,
// joined.
func together(fs ...func() error) error {
	errs := make([]error, len(fs))
	var wg sync.WaitGroup
	for i, f := range fs {
		wg.Go(func() { errs[i] = Guarded(f) })
	}
	wg.Wait()
	return errors.Join(errs...)
}
