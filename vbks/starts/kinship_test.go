package starts_test

import (
	"slices"
	"testing"

	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks/starts"
	"example.com/kestrel/vbks/starts/startstest"
)

// Kinship of K144 holds all its nested pairs, both ways, nearest kind first,
// and pairs leaves that belong together.
func TestKinship(t *testing.T) {
	g := startstest.NewGraft(t, 3, 1)
	has := func(taker, giver int, kind starts.RelationKind) bool {
		return slices.ContainsFunc(g.Kin[taker], func(r starts.Relation) bool { return r.From == giver && r.Kind == kind })
	}
	pairs := kernelspace.NestedPairs(g.Exprs)
	if len(pairs) != 281 {
		t.Fatalf("%d nested pairs, K144 has 281", len(pairs))
	}
	for _, p := range pairs {
		if !has(p.General, p.Special, starts.Lift) || !has(p.Special, p.General, starts.Restriction) {
			t.Errorf("%s and %s are not related both ways", g.Exprs[p.General].ID(), g.Exprs[p.Special].ID())
		}
	}
	for taker, relations := range g.Kin {
		if !slices.IsSortedFunc(relations, func(a, b starts.Relation) int { return int(a.Kind) - int(b.Kind) }) {
			t.Errorf("relations of %s are not in order", g.Exprs[taker].ID())
		}
		to := g.Exprs[taker].Leaves()
		for _, r := range relations {
			from := g.Exprs[r.From].Leaves()
			if r.From == taker || r.Label != g.Exprs[r.From].ID() || len(r.Pairs) != len(to) {
				t.Errorf("%s: relation %+v", g.Exprs[taker].ID(), r)
			}
			missing, different := 0, 0
			used := map[int]bool{}
			for i, j := range r.Pairs {
				switch {
				case j < 0:
					missing++
				case used[j] || j >= len(from):
					t.Errorf("%s from %s: leaves %v", g.Exprs[taker].ID(), r.Label, r.Pairs)
				default:
					used[j] = true
					if from[j].ID() != to[i].ID() {
						different++
					}
				}
			}
			switch r.Kind {
			case starts.Lift, starts.Restriction:
				if missing != max(0, len(to)-len(from)) || different > 1 || different == 1 && len(to) != len(from) {
					t.Errorf("%s from %s: leaves %v", g.Exprs[taker].ID(), r.Label, r.Pairs)
				}
			case starts.Replacement:
				if missing != 0 || different != 1 || len(to) != len(from) {
					t.Errorf("%s from %s: leaves %v", g.Exprs[taker].ID(), r.Label, r.Pairs)
				}
			}
		}
	}
}
