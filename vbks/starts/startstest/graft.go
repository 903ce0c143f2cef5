// Package startstest has what tests of transplants share: kernel spaces with their
// relations, and data to judge by.
package startstest

import (
	"math"
	"math/rand/v2"
	"testing"

	"example.com/kestrel/internal/must"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks/starts"
)

// Graft is a kernel space with its relations, data to judge by, and what makes
// transplants.
type Graft struct {
	*starts.Drawer
	Exprs    []kernelspace.Expr
	Programs []*kernelspace.Program
	Kin      [][]starts.Relation
	X, Y     []float64
	Dim      int
	Floor    float64 // of the noise variance
}

// Inducing is the number of inducing inputs that a Graft's starts are for.
const Inducing = 10

// NewGraft compiles K144, or every kernel of two leaves, for dim columns.
func NewGraft(t *testing.T, depth, dim int) *Graft {
	t.Helper()
	rng := rand.New(rand.NewPCG(30, uint64(dim)))
	g := &Graft{Dim: dim}
	const n = 100
	for range n {
		var f float64
		for c := range dim {
			v := 6*rng.Float64() - 3
			g.X = append(g.X, v)
			f += math.Sin(2*v+float64(c)) / float64(c+1)
		}
		g.Y = append(g.Y, f+0.3*rng.NormFloat64())
	}
	var base []kernelspace.Expr
	for _, text := range []string{"SE", "RQ", "LIN", "PER"} {
		e, err := kernelspace.Parse(text)
		must.OK(t, err)
		base = append(base, e)
	}
	var err error
	g.Exprs, err = kernelspace.Enumerate(base, depth)
	must.OK(t, err)
	for _, e := range g.Exprs {
		p, err := kernelspace.Compile(e, kernelspace.Options{Dim: dim, ARD: dim > 1})
		must.OK(t, err)
		g.Programs = append(g.Programs, p)
	}
	g.Kin = starts.Kinship(g.Exprs)
	scales := starts.Summarise(g.X, g.Y, dim)
	g.Floor = 1e-6 * scales.YVar
	g.Drawer = starts.NewDrawer(g.X, g.Y, dim, starts.Options{Inducing: Inducing, Floor: g.Floor, Scales: scales, Seed: 1})
	return g
}

// Random draws a free vector of a kernel.
func (g *Graft) Random(k int) []float64 {
	rng := rand.New(rand.NewPCG(31, uint64(k)))
	x := g.Draw(g.Programs[k], rng, 0)
	for i := range x {
		x[i] += 0.3 * rng.NormFloat64()
	}
	x[len(x)-1] = math.Log(0.1)
	return x
}

// Row returns a row of the data.
func (g *Graft) Row(i int) []float64 { return g.X[i*g.Dim : (i+1)*g.Dim] }

// Valid checks that a start is one: of the right length and finite.
func (g *Graft) Valid(t *testing.T, taker int, x []float64) {
	t.Helper()
	ok := len(x) == len(g.Programs[taker].Free)+1
	for _, v := range x {
		ok = ok && !math.IsNaN(v) && !math.IsInf(v, 0)
	}
	if !ok {
		t.Fatalf("a start of %s: %v", g.Exprs[taker].ID(), x)
	}
}

// KindOf names the simplification of a general kernel that leaves the special one,
// "" if there is none.
func (g *Graft) KindOf(general, special int) string {
	for _, s := range g.Exprs[general].Simplifications() {
		if s.Expr.ID() == g.Exprs[special].ID() {
			return s.Kind
		}
	}
	return ""
}
