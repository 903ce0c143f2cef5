package stacking

import (
	"math"
	"math/rand/v2"
	"testing"
)

func score(logp [][]float64, w []float64) float64 {
	sum := 0.0
	for i := range logp[0] {
		p := 0.0
		for k := range w {
			p += w[k] * math.Exp(logp[k][i])
		}
		sum += math.Log(p)
	}
	return sum / float64(len(logp[0]))
}

// No other point of a fine grid over the simplex is better, and what the rows were drawn
// with is nearly found.
func TestWeightsAreTheBest(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	truth := []float64{0.6, 0.3, 0.1}
	for _, extra := range []float64{0, -700} { // of a common scale nothing depends
		logp := make([][]float64, 3)
		for range 4000 {
			u, k := rng.Float64(), 0
			for u > truth[k] {
				u -= truth[k]
				k++
			}
			y := rng.NormFloat64() + 2*float64(k)
			for j := range logp {
				z := y - 2*float64(j)
				logp[j] = append(logp[j], -z*z/2+extra)
			}
		}
		w := Weights(logp)
		for i := range logp {
			for j := range logp[i] {
				logp[i][j] -= extra
			}
			if math.Abs(w[i]-truth[i]) > 0.05 {
				t.Errorf("weights %v, drawn with %v", w, truth)
			}
		}
		best := score(logp, w)
		for a := 0.0; a <= 1; a += 0.02 {
			for b := 0.0; a+b <= 1; b += 0.02 {
				if s := score(logp, []float64{a, b, 1 - a - b}); s > best+2e-6 {
					t.Fatalf("%v, %v are better than %v by %v", a, b, w, s-best)
				}
			}
		}
	}
}

func TestWeightsAtTheEdges(t *testing.T) {
	inf := math.Inf(-1)
	for _, c := range []struct {
		logp [][]float64
		want []float64
	}{
		{[][]float64{{1, 2}, {1, 2}}, []float64{0.5, 0.5}}, // equal ones share
		{[][]float64{{0, 0}, {-1, -2}}, []float64{1, 0}},   // worse everywhere: nothing
		{[][]float64{{0, inf}, {inf, 0}}, []float64{0.5, 0.5}},
		{[][]float64{{0, inf, inf}, {inf, 0, 0}}, []float64{1. / 3, 2. / 3}},
		{[][]float64{{inf, 0}, {inf, -9}}, []float64{1, 0}}, // a row that nobody expects does not count
		{[][]float64{{}, {}}, []float64{0.5, 0.5}},
	} {
		w := Weights(c.logp)
		for k := range w {
			if math.Abs(w[k]-c.want[k]) > 1e-3 {
				t.Errorf("%v: %v, want %v", c.logp, w, c.want)
			}
		}
	}
}
