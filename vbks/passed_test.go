package vbks

import (
	"testing"

	"example.com/kestrel/internal/must"
	"example.com/kestrel/internal/thorough"
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

// Who leaves on some of the rows and is no further behind than the missing rows' share of what leaves cost may be tried again of all,
// the others may not.
func TestUndecidedMayBeTriedAgainOfAllRows(t *testing.T) {
	thorough.AnyInstructions(t)
	t.Parallel()
	s, data := partlyGrowing()
	s.EvaluateEvery = .12
	tr := trainerOn(t, 1, nil, data, s, growingFrom...)
	undecided := map[string]bool{} // of those that have left, as they did last
	for !tr.Done() {
		behind := map[string]float64{}
		for _, k := range tr.kernels {
			if tr.apart > 0 && k.current(tr.rows) {
				behind[k.id] = tr.bestWorth() - k.worth()
			}
		}
		waits, rows := tr.apart > 0, tr.rows
		e := next(t, tr)
		for _, id := range e.Left {
			nats, known := behind[id]
			on := tr.expansion.tried[id]
			switch {
			case !known || tr.apart == 0:
			case nats <= 5*(1-float64(rows)/70):
				undecided[id] = true
				if on != rows+1 {
					t.Errorf("%s, %g nats behind, counts as compared on %d rows", id, nats, on)
				}
			default:
				undecided[id] = false
				if on != rows {
					t.Errorf("%s, %g nats behind, counts as compared on %d rows", id, nats, on)
				}
			}
		}
		if waits && tr.apart == 0 {
			for id, on := range tr.expansion.tried {
				if may, left := undecided[id]; left && may != (on < 70) {
					t.Errorf("%s, undecided: %v, counts as compared on %d of 70 rows", id, may, on)
				}
			}
		}
		for _, k := range e.Entered {
			if may, left := undecided[k.Expr.ID()]; !waits && left && !may {
				t.Errorf("%s is tried again", k.Expr.ID())
			}
		}
	}
	some := 0
	for _, may := range undecided {
		if may {
			some++
		}
	}
	if some == 0 || some == len(undecided) {
		t.Errorf("%d of %d that have left were undecided", some, len(undecided))
	}
}
