package kernelspace

// Eval computes k(x, y) from the raw parameters theta (natural values, one per
// entry of Params; the fixed ones are used as given) for two rows of length
// Dim. same says that both are the same row of the same set, which white noise
// needs to know.
//
// It is the naive reference: it follows the expression tree and the formulas
// as they stand, and shares with a device only the layout of the parameters.
// It allocates nothing.
func (p *Program) Eval(theta, x, y []float64, same bool) float64 {
	if len(theta) != len(p.Params) || len(x) != p.Dim || len(y) != p.Dim {
		panic("kernelspace: Eval needs a value per raw parameter and rows of length Dim")
	}
	ev := evaluator{leaves: p.Instrs, theta: theta, x: x, y: y, same: same}
	return ev.eval(p.Expr.root)
}

// Matrix computes the matrix k(x_i, y_j) for rows x and y. If y is nil it is
// k(x_i, x_j) with white noise on the diagonal. theta is as in Eval.
func (p *Program) Matrix(theta []float64, x, y [][]float64) [][]float64 {
	sameSet := y == nil
	if sameSet {
		y = x
	}
	k := make([][]float64, len(x))
	for i := range x {
		k[i] = make([]float64, len(y))
		for j := range y {
			k[i][j] = p.Eval(theta, x[i], y[j], sameSet && i == j)
		}
	}
	return k
}

type evaluator struct {
	leaves []Instr // those not yet evaluated, for their layout only
	theta  []float64
	x, y   []float64
	same   bool
}

func (ev *evaluator) eval(n *node) float64 {
	switch n.kind {
	case kindSum:
		sum := 0.0
		for _, t := range n.terms {
			sum += ev.eval(t)
		}
		return sum
	case kindProduct:
		product := 1.0
		for _, t := range n.terms {
			product *= ev.eval(t)
		}
		return product
	case kindChange:
		return ev.change(n)
	}
	return ev.leaf(ev.next())
}

// next is the instruction of the next leaf.
func (ev *evaluator) next() *Instr {
	for ev.leaves[0].Op >= OpAdd {
		ev.leaves = ev.leaves[1:]
	}
	in := &ev.leaves[0]
	ev.leaves = ev.leaves[1:]
	return in
}

func (ev *evaluator) leaf(in *Instr) float64 {
	theta := ev.theta[in.Off : in.Off+in.NumParams()]
	return in.base.info().value(leafAt{
		cols: in.Cols, levels: in.Levels, degree: in.Degree, x: ev.x, y: ev.y, same: ev.same,
		variance: theta[0],
		scales:   theta[1 : 1+in.NumScale],
		periods:  theta[1+in.NumScale : 1+in.NumScale+in.NumPeriod],
		shape:    theta[len(theta)-1],
	})
}

// leafAt is a leaf at a pair of rows.
type leafAt struct {
	cols            []int
	levels          []float64
	degree          int
	x, y            []float64
	same            bool
	variance        float64
	scales, periods []float64
	shape           float64 // α, c or h, where there is one
}

// squaredDistance is r²/ℓ², summed over the leaf's columns.
func (l *leafAt) squaredDistance() float64 {
	sum := 0.0
	for i, d := range l.cols {
		r := (l.x[d] - l.y[d]) / entry(l.scales, i)
		sum += r * r
	}
	return sum
}

// innerProduct is x·x′/ℓ² over the leaf's columns.
func (l *leafAt) innerProduct() float64 {
	sum := 0.0
	for i, d := range l.cols {
		s := entry(l.scales, i)
		sum += l.x[d] * l.y[d] / (s * s)
	}
	return sum
}

// entry returns the value for a leaf's i-th column: its own, or the only one.
func entry(values []float64, i int) float64 {
	if len(values) == 1 {
		return values[0]
	}
	return values[i]
}
