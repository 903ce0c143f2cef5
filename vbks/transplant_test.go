package vbks

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"kestrel/device"
	"kestrel/kernelspace"
	"kestrel/vbks/inducing"
)

// graft is a kernel space with its relations, data to judge by, and what makes
// transplants.
type graft struct {
	*drawer
	exprs    []kernelspace.Expr
	programs []*kernelspace.Program
	kin      [][]relation
	data     Training
	z        []float64
	jitter   device.Jitter
}

// newGraft compiles K144, or every kernel of two leaves, for dim columns.
func newGraft(t *testing.T, depth, dim int) *graft {
	t.Helper()
	rng := rand.New(rand.NewPCG(30, uint64(dim)))
	g := &graft{data: Training{Dim: dim}, jitter: device.Jitter{Relative: 1e-6}}
	const n, m = 100, 10
	for range n {
		var f float64
		for c := range dim {
			v := 6*rng.Float64() - 3
			g.data.X = append(g.data.X, v)
			f += math.Sin(2*v+float64(c)) / float64(c+1)
		}
		g.data.Y = append(g.data.Y, f+0.3*rng.NormFloat64())
	}
	var base []kernelspace.Expr
	for _, c := range candidates(t, "SE", "RQ", "LIN", "PER") {
		base = append(base, c.Expr)
	}
	var err error
	if g.exprs, err = kernelspace.Enumerate(base, depth); err != nil {
		t.Fatal(err)
	}
	for _, e := range g.exprs {
		p, err := kernelspace.Compile(e, kernelspace.Options{Dim: dim, ARD: dim > 1})
		if err != nil {
			t.Fatal(err)
		}
		g.programs = append(g.programs, p)
	}
	g.kin = kinship(g.exprs)
	if g.z, _, err = inducing.Place(g.data.X, dim, m, "auto", 1); err != nil {
		t.Fatal(err)
	}
	scales := Summarise(g.data.X, g.data.Y, dim)
	g.drawer = newDrawer(g.data, m, 1e-6*scales.YVar, columnPeriods(g.data, 1), scales)
	return g
}

// judge computes the collapsed bound of any of the space's kernels, without
// priors, and climbs it a little.
func (g *graft) judge(t *testing.T) (bound func(k int, x []float64) float64, climb func(k int, x []float64) []float64) {
	t.Helper()
	b, rows := testBound(t, g.programs, g.data.X, g.data.Y, g.z, g.data.Dim, g.jitter, g.floor)
	obj := b.boundValue(rows, sumSquares(g.data.Y), nil)
	climb = func(k int, x []float64) []float64 {
		a := &ascent{start: x}
		if err := ascend(context.Background(), nil, []int{k}, []*ascent{a}, 12, b.boundObjective(rows, sumSquares(g.data.Y), nil)); err != nil {
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
			t.Fatalf("%s at %v: %v, %v", g.exprs[k].ID(), x, ok, err)
		}
		return v
	}
	return bound, climb
}

// random draws a free vector of a kernel.
func (g *graft) random(k int) []float64 {
	rng := rand.New(rand.NewPCG(31, uint64(k)))
	x := g.draw(g.programs[k], rng, 0)
	for i := range x {
		x[i] += 0.3 * rng.NormFloat64()
	}
	x[len(x)-1] = math.Log(0.1)
	return x
}

func (g *graft) row(i int) []float64 { return g.data.X[i*g.data.Dim : (i+1)*g.data.Dim] }

// valid checks that a start is one: of the right length and finite.
func (g *graft) valid(t *testing.T, taker int, x []float64) {
	t.Helper()
	if len(x) != len(g.programs[taker].Free)+1 || !finite(x) {
		t.Fatalf("a start of %s: %v", g.exprs[taker].ID(), x)
	}
}

// kindOf names the simplification that a lift reverses.
func (g *graft) kindOf(taker int, r relation) string {
	for _, s := range g.exprs[taker].Simplifications() {
		if s.Expr.ID() == g.exprs[r.from].ID() {
			return s.Kind
		}
	}
	return ""
}

// flatPart reports whether the leaves that the giver lacks can be made
// constant: none is LIN.
func (g *graft) flatPart(taker int, r relation) bool {
	all := g.exprs[taker].Leaves()
	for i, j := range r.pairs {
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
		g := newGraft(t, c.depth, c.dim)
		bound, climb := g.judge(t)
		counted := map[string]int{}
		given := map[int][]float64{} // solutions
		for taker := range g.exprs {
			for _, r := range g.kin[taker] {
				if r.kind != lift || (taker+r.from)%4 != 0 && c.depth > 2 {
					continue // a quarter of K144's pairs will do
				}
				kind := g.kindOf(taker, r)
				if kind == kernelspace.DropFactor && !g.flatPart(taker, r) {
					continue
				}
				counted[kind]++
				if given[r.from] == nil {
					given[r.from] = climb(r.from, g.random(r.from))
				}
				x := given[r.from]
				var own []float64
				if counted[kind]%2 == 0 {
					own = g.random(taker)
				}
				starts := g.transplant(r, g.programs[r.from], g.programs[taker], x, own, rand.New(rand.NewPCG(1, 1)))
				if len(starts) < 2 {
					t.Fatalf("%s to %s: %d starts", r.label, g.exprs[taker].ID(), len(starts))
				}
				for _, s := range starts {
					g.valid(t, taker, s)
				}
				from, noise := rawParams(g.programs[r.from], x, g.floor)
				to, kept := rawParams(g.programs[taker], starts[0], g.floor)
				if math.Abs(kept-noise) > 1e-9*noise {
					t.Errorf("%s to %s: noise %g became %g", r.label, g.exprs[taker].ID(), noise, kept)
				}
				// What may differ: a summand's hundredth of the noise (on the mean: LIN
				// has up to some four times as much at the ends); a factor's departure
				// from 1 over the span, 2/50² in every column; and RQ's from SE,
				// z²/2α e^{−z} <= .28/α of the variance.
				var largest, most float64
				for i := 0; i < 100; i += 7 {
					largest = math.Max(largest, math.Abs(g.programs[r.from].Eval(from, g.row(i), g.row(i), true)))
				}
				for i := 0; i < 100; i += 7 {
					for j := 0; j < 100; j += 9 {
						a := g.programs[r.from].Eval(from, g.row(i), g.row(j), i == j)
						b := g.programs[taker].Eval(to, g.row(i), g.row(j), i == j)
						most = math.Max(most, math.Abs(a-b))
					}
				}
				allowed := map[string]float64{
					kernelspace.DropSum:    0.05 * noise,
					kernelspace.DropFactor: 4 * 2.0 / 2500 * float64(c.dim) * largest,
					kernelspace.RQToSE:     0.3 / 1000 * largest,
				}[kind]
				if kind == kernelspace.DropSum && !g.exprs[taker].IsSum() {
					// The summand's share is of the whole's mean, but it counts where the
					// other factor is large.
					allowed *= 5
				}
				if most > allowed {
					t.Errorf("%s to %s: covariances differ by %.3g, up to %.3g expected", r.label, g.exprs[taker].ID(), most, allowed)
				}
				// A hundredth of the noise costs half a nat in the determinant and half a
				// nat in the trace; what a factor changes counts as so much noise.
				loss := 1.5
				if kind == kernelspace.DropFactor {
					loss += 100 * most / (2 * noise)
				}
				if got, had := bound(taker, starts[0]), bound(r.from, x); got < had-loss {
					t.Errorf("%s to %s: bound %.3f from %.3f, up to %.2f less expected", r.label, g.exprs[taker].ID(), got, had, loss)
				}
			}
		}
		if counted[kernelspace.DropSum] < 10 || counted[kernelspace.DropFactor] < 8 || counted[kernelspace.RQToSE] < 3 {
			t.Errorf("dim %d: too few lifts tried: %v", c.dim, counted)
		}
	}
}

// Kinship of K144 holds all its nested pairs, both ways, nearest kind first,
// and pairs leaves that belong together.
func TestKinship(t *testing.T) {
	g := newGraft(t, 3, 1)
	has := func(taker, giver int, kind relationKind) bool {
		return slices.ContainsFunc(g.kin[taker], func(r relation) bool { return r.from == giver && r.kind == kind })
	}
	pairs := kernelspace.NestedPairs(g.exprs)
	if len(pairs) != 281 {
		t.Fatalf("%d nested pairs, K144 has 281", len(pairs))
	}
	for _, p := range pairs {
		if !has(p.General, p.Special, lift) || !has(p.Special, p.General, restriction) {
			t.Errorf("%s and %s are not related both ways", g.exprs[p.General].ID(), g.exprs[p.Special].ID())
		}
	}
	for taker, relations := range g.kin {
		if !slices.IsSortedFunc(relations, func(a, b relation) int { return int(a.kind) - int(b.kind) }) {
			t.Errorf("relations of %s are not in order", g.exprs[taker].ID())
		}
		to := g.exprs[taker].Leaves()
		for _, r := range relations {
			from := g.exprs[r.from].Leaves()
			if r.from == taker || r.label != g.exprs[r.from].ID() || len(r.pairs) != len(to) {
				t.Errorf("%s: relation %+v", g.exprs[taker].ID(), r)
			}
			missing, different := 0, 0
			used := map[int]bool{}
			for i, j := range r.pairs {
				switch {
				case j < 0:
					missing++
				case used[j] || j >= len(from):
					t.Errorf("%s from %s: leaves %v", g.exprs[taker].ID(), r.label, r.pairs)
				default:
					used[j] = true
					if from[j].ID() != to[i].ID() {
						different++
					}
				}
			}
			switch r.kind {
			case lift, restriction:
				if missing != max(0, len(to)-len(from)) || different > 1 || different == 1 && len(to) != len(from) {
					t.Errorf("%s from %s: leaves %v", g.exprs[taker].ID(), r.label, r.pairs)
				}
			case replacement:
				if missing != 0 || different != 1 || len(to) != len(from) {
					t.Errorf("%s from %s: leaves %v", g.exprs[taker].ID(), r.label, r.pairs)
				}
			}
		}
	}
}

// A restriction is the giver without its part: without the summand, with RQ's
// shape grown beyond all bounds, without the factor up to a constant.
func TestRestrictionsDropThePart(t *testing.T) {
	for _, c := range []struct{ depth, dim int }{{3, 1}, {2, 2}} {
		g := newGraft(t, c.depth, c.dim)
		counted := map[string]int{}
		for taker := range g.exprs {
			for _, r := range g.kin[taker] {
				if r.kind != restriction {
					continue
				}
				giver, p := g.programs[r.from], g.programs[taker]
				x := g.random(r.from)
				var own []float64
				if taker%2 == 0 {
					own = g.random(taker)
				}
				starts := g.transplant(r, giver, p, x, own, rand.New(rand.NewPCG(2, 1)))
				if len(starts) != 1 {
					t.Fatalf("%s from %s: %d starts", g.exprs[taker].ID(), r.label, len(starts))
				}
				g.valid(t, taker, starts[0])
				from, noise := rawParams(giver, x, g.floor)
				to, kept := rawParams(p, starts[0], g.floor)
				if math.Abs(kept-noise) > 1e-9*noise {
					t.Errorf("%s from %s: noise %g became %g", g.exprs[taker].ID(), r.label, noise, kept)
				}
				kind := g.kindOf(r.from, relation{from: taker})
				counted[kind]++
				if kind == kernelspace.DropFactor {
					continue
				}
				// What the giver is without the part, by its own covariance function.
				for j, in := range leaves(giver) {
					i := slices.Index(r.pairs, j)
					if i < 0 {
						from[in.Off] = 0
					} else if in.Op == kernelspace.OpRQ && leaves(p)[i].Op == kernelspace.OpSE {
						from[in.Off+1+in.NumScale] = 1e12
					}
				}
				for i := 0; i < 100; i += 9 {
					for j := 0; j < 100; j += 11 {
						want := giver.Eval(from, g.row(i), g.row(j), i == j)
						got := p.Eval(to, g.row(i), g.row(j), i == j)
						if math.Abs(got-want) > 1e-8*(1e-3+math.Abs(want)) {
							t.Fatalf("%s from %s: covariance %.10g, want %.10g", g.exprs[taker].ID(), r.label, got, want)
						}
					}
				}
			}
		}
		if counted[kernelspace.DropSum] < 20 || counted[kernelspace.DropFactor] < 20 || counted[kernelspace.RQToSE] < 10 {
			t.Errorf("dim %d: too few restrictions tried: %v", c.dim, counted)
		}
	}
}

// A replacement keeps what the kernels share: the other leaves entirely, and of
// leaves that are both functions of r/ℓ variance and length scale.
func TestReplacementsKeepTheRest(t *testing.T) {
	for _, dim := range []int{1, 2} {
		g := newGraft(t, 2, dim)
		tried, radials := 0, 0
		for taker := range g.exprs {
			for _, r := range g.kin[taker] {
				if r.kind != replacement {
					continue
				}
				tried++
				giver, p := g.programs[r.from], g.programs[taker]
				x := g.random(r.from)
				starts := g.transplant(r, giver, p, x, g.random(taker), rand.New(rand.NewPCG(3, 1)))
				if len(starts) == 0 {
					t.Fatalf("%s from %s: no start", g.exprs[taker].ID(), r.label)
				}
				for _, s := range starts {
					g.valid(t, taker, s)
				}
				from, _ := rawParams(giver, x, g.floor)
				to, _ := rawParams(p, starts[0], g.floor)
				before, after := leaves(giver), leaves(p)
				same := true
				for i, j := range r.pairs {
					a, b := before[j], after[i]
					if a.Op != b.Op && !(radial(a.Op) && radial(b.Op)) {
						same = false
						continue
					}
					// Amplitudes may move between leaves; length scales and periods of
					// leaves that are not linear may not.
					if linear(a) {
						continue
					}
					for s := range a.NumScale + a.NumPeriod {
						if a.Op == b.Op || s < a.NumScale {
							if u, v := from[a.Off+1+s], to[b.Off+1+s]; math.Abs(u-v) > 1e-9*u {
								t.Errorf("%s from %s: %g became %g", g.exprs[taker].ID(), r.label, u, v)
							}
						}
					}
				}
				if same {
					// Only one radial leaf's shape differs: k(x,x) is as it was.
					radials++
					for i := 0; i < 100; i += 9 {
						u, v := giver.Eval(from, g.row(i), g.row(i), true), p.Eval(to, g.row(i), g.row(i), true)
						if math.Abs(u-v) > 1e-9*math.Abs(u) {
							t.Fatalf("%s from %s: k(x,x) %g became %g", g.exprs[taker].ID(), r.label, u, v)
						}
					}
				}
			}
		}
		if tried < 50 || radials < 5 {
			t.Errorf("dim %d: %d replacements, %d of radial leaves", dim, tried, radials)
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
			} else if k.Source != "fresh" && k.Source != "shaken" {
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
