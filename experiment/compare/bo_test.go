package compare

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"example.com/kestrel/internal/must"
)

// The formula against the mean of many draws.
func TestExpectedImprovement(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct{ mean, sd, best float64 }{{0, 1, 0}, {2, 1, 0}, {-1, 0.5, 0}, {5, 3, 8}} {
		const n = 400_000
		sum, squares := 0.0, 0.0
		for range n {
			v := max(0, c.mean+c.sd*rng.NormFloat64()-c.best)
			sum += v
			squares += v * v
		}
		want := sum / n
		se := math.Sqrt((squares/n - want*want) / n)
		if got := expectedImprovement(c.mean, c.sd, c.best); math.Abs(got-want) > 5*se {
			t.Errorf("%+v: %v, by drawing %v ± %v", c, got, want, se)
		}
	}
	for _, c := range []struct{ mean, sd, best, want float64 }{{1, 0, 3, 0}, {3, 0, 1, 2}, {-1e3, 1, 0, 0}} {
		if got := expectedImprovement(c.mean, c.sd, c.best); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// A surrogate knows what it has seen, and far from it only the level.
func TestSurrogate(t *testing.T) {
	x := []float64{0, 0.1, 0.2, 0.5}
	values := []float64{-1000, -990, -985, -1020}
	between := func(a, b float64) float64 { return 1 - math.Exp(-(a-b)*(a-b)) }
	var squared [][]float64
	for _, a := range x {
		var row []float64
		for _, b := range x {
			row = append(row, between(a, b))
		}
		squared = append(squared, row)
	}
	s, err := fitSurrogate(squared, values)
	must.OK(t, err)
	for i := range x {
		b := s.at(squared[i])
		if math.Abs(b.mean-values[i]) > 2 || b.sd > 2 {
			t.Errorf("value %v is believed to be %v ± %v", values[i], b.mean, b.sd)
		}
	}
	near, far := s.at([]float64{between(0.15, 0), between(0.15, 0.1), between(0.15, 0.2), between(0.15, 0.5)}), s.at([]float64{1, 1, 1, 1})
	if !(near.mean > -990 && near.mean < -980) || near.sd >= far.sd {
		t.Errorf("between two values: %+v, far from all: %+v", near, far)
	}
	if math.Abs(far.mean+998.75) > 25 {
		t.Errorf("far from all %v is expected, the mean is -998.75", far.mean)
	}
	if _, err := fitSurrogate([][]float64{{0, 0}, {0, 0}}, []float64{math.NaN(), 1}); err == nil {
		t.Error("a value that is no number was taken")
	}
	if s, err = fitSurrogate([][]float64{{0}}, []float64{7}); err != nil || math.Abs(s.at([]float64{0}).mean-7) > 1e-9 {
		t.Errorf("one value: %v", err)
	}
}

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
