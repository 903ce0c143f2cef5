package grow

import (
	"slices"

	"example.com/kestrel/kernelspace"
)

// Kinds of steps.
const (
	Add      = "add"      // S → S + B
	Multiply = "multiply" // S → S × B
	Replace  = "replace"  // B → B′, another base kernel
	Column   = "column"   // B → B on other columns; a change point along another one
	Remove   = "remove"   // S + B, S × B, CP(S, B), CP(B, S) → S
	ToChange = "change"   // S → CP(S, B), CP(B, S)
	Share    = "share"    // A × B + A × C → A × (B + C)
	Move     = "move"     // Remove, and Add or Multiply of the same leaf elsewhere
)

// Neighbour is a kernel one step away from another one.
type Neighbour struct {
	Expr kernelspace.Expr // canonical
	Kind string           // one of those above
	Leaf string           // id of the leaf that it has and the other has not; of Remove the one that is gone
	From string           // of Replace and Column: id of the leaf in its place
}

// Step says in a few words how the neighbour is made, as in "add PER" or "replace SE by RQ".
func (n *Neighbour) Step() string {
	switch {
	case n.From == "":
		return n.Kind + " " + n.Leaf
	case n.Kind == Column:
		return n.From + " to " + n.Leaf
	}
	return n.Kind + " " + n.From + " by " + n.Leaf
}

// mostGrouped is how many terms or factors a sum or product has at most of which some together are a part: of n there are 2ⁿ
// choices. A sum with a term for each column of a table has more, and what it wants is another factor of one of them.
const mostGrouped = 6

// Neighbours returns the kernels of the grammar that are one step away from e, each once and
// without e, in the order of their leaves and names. With S any part of e, which is
// the whole, a leaf or what sums, products and change points are of, some terms of a sum or some factors of a
// product among them where that has at most mostGrouped, and B any kind of leaf the steps are those of Add, Multiply, Replace,
// Column, Remove and ToChange, and Share, which no step leads back from. So two kernels are neighbours of each other or not at all, but
// for that and for those of such groups, and every kernel can be reached from every other one.
func (g *Grammar) Neighbours(e kernelspace.Expr) []Neighbour {
	e = e.Canonical()
	seen := map[string]bool{e.ID(): true}
	var out []Neighbour
	found := func(n Neighbour) {
		n.Expr = n.Expr.Canonical()
		if id := n.Expr.ID(); n.Expr.NumLeaves() <= g.most && !seen[id] {
			seen[id] = true
			out = append(out, n)
		}
	}
	whole := func(part kernelspace.Expr) kernelspace.Expr { return part }
	visit(e, whole, func(part kernelspace.Expr, put func(kernelspace.Expr) kernelspace.Expr) {
		g.around(part, func(n Neighbour) {
			n.Expr = put(n.Expr)
			found(n)
		})
	})
	leaves := e.Leaves()
	for _, s := range e.Simplifications() {
		if s.Kind == kernelspace.Shared {
			found(Neighbour{Expr: s.Expr, Kind: Share, Leaf: leaves[s.Kept].ID()})
		}
	}
	slices.SortStableFunc(out, func(a, b Neighbour) int { return kernelspace.Compare(a.Expr, b.Expr) })
	return out
}

// Moves returns the kernels of the grammar in which a leaf of e stands at another place, each once, without e and what
// is one step away from it: two steps, of which the first leads to less than there was, so that it may lead nowhere.
// They have as many leaves as e, and e is one of the moves of each.
func (g *Grammar) Moves(e kernelspace.Expr) []Neighbour {
	e = e.Canonical()
	seen := map[string]bool{e.ID(): true}
	near := g.Neighbours(e)
	for i := range near {
		seen[near[i].Expr.ID()] = true
	}
	var out []Neighbour
	for i := range near {
		if near[i].Kind != Remove {
			continue
		}
		for _, n := range g.Neighbours(near[i].Expr) {
			if id := n.Expr.ID(); (n.Kind == Add || n.Kind == Multiply) && n.Leaf == near[i].Leaf && !seen[id] {
				seen[id] = true
				out = append(out, Neighbour{Expr: n.Expr, Kind: Move, Leaf: n.Leaf})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Neighbour) int { return kernelspace.Compare(a.Expr, b.Expr) })
	return out
}

// visit offers every part of e, with what puts another one in its place.
func visit(e kernelspace.Expr, put func(kernelspace.Expr) kernelspace.Expr,
	at func(part kernelspace.Expr, put func(kernelspace.Expr) kernelspace.Expr),
) {
	at(e, put)
	terms := e.Terms()
	for i, t := range terms {
		visit(t, func(part kernelspace.Expr) kernelspace.Expr { return put(e.With(i, part)) }, at)
	}
	if len(terms) < 3 || len(terms) > mostGrouped || e.IsChange() {
		return
	}
	join := kernelspace.Sum
	if e.IsProduct() {
		join = kernelspace.Product
	}
	for chosen := range 1 << len(terms) {
		var some, others []kernelspace.Expr
		for i, t := range terms {
			if chosen>>i&1 == 1 {
				some = append(some, t)
			} else {
				others = append(others, t)
			}
		}
		if len(some) > 1 && len(others) > 0 {
			at(join(some...), func(part kernelspace.Expr) kernelspace.Expr { return put(join(append(others, part)...)) })
		}
	}
}

// around offers what the steps make of a part alone.
func (g *Grammar) around(part kernelspace.Expr, found func(Neighbour)) {
	if part.IsLeaf() {
		for _, b := range g.leaves {
			if b.Equal(part) {
				continue
			}
			kind := Replace
			if b.Base() == part.Base() {
				kind = Column
			}
			found(Neighbour{Expr: b, Kind: kind, Leaf: b.ID(), From: part.ID()})
		}
	}
	terms := part.Terms()
	for i, t := range terms {
		if !t.IsLeaf() {
			continue
		}
		rest := slices.Concat(terms[:i:i], terms[i+1:])
		join := kernelspace.Sum // of the other side of a change point, too, which is one
		if part.IsProduct() {
			join = kernelspace.Product
		}
		found(Neighbour{Expr: join(rest...), Kind: Remove, Leaf: t.ID()})
	}
	for _, b := range g.leaves {
		found(Neighbour{Expr: kernelspace.Sum(part, b), Kind: Add, Leaf: b.ID()})
		found(Neighbour{Expr: kernelspace.Product(part, b), Kind: Multiply, Leaf: b.ID()})
		for _, s := range g.steps {
			found(Neighbour{Expr: kernelspace.Change(s, part, b), Kind: ToChange, Leaf: b.ID()})
			found(Neighbour{Expr: kernelspace.Change(s, b, part), Kind: ToChange, Leaf: b.ID()})
		}
	}
	if part.IsChange() {
		for _, s := range g.steps {
			if !s.Equal(part.Step()) {
				found(Neighbour{Expr: kernelspace.Change(s, terms[0], terms[1]), Kind: Column, Leaf: s.ID(), From: part.Step().ID()})
			}
		}
	}
}
