package cpu

import (
	"errors"
	"slices"

	"example.com/kestrel/device"
	"example.com/kestrel/kernelspace"
)

// kernels is a batch of compiled expressions.
type kernels struct {
	plans        []*plan
	features     []feature // what the leaves of all plans read of the points
	params, free int
}

func (ks *kernels) Params() int { return ks.params }
func (ks *kernels) Free() int   { return ks.free }

func kern(ks device.Kernels) *kernels {
	x, ok := ks.(*kernels)
	if !ok {
		panic("cpu: kernels of another device")
	}
	return x
}

// NewKernels makes the plans of the programs. Errors: a base kernel without code.
func (l *lane) NewKernels(programs []*kernelspace.Program) (device.Kernels, error) {
	ks := &kernels{}
	for _, p := range programs {
		if err := device.CheckCode(kind, p, hasCode); err != nil {
			return nil, err
		}
		pl, err := ks.newPlan(p)
		if err != nil {
			return nil, err
		}
		ks.plans = append(ks.plans, pl)
		ks.params = max(ks.params, len(p.Params))
		ks.free = max(ks.free, len(p.Free))
	}
	ks.params++
	ks.free++
	return ks, nil
}

// plan is a Program as a tree, with the places of what a tile needs.
type plan struct {
	prog   *kernelspace.Program
	nodes  []node
	leaves []leaf
	slots  int  // arrays that a tile's leaves fill
	scaled int  // features of leaves with a length scale per column
	angles int  // columns of periodic leaves
	flat   bool // stationary: k(x,x) is the same everywhere
}

type node struct {
	op     kernelspace.Op
	kids   []int
	leaf   int  // index into leaves, −1 for a sum, product or change point
	needed bool // some ancestor is a product or change point and needs this value for the gradient
	isRoot bool
}

// leaf is a base kernel; its parameters lie as in kernelspace.Instr.
type leaf struct {
	*kernelspace.Instr
	code    code
	value   int    // slot of its values
	aux     int    // first slot of its auxiliaries
	feature int    // index into kernels.features; under ARD, of the plan's own
	index   int    // of the leaf itself
	angle   int    // of PER: the first of its columns' angles
	sides   [2]int // of a step: the nodes of the kernels before and behind it
}

func (lf *leaf) ard() bool     { return lf.NumScale > 1 }
func (lf *leaf) dot() bool     { return lf.code.reads == products }
func (lf *leaf) moving() bool  { return lf.dot() || lf.code.reads == places } // not stationary
func (lf *leaf) periodAt() int { return lf.Off + 1 + lf.NumScale }
func (lf *leaf) shapeAt() int  { return lf.Off + 1 + lf.NumScale } // α of RQ, c of Poly, h of RW and IRW
func (lf *leaf) scaleAt(c int) int { // of the c-th column
	if lf.NumScale > 1 {
		return lf.Off + 1 + c
	}
	return lf.Off + 1
}

func (lf *leaf) periodOf(c int) int {
	if lf.NumPeriod > 1 {
		return lf.periodAt() + c
	}
	return lf.periodAt()
}

// feature is what leaves read of the points: squared distances or dot products
// over some columns, not scaled. All leaves with one length scale share them; under
// ARD the columns are scaled and the feature is the leaf's own.
type feature struct {
	dot  bool
	cols []int
}

var errProgram = errors.New("program is not a postfix sequence")

func (ks *kernels) newPlan(p *kernelspace.Program) (*plan, error) {
	pl := &plan{prog: p}
	var stack []int
	for i := range p.Instrs {
		in := &p.Instrs[i]
		n := node{op: in.Op, leaf: -1}
		if in.Op < kernelspace.OpAdd {
			n.leaf = len(pl.leaves)
			ks.addLeaf(pl, in)
		} else {
			if in.Arity < 1 || in.Arity > len(stack) {
				return nil, errProgram
			}
			at := len(stack) - in.Arity
			n.kids = slices.Clone(stack[at:])
			if in.Op == kernelspace.OpChange {
				if in.Arity != 3 || pl.nodes[n.kids[0]].op != kernelspace.OpStep {
					return nil, errProgram
				}
				pl.leaves[pl.nodes[n.kids[0]].leaf].sides = [2]int{n.kids[1], n.kids[2]}
			}
			stack = stack[:at]
		}
		stack = append(stack, len(pl.nodes))
		pl.nodes = append(pl.nodes, n)
	}
	if len(stack) != 1 {
		return nil, errProgram
	}
	pl.flat = !slices.ContainsFunc(pl.leaves, func(lf leaf) bool { return lf.moving() })
	pl.nodes[stack[0]].isRoot = true
	for i := len(pl.nodes) - 1; i >= 0; i-- {
		for _, k := range pl.nodes[i].kids {
			pl.nodes[k].needed = pl.nodes[i].needed || pl.nodes[i].op == kernelspace.OpMul || pl.nodes[i].op == kernelspace.OpChange
		}
	}
	return pl, nil
}

func (ks *kernels) addLeaf(pl *plan, in *kernelspace.Instr) {
	lf := leaf{Instr: in, code: codeOf(in.Op), value: pl.slots, aux: pl.slots + 1, index: len(pl.leaves)}
	pl.slots = lf.aux
	if in.Op == kernelspace.OpPER {
		lf.angle = pl.angles
		pl.angles += len(in.Cols)
	}
	if lf.code.slots != nil {
		pl.slots += lf.code.slots(in)
	}
	switch {
	case lf.code.reads == nothing || lf.code.reads == places:
	case lf.ard():
		lf.feature = pl.scaled
		pl.scaled++
	default:
		lf.feature = ks.addFeature(&lf)
	}
	pl.leaves = append(pl.leaves, lf)
}

func (ks *kernels) addFeature(lf *leaf) int {
	for i, f := range ks.features {
		if f.dot == lf.dot() && slices.Equal(f.cols, lf.Cols) {
			return i
		}
	}
	ks.features = append(ks.features, feature{dot: lf.dot(), cols: lf.Cols})
	return len(ks.features) - 1
}
