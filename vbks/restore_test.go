package vbks

import "testing"

// A restored kernel that waits for the next evaluation is shown as pruned; taking
// it back once more, with others, changes nothing and is no mistake.
func TestRestoreOfOneThatWaits(t *testing.T) {
	tr := trainerOn(t, 1, nil, trainingSeries(5, 60), quickSettings("collapsed"), fourKernels...)
	next(t, tr)
	if _, err := tr.Prune([]string{"PER", "SE"}); err != nil {
		t.Fatal(err)
	}
	next(t, tr)
	for _, ids := range [][]string{{"PER"}, {"PER", "SE"}} {
		e, err := tr.Restore(ids)
		if err != nil {
			t.Fatal(err)
		}
		if k := e.Kernels[3]; k.ID != "PER" || k.Status != Pruned {
			t.Errorf("%+v", k)
		}
	}
}

// A kernel that was brought back has as many evaluations to show its worth as it had at
// first, however long it was negligible before.
func TestRestoredIsGivenTime(t *testing.T) {
	s := quickSettings("collapsed")
	s.AutoPruneMass, s.AutoPruneWait, s.AutoPruneKeep = 2, 3, 1 // every mass is below 2
	tr := trainerOn(t, 1, nil, trainingSeries(14, 90), s, fourKernels...)
	next(t, tr)
	e := next(t, tr)
	last := ""
	for _, k := range e.Kernels {
		if k.Rank == len(e.Kernels) {
			last = k.ID
		}
	}
	if _, err := tr.Prune([]string{last}); err != nil {
		t.Fatal(err)
	}
	if _, err := tr.Restore([]string{last}); err != nil {
		t.Fatal(err)
	}
	for after := 1; after <= s.AutoPruneWait; after++ {
		status := Live
		for _, k := range next(t, tr).Kernels {
			if k.ID == last {
				status = k.Status
			}
		}
		if (status == Live) != (after < s.AutoPruneWait) {
			t.Errorf("%s is %s at evaluation %d after it was restored, of %d that it is given", last, status, after, s.AutoPruneWait)
		}
	}
}
