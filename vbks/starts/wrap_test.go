package starts_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks/params"
	"example.com/kestrel/vbks/starts"
	"example.com/kestrel/vbks/starts/startstest"
)

// setParams are a kernel's parameters with the values of those that are named, by base kernel and
// name; others are 1.
func setParams(p *kernelspace.Program, values map[string]float64) []float64 {
	raw := make([]float64, len(p.Params))
	for j, q := range p.Params {
		raw[j] = 1
		if v, ok := values[q.Base+"."+q.Name]; ok {
			raw[j] = v
		}
	}
	params.Settle(p, raw)
	return raw
}

// What PER takes over has the covariance that it had, as a term and as a factor, but that the
// ends of the data are neighbours; what nothing can be taken from, or nothing be given to, has
// no such starts.
func TestWrap(t *testing.T) {
	g := startstest.NewGraft(t, 1, 1)
	span := starts.Summarise(g.X, g.Y, 1).Span[0]
	const length, noise = 0.5, 0.2
	programs, _ := compiled(t, "PER+SE", "PER*SE", "PER*LIN+RQ", "PER+PER+SE", "PER*SE+SE", "PER+LIN", "SE+SE", "PER+MATERN32")
	for i, want := range []int{1, 1, 1, 2, 2, 0, 0, 1} {
		p := programs[i]
		raw := setParams(p, map[string]float64{"PER.period": 1.3, "PER.variance": 0.3, "SE.lengthscale": length, "SE.variance": 2,
			"RQ.lengthscale": length, "MATERN32.lengthscale": length})
		all := g.Wrap(p, params.Free(p, raw, noise, g.Floor))
		if len(all) != want {
			t.Errorf("%s: %d starts, want %d", p.ID, len(all), want)
		}
		for _, x := range all {
			if _, left := params.Raw(p, x, g.Floor); math.Abs(left-noise) > 1e-9 {
				t.Errorf("%s: noise %v", p.ID, left)
			}
		}
		if p.ID != "PER+SE" && p.ID != "PER*SE" || len(all) == 0 {
			continue
		}
		v, _ := params.Raw(p, all[0], g.Floor)
		k := func(v []float64, d float64) float64 { return p.Eval(v, []float64{-3}, []float64{-3 + d}, false) }
		for _, d := range []float64{0, 0.2, 0.5, 1} {
			is, was := k(v, d)/k(v, 0), math.Exp(-d*d/(2*length*length))
			if math.Abs(is-was) > 0.05 { // sin v is less than v, and something is left of the summand
				t.Errorf("%s at %v: correlation %v, of the leaf %v", p.ID, d, is, was)
			}
		}
		if ends := k(v, span) / k(v, 0); ends < 0.99 {
			t.Errorf("%s: the correlation of the ends is %v", p.ID, ends)
		}
		if v0, want := k(v, 0), 2.0; p.ID == "PER+SE" && math.Abs(v0/want-1) > 0.05 {
			t.Errorf("the variance is %v, of the leaf it was %v", v0, want)
		}
	}
	flat := programs[0]
	if all := g.Wrap(flat, params.Free(flat, setParams(flat, map[string]float64{"SE.lengthscale": 2 * span}), noise, g.Floor)); len(all) != 0 {
		t.Error("what is as good as constant is taken over")
	}
	held := know(t, flat, map[string]kernelspace.Known{"PER.period": {How: kernelspace.Fixed, Value: 1.3}})
	if all := g.Wrap(held, params.Free(held, setParams(held, map[string]float64{"PER.period": 1.3}), noise, g.Floor)); len(all) != 0 {
		t.Error("a period that is fixed is changed")
	}
}

// Functions on a circle have more evidence with what is made of their fit by SE, by dense matrices.
func TestWrappedFunctions(t *testing.T) {
	const n, span, length, noise = 80, 8.0, 0.7, 0.05
	p := func() *kernelspace.Program { all, _ := compiled(t, "PER+SE"); return all[0] }()
	sum := 0.0
	for seed := range uint64(10) {
		rng := rand.New(rand.NewPCG(seed, 11))
		x, cov := make([]float64, n), mat.NewSymDense(n, nil)
		for i := range x {
			x[i] = span * float64(i) / (n - 1)
			for j := range i + 1 {
				s := math.Sin(math.Pi*(x[i]-x[j])/span) * span / (math.Pi * length)
				cov.SetSym(i, j, math.Exp(-0.5*s*s))
			}
			cov.SetSym(i, i, 1+noise)
		}
		var chol mat.Cholesky
		if !chol.Factorize(cov) {
			t.Fatal("not positive definite")
		}
		var l mat.TriDense
		chol.LTo(&l)
		y, drawn := make([]float64, n), mat.NewVecDense(n, nil)
		for i := range y {
			y[i] = rng.NormFloat64()
		}
		drawn.MulVec(&l, mat.NewVecDense(n, y))
		y = drawn.RawVector().Data
		floor := 1e-6
		w := starts.NewDrawer(x, y, 1, starts.Options{Inducing: 20, Floor: floor, Scales: starts.Summarise(x, y, 1), Seed: 1})
		fit := params.Free(p, setParams(p, map[string]float64{"PER.variance": 1e-4, "SE.lengthscale": length}), noise, floor)
		sum += evidence(t, p, w.Wrap(p, fit)[0], x, y, floor) - evidence(t, p, fit, x, y, floor)
	}
	t.Logf("%.1f nats more", sum)
	if sum < 10 {
		t.Errorf("of ten functions the evidence is %.1f nats more", sum)
	}
}
