package experiment

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/internal/must"
)

// Parts of a run that hold memory.
const (
	partTable  = "the table, columns read"
	partScaled = "standardised inputs and target"
	partDevice = "rows on the device"
	partBelief = "q(v) of all kernels, old and new"
	partTapes  = "lanes: leaves of kernel matrices"
	partLanes  = "lanes: other arrays"
	partGroups = "q(g)"
	partOther  = "vbks, else"
	partRun    = "run, events, files"
	partRest   = "the rest"
)

// partOf tells what memory is for that was allocated on a stack, by the first
// function, innermost first, that says so.
func partOf(stack []uintptr) string {
	known := []struct{ function, part string }{
		{"datasets.(*Scaler).", partScaled},
		{"datasets.", partTable},
		{"device/cpu.(*Device).NewData", partDevice},
		{"device/cpu.(*array).record", partTapes},
		{"device", partLanes},
		{"vbks.(*learner).end", partBelief},
		{"vbks.(*belief", partGroups},
		{"vbks.", partOther},
		{"experiment.", partRun},
	}
	module := strings.TrimSuffix(reflect.TypeFor[config.Config]().PkgPath(), "experiment/config")
	frames := runtime.CallersFrames(stack)
	for {
		frame, more := frames.Next()
		for _, k := range known {
			if strings.HasPrefix(frame.Function, module+k.function) {
				return k.part
			}
		}
		if !more {
			return partRest
		}
	}
}

// heapByPart reads the heap profile: bytes in use, as of the last collection of
// garbage. A block is in it with probability 1 − exp(−size/rate), for which the
// sums make up, as pprof does.
func heapByPart() map[string]float64 {
	records := make([]runtime.MemProfileRecord, 1000)
	n, ok := runtime.MemProfile(records, false)
	for !ok {
		records = make([]runtime.MemProfileRecord, 2*n)
		n, ok = runtime.MemProfile(records, false)
	}
	parts := map[string]float64{}
	for i := range records[:n] {
		r := &records[i]
		if blocks := r.InUseObjects(); blocks > 0 {
			size := float64(r.InUseBytes()) / float64(blocks)
			parts[partOf(r.Stack())] += float64(r.InUseBytes()) / -math.Expm1(-size/float64(runtime.MemProfileRate))
		}
	}
	return parts
}

func total(parts map[string]float64) (sum float64) {
	for _, v := range parts {
		sum += v
	}
	return sum
}

// What a large run holds, by component, at the moment at which it holds most,
// beside what can be counted: rows of 8 bytes a number, and per kernel M means
// and an M x M matrix. Takes minutes, and needs a config of
// optimizer = "natural": scripts/load.sh names one in KESTREL_LOAD.
func TestMemoryByComponent(t *testing.T) {
	path := os.Getenv("KESTREL_LOAD")
	if path == "" {
		t.Skip("KESTREL_LOAD names no config; scripts/load.sh does")
	}
	defer func(rate int) { runtime.MemProfileRate = rate }(runtime.MemProfileRate)
	runtime.MemProfileRate = 64 << 10
	c, err := config.Load(path, nil)
	must.OK(t, err)
	s, err := Begin(context.Background(), c, filepath.Join(t.TempDir(), "run"))
	must.OK(t, err)
	defer func() { must.OK(t, s.Close()) }()
	done, most := make(chan struct{}), make(chan map[string]float64)
	go func() {
		var peak map[string]float64
		for {
			select {
			case <-done:
				most <- peak
				return
			case <-time.After(100 * time.Millisecond):
			}
			if now := heapByPart(); total(now) > total(peak) {
				peak = now
			}
		}
	}()
	end, err := s.Run.Drive(context.Background(), record.Course{})
	close(done)
	peak := <-most
	must.OK(t, err)
	if end.State != record.Finished {
		t.Fatalf("%s: %s", end.State, end.Reason)
	}

	const word = 8.0
	d, m, kernels := s.job.Data, float64(end.Start.Inducing), float64(len(end.Start.Kernels))
	rows, train, dim := float64(len(d.Train)+len(d.Test)), float64(len(d.Train)), float64(d.Dim)
	counted := map[string]float64{
		partTable:  word * rows * (dim + 1),
		partScaled: word * (train*(dim+1) + rows - train),
		partDevice: word * train * dim,
		partBelief: 2 * kernels * word * (m*m + m),
	}
	const mb = 1e6
	for _, part := range slices.SortedFunc(maps.Keys(peak), func(a, b string) int { return cmp.Compare(peak[b], peak[a]) }) {
		text := fmt.Sprintf("%-36s %6.1f MB", part, peak[part]/mb)
		if want, ok := counted[part]; ok {
			text += fmt.Sprintf(", %6.1f counted", want/mb)
			// Of old and new one is always there.
			if peak[part] > 1.25*want+10*mb || peak[part] < 0.4*want-10*mb {
				t.Errorf("%s: %.1f MB, counted %.1f", part, peak[part]/mb, want/mb)
			}
		}
		t.Log(text)
	}
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	t.Logf("%-36s %6.1f MB; asked of the system %.1f MB", "in all", total(peak)/mb, float64(mem.Sys)/mb)
}
