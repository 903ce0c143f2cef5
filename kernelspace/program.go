package kernelspace

// Op names what an instruction of a Program does: evaluate one base kernel
// or combine the results of earlier instructions.
type Op uint8

// The leaf operations come first so that Op < OpAdd means "a leaf".
const (
	OpSE       Op = iota // σ² exp(−r²/2ℓ²)
	OpRQ                 // σ² (1 + r²/2αℓ²)^−α
	OpLIN                // σ² x·x′/ℓ²
	OpPER                // σ² exp(−2 Σ_d sin²(π|x_d−x′_d|/p_d)/ℓ_d²)
	OpMatern12           // σ² exp(−r/ℓ)
	OpMatern32           // σ² (1 + √3 r/ℓ) exp(−√3 r/ℓ)
	OpMatern52           // σ² (1 + √5 r/ℓ + 5r²/3ℓ²) exp(−√5 r/ℓ)
	OpWhite              // σ² if both points are the same row of the same set, else 0
	OpConst              // σ²
	OpPoly               // σ² (x·x′/ℓ² + c)^Degree
	OpCos                // σ² cos(2π Σ_d (x_d−x′_d)/p_d)
	OpAdd                // sum of the Arity topmost results
	OpMul                // product of the Arity topmost results
)

// Instr is one instruction of a Program. Leaves push their matrix, OpAdd and
// OpMul replace the Arity topmost matrices by one.
//
// A leaf's raw parameters lie at Off in this order: variance; NumScale
// length scales (1, or one per entry of Cols under ARD); then for RQ its
// shape α, for PER and Cos NumPeriod periods (1, or one per entry of Cols),
// for Poly its offset c. Const and White have a variance only, Cos has no
// length scale.
type Instr struct {
	Op        Op
	Arity     int   // operands of OpAdd and OpMul
	Off       int   // first raw parameter of a leaf
	Cols      []int // input columns that a leaf acts on
	NumScale  int   // number of length scales
	NumPeriod int   // number of periods
	Degree    int   // of OpPoly
}

// NumParams returns the number of raw parameters of a leaf.
func (in *Instr) NumParams() int {
	n := 1 + in.NumScale + in.NumPeriod
	if in.Op == OpRQ || in.Op == OpPoly {
		n++
	}
	return n
}

// Param describes one raw hyperparameter of a Program. All are positive and
// are optimised as logarithms.
type Param struct {
	Name   string // "variance", "lengthscale", "alpha", "period", "offset"
	Leaf   int    // index of the leaf, left to right
	Base   string // the leaf's base kernel, e.g. "PER"
	Column int    // the input column it belongs to, or −1 for all the leaf's columns
	Free   bool   // false: fixed at 1 because another amplitude carries the scale
}

// Program is an expression compiled for inputs of a given dimension: a short
// postfix sequence that a device runs over whole tiles, and the layout of its
// hyperparameters.
type Program struct {
	Expr   Expr
	ID     string // canonical expression
	Dim    int    // number of input columns
	Instrs []Instr
	Params []Param // all raw parameters, leaf by leaf
	Free   []int   // indices into Params of the free ones, ascending
	Depth  int     // the largest number of matrices on the stack
}
