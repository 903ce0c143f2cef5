package searches

import (
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
		if got := (Belief{c.mean, c.sd}).Improvement(c.best); math.Abs(got-want) > 5*se {
			t.Errorf("%+v: %v, by drawing %v ± %v", c, got, want, se)
		}
	}
	for _, c := range []struct{ mean, sd, best, want float64 }{{1, 0, 3, 0}, {3, 0, 1, 2}, {-1e3, 1, 0, 0}} {
		if got := (Belief{c.mean, c.sd}).Improvement(c.best); got != c.want {
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
	s, err := FitSurrogate(squared, values)
	must.OK(t, err)
	for i := range x {
		b := s.At(squared[i])
		if math.Abs(b.Mean-values[i]) > 2 || b.SD > 2 {
			t.Errorf("value %v is believed to be %v ± %v", values[i], b.Mean, b.SD)
		}
	}
	near, far := s.At([]float64{between(0.15, 0), between(0.15, 0.1), between(0.15, 0.2), between(0.15, 0.5)}), s.At([]float64{1, 1, 1, 1})
	if !(near.Mean > -990 && near.Mean < -980) || near.SD >= far.SD {
		t.Errorf("between two values: %+v, far from all: %+v", near, far)
	}
	if math.Abs(far.Mean+998.75) > 25 {
		t.Errorf("far from all %v is expected, the mean is -998.75", far.Mean)
	}
	if _, err := FitSurrogate([][]float64{{0, 0}, {0, 0}}, []float64{math.NaN(), 1}); err == nil {
		t.Error("a value that is no number was taken")
	}
	if s, err = FitSurrogate([][]float64{{0}}, []float64{7}); err != nil || math.Abs(s.At([]float64{0}).Mean-7) > 1e-9 {
		t.Errorf("one value: %v", err)
	}
}

// What failed counts as the worst that did not.
func TestFailing(t *testing.T) {
	nan := math.NaN()
	for _, c := range [][2][]float64{{{3, nan, 1}, {3, 1, 1}}, {{nan, nan}, {0, 0}}, {{2}, {2}}, {nil, {}}} {
		if got := Failing(c[0]); !slices.Equal(got, c[1]) {
			t.Errorf("%v: %v", c[0], got)
		}
	}
}
