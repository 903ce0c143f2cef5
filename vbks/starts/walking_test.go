package starts_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"example.com/kestrel/internal/must"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks/params"
	"example.com/kestrel/vbks/starts"
	"example.com/kestrel/vbks/starts/startstest"
)

// stepVariance is the variance of f(x+d) − f(x), or of the second difference, about 0.
func stepVariance(p *kernelspace.Program, raw []float64, d float64, weights ...float64) float64 {
	sum := 0.0
	for i, a := range weights {
		for j, b := range weights {
			sum += a * b * p.Eval(raw, []float64{d * float64(i)}, []float64{d * float64(j)}, i == j)
		}
	}
	return sum
}

// A walk in the place of a Matérn kernel moves like it over short distances, and the
// other way round; RW and IRW go equally far over the data.
func TestWalksAreLikened(t *testing.T) {
	g := startstest.NewGraft(t, 1, 1)
	var space []kernelspace.Expr
	var programs []*kernelspace.Program
	for _, s := range []string{"MATERN12", "MATERN32", "RW", "IRW"} {
		e, err := kernelspace.Parse(s)
		must.OK(t, err)
		p, err := kernelspace.Compile(e, kernelspace.Options{Dim: 1})
		must.OK(t, err)
		space, programs = append(space, e), append(programs, p)
	}
	kin := starts.Kinship(space)
	for _, c := range []struct {
		from, to string
		raw      []float64
		weights  []float64
	}{
		{"MATERN12", "RW", []float64{3, 1.4}, []float64{1, -1}},
		{"RW", "MATERN12", []float64{0.2, 9}, []float64{1, -1}},
		{"MATERN32", "IRW", []float64{3, 1.4}, []float64{1, -2, 1}},
		{"IRW", "MATERN32", []float64{0.2, 9}, []float64{1, -2, 1}},
		{"RW", "IRW", []float64{0.2, 9}, nil},
		{"IRW", "RW", []float64{0.2, 9}, nil},
	} {
		index := func(name string) int {
			return slices.IndexFunc(space, func(e kernelspace.Expr) bool { return e.ID() == name })
		}
		from, to := index(c.from), index(c.to)
		at := slices.IndexFunc(kin[to], func(r starts.Relation) bool { return r.From == from })
		x := params.Free(programs[from], c.raw, 0.1, g.Floor)
		out := g.Transplant(kin[to][at], programs[from], programs[to], x, nil, rand.New(rand.NewPCG(1, 1)))
		if len(out) != 1 {
			t.Fatalf("%s from %s: %d starts", c.to, c.from, len(out))
		}
		raw, _ := params.Raw(programs[to], out[0], g.Floor)
		if c.weights == nil {
			span := slices.Max(g.X) - slices.Min(g.X)
			a, b := c.raw[0]*span, raw[0]*span*span*span/3
			if c.from == "IRW" {
				a, b = c.raw[0]*span*span*span/3, raw[0]*span
			}
			if math.Abs(a-b) > 1e-9*a || raw[1] != c.raw[1] && math.Abs(raw[1]-c.raw[1]) > 1e-9 {
				t.Errorf("%s from %s: %v from %v", c.to, c.from, raw, c.raw)
			}
			continue
		}
		const d = 2e-3
		a, b := stepVariance(programs[from], c.raw, d, c.weights...), stepVariance(programs[to], raw, d, c.weights...)
		if math.Abs(a-b) > 0.01*a {
			t.Errorf("%s from %s: steps have the variance %g, not %g", c.to, c.from, b, a)
		}
	}
}

// Walks begin before the data, and their fresh starts reach far below the rest.
func TestWalkDraws(t *testing.T) {
	g := startstest.NewGraft(t, 1, 1)
	e, err := kernelspace.Parse("SE+RW")
	must.OK(t, err)
	p, err := kernelspace.Compile(e, kernelspace.Options{Dim: 1})
	must.OK(t, err)
	least, most := math.Inf(1), 0.0
	for n := range 60 {
		raw, _ := params.Raw(p, g.Draw(p, rand.New(rand.NewPCG(5, uint64(n))), n), g.Floor)
		if -raw[3] > slices.Min(g.X) {
			t.Errorf("start %d: the origin %g lies within the data", n, -raw[3])
		}
		share := raw[2] * raw[3] / raw[0]
		least, most = min(least, share), max(most, share)
	}
	if least > 1e-3 || most < 1 {
		t.Errorf("shares from %g to %g", least, most)
	}
}

// A level that returns sooner moves alike over short distances, and beside what else there is.
func TestLevelsReturnSooner(t *testing.T) {
	g := startstest.NewGraft(t, 1, 1)
	for text, raw := range map[string][]float64{"MATERN12": {3, 1.4}, "LIN+MATERN12": {0.5, 1, 3, 1.4}} {
		e, err := kernelspace.Parse(text)
		must.OK(t, err)
		p, err := kernelspace.Compile(e, kernelspace.Options{Dim: 1})
		must.OK(t, err)
		d := 1e-4
		at := func(raw []float64) float64 { return stepVariance(p, raw, d, 1, -1) }
		out := g.Hasten(p, params.Free(p, raw, 0.1, g.Floor))
		if len(out) != 3 {
			t.Fatalf("%s: %d starts", text, len(out))
		}
		for i, by := range []float64{4, 16, 64} {
			got, noise := params.Raw(p, out[i], g.Floor)
			n := len(raw)
			if math.Abs(noise-0.1) > 1e-12 || math.Abs(at(got)/at(raw)-1) > 0.01 || math.Abs(got[n-1]*by/raw[n-1]-1) > 1e-9 ||
				math.Abs(got[n-2]*by/raw[n-2]-1) > 1e-9 || n > 2 && math.Abs(got[0]-raw[0]) > 1e-9 {
				t.Errorf("%s, %v times: %v of %v", text, by, got, raw)
			}
		}
	}
	e, err := kernelspace.Parse("SE")
	must.OK(t, err)
	p, err := kernelspace.Compile(e, kernelspace.Options{Dim: 1})
	must.OK(t, err)
	if out := g.Hasten(p, params.Free(p, []float64{1, 1}, 0.1, g.Floor)); out != nil {
		t.Errorf("of SE: %v", out)
	}
}
