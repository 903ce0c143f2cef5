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
// is flat has a length of the range of x; or RQ has another shape; or two leaves of one kind, of different sums or
// products, have each other's places, see swaps; or the longest period of a product, too, moves by a line of
// a shorter one, see Shift.
func (w *Drawer) Vary(p *kernelspace.Program, x []float64) (out [][]float64) {
	whole := p
	all, noise := params.Raw(p, x, w.floor)
	p = p.Own()
	raw := all[:len(p.Params)]
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
	for _, swapped := range swaps(p, raw) {
		out = append(out, params.Free(p, swapped, noise, w.floor))
	}
	return append(out, w.lines(whole, x, false)...)
}

// swaps are the raw parameters of a solution with those of two leaves of one base kernel, which are not terms of one sum or
// factors of one product, exchanged, but for their variances: growth may have given a length or a period to the place that came
// first, and no ascent takes it to the other.
func swaps(p *kernelspace.Program, raw []float64) (out [][]float64) {
	t, leaves := params.Tree(p), params.Leaves(p)
	for i, a := range leaves {
		n := a.NumParams() - 1
		for j, b := range leaves[:i] {
			if a.Op != b.Op || b.NumParams()-1 != n || !slices.Equal(a.Cols, b.Cols) || !movable(p, a) || !movable(p, b) {
				continue
			}
			of, _ := enclosing(t, []int{i})
			if other, _ := enclosing(t, []int{j}); of == nil || of == other {
				continue
			}
			v := slices.Clone(raw)
			copy(v[a.Off+1:][:n], raw[b.Off+1:][:n])
			copy(v[b.Off+1:][:n], raw[a.Off+1:][:n])
			params.Settle(p, v)
			out = append(out, v)
		}
	}
	return out
}

// movable reports whether a leaf has lengths or a period, and nothing is known of them.
func movable(p *kernelspace.Program, in *kernelspace.Instr) bool {
	known := func(q kernelspace.Param) bool { return q.Known.How != kernelspace.Open }
	return (in.Op.Radial() || in.Op == kernelspace.OpPER) && !slices.ContainsFunc(p.Params[in.Off+1:in.Off+in.NumParams()], known)
}
