package vbks

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"example.com/kestrel/device"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/kernelspace/kernelspacetest"
	"example.com/kestrel/vbks/params"
)

// wholeBound is that of kernels whose inducing inputs are all of the rows, in another order.
func wholeBound(t *testing.T, programs []*kernelspace.Program, x, y, w []float64, dim int) (*collapsed, device.Points, float64) {
	t.Helper()
	z := slices.Clone(x)
	for i := range dim { // the first row comes last
		z[i], z[len(z)-dim+i] = x[len(x)-dim+i], x[i]
	}
	if !sameRows(x, z, dim) {
		t.Fatal("not taken for the same rows")
	}
	b, rows := testBound(t, programs, x, y, z, dim, device.Jitter{Relative: 1e-9}, 1e-3, true)
	yy := sumSquares(y)
	if w != nil {
		rows, yy = reweighted(t, b, x, y, w, dim)
		b.common.train = rows.Data
	}
	b.common.whole = rows.Len()
	return b, rows, yy
}

// denseEvidence is log N(y; 0, K + σ²W⁻¹).
func denseEvidence(p *kernelspace.Program, raw []float64, noise float64, x, y, w []float64, dim int) float64 {
	n := len(y)
	row := func(i int) []float64 { return x[i*dim : (i+1)*dim] }
	k := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			k.SetSym(i, j, p.Eval(raw, row(i), row(j), i == j))
		}
		each := noise
		if w != nil {
			each /= w[i]
		}
		k.SetSym(i, i, k.At(i, i)+each)
	}
	var ch mat.Cholesky
	ch.Factorize(k)
	var alpha mat.VecDense
	v := mat.NewVecDense(n, slices.Clone(y))
	if err := ch.SolveVecTo(&alpha, v); err != nil {
		return math.NaN()
	}
	return -0.5*mat.Dot(v, &alpha) - 0.5*ch.LogDet() - 0.5*float64(n)*math.Log(2*math.Pi)
}

func TestWholeBoundIsTheEvidence(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 2))
	for _, c := range []struct {
		expr     string
		dim      int
		weighted bool
	}{
		{"SE", 1, false}, {"PER*SE+LIN", 1, false}, {"MATERN12+RQ", 2, false}, {"RW+PER", 1, true}, {"SE*LIN+CONST", 2, true},
	} {
		const n = 53
		x := randomPoints(rng, n, c.dim)
		if c.expr == "RW+PER" {
			for i := range x { // behind the origin
				x[i] = math.Abs(x[i])
			}
		}
		y := make([]float64, n)
		for i := range y {
			y[i] = math.Sin(x[i*c.dim]) + 0.3*rng.NormFloat64()
		}
		var w []float64
		if c.weighted {
			w = someWeights(rng, n)
		}
		p := kernelspacetest.Program(t, c.expr, kernelspace.Options{Dim: c.dim})
		b, rows, yy := wholeBound(t, []*kernelspace.Program{p}, x, y, w, c.dim)
		if whole, others := b.wholly([]int{0}, rows); len(whole) != 1 || len(others) != 0 {
			t.Fatalf("%s: not taken for whole", c.expr)
		}
		obj := b.boundObjective(rows, yy, nil)
		at := func(f, grad []float64) float64 {
			if err := obj.eval([]int{0}, [][]float64{f}); err != nil {
				t.Fatal(err)
			}
			v, ok, err := obj.result(0, grad)
			if err != nil || !ok {
				t.Fatal(c.expr, ok, err)
			}
			return v
		}
		for range 3 {
			free := make([]float64, len(p.Free)+1)
			for i := range free {
				free[i] = 0.5 * rng.NormFloat64()
			}
			free[len(free)-1] += math.Log(0.1)
			raw, noise := params.Raw(p, free, 1e-3)
			grad := make([]float64, len(free))
			got, want := at(free, grad), denseEvidence(p, raw, noise, x, y, w, c.dim)
			if math.Abs(got-want) > 1e-9*(1+math.Abs(want)) {
				t.Errorf("%s: %.12g, dense %.12g", c.expr, got, want)
			}
			for i := range free {
				const h = 1e-5
				f := slices.Clone(free)
				f[i] += h
				up := at(f, nil)
				f[i] -= 2 * h
				if fd := (up - at(f, nil)) / (2 * h); math.Abs(fd-grad[i]) > 1e-5*(1+math.Abs(fd)) {
					t.Errorf("%s: ∂/∂free[%d] %.9g, differences %.9g", c.expr, i, grad[i], fd)
				}
			}
			// Titsias' bound is the same but for the jitter.
			b.common.whole = 0
			if bound := at(free, nil); bound > got+1e-6 || bound < got-1e-3*(1+math.Abs(got)) {
				t.Errorf("%s: the bound is %.12g, the evidence %.12g", c.expr, bound, got)
			}
			b.common.whole = n
		}
	}
}

// A member's evidence is the same in company, also of kernels that go the other way.
func TestWholeBoundInCompany(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 17))
	x := randomPoints(rng, 40, 1)
	y := make([]float64, 40)
	for i := range y {
		y[i] = math.Cos(x[i]) + 0.1*rng.NormFloat64()
	}
	var programs []*kernelspace.Program
	for _, e := range []string{"SE", "WN+SE", "PER*RQ"} {
		programs = append(programs, kernelspacetest.Program(t, e, kernelspace.Options{Dim: 1}))
	}
	b, rows, yy := wholeBound(t, programs, x, y, nil, 1)
	if whole, others := b.wholly([]int{0, 1, 2}, rows); !slices.Equal(whole, []int{0, 2}) || !slices.Equal(others, []int{1}) {
		t.Fatal(whole, others)
	}
	results := func(subs ...[]int) (out [][]float64) {
		obj := b.boundObjective(rows, yy, nil)
		for _, sub := range subs {
			xs := make([][]float64, len(sub))
			for i, k := range sub {
				xs[i] = make([]float64, len(programs[k].Free)+1)
			}
			if err := obj.eval(sub, xs); err != nil {
				t.Fatal(err)
			}
			for _, k := range sub {
				grad := make([]float64, len(programs[k].Free)+1)
				v, ok, err := obj.result(k, grad)
				if err != nil || !ok {
					t.Fatal(k, ok, err)
				}
				out = append(out, append(grad, v))
			}
		}
		return out
	}
	alone, together := results([]int{0}, []int{1}, []int{2}), results([]int{0, 1, 2})
	for k := range alone {
		if !slices.Equal(alone[k], together[k]) {
			t.Errorf("%s: %v alone, %v in company", programs[k].ID, alone[k], together[k])
		}
	}
	// Some of the rows, or a kernel with inducing inputs of its own, go the other way.
	for what, some := range map[string]device.Points{
		"but the last":  {Data: rows.Data, From: rows.From, To: rows.To - 1},
		"but the first": {Data: rows.Data, From: rows.From + 1, To: rows.To},
	} {
		if whole, _ := b.wholly([]int{0}, some); whole != nil {
			t.Errorf("all rows %s are taken for all", what)
		}
	}
	if err := b.put(x[:10]); err != nil {
		t.Fatal(err)
	}
	if whole, _ := b.wholly([]int{0}, rows); whole != nil {
		t.Error("inducing inputs of its own are taken for all rows")
	}
}

// Predictions from all rows are those of dense matrices, also of rows of different weight, and
// each member's, in company, those it has alone, whatever way the others go.
func TestPredictionsFromAllRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 21))
	x, points := randomPoints(rng, 40, 1), []float64{-2.5, 0.1, 0.2, 7}
	y := make([]float64, 40)
	for i := range y {
		y[i] = math.Cos(x[i]) + 0.1*rng.NormFloat64()
	}
	var programs []*kernelspace.Program
	for _, e := range []string{"PER*SE+LIN", "WN+SE", "MATERN12"} {
		programs = append(programs, kernelspacetest.Program(t, e, kernelspace.Options{Dim: 1}))
	}
	for _, w := range [][]float64{nil, someWeights(rng, 40)} {
		b, rows, yy := wholeBound(t, programs, x, y, w, 1)
		at, err := b.dev.NewData(points, nil, 1)
		if err != nil {
			t.Fatal(err)
		}
		predict := func(sub []int) (mean, variance [][]float64) {
			for _, k := range sub {
				free := make([]float64, len(programs[k].Free)+1)
				free[len(free)-1] = math.Log(0.05)
				b.setFree(k, free)
			}
			b.lane.Expand(sub, b.ks, b.floor, b.free, b.theta)
			if err := b.posterior(sub, rows, yy, nil); err != nil {
				t.Fatal(err)
			}
			mean, variance, err := b.predict(sub, device.All(at), nil)
			if err != nil {
				t.Fatal(err)
			}
			return mean, variance
		}
		mean, variance := predict([]int{0, 1, 2})
		for k, p := range programs {
			oneMean, oneVariance := predict([]int{k})
			if !slices.Equal(oneMean[0], mean[k]) || !slices.Equal(oneVariance[0], variance[k]) {
				t.Errorf("%s: %v ± %v alone, %v ± %v in company", p.ID, oneMean[0], oneVariance[0], mean[k], variance[k])
			}
			if k == 1 {
				continue // it goes the other way, by a bound
			}
			raw, noise := params.Raw(p, append(make([]float64, len(p.Free)), math.Log(0.05)), 1e-3)
			wantMean, wantVariance := densePrediction(p, raw, noise, x, y, points)
			if w != nil {
				wantMean, wantVariance = denseWeightedPrediction(p, raw, noise, x, y, w, points)
			}
			for i := range points {
				if math.Abs(mean[k][i]-wantMean[i]) > 1e-9 || math.Abs(variance[k][i]-wantVariance[i]) > 1e-9 {
					t.Errorf("%s at %v: %v ± %v, dense %v ± %v", p.ID, points[i], mean[k][i], variance[k][i], wantMean[i], wantVariance[i])
				}
			}
		}
	}
}

// denseWeightedPrediction is that of rows with noise of variance σ²/w.
func denseWeightedPrediction(p *kernelspace.Program, raw []float64, noise float64, x, y, w, points []float64) (mean, variance []float64) {
	n := len(y)
	k := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range n {
			k.Set(i, j, p.Eval(raw, x[i:i+1], x[j:j+1], i == j))
		}
		k.Set(i, i, k.At(i, i)+noise/w[i])
	}
	for i := range points {
		at := points[i : i+1]
		cross := mat.NewVecDense(n, nil)
		for j := range n {
			cross.SetVec(j, p.Eval(raw, x[j:j+1], at, false))
		}
		var solved mat.VecDense
		if err := solved.SolveVec(k, cross); err != nil {
			panic(err)
		}
		mean = append(mean, mat.Dot(&solved, mat.NewVecDense(n, slices.Clone(y))))
		variance = append(variance, p.Eval(raw, at, at, true)-mat.Dot(&solved, cross))
	}
	return mean, variance
}

func TestSameRows(t *testing.T) {
	for _, c := range []struct {
		a, b []float64
		dim  int
		want bool
	}{
		{[]float64{1, 2, 3, 4}, []float64{3, 4, 1, 2}, 2, true},
		{[]float64{1, 2, 3, 4}, []float64{3, 4, 1, 2}, 1, true},
		{[]float64{1, 2, 3, 4}, []float64{1, 4, 3, 2}, 2, false},
		{[]float64{1, 2, 3}, []float64{1, 2}, 1, false},
		{[]float64{1, 1, 2}, []float64{1, 2, 2}, 1, false},
	} {
		if got := sameRows(c.a, c.b, c.dim); got != c.want {
			t.Errorf("%v and %v of %d: %v", c.a, c.b, c.dim, got)
		}
	}
}

// What is found on a part of the rows is taken to all of them: values, and those of other modes, are of all rows, where
// solutions are that have no slope any more, and the period is the one that data were drawn with, of rows with noise of
// their own as without.
func TestExploreApart(t *testing.T) {
	t.Parallel()
	const n, period = 90, .37
	for _, weighted := range []bool{false, true} {
		rng := rand.New(rand.NewPCG(5, 1))
		d := Training{Dim: 1}
		for i := range n {
			x, sd := 6*rng.Float64(), .2
			if weighted {
				sd = .1 + .2*float64(i%2)
				d.NoiseSD = append(d.NoiseSD, sd)
			}
			d.X, d.Y = append(d.X, x), append(d.Y, math.Sin(2*math.Pi*x/period)+sd*rng.NormFloat64())
		}
		s := quickSettings("collapsed")
		s.Inducing, s.Steps, s.Starts = n, 60, 3
		tr := trainerOn(t, 1, nil, d, s, "PER", "PER+SE")
		must.OK(t, tr.prepareSearch())
		if tr.whole != n || weighted != (tr.weighing.weights != nil) {
			t.Fatalf("of %d rows %d are inducing inputs; weights: %v", n, tr.whole, tr.weighing.weights)
		}
		w, tasks := tr.workers[0], []task{{Kernel: 0, Known: outcome{Factor: 1}}, {Kernel: 1, Known: outcome{Factor: 1}}}
		o := order{Phase: phaseSearch, Number: 1, Rows: n, Screen: tr.spreadRows(n, 30), Compared: tr.spreadRows(n, n)}
		first := o
		for i := range tasks {
			u := newUnit(t.Context(), tr.site(), &first, w, tasks[i:i+1])
			must.OK(t, u.search(t.Context()))
			tasks[i].Known = u.outcomes[0]
		}
		p := tr.kernels[0].program
		at := slices.IndexFunc(p.Free, func(q int) bool { return p.Params[q].Name == "period" })
		far := slices.Clone(tasks[0].Known.Best.X)
		far[at]++ // from what the data were drawn with
		tasks[0].Known.Best, tasks[0].Known.Modes = solution{X: far, Value: -1e6, Source: "last"}, nil
		o.Thorough, o.Late, o.Part = true, true, tr.spreadRows(n, 45)
		for i := range tasks {
			u := newUnit(t.Context(), tr.site(), &o, w, tasks[i:i+1])
			must.OK(t, u.search(t.Context()))
			must.OK(t, u.load(w.bound.group))
			objective := w.bound.boundValue(device.Points{Data: u.train, To: n}, sumSquares(tr.weighing.y), u.stop)
			f := &u.outcomes[0]
			if f.Failure != "" || f.Best.X == nil || len(f.Modes) == 0 {
				t.Fatalf("%+v", f)
			}
			for _, m := range append([]solution{f.Best}, f.Modes...) {
				a := &ascent{start: m.X}
				must.OK(t, value([]int{0}, []*ascent{a}, objective))
				if math.Abs(a.value-m.Value) > 1e-8*math.Abs(m.Value) || m.Value > f.Best.Value {
					t.Errorf("%s has %v by all rows where %v was found, the best %v", u.model(0).id, a.value, m.Value, f.Best.Value)
				}
			}
			if f.Best.Gain > .5 {
				t.Errorf("%s: %.2g nats are still expected", u.model(0).id, f.Best.Gain)
			}
			q := u.model(0).program
			raw, _ := params.Raw(q, f.Best.X, tr.floor)
			if at := slices.IndexFunc(q.Params, func(p kernelspace.Param) bool { return p.Name == "period" }); math.Abs(raw[at]/period-1) > .01 {
				t.Errorf("%s: a period of %v, drawn with %v", u.model(0).id, raw[at], period)
			}
		}
	}
}

// Where all rows are inducing inputs the evidence is what has been found, with nothing open, but for white noise.
func TestEvidenceOfAllRowsIsExact(t *testing.T) {
	s := quickSettings("collapsed")
	s.Inducing = 40
	tr := trainerOn(t, 1, nil, trainingSeries(3, 40), s, "SE+LIN", "PER", "SE+WN")
	train(t, tr)
	for _, k := range tr.Last().Kernels {
		exact := k.Evidence != nil && k.Evidence.Lower == k.ELBO && k.Evidence.Upper == k.ELBO
		if white := k.ID == "SE+WN"; exact == white {
			t.Errorf("%s: evidence %+v, found %v", k.ID, k.Evidence, k.ELBO)
		}
	}
}
