package starts_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"example.com/kestrel/kernelspace"
	"example.com/kestrel/kernelspace/kernelspacetest"
	"example.com/kestrel/vbks/params"
	"example.com/kestrel/vbks/starts"
	"example.com/kestrel/vbks/starts/startstest"
)

// radial reports whether a leaf of the grafts' spaces is a function of r/ℓ.
func radial(in *kernelspace.Instr) bool {
	return in.Op == kernelspace.OpSE || in.Op == kernelspace.OpRQ
}

// A restriction is the giver without its part: without the summand, with RQ's
// shape grown beyond all bounds, without the factor up to a constant.
func TestRestrictionsDropThePart(t *testing.T) {
	for _, c := range []struct{ depth, dim int }{{3, 1}, {2, 2}} {
		g := startstest.NewGraft(t, c.depth, c.dim)
		counted := map[string]int{}
		for taker := range g.Exprs {
			for _, r := range g.Kin[taker] {
				if r.Kind != starts.Restriction {
					continue
				}
				giver, p := g.Programs[r.From], g.Programs[taker]
				x := g.Random(r.From)
				var own []float64
				if taker%2 == 0 {
					own = g.Random(taker)
				}
				starts := g.Transplant(r, giver, p, x, own, rand.New(rand.NewPCG(2, 1)))
				if len(starts) != 1 {
					t.Fatalf("%s from %s: %d starts", g.Exprs[taker].ID(), r.Label, len(starts))
				}
				g.Valid(t, taker, starts[0])
				from, noise := params.Raw(giver, x, g.Floor)
				to, kept := params.Raw(p, starts[0], g.Floor)
				if math.Abs(kept-noise) > 1e-9*noise {
					t.Errorf("%s from %s: noise %g became %g", g.Exprs[taker].ID(), r.Label, noise, kept)
				}
				kind := g.KindOf(r.From, taker)
				counted[kind]++
				if kind == kernelspace.DropFactor {
					continue
				}
				// What the giver is without the part, by its own covariance function.
				for j, in := range params.Leaves(giver) {
					i := slices.Index(r.Pairs, j)
					if i < 0 {
						from[in.Off] = 0
					} else if in.Op == kernelspace.OpRQ && params.Leaves(p)[i].Op == kernelspace.OpSE {
						from[in.Off+1+in.NumScale] = 1e12
					}
				}
				for i := 0; i < 100; i += 9 {
					for j := 0; j < 100; j += 11 {
						want := giver.Eval(from, g.Row(i), g.Row(j), i == j)
						got := p.Eval(to, g.Row(i), g.Row(j), i == j)
						if math.Abs(got-want) > 1e-8*(1e-3+math.Abs(want)) {
							t.Fatalf("%s from %s: covariance %.10g, want %.10g", g.Exprs[taker].ID(), r.Label, got, want)
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
// Where RQ takes what SE has found, its shape is tried from nearly SE's down, each another.
func TestShapesOfWidenedKernelsDiffer(t *testing.T) {
	g := startstest.NewGraft(t, 2, 1)
	tried := 0
	for taker := range g.Exprs {
		p := g.Programs[taker]
		for _, r := range g.Kin[taker] {
			giver := g.Programs[r.From]
			before, after := params.Leaves(giver), params.Leaves(p)
			widened := slices.IndexFunc(after, func(in *kernelspace.Instr) bool { return in.Op == kernelspace.OpRQ })
			if widened < 0 || r.Pairs[widened] < 0 || before[r.Pairs[widened]].Op != kernelspace.OpSE || r.Kind != starts.Replacement {
				continue
			}
			tried++
			in := after[widened]
			last := math.Inf(1)
			for _, s := range g.Transplant(r, giver, p, g.Random(r.From), nil, rand.New(rand.NewPCG(4, 1))) {
				raw, _ := params.Raw(p, s, g.Floor)
				shape := raw[in.Off+1+in.NumScale]
				if !(shape < last/2) {
					t.Errorf("%s from %s: a shape of %g after one of %g", g.Exprs[taker].ID(), r.Label, shape, last)
				}
				last = shape
			}
		}
	}
	if tried == 0 {
		t.Error("nothing was tried")
	}
}

func TestReplacementsKeepTheRest(t *testing.T) {
	for _, dim := range []int{1, 2} {
		g := startstest.NewGraft(t, 2, dim)
		tried, radials := 0, 0
		for taker := range g.Exprs {
			for _, r := range g.Kin[taker] {
				if r.Kind != starts.Replacement {
					continue
				}
				tried++
				giver, p := g.Programs[r.From], g.Programs[taker]
				x := g.Random(r.From)
				starts := g.Transplant(r, giver, p, x, g.Random(taker), rand.New(rand.NewPCG(3, 1)))
				if len(starts) == 0 {
					t.Fatalf("%s from %s: no start", g.Exprs[taker].ID(), r.Label)
				}
				for _, s := range starts {
					g.Valid(t, taker, s)
				}
				from, _ := params.Raw(giver, x, g.Floor)
				to, _ := params.Raw(p, starts[0], g.Floor)
				before, after := params.Leaves(giver), params.Leaves(p)
				same := true
				for i, j := range r.Pairs {
					a, b := before[j], after[i]
					if a.Op != b.Op && !(radial(a) && radial(b)) {
						same = false
						continue
					}
					// Amplitudes may move between leaves; length scales and periods of
					// leaves that are not linear may not.
					if a.Op == kernelspace.OpLIN {
						continue
					}
					for s := range a.NumScale + a.NumPeriod {
						if a.Op == b.Op || s < a.NumScale {
							if u, v := from[a.Off+1+s], to[b.Off+1+s]; math.Abs(u-v) > 1e-9*u {
								t.Errorf("%s from %s: %g became %g", g.Exprs[taker].ID(), r.Label, u, v)
							}
						}
					}
				}
				if same {
					// Only one radial leaf's shape differs: k(x,x) is as it was.
					radials++
					for i := 0; i < 100; i += 9 {
						u, v := giver.Eval(from, g.Row(i), g.Row(i), true), p.Eval(to, g.Row(i), g.Row(i), true)
						if math.Abs(u-v) > 1e-9*math.Abs(u) {
							t.Fatalf("%s from %s: k(x,x) %g became %g", g.Exprs[taker].ID(), r.Label, u, v)
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

// Levels take the variance over that others have found, with lengths or without; lengths begin short and at where levels
// have about as much in common as not.
func TestTransplantsOfLevels(t *testing.T) {
	g := startstest.NewGraft(t, 1, 2)
	o := kernelspace.Options{Dim: 2, Levels: func(int) []float64 { return []float64{0, 1, 2} }}
	plain, lengths := kernelspacetest.Program(t, "SE[1]*CAT[2]+CAT[2]", o), kernelspacetest.Program(t, "SE[1]*CAT[2]+CAT[2;ard]", o)
	r := starts.Relation{Pairs: []int{0, 1, 2}, Kind: starts.Replacement}
	raw := []float64{2, 0.7, 1, 3, 0.5, 1, 2}
	x := params.Free(plain, raw[:4], 0.1, g.Floor)
	for own, want := range map[bool][]float64{false: {0.4, 1}, true: {0.4, 1, 2.5}} {
		var before []float64
		if own {
			before = params.Free(lengths, []float64{9, 9, 1, 9, 2.5, 2.5, 2.5}, 0.1, g.Floor)
		}
		out := g.Transplant(r, plain, lengths, x, before, rand.New(rand.NewPCG(2, 1)))
		if len(out) != len(want) {
			t.Fatalf("%d starts", len(out))
		}
		for i, l := range want {
			got, noise := params.Raw(lengths, out[i], g.Floor)
			for j, v := range []float64{2, 0.7, 1, 3, l, l, l} {
				if math.Abs(got[j]-v) > 1e-9 || math.Abs(noise-0.1) > 1e-9 {
					t.Fatalf("start %d: %v, noise %v", i, got, noise)
				}
			}
		}
	}
	out := g.Transplant(r, lengths, plain, params.Free(lengths, raw, 0.1, g.Floor), nil, rand.New(rand.NewPCG(2, 1)))
	if got, _ := params.Raw(plain, out[0], g.Floor); len(out) != 1 || math.Abs(got[3]-3) > 1e-9 {
		t.Errorf("%d starts without lengths, the first %v", len(out), got)
	}
	// Lengths of another column's levels say nothing.
	o.Dim = 3
	second, third := kernelspacetest.Program(t, "SE[1]+CAT[2;ard]", o), kernelspacetest.Program(t, "SE[1]+CAT[3;ard]", o)
	wide := startstest.NewGraft(t, 3, 2)
	r.Pairs = []int{0, 1}
	before := params.Free(third, []float64{9, 9, 9, 1.5, 1.6, 1.7}, 0.1, wide.Floor)
	for _, x := range wide.Transplant(r, second, third, params.Free(second, []float64{2, 0.7, 3, 5, 6, 7}, 0.1, wide.Floor), before,
		rand.New(rand.NewPCG(2, 1))) {
		if got, _ := params.Raw(third, x, wide.Floor); math.Abs(got[2]-3) > 1e-9 || slices.Max(got[3:]) > 4.9 {
			t.Errorf("from another column: %v", got)
		}
	}
	for number := range 20 { // fresh ones are within what the prior believes
		free := g.Draw(lengths, rand.New(rand.NewPCG(5, uint64(number))), number)
		got, _ := params.Raw(lengths, free, g.Floor)
		if l := slices.Min(got[4:]); l < 0.05 || slices.Max(got[4:]) > 30 || number == 0 && (l != 1 || slices.Max(got[4:]) != 1) {
			t.Errorf("draw %d: lengths %v", number, got[4:])
		}
	}
}

// A product that contains the giver begins with the giver's function and, once, with what it has found itself of the rest.
func TestLiftKeepsTheOwnFactor(t *testing.T) {
	g := startstest.NewGraft(t, 2, 1)
	programs, kin := compiled(t, "PER", "PER*SE")
	i := slices.IndexFunc(kin[1], func(r starts.Relation) bool { return r.From == 0 && r.Kind == starts.Lift })
	own := []float64{0.3, 2, 5, 1, 0.123}
	out := g.Transplant(kin[1][i], programs[0], programs[1], params.Free(programs[0], []float64{0.8, 0.6, 0.9}, 0.1, g.Floor),
		params.Free(programs[1], own, 0.2, g.Floor), rand.New(rand.NewPCG(3, 1)))
	raw, _ := params.Raw(programs[1], out[len(out)-1], g.Floor)
	for j, want := range []float64{0.8, 0.6, 0.9, 1, 0.123} {
		if math.Abs(raw[j]/want-1) > 1e-9 {
			t.Errorf("the last of %d starts is %v", len(out), raw)
			break
		}
	}
}
