package starts_test

import (
	"math"
	"math/rand/v2"
	"slices"
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
		x := make([]float64, n)
		for i := range x {
			x[i] = span * float64(i) / (n - 1)
		}
		y := draw(rng, x, func(d float64) float64 {
			s := math.Sin(math.Pi*d/span) * span / (math.Pi * length)
			return math.Exp(-0.5 * s * s)
		}, noise)
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

// A function that is folded has the covariance that it had within a period and is alike a period apart, as
// a term and as a factor, also where it had been PER's own; the periods are so close together that what is a cycle
// apart moves by no more than one of its lengths over all of the data.
func TestFold(t *testing.T) {
	g := startstest.NewGraft(t, 1, 1)
	span := starts.Summarise(g.X, g.Y, 1).Span[0]
	const length, noise = 0.1, 0.02
	programs, _ := compiled(t, "PER+SE", "PER*SE", "PER", "PER+LIN", "SE+SE")
	for i, p := range programs {
		values := map[string]float64{"PER.period": 1.3, "PER.lengthscale": 2 * math.Pi * length / 1.3, "SE.lengthscale": length, "SE.variance": 2}
		if i < 2 { // its own is no detail
			values["PER.lengthscale"] = 20
		}
		all := g.Fold(p, params.Free(p, setParams(p, values), noise, g.Floor))
		if (len(all) > 0) != (i < 4) {
			t.Errorf("%s: %d starts", p.ID, len(all))
		}
		last := math.Inf(1)
		for _, x := range all {
			v, more := params.Raw(p, x, g.Floor)
			if math.Abs(more/noise-10) > 1e-6 {
				t.Errorf("%s: noise %v", p.ID, more)
			}
			period := v[slices.IndexFunc(p.Params, func(q kernelspace.Param) bool { return q.Name == "period" })]
			if moves := (last - period) * span / period; last < math.Inf(1) && !(moves > 0 && moves <= 1.1*length*last/period) {
				t.Errorf("%s: a period of %v after %v", p.ID, period, last)
			}
			last = period
			k := func(d float64) float64 {
				return p.Eval(v, []float64{-3}, []float64{-3 + d}, false) / p.Eval(v, []float64{-3}, []float64{-3}, false)
			}
			if p.ID == "PER+LIN" {
				continue
			}
			for _, d := range []float64{0.05, 0.1, 0.15} {
				if was := math.Exp(-d * d / (2 * length * length)); math.Abs(k(d)-was) > 0.1 { // sin v is less than v
					t.Errorf("%s, period %v, at %v: correlation %v, of the function %v", p.ID, period, d, k(d), was)
				}
			}
			if again := k(period); again < 0.88 && period < span/4 {
				t.Errorf("%s: a period of %v apart the correlation is %v", p.ID, period, again)
			}
		}
		if len(all) > 0 && last > 7*length {
			t.Errorf("%s: no period below %v", p.ID, last)
		}
	}
	fine := setParams(programs[2], map[string]float64{"PER.period": 1, "PER.lengthscale": span / 50})
	if all := g.Fold(programs[2], params.Free(programs[2], fine, noise, g.Floor)); len(all) != 0 {
		t.Errorf("details that some hundred rows do not show: %d starts", len(all))
	}
	held := know(t, programs[0], map[string]kernelspace.Known{"PER.period": {How: kernelspace.Fixed, Value: 1.3}})
	raw := setParams(held, map[string]float64{"PER.period": 1.3, "SE.lengthscale": length})
	if all := g.Fold(held, params.Free(held, raw, noise, g.Floor)); len(all) != 0 {
		t.Error("a period that is fixed is changed")
	}
}

// Of functions whose details repeat the start with the most evidence, by dense matrices, has the period
// that they have, or a multiple of it, though the fit by SE says nothing of any.
func TestFoldedFunctions(t *testing.T) {
	const n, span, length, period, noise = 120, 8.0, 0.12, 1.7, 0.003
	all, _ := compiled(t, "PER+SE")
	p, found := all[0], 0
	for seed := range uint64(10) {
		rng := rand.New(rand.NewPCG(seed, 12))
		x := make([]float64, n)
		for i := range x {
			x[i] = span * rng.Float64()
		}
		y := draw(rng, x, func(d float64) float64 {
			s := math.Sin(math.Pi*d/period) * period / (math.Pi * length)
			return math.Exp(-0.5 * s * s)
		}, noise)
		w := starts.NewDrawer(x, y, 1, starts.Options{Inducing: 20, Floor: 1e-6, Scales: starts.Summarise(x, y, 1), Seed: 1})
		raw := setParams(p, map[string]float64{"PER.variance": 1e-4, "PER.lengthscale": 20, "SE.lengthscale": length})
		fit := params.Free(p, raw, noise, 1e-6)
		best, at := math.Inf(-1), 0.0
		for _, v := range w.Fold(p, fit) {
			raw, _ := params.Raw(p, v, 1e-6)
			if e := evidence(t, p, v, x, y, 1e-6); e > best {
				best, at = e, raw[slices.IndexFunc(p.Params, func(q kernelspace.Param) bool { return q.Name == "period" })]
			}
		}
		cycles := at / period
		if math.Abs(cycles-math.Round(cycles)) < 0.03 && cycles > 0.5 {
			found++
		}
	}
	t.Logf("found of ten: %d", found)
	if found < 9 {
		t.Errorf("of ten periods %d are found", found)
	}
}

// Where a summand explains nothing periods of noise may be tried, too, if that is asked for; where it does, never.
func TestFaintPeriods(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	const n, noise = 200, 0.04
	x := make([]float64, n)
	for i := range x {
		x[i] = 20 * rng.Float64()
	}
	y := draw(rng, x, func(d float64) float64 { return math.Exp(-d * d / 8) }, noise)
	w := starts.NewDrawer(x, y, 1, starts.Options{Inducing: 32, Floor: 1e-6, Scales: starts.Summarise(x, y, 1), Seed: 1})
	programs, _ := compiled(t, "PER+SE")
	p := programs[0]
	for variance, idle := range map[float64]bool{1e-8: true, 1e-4: true, 0.3: false} {
		fit := params.Free(p, setParams(p, map[string]float64{"PER.variance": variance, "PER.period": 1.3, "SE.lengthscale": 2}), noise, 1e-6)
		if got := len(left(t, w, p, fit, 4, true)) > 0; got != idle {
			t.Errorf("variance %v: faint periods %v", variance, got)
		}
		if got := left(t, w, p, fit, 4, false); len(got) > 0 {
			t.Errorf("variance %v: %d periods in noise", variance, len(got))
		}
	}
}

// draw makes targets of a stationary function and noise.
func draw(rng *rand.Rand, x []float64, k func(d float64) float64, noise float64) []float64 {
	cov := mat.NewSymDense(len(x), nil)
	for i := range x {
		for j := range i {
			cov.SetSym(i, j, k(x[i]-x[j]))
		}
		cov.SetSym(i, i, k(0)+noise)
	}
	var chol mat.Cholesky
	chol.Factorize(cov)
	var l mat.TriDense
	chol.LTo(&l)
	z, y := make([]float64, len(x)), mat.NewVecDense(len(x), nil)
	for i := range z {
		z[i] = rng.NormFloat64()
	}
	y.MulVec(&l, mat.NewVecDense(len(x), z))
	return y.RawVector().Data
}
