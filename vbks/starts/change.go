package starts

import (
	"math"
	"math/rand/v2"

	"example.com/kestrel/kernelspace"
)

// step draws a change point: anywhere in the data, and gentle enough that rows about it
// say where to go from there.
func (w *Drawer) step(column int, raw []float64, rng *rand.Rand, first bool) {
	span := w.scales.Span[column]
	middle, width := w.scales.Middle[column], 0.1*span
	if !first {
		middle += span * 0.94 * (rng.Float64() - 0.5)
		width = logUniform(rng, 0.01*span, 0.15*span)
	}
	raw[0], raw[1] = kernelspace.RawPlace(middle), math.Max(width, 1e-12)
}
