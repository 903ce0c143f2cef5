package vbks

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"example.com/kestrel/device"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/internal/thorough"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks/params"
)

// The gradient of the bound by the inducing inputs is that of the bound by dense
// matrices, by finite differences, in one column and in two, of both bounds; a group
// that has a kernel's own inducing inputs has their bound.
func TestBoundByInducingInputs(t *testing.T) {
	for _, c := range []struct {
		text string
		dim  int
	}{{"PER*SE+LIN", 1}, {"MATERN52", 2}, {"SE*LIN", 2}} {
		for _, tight := range []bool{false, true} {
			rng := rand.New(rand.NewPCG(3, uint64(c.dim)))
			e, err := kernelspace.Parse(c.text)
			must.OK(t, err)
			p, err := kernelspace.Compile(e, kernelspace.Options{Dim: c.dim})
			must.OK(t, err)
			const n, m, floor = 60, 5, 1e-6
			x, z, others := randomPoints(rng, n, c.dim), randomPoints(rng, m, c.dim), randomPoints(rng, m, c.dim)
			y := make([]float64, n)
			for i := range y {
				y[i] = rng.NormFloat64()
			}
			j := device.Jitter{Relative: 1e-6}
			b, rows := testBound(t, []*kernelspace.Program{p}, x, y, others, c.dim, j, floor, tight)
			free := make([]float64, len(p.Free)+1)
			for i := range free {
				free[i] = 0.4 * rng.NormFloat64()
			}
			raw, noise := params.Raw(p, free, floor)
			b.setFree(0, free)
			if b.gradZ, err = b.lane.NewArray(1, m, c.dim); err != nil {
				t.Fatal(err)
			}
			must.OK(t, b.put(z))
			must.OK(t, b.eval([]int{0}, rows, sumSquares(y), true, nil))
			value, ok, err := b.result(0, nil)
			must.OK(t, err)
			naive := func(z []float64) float64 {
				titsias, artemev := naiveBounds(p, raw, noise, x, y, z, c.dim, j)
				if tight {
					return artemev
				}
				return titsias
			}
			if want := naive(z); !ok || math.Abs(value-want) > 1e-7*math.Abs(want) {
				t.Fatalf("%s, tight %t: bound %v, want %v", c.text, tight, value, want)
			}
			grad := readArray(t, b.lane, b.gradZ, 0)
			for i := range z {
				const h = 1e-4
				at := slices.Clone(z)
				at[i] += h
				up := naive(at)
				at[i] -= 2 * h
				want := (up - naive(at)) / (2 * h)
				if math.Abs(grad[i]-want) > 1e-4*(1+math.Abs(want)) {
					t.Errorf("%s, tight %t, coordinate %d: derivative %v, want %v", c.text, tight, i, grad[i], want)
				}
			}
			must.OK(t, b.put(nil)) // those of all again
			must.OK(t, b.eval([]int{0}, rows, sumSquares(y), false, nil))
			if value, _, err := b.result(0, nil); err != nil || math.Abs(value-naive(others)) > 1e-7*math.Abs(value) {
				t.Errorf("%s: %v, %v", c.text, value, err)
			}
		}
	}
}

// wavy are rows, more than the ladder makes exact, of a function that few inducing
// inputs do not resolve everywhere.
func wavy(n int) Training {
	d := trainingSeries(5, n)
	for i, x := range d.X {
		d.Y[i] = math.Sin(2*x)/2 + math.Sin(3*x*x)*math.Exp(-x*x/4) + 0.1*(d.Y[i]-math.Sin(2*x)-0.3*x)
	}
	return d
}

// ownRun trains kernels on more rows than could all be inducing inputs.
func ownRun(t *testing.T, lanes int, optimizer, own string) (*Trainer, Settings) {
	t.Helper()
	s := quickSettings(optimizer)
	s.Own, s.Inducing, s.EvaluateEvery, s.Steps, s.Local = own, 12, 1, 10, "none"
	tr := trainerOn(t, lanes, nil, wavy(2100), s, "SE", "MATERN32")
	train(t, tr)
	return tr, s
}

// Inducing inputs of its own raise a kernel's local ELBO, which is the bound of dense
// matrices with them, and what it predicts is what dense matrices do; the lanes do not
// matter. A checkpoint and a model have them, and another evaluation finds them again.
func TestOwnInducingInputs(t *testing.T) {
	thorough.AnyInstructions(t)
	thorough.Unraced(t)
	ctx, at := context.Background(), []float64{-3.5, -0.2, 0.05, 1.7, 3.9}
	for _, optimizer := range []string{"collapsed", "natural"} {
		plain, _ := ownRun(t, 1, optimizer, "off")
		tr, s := ownRun(t, 1, optimizer, "auto")
		if optimizer == "collapsed" { // the evaluation in which they come is the same of others
			twin, _ := ownRun(t, 3, optimizer, "auto")
			same(t, optimizer+", three lanes", twin, tr)
		}
		data := wavy(2100)
		for i, k := range tr.kernels {
			id, z := k.id, tr.OwnInputs(k.id)
			if before := plain.OwnInputs(id); before != nil {
				t.Errorf("%s, %s: off, and inducing inputs of its own", optimizer, id)
			}
			if z == nil {
				continue
			}
			if len(z) != tr.m || !finite(z) {
				t.Fatalf("%s, %s: %v", optimizer, id, z)
			}
			if gain := k.elbo - plain.kernels[i].elbo; gain < 1 {
				t.Errorf("%s, %s: %v nats gained", optimizer, id, gain)
			}
			if id != tr.leader { // dense matrices of all rows take long
				continue
			}
			p, raw, noise, err := tr.Solution(id)
			must.OK(t, err)
			want := naiveCollapsed(p, raw, noise, data.X, data.Y, z, 1, s.Jitter) + logThetaPrior(k.state.Free, k.prior)
			if math.Abs(k.elbo-want) > 1e-5*math.Abs(want) {
				t.Errorf("%s, %s: local ELBO %v, by dense matrices %v", optimizer, id, k.elbo, want)
			}
		}
		if tr.OwnInputs(tr.leader) == nil {
			t.Fatalf("%s: the leader has no inducing inputs of its own", optimizer)
		}
		o := PredictOptions{IDs: []string{tr.leader}}
		want, err := tr.Predict(ctx, at, o)
		must.OK(t, err)
		mean := naiveMean(t, tr, tr.leader, at)
		for i := range at {
			if math.Abs(want.Mean[0][i]-mean[i]) > 1e-6 {
				t.Errorf("%s at %v: %v, by dense matrices %v", optimizer, at[i], want.Mean[0][i], mean[i])
			}
		}
		back := resumed(t, tr, s)
		same(t, optimizer+", resumed", back, tr)
		frozen, err := tr.Freeze(ctx, FreezeOptions{MostFactors: MostFactors})
		must.OK(t, err)
		model, err := thawed(t, frozen).Predict(ctx, at, o)
		must.OK(t, err)
		got, err := back.Predict(ctx, at, o)
		must.OK(t, err)
		for i := range at {
			if got.Mean[0][i] != want.Mean[0][i] || got.Var[0][i] != want.Var[0][i] || far(model.Mean[0][i], want.Mean[0][i]) ||
				far(model.Var[0][i], want.Var[0][i]) {
				t.Errorf("%s at %v: %v ± %v, resumed %v ± %v, a model %v ± %v", optimizer, at[i], want.Mean[0][i], want.Var[0][i],
					got.Mean[0][i], got.Var[0][i], model.Mean[0][i], model.Var[0][i])
			}
		}
		for _, again := range []*Trainer{tr, back} {
			must.OK(t, again.Reoptimize(Change{Rounds: 1}))
			before := again.kernels[slices.IndexFunc(again.kernels, func(k *kernel) bool { return k.id == again.leader })].elbo
			if e := next(t, again); e.Kernels[e.Leader()].ELBO < before-1 {
				t.Errorf("%s: %v after %v", optimizer, e.Kernels[e.Leader()].ELBO, before)
			}
		}
		same(t, optimizer+", gone on", back, tr)
	}
}

// naiveMean is k(x,Z)(σ²k(Z,Z) + k(Z,X)k(X,Z))⁻¹k(Z,X)y of a kernel with its own Z.
func naiveMean(t *testing.T, tr *Trainer, id string, at []float64) []float64 {
	t.Helper()
	p, raw, noise, err := tr.Solution(id)
	must.OK(t, err)
	z, x, y := tr.OwnInputs(id), tr.data.X, tr.data.Y
	m := len(z)
	k := func(a, b float64, same bool) float64 { return p.Eval(raw, []float64{a}, []float64{b}, same) }
	system, right := make([]float64, m*m), make([]float64, m)
	trace := 0.0
	for i := range m {
		trace += k(z[i], z[i], true)
	}
	for i := range m {
		for j := range m {
			system[i*m+j] = noise * k(z[i], z[j], i == j)
			if i == j {
				system[i*m+j] += noise * tr.jitter.Relative * trace / float64(m)
			}
		}
	}
	for r := range x {
		row := make([]float64, m)
		for i := range m {
			row[i] = k(z[i], x[r], false)
		}
		for i := range m {
			right[i] += row[i] * y[r]
			for j := range m {
				system[i*m+j] += row[i] * row[j]
			}
		}
	}
	weights := solved(t, system, right)
	out := make([]float64, len(at))
	for i, v := range at {
		for j := range m {
			out[i] += weights[j] * k(v, z[j], false)
		}
	}
	return out
}

// solved is a⁻¹b, a of len(b) rows.
func solved(t *testing.T, a, b []float64) []float64 {
	t.Helper()
	var x mat.VecDense
	must.OK(t, x.SolveVec(mat.NewDense(len(b), len(b), a), mat.NewVecDense(len(b), b)))
	return x.RawVector().Data
}

// With very many rows inducing inputs of their own are looked for only where the settings ask for
// them in any case.
func TestOwnOfManyRows(t *testing.T) {
	s := DefaultSettings()
	s.Optimizer = "natural"
	o := &order{Rows: 200_000, Steps: 10, Moved: &rowSet{N: 64_000}, Tuned: &rowSet{N: 200_000}}
	for own, want := range map[string]int{autoOwn: 0, alwaysOwn: mostOwn} {
		if s.Own = own; s.ownKernels(800, o) != want {
			t.Errorf("%s: for %d kernels, want %d", own, s.ownKernels(800, o), want)
		}
	}
}
