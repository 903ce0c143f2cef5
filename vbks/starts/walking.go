package starts

import (
	"math"
	"math/rand/v2"

	"example.com/kestrel/kernelspace"
)

// walks reports whether a leaf is RW or IRW: variance and origin.
func walks(op kernelspace.Op) bool { return op == kernelspace.OpRW || op == kernelspace.OpIRW }

// walk draws RW and IRW. What a level or slope does beside the rest of a kernel may be
// little: their variances are drawn over four decades below the others'.
func (w *Drawer) walk(in *kernelspace.Instr, raw []float64, rng *rand.Rand, first bool) {
	h := w.scales.Before(in.Cols)
	if !first {
		h *= math.Exp(0.25 * rng.NormFloat64())
		raw[0] *= math.Pow(10, -4*rng.Float64())
	}
	raw[0] /= float64(len(in.Cols)) * kernelspace.Walked(in.Op, h)
	raw[1] = h
}

// likened fills a leaf from one of another kind that does about the same: RW and IRW
// go equally far over the data, and over short distances, where spectral densities
// fall like 2s²/ℓω² and 12√3 s²/ℓ³ω⁴, Matérn 1/2 is RW and Matérn 3/2 IRW. Levels have the same variance,
// with lengths or without.
func (w *Drawer) likened(src, dst *kernelspace.Instr, from, to []float64) {
	span := w.scales.Span[dst.Cols[0]]
	switch {
	case walks(src.Op) && walks(dst.Op):
		to[dst.Off] = from[src.Off] * kernelspace.Walked(src.Op, span) / kernelspace.Walked(dst.Op, span)
		to[dst.Off+1] = from[src.Off+1]
	case src.Op.Radial() && walks(dst.Op):
		to[dst.Off] = from[src.Off] / settled(dst.Op, from[src.Off+1])
		to[dst.Off+1] = w.scales.Before(dst.Cols)
	case src.Op.Radial() && dst.Op == kernelspace.OpPER: // of a period that is never seen
		for i := range dst.NumPeriod {
			to[dst.Off+1+dst.NumScale+i] = neverReturns * w.scales.Span[dst.Cols[min(i, len(dst.Cols)-1)]]
		}
		for i := range dst.NumScale {
			to[dst.Off+1+i] = 2 * math.Pi * from[src.Off+1+min(i, src.NumScale-1)] / (neverReturns * span)
		}
		to[dst.Off] = from[src.Off]
	case src.Op == kernelspace.OpPER && dst.Op.Radial():
		for i := range dst.NumScale {
			to[dst.Off+1+i] = from[src.Off+1+min(i, src.NumScale-1)] * from[src.Off+1+src.NumScale] / (2 * math.Pi)
		}
		to[dst.Off] = from[src.Off]
	case src.Op.ByLevel() && dst.Op.ByLevel():
		to[dst.Off] = from[src.Off]
	case walks(src.Op) && dst.Op.Radial():
		l := 2 * span
		to[dst.Off] = from[src.Off] * settled(src.Op, l)
		for i := range dst.NumScale {
			to[dst.Off+1+i] = l
		}
	}
}

// neverReturns is the period, in ranges of the data, of PER that stands for SE.
const neverReturns = 4

// settled is s² of the Matérn kernel with this length scale that over short distances
// is RW or IRW of variance 1.
func settled(op kernelspace.Op, l float64) float64 {
	if op == kernelspace.OpRW {
		return l / 2
	}
	return l * l * l / (12 * math.Sqrt(3))
}
