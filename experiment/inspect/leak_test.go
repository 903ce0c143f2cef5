package inspect_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/config/configtest"
	"example.com/kestrel/experiment/history"
	"example.com/kestrel/experiment/inspect"
	"example.com/kestrel/experiment/prepare"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/runtest"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/internal/thorough"
)

// Questions, tables of predictions, the estimate and whoever follows a log end
// with their context, and an inspector's questions with it.
func TestGoroutinesEndWithTheirContext(t *testing.T) {
	thorough.Unraced(t)
	_, _, dir := runtest.Finished(t, configtest.Small(t, "device.lanes=1"))
	errWrite := errors.New("no room")
	for _, way := range []string{"done", "context", "error"} {
		for _, after := range []int{1, 2, 3} {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				p, err := inspect.OpenPredictor(ctx, dir)
				must.OK(t, err)
				defer p.Close()
				var rows strings.Builder
				rows.WriteString("x\n")
				for i := range 10_000 {
					fmt.Fprintf(&rows, "%g\n", float64(i)/1000)
				}
				points, err := p.OpenPoints(t.Context(), tableFile(t, rows.String()))
				must.OK(t, err)
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
				_, err = p.Write(ctx, points, inspect.PredictQuery{Method: config.MethodAverage, Weights: "posterior"}, out, new(bytes.Buffer))
				// Where all was predicted already a context that ends is late.
				if want := map[string]error{"context": context.Canceled, "error": errWrite}[way]; !errors.Is(err, want) &&
					(way == "error" || err != nil) {
					t.Errorf("%s after %d writes of %d: %v", way, after, n, err)
				}
			})
		}
	}
	for _, how := range []string{"context", "close"} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			i, err := inspect.Open(ctx, dir)
			must.OK(t, err)
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
				must.OK(t, i.Close())
			}
			for range 3 {
				if err := <-answered; err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, inspect.ErrClosed) {
					t.Error(err)
				}
			}
			if how == "context" {
				must.OK(t, i.Close())
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		seen := 0
		if err := history.Follow(ctx, dir, 0, func(events []record.Event) { seen += len(events) }); err != nil || seen == 0 {
			t.Errorf("%d events, %v", seen, err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		go cancel() // virtual time stands still while the probe works
		var e prepare.Estimator
		if _, err := e.Run(ctx, configtest.Small(t, "device.lanes=2"), 500, 3); err == nil {
			t.Error("an estimate was made although the context had ended")
		}
		must.OK(t, e.Close())
	})
}

// writerFunc is a function as an io.Writer.
type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }
