package conformance

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"example.com/kestrel/device"
	"example.com/kestrel/internal/guard"
)

// ErrWrong is below the error where an operation does not do what it should, as opposed to a
// device that fails, whose error is there then.
var ErrWrong = errors.New("not what it should be")

// finding is what an operation does that it should not.
type finding string

func (f finding) Error() string      { return string(f) }
func (finding) Is(target error) bool { return target == ErrWrong }

// recorder keeps the first thing that is wrong in a part.
type recorder struct {
	name     string
	err      error
	cleanups []func()
}

// Check runs the parts of the suite that wanted names outside of tests, all where it is nil,
// the long ones included, and tells each that begins. It returns the first thing that is
// wrong in each part, joined, with ErrWrong below where it is not the device that failed; and the context's cause where that ends.
func Check(ctx context.Context, dev device.Device, wanted func(part string) bool, began func(part string)) error {
	var errs []error
	for _, c := range suite {
		if wanted != nil && !wanted(c.name) {
			continue
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if began != nil {
			began(c.name)
		}
		r := &recorder{name: c.name}
		r.do(func(t T) { c.run(&harness{T: t, dev: dev, lane: dev.Lane(0)}) })
		errs = append(errs, r.err)
	}
	return errors.Join(errs...)
}

// do runs a part on a goroutine of its own, which Fatal ends.
func (r *recorder) do(f func(T)) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := guard.Do(func() error { f(r); return nil }); err != nil {
			r.fail(err)
		}
	}()
	<-done
	for i := len(r.cleanups) - 1; i >= 0; i-- {
		r.cleanups[i]()
	}
	r.cleanups = nil
}

func (r *recorder) fail(err error) {
	if r.err == nil {
		r.err = fmt.Errorf("%s: %w", r.name, err)
	}
}

func (r *recorder) Helper()          {}
func (r *recorder) Short() bool      { return false }
func (r *recorder) Cleanup(f func()) { r.cleanups = append(r.cleanups, f) }
func (r *recorder) Skip(...any)      { runtime.Goexit() }

// Error keeps an error as it is: it is the device's.
func (r *recorder) Error(args ...any) {
	if len(args) == 1 {
		if err, ok := args[0].(error); ok {
			r.fail(err)
			return
		}
	}
	r.fail(finding(fmt.Sprint(args...)))
}

func (r *recorder) Errorf(format string, args ...any) { r.fail(finding(fmt.Sprintf(format, args...))) }

func (r *recorder) Fatal(args ...any) {
	r.Error(args...)
	runtime.Goexit()
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}

func (r *recorder) Run(name string, f func(T)) {
	part := &recorder{name: name}
	part.do(f)
	if part.err != nil {
		r.fail(part.err)
	}
}
