package cli

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"example.com/kestrel/internal/guard"
)

// leaveAfter is how long a command that has been interrupted may take to end by
// itself. One that waits for a disk or lists a large space never looks.
const leaveAfter = 5 * time.Second

// keeper says whether a command has begun what must be written down before it
// ends, however long that takes.
type keeper struct{ keeps atomic.Bool }

type keeperKey struct{}

// keep makes the program wait for cmd when it is interrupted.
func keep(cmd *cobra.Command) {
	if k, ok := cmd.Context().Value(keeperKey{}).(*keeper); ok {
		k.keeps.Store(true)
	}
}

// interruptible runs a command with a context that ends at the first signal. One
// that does not end then is left after a while, unless it keeps something.
func interruptible(cmd *cobra.Command, wait time.Duration, run func() error) error {
	ctx, stop := interrupts(cmd.Context())
	defer stop()
	k := &keeper{}
	cmd.SetContext(context.WithValue(ctx, keeperKey{}, k))
	done := make(chan error, 1)
	go func() { done <- guard.Do(run) }()
	var err error
	select {
	case err = <-done:
	case <-ctx.Done():
		select {
		case err = <-done:
		case <-time.After(wait):
			if !k.keeps.Load() {
				return errInterrupted
			}
			err = <-done
		}
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return errInterrupted
	}
	return err
}
