package starts

import (
	"math"
	"slices"

	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks/params"
)

const (
	// A leaf that gives its function away is so many spans of x long: as good as a constant.
	awaySpans = 10
	// What its summand keeps of the function's variance.
	awayShare = 0.01
)

// Wrap makes starts from a solution in each of which a leaf PER takes over the smooth function of
// another leaf, of length s, as one turn of a circle that is as long as the data: with the
// period p = span and ℓ = 2πs/p its covariance at distances d well below p is that of length s,
//
//	exp(−2 sin²(πd/p)/ℓ²) ≈ exp(−d²/2s²),
//
// while the ends of the data are neighbours, which nothing says that does not repeat.
func (w *Drawer) Wrap(p *kernelspace.Program, x []float64) (out [][]float64) {
	whole, noise := params.Raw(p, x, w.floor)
	p = p.Own()
	raw, t, leaves := whole[:len(p.Params)], params.Tree(p), params.Leaves(p)
	long := func(v []float64, in *kernelspace.Instr) { v[in.Off+1] = awaySpans * w.scales.Span[in.Cols[0]] }
	alone := func(in *kernelspace.Instr) bool { return len(in.Cols) == 1 && in.NumScale == 1 }
	for i, in := range leaves {
		at := in.Off + 1 + in.NumScale
		if in.Op != kernelspace.OpPER || !alone(in) || w.calendrical && in.Seasonal() {
			continue
		}
		span := w.scales.Span[in.Cols[0]]
		if known := &p.Params[at].Known; known.How == kernelspace.Fixed || known.How == kernelspace.Bounded && !within(known, span) {
			continue
		}
		to := summand(t, i)
		for j, from := range leaves {
			if !radial(from.Op) || !alone(from) || from.Cols[0] != in.Cols[0] || raw[from.Off+1] > span {
				continue
			}
			v := slices.Clone(raw)
			v[at], v[in.Off+1] = span, 2*math.Pi*raw[from.Off+1]/span
			for _, k := range to.Leaves { // what is left of the term is not to bend it
				if radial(leaves[k].Op) && alone(leaves[k]) {
					long(v, leaves[k])
				}
			}
			long(v, from)
			if of := summand(t, j); of != to {
				without := slices.Clone(raw)
				of.Amplify(without, 0)
				share := w.meanDiag(p, raw) - w.meanDiag(p, without)
				w.shrink(p, to, v, share)
				w.shrink(p, of, v, awayShare*share)
			}
			params.Settle(p, v)
			out = append(out, params.Free(p, v, noise, w.floor))
		}
	}
	return out
}
