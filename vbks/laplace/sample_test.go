package laplace

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"example.com/kestrel/kernelspace"
	"example.com/kestrel/kernelspace/kernelspacetest"
)

// Most of the mass is in a wide part beside the mode that nobody has found. A draw that
// comes there by chance has nearly all of the weight, and would keep it: later ones have to follow it.
func TestDrawsFollowWhatIsFound(t *testing.T) {
	p := kernelspacetest.Program(t, "SE", kernelspace.Options{Dim: 1})
	a, b := []float64{0, 0, 0, 1, 2, 0}, []float64{.8, -.8, .8, 1, 2, 1}
	narrow, wide := []float64{.4, .4, .4, .5, 1, .4}, []float64{1.5, 1.5, 1.5, .9, 1, 1.5}
	log := func(x []float64) float64 {
		return floats.LogSumExp([]float64{math.Log(.2) + logNormal(x, a, narrow), math.Log(.8) + logNormal(x, b, wide)})
	}
	average, least := 0.0, math.Inf(1)
	const seeds = 8
	for seed := range uint64(seeds) {
		got, err := Integrate([]Density{{Program: p, Name: "beside", Modes: []Peak{peakAt(a, narrow, log(a))}, Times: 4}},
			func(_ []int, xs [][]float64) ([]float64, error) { return []float64{log(xs[0])}, nil }, seed)
		if err != nil {
			t.Fatal(err)
		}
		average, least = average+got[0].Nats/seeds, math.Min(least, got[0].Draws)
		t.Logf("%.3f ± %.3f, %.0f effective draws", got[0].Nats, got[0].SE, got[0].Draws)
	}
	if math.Abs(average) > .12 || least < 30 {
		t.Errorf("%+.3f nats off on average, at least %.0f effective draws", average, least)
	}
}

// Draws of one normal density give the integral of another one about the same place. Where
// that is elsewhere few draws are effective, which says so.
func TestCorrectedIntegrals(t *testing.T) {
	p := kernelspacetest.Program(t, "SE", kernelspace.Options{Dim: 1})
	mean, sd := []float64{0, 1, 2}, []float64{1, .2, 2}
	from := func(x []float64) float64 { return -7 + logNormal(x, mean, sd) }
	peak := peakAt(mean, sd, from(mean))
	for _, c := range []struct {
		mean, sd []float64
		ok       bool
	}{
		{[]float64{.2, .95, 1.8}, []float64{.9, .2, 1.8}, true},
		{[]float64{0, 1, 2}, []float64{1, .2, 2}, true},
		{[]float64{4, 2, 2}, []float64{.3, .1, 2}, false},
	} {
		to := func(x []float64) float64 { return 5 + logNormal(x, c.mean, c.sd) }
		average := 0.0
		for seed := range uint64(5) {
			got, err := Integrate([]Density{{Program: p, Name: "other", Modes: []Peak{peak}, Times: 4, Sampled: 96}},
				func(_ []int, xs [][]float64) ([]float64, error) { return []float64{from(xs[0])}, nil }, seed)
			if err != nil {
				t.Fatal(err)
			}
			count := 0.0
			var ratios []float64
			for i, x := range got[0].Sample.X {
				count += got[0].Sample.Count[i]
				ratios = append(ratios, to(x)-from(x))
			}
			if math.Abs(count-96) > 1 {
				t.Errorf("a sample of %v draws", count)
			}
			other := got[0].Corrected(ratios)
			average += other.Nats / 5
			if few := other.Draws < 24; few == c.ok || other.SE < got[0].SE {
				t.Errorf("%v: %.3f ± %.3f by %.1f draws, ± %.3f before", c.mean, other.Nats, other.SE, other.Draws, got[0].SE)
			}
		}
		if c.ok && math.Abs(average-5) > .12 {
			t.Errorf("%v: %.3f on average, want 5", c.mean, average)
		}
	}
}

// Without a sample, or where the other density is nowhere, there is no integral.
func TestNothingToCorrect(t *testing.T) {
	for _, c := range []Integral{{}, {Sample: Sample{X: [][]float64{{1}, {2}}, Count: []float64{3, 1}}}} {
		ratios := make([]float64, len(c.Sample.X))
		for i := range ratios {
			ratios[i] = math.Inf(-1)
		}
		if got := c.Corrected(ratios); !math.IsNaN(got.Nats) || got.Draws != 0 {
			t.Errorf("%+v", got)
		}
	}
}
