package vbks

import (
	"math/rand/v2"
	"strconv"
	"testing"
)

// A kernel stands before those of which much less is believed, and what the belief leaves
// open is in the order of the gap, wherever it would be rounded.
func TestRanked(t *testing.T) {
	k := func(id string, posterior, elbo float64) *KernelResult {
		return &KernelResult{ID: id, Posterior: posterior, ELBO: elbo}
	}
	for _, c := range []struct {
		what       string
		kernels    []*KernelResult
		resolution float64
		want       string
	}{
		{"by belief", []*KernelResult{k("a", 0.1, 0), k("b", 0.6, -2), k("c", 0.3, -1)}, 0.05, "bca"},
		{"on either side of where twentieths are rounded", []*KernelResult{k("a", 0.126, -1), k("b", 0.124, -0.9), k("c", 0.6, 0)}, 0.05, "cba"},
		{"small ones by the gap", []*KernelResult{k("a", 0.97, 0), k("b", 0.0065, -3), k("c", 0.0078, -4), k("d", 0.0064, -2)}, 0.01, "adbc"},
		{"ties by name", []*KernelResult{k("b", 0.5, 0), k("a", 0.5, 0)}, 0.05, "ab"},
		{"with the volume and the prior", []*KernelResult{{ID: "a", Posterior: 0.5, Volume: 1, LogPrior: 2}, {ID: "b", Posterior: 0.5, ELBO: 2}},
			0.05, "ab"},
		{"a chain in which neighbours are equal and the ends are not",
			[]*KernelResult{k("a", 0.30, -9), k("b", 0.26, -5), k("c", 0.22, -1)}, 0.05, "bac"},
	} {
		got := ""
		for _, i := range ranked(c.kernels, c.resolution, 1) {
			got += c.kernels[i].ID
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.what, got, c.want)
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var kernels []*KernelResult
		for i := range 12 {
			kernels = append(kernels, k(strconv.Itoa(i), rng.Float64()/4, -3*rng.Float64()))
		}
		order := ranked(kernels, 0.05, 1)
		for at, i := range order {
			for _, j := range order[at+1:] {
				if kernels[j].Posterior > kernels[i].Posterior+0.05 {
					t.Fatalf("%v stands before %v", *kernels[i], *kernels[j])
				}
			}
			if next := at + 1; next < len(order) {
				a, b := kernels[i], kernels[order[next]]
				free := true // b could have come first
				for _, j := range order[at:] {
					free = free && b.Posterior >= kernels[j].Posterior-0.05
				}
				if free && b.ELBO > a.ELBO {
					t.Fatalf("%v stands before %v although nothing but the gap orders them", *a, *b)
				}
			}
		}
	}
}
