package vbks

import (
	"cmp"
	"slices"

	"kestrel/kernelspace"
	"kestrel/vbks/params"
)

// leafCost is the number of multiplications that take about as long as a
// leaf's value and gradient at one entry.
func leafCost(op kernelspace.Op) float64 {
	switch op {
	case kernelspace.OpLIN, kernelspace.OpPoly, kernelspace.OpConst, kernelspace.OpWhite, kernelspace.OpStep:
		return 5
	case kernelspace.OpPER, kernelspace.OpCos:
		return 60
	}
	return 25
}

// searchCost ranks kernels by what optimising them takes: an evaluation's cost,
// and as many evaluations as there are parameters.
func searchCost(p *kernelspace.Program) float64 {
	const algebra = 20 // of an entry, beside the leaves
	cost := float64(algebra)
	for _, in := range params.Leaves(p) {
		cost += leafCost(in.Op)
	}
	return cost * float64(len(p.Free)+1)
}

// costliestFirst returns the kernels in the order in which workers should take
// them: what takes long must not come last, when the other lanes are idle.
func (t *Trainer) costliestFirst(kernels []int) []int {
	out := slices.Clone(kernels)
	slices.SortStableFunc(out, func(a, b int) int {
		return cmp.Compare(searchCost(t.kernels[b].program), searchCost(t.kernels[a].program))
	})
	return out
}
