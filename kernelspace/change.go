package kernelspace

import "math"

// A change point CP(A,B) goes from the kernel A over to B along one input,
//
//	k(x, x′) = (1 − s(x)) A(x, x′) (1 − s(x′)) + s(x) B(x, x′) s(x′)
//	s(x)     = 1/(1 + exp(−(x_d − c)/w))
//
// at the place c over the width w (Saatçi, Turner and Rasmussen 2010, "Gaussian
// process change point models"; Lloyd et al. 2014). In a tree it is a node of three
// terms, of which the first is a leaf, the step: it has the column, and c and w among
// the parameters. A step alone is no kernel.

const nameChange = "CP"

// newChange returns CP(terms[1],terms[2]) along the column of the step terms[0].
func newChange(terms []*node) *node {
	n := &node{kind: kindChange, terms: terms}
	for _, t := range terms {
		n.size += t.size
	}
	return n
}

func newStep() *node { return newLeaf(baseStep, scope{}) }

// rebuild returns n with other terms.
func (n *node) rebuild(terms []*node) *node {
	if n.kind == kindChange {
		return newChange(terms)
	}
	return combine(n.kind, terms)
}

// kernels are the terms of a node that are kernels: all but a step.
func (n *node) kernels() []*node {
	if n.kind == kindChange {
		return n.terms[1:]
	}
	return n.terms
}

// PlaceOf returns the place that a positive raw parameter stands for, in standardised
// inputs: its logarithm is asinh c, which any place has.
func PlaceOf(raw float64) float64 { return (raw - 1/raw) / 2 }

// RawPlace is the reverse of PlaceOf.
func RawPlace(c float64) float64 {
	if c < 0 {
		return 1 / RawPlace(-c)
	}
	return c + math.Hypot(1, c)
}

// sigmoid is 1/(1 + exp(−z)).
func sigmoid(z float64) float64 { return 1 / (1 + math.Exp(-z)) }

func (ev *evaluator) change(n *node) float64 {
	in := ev.next()
	d, place, width := in.Cols[0], PlaceOf(ev.theta[in.Off]), ev.theta[in.Off+1]
	u, v := (ev.x[d]-place)/width, (ev.y[d]-place)/width
	before := ev.eval(n.terms[1])
	after := ev.eval(n.terms[2])
	return sigmoid(-u)*before*sigmoid(-v) + sigmoid(u)*after*sigmoid(v)
}

// Change returns the change point from one kernel over to another whose step, its
// place and column, is that of a change point (see Step).
func Change(step, before, after Expr) Expr {
	return Expr{newChange([]*node{step.root, before.root, after.root})}
}

// Step returns the step of a change point, the zero Expr of others.
func (e Expr) Step() Expr {
	if !e.IsChange() {
		return Expr{}
	}
	return Expr{e.root.terms[0]}
}

// IsChange reports whether e is a change point.
func (e Expr) IsChange() bool { return e.root != nil && e.root.kind == kindChange }

// IsSteps reports whether e is a level that changes at a place or at some: a change point between
// constants, or further ones of that kind.
func (e Expr) IsSteps() bool {
	if !e.IsChange() {
		return false
	}
	for _, n := range e.root.kernels() {
		if k := (Expr{n}); !k.IsSteps() && !(n.kind == kindLeaf && n.base == baseConst) {
			return false
		}
	}
	return true
}

// With returns e with its i-th term, as Terms counts them, replaced.
func (e Expr) With(i int, term Expr) Expr {
	steps := len(e.root.terms) - len(e.root.kernels())
	terms := append([]*node(nil), e.root.terms...)
	terms[steps+i] = term.root
	return Expr{e.root.rebuild(terms)}
}
