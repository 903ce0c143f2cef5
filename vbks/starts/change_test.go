package starts_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"example.com/kestrel/internal/must"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks/params"
	"example.com/kestrel/vbks/starts"
	"example.com/kestrel/vbks/starts/startstest"
)

// Starts of a change point lie all over the data; one made of a kernel that it contains
// keeps that, and what it leaves to such a kernel is what it had.
func TestChangeStarts(t *testing.T) {
	g := startstest.NewGraft(t, 1, 1)
	var space []kernelspace.Expr
	var programs []*kernelspace.Program
	for _, s := range []string{"SE", "PER", "CP(SE,PER)"} {
		e, err := kernelspace.Parse(s)
		must.OK(t, err)
		p, err := kernelspace.Compile(e, kernelspace.Options{Dim: 1})
		must.OK(t, err)
		space, programs = append(space, e), append(programs, p)
	}
	change := programs[2]
	low, high := slices.Min(g.X), slices.Max(g.X)
	var places []float64
	for n := range 40 {
		raw, _ := params.Raw(change, g.Draw(change, rand.New(rand.NewPCG(6, uint64(n))), n), g.Floor)
		places = append(places, kernelspace.PlaceOf(raw[0]))
		if raw[1] < 0.005*(high-low) || raw[1] > 0.2*(high-low) {
			t.Errorf("start %d has the width %g", n, raw[1])
		}
	}
	slices.Sort(places)
	if places[0] < low || places[39] > high || places[8] > low+0.4*(high-low) || places[31] < low+0.6*(high-low) {
		t.Errorf("places %v between %g and %g", places, low, high)
	}
	kin := starts.Kinship(space)
	for from, at := range []int{2, 4} { // where SE and PER have their variance in CP(SE,PER)
		own := programs[from]
		x := g.Draw(own, rand.New(rand.NewPCG(7, 1)), 0)
		raw, _ := params.Raw(own, x, g.Floor)
		relation := func(taker, giver int) starts.Relation {
			return kin[taker][slices.IndexFunc(kin[taker], func(r starts.Relation) bool { return r.From == giver && r.Kind != starts.Replacement })]
		}
		lifted := g.Transplant(relation(2, from), own, change, x, nil, rand.New(rand.NewPCG(8, 1)))
		if len(lifted) < 2 {
			t.Fatalf("CP from %s: %d starts", space[from], len(lifted))
		}
		for _, s := range lifted {
			got, _ := params.Raw(change, s, g.Floor)
			for i, v := range raw {
				if math.Abs(got[at+i]-v) > 1e-9*v {
					t.Errorf("CP from %s: %v does not keep %v", space[from], got, raw)
				}
			}
			back, _ := params.Raw(own, g.Transplant(relation(from, 2), change, own, s, nil, rand.New(rand.NewPCG(9, 1)))[0], g.Floor)
			for i, v := range raw {
				if math.Abs(back[i]-v) > 1e-9*v {
					t.Errorf("%s from CP: %v, not %v", space[from], back, raw)
				}
			}
		}
	}
}
