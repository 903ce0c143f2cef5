package transform

import (
	"math"
	"math/rand/v2"
	"testing"
)

// seasonal is a curve of 12 years of months like airline passengers', as g makes it
// of a sum of trend, season and noise.
func seasonal(rng *rand.Rand, g func(sum float64) float64) (x, y []float64) {
	for i := range 144 {
		at := float64(i)
		x = append(x, at)
		y = append(y, g(4.8+0.01*at+0.2*math.Sin(2*math.Pi*at/12)+0.05*rng.NormFloat64()))
	}
	return x, y
}

// Targets that a known transform makes even are told that transform.
func TestLambdaIsFound(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, c := range []struct {
		g    func(float64) float64
		want float64
	}{
		{math.Exp, 0},
		{func(s float64) float64 { return 100 * s }, 1},
		{func(s float64) float64 { return math.Pow(s, 2) }, 0.5},
		{func(s float64) float64 { return math.Pow(8-s, -1) }, 0}, // −1, which has no mean
	} {
		x, y := seasonal(rng, c.g)
		if got := Lambda(x, y, 1); math.Abs(got-c.want) > 0.35 && !(c.want == 1 && got > 0.5) {
			t.Errorf("λ = %v, want about %v", got, c.want)
		}
		// Another unit makes no difference: log likelihoods of y and cy differ by a constant.
		scaled := make([]float64, len(y))
		for i, v := range y {
			scaled[i] = 1000 * v
		}
		if a, b := Lambda(x, y, 1), Lambda(x, scaled, 1); math.Abs(a-b) > 0.011 {
			t.Errorf("λ = %v, in another unit %v", a, b)
		}
	}
}

// With several inputs: y = exp(plane + noise).
func TestLambdaOfAPlane(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	var x, y []float64
	for range 500 {
		a, b := rng.Float64(), 10*rng.Float64()
		x = append(x, a, b, 7) // one input is constant
		y = append(y, math.Exp(2*a-0.1*b+0.3*rng.NormFloat64()))
	}
	if got := Lambda(x, y, 3); math.Abs(got) > 0.12 {
		t.Errorf("λ = %v", got)
	}
}

// λ is the best of all hundredths, by the likelihood written out plainly for a random
// walk, and stays in range for data that say nothing.
func TestLambdaIsTheLikeliest(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	x, y := seasonal(rng, func(s float64) float64 { return math.Pow(s, 3) })
	likelihood := func(lambda float64) float64 {
		z := func(v float64) float64 {
			if lambda == 0 {
				return math.Log(v)
			}
			return (math.Pow(v, lambda) - 1) / lambda
		}
		var d []float64
		mean, jacobian := 0.0, 0.0
		for i := 1; i < len(y); i++ {
			d = append(d, z(y[i])-z(y[i-1]))
			mean += d[i-1] / float64(len(y)-1)
			jacobian += (lambda - 1) * math.Log(y[i])
		}
		variance := 0.0
		for _, v := range d {
			variance += (v - mean) * (v - mean) / float64(len(d))
		}
		out := jacobian
		for _, v := range d {
			out += -0.5*math.Log(2*math.Pi*variance) - 0.5*(v-mean)*(v-mean)/variance
		}
		return out
	}
	best := 0.0
	for k := 1; k <= 200; k++ {
		if l := float64(k) / 100; likelihood(l) > likelihood(best)+1e-9 {
			best = l
		}
	}
	if got := Lambda(x, y, 1); got != best {
		t.Errorf("λ = %v, the likeliest is %v", got, best)
	}
	for _, y := range [][]float64{{}, {2}, {2, 3}, {5, 5, 5, 5}} {
		if got := Lambda(make([]float64, len(y)), y, 1); got < 0 || got > 2 {
			t.Errorf("%v: λ = %v", y, got)
		}
	}
}
