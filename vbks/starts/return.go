package starts

import (
	"slices"

	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks/params"
)

// Return makes starts from a solution in which leaves of several length scales are flat
// along some columns: few rows, or few inducing inputs, may not have told what these do, and no
// small step leads back from a flat place. In each one column is as long as its range, or longSpans
// of it, in all leaves that are flat along it.
func (w *Drawer) Return(p *kernelspace.Program, x []float64) (out [][]float64) {
	whole, noise := params.Raw(p, x, w.floor)
	p = p.Own()
	raw := whole[:len(p.Params)]
	for c := range w.dim {
		for _, spans := range []float64{1, longSpans} {
			v, flat := slices.Clone(raw), false
			for _, in := range params.Leaves(p) {
				if !in.Op.Radial() || in.NumScale < 2 {
					continue
				}
				for d := range in.NumScale {
					at, back := in.Off+1+d, spans*w.scales.Span[c]
					known := &p.Params[at].Known
					if in.Cols[d] != c || raw[at] <= longSpans*w.scales.Span[c] || known.How == kernelspace.Fixed ||
						known.How == kernelspace.Bounded && !within(known, back) {
						continue
					}
					v[at], flat = back, true
				}
			}
			if flat {
				params.Settle(p, v)
				out = append(out, params.Free(p, v, noise, w.floor))
			}
		}
	}
	return out
}
