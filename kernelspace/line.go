package kernelspace

import "math"

// Line is a linear mean function m(x) = a + Σ_d b_d x_d, whose coefficients are
// independent and normal about 0. Integrated over them a Gaussian process of mean m
// and covariance k is one of mean 0 and covariance
//
//	k(x,x′) + var a + Σ_d var b_d x_d x_d′
//
// (Rasmussen and Williams 2006, section 2.7): the sum of the kernel, a LIN and a CONST whose
// parameters are fixed. So whatever has a covariance has the mean, with what is not known
// of it.
type Line struct {
	Columns  []int     // inputs that have a slope
	Slopes   []float64 // variances of these
	Constant float64   // variance of a
}

// withLine returns p with the two leaves of a line behind its own.
func (p *Program) withLine(o Options) (*Program, error) {
	l := o.Line
	q := &Program{
		ID: p.ID, Dim: p.Dim, Depth: p.Depth, own: p,
		Instrs: append([]Instr(nil), p.Instrs...), Params: append([]Param(nil), p.Params...),
	}
	terms := 1
	if p.Expr.IsSum() {
		terms = q.Instrs[len(q.Instrs)-1].Arity
		q.Instrs = q.Instrs[:len(q.Instrs)-1]
	}
	across := scope{shape: shapeIsotropic}
	if len(l.Columns) > 1 {
		across.shape = shapeARD
	}
	if len(l.Columns) < p.Dim {
		for _, c := range l.Columns {
			at := column{number: c + 1}
			if len(o.Columns) > 0 {
				at = column{name: o.Columns[c]}
			}
			across.columns = append(across.columns, at)
		}
	} else if p.Dim == 1 {
		across.shape = shapeDefault
	}
	slopes, constant := newLeaf(baseLIN, across), newLeaf(baseConst, scope{})
	c := &compiler{opt: o, p: q}
	for _, n := range []*node{slopes, constant} {
		if err := c.leaf(n); err != nil {
			return nil, err
		}
	}
	fixed := func(v float64) Known { return Known{How: Fixed, Value: v} }
	at := q.Params[len(p.Params):]
	if len(l.Columns) == 1 {
		at[0].Known = fixed(l.Slopes[0])
	} else {
		for i, v := range l.Slopes {
			at[1+i].Known = fixed(1 / math.Sqrt(v))
		}
	}
	at[len(at)-1].Known = fixed(l.Constant)
	q.Instrs = append(q.Instrs, Instr{Op: OpAdd, Arity: terms + 2})
	q.Expr = Sum(p.Expr, Expr{slopes}, Expr{constant})
	q.Depth = max(q.Depth, terms+2)
	q.fix()
	return q, nil
}

// Own returns the kernel without the line of a mean function, itself where it has none.
// Its parameters are the first ones of p, and its free vectors are those of p.
func (p *Program) Own() *Program {
	if p.own != nil {
		return p.own
	}
	return p
}

// LineColumns returns the inputs that a line has slopes along, nil where there is none.
func (p *Program) LineColumns() []int {
	if p.own == nil {
		return nil
	}
	return p.leafInstrs()[len(p.own.leafInstrs())].Cols
}
