package vbks

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"example.com/kestrel/internal/thorough"
)

// Natural gradients find with more inducing inputs what fewer could not resolve, as well as
// where they begin with these: solutions of before are not all that is tried.
func TestClimbingFindsWhatFewerDidNotResolve(t *testing.T) {
	thorough.AnyInstructions(t)
	thorough.Unraced(t)
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

// What inducing inputs take for noise, and what neighbouring rows have in common, is no noise: though bounds are close there,
// more come, and on the last rung it is told. What is noise ends the ladder where bounds are close, and so does what no
// kernel could be rougher for.
func TestMoreInducingInputsWhereNoiseIsAlike(t *testing.T) {
	thorough.AnyInstructions(t)
	thorough.Unraced(t)
	t.Parallel()
	for _, optimizer := range []string{"natural", "collapsed"} {
		for _, rough := range []float64{0, 0.4} {
			rng := rand.New(rand.NewPCG(8, 2))
			var d Training
			d.Dim = 1
			const waves = 30
			var frequency, phase [waves]float64
			for i := range waves {
				frequency[i], phase[i] = rng.NormFloat64()/0.02, 2*math.Pi*rng.Float64()
			}
			for range 1500 {
				x, f := 10*rng.Float64(), 0.0
				for i := range waves {
					f += math.Sqrt(2./waves) * math.Cos(frequency[i]*x+phase[i])
				}
				d.X, d.Y = append(d.X, x), append(d.Y, math.Sin(x)+rough*f+math.Sqrt(0.17-rough*rough)*rng.NormFloat64())
			}
			s := quickSettings(optimizer)
			s.EvaluateEvery, s.Refine, s.Steps, s.Starts, s.Batch = 1, 0, 15, 1, 64
			s.Bound, s.Inducing, s.FirstInducing, s.MostInducing = "tight", 0, 20, 80
			for _, kernels := range [][]string{{"SE", "LIN"}, {"LIN"}} {
				all := train(t, trainerOn(t, 2, nil, d, s, kernels...))
				last := all[len(all)-1]
				told := ""
				for _, n := range last.Notices {
					told += n.Text + "\n"
				}
				want := rough > 0 && len(kernels) > 1
				audible := strings.Contains(told, "80 inducing inputs take for noise is alike in neighbouring rows")
				if audible != want || (last.Inducing == 80) != want {
					t.Errorf("%s, %v, rough %v: M = %d, told %q", optimizer, kernels, rough, last.Inducing, told)
				}
			}
		}
	}
}

// Runs of neighbours are evenly spread over all rows, and each once.
func TestRunsOfNeighbours(t *testing.T) {
	for _, n := range []int{3, heardRows, heardRows + 1, 50_000} {
		x := make([]float64, n)
		for i := range x {
			x[i] = float64((i * 7919) % n) // 7919 is prime
		}
		r := &round{Trainer: &Trainer{common: common{dim: 1}}, n: n}
		r.data.X = x
		rows := r.neighbours(heardRows, heardRuns)
		seen, jumps := map[int]bool{}, 0
		for j, i := range rows {
			seen[i] = true
			if j > 0 && x[i] != x[rows[j-1]]+1 {
				jumps++
			}
		}
		ends := x[rows[0]] == 0 && x[rows[len(rows)-1]] == float64(n-1)
		if len(rows) != min(n, heardRows) || len(seen) != len(rows) || n > 2*heardRows && jumps != heardRuns-1 || !ends {
			t.Errorf("%d rows: %d of them, %d different, %d jumps", n, len(rows), len(seen), jumps)
		}
	}
}
