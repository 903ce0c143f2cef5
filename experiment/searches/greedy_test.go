package searches

import (
	"slices"
	"testing"

	"example.com/kestrel/internal/must"
	"example.com/kestrel/kernelspace"
)

func exprs(t *testing.T, texts ...string) (all []kernelspace.Expr) {
	t.Helper()
	for _, text := range texts {
		e, err := kernelspace.Parse(text)
		must.OK(t, err)
		all = append(all, e.Canonical())
	}
	return all
}

// Neighbours of small kernels, found by hand.
func TestNeighbourhood(t *testing.T) {
	bases := exprs(t, "SE", "LIN")
	for _, c := range []struct {
		of    string
		depth int
		want  []string
	}{
		{"SE", 1, []string{"LIN"}},
		{"SE", 3, []string{"LIN", "SE+SE", "SE+LIN", "SE*SE", "SE*LIN"}},
		{"SE+LIN", 2, []string{"SE+SE", "LIN+LIN"}},
		{"SE+LIN", 3, []string{"SE+SE", "LIN+LIN", "SE+SE+LIN", "SE+LIN+LIN", "(SE+LIN)*SE", "(SE+LIN)*LIN",
			"SE*SE+LIN", "SE*LIN+LIN", "SE*LIN+SE", "LIN*LIN+SE"}},
		{"CP(SE,LIN)", 3, []string{"CP(LIN,LIN)", "CP(SE,SE)"}},
		{"SE*SE", 3, []string{"SE*LIN", "SE*SE+SE", "SE*SE+LIN", "SE*SE*SE", "SE*SE*LIN", "(SE+SE)*SE", "(SE+LIN)*SE"}},
	} {
		var got, want []string
		for _, e := range neighbourhood(exprs(t, c.of)[0], bases, c.depth) {
			got = append(got, e.ID())
		}
		for _, e := range exprs(t, c.want...) {
			want = append(want, e.Canonical().ID())
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s up to %d leaves:\n got %v\nwant %v", c.of, c.depth, got, want)
		}
	}
}

// From the base kernels step by step, all of K144 is reached and nothing else.
func TestNeighbourhoodReachesK144(t *testing.T) {
	bases := exprs(t, "SE", "RQ", "LIN", "PER")
	reached := map[string]bool{}
	todo := slices.Clone(bases)
	for len(todo) > 0 {
		e := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if !reached[e.ID()] {
			reached[e.ID()] = true
			todo = append(todo, neighbourhood(e, bases, 3)...)
		}
	}
	space, err := kernelspace.Set("K144")
	must.OK(t, err)
	for _, e := range space {
		if !reached[e.ID()] {
			t.Errorf("%s is not reached", e.ID())
		}
	}
	if len(reached) != len(space) {
		t.Errorf("%d kernels are reached", len(reached))
	}
}
