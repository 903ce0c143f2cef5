package experiment

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
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
					s, err := Begin(t.Context(), small(t, "device.lanes=2", "optimise.optimizer="+optimizer), filepath.Join(t.TempDir(), "run"),
						RecorderFunc(func(e *Event) error {
							if seen++; seen == events || e.Type == EventFinished && seen < events {
								close(enough)
							}
							return nil
						}))
					must(t, err)
					if events > 0 {
						must(t, s.Run.Start())
						<-enough
					}
					if pause {
						_ = s.Run.Pause() // it may have finished
					}
					must(t, s.Close())
				})
			}
		}
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if s, err := Begin(ctx, small(t), filepath.Join(t.TempDir(), "run")); !errors.Is(err, context.Canceled) {
			t.Error(s, err)
		}
	})
}

// A run that waits for room on the disk ends when it is closed, and so do the
// attempts to write what waits.
func TestGoroutinesEndWithAFullDisk(t *testing.T) {
	for room := range 12 {
		synctest.Test(t, func(t *testing.T) {
			r, files := narrowRun(t, &narrow{room: room}, time.Second)
			must(t, r.Start())
			time.Sleep(10 * time.Second)
			if s := r.Snapshot(); room < 8 && s.State != Paused {
				t.Errorf("room for %d: the run is %s", room, s.State)
			}
			must(t, r.Close())
			if err := files.close(); err != nil && !errors.Is(err, syscall.ENOSPC) {
				t.Error(err)
			}
		})
	}
}

// Questions, tables of predictions, the estimate and whoever follows a log end
// with their context, and an inspector's questions with it.
func TestGoroutinesEndWithTheirContext(t *testing.T) {
	_, _, dir := finished(t, small(t, "device.lanes=1"))
	errWrite := errors.New("no room")
	for _, way := range []string{"done", "context", "error"} {
		for _, after := range []int{1, 2, 3} {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				p, err := OpenPredictor(ctx, dir)
				must(t, err)
				defer p.Close()
				var rows strings.Builder
				rows.WriteString("x\n")
				for i := range 30_000 {
					fmt.Fprintf(&rows, "%g\n", float64(i)/3000)
				}
				points, err := p.OpenPoints(tableFile(t, rows.String()))
				must(t, err)
				defer points.Close()
				n := 0
				out := writerFunc(func(b []byte) (int, error) {
					if n++; n >= after {
						switch way {
						case "context":
							cancel()
						case "error":
							return 0, errWrite
						}
					}
					return len(b), nil
				})
				_, err = p.Write(ctx, points, PredictQuery{Method: MethodAverage, Weights: "posterior"}, out, new(bytes.Buffer))
				// Where all was predicted already a context that ends is late.
				if want := map[string]error{"context": context.Canceled, "error": errWrite}[way]; !errors.Is(err, want) && (way == "error" || err != nil) {
					t.Errorf("%s after %d writes of %d: %v", way, after, n, err)
				}
			})
		}
	}
	for _, how := range []string{"context", "close"} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			i, err := OpenInspector(ctx, dir)
			must(t, err)
			answered := make(chan error)
			for range 3 {
				go func() {
					_, err := i.Similarity(ctx, 0)
					answered <- err
				}()
			}
			if how == "context" {
				cancel()
			} else {
				must(t, i.Close())
			}
			for range 3 {
				if err := <-answered; err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, ErrClosed) {
					t.Error(err)
				}
			}
			if how == "context" {
				must(t, i.Close())
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		seen := 0
		if err := Follow(ctx, dir, 0, func(events []Event) { seen += len(events) }); err != nil || seen == 0 {
			t.Errorf("%d events, %v", seen, err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		go cancel() // virtual time stands still while the probe works
		var e Estimator
		if _, err := e.Run(ctx, small(t, "device.lanes=2"), 500, 3); err == nil {
			t.Error("an estimate was made although the context had ended")
		}
		must(t, e.Close())
	})
}

// writerFunc is a function as an io.Writer.
type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }
