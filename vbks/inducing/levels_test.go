package inducing

import (
	"math/rand/v2"
	"testing"
)

// Inducing inputs of k-means lie on levels along the columns that have such, on all of
// them, and no two are one.
func TestOnLevels(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	const n, dim, m = 3000, 3, 40
	var x []float64
	for range n {
		x = append(x, r.NormFloat64(), float64(r.IntN(3))-0.7, float64(r.IntN(2))*1.3)
	}
	z, _, err := Place(x, dim, m, "kmeans", 1)
	if err != nil {
		t.Fatal(err)
	}
	between := 0
	levels := func(z []float64) map[[2]float64]int {
		found := map[[2]float64]int{}
		for i := 0; i < len(z); i += dim {
			found[[2]float64{z[i+1], z[i+2]}]++
		}
		return found
	}
	known := levels(x)
	for l := range levels(z) {
		if known[l] == 0 {
			between++
		}
	}
	z = OnLevels(z, x, dim, []int{1, 2})
	if on := levels(z); len(on) != len(known) || between == 0 {
		t.Errorf("inducing inputs are on %d of %d levels; %d before were on none", len(on), len(known), between)
	}
	// A table of levels alone has no more inducing inputs than rows that differ.
	flat := make([]float64, 0, 2*n)
	for i := 0; i < len(x); i += dim {
		flat = append(flat, x[i+1], x[i+2])
	}
	if z, _, err = Place(flat, 2, 6, "kmeans", 1); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	z = OnLevels(z, flat, 2, []int{0, 1})
	for i := 0; i < len(z); i += 2 {
		if seen[key(z[i:i+2])] {
			t.Errorf("%v stands twice", z[i:i+2])
		}
		seen[key(z[i:i+2])] = true
	}
}
