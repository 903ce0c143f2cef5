package promise

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"example.com/kestrel/kernelspace"
	"example.com/kestrel/kernelspace/grow"
	"example.com/kestrel/vbks/params"
)

// leastMoved is the share of the function that a leaf explains at its new place at least.
const leastMoved = 0.1

// moved is what a neighbour gains in which a leaf of the solution stands at another place, mostly less than 0; 0 where nothing can be
// said. As it is left out of a product what is left is as large, and at its new place it explains what is missing then.
func (l *looked) moved(w *desk, n *grow.Neighbour, leaf kernelspace.Expr, compile compiler) float64 {
	to, err := compile(n.Expr)
	if err != nil {
		return 0
	}
	alone, err := compile(leaf)
	if err != nil {
		return 0
	}
	to, alone = to.Own(), alone.Own()
	tree, in := params.Tree(to), params.Leaves(alone)[0]
	most := math.Inf(-1)
	seen := map[[2]int]bool{} // a pair of places stands for all ways to lay the rest out
	for _, from := range dropping(l.expr, n.Leaf) {
		for _, s := range dropping(n.Expr, n.Leaf) {
			pair := [2]int{from.Dropped[0], s.Dropped[0]}
			if s.Expr.ID() != from.Expr.ID() || seen[pair] {
				continue
			}
			seen[pair] = true
			at, ok := l.newPlace(tree, s, l.without(from), from)
			if !ok {
				continue
			}
			choices := []square{l.leaves[from.Dropped[0]]}
			if in.Op != kernelspace.OpPER {
				choices = append(choices, l.leaf(leaf.ID(), alone, in)...)
			}
			most = math.Max(most, l.stead(w, &at, choices)-math.Log(float64(len(choices))))
		}
	}
	if math.IsInf(most, -1) {
		return 0
	}
	return most - l.best
}

// dropping are the ways to leave a leaf of an id out.
func dropping(e kernelspace.Expr, leaf string) (out []kernelspace.Simplification) {
	leaves := e.Leaves()
	for _, s := range e.Simplifications() {
		if (s.Kind == kernelspace.DropSum || s.Kind == kernelspace.DropFactor) && len(s.Dropped) == 1 && leaves[s.Dropped[0]].ID() == leaf {
			out = append(out, s)
		}
	}
	return out
}

// without are the solution's leaves where one is left out, so that what it was multiplied by is as large as with it.
func (l *looked) without(s kernelspace.Simplification) []square {
	leaves, leaf := slices.Clone(l.leaves), s.Dropped[0]
	if s.Kind == kernelspace.DropFactor {
		if beside := sibling(l.tree, leaf); beside != nil {
			amplify(beside, l.trace(leaves[leaf])/float64(len(l.y)), leaves)
		}
	}
	return leaves
}

// sibling is another factor of the product that a leaf is one of; nil where there is none.
func sibling(t *params.Term, leaf int) *params.Term {
	if t.Leaf >= 0 {
		return nil
	}
	for _, a := range t.Args {
		if a.Leaf != leaf {
			if slices.Contains(a.Leaves, leaf) {
				return sibling(a, leaf)
			}
			continue
		}
		for _, b := range t.Args {
			if b != a && t.In.Op == kernelspace.OpMul {
				return b
			}
		}
	}
	return nil
}

// amplify multiplies a term by a number, in copies of its leaves.
func amplify(t *params.Term, by float64, of []square) {
	switch {
	case t.Leaf >= 0:
		if of[t.Leaf] != nil {
			of[t.Leaf] = slices.Clone(of[t.Leaf])
			floats.Scale(by, of[t.Leaf])
		}
	case t.In.Op == kernelspace.OpMul:
		amplify(t.Args[0], by, of)
	default:
		for _, a := range t.Args {
			amplify(a, by, of)
		}
	}
}

// newPlace is where a neighbour, of a tree, has a leaf without which it is what the solution is without its own; false at a change.
func (l *looked) newPlace(
	tree *params.Term, s kernelspace.Simplification, leaves []square, from kernelspace.Simplification,
) (p place, ok bool) {
	of := make([]square, len(s.Leaves)+1)
	for j, i := range s.Leaves {
		of[i] = leaves[from.Leaves[j]]
	}
	leaf := s.Dropped[0]
	p.around = slices.Repeat(square{1}, len(l.k))
	if !multiplied(p.around, tree, leaf, of) {
		return p, false
	}
	of[leaf] = make(square, len(l.k))
	if p.rest = value(tree, of); p.rest == nil {
		return p, false
	}
	p.factor = isFactor(tree, leaf)
	p.trace = math.Max(l.trace(l.k)-l.trace(p.rest), leastMoved*l.trace(l.k))
	return p, true
}

// shared is what a neighbour gains in which two products of the solution share a leaf of one of them, mostly less than 0; 0 where
// nothing can be said.
func (l *looked) shared(w *desk, n *grow.Neighbour, compile compiler) float64 {
	to, err := compile(n.Expr)
	if err != nil {
		return 0
	}
	tree := params.Tree(to.Own())
	most := math.Inf(-1)
	for _, s := range l.expr.Simplifications() {
		if s.Kind != kernelspace.Shared || s.Expr.ID() != n.Expr.ID() {
			continue
		}
		of := make([]square, len(s.Leaves))
		for i, j := range s.Leaves {
			of[i] = l.leaves[j]
		}
		k := value(tree, of)
		if k == nil {
			continue
		}
		floats.Scale(l.trace(l.k)/l.trace(k), k) // a variance may have been that of the leaf which is gone
		nats, _ := l.noisy(w, k)
		most = math.Max(most, nats)
	}
	if math.IsInf(most, -1) {
		return 0
	}
	return most - l.best
}
