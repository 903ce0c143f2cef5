package starts

import (
	"math"
	"slices"

	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks/params"
)

// Roughen makes starts from a solution in each of which a leaf with a length scale is
// a rough function in the place of most of the noise: what few inducing inputs, or few rows,
// did not resolve looked like noise before, and no small step leads from there. A leaf that repeats
// becomes rough within its period, ℓ = 2πs/p for a length s in x, where that is rougher than it was.
func (w *Drawer) Roughen(p *kernelspace.Program, x []float64) (out [][]float64) {
	p = p.Own()
	raw, noise := params.Raw(p, x, w.floor)
	whole := w.meanDiag(p, raw)
	t := params.Tree(p)
	for i, in := range params.Leaves(p) {
		repeats := in.Op == kernelspace.OpPER
		if !in.Op.Radial() && !repeats {
			continue
		}
		for _, spacings := range []float64{0.4, 2, 8} {
			c := slices.Clone(raw)
			rougher := !repeats
			for d := range in.NumScale {
				s := spacings * w.scales.Spacing[in.Cols[min(d, len(in.Cols)-1)]]
				if repeats {
					s *= 2 * math.Pi / raw[in.Off+1+in.NumScale+min(d, in.NumPeriod-1)]
				}
				rougher = rougher || s < raw[in.Off+1+d]
				c[in.Off+1+d] = s
			}
			if !rougher {
				continue
			}
			if _, part := enclosing(t, []int{i}); part != nil {
				w.shrink(p, part, c, roughShare*noise)
			}
			params.Settle(p, c)
			out = append(out, params.Free(p, c, (1-roughShare)*noise, w.floor))
			// As it was, but for its length: it explained what others explain as well.
			c = slices.Clone(c)
			c[in.Off] = raw[in.Off]
			w.normalise(p, c, whole)
			out = append(out, params.Free(p, c, (1-roughShare)*noise, w.floor))
		}
	}
	return out
}

// roughShare is the share of the noise that a rough function takes over.
const roughShare = 0.8
