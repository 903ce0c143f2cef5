package kernelspace

import "math"

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
	}
	for ev.leaves[0].Op >= OpAdd {
		ev.leaves = ev.leaves[1:]
	}
	in := &ev.leaves[0]
	ev.leaves = ev.leaves[1:]
	return ev.leaf(n.base, in)
}

func (ev *evaluator) leaf(b base, in *Instr) float64 {
	theta := ev.theta[in.Off : in.Off+in.NumParams()]
	variance := theta[0]
	scales := theta[1 : 1+in.NumScale]
	periods := theta[1+in.NumScale : 1+in.NumScale+in.NumPeriod]
	last := theta[len(theta)-1] // α or c, where there is one

	switch b {
	case baseSE:
		return variance * math.Exp(-ev.squaredDistance(in, scales)/2)
	case baseRQ:
		// (1 + z)^−α by log1p, which keeps its digits as α grows and z falls.
		return variance * math.Exp(-last*math.Log1p(ev.squaredDistance(in, scales)/(2*last)))
	case baseMatern12:
		return variance * math.Exp(-math.Sqrt(ev.squaredDistance(in, scales)))
	case baseMatern32:
		r := math.Sqrt(3 * ev.squaredDistance(in, scales))
		return variance * (1 + r) * math.Exp(-r)
	case baseMatern52:
		r2 := 5 * ev.squaredDistance(in, scales)
		r := math.Sqrt(r2)
		return variance * (1 + r + r2/3) * math.Exp(-r)
	case baseLIN:
		return variance * ev.innerProduct(in, scales)
	case basePoly2:
		return variance * math.Pow(ev.innerProduct(in, scales)+last, 2)
	case basePoly3:
		return variance * math.Pow(ev.innerProduct(in, scales)+last, 3)
	case basePoly4:
		return variance * math.Pow(ev.innerProduct(in, scales)+last, 4)
	case basePER:
		sum := 0.0
		for i, d := range in.Cols {
			s := math.Sin(math.Pi*math.Abs(ev.x[d]-ev.y[d])/entry(periods, i)) / entry(scales, i)
			sum += s * s
		}
		return variance * math.Exp(-2*sum)
	case baseCOS:
		sum := 0.0
		for i, d := range in.Cols {
			sum += (ev.x[d] - ev.y[d]) / entry(periods, i)
		}
		return variance * math.Cos(2*math.Pi*sum)
	case baseConst:
		return variance
	case baseWhite:
		if ev.same {
			return variance
		}
		return 0
	}
	panic("kernelspace: not a base kernel")
}

// squaredDistance is r²/ℓ², summed over the leaf's columns.
func (ev *evaluator) squaredDistance(in *Instr, scales []float64) float64 {
	sum := 0.0
	for i, d := range in.Cols {
		r := (ev.x[d] - ev.y[d]) / entry(scales, i)
		sum += r * r
	}
	return sum
}

// innerProduct is x·x′/ℓ² over the leaf's columns.
func (ev *evaluator) innerProduct(in *Instr, scales []float64) float64 {
	sum := 0.0
	for i, d := range in.Cols {
		l := entry(scales, i)
		sum += ev.x[d] * ev.y[d] / (l * l)
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
