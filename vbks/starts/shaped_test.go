package starts

import (
	"math"
	"math/rand/v2"
	"testing"
)

// A daily cycle that a weekly one modulates has no power at the week itself, whose harmonics its lines are. It is the first
// candidate, with the scale of its pattern, of few rows and of more than shapes are looked for in.
func TestModulatedCycles(t *testing.T) {
	for _, n := range []int{3000, shapedRows + 2000} {
		rng := rand.New(rand.NewPCG(4, uint64(n)))
		x, y := make([]float64, n), make([]float64, n)
		for i := range x {
			x[i] = float64(i)
			y[i] = (1+.5*math.Sin(2*math.Pi*x[i]/168))*math.Sin(2*math.Pi*x[i]/24) + .4*rng.NormFloat64()
		}
		w := NewDrawer(x, y, 1, Options{Inducing: 32, Floor: 1e-6, Scales: Summarise(x, y, 1), Seed: 1})
		found := w.candidates(0)
		if len(found) < 2 || math.Abs(found[0].period/168-1) > .005 || found[0].scale == 0 || math.Abs(found[1].period/24-1) > .005 {
			t.Errorf("%d rows: %v", n, found)
		}
	}
}
