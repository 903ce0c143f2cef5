package vbks

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"example.com/kestrel/device"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks/inducing"
	"example.com/kestrel/vbks/params"
	"example.com/kestrel/vbks/starts"
	"example.com/kestrel/vbks/starts/startstest"
)

// judge computes the collapsed bound of any of a graft's kernels, without
// priors, and climbs it a little.
func judge(t *testing.T, g *startstest.Graft) (bound func(k int, x []float64) float64, climb func(k int, x []float64) []float64) {
	t.Helper()
	z, _, err := inducing.Place(g.X, g.Dim, startstest.Inducing, "auto", 1)
	if err != nil {
		t.Fatal(err)
	}
	b, rows := testBound(t, g.Programs, g.X, g.Y, z, g.Dim, device.Jitter{Relative: 1e-6}, g.Floor)
	obj := b.boundValue(rows, sumSquares(g.Y), nil)
	climb = func(k int, x []float64) []float64 {
		a := &ascent{start: x}
		if err := ascend(context.Background(), nil, []int{k}, []*ascent{a}, 12, b.boundObjective(rows, sumSquares(g.Y), nil)); err != nil {
			t.Fatal(err)
		}
		return a.x
	}
	bound = func(k int, x []float64) float64 {
		if err := obj.eval([]int{k}, [][]float64{x}); err != nil {
			t.Fatal(err)
		}
		v, ok, err := obj.result(k, nil)
		if err != nil || !ok {
			t.Fatalf("%s at %v: %v, %v", g.Exprs[k].ID(), x, ok, err)
		}
		return v
	}
	return bound, climb
}

// flatPart reports whether the leaves that the giver lacks can be made
// constant: none is LIN.
func flatPart(g *startstest.Graft, taker int, r starts.Relation) bool {
	all := g.Exprs[taker].Leaves()
	for i, j := range r.Pairs {
		if j < 0 && all[i].Base() == "LIN" {
			return false
		}
	}
	return true
}

// The first start of a lift is the giver's solution in the taker's form: the
// covariance function is the same but for what vanishes, and so is the bound.
func TestLiftsKeepTheBound(t *testing.T) {
	for _, c := range []struct{ depth, dim int }{{3, 1}, {2, 2}} {
		g := startstest.NewGraft(t, c.depth, c.dim)
		bound, climb := judge(t, g)
		counted := map[string]int{}
		given := map[int][]float64{} // solutions
		for taker := range g.Exprs {
			for _, r := range g.Kin[taker] {
				if r.Kind != starts.Lift || (taker+r.From)%4 != 0 && c.depth > 2 {
					continue // a quarter of K144's pairs will do
				}
				kind := g.KindOf(taker, r.From)
				if kind == kernelspace.DropFactor && !flatPart(g, taker, r) {
					continue
				}
				counted[kind]++
				if given[r.From] == nil {
					given[r.From] = climb(r.From, g.Random(r.From))
				}
				x := given[r.From]
				var own []float64
				if counted[kind]%2 == 0 {
					own = g.Random(taker)
				}
				starts := g.Transplant(r, g.Programs[r.From], g.Programs[taker], x, own, rand.New(rand.NewPCG(1, 1)))
				if len(starts) < 2 {
					t.Fatalf("%s to %s: %d starts", r.Label, g.Exprs[taker].ID(), len(starts))
				}
				for _, s := range starts {
					g.Valid(t, taker, s)
				}
				from, noise := params.Raw(g.Programs[r.From], x, g.Floor)
				to, kept := params.Raw(g.Programs[taker], starts[0], g.Floor)
				if math.Abs(kept-noise) > 1e-9*noise {
					t.Errorf("%s to %s: noise %g became %g", r.Label, g.Exprs[taker].ID(), noise, kept)
				}
				// What may differ: a summand's hundredth of the noise (on the mean: LIN
				// has up to some four times as much at the ends); a factor's departure
				// from 1 over the span, 2/50² in every column; and RQ's from SE,
				// z²/2α e^{−z} <= .28/α of the variance.
				var largest, most float64
				for i := 0; i < 100; i += 7 {
					largest = math.Max(largest, math.Abs(g.Programs[r.From].Eval(from, g.Row(i), g.Row(i), true)))
				}
				for i := 0; i < 100; i += 7 {
					for j := 0; j < 100; j += 9 {
						a := g.Programs[r.From].Eval(from, g.Row(i), g.Row(j), i == j)
						b := g.Programs[taker].Eval(to, g.Row(i), g.Row(j), i == j)
						most = math.Max(most, math.Abs(a-b))
					}
				}
				allowed := map[string]float64{
					kernelspace.DropSum:    0.05 * noise,
					kernelspace.DropFactor: 4 * 2.0 / 2500 * float64(c.dim) * largest,
					kernelspace.RQToSE:     0.3 / 1000 * largest,
				}[kind]
				if kind == kernelspace.DropSum && !g.Exprs[taker].IsSum() {
					// The summand's share is of the whole's mean, but it counts where the
					// other factor is large.
					allowed *= 5
				}
				if most > allowed {
					t.Errorf("%s to %s: covariances differ by %.3g, up to %.3g expected", r.Label, g.Exprs[taker].ID(), most, allowed)
				}
				// A hundredth of the noise costs half a nat in the determinant and half a
				// nat in the trace; what a factor changes counts as so much noise.
				loss := 1.5
				if kind == kernelspace.DropFactor {
					loss += 100 * most / (2 * noise)
				}
				if got, had := bound(taker, starts[0]), bound(r.From, x); got < had-loss {
					t.Errorf("%s to %s: bound %.3f from %.3f, up to %.2f less expected", r.Label, g.Exprs[taker].ID(), got, had, loss)
				}
			}
		}
		if counted[kernelspace.DropSum] < 10 || counted[kernelspace.DropFactor] < 8 || counted[kernelspace.RQToSE] < 3 {
			t.Errorf("dim %d: too few lifts tried: %v", c.dim, counted)
		}
	}
}

// In a run, no kernel ends more than a few nats below a special case of itself
// once transplants are made, and solutions say from where they came.
func TestTransplantsOrderNestedKernels(t *testing.T) {
	data := trainingSeries(8, 120)
	space := []string{"PER*LIN+SE", "PER*LIN", "LIN*SE", "PER*SE", "PER*RQ", "PER*LIN+RQ", "SE", "RQ", "LIN", "PER",
		"LIN+SE", "LIN+RQ", "PER+LIN", "PER+SE", "PER+LIN+SE", "LIN*SE+SE"}
	s := quickSettings("collapsed")
	// Few starts and iterations, so that there is something to mend.
	s.Starts, s.EvaluateEvery, s.ThetaPrior = 1, 1, false
	ids := map[string]bool{}
	worst := func(transplants bool) (worst float64, sources int) {
		s.Transplants = transplants
		tr := trainerOn(t, 1, nil, data, s, space...)
		e := next(t, tr)
		var exprs []kernelspace.Expr
		for _, k := range tr.kernels {
			ids[k.id] = true
			exprs = append(exprs, k.expr)
		}
		for _, p := range kernelspace.NestedPairs(exprs) {
			worst = math.Max(worst, e.Kernels[p.Special].ELBO-e.Kernels[p.General].ELBO)
		}
		for _, k := range e.Kernels {
			if ids[k.Source] && k.Source != k.ID {
				sources++
			} else if !slices.Contains([]string{"fresh", "shaken", "left", "varied"}, k.Source) {
				t.Errorf("%s comes from %q", k.ID, k.Source)
			}
		}
		return worst, sources
	}
	without, none := worst(false)
	with, some := worst(true)
	if with > 1 {
		t.Errorf("a kernel is %.2f nats below a special case of itself (%.2f without transplants)", with, without)
	}
	if none != 0 || some == 0 {
		t.Errorf("%d solutions are transplants where there are none, %d where there are", none, some)
	}
	t.Logf("worst %.2f without, %.2f with %d transplants", without, with, some)
}
