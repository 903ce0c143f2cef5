package kernelspace

// Instr is one instruction of a Program. Leaves push their matrix, OpAdd, OpMul and
// OpChange replace the Arity topmost matrices by one.
//
// A leaf's raw parameters lie at Off in this order: variance; NumScale
// length scales (1, or one per entry of Cols under ARD; of Levels one per level); then for RQ its
// shape α, for PER and Cos NumPeriod periods (1, or one per entry of Cols),
// for Poly its offset c, for RW and IRW the distance h of their origin before 0.
// Const, White and Cat have a variance only, Cos, RW and IRW no length scale. Step has its
// place, as PlaceOf reads it, and its width, and no variance; it is on the stack to be found.
type Instr struct {
	Op        Op        // what it does
	Arity     int       // operands of OpAdd, OpMul and OpChange
	Off       int       // first raw parameter of a leaf
	Cols      []int     // input columns that a leaf acts on
	NumScale  int       // number of length scales
	NumPeriod int       // number of periods
	Degree    int       // of OpPoly
	Levels    []float64 // of OpLevels: the values of its column that have a length, ascending
	base      base      // of a leaf
}

// NumParams returns the number of raw parameters of a leaf.
func (in *Instr) NumParams() int {
	if in.Op == OpStep {
		return 2
	}
	n := 1 + in.NumScale + in.NumPeriod
	if in.base.info().shape != "" {
		n++
	}
	return n
}

// Param describes one raw hyperparameter of a Program. All are positive and
// are optimised as logarithms.
type Param struct {
	Name   string // "variance", "lengthscale", "alpha", "period", "offset", "origin", "place", "width"
	Leaf   int    // index of the leaf, left to right
	Base   string // the leaf's base kernel, e.g. "PER"
	Column int    // the input column it belongs to, or −1 for all the leaf's columns
	Level  int    // 1 + which of the leaf's levels it is of; 0: of none
	Free   bool   // false: fixed at 1 because another amplitude carries the scale
	Known  Known  // beforehand, see Program.Know
}

// Program is an expression compiled for inputs of a given dimension: a short
// postfix sequence that a device runs over whole tiles, and the layout of its
// hyperparameters.
type Program struct {
	Expr   Expr    // as it was compiled, with the line of a mean function, if it has one
	ID     string  // canonical expression, without
	Dim    int     // number of input columns
	Instrs []Instr // postfix
	Params []Param // all raw parameters, leaf by leaf
	Free   []int   // indices into Params of the free ones, ascending: neither carried by another amplitude nor known
	Noise  Known   // of the noise's variance
	Depth  int     // the largest number of matrices on the stack

	own *Program // nil where there is no line, see Own
}
