package starts

import (
	"math/rand/v2"
	"slices"

	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks/params"
)

// Donor is a kernel's solution at the last evaluation, whose leaves may start
// those of others: what is a good period or length scale in one kernel often is
// in another that is no relative of it.
type Donor struct {
	Program *kernelspace.Program
	Raw     []float64 // parameters
	Noise   float64   // variance
}

// Recombine makes a start of which every leaf comes from a donor that has such a
// leaf, better ones being asked first more often, or else from a fresh draw.
// Shares of the variance are drawn.
func (w *Drawer) Recombine(p *kernelspace.Program, donors []Donor, rng *rand.Rand) []float64 {
	p = p.Own()
	raw := make([]float64, len(p.Params))
	used := w.taken(p)
	taken := map[*kernelspace.Instr]bool{} // a donor's leaf serves once
	for _, in := range params.Leaves(p) {
		w.fresh(p, in, raw, rng, 1, used)
		w.heed(p, in, raw, rng, 1)
		variance := raw[in.Off]
		first := min(int(rng.ExpFloat64()*float64(len(donors))/3), len(donors)-1)
		adoptLeaf(p, in, raw, donors, first, rng.IntN(8), taken)
		if !params.Linear(in) && in.Op != kernelspace.OpStep {
			raw[in.Off] = variance
		}
	}
	w.normalise(p, raw, w.square)
	return params.Free(p, raw, donors[0].Noise, w.floor)
}

// adoptLeaf copies a leaf's parameters from the first donor, counted from one of
// them and its leaves from one of those, that has a leaf of its kind left.
func adoptLeaf(
	p *kernelspace.Program, in *kernelspace.Instr, raw []float64, donors []Donor, first, leaf int, taken map[*kernelspace.Instr]bool,
) {
	for i := range donors {
		d := donors[(first+i)%len(donors)]
		all := params.Leaves(d.Program.Own())
		for j := range all {
			src := all[(leaf+j)%len(all)]
			same := src.Op == in.Op || src.Op.Radial() && in.Op.Radial()
			if same && !taken[src] && slices.Equal(src.Cols, in.Cols) {
				copyLeaf(d.Program, p, src, in, d.Raw, raw)
				taken[src] = true
				return
			}
		}
	}
}
