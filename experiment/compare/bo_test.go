package compare

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"example.com/kestrel/internal/must"
)

// toySpace is kernels on a line whose evidence has one peak.
func toySpace(n, peak int, seed uint64) (*boSearch, func(id string) float64) {
	s := &boSearch{seed: seed}
	value := map[string]float64{}
	for i := range n {
		id := fmt.Sprintf("k%d", i)
		s.ids = append(s.ids, id)
		d := float64(i-peak) / float64(n)
		value[id] = 1000 * math.Exp(-8*d*d)
	}
	s.distances = func(_ context.Context, i int) ([]float64, error) {
		out := make([]float64, n)
		for j := range out {
			d := 3 * float64(i-j) / float64(n)
			out[j] = 1 - math.Exp(-d*d)
		}
		return out, nil
	}
	return s, func(id string) float64 { return value[id] }
}

// Drawing without repetition finds the best of n after (n + 1)/2 trainings on
// average. The search needs less than half as many.
func TestBayesianOptimisationBeatsRandom(t *testing.T) {
	const n, seeds = 40, 12
	total := 0
	for seed := range uint64(seeds) {
		peak := int(seed*7+3) % n
		s, value := toySpace(n, peak, seed)
		var done []searchStep
		for {
			id, err := s.next(t.Context(), done)
			must.OK(t, err)
			if slices.ContainsFunc(done, func(d searchStep) bool { return d.ID == id }) {
				t.Fatalf("%s was chosen twice", id)
			}
			done = append(done, searchStep{ID: id, Score: value(id)})
			if id == s.ids[peak] {
				break
			}
		}
		total += len(done)
	}
	if mean := float64(total) / seeds; mean > (n+1)/4. {
		t.Errorf("the best was found after %.1f trainings on average, at random it takes %.1f", mean, (n+1)/2.)
	}
}

// What failed is not chosen again, and when all have been trained the search is
// over.
func TestBayesianOptimisationEnds(t *testing.T) {
	s, value := toySpace(6, 2, 1)
	var done []searchStep
	for range 6 {
		id, err := s.next(t.Context(), done)
		must.OK(t, err)
		step := searchStep{ID: id, Score: value(id)}
		if len(done)%2 == 0 {
			step.Score = math.NaN()
		}
		done = append(done, step)
	}
	if !s.over(done) || s.over(done[:5]) {
		t.Error("the search ends elsewhere than with the last kernel")
	}
	for i := range done {
		for j := range i {
			if done[i].ID == done[j].ID {
				t.Errorf("%s was chosen twice", done[i].ID)
			}
		}
	}
}
