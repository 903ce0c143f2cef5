package vbks

import (
	"math"
	"sync"
	"testing"
)

// Progress says of every kernel where it stands: first all wait, each is worked at before
// it is through, as many are through as are told done, and one that is through has a
// bound. Nothing of that changes a result.
func TestProgressOfKernels(t *testing.T) {
	tr := trainerOn(t, 2, nil, trainingSeries(15, 90), quickSettings("collapsed"), fourKernels...)
	var mu sync.Mutex
	var told []Progress
	tr.SetProgress(func(p Progress) {
		mu.Lock()
		defer mu.Unlock()
		told = append(told, p)
	})
	alone := trainerOn(t, 2, nil, trainingSeries(15, 90), quickSettings("collapsed"), fourKernels...)
	next(t, tr)
	next(t, alone)
	same(t, "watched", alone, tr)

	before := make([]Stage, len(fourKernels))
	for i, p := range told {
		if p.Phase != string(phaseSearch) {
			break
		}
		count := map[Stage]int{}
		for k, now := range p.Kernels {
			count[now.Stage]++
			if was := before[k]; now.Stage != was && !(was == Idle && now.Stage != Through || was == Queued && now.Stage == Working ||
				was == Working && now.Stage == Through) {
				t.Errorf("kernel %d goes from %q to %q", k, was, now.Stage)
			}
			if (now.Stage == Through) == math.IsNaN(now.Bound) {
				t.Errorf("kernel %d is %q with the bound %v", k, now.Stage, now.Bound)
			}
			before[k] = now.Stage
		}
		if count[Through] != p.Done || p.Total != len(fourKernels) || i == 0 && count[Queued] != len(fourKernels)-1 {
			t.Errorf("told %d: %v, %d of %d done", i, count, p.Done, p.Total)
		}
	}
	if last := told[len(told)-1]; last.Done != last.Total {
		t.Errorf("at the end %d of %d are done", last.Done, last.Total)
	}
}
