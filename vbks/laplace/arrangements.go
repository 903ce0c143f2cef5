package laplace

import (
	"gonum.org/v1/gonum/mat"

	"example.com/kestrel/kernelspace"
)

// oneMode is how many standard deviations apart two modes at least are that are two.
const oneMode = 2

// arrangements counts the modes that exchanging equal terms of sums and factors of
// products makes of one: m! for m of them, where the mode has them apart. h are minus
// the second derivatives in units of the prior's standard deviations. Where terms have
// amplitudes that are measured against others the modes are equal but for their prior.
func (c *curvature) arrangements(h mat.Symmetric) float64 {
	count := 1.0
	var visit func(e kernelspace.Expr, first int)
	visit = func(e kernelspace.Expr, first int) {
		if e.IsChange() { // A and B are not alike: one lies before the place
			for _, t := range e.Terms() {
				first++ // behind the step, then behind A
				visit(t, first)
				first += t.NumLeaves() - 1
			}
			return
		}
		var terms []kernelspace.Expr
		var leaves []int // the first one of each
		for _, t := range e.Terms() {
			visit(t, first)
			alike, near := 1, 1 // it among those before
			for i, other := range terms {
				if other.Equal(t) && c.alike(leaves[i], first, t.NumLeaves()) {
					alike++
					if !c.apart(h, leaves[i], first, t.NumLeaves()) {
						near++
					}
				}
			}
			count *= float64(alike) / float64(near)
			terms, leaves = append(terms, t), append(leaves, first)
			first += t.NumLeaves()
		}
	}
	visit(c.Program.Own().Expr, 0)
	return count
}

// alike reports whether two equal terms of so many leaves have the same priors, and the
// same is known of them.
func (c *curvature) alike(a, b, leaves int) bool {
	if !knownAlike(c.Program, exchange(c.Program, a, b, leaves)) {
		return false
	}
	bt := c.entries(b, leaves)
	for i, j := range c.entries(a, leaves) {
		if j >= 0 && bt[i] >= 0 && !(Prior{c.Mean, c.Prec}).alike(j, bt[i]) {
			return false
		}
	}
	return true
}

// apart reports whether exchanging two equal terms of so many leaves, the first of
// which are a and b, leads to another mode.
func (c *curvature) apart(h mat.Symmetric, a, b, leaves int) bool {
	at, bt := c.entries(a, leaves), c.entries(b, leaves)
	delta := mat.NewVecDense(len(c.X), nil)
	plain := 0.0
	for i := range at {
		if at[i] < 0 || bt[i] < 0 {
			continue // an amplitude that one of them has for both
		}
		d := c.X[bt[i]] - c.X[at[i]]
		delta.SetVec(at[i], d*c.unit(at[i]))
		delta.SetVec(bt[i], -d*c.unit(bt[i]))
	}
	for i := range delta.Len() {
		plain += delta.AtVec(i) * delta.AtVec(i)
	}
	return max(plain, mat.Inner(delta, h, delta)) > oneMode*oneMode
}

// entries are the places in the free vector of the parameters of some leaves, −1 of
// those that are not free.
func (c *curvature) entries(first, leaves int) (out []int) {
	place := map[int]int{}
	for i, j := range c.Program.Free {
		place[j] = i
	}
	for j, p := range c.Program.Params {
		if p.Leaf < first || p.Leaf >= first+leaves {
			continue
		}
		at, free := place[j]
		if !free {
			at = -1
		}
		out = append(out, at)
	}
	return out
}
