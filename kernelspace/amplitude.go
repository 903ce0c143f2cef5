package kernelspace

// amplitude says what role the amplitude of a leaf has: its variance or, for
// LIN and POLY with a length scale per column, all its length scales.
type amplitude struct {
	free  bool // not normalised
	total bool // carries the unit of y²; else it is relative to another one
}

// amplitudes finds the role of every leaf's amplitude, left to right. This is
// the one place that knows which factor of a product keeps its amplitudes.
func (p *Program) amplitudes() []amplitude {
	roles := make([]amplitude, 0, p.Expr.NumLeaves())
	var visit func(n *node, role amplitude)
	visit = func(n *node, role amplitude) {
		switch n.kind {
		case kindLeaf:
			roles = append(roles, role)
		case kindSum:
			for i, t := range n.terms {
				// A normalised sum is measured against its first term.
				visit(t, amplitude{free: role.free || i > 0, total: role.total})
			}
		case kindChange:
			visit(n.terms[0], amplitude{}) // it has none
			visit(n.terms[1], role)
			visit(n.terms[2], amplitude{free: true, total: role.total}) // against the first
		case kindProduct:
			keeper := -1
			if role.free {
				keeper = n.keeper()
			}
			for i, t := range n.terms {
				if i == keeper {
					visit(t, role)
				} else {
					visit(t, amplitude{})
				}
			}
		}
	}
	visit(p.Expr.root, amplitude{free: true, total: true})
	return roles
}

// keeper returns which factor of a product keeps its amplitudes.
func (n *node) keeper() int {
	for i, t := range n.terms {
		if t.kind == kindSum || t.kind == kindChange {
			return i
		}
	}
	return 0
}
