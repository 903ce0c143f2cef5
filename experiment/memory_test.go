package experiment_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"example.com/kestrel/experiment"
	"example.com/kestrel/experiment/config/configtest"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/runtest"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/internal/thorough"
)

// longVariable, set to anything, asks for a run of 2,000 evaluations: each waits
// for the disk twice.
const longVariable = "KESTREL_LONG"

// A long run: what it keeps in memory does not grow with its evaluations, nor
// does the checkpoint, and each takes the same room in the log.
func TestLongRunIsFlat(t *testing.T) {
	thorough.Unraced(t)
	early, late := 15, 60
	if os.Getenv(longVariable) != "" {
		early, late = 500, 2000
	}
	type measure struct{ heap, goroutines, log, checkpoint int64 }
	at := map[int]measure{}
	dir := filepath.Join(t.TempDir(), "run")
	size := func(name string) int64 {
		info, err := os.Stat(filepath.Join(dir, name))
		must.OK(t, err)
		return info.Size()
	}
	look := record.RecorderFunc(func(e *record.Event) error { // after the directory has the event
		if e.Type == record.EventEvaluation && (e.Evaluation.Index == 2 || e.Evaluation.Index == early || e.Evaluation.Index == late) {
			runtime.GC()
			runtime.GC() // what had finalizers is gone after the second one
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			at[e.Evaluation.Index] = measure{int64(m.HeapAlloc), int64(runtime.NumGoroutine()), size(record.EventsFile),
				size(filepath.Join(record.StateDir, record.CheckpointFile))}
		}
		return nil
	})
	s, err := experiment.Begin(t.Context(), configtest.Small(t, "kernels.expressions=SE,LIN", "data.outputs=30", "data.test=6",
		"data.support=256", "sparse.inducing=4", "optimise.transplants=false",
		"posterior.samples=100", "schedule.evaluate_every=0.5", fmt.Sprintf("schedule.refine=%d", late-2), "device.lanes=1"), dir, look)
	must.OK(t, err)
	must.OK(t, s.Run.Start())
	end := runtest.Await(t, s.Run)
	must.OK(t, s.Close())
	if end.State != record.Finished || end.Evaluation.Index != late {
		t.Fatalf("%s: %s", end.State, end.Reason)
	}
	a, b := at[early], at[late]
	t.Logf("at %d: %+v; at %d: %+v", early, a, late, b)
	// An evaluation that was kept would take some 2 KB.
	if grown := b.heap - a.heap; grown > 32<<10+int64(late-early)*256 {
		t.Errorf("the heap has grown by %d bytes from evaluation %d to %d", grown, early, late)
	}
	if b.goroutines > a.goroutines {
		t.Errorf("%d goroutines at evaluation %d, %d at %d", a.goroutines, early, b.goroutines, late)
	}
	if b.checkpoint != a.checkpoint {
		t.Errorf("a checkpoint of %d bytes at evaluation %d, of %d at %d", a.checkpoint, early, b.checkpoint, late)
	}
	if before, after := float64(a.log-at[2].log)/float64(early-2), float64(b.log-a.log)/float64(late-early); math.Abs(after/before-1) > 0.25 ||
		after > 4<<10 {
		t.Errorf("%.0f bytes of the log an evaluation up to %d, %.0f from there to %d", before, early, after, late)
	}
}
