package starts

import (
	"slices"

	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks/params"
)

// Hasten makes starts from a solution in each of which a leaf MATERN12 returns to its mean sooner, but moves alike over
// distances r far below its length: variance and length are divided by the same,
//
//	k(0) − k(r) = σ²(1 − exp(−r/ℓ)) ≈ σ²r/ℓ.
//
// Few rows do not say how soon it returns, so that the prior does; with more rows no ascent leads from there, as
// log evidence is flat in long lengths.
func (w *Drawer) Hasten(p *kernelspace.Program, x []float64) (out [][]float64) {
	p = p.Own()
	raw, noise := params.Raw(p, x, w.floor)
	t := params.Tree(p)
	for i, in := range params.Leaves(p) {
		if in.Op != kernelspace.OpMatern12 {
			continue
		}
		for _, by := range []float64{4, 16, 64} {
			c := slices.Clone(raw)
			for d := range in.NumScale {
				c[in.Off+1+d] /= by
			}
			summand(t, i).Amplify(c, 1/by)
			params.Settle(p, c)
			out = append(out, params.Free(p, c, noise, w.floor))
		}
	}
	return out
}
