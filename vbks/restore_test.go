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
