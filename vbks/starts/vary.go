package starts

import (
	"slices"

	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks/params"
)

// A factor that is longer than longSpans of the range of x is flat there: nothing tells it
// how long it is, nor that it is too long.
const longSpans = 3

// multiples are those of a period that are tried: its harmonics are as good as a rough
// period itself while its length is not known.
func multiples() []float64 { return []float64{2, 3, 4, 1. / 2, 1. / 3} }

// shapes are those of RQ that are tried: what is rough and what is smooth may both be
// optima, of the same length.
func shapes() []float64 { return []float64{0.3, 1, 5} }

// Vary makes starts from a solution to which no small step leads: in each of which a leaf
// PER has a multiple of its period and, as long in x, its length scale; or a stationary leaf that
// is flat has a length of the range of x; or RQ has another shape.
func (w *Drawer) Vary(p *kernelspace.Program, x []float64) (out [][]float64) {
	whole, noise := params.Raw(p, x, w.floor)
	p = p.Own()
	raw := whole[:len(p.Params)]
	emit := func(edit func(v []float64)) {
		v := slices.Clone(raw)
		edit(v)
		params.Settle(p, v)
		out = append(out, params.Free(p, v, noise, w.floor))
	}
	for _, in := range params.Leaves(p) {
		if at := in.Off + 1 + in.NumScale; in.Op == kernelspace.OpRQ && p.Params[at].Known.How != kernelspace.Fixed {
			for _, alpha := range shapes() {
				emit(func(v []float64) { v[at] = alpha })
			}
		}
		if len(in.Cols) != 1 {
			continue
		}
		span := w.scales.Span[in.Cols[0]]
		switch {
		case in.Op == kernelspace.OpPER && !(w.calendrical && in.Seasonal()):
			at := in.Off + 1 + in.NumScale
			known := &p.Params[at].Known
			for _, k := range multiples() {
				period := k * raw[at]
				if known.How == kernelspace.Fixed || known.How == kernelspace.Bounded && !within(known, period) || period > span {
					continue
				}
				emit(func(v []float64) {
					v[at] = period
					for d := range in.NumScale {
						v[in.Off+1+d] /= k
					}
				})
			}
		case in.Op.Radial() && in.NumScale == 1 && raw[in.Off+1] > longSpans*span:
			for _, spans := range []float64{1, longSpans} {
				emit(func(v []float64) { v[in.Off+1] = spans * span })
			}
		}
	}
	return out
}
