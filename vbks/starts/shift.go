package starts

import (
	"slices"

	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks/params"
)

// Shift makes starts from a solution in each of which a leaf PER in a product with a longer one has a period that is the next or
// next but one to its own among those with which their harmonics repeat, see sidebands: of few rows it may have been as good, and
// with more no ascent leads from one to the next.
func (w *Drawer) Shift(p *kernelspace.Program, x []float64) [][]float64 { return w.lines(p, x, true) }

// lines are those of Shift, or else the same of what is the longest of a product, whose lines are those of a shorter one: two
// smooth cycles are the lines of their frequencies' sum and difference, any two of which may be found.
func (w *Drawer) lines(p *kernelspace.Program, x []float64, beside bool) (out [][]float64) {
	whole, noise := params.Raw(p, x, w.floor)
	p = p.Own()
	raw, t := whole[:len(p.Params)], params.Tree(p)
	leaves := params.Leaves(p)
	period := func(i int) float64 { return raw[leaves[i].Off+2] }
	for i, in := range leaves {
		product, _ := enclosing(t, []int{i})
		if product == nil || product.In.Op != kernelspace.OpMul || !w.cycles(p, in) {
			continue
		}
		longer := slices.ContainsFunc(product.Leaves, func(j int) bool {
			return leaves[j].Op == kernelspace.OpPER && leaves[j].NumScale == 1 && slices.Equal(leaves[j].Cols, in.Cols) && period(j) > period(i)
		})
		if longer != beside {
			continue
		}
		known := &p.Params[in.Off+2].Known
		for _, other := range w.sidebands(p, raw, product, i, period(i)) {
			if known.How == kernelspace.Bounded && !within(known, other) {
				continue
			}
			v := slices.Clone(raw)
			v[in.Off+2] = other
			params.Settle(p, v)
			out = append(out, params.Free(p, v, noise, w.floor))
		}
	}
	return out
}
