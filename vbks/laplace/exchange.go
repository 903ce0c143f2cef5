package laplace

import (
	"math"
	"math/rand/v2"
	"slices"

	"example.com/kestrel/kernelspace"
)

// Exchanges lists the orders of a free vector of f entries under which a kernel is
// the same, by exchanging equal terms of sums and factors of products: out[i] = x[order[i]].
// The first one is the plain order. What is exchanged has the same prior, and the same
// is known of it. Where there would be more than mostArrangements, the plain one is the
// only one.
func Exchanges(p *kernelspace.Program, f int, prior Prior) [][]int {
	p = p.Own()
	place := map[int]int{}
	for i, j := range p.Free {
		place[j] = i
	}
	var swaps [][]int // of raw parameters
	var visit func(e kernelspace.Expr, first int)
	visit = func(e kernelspace.Expr, first int) {
		if e.IsChange() {
			for _, t := range e.Terms() {
				first++
				visit(t, first)
				first += t.NumLeaves() - 1
			}
			return
		}
		var terms []kernelspace.Expr
		var leaves []int
		for _, t := range e.Terms() {
			visit(t, first)
			for i, other := range terms {
				if other.Equal(t) {
					swaps = append(swaps, exchange(p, leaves[i], first, t.NumLeaves()))
				}
			}
			terms, leaves = append(terms, t), append(leaves, first)
			first += t.NumLeaves()
		}
	}
	visit(p.Expr, 0)
	plain := make([]int, f)
	for i := range plain {
		plain[i] = i
	}
	var kept [][]int
	for _, raw := range swaps {
		order := slices.Clone(plain)
		for i, j := range p.Free {
			to, free := place[raw[j]]
			if !free {
				to = i
			}
			order[i] = to
		}
		alike := knownAlike(p, raw)
		for a, b := range order {
			alike = alike && prior.alike(a, b)
		}
		if alike && same(p, raw) {
			kept = append(kept, order)
		}
	}
	out := [][]int{plain}
	for next := 0; next < len(out); next++ {
		for _, swap := range kept {
			both := make([]int, f)
			for i := range both {
				both[i] = out[next][swap[i]]
			}
			if !slices.ContainsFunc(out, func(o []int) bool { return slices.Equal(o, both) }) {
				if len(out) == mostArrangements {
					return out[:1]
				}
				out = append(out, both)
			}
		}
	}
	return out
}

// knownAlike reports whether the same is known beforehand of raw parameters and those in
// their place in another order.
func knownAlike(p *kernelspace.Program, order []int) bool {
	for i, j := range order {
		if p.Params[i].Known != p.Params[j].Known {
			return false
		}
	}
	return true
}

// exchange is the order of raw parameters with those of some leaves exchanged.
func exchange(p *kernelspace.Program, a, b, leaves int) []int {
	order := make([]int, len(p.Params))
	var ofA, ofB []int
	for j, q := range p.Params {
		order[j] = j
		switch {
		case q.Leaf >= a && q.Leaf < a+leaves:
			ofA = append(ofA, j)
		case q.Leaf >= b && q.Leaf < b+leaves:
			ofB = append(ofB, j)
		}
	}
	for i := range min(len(ofA), len(ofB)) {
		if p.Params[ofA[i]].Free && p.Params[ofB[i]].Free {
			order[ofA[i]], order[ofB[i]] = ofB[i], ofA[i]
		}
	}
	return order
}

// same reports whether a kernel does not depend on the order: amplitudes that are
// measured against others do not allow all exchanges.
func same(p *kernelspace.Program, order []int) bool {
	rng := rand.New(rand.NewPCG(1, 2))
	raw, other := make([]float64, len(p.Params)), make([]float64, len(p.Params))
	for j, q := range p.Params {
		raw[j] = 1
		if q.Free {
			raw[j] = math.Exp(0.5 * rng.NormFloat64())
		}
	}
	for i, j := range order {
		other[i] = raw[j]
	}
	for range 5 {
		x, y := make([]float64, p.Dim), make([]float64, p.Dim)
		for d := range x {
			x[d], y[d] = rng.NormFloat64(), rng.NormFloat64()
		}
		a, b := p.Eval(raw, x, y, false), p.Eval(other, x, y, false)
		if !(math.Abs(a-b) <= 1e-9*(math.Abs(a)+math.Abs(b))) {
			return false
		}
	}
	return true
}
