//go:build cuda

package source

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"example.com/kestrel/device"
	"example.com/kestrel/kernelspace"
)

// The most that the interpreter takes; interpret.cu has the same numbers.
const (
	mostNodes   = 64
	MostParams  = 128 // hyperparameters
	mostColumns = 64
)

// operations are those of enum Op in leaves.cu, in its order: what the sources have
// code for.
var operations = []kernelspace.Op{
	kernelspace.OpSE, kernelspace.OpRQ, kernelspace.OpLIN, kernelspace.OpPER,
	kernelspace.OpMatern12, kernelspace.OpMatern32, kernelspace.OpMatern52,
	kernelspace.OpWhite, kernelspace.OpConst, kernelspace.OpPoly, kernelspace.OpCos, kernelspace.OpRW, kernelspace.OpIRW,
	kernelspace.OpCat, kernelspace.OpLevels, kernelspace.OpStep,
	kernelspace.OpAdd, kernelspace.OpMul, kernelspace.OpChange,
}

// number is an operation's in the sources.
func number(op kernelspace.Op) int { return slices.Index(operations, op) }

func hasCode(op kernelspace.Op) bool { return number(op) >= 0 }

var errProgram = errors.New("program is not a postfix sequence")

// node is an instruction of a program with the places of its operands.
type node struct {
	*kernelspace.Instr
	kids []int
}

func (n *node) leaf() bool { return n.Op < kernelspace.OpAdd }

// tree finds the operands of every instruction; the last is the root. Errors: a
// base kernel that the sources do not have.
func tree(p *kernelspace.Program) ([]node, error) {
	if err := device.CheckCode(Kind, p, hasCode); err != nil {
		return nil, err
	}
	var nodes []node
	var stack []int
	for i := range p.Instrs {
		n := node{Instr: &p.Instrs[i]}
		if !n.leaf() {
			if n.Arity < 1 || n.Arity > len(stack) {
				return nil, errProgram
			}
			at := len(stack) - n.Arity
			n.kids = append(n.kids, stack[at:]...)
			if n.Op == kernelspace.OpChange && (n.Arity != 3 || nodes[n.kids[0]].Op != kernelspace.OpStep) {
				return nil, errProgram
			}
			stack = stack[:at]
		}
		stack = append(stack, i)
		nodes = append(nodes, n)
	}
	if len(stack) != 1 {
		return nil, errProgram
	}
	return nodes, nil
}

// Table returns what the kernels read of a program: number of instructions,
// number of parameters, where their kinds begin, number of columns, eight
// integers an instruction, then lists, of levels with their halves, the upper one first. The kinds are 1 for length scales, 2 for
// periods, 3 for places of change points, else 0.
//
// Errors: those of tree; a program larger than the interpreter takes.
func Table(p *kernelspace.Program) ([]int32, error) {
	nodes, err := tree(p)
	if err != nil {
		return nil, err
	}
	if len(nodes) > mostNodes || len(p.Params) > MostParams {
		return nil, fmt.Errorf("%s: %d leaves and operations with %d hyperparameters are too many for a card, "+
			"which takes %d with %d; run it on the CPU",
			p.ID, len(nodes), len(p.Params), mostNodes, MostParams)
	}
	t := []int32{int32(len(nodes)), int32(len(p.Params)), 0, int32(p.Dim)}
	t = append(t, make([]int32, 8*len(nodes))...)
	kinds := make([]int32, len(p.Params))
	for i, n := range nodes {
		list := n.kids
		if n.leaf() {
			list = n.Cols
		}
		if n.leaf() && len(list) > mostColumns {
			return nil, fmt.Errorf("%s: a leaf on %d columns is too wide for a card, which takes %d; name fewer columns or run it on the CPU",
				p.ID, len(list), mostColumns)
		}
		in := t[4+8*i:][:8]
		in[0], in[3] = int32(number(n.Op)), int32(len(t))
		if n.leaf() {
			in[1], in[2], in[4], in[5], in[6] = int32(n.Off), int32(len(list)), int32(n.NumScale), int32(n.NumPeriod), int32(n.Degree)
			for j := range n.NumScale {
				kinds[n.Off+1+j] = 1
			}
			for j := range n.NumPeriod {
				kinds[n.Off+1+n.NumScale+j] = 2
			}
			if n.Op == kernelspace.OpStep {
				kinds[n.Off] = 3
			}
		} else {
			in[1] = int32(n.Arity)
		}
		for _, v := range list {
			t = append(t, int32(v))
		}
		t[4+8*i+7] = int32(len(t))
		for _, v := range n.Levels {
			bits := math.Float64bits(v)
			t = append(t, int32(bits>>32), int32(bits))
		}
	}
	t[2] = int32(len(t))
	return append(t, kinds...), nil
}
