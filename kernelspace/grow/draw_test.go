package grow

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// Each kernel of so many leaves is drawn about equally often, by Pearson's χ², and none that
// is not listed.
func TestDrawIsUniform(t *testing.T) {
	for name, g := range map[string]*Grammar{
		"two to four":      grammar(t, Options{Leaves: 4, Ratio: .5}, "SE", "LIN"),
		"one kind to six":  grammar(t, Options{Leaves: 6, Ratio: .5}, "SE"),
		"changes":          grammar(t, Options{Leaves: 5, Ratio: .3, Change: true}, "SE"),
		"changes, columns": grammar(t, Options{Leaves: 3, Ratio: .7, Columns: []string{"x", "y"}, Change: true}, "SE[x]", "SE[y]"),
	} {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, 2))
			for n, all := range listed(g) {
				if n == 0 {
					continue
				}
				if g.Has(n) != (len(all) > 0) {
					t.Errorf("%d kernels of %d leaves: %v", len(all), n, g.Has(n))
				}
				if len(all) == 0 {
					continue
				}
				const each = 40
				count := map[string]int{}
				for _, e := range all {
					count[e.ID()] = 0
				}
				for range each * len(all) {
					id := g.Draw(rng, n).ID()
					if _, listed := count[id]; !listed {
						t.Fatalf("%s is not one of %d leaves", id, n)
					}
					count[id]++
				}
				square := 0.0
				for _, c := range count {
					square += float64(c-each) * float64(c-each) / each
				}
				if df := float64(len(all) - 1); df > 0 {
					if p := (distuv.ChiSquared{K: df}).Survival(square); p < 1e-4 {
						t.Errorf("%d leaves: χ² of %.0f with %.0f degrees of freedom, probability %.2g", n, square, df, p)
					}
				}
			}
		})
	}
}

// What no kernel has cannot be drawn.
func TestHas(t *testing.T) {
	g := grammar(t, Options{Leaves: 3, Ratio: .5}, "SE")
	for n, want := range map[int]bool{-1: false, 0: false, 1: true, 3: true, 4: false} {
		if g.Has(n) != want {
			t.Errorf("%d leaves: %v", n, !want)
		}
	}
}
