package params

import (
	"math"

	"example.com/kestrel/kernelspace"
)

// canonicaliser brings raw parameters with arbitrary amplitudes to the form in
// which a program's fixed parameters are 1, leaving the kernel what it is.
type canonicaliser struct {
	p   *kernelspace.Program
	raw []float64
}

// Settle makes every fixed parameter of raw 1 and moves its effect into the
// free amplitudes. A program always has one, so nothing is lost.
func Settle(p *kernelspace.Program, raw []float64) {
	c := canonicaliser{p, raw}
	t := Tree(p)
	c.scale(t, c.fix(t))
}

func (c canonicaliser) free(i int) bool { return c.p.Params[i].Free }

// Linear reports whether the length scales of a leaf only scale it.
func Linear(in *kernelspace.Instr) bool {
	return in.Op == kernelspace.OpLIN || in.Op == kernelspace.OpPoly
}

// adjustable reports whether a free parameter scales the whole term.
func (c canonicaliser) adjustable(t *Term) bool {
	switch {
	case t.Leaf >= 0:
		in := t.In
		return c.free(in.Off) || Linear(in) && in.NumScale > 0 && c.free(in.Off+1)
	case t.In.Op != kernelspace.OpMul:
		for _, a := range t.Summands() {
			if !c.adjustable(a) {
				return false
			}
		}
		return true
	default:
		for _, a := range t.Args {
			if c.adjustable(a) {
				return true
			}
		}
		return false
	}
}

// fix makes the fixed parameters in t equal to 1 and returns the factor by
// which the term has thereby shrunk.
func (c canonicaliser) fix(t *Term) float64 {
	if t.Leaf >= 0 {
		return c.fixLeaf(t.In)
	}
	if t.In.Op == kernelspace.OpMul {
		r := 1.0
		for _, a := range t.Args {
			r *= c.fix(a)
		}
		for _, a := range t.Args {
			if c.adjustable(a) {
				c.scale(a, r)
				return 1
			}
		}
		return r
	}
	summands := t.Summands()
	factors := make([]float64, len(summands))
	fixed := -1
	for i, a := range summands {
		factors[i] = c.fix(a)
		if !c.adjustable(a) {
			fixed = i
		}
	}
	if fixed < 0 {
		return 1
	}
	for i, a := range summands {
		if i != fixed {
			c.scale(a, factors[i]/factors[fixed])
		}
	}
	return factors[fixed]
}

func (c canonicaliser) fixLeaf(in *kernelspace.Instr) float64 {
	raw := c.raw[in.Off : in.Off+in.NumParams()]
	if Linear(in) && in.NumScale > 0 && !c.free(in.Off+1) {
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
	if Linear(in) && in.NumScale > 0 && c.free(in.Off+1) {
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
func (c canonicaliser) scale(t *Term, s float64) {
	if s == 1 {
		return
	}
	if t.Leaf >= 0 {
		if c.free(t.In.Off) {
			c.raw[t.In.Off] *= s
			return
		}
		stretch(t.In, c.raw[t.In.Off:t.In.Off+t.In.NumParams()], math.Pow(s, 1/linearDegree(t.In)))
		return
	}
	if t.In.Op != kernelspace.OpMul {
		for _, a := range t.Summands() {
			c.scale(a, s)
		}
		return
	}
	for _, a := range t.Args {
		if c.adjustable(a) {
			c.scale(a, s)
			return
		}
	}
}
