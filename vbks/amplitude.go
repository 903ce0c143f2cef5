package vbks

import (
	"math"

	"kestrel/kernelspace"
)

// term is a node of a program's tree, rebuilt from its postfix instructions.
type term struct {
	in     *kernelspace.Instr
	leaf   int // index of the leaf; −1 for sums and products
	leaves []int
	args   []*term
}

// tree returns a program's expression as a tree over its instructions.
func tree(p *kernelspace.Program) *term {
	var stack []*term
	leaf := 0
	for i := range p.Instrs {
		in := &p.Instrs[i]
		t := &term{in: in, leaf: -1}
		if in.Op < kernelspace.OpAdd {
			t.leaf = leaf
			t.leaves = []int{leaf}
			leaf++
		} else {
			n := len(stack) - in.Arity
			t.args = append(t.args, stack[n:]...)
			stack = stack[:n]
			for _, a := range t.args {
				t.leaves = append(t.leaves, a.leaves...)
			}
		}
		stack = append(stack, t)
	}
	return stack[0]
}

// leaves returns the leaf instructions from left to right.
func leaves(p *kernelspace.Program) []*kernelspace.Instr {
	var out []*kernelspace.Instr
	for i := range p.Instrs {
		if p.Instrs[i].Op < kernelspace.OpAdd {
			out = append(out, &p.Instrs[i])
		}
	}
	return out
}

// canonicaliser brings raw parameters with arbitrary amplitudes to the form in
// which a program's fixed parameters are 1, leaving the kernel what it is.
type canonicaliser struct {
	p   *kernelspace.Program
	raw []float64
}

// settle makes every fixed parameter of raw 1 and moves its effect into the
// free amplitudes. A program always has one, so nothing is lost.
func settle(p *kernelspace.Program, raw []float64) {
	c := canonicaliser{p, raw}
	t := tree(p)
	c.scale(t, c.fix(t))
}

func (c canonicaliser) free(i int) bool { return c.p.Params[i].Free }

// linear reports whether the length scales of a leaf only scale it.
func linear(in *kernelspace.Instr) bool {
	return in.Op == kernelspace.OpLIN || in.Op == kernelspace.OpPoly
}

// adjustable reports whether a free parameter scales the whole term.
func (c canonicaliser) adjustable(t *term) bool {
	switch {
	case t.leaf >= 0:
		in := t.in
		return c.free(in.Off) || linear(in) && in.NumScale > 0 && c.free(in.Off+1)
	case t.in.Op == kernelspace.OpAdd:
		for _, a := range t.args {
			if !c.adjustable(a) {
				return false
			}
		}
		return true
	default:
		for _, a := range t.args {
			if c.adjustable(a) {
				return true
			}
		}
		return false
	}
}

// fix makes the fixed parameters in t equal to 1 and returns the factor by
// which the term has thereby shrunk.
func (c canonicaliser) fix(t *term) float64 {
	if t.leaf >= 0 {
		return c.fixLeaf(t.in)
	}
	if t.in.Op == kernelspace.OpMul {
		r := 1.0
		for _, a := range t.args {
			r *= c.fix(a)
		}
		for _, a := range t.args {
			if c.adjustable(a) {
				c.scale(a, r)
				return 1
			}
		}
		return r
	}
	factors := make([]float64, len(t.args))
	fixed := -1
	for i, a := range t.args {
		factors[i] = c.fix(a)
		if !c.adjustable(a) {
			fixed = i
		}
	}
	if fixed < 0 {
		return 1
	}
	for i, a := range t.args {
		if i != fixed {
			c.scale(a, factors[i]/factors[fixed])
		}
	}
	return factors[fixed]
}

func (c canonicaliser) fixLeaf(in *kernelspace.Instr) float64 {
	raw := c.raw[in.Off : in.Off+in.NumParams()]
	if linear(in) && in.NumScale > 0 && !c.free(in.Off+1) {
		// Move the first length scale into the variance.
		f := 1 / (raw[1] * raw[1])
		stretch(in, raw, 1/f)
		raw[0] *= math.Pow(f, linearDegree(in))
	}
	if c.free(in.Off) {
		return 1
	}
	v := raw[0]
	raw[0] = 1
	if linear(in) && in.NumScale > 0 && c.free(in.Off+1) {
		stretch(in, raw, math.Pow(v, 1/linearDegree(in)))
		return 1
	}
	return v
}

// linearDegree is the degree in which a linear leaf's inner product enters.
func linearDegree(in *kernelspace.Instr) float64 {
	if in.Op == kernelspace.OpPoly {
		return float64(in.Degree)
	}
	return 1
}

// stretch multiplies a linear leaf's inner product, and its offset, by f.
func stretch(in *kernelspace.Instr, raw []float64, f float64) {
	for d := 1; d <= in.NumScale; d++ {
		raw[d] /= math.Sqrt(f)
	}
	if in.Op == kernelspace.OpPoly {
		raw[len(raw)-1] *= f
	}
}

// scale multiplies an adjustable term by s.
func (c canonicaliser) scale(t *term, s float64) {
	if s == 1 {
		return
	}
	if t.leaf >= 0 {
		if c.free(t.in.Off) {
			c.raw[t.in.Off] *= s
			return
		}
		stretch(t.in, c.raw[t.in.Off:t.in.Off+t.in.NumParams()], math.Pow(s, 1/linearDegree(t.in)))
		return
	}
	if t.in.Op == kernelspace.OpAdd {
		for _, a := range t.args {
			c.scale(a, s)
		}
		return
	}
	for _, a := range t.args {
		if c.adjustable(a) {
			c.scale(a, s)
			return
		}
	}
}

// amplify multiplies a term by s whatever is fixed in it; settle must follow.
func amplify(t *term, raw []float64, s float64) {
	switch {
	case t.leaf >= 0:
		raw[t.in.Off] *= s
	case t.in.Op == kernelspace.OpAdd:
		for _, a := range t.args {
			amplify(a, raw, s)
		}
	default:
		amplify(t.args[0], raw, s)
	}
}

// freeVector returns the free vector of raw parameters and a noise variance.
func freeVector(p *kernelspace.Program, raw []float64, noise, floor float64) []float64 {
	x := make([]float64, len(p.Free)+1)
	for i, j := range p.Free {
		x[i] = math.Log(raw[j])
	}
	x[len(p.Free)] = math.Log(math.Max(noise-floor, 1e-3*floor+1e-12*noise+math.SmallestNonzeroFloat64))
	return x
}

// rawParams is the reverse of freeVector.
func rawParams(p *kernelspace.Program, x []float64, floor float64) (raw []float64, noise float64) {
	raw = make([]float64, len(p.Params))
	for i := range raw {
		raw[i] = 1
	}
	for i, j := range p.Free {
		raw[j] = math.Exp(x[i])
	}
	return raw, floor + math.Exp(x[len(p.Free)])
}
