package cli

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"example.com/kestrel/internal/goroutines"
)

// Commands leave no goroutine behind: those that are done, those that fail, and
// what listens for signals while they are carried out.
func TestGoroutinesEndWithTheCommand(t *testing.T) {
	dir := t.TempDir()
	run := filepath.Join(dir, "run")
	tiny := " --set data.outputs=60 --set data.test=20 --set kernels.expressions=SE,LIN,POLY2 " +
		"--set sparse.inducing=8 --set optimise.starts=1 --set schedule.evaluate_every=1"
	for _, c := range []struct {
		args string
		code int
	}{
		{"run quickstart --headless --quiet --out " + run + tiny, 0},
		{"run quickstart --headless --quiet --out " + run + tiny, 2}, // it is not empty
		{"run quickstart --headless --quiet --prune-top 1 --then-refine 1 --out " + filepath.Join(dir, "pruned") + tiny, 0},
		{"run quickstart --headless --quiet --repeat 2 --out " + filepath.Join(dir, "twice") + tiny, 0},
		{"run quickstart --headless --quiet --out " + filepath.Join(dir, "nosuch") + tiny + " --set kernels.expressions=SE+", 2},
		{"resume --headless " + run, 2}, // it has finished
		{"report " + run, 0},
		{"bench --work a --kernels one --threads 2 --seconds 0.01 --json", 0},
	} {
		code := Execute(strings.Fields(c.args), io.Discard, io.Discard)
		if (code == 0) != (c.code == 0) {
			t.Errorf("%s: exit code %d, want %d", c.args, code, c.code)
		}
		goroutines.End(t, c.args)
	}
	for _, way := range []string{"done", "context"} {
		parent, cancel := context.WithCancelCause(t.Context())
		ctx, stop := interrupts(parent)
		if way == "context" {
			cancel(errors.New("enough"))
			<-ctx.Done()
		}
		stop()
		cancel(nil)
		goroutines.End(t, "interrupts, "+way)
	}
}
