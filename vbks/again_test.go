package vbks

import (
	"math"
	"math/rand/v2"
	"testing"

	"example.com/kestrel/internal/thorough"
)

// Natural gradients find with more inducing inputs what fewer could not resolve, as well as
// where they begin with these: solutions of before are not all that is tried.
func TestClimbingFindsWhatFewerDidNotResolve(t *testing.T) {
	thorough.AnyInstructions(t)
	slowWhenRacing(t)
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 1))
	const n, waves = 2000, 40
	var d Training
	d.Dim = 1
	var frequency, phase [waves]float64
	for i := range waves { // of a length scale of about .08
		frequency[i], phase[i] = rng.NormFloat64()/0.08, 2*math.Pi*rng.Float64()
	}
	for range n {
		x := 10 * rng.Float64()
		rough := 0.0
		for i := range waves {
			rough += math.Sqrt(2./waves) * math.Cos(frequency[i]*x+phase[i])
		}
		d.X, d.Y = append(d.X, x), append(d.Y, 1.5*math.Sin(2*math.Pi*x/1.3)+0.5*rough+0.1*rng.NormFloat64())
	}
	s := quickSettings("natural")
	s.EvaluateEvery, s.Refine, s.Steps, s.Starts, s.Batch = 0.5, 0, 20, 2, 64
	s.Inducing = 256
	alone := train(t, trainerOn(t, 2, nil, d, s, "PER+SE"))
	want := alone[len(alone)-1].Kernels[0].ELBO
	s.Inducing, s.FirstInducing, s.MostInducing = 0, 8, 256
	climbed := train(t, trainerOn(t, 2, nil, d, s, "PER+SE"))
	last := climbed[len(climbed)-1]
	if got := last.Kernels[0].ELBO; last.Inducing != 256 || got < want-20 {
		t.Errorf("M = %d: local ELBO %v after a climb, %v from there", last.Inducing, got, want)
	}
}
