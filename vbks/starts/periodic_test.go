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

// compiled are kernels of one input with their kinship.
func compiled(t *testing.T, exprs ...string) (programs []*kernelspace.Program, kin [][]starts.Relation) {
	t.Helper()
	var space []kernelspace.Expr
	for _, s := range exprs {
		e, err := kernelspace.Parse(s)
		must.OK(t, err)
		p, err := kernelspace.Compile(e, kernelspace.Options{Dim: 1})
		must.OK(t, err)
		space, programs = append(space, e), append(programs, p)
	}
	return programs, starts.Kinship(space)
}

// PER of a period that is never seen takes the place of SE, and the other way round:
// over the data the kernels are about the same.
func TestSmoothPeriodicKernelIsLikened(t *testing.T) {
	g := startstest.NewGraft(t, 1, 1)
	programs, kin := compiled(t, "SE", "PER")
	span := slices.Max(g.X) - slices.Min(g.X)
	for _, c := range []struct {
		from, to int
		raw      []float64
		off      float64
	}{
		{0, 1, []float64{2, 0.3 * span}, 0.15},
		{1, 0, []float64{2, 2 * math.Pi * 0.3 / 5, 5 * span}, 0.1},
	} {
		at := slices.IndexFunc(kin[c.to], func(r starts.Relation) bool { return r.From == c.from })
		x := params.Free(programs[c.from], c.raw, 0.1, g.Floor)
		out := g.Transplant(kin[c.to][at], programs[c.from], programs[c.to], x, nil, rand.New(rand.NewPCG(1, 1)))
		raw, _ := params.Raw(programs[c.to], out[0], g.Floor)
		for r := 0.0; r <= 1; r += 0.1 {
			a := programs[c.from].Eval(c.raw, []float64{0}, []float64{r * span}, false)
			b := programs[c.to].Eval(raw, []float64{0}, []float64{r * span}, false)
			if math.Abs(a-b) > c.off*2 {
				t.Errorf("%d → %d at %.1f of the range: %.4f and %.4f", c.from, c.to, r, a, b)
			}
		}
	}
}

// Some of the leaves PER that are drawn never return within the data, as smooth as SE
// would be drawn; the others mostly have the period that the data show, with about the
// scale of its shape.
func TestPeriodicLeavesAreDrawn(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 3))
	const period, span = 1.7, 20.0
	x, y := make([]float64, 400), make([]float64, 400)
	for i := range x {
		x[i] = span * rng.Float64()
		phase := x[i] / period
		y[i] = 2*(phase-math.Floor(phase)) - 1 + 0.2*rng.NormFloat64()
	}
	programs, _ := compiled(t, "PER")
	w := starts.NewDrawer(x, y, 1, starts.Options{Inducing: 64, Floor: 1e-6, Scales: starts.Summarise(x, y, 1)})
	smooth, right, sharp := 0, 0, 0
	const draws = 400
	for i := range draws {
		raw, _ := params.Raw(programs[0], w.Draw(programs[0], rng, i+1), 1e-6)
		switch scale, p := raw[1], raw[2]; {
		case p >= span*0.99 && scale*p/(2*math.Pi) <= 4*span:
			smooth++
		case math.Abs(p/period-1) < 0.01:
			right++
			if scale < 0.6 {
				sharp++
			}
		}
	}
	if smooth < draws/10 || smooth > draws/3 {
		t.Errorf("%d of %d are smooth", smooth, draws)
	}
	if right < draws/10 || sharp < right/3 {
		t.Errorf("%d of %d have the period, %d of them its scale", right, draws, sharp)
	}
	raw, _ := params.Raw(programs[0], w.Draw(programs[0], rng, 0), 1e-6)
	if math.Abs(raw[2]/period-1) > 0.01 || raw[1] > 0.6 {
		t.Errorf("the first one has period %g and scale %g", raw[2], raw[1])
	}
}

// A roughened solution is one with a short length scale that takes most of the noise
// over: signal and noise together stay. What repeats is as rough within its period as others are.
func TestRoughen(t *testing.T) {
	g := startstest.NewGraft(t, 1, 1)
	programs, _ := compiled(t, "PER+SE", "LIN*RQ+MATERN32", "LIN+PER")
	for i, want := range []int{12, 12, 6} {
		p := programs[i]
		raw := make([]float64, len(p.Params))
		for j, q := range p.Params {
			raw[j] = 1
			if q.Free {
				raw[j] = 1.5
			}
		}
		const noise = 0.4
		x := params.Free(p, raw, noise, g.Floor)
		out := g.Roughen(p, x)
		if len(out) != want {
			t.Errorf("%s: %d starts, want %d", p.ID, len(out), want)
		}
		for _, s := range out {
			rough, left := params.Raw(p, s, g.Floor)
			if math.Abs(left-0.2*noise) > 1e-9 {
				t.Errorf("%s: noise %g of %g", p.ID, left, noise)
			}
			shorter := 0
			for j, q := range p.Params {
				if q.Name == "lengthscale" && q.Free && rough[j] < 0.9*raw[j] {
					shorter++
				}
			}
			if shorter != 1 {
				t.Errorf("%s: %d length scales are shorter: %v", p.ID, shorter, rough)
			}
			for _, in := range params.Leaves(p) {
				if in.Op != kernelspace.OpPER || rough[in.Off+1] == raw[in.Off+1] {
					continue
				}
				// About r = 0 it is SE of some spacings.
				one := func(r float64) float64 {
					return math.Exp(-2 * math.Pow(math.Sin(math.Pi*r/rough[in.Off+2])/rough[in.Off+1], 2))
				}
				length := 1e-4 / math.Sqrt(-2*math.Log(one(1e-4)))
				spacings := length / starts.Summarise(g.X, g.Y, 1).Spacing[0]
				if min(math.Abs(spacings-.4), math.Abs(spacings-2), math.Abs(spacings-8)) > 1e-3 {
					t.Errorf("%s: rough over %g spacings", p.ID, spacings)
				}
			}
		}
	}
	// What is rougher than that already is left.
	p := programs[2]
	raw := []float64{1, 1, 1, 1e-2, 1.5}
	if out := g.Roughen(p, params.Free(p, raw, .4, g.Floor)); len(out) != 0 {
		t.Errorf("%d starts of what is rough", len(out))
	}
}
