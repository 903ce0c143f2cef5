package starts

import (
	"math"
	"slices"

	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks/params"
)

const (
	// What is hidden is so many standard deviations of the prior from its mean: an amplitude
	// below it, a length above.
	hiddenSDs = 2.5
	// Of so many parts at most also two at a time are hidden.
	fewParts = 3
)

// Hidden makes of a solution those in which a part of the kernel is as good as not there: a
// summand by its amplitude, a stationary factor by its length. Everything else of that part has the
// prior's mean. What remains of the kernel has to explain the data then, and where it can
// the part may be anything. mean and prec are the prior's, prec 0 where there is none.
func Hidden(p *kernelspace.Program, x, mean, prec []float64) [][]float64 {
	p = p.Own()
	parts := hideable(p)
	hide := func(x []float64, h hiding) []float64 {
		y, changed := slices.Clone(x), false
		for i, j := range p.Free {
			q := &p.Params[j]
			if prec[i] == 0 || !slices.Contains(h.leaves, q.Leaf) {
				continue
			}
			y[i] = mean[i]
			if q.Leaf == h.leaves[0] && q.Name == h.name {
				y[i], changed = mean[i]+h.side*hiddenSDs/math.Sqrt(prec[i]), true
			} else if q.Name == "variance" && !h.amplitude {
				y[i] = x[i] // of the product that it is a factor of
			}
		}
		if !changed {
			return nil
		}
		return y
	}
	var out [][]float64
	for a, h := range parts {
		y := hide(x, h)
		if y == nil {
			continue
		}
		out = append(out, y)
		if len(parts) > fewParts {
			continue
		}
		for _, other := range parts[a+1:] {
			if overlap(h.leaves, other.leaves) || len(h.leaves)+len(other.leaves) >= len(params.Leaves(p)) {
				continue
			}
			if z := hide(y, other); z != nil {
				out = append(out, z)
			}
		}
	}
	return out
}

// hiding is how a part is hidden: by a parameter of its first leaf.
type hiding struct {
	leaves    []int
	name      string
	side      float64
	amplitude bool
}

// hideable are the parts of a kernel that can be hidden.
func hideable(p *kernelspace.Program) (out []hiding) {
	var walk func(t *params.Term)
	walk = func(t *params.Term) {
		for _, a := range t.Summands() {
			out = append(out, hiding{leaves: a.Leaves, name: "variance", side: -1, amplitude: true})
		}
		if t.In.Op == kernelspace.OpMul {
			for _, a := range t.Args {
				if a.Leaf >= 0 && !params.Linear(a.In) {
					out = append(out, hiding{leaves: a.Leaves, name: "lengthscale", side: 1})
				}
			}
		}
		for _, a := range t.Args {
			walk(a)
		}
	}
	walk(params.Tree(p))
	return out
}

func overlap(a, b []int) bool {
	return slices.ContainsFunc(a, func(v int) bool { return slices.Contains(b, v) })
}
