package ui

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/internal/goroutines"
)

func leakConfig(t *testing.T) *config.Config {
	t.Helper()
	var overrides []config.Override
	for _, s := range []string{"data.outputs=60", "data.test=20", "kernels.expressions=SE,LIN,PER", "sparse.inducing=8",
		"optimise.starts=1", "schedule.refine=0"} {
		o, err := config.ParseOverride(s)
		if err != nil {
			t.Fatal(err)
		}
		overrides = append(overrides, o)
	}
	c, err := config.Load("quickstart", overrides)
	if err != nil {
		t.Fatal(err)
	}
	return &c
}

// The workbench leaves no goroutine behind, wherever it is left: by a key or by
// its context, in the launcher, during a run or after it, and in a run that is
// only watched.
func TestGoroutinesEndWithTheWorkbench(t *testing.T) {
	done := filepath.Join(t.TempDir(), "done")
	carryOut(t, leakConfig(t), done)
	for _, c := range []struct {
		what string
		opts Options
		keys string // typed; "": the context ends
		wait time.Duration
	}{
		{"launcher, key", Options{}, "q", 100 * time.Millisecond},
		{"launcher, context", Options{}, "", 100 * time.Millisecond},
		{"run, context at once", Options{Config: leakConfig(t), Out: filepath.Join(t.TempDir(), "a")}, "", 0},
		{"run, context", Options{Config: leakConfig(t), Out: filepath.Join(t.TempDir(), "b")}, "", 150 * time.Millisecond},
		{"run, its views, key", Options{Config: leakConfig(t), Out: filepath.Join(t.TempDir(), "c")}, "23456q", 300 * time.Millisecond},
		{"watched, key", Options{Open: done}, "23q", 300 * time.Millisecond},
		{"watched, context", Options{Open: done}, "", 300 * time.Millisecond},
	} {
		t.Chdir(t.TempDir())
		ctx, cancel := context.WithCancel(t.Context())
		in, typed := io.Pipe()
		c.opts.Input, c.opts.Output = in, io.Discard
		c.opts.Env = func(string) string { return "" }
		ended := make(chan error, 1)
		go func() {
			_, err := Run(ctx, c.opts)
			in.Close() // nobody reads what is typed any more
			ended <- err
		}()
		time.Sleep(c.wait)
		if c.keys == "" {
			cancel()
		}
		var err error
		for began, i := time.Now(), 0; ; i++ {
			if i < len(c.keys) {
				_, _ = typed.Write([]byte(c.keys[i : i+1]))
			} else if c.keys != "" { // whatever is asked: ctrl+c twice is meant
				_, _ = typed.Write([]byte{3})
			}
			over := false
			select {
			case err = <-ended:
				over = true
			case <-time.After(100 * time.Millisecond):
			}
			if over {
				break
			}
			if time.Since(began) > time.Minute {
				t.Fatalf("%s: the workbench does not end:\n%s", c.what, strings.Join(goroutines.Left(), "\n\n"))
			}
		}
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", c.what, err)
		}
		typed.Close() // the library's reader waits for it
		cancel()
		goroutines.End(t, c.what)
	}
}
