package cpu

import (
	"errors"
	"slices"

	"kestrel/device"
	"kestrel/kernelspace"
)

// kernels is a batch of compiled expressions.
type kernels struct {
	plans        []*plan
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

// NewKernels makes the plans of the programs.
func (l *lane) NewKernels(programs []*kernelspace.Program) (device.Kernels, error) {
	ks := &kernels{}
	for _, p := range programs {
		pl, err := newPlan(p)
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
	prog     *kernelspace.Program
	nodes    []node
	leaves   []leaf
	features []feature
	slots    int // arrays kept on the tape
	volatile int // arrays that are cheaper computed again
}

type node struct {
	op     kernelspace.Op
	kids   []int
	leaf   int  // index into leaves, −1 for a sum or product
	needed bool // some ancestor is a product and needs this value for the gradient
	isRoot bool
}

// leaf is a base kernel; its parameters lie as in kernelspace.Instr.
type leaf struct {
	*kernelspace.Instr
	value   int // slot of its values
	aux     int // first slot of its auxiliaries
	feature int // −1: none
}

func (lf *leaf) ard() bool     { return lf.NumScale > 1 }
func (lf *leaf) periodAt() int { return lf.Off + 1 + lf.NumScale }
func (lf *leaf) shapeAt() int  { return lf.Off + 1 + lf.NumScale } // α of RQ, c of Poly
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

// feature is what leaves read of the points: squared distances or dot
// products over some columns. Leaves with one length scale share them; under
// ARD the columns are scaled and the feature is the leaf's own.
type feature struct {
	dot      bool
	cols     []int
	leaf     int // of the length scales, −1: unscaled
	slot     int // on the tape, or −1
	volatile int // index of the array that is computed again, or −1
}

var errProgram = errors.New("program is not a postfix sequence")

func newPlan(p *kernelspace.Program) (*plan, error) {
	pl := &plan{prog: p}
	var stack []int
	for i := range p.Instrs {
		in := &p.Instrs[i]
		n := node{op: in.Op, leaf: -1}
		if in.Op < kernelspace.OpAdd {
			n.leaf = len(pl.leaves)
			pl.addLeaf(in)
		} else {
			if in.Arity < 1 || in.Arity > len(stack) {
				return nil, errProgram
			}
			at := len(stack) - in.Arity
			n.kids = slices.Clone(stack[at:])
			stack = stack[:at]
		}
		stack = append(stack, len(pl.nodes))
		pl.nodes = append(pl.nodes, n)
	}
	if len(stack) != 1 {
		return nil, errProgram
	}
	pl.nodes[stack[0]].isRoot = true
	for i := len(pl.nodes) - 1; i >= 0; i-- {
		for _, k := range pl.nodes[i].kids {
			pl.nodes[k].needed = pl.nodes[i].needed || pl.nodes[i].op == kernelspace.OpMul
		}
	}
	return pl, nil
}

func (pl *plan) addLeaf(in *kernelspace.Instr) {
	lf := leaf{Instr: in, value: pl.slots, feature: -1}
	pl.slots++
	lf.aux = pl.slots
	switch in.Op {
	case kernelspace.OpRQ, kernelspace.OpCos:
		pl.slots++ // log(1+q); slope
	case kernelspace.OpPER:
		pl.slots += in.NumScale + in.NumPeriod
	}
	switch in.Op {
	case kernelspace.OpSE, kernelspace.OpRQ, kernelspace.OpMatern12, kernelspace.OpMatern32, kernelspace.OpMatern52:
		lf.feature = pl.addFeature(&lf, false)
	case kernelspace.OpLIN, kernelspace.OpPoly:
		lf.feature = pl.addFeature(&lf, true)
	}
	pl.leaves = append(pl.leaves, lf)
}

func (pl *plan) addFeature(lf *leaf, dot bool) int {
	f := feature{dot: dot, cols: lf.Cols, leaf: -1, slot: -1, volatile: -1}
	if lf.ard() {
		f.leaf = len(pl.leaves)
	} else {
		for i, g := range pl.features {
			if g.dot == dot && g.leaf < 0 && slices.Equal(g.cols, f.cols) {
				return i
			}
		}
	}
	if len(f.cols) > 1 {
		f.slot = pl.slots
		pl.slots++
	} else {
		f.volatile = pl.volatile
		pl.volatile++
	}
	pl.features = append(pl.features, f)
	return len(pl.features) - 1
}
