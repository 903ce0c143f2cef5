package experiment_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"testing/synctest"

	"example.com/kestrel/experiment"
	"example.com/kestrel/experiment/config/configtest"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/internal/must"
)

// What follows ends, or the test panics with the stacks of the goroutines that
// are left: in virtual time a test ends with the last of its goroutines.

// A session that is closed at whatever moment leaves no goroutine, nor does one
// that could not begin.
func TestGoroutinesEndWithTheSession(t *testing.T) {
	for _, optimizer := range []string{"collapsed", "natural"} {
		for _, events := range []int{0, 1, 3, 4, 5, 1000} {
			for _, pause := range []bool{false, true} {
				synctest.Test(t, func(t *testing.T) {
					enough := make(chan struct{})
					seen := 0
					s, err := experiment.Begin(t.Context(), configtest.Small(t, "device.lanes=2", "optimise.optimizer="+optimizer),
						filepath.Join(t.TempDir(), "run"),
						record.RecorderFunc(func(e *record.Event) error {
							if seen++; seen == events || e.Type == record.EventFinished && seen < events {
								close(enough)
							}
							return nil
						}))
					must.OK(t, err)
					if events > 0 {
						must.OK(t, s.Run.Start())
						<-enough
					}
					if pause {
						_ = s.Run.Pause() // it may have finished
					}
					must.OK(t, s.Close())
				})
			}
		}
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if s, err := experiment.Begin(ctx, configtest.Small(t), filepath.Join(t.TempDir(), "run")); !errors.Is(err, context.Canceled) {
			t.Error(s, err)
		}
	})
}
