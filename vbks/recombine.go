package vbks

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"kestrel/kernelspace"
)

// donor is a kernel's solution at the last evaluation, whose leaves may start
// those of others: what is a good period or length scale in one kernel often is
// in another that is no relative of it.
type donor struct {
	program *kernelspace.Program
	raw     []float64
	noise   float64
}

// donors returns the better half of the live kernels' solutions, at least six,
// best first.
func (t *Trainer) donors() []gift {
	var live []int
	for i, k := range t.kernels {
		if k.current(t.rows) {
			live = append(live, i)
		}
	}
	slices.SortStableFunc(live, func(a, b int) int { return cmp.Compare(t.kernels[b].elbo, t.kernels[a].elbo) })
	live = live[:min(len(live), max(6, len(live)/2))]
	out := make([]gift, len(live))
	for i, k := range live {
		out[i] = gift{From: k, X: t.kernels[k].state.Free, Value: t.kernels[k].elbo}
	}
	return out
}

// donors returns those of the order.
func (u *unit) donors() []donor {
	out := make([]donor, len(u.order.Donors))
	for i, g := range u.order.Donors {
		p := u.models[g.From].program
		raw, noise := rawParams(p, g.X, u.floor)
		out[i] = donor{p, raw, noise}
	}
	return out
}

// recombine makes a start of which every leaf comes from a donor that has such a
// leaf, better ones being asked first more often, or else from a fresh draw.
// Shares of the variance are drawn.
func (w *drawer) recombine(p *kernelspace.Program, donors []donor, rng *rand.Rand) []float64 {
	raw := make([]float64, len(p.Params))
	used := w.unused()
	taken := map[*kernelspace.Instr]bool{} // a donor's leaf serves once
	for _, in := range leaves(p) {
		w.leaf(in, raw[in.Off:in.Off+in.NumParams()], rng, 1, used)
		variance := raw[in.Off]
		first := min(int(rng.ExpFloat64()*float64(len(donors))/3), len(donors)-1)
		adoptLeaf(p, in, raw, donors, first, rng.IntN(8), taken)
		if !linear(in) {
			raw[in.Off] = variance
		}
	}
	w.normalise(p, raw, w.square)
	return freeVector(p, raw, donors[0].noise, w.floor)
}

// adoptLeaf copies a leaf's parameters from the first donor, counted from one of
// them and its leaves from one of those, that has a leaf of its kind left.
func adoptLeaf(
	p *kernelspace.Program, in *kernelspace.Instr, raw []float64, donors []donor, first, leaf int, taken map[*kernelspace.Instr]bool,
) {
	for i := range donors {
		d := donors[(first+i)%len(donors)]
		all := leaves(d.program)
		for j := range all {
			src := all[(leaf+j)%len(all)]
			same := src.Op == in.Op || radial(src.Op) && radial(in.Op)
			if same && !taken[src] && slices.Equal(src.Cols, in.Cols) {
				copyLeaf(d.program, p, src, in, d.raw, raw)
				taken[src] = true
				return
			}
		}
	}
}
