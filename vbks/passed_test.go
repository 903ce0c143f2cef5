package vbks

import (
	"testing"

	"example.com/kestrel/internal/must"
	"example.com/kestrel/vbks/front"
)

// What was passed is of the rows and inducing inputs that there were, and is kept of all rows alone.
func TestPassedAreOfWhatThereWas(t *testing.T) {
	t.Parallel()
	s := growingSettings("collapsed")
	s.Starts = 1
	data := trainingSeries(1, 50)
	data.Begin = 40
	tr := trainerOn(t, 1, nil, data, s, growingFrom...)
	for tr.rows < tr.data.Rows() || !tr.growing() {
		next(t, tr)
	}
	const id = "PER*PER+PER*PER"
	passed := func() front.Passed {
		p, err := front.ParsePassed([]string{id + "\tPER\tadd PER"}, []float64{1e6})
		must.OK(t, err)
		return p
	}
	after := func(change func()) front.Passed {
		before := *tr
		defer func() { *tr = before }()
		tr.expansion.passed = passed()
		change()
		tr.spread(t.Context())
		return tr.expansion.passed
	}
	if p := after(func() {}); len(p) == 0 || p[id].Parent != "PER" {
		t.Fatalf("with nothing changed it is not kept: %v", p)
	}
	if p := after(func() { tr.compared++ }); p[id].Parent != "" {
		t.Errorf("of other inducing inputs %v is kept", p)
	}
	if p := after(func() { tr.apart, tr.expansion.passed = 100, nil }); len(p) > 0 {
		t.Errorf("of some rows %v is kept", p)
	}
	must.OK(t, tr.Grow(50))
	tr.expansion.passed = passed()
	must.OK(t, tr.takeIn(""))
	if p := tr.expansion.passed; len(p) > 0 {
		t.Errorf("with more rows %v is kept", p)
	}
}
