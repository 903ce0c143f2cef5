package kernelspace_test

import (
	"math"
	"slices"
	"testing"

	"example.com/kestrel/internal/must"
	"example.com/kestrel/kernelspace"
)

// Two products that have the same leaf are one of that leaf and a sum where it is the same function of both, entry by entry;
// either's leaf may stand for both, and what stands beside them stays. Without such leaves there is none.
func TestSharedLeaves(t *testing.T) {
	for _, c := range []struct {
		expr, want string
		ways       int
	}{
		{"PER*RQ+PER*RQ", "(RQ+RQ)*PER", 2},
		{"PER*RQ+PER*RQ", "(PER+PER)*RQ", 2},
		{"(PER*RQ+PER*RQ)*RQ", "(PER+PER)*RQ*RQ", 2},
		{"PER*LIN+SE*LIN+RQ", "(PER+SE)*LIN+RQ", 2},
		{"PER*LIN+SE*RQ+LIN", "", 0},
		{"PER+PER*LIN", "", 0},
	} {
		e, err := kernelspace.Parse(c.expr)
		must.OK(t, err)
		e = e.Canonical()
		program := func(e kernelspace.Expr) *kernelspace.Program {
			p, err := kernelspace.Compile(e, kernelspace.Options{Dim: 1})
			must.OK(t, err)
			return p
		}
		from := program(e)
		ways := 0
		for _, s := range e.Simplifications() {
			if s.Kind != kernelspace.Shared {
				continue
			}
			if c.want == "" {
				t.Errorf("%s shares a leaf: %s", c.expr, s.Expr.ID())
				continue
			}
			want, err := kernelspace.Parse(c.want)
			must.OK(t, err)
			if !s.Expr.Equal(want.Canonical()) {
				continue
			}
			ways++
			if leaves := e.Leaves(); len(s.Dropped) != 1 || !leaves[s.Dropped[0]].Equal(leaves[s.Kept]) || !slices.Contains(s.Leaves, s.Kept) {
				t.Fatalf("%s to %s: %+v", c.expr, s.Expr.ID(), s)
			}
			// Hyperparameters by leaf, the one that is gone as the one that stands for it.
			to := program(s.Expr)
			of := make([][]float64, e.NumLeaves())
			for i := range of {
				of[i] = []float64{1, 0.4 + 0.3*float64(i), 0.9 + 0.2*float64(i)}
			}
			of[s.Dropped[0]] = of[s.Kept]
			lay := func(p *kernelspace.Program, leaf func(i int) int) []float64 {
				raw := make([]float64, len(p.Params))
				at := map[int]int{}
				for j, q := range p.Params {
					raw[j] = of[leaf(q.Leaf)][min(at[q.Leaf], 2)]
					at[q.Leaf]++
					if q.Base == "LIN" {
						raw[j] = 1
					}
				}
				return raw
			}
			a, b := lay(from, func(i int) int { return i }), lay(to, func(i int) int { return s.Leaves[i] })
			for _, x := range []float64{-1.3, 0.2, 2.1} {
				for _, y := range []float64{-0.7, 0.9} {
					k, l := from.Eval(a, []float64{x}, []float64{y}, false), to.Eval(b, []float64{x}, []float64{y}, false)
					if math.Abs(k-l) > 1e-12*(1+math.Abs(k)) {
						t.Errorf("%s is %v, %s %v", c.expr, k, s.Expr.ID(), l)
					}
				}
			}
		}
		if ways != c.ways {
			t.Errorf("%s becomes %s in %d ways, not %d", c.expr, c.want, ways, c.ways)
		}
	}
}
