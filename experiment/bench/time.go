package bench

import (
	"context"
	"io"
	"math"
	"runtime"
	"runtime/pprof"
	"slices"
	"time"

	"example.com/kestrel/experiment/average"
)

const (
	benchWarm  = 3 // calls before the timed ones
	benchLeast = 3 // timed calls
	// benchCall is how long a timed call is at least, since a clock counts for
	// much of a step of microseconds; shorter ones are made several at a time.
	// benchMeet is the same for lanes, which wait for each other at the end of a
	// call, but in a run only after thousands of steps.
	benchCall = 500 * time.Microsecond
	benchMeet = 10 * time.Millisecond
	// benchTogether is the most steps made at a time.
	benchTogether = 4096
)

// timing is what repeating a step has taken, in milliseconds for one step.
type timing struct {
	least, median float64
	steps         int
	allocs        float64 // heap allocations of a step
}

// timeSteps calls run, which makes n steps on so many threads, for so many
// seconds after a warm-up. profile gets a CPU profile of the timed part; nil for
// none.
func timeSteps(ctx context.Context, seconds float64, threads int, profile io.Writer, run func(n int) error) (t timing, err error) {
	call := benchCall
	if threads > 1 {
		call = benchMeet
	}
	limit := time.Duration(seconds * float64(time.Second))
	together := 1
	began := time.Now()
	for i := 0; i < benchWarm && (i == 0 || time.Since(began) < limit); i++ {
		if ctx.Err() != nil {
			return t, context.Cause(ctx)
		}
		at := time.Now()
		if err := run(together); err != nil {
			return t, err
		}
		one := max(1, time.Since(at)/time.Duration(together))
		together = int(min(benchTogether, (call+one-1)/one))
	}
	runtime.GC()
	if profile != nil {
		if err := pprof.StartCPUProfile(profile); err != nil {
			return t, err
		}
		defer pprof.StopCPUProfile()
	}
	calls := make([]float64, 0, 1<<16) // ms for one step
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for began := time.Now(); time.Since(began) < limit || len(calls) < benchLeast; {
		if ctx.Err() != nil {
			return t, context.Cause(ctx)
		}
		at := time.Now()
		if err := run(together); err != nil {
			return t, err
		}
		calls = append(calls, float64(time.Since(at).Nanoseconds())/1e6/float64(together))
	}
	runtime.ReadMemStats(&after)
	t.least, t.median, t.steps = slices.Min(calls), average.Median(calls), together*len(calls)
	t.allocs = math.Round(1000*float64(after.Mallocs-before.Mallocs)/float64(t.steps)) / 1000
	return t, nil
}
