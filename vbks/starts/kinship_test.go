package starts_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks/params"
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

// Where two products share a leaf, what shares it begins as one of them has it, and both begin as it is shared: the same function.
func TestTransplantsOfASharedLeaf(t *testing.T) {
	programs, kin := compiled(t, "(PER+SE)*RQ", "PER*RQ+RQ*SE")
	w := starts.NewDrawer([]float64{0, 1, 2, 3}, []float64{1, -1, 1, -1}, 1,
		starts.Options{Floor: 1e-6, Scales: starts.Summarise([]float64{0, 1, 2, 3}, []float64{1, -1, 1, -1}, 1), Seed: 1})
	shared := []float64{0.4, 0.7, 0.9, 0.3, 2, 1, 5, 0.6}
	twice := []float64{0.4, 0.7, 0.9, 1, 5, 0.6, 0.3, 5, 0.6, 1, 2}
	for taker, c := range [][2][]float64{{twice, shared}, {shared, twice}} {
		giver := 1 - taker
		i := slices.IndexFunc(kin[taker], func(r starts.Relation) bool { return r.From == giver })
		if i < 0 {
			t.Fatalf("%s is no kin of %s", programs[giver].ID, programs[taker].ID)
		}
		rng := rand.New(rand.NewPCG(1, 1))
		found := false
		for _, x := range w.Transplant(kin[taker][i], programs[giver], programs[taker], params.Free(programs[giver], c[0], 0.1, 1e-6), nil, rng) {
			raw, _ := params.Raw(programs[taker], x, 1e-6)
			same := true
			for _, at := range []float64{0.3, 1.7} {
				a, b := programs[giver].Eval(c[0], []float64{0}, []float64{at}, false), programs[taker].Eval(raw, []float64{0}, []float64{at}, false)
				same = same && math.Abs(a-b) < 1e-9
			}
			found = found || same
		}
		if !found {
			t.Errorf("%s has no start with the function of %s", programs[taker].ID, programs[giver].ID)
		}
	}
}
