// Package kernelspace holds the kernels among which kestrel selects:
// expressions of base kernels, sums and products; their canonical form, which
// is a kernel's identity; kernel spaces enumerated from a grammar; the layout
// of hyperparameters; and a naive reference evaluation.
//
// # The expression language
//
//	expression = term { "+" term }
//	term       = factor { "*" factor }             also × and ·
//	factor     = ( name | "(" expression ")" | change ) [ scope ]
//	change     = "CP" "(" expression "," expression ")"
//	scope      = "[" [ column { "," column } ] [ ";" ( "ard" | "iso" ) ] "]"
//	column     = number from 1 | name | quoted name
//
// Names are those of BaseKernels, in any case, such as SE, RQ, LIN, PER, MATERN32,
// POLY2 or WN, with synonyms such as RBF, and the letters s r p l of the paper's
// legends. A scope limits the kernels before it to some columns (SE[time],
// (SE+PER)[1,2]) and says whether they have a length scale per column (ard) or
// one (iso): SE[time,temp;ard], or SE[;ard] for all columns; of CAT ard means one for each
// level of its column, CAT[kind;ard]. CP(A,B)[time] is A before
// a place along time and B behind it (without a scope along the first column); what
// columns A and B act on is said within. A column's name that
// holds a bracket, comma, semicolon or quote, or is a number, is quoted as a Go
// string: SE["a,b"].
package kernelspace

import "slices"

// Expr is an immutable kernel expression. Two expressions are the same kernel
// if their ID is equal. Sums and products are flat: no term of a sum is a sum,
// no factor of a product is a product. The zero Expr is no expression.
type Expr struct {
	root *node
}

type kind uint8

// The order is that in which canonical expressions list terms of equal size.
const (
	kindSum kind = iota
	kindProduct
	kindChange
	kindLeaf
)

// node is one place of the tree. Nodes are shared and never changed.
type node struct {
	kind  kind
	terms []*node // of a sum or product, two or more; of a change point a step and two kernels
	base  base    // of a leaf
	scope scope   // of a leaf
	tag   int     // of a leaf: its index in the expression an edit started from
	size  int     // number of leaves
}

func newLeaf(b base, s scope) *node {
	return &node{kind: kindLeaf, base: b, scope: s, size: 1}
}

// combine builds a flat sum or product; a single term is itself.
func combine(k kind, terms []*node) *node {
	if len(terms) == 1 {
		return terms[0]
	}
	n := &node{kind: k}
	for _, t := range terms {
		if t.kind == k {
			n.terms = append(n.terms, t.terms...)
		} else {
			n.terms = append(n.terms, t)
		}
		n.size += t.size
	}
	return n
}

// walk calls visit for every leaf, left to right.
func (n *node) walk(visit func(*node)) {
	if n.kind == kindLeaf {
		visit(n)
		return
	}
	for _, t := range n.terms {
		t.walk(visit)
	}
}

// mapLeaves rebuilds the tree with every leaf replaced.
func (n *node) mapLeaves(replace func(*node) *node) *node {
	if n.kind == kindLeaf {
		return replace(n)
	}
	terms := make([]*node, len(n.terms))
	for i, t := range n.terms {
		terms[i] = t.mapLeaves(replace)
	}
	return n.rebuild(terms)
}

// Sum returns the sum of the terms, of which there must be one or more.
func Sum(terms ...Expr) Expr { return join(kindSum, terms) }

// Product returns the product of the factors, of which there must be one or
// more.
func Product(factors ...Expr) Expr { return join(kindProduct, factors) }

func join(k kind, terms []Expr) Expr {
	if len(terms) == 0 {
		panic("kernelspace: a sum or product needs a term")
	}
	nodes := make([]*node, len(terms))
	for i, t := range terms {
		if t.root == nil {
			panic("kernelspace: a term is the zero Expr")
		}
		nodes[i] = t.root
	}
	return Expr{combine(k, nodes)}
}

// IsZero reports whether e is the zero Expr, which is no expression.
func (e Expr) IsZero() bool { return e.root == nil }

// IsLeaf reports whether e is a single base kernel; the step of a change point is none.
func (e Expr) IsLeaf() bool {
	return e.root != nil && e.root.kind == kindLeaf && e.root.base != baseStep
}

// IsSum reports whether e is a sum of two or more terms.
func (e Expr) IsSum() bool { return e.root != nil && e.root.kind == kindSum }

// IsProduct reports whether e is a product of two or more factors.
func (e Expr) IsProduct() bool { return e.root != nil && e.root.kind == kindProduct }

// Terms returns the terms of a sum, the factors of a product or the two kernels of a
// change point, as written; nil for a base kernel.
func (e Expr) Terms() []Expr {
	if e.root == nil {
		return nil
	}
	var terms []Expr
	for _, t := range e.root.kernels() {
		terms = append(terms, Expr{t})
	}
	return terms
}

// Leaves returns the leaves, left to right as written: the base kernels, and in front
// of those of a change point its step, which is no kernel (see IsLeaf).
func (e Expr) Leaves() []Expr {
	if e.root == nil {
		return nil
	}
	leaves := make([]Expr, 0, e.root.size)
	e.root.walk(func(n *node) { leaves = append(leaves, Expr{n}) })
	return leaves
}

// NumLeaves returns the number of leaves.
func (e Expr) NumLeaves() int {
	if e.root == nil {
		return 0
	}
	return e.root.size
}

// Base returns the name of a base kernel, e.g. "PER", without its scope, "CP" of a
// step; "" if e is no leaf.
func (e Expr) Base() string {
	if e.root == nil || e.root.kind != kindLeaf {
		return ""
	}
	return e.root.base.info().name
}

// Canonical returns the expression with the terms of every sum and product
// sorted. It is the same kernel.
func (e Expr) Canonical() Expr {
	if e.root == nil {
		return e
	}
	return Expr{e.root.canonical()}
}

// Equal reports whether both are the same kernel.
func (e Expr) Equal(f Expr) bool {
	if e.root == nil || f.root == nil {
		return e.root == f.root
	}
	return compareNodes(e.root.canonical(), f.root.canonical()) == 0
}

// Compare orders kernels: fewer leaves first, then in canonical order. It is 0
// if both are the same kernel.
func Compare(a, b Expr) int {
	if a.NumLeaves() != b.NumLeaves() {
		return a.NumLeaves() - b.NumLeaves()
	}
	if a.root == nil {
		return 0
	}
	return compareNodes(a.root.canonical(), b.root.canonical())
}

// canonical sorts every sum and product, and the columns of every leaf.
func (n *node) canonical() *node {
	if n.kind == kindLeaf {
		if slices.IsSortedFunc(n.scope.columns, compareColumns) {
			return n
		}
		sorted := *n
		sorted.scope.columns = slices.Clone(n.scope.columns)
		slices.SortFunc(sorted.scope.columns, compareColumns)
		return &sorted
	}
	terms := make([]*node, len(n.terms))
	for i, t := range n.terms {
		terms[i] = t.canonical()
	}
	if n.kind == kindChange { // first A, then B
		return newChange(terms)
	}
	slices.SortStableFunc(terms, compareNodes)
	return &node{kind: n.kind, terms: terms, size: n.size}
}

// compareNodes is the fixed total order of canonical trees: composite before
// leaf, the larger first, sum before product before change point, then term by term; leaves by
// base kernel, then scope. Thus (PER+RQ)*LIN and LIN*RQ+PER read as in the
// paper.
func compareNodes(a, b *node) int {
	switch {
	case a.size != b.size:
		return b.size - a.size
	case a.kind != b.kind:
		return int(a.kind) - int(b.kind)
	case a.kind != kindLeaf:
		return slices.CompareFunc(a.terms, b.terms, compareNodes)
	case a.base != b.base:
		return int(a.base) - int(b.base)
	}
	return compareScopes(a.scope, b.scope)
}
