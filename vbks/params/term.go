package params

import (
	"slices"

	"example.com/kestrel/kernelspace"
)

// Term is a node of a program's tree, rebuilt from its postfix instructions.
type Term struct {
	In     *kernelspace.Instr
	Leaf   int   // index of the leaf; −1 for sums, products and change points
	Leaves []int // indices of the leaves below it
	Args   []*Term
}

// Tree returns a program's expression as a tree over its instructions.
func Tree(p *kernelspace.Program) *Term {
	var stack []*Term
	leaf := 0
	for i := range p.Instrs {
		in := &p.Instrs[i]
		t := &Term{In: in, Leaf: -1}
		if in.Op < kernelspace.OpAdd {
			t.Leaf = leaf
			t.Leaves = []int{leaf}
			leaf++
		} else {
			n := len(stack) - in.Arity
			t.Args = append(t.Args, stack[n:]...)
			stack = stack[:n]
			for _, a := range t.Args {
				t.Leaves = append(t.Leaves, a.Leaves...)
			}
		}
		stack = append(stack, t)
	}
	return stack[0]
}

// Leaves returns the leaf instructions from left to right.
func Leaves(p *kernelspace.Program) []*kernelspace.Instr {
	var out []*kernelspace.Instr
	for i := range p.Instrs {
		if p.Instrs[i].Op < kernelspace.OpAdd {
			out = append(out, &p.Instrs[i])
		}
	}
	return out
}

// Repeating returns the summands of a program that are leaves PER with one length and one period, by their places among
// its leaves, and whether there are no others.
func Repeating(p *kernelspace.Program) (leaves []int, alone bool) {
	terms := []*Term{Tree(p)}
	alone = true
	for len(terms) > 0 {
		t := terms[0]
		terms = terms[1:]
		switch {
		case t.Leaf < 0 && t.In.Op == kernelspace.OpAdd:
			terms = append(terms, t.Args...)
		case t.In.Op == kernelspace.OpPER && t.In.NumScale == 1 && t.In.NumPeriod == 1:
			leaves = append(leaves, t.Leaf)
		default:
			alone = false
		}
	}
	slices.Sort(leaves)
	return leaves, alone
}

// Summands are what of a sum or change point an amplitude scales, each for itself; nil
// for products and leaves.
func (t *Term) Summands() []*Term {
	switch t.In.Op {
	case kernelspace.OpAdd:
		return t.Args
	case kernelspace.OpChange:
		return t.Args[1:] // the first is its step
	}
	return nil
}

// Amplify multiplies a term by s whatever is fixed in it; Settle must follow.
func (t *Term) Amplify(raw []float64, s float64) {
	switch {
	case t.Leaf >= 0:
		raw[t.In.Off] *= s
	case t.In.Op != kernelspace.OpMul:
		for _, a := range t.Summands() {
			a.Amplify(raw, s)
		}
	default:
		t.Args[0].Amplify(raw, s)
	}
}
