package kernelspace

import "fmt"

// MaxComponents is the largest number of components that Components returns.
const MaxComponents = 1000

// Component is one additive part of a kernel: a product of some of its leaves and
// change points.
type Component struct {
	Expr    Expr     // leaves in the original's order
	Program *Program // of Expr
	Leaves  []int    // the original's leaves, by index
	Params  []int    // for each raw parameter of Program, the original's
}

// Components multiplies a kernel out into additive components, e.g.
// (PER+RQ)*LIN into PER*LIN and RQ*LIN. A change point is one, whatever it changes
// between. For parameters theta the kernel is exactly the sum of the components at
// Component.Theta(theta); which of a component's parameters are free has no meaning
// then.
//
// It fails where there are more than MaxComponents.
func (p *Program) Components() ([]Component, error) {
	next := 0
	products, err := expand(p.Expr.root, &next)
	if err != nil {
		return nil, fmt.Errorf("components of %s: %w", p.Expr.Written(), err)
	}
	components := make([]Component, len(products))
	for i, product := range products {
		components[i] = p.part(product)
	}
	return components, nil
}

// Branches returns the two kernels of a program that is a change point, whose step is
// its first leaf.
func (p *Program) Branches() (before, after Component) {
	terms := p.Expr.root.terms
	return p.part([]factor{{terms[1], 1}}), p.part([]factor{{terms[2], 1 + terms[1].size}})
}

// factor is a part of an expression whose instructions stand together, by its place
// among the leaves.
type factor struct {
	n    *node
	leaf int
}

// part is the product of some factors as a program of its own.
func (p *Program) part(product []factor) Component {
	var c Component
	q := &Program{Dim: p.Dim}
	var factors []Expr
	for i, f := range product {
		factors = append(factors, Expr{f.n})
		instrs, depth := p.instrsOf(f)
		q.Depth = max(q.Depth, i+depth)
		for _, in := range instrs {
			if in.Op < OpAdd {
				c.Leaves = append(c.Leaves, p.Params[in.Off].Leaf)
				for k := range in.NumParams() {
					c.Params = append(c.Params, in.Off+k)
					param := p.Params[in.Off+k]
					param.Leaf, param.Free = len(c.Leaves)-1, true
					q.Params = append(q.Params, param)
				}
				in.Off = len(q.Params) - in.NumParams()
			}
			q.Instrs = append(q.Instrs, in)
		}
	}
	if len(product) > 1 {
		q.Instrs = append(q.Instrs, Instr{Op: OpMul, Arity: len(product)})
	}
	c.Expr = Product(factors...)
	q.Expr, q.ID = c.Expr, c.Expr.ID()
	q.fix()
	c.Program = q
	return c
}

// instrsOf returns the instructions of a factor, and how deep they stack.
func (p *Program) instrsOf(f factor) (instrs []Instr, depth int) {
	from := 0
	for leaf := -1; ; from++ {
		if p.Instrs[from].Op < OpAdd {
			leaf++
		}
		if leaf == f.leaf {
			break
		}
	}
	stack := 0
	for leaves := 0; ; {
		in := p.Instrs[from+len(instrs)]
		instrs = append(instrs, in)
		if in.Op < OpAdd {
			leaves++
			stack++
		} else {
			stack -= in.Arity - 1
		}
		if depth = max(depth, stack); leaves == f.n.size && stack == 1 {
			return instrs, depth
		}
	}
}

// Theta picks the component's raw parameters out of the original's.
func (c *Component) Theta(theta []float64) []float64 {
	own := make([]float64, len(c.Params))
	for i, k := range c.Params {
		own[i] = theta[k]
	}
	return own
}

// expand lists the products that n is the sum of; next counts the leaves.
func expand(n *node, next *int) ([][]factor, error) {
	if n.kind == kindLeaf || n.kind == kindChange {
		*next += n.size
		return [][]factor{{{n, *next - n.size}}}, nil
	}
	var all [][]factor
	for i, t := range n.terms {
		part, err := expand(t, next)
		if err != nil {
			return nil, err
		}
		if n.kind == kindSum || i == 0 {
			all = append(all, part...)
		} else {
			if len(all)*len(part) > MaxComponents {
				return nil, fmt.Errorf("more than %d", MaxComponents)
			}
			var multiplied [][]factor
			for _, a := range all {
				for _, b := range part {
					multiplied = append(multiplied, append(append([]factor(nil), a...), b...))
				}
			}
			all = multiplied
		}
		if len(all) > MaxComponents {
			return nil, fmt.Errorf("more than %d", MaxComponents)
		}
	}
	return all, nil
}
