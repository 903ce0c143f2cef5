package kernelspace

import (
	"math"
	"regexp"
	"slices"
	"testing"
)

func TestK144ByShape(t *testing.T) {
	space := set(t, "K144")
	if len(space) != 144 {
		t.Fatalf("%d kernels, want 144", len(space))
	}
	// Combinations with repetition of 4 base kernels: 4 single; 10 pairs each
	// for + and *; 20 triples each; a pair times or plus a third 10*4 each.
	want := map[string]int{"x": 4, "x+x": 10, "x*x": 10, "x+x+x": 20, "x*x*x": 20, "x*x+x": 40, "(x+x)*x": 40}
	got := map[string]int{}
	ids := map[string]bool{}
	name := regexp.MustCompile(`[A-Z]+`)
	for _, e := range space {
		got[name.ReplaceAllString(e.ID(), "x")]++
		ids[e.ID()] = true
		if e.Written() != e.ID() {
			t.Errorf("%s is not canonical", e.Written())
		}
	}
	for shape, n := range want {
		if got[shape] != n {
			t.Errorf("%d of shape %s, want %d", got[shape], shape, n)
		}
	}
	if len(got) != len(want) || len(ids) != 144 {
		t.Errorf("shapes %v, %d distinct", got, len(ids))
	}
}

func TestK12(t *testing.T) {
	// As the paper writes them, in its order.
	want := []string{
		"LIN + RQ", "LIN×RQ + LIN", "LIN×RQ + PER", "PER + RQ + SE", "PER + LIN + RQ", "PER + PER + SE",
		"PER×SE + SE", "PER×RQ + SE", "PER×LIN + SE", "PER×LIN×SE", "PER×LIN×RQ", "(PER + RQ)×LIN",
	}
	var got []string
	large := set(t, "k144")
	for _, e := range set(t, "K12") {
		got = append(got, e.String())
		if !slices.ContainsFunc(large, e.Equal) {
			t.Errorf("%s is not in K144", e)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	_, err := Set("K143")
	if err == nil {
		t.Fatal("an unknown set is accepted")
	}
	contains(t, err.Error(), "K143", "did you mean K144?")
}

// Depth 4 by counting: with s sums and p products of n leaves over b bases,
// a sum is a multiset of two or more non-sums and vice versa (series-parallel
// networks); with one base 1, 2, 4, 10, 24, 66 (OEIS A000084).
func TestEnumerateSeriesParallel(t *testing.T) {
	want := []int{1, 2, 4, 10, 24, 66}
	total := 0
	for i, n := range want {
		total += n
		all, err := Enumerate([]Expr{parse(t, "SE")}, i+1)
		if err != nil || len(all) != total {
			t.Errorf("depth %d: %d kernels, %v; want %d", i+1, len(all), err, total)
		}
	}
}

func TestEnumerateIndependentOfOrder(t *testing.T) {
	a, err := Enumerate([]Expr{parse(t, "SE"), parse(t, "LIN[1]"), parse(t, "PER")}, 3)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Enumerate([]Expr{parse(t, "PER"), parse(t, "SE"), parse(t, "LIN[1]"), parse(t, "RBF")}, 3)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.EqualFunc(a, b, Expr.Equal) {
		t.Errorf("%v\n%v", a, b)
	}
}

func TestEnumerateErrors(t *testing.T) {
	se := parse(t, "SE")
	for _, c := range []struct {
		base  []Expr
		depth int
		want  string
	}{
		{nil, 3, "no base"},
		{[]Expr{se}, 0, "depth is 0"},
		{[]Expr{{}}, 1, "zero Expr"},
		{[]Expr{se}, 1000, "more than 106"}, // 1+2+4+10+24+66 = 107 to depth 6
	} {
		_, err := enumerate(c.base, c.depth, 106)
		if err == nil {
			t.Errorf("%v to depth %d is accepted", c.base, c.depth)
			continue
		}
		contains(t, err.Error(), c.want)
	}
}

func TestNestedPairs(t *testing.T) {
	space := set(t, "K144")
	pairs := NestedPairs(space)
	if len(pairs) != 281 {
		t.Errorf("%d nested pairs, want 281", len(pairs))
	}
	has := func(general, special string) bool {
		return slices.ContainsFunc(pairs, func(p Pair) bool {
			return space[p.General].ID() == general && space[p.Special].ID() == special
		})
	}
	for _, c := range [][2]string{{"(PER+RQ)*LIN", "(PER+SE)*LIN"}, {"(PER+RQ)*LIN", "PER*LIN"}, {"PER+PER+SE", "PER+PER"},
		{"PER*LIN+SE", "PER*LIN"}} {
		if !has(c[0], c[1]) || has(c[1], c[0]) {
			t.Errorf("%s should be above %s", c[0], c[1])
		}
	}
	if has("PER*LIN*RQ", "PER*LIN") {
		t.Error("a product less a factor is no nested kernel")
	}
}

// The leaf mapping is right if the special case, with parameters taken over
// leaf by leaf, is the limit of the original.
func TestSimplificationsAreLimits(t *testing.T) {
	r := newRand(3)
	exprs := testSpace(t)
	for range 60 {
		e := randomExpr(r, 2+r.IntN(5))
		if _, err := Compile(e, Options{Columns: []string{"temp", "a,b", "λ"}}); err == nil {
			exprs = append(exprs, e)
		}
	}
	opt := Options{Columns: []string{"temp", "a,b", "λ"}}
	rows := randomRows(r, 3, 3)
	kinds := map[string]int{}
	for _, e := range exprs {
		e = e.Canonical()
		general := compile(t, e, opt)
		for _, s := range e.Simplifications() {
			special := compile(t, s.Expr, opt)
			theta := randomTheta(r, general)
			if s.Expr.Written() != s.Expr.ID() {
				t.Fatalf("%s is not canonical", s.Expr.Written())
			}
			all := append(slices.Clone(s.Leaves), s.Dropped...)
			if s.Kind == RQToSE {
				all = slices.Clone(s.Leaves)
			}
			slices.Sort(all)
			for i, l := range all {
				if i != l {
					t.Fatalf("%s to %s: leaves %v dropped %v", e, s.Expr, s.Leaves, s.Dropped)
				}
			}
			skip := false
			for _, l := range s.Dropped {
				in := general.leafInstrs()[l]
				own := theta[in.Off : in.Off+in.NumParams()]
				switch s.Kind {
				case DropSum:
					own[0] = 0
				case DropChange: // its step comes first; with it goes what stands behind it, or what stands last
					if l == s.Dropped[0] {
						own[0] = RawPlace(1e6)
						if slices.Contains(s.Dropped, l+1) {
							own[0] = RawPlace(-1e6)
						}
					}
				case RQToSE:
					own[len(own)-1] = 1e9
				case DropFactor: // make it the constant 1
					// With several leaves the sum of their variances would count.
					if in.Op == OpLIN || in.Op == OpPoly || in.Op == OpWhite || in.Op == OpCat || len(s.Dropped) > 1 {
						skip = true
					}
					for k := range own[1:] {
						own[1+k] = 1e9
					}
					own[0] = 1
					if in.base.info().shape == nameOrigin { // far away its variance hardly changes any more
						own[0] /= float64(len(in.Cols)) * Walked(in.Op, own[1])
					}
				}
			}
			if skip {
				continue
			}
			kinds[s.Kind]++
			taken := takeOver(general, special, theta, s.Leaves)
			for i := range rows {
				for j := range rows {
					want := general.Eval(theta, rows[i], rows[j], i == j)
					got := special.Eval(taken, rows[i], rows[j], i == j)
					if relative(got, want, 1e-3) > 1e-5 {
						t.Fatalf("%s to %s (%s, %v): %g, want %g", e, s.Expr, s.Kind, s.Leaves, got, want)
					}
				}
			}
		}
	}
	for _, k := range []string{RQToSE, DropSum, DropFactor} {
		if kinds[k] < 50 {
			t.Errorf("only %d cases of %s", kinds[k], k)
		}
	}
}

// takeOver copies parameters leaf by leaf; a leaf that lacks some (SE from RQ)
// takes the first ones.
func takeOver(from, to *Program, theta []float64, leaves []int) []float64 {
	taken := make([]float64, len(to.Params))
	for i, in := range to.leafInstrs() {
		copy(taken[in.Off:in.Off+in.NumParams()], theta[from.leafInstrs()[leaves[i]].Off:])
	}
	return taken
}

// White noise is 0 between different rows, and so is a leaf of variance 0.
func TestReplacements(t *testing.T) {
	white := []Expr{parse(t, "WN"), parse(t, "SE*RQ")}
	r := newRand(4)
	x, y := randomRows(r, 1, 2)[0], randomRows(r, 1, 2)[0]
	for _, e := range testSpace(t) {
		e = e.Canonical()
		p := compile(t, e, Options{Dim: 2})
		theta := randomTheta(r, p)
		count := 0
		for _, rep := range e.Replacements(white) {
			count++
			q := compile(t, rep.Expr, Options{Dim: 2})
			zeroed := slices.Clone(theta)
			zeroed[p.leafInstrs()[rep.Leaf].Off] = 0
			got := q.Eval(takeOver(p, q, theta, rep.Leaves), x, y, false)
			if want := p.Eval(zeroed, x, y, false); relative(got, want, 1e-12) > 1e-12 {
				t.Fatalf("%s to %s: %g, want %g", e, rep.Expr, got, want)
			}
			if rep.Expr.Written() != rep.Expr.ID() {
				t.Fatalf("%s is not canonical", rep.Expr.Written())
			}
		}
		want := 0
		for _, l := range e.Leaves() {
			if l.IsLeaf() && l.Base() != "WN" {
				want++
			}
		}
		if count != want {
			t.Errorf("%s: %d replacements, want %d", e, count, want)
		}
	}
	if got := parse(t, "PER[2]").Replacements([]Expr{parse(t, "SE")}); len(got) != 1 || got[0].Expr.ID() != "SE[2]" {
		t.Errorf("a replacement should act on the same columns: %v", got)
	}
}

func TestComponentsSumToTotal(t *testing.T) {
	r := newRand(5)
	rows := randomRows(r, 4, 3)
	for _, e := range testSpace(t) {
		for _, opt := range []Options{{Dim: 3}, {Dim: 3, ARD: true}} {
			p := compile(t, e, opt)
			theta := randomTheta(r, p)
			components, err := p.Components()
			if err != nil {
				t.Fatal(err)
			}
			for i := range rows {
				for j := range rows {
					sum, size := 0.0, 0.0
					for _, c := range components {
						own := compile(t, c.Expr, opt)
						if len(own.Params) != len(c.Params) || len(c.Program.Params) != len(c.Params) {
							t.Fatalf("%s: component %s has %d parameters", e, c.Expr.Written(), len(c.Params))
						}
						k := own.Eval(c.Theta(theta), rows[i], rows[j], i == j)
						if other := c.Program.Eval(c.Theta(theta), rows[i], rows[j], i == j); other != k {
							t.Fatalf("%s: the component's program gives %g, compiling it %g", c.Expr.Written(), other, k)
						}
						sum += k
						size += math.Abs(k)
					}
					if total := p.Eval(theta, rows[i], rows[j], i == j); math.Abs(sum-total) > 1e-13*size {
						t.Fatalf("%s: components sum to %g, not %g", e, sum, total)
					}
				}
			}
		}
	}
	components, err := compile(t, parse(t, "(PER+RQ)*LIN"), Options{Dim: 1}).Components()
	if err != nil || len(components) != 2 || components[0].Expr.Written() != "PER*LIN" || components[1].Expr.Written() != "RQ*LIN" ||
		!slices.Equal(components[1].Leaves, []int{1, 2}) {
		t.Errorf("%v, %v", components, err)
	}
}

func TestComponentsLimit(t *testing.T) {
	e := parse(t, "SE+RQ")
	factors := make([]Expr, 500)
	for i := range factors {
		factors[i] = e
	}
	if _, err := compile(t, Product(factors...), Options{Dim: 1}).Components(); err == nil {
		t.Error("2^500 components are accepted")
	}
}
