package cost

import (
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks/params"
)

// Leaf is the number of multiplications that take about as long as a
// leaf's value and gradient at one entry.
func Leaf(op kernelspace.Op) float64 {
	switch op {
	case kernelspace.OpLIN, kernelspace.OpPoly, kernelspace.OpConst, kernelspace.OpWhite, kernelspace.OpCat, kernelspace.OpStep:
		return 5
	case kernelspace.OpLevels:
		return 10
	case kernelspace.OpPER, kernelspace.OpCos:
		return 60
	}
	return 25
}

// Search ranks kernels by what optimising them takes: an evaluation's cost,
// and as many evaluations as there are parameters.
func Search(p *kernelspace.Program) float64 {
	const algebra = 20 // of an entry, beside the leaves
	cost := float64(algebra)
	for _, in := range params.Leaves(p) {
		cost += Leaf(in.Op)
	}
	return cost * float64(len(p.Free)+1)
}
