// Package params has the two forms in which a kernel's hyperparameters are worked
// with. Raw parameters are all that its program takes, as they stand in the
// covariance function. A free vector is what optimisers move: the logarithms of the
// free ones and, last, ρ with σ_n² = floor + exp(ρ).
package params

import (
	"math"

	"kestrel/kernelspace"
)

// Free returns the free vector of raw parameters and a noise variance.
func Free(p *kernelspace.Program, raw []float64, noise, floor float64) []float64 {
	x := make([]float64, len(p.Free)+1)
	for i, j := range p.Free {
		x[i] = math.Log(raw[j])
	}
	x[len(p.Free)] = math.Log(math.Max(noise-floor, 1e-3*floor+1e-12*noise+math.SmallestNonzeroFloat64))
	return x
}

// Raw is the reverse of Free.
func Raw(p *kernelspace.Program, x []float64, floor float64) (raw []float64, noise float64) {
	raw = make([]float64, len(p.Params))
	for i := range raw {
		raw[i] = 1
	}
	for i, j := range p.Free {
		raw[j] = math.Exp(x[i])
	}
	return raw, floor + math.Exp(x[len(p.Free)])
}
