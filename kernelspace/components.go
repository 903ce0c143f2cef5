package kernelspace

import "fmt"

// MaxComponents is the largest number of components that Components returns.
const MaxComponents = 1000

// Component is one additive part of a kernel: a product of some of its leaves.
type Component struct {
	Expr    Expr     // leaves in the original's order
	Program *Program // of Expr
	Leaves  []int    // the original's leaves, by index
	Params  []int    // for each raw parameter of Program, the original's
}

// Components multiplies a kernel out into additive components, e.g.
// (PER+RQ)*LIN into PER*LIN and RQ*LIN. For parameters theta the kernel is
// exactly the sum of the components at Component.Theta(theta); which of a
// component's parameters are free has no meaning then.
//
// It fails where there are more than MaxComponents.
func (p *Program) Components() ([]Component, error) {
	next := 0
	products, err := expand(p.Expr.root, &next)
	if err != nil {
		return nil, fmt.Errorf("components of %s: %w", p.Expr.Written(), err)
	}
	instrs, leaves := p.leafInstrs(), p.Expr.Leaves()
	components := make([]Component, len(products))
	for i, product := range products {
		c := Component{Leaves: product}
		q := &Program{Dim: p.Dim, Depth: len(product)}
		var factors []Expr
		for at, leaf := range product {
			factors = append(factors, leaves[leaf])
			in := *instrs[leaf]
			for k := range in.NumParams() {
				c.Params = append(c.Params, in.Off+k)
				param := p.Params[in.Off+k]
				param.Leaf, param.Free = at, true
				q.Params = append(q.Params, param)
			}
			in.Off = len(q.Params) - in.NumParams()
			q.Instrs = append(q.Instrs, in)
		}
		if len(product) > 1 {
			q.Instrs = append(q.Instrs, Instr{Op: OpMul, Arity: len(product)})
		}
		c.Expr = Product(factors...)
		q.Expr, q.ID = c.Expr, c.Expr.ID()
		q.fix()
		c.Program = q
		components[i] = c
	}
	return components, nil
}

// Theta picks the component's raw parameters out of the original's.
func (c *Component) Theta(theta []float64) []float64 {
	own := make([]float64, len(c.Params))
	for i, k := range c.Params {
		own[i] = theta[k]
	}
	return own
}

// expand lists the products of leaves, by index, that n is the sum of; next
// counts the leaves.
func expand(n *node, next *int) ([][]int, error) {
	if n.kind == kindLeaf {
		*next++
		return [][]int{{*next - 1}}, nil
	}
	var all [][]int
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
			var multiplied [][]int
			for _, a := range all {
				for _, b := range part {
					multiplied = append(multiplied, append(append([]int(nil), a...), b...))
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
