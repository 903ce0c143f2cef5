package laplace

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"example.com/kestrel/kernelspace"
	"example.com/kestrel/kernelspace/kernelspacetest"
)

// Intervals hold 95 % of the mass, as quantiles of densities of which they are known: with a curvature that is
// wrong, of two modes, and of two equal terms those of one of them.
func TestIntervalsOfKnownDensities(t *testing.T) {
	one := kernelspacetest.Program(t, "SE", kernelspace.Options{Dim: 1})
	twice := kernelspacetest.Program(t, "PER+PER", kernelspace.Options{Dim: 1})
	a, b := []float64{0, 1, 2}, []float64{6, -5, 2}
	narrow, wide := []float64{.1, .2, .1}, []float64{1, 2, 1.5}
	x, y := []float64{0, 1, 2, 5, 6, -3, 0}, []float64{5, 6, -3, 0, 1, 2, 0}
	sd := []float64{.3, .4, .2, .3, .4, .2, .5}
	for _, c := range []struct {
		name      string
		program   *kernelspace.Program
		modes     []Peak
		log       func(x []float64) float64
		entry     int
		low, high float64
		off       float64 // how far the mean over seeds may be off
	}{
		{"normal, its curvature off", one, []Peak{peakAt(a, []float64{.6, 3, 1}, 0)}, func(x []float64) float64 { return logNormal(x, a, wide) },
			1, 1 - 1.96*2, 1 + 1.96*2, .3},
		{"two modes, a quarter of the mass in the narrow one", one, []Peak{peakAt(a, narrow, 0), peakAt(b, wide, 0)}, func(x []float64) float64 {
			return floats.LogSumExp([]float64{logNormal(x, a, narrow), math.Log(3) + logNormal(x, b, wide)})
		}, 0, -.1 * 1.2816, 6 + 1.8339, .2}, // a tenth of the one, a thirtieth of the other
		{"equal terms", twice, []Peak{peakAt(x, sd, 0)}, func(z []float64) float64 {
			return floats.LogSumExp([]float64{logNormal(z, x, sd), logNormal(z, y, sd)})
		}, 3, 5 - 1.96*.3, 5 + 1.96*.3, .1},
	} {
		for i := range c.modes {
			c.modes[i].Value = c.log(c.modes[i].X)
		}
		const seeds = 20
		low, high := 0.0, 0.0
		for seed := range uint64(seeds) {
			got, err := Integrate([]Density{{Program: c.program, Name: c.name, Modes: c.modes}}, func(_ []int, xs [][]float64) ([]float64, error) {
				return []float64{c.log(xs[0])}, nil
			}, seed)
			if err != nil {
				t.Fatal(err)
			}
			low, high = low+got[0].Low[c.entry]/seeds, high+got[0].High[c.entry]/seeds
		}
		if math.Abs(low-c.low) > c.off || math.Abs(high-c.high) > c.off {
			t.Errorf("%s: %.3f to %.3f, want %.3f to %.3f", c.name, low, high, c.low, c.high)
		}
	}
}
