package kernelspace

// Kinds of Simplification.
const (
	RQToSE     = "rq-se"        // RQ replaced by SE, its limit as α grows
	DropSum    = "drop-summand" // a sum without one summand, its limit as that variance falls
	DropFactor = "drop-factor"  // a product without one factor, its limit as that factor becomes constant
	Shared     = "shared"       // A×(B + C) of A×B + A′×C, where both have the same leaf A
	DropChange = "drop-change"  // a change point's first or second kernel, its limit as the place leaves the data
)

// Simplification is a kernel that is a direct special case of another one, the
// original.
type Simplification struct {
	Kind string // one of those above
	Expr Expr   // canonical
	// Leaves holds for each leaf of Expr the index of the corresponding leaf
	// of the original's canonical form, both counted left to right.
	Leaves []int
	// Dropped holds the original's leaves that are gone, or for RQToSE the one
	// that was RQ; ascending.
	Dropped []int
	Kept    int // of Shared: the original's leaf that stands for the one that is gone
}

// Replacement is a kernel that differs from another one, the original, in one
// leaf.
type Replacement struct {
	Expr   Expr  // canonical
	Leaves []int // as in Simplification; the new leaf corresponds to the replaced one
	Leaf   int   // the index of the replaced leaf in the original's canonical form
}

// Simplifications returns all direct special cases of e at any place of its
// tree. Where dropping either of two equal terms gives the same kernel, both
// are listed, for their leaves correspond differently.
func (e Expr) Simplifications() []Simplification {
	var all []Simplification
	kept := 0
	e.edit(func(n *node, put func(kind string, changed *node)) {
		switch n.kind {
		case kindLeaf:
			if n.base == baseRQ {
				se := *n
				se.base = baseSE
				put(RQToSE, &se)
			}
		case kindChange:
			put(DropChange, n.terms[1])
			put(DropChange, n.terms[2])
		default:
			kind := DropSum
			if n.kind == kindProduct {
				kind = DropFactor
			}
			for i := range n.terms {
				put(kind, combine(n.kind, without(n.terms, i)))
			}
			if n.kind == kindSum {
				n.shares(func(leaf *node, changed *node) {
					kept = leaf.tag
					put(Shared, changed)
				})
			}
		}
	}, func(kind string, tree *node) {
		s := Simplification{Kind: kind, Expr: Expr{tree.untagged()}, Leaves: tree.tags()}
		if kind == Shared {
			s.Kept = kept
		}
		gone := make([]bool, e.NumLeaves())
		for i := range gone {
			gone[i] = true
		}
		original := Expr{e.root.canonical()}.Leaves()
		tree.walk(func(n *node) {
			gone[n.tag] = n.base != original[n.tag].root.base
		})
		for i, g := range gone {
			if g {
				s.Dropped = append(s.Dropped, i)
			}
		}
		all = append(all, s)
	})
	return all
}

// shares offers what a sum is where two of its products share a leaf that both have, either's.
func (n *node) shares(found func(leaf, changed *node)) {
	for i, a := range n.terms {
		for j, b := range n.terms {
			if i == j || a.kind != kindProduct || b.kind != kindProduct {
				continue
			}
			for k, leaf := range a.terms {
				for l, other := range b.terms {
					if leaf.kind != kindLeaf || other.kind != kindLeaf || compareNodes(leaf, other) != 0 {
						continue
					}
					both := combine(kindSum, []*node{combine(kindProduct, without(a.terms, k)), combine(kindProduct, without(b.terms, l))})
					terms := without(n.terms, max(i, j))
					terms[min(i, j)] = combine(kindProduct, []*node{leaf, both})
					found(leaf, combine(kindSum, terms))
				}
			}
		}
	}
}

// Replacements returns the kernels in which one leaf of e is replaced by
// another of the given base kernels. A base without a scope takes over that of
// the leaf; bases that are sums or products are passed over. The step of a change point is replaced by other steps alone.
func (e Expr) Replacements(bases []Expr) []Replacement {
	var all []Replacement
	replaced := 0
	e.edit(func(n *node, put func(kind string, changed *node)) {
		if n.kind != kindLeaf {
			return
		}
		for _, b := range bases {
			if b.root == nil || b.root.kind != kindLeaf || (b.root.base == baseStep) != (n.base == baseStep) {
				continue
			}
			other := *b.root
			if len(other.scope.columns) == 0 && other.scope.shape == shapeDefault {
				other.scope = n.scope
			}
			if compareNodes(n, &other) == 0 {
				continue
			}
			other.tag = n.tag
			replaced = n.tag
			put("", &other)
		}
	}, func(_ string, tree *node) {
		all = append(all, Replacement{Expr: Expr{tree.untagged()}, Leaves: tree.tags(), Leaf: replaced})
	})
	return all
}

// edit offers every place of e's canonical tree, its leaves tagged with their
// index, to change, which puts other trees in that place; found receives each
// resulting whole tree, canonical, with the tags carried along.
func (e Expr) edit(change func(n *node, put func(kind string, changed *node)), found func(kind string, tree *node)) {
	if e.root == nil {
		return
	}
	index := 0
	root := e.root.canonical().mapLeaves(func(leaf *node) *node {
		tagged := *leaf
		tagged.tag = index
		index++
		return &tagged
	})
	var visit func(n *node, around func(*node) *node)
	visit = func(n *node, around func(*node) *node) {
		change(n, func(kind string, changed *node) { found(kind, around(changed).canonical()) })
		for i, t := range n.terms {
			visit(t, func(changed *node) *node {
				terms := append([]*node(nil), n.terms...)
				terms[i] = changed
				return around(n.rebuild(terms))
			})
		}
	}
	visit(root, func(n *node) *node { return n })
}

func without(terms []*node, i int) []*node {
	rest := append([]*node(nil), terms[:i]...)
	return append(rest, terms[i+1:]...)
}

// tags lists the tags of the leaves, left to right.
func (n *node) tags() []int {
	tags := make([]int, 0, n.size)
	n.walk(func(leaf *node) { tags = append(tags, leaf.tag) })
	return tags
}

func (n *node) untagged() *node {
	return n.mapLeaves(func(leaf *node) *node { return newLeaf(leaf.base, leaf.scope) })
}

// Pair is two kernels of a space, by index, one a special case of the other.
type Pair struct{ General, Special int }

// NestedPairs returns the distinct pairs of kernels in space of which one is
// directly a special case of the other: SE in the place of one RQ, a sum
// less one summand or one kernel of a change point, at any place of the tree. K144 has 281. They are ordered
// by General, then as Simplifications lists them.
func NestedPairs(space []Expr) []Pair {
	index := make(map[string]int, len(space))
	for i, e := range space {
		if _, twice := index[e.ID()]; !twice {
			index[e.ID()] = i
		}
	}
	var pairs []Pair
	seen := map[Pair]bool{}
	for i, e := range space {
		for _, s := range e.Simplifications() {
			j, ok := index[s.Expr.ID()]
			pair := Pair{General: i, Special: j}
			if ok && s.Kind != DropFactor && s.Kind != Shared && !seen[pair] {
				seen[pair] = true
				pairs = append(pairs, pair)
			}
		}
	}
	return pairs
}
