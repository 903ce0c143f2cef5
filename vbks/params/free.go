// Package params has the two forms in which a kernel's hyperparameters are worked
// with. Raw parameters are all that its program takes, as they stand in the
// covariance function. A free vector is what optimisers move: the logarithms of the
// free ones and, last, ρ with σ_n² = floor + exp(ρ). Of those that are bounded it has
// where between their limits they lie, see kernelspace.Known.
package params

import (
	"math"

	"example.com/kestrel/kernelspace"
)

// Free returns the free vector of raw parameters and a noise variance. Values beyond
// a bound become ones near it, those that are fixed do not matter.
func Free(p *kernelspace.Program, raw []float64, noise, floor float64) []float64 {
	x := make([]float64, len(p.Free)+1)
	for i, j := range p.Free {
		x[i] = p.Params[j].Known.Entry(math.Log(raw[j]))
	}
	x[len(p.Free)] = noiseEntry(p, noise, floor)
	return x
}

func noiseEntry(p *kernelspace.Program, noise, floor float64) float64 {
	switch p.Noise.How {
	case kernelspace.Fixed:
		return 0
	case kernelspace.Bounded:
		return p.Noise.Entry(math.Log(noise))
	}
	return math.Log(math.Max(noise-floor, 1e-3*floor+1e-12*noise+math.SmallestNonzeroFloat64))
}

// Raw is the reverse of Free.
func Raw(p *kernelspace.Program, x []float64, floor float64) (raw []float64, noise float64) {
	raw = make([]float64, len(p.Params))
	for i := range raw {
		if raw[i] = 1; p.Params[i].Known.How == kernelspace.Fixed {
			raw[i] = p.Params[i].Known.Value
		}
	}
	for i, j := range p.Free {
		log, _ := p.Params[j].Known.Log(x[i])
		raw[j] = math.Exp(log)
	}
	return raw, p.NoiseAt(x[len(p.Free)], floor)
}
