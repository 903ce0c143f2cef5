package cli

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/spf13/cobra"
)

// A command that does not end when it is interrupted is left, unless it keeps
// something.
func TestInterruptedCommandIsLeft(t *testing.T) {
	const wait = time.Second
	for _, keeps := range []bool{false, true} {
		ctx, cancel := context.WithCancel(t.Context())
		cmd := &cobra.Command{}
		cmd.SetContext(ctx)
		end, left := make(chan struct{}), make(chan error, 1)
		go func() {
			left <- interruptible(cmd, wait, func() error {
				if keeps {
					keep(cmd)
				}
				cancel()
				<-end
				return nil
			})
		}()
		select {
		case err := <-left:
			if keeps || !errors.Is(err, errInterrupted) {
				t.Errorf("keeps %v: left with %v", keeps, err)
			}
			close(end)
		case <-time.After(3 * wait):
			if !keeps {
				t.Error("is not left")
			}
			close(end)
			if err := <-left; err != nil {
				t.Error(err)
			}
		}
	}
}
