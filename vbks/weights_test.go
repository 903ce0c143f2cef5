package vbks

import (
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"example.com/kestrel/device"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/kernelspace/kernelspacetest"
	"example.com/kestrel/vbks/params"
)

// someWeights are of geometric mean 1.
func someWeights(rng *rand.Rand, n int) []float64 {
	w, sum := make([]float64, n), 0.0
	for i := range w {
		w[i] = rng.NormFloat64()
		sum += w[i] / float64(n)
	}
	for i := range w {
		w[i] = math.Exp(w[i] - sum)
	}
	return w
}

// reweighted puts weighted rows in the place of a bound's.
func reweighted(t *testing.T, b *collapsed, x, y, w []float64, dim int) (rows device.Points, yy float64) {
	t.Helper()
	d, y, err := weighted(b.dev, x, y, w, dim)
	if err != nil {
		t.Fatal(err)
	}
	return device.All(d), sumSquares(y)
}

// denseWeighted are Titsias' and Artemev's bound of rows of noise σ²/w, by dense matrices
// over all rows:
//
//	log N(y; 0, Q + σ²W⁻¹) − T/2σ² and − n/2 log(1 + T/nσ²),   T = Σ w (k(x,x) − q(x,x)).
func denseWeighted(
	p *kernelspace.Program, raw []float64, noise float64, x, y, z, w []float64, dim int, jitter float64,
) (titsias, tight float64) {
	n, m := len(y), len(z)/dim
	row := func(a []float64, i int) []float64 { return a[i*dim : (i+1)*dim] }
	kzz, kzx := mat.NewSymDense(m, nil), mat.NewDense(m, n, nil)
	for a := range m {
		for b := a; b < m; b++ {
			kzz.SetSym(a, b, p.Eval(raw, row(z, a), row(z, b), a == b))
		}
		kzz.SetSym(a, a, kzz.At(a, a)+jitter)
		for b := range n {
			kzx.Set(a, b, p.Eval(raw, row(z, a), row(x, b), false))
		}
	}
	var ch mat.Cholesky
	ch.Factorize(kzz)
	var sol, q mat.Dense
	if err := ch.SolveTo(&sol, kzx); err != nil {
		panic(err)
	}
	q.Mul(kzx.T(), &sol)
	cov, excess := mat.NewSymDense(n, nil), 0.0
	for a := range n {
		for b := a; b < n; b++ {
			cov.SetSym(a, b, q.At(a, b))
		}
		excess += w[a] * (p.Eval(raw, row(x, a), row(x, a), true) - q.At(a, a))
		cov.SetSym(a, a, q.At(a, a)+noise/w[a])
	}
	ch.Factorize(cov)
	var alpha mat.VecDense
	yv := mat.NewVecDense(n, slices.Clone(y))
	if err := ch.SolveVecTo(&alpha, yv); err != nil {
		panic(err)
	}
	likelihood := -0.5*mat.Dot(yv, &alpha) - 0.5*ch.LogDet() - 0.5*float64(n)*math.Log(2*math.Pi)
	return likelihood - excess/(2*noise), likelihood - 0.5*float64(n)*math.Log1p(excess/(float64(n)*noise))
}

// The bound of weighted rows is that of rows whose noise is σ²/w, and its gradient that of
// its differences.
func TestWeightedBoundAgainstDenseMatrices(t *testing.T) {
	rng := rand.New(rand.NewPCG(30, 4))
	for _, dim := range []int{1, 2} {
		x, z, w := randomPoints(rng, 60, dim), randomPoints(rng, 9, dim), someWeights(rng, 60)
		y := make([]float64, 60)
		for i := range y {
			y[i] = math.Sin(x[i*dim]) + 0.3*rng.NormFloat64()
		}
		for _, expr := range []string{"SE", "(PER+RQ)*LIN", "LIN+SE*MATERN32", "SE+CONST+WN"} {
			p := kernelspacetest.Program(t, expr, kernelspace.Options{Dim: dim, ARD: dim > 1})
			for _, tight := range []bool{false, true} {
				b, _ := testBound(t, []*kernelspace.Program{p}, x, y, z, dim, device.Jitter{Absolute: 1e-6}, 1e-3, tight)
				rows, yy := reweighted(t, b, x, y, w, dim)
				free := make([]float64, len(p.Free)+1)
				for i := range free {
					free[i] = 0.5 * rng.NormFloat64()
				}
				free[len(free)-1] = math.Log(0.2)
				raw, noise := params.Raw(p, free, 1e-3)
				obj := b.boundObjective(rows, yy, nil)
				at := func(f []float64, grad []float64) float64 {
					if err := obj.eval([]int{0}, [][]float64{f}); err != nil {
						t.Fatal(err)
					}
					v, ok, err := obj.result(0, grad)
					if err != nil || !ok {
						t.Fatal(ok, err)
					}
					return v
				}
				grad := make([]float64, len(free))
				got := at(free, grad)
				want, other := denseWeighted(p, raw, noise, x, y, z, w, dim, 1e-6)
				if tight {
					want = other
				}
				if math.Abs(got-want) > 1e-8*(1+math.Abs(want)) {
					t.Errorf("%s, dim %d, tight %v: bound %.12g, dense %.12g", expr, dim, tight, got, want)
				}
				for i := range free {
					const h = 1e-5
					f := slices.Clone(free)
					f[i] += h
					up := at(f, nil)
					f[i] -= 2 * h
					fd := (up - at(f, nil)) / (2 * h)
					if math.Abs(fd-grad[i]) > 1e-5*(1+math.Abs(fd)) {
						t.Errorf("%s, dim %d, tight %v: ∂/∂free[%d] %.9g, differences %.9g", expr, dim, tight, i, grad[i], fd)
					}
				}
			}
		}
	}
}

// Where all inputs are inducing, predictions are those of a Gaussian process of covariance
// K + diag(σ²/w), and so is the evidence.
func TestWeightedRowsExactly(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 6))
	const n = 40
	x, w := randomPoints(rng, n, 1), someWeights(rng, n)
	y := make([]float64, n)
	for i := range y {
		y[i] = math.Cos(x[i]) + 0.1*rng.NormFloat64()
	}
	p := kernelspacetest.Program(t, "SE+LIN", kernelspace.Options{Dim: 1})
	b, _ := testBound(t, []*kernelspace.Program{p}, x, y, x, 1, device.Jitter{Absolute: 1e-9}, 0)
	rows, yy := reweighted(t, b, x, y, w, 1)
	free := []float64{0.1, -0.2, -1, math.Log(0.05)}
	raw, noise := params.Raw(p, free, 0)
	cov := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			cov.SetSym(i, j, p.Eval(raw, x[i:i+1], x[j:j+1], i == j))
		}
		cov.SetSym(i, i, cov.At(i, i)+noise/w[i])
	}
	var ch mat.Cholesky
	ch.Factorize(cov)
	var alpha mat.VecDense
	yv := mat.NewVecDense(n, slices.Clone(y))
	if err := ch.SolveVecTo(&alpha, yv); err != nil {
		t.Fatal(err)
	}
	want := -0.5*mat.Dot(yv, &alpha) - 0.5*ch.LogDet() - n/2*math.Log(2*math.Pi)
	obj := b.boundValue(rows, yy, nil)
	if err := obj.eval([]int{0}, [][]float64{free}); err != nil {
		t.Fatal(err)
	}
	if got, ok, err := obj.result(0, nil); err != nil || !ok || math.Abs(got-want) > 1e-5*(1+math.Abs(want)) {
		t.Errorf("the bound is %.10g, the evidence %.10g (%v, %v)", got, want, ok, err)
	}
	at := []float64{-2.2, 0.3, 7}
	d, err := b.dev.NewData(at, nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	b.belief([]int{0})
	mean, variance, err := b.predict([]int{0}, device.All(d), nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range at {
		k := mat.NewVecDense(n, nil)
		for j := range n {
			k.SetVec(j, p.Eval(raw, []float64{v}, x[j:j+1], false))
		}
		var s mat.VecDense
		if err := ch.SolveVecTo(&s, k); err != nil {
			t.Fatal(err)
		}
		m, s2 := mat.Dot(k, &alpha), p.Eval(raw, []float64{v}, []float64{v}, true)-mat.Dot(k, &s)
		if math.Abs(mean[0][i]-m) > 1e-5 || math.Abs(variance[0][i]-s2) > 1e-5 {
			t.Errorf("at %g: %.8f and %.8f, exactly %.8f and %.8f", v, mean[0][i], variance[0][i], m, s2)
		}
	}
}

// A row twice with half the weight is the row once, but for what the other density of two
// rows is.
func TestHalfARowTwice(t *testing.T) {
	rng := rand.New(rand.NewPCG(32, 6))
	const n = 30
	x, z := randomPoints(rng, n, 1), randomPoints(rng, 7, 1)
	y := make([]float64, n)
	for i := range y {
		y[i] = math.Cos(x[i]) + 0.1*rng.NormFloat64()
	}
	ones := slices.Repeat([]float64{1}, n)
	p := kernelspacetest.Program(t, "SE+PER", kernelspace.Options{Dim: 1})
	b, _ := testBound(t, []*kernelspace.Program{p}, x, y, z, 1, device.Jitter{Absolute: 1e-9}, 0)
	moments := func(x, y, w []float64) (mean, variance []float64) {
		rows, yy := reweighted(t, b, x, y, w, 1)
		obj := b.boundValue(rows, yy, nil)
		if err := obj.eval([]int{0}, [][]float64{{0, 0, 0, 0, 0, math.Log(0.05)}}); err != nil {
			t.Fatal(err)
		}
		b.belief([]int{0})
		d, err := b.dev.NewData([]float64{-1, 0.4, 3}, nil, 1)
		if err != nil {
			t.Fatal(err)
		}
		m, v, err := b.predict([]int{0}, device.All(d), nil)
		if err != nil {
			t.Fatal(err)
		}
		return m[0], v[0]
	}
	mean, variance := moments(x, y, ones)
	half := slices.Concat(ones, []float64{0.5})
	half[4] = 0.5
	twice, vTwice := moments(append(slices.Clone(x), x[4]), append(slices.Clone(y), y[4]), half)
	for i := range mean {
		if math.Abs(mean[i]-twice[i]) > 1e-9 || math.Abs(variance[i]-vTwice[i]) > 1e-9 {
			t.Errorf("once %v ± %v, twice half %v ± %v", mean, variance, twice, vTwice)
		}
	}
}

// spoilt are rows of a series, every so many of them ten standard deviations of the noise off.
func spoilt(seed uint64, n, every int) (d Training, f []float64) {
	rng, signs := rand.New(rand.NewPCG(seed, 40)), rand.New(rand.NewPCG(seed, 41))
	d.Dim = 1
	for i := range n {
		x := 4*rng.Float64() - 2
		d.X, f = append(d.X, x), append(f, math.Sin(3*x))
		e := 0.2 * rng.NormFloat64()
		if every > 0 && i%every == every/2 {
			e = 2 * float64(1-2*signs.IntN(2))
		}
		d.Y = append(d.Y, f[i]+e)
	}
	return d, f
}

// off is the root mean square error of f at the rows.
func off(t *testing.T, tr *Trainer, x, f []float64) float64 {
	t.Helper()
	p, err := tr.Predict(context.Background(), x, PredictOptions{})
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for i := range f {
		m, _ := p.Moments(i, false)
		sum += (m - f[i]) * (m - f[i]) / float64(len(f))
	}
	return math.Sqrt(sum)
}

// Outliers are found, cost the function little, and predictions of y know of them; without
// any "auto" is the normal likelihood bit for bit.
func TestStudentNoise(t *testing.T) {
	for _, optimizer := range []string{"collapsed", "natural"} {
		t.Run(optimizer, func(t *testing.T) {
			s := quickSettings(optimizer)
			s.EvaluateEvery, s.Refine, s.Inducing = 0.5, 2, 24
			fit := func(d Training, likelihood string) *Trainer {
				s.Likelihood = likelihood
				tr := trainerOn(t, 1, nil, d, s, "SE", "LIN")
				train(t, tr)
				return tr
			}
			clean, f := spoilt(1, 240, 0)
			bad, _ := spoilt(1, 240, 20)
			auto, plain := fit(clean, autoLikelihood), fit(clean, gaussianLikelihood)
			if auto.weighing.weights != nil || auto.Last().Noise != nil {
				t.Errorf("no outliers, but noise %+v", auto.Last().Noise)
			}
			if a, b := auto.Checkpoint(), plain.Checkpoint(); !slices.Equal(a["kernel/0/free"].Data, b["kernel/0/free"].Data) {
				t.Error("without outliers the kernels are others")
			}
			good := off(t, plain, clean.X, f)
			robust, normal := fit(bad, autoLikelihood), fit(bad, gaussianLikelihood)
			got, without := off(t, robust, clean.X, f), off(t, normal, clean.X, f)
			if got > 1.2*good || got > 0.7*without {
				t.Errorf("f is off by %.4f with 5 %% outliers, %.4f without any, %.4f if noise were normal", got, good, without)
			}
			m := robust.Last().Noise
			if m == nil || m.Normal() || math.Abs(m.Outliers-0.05) > 0.02 {
				t.Fatalf("noise %+v", m)
			}
			p, err := robust.Predict(context.Background(), clean.X, PredictOptions{})
			if err != nil {
				t.Fatal(err)
			}
			inside := 0
			for i, y := range bad.Y {
				if y > p.Quantile(i, 0.1, true) && y < p.Quantile(i, 0.9, true) {
					inside++
				}
			}
			if share := float64(inside) / 240; share < 0.72 || share > 0.9 {
				t.Errorf("%.3f of the rows are in the interval of .8", share)
			}
			if i := slices.IndexFunc(robust.Last().Notices, func(n Notice) bool { return strings.Contains(n.Text, "Student") }); i >= 0 {
				t.Error("the last evaluation tells what an earlier one has")
			}
		})
	}
}

// A run with weights goes on from a checkpoint bit for bit, and its model predicts as it does.
func TestWeightsAreKept(t *testing.T) {
	d, _ := spoilt(2, 160, 16)
	d.NoiseSD = make([]float64, 160)
	for i := range d.NoiseSD {
		d.NoiseSD[i] = 1 + float64(i%3)
	}
	for _, optimizer := range []string{"collapsed", "natural"} {
		t.Run(optimizer, func(t *testing.T) {
			s := quickSettings(optimizer)
			s.EvaluateEvery, s.Refine, s.Likelihood, s.Inducing = 0.5, 2, StudentLikelihood, 16
			tr := trainerOn(t, 1, nil, d, s, "SE", "LIN")
			next(t, tr)
			next(t, tr)
			next(t, tr)
			saved := tr.Checkpoint()
			if want := map[string]float64{"collapsed": weightFormat, "natural": lowerFormat}; saved["format"].Data[0] != want[optimizer] {
				t.Errorf("format %v", saved["format"].Data)
			}
			again, err := Resume(context.Background(), onCPU(1), d, candidates(t, "SE", "LIN"), []string{"x"}, s, saved)
			if err != nil {
				t.Fatal(err)
			}
			next(t, tr)
			next(t, again)
			a, b := tr.Checkpoint(), again.Checkpoint()
			for name, want := range a {
				if !slices.Equal(want.Data, b[name].Data) {
					t.Errorf("array %s differs after resuming", name)
				}
			}
			ctx, at, o := context.Background(), []float64{-1.5, 0.2, 1.9}, PredictOptions{NoiseSD: []float64{1, 0, 5}}
			want, err := tr.Predict(ctx, at, o)
			if err != nil {
				t.Fatal(err)
			}
			for _, most := range []int{0, MostFactors} {
				frozen, err := tr.Freeze(ctx, FreezeOptions{MostFactors: most})
				if err != nil {
					t.Fatal(err)
				}
				thawed, err := frozen.On(onCPU(1))
				if err != nil {
					t.Fatal(err)
				}
				got, err := thawed.Predict(ctx, at, o)
				if err != nil {
					t.Fatal(err)
				}
				for row := range at {
					m, v := want.Moments(row, true)
					gm, gv := got.Moments(row, true)
					if math.Abs(m-gm) > 1e-9 || math.Abs(v-gv) > 1e-9 {
						t.Errorf("row %d: %g and %g, the model %g and %g", row, m, v, gm, gv)
					}
				}
				if a, b := want.NoiseScale[0]*25, want.NoiseScale[2]; math.Abs(a/b-1) > 1e-9 {
					t.Errorf("noise of five times the standard deviation: %v", want.NoiseScale)
				}
			}
		})
	}
}

// Of rows left out in closed form the densities are those of a fit without them.
func TestWeightedRowsLeftOut(t *testing.T) {
	d, _ := spoilt(3, 50, 0)
	rng := rand.New(rand.NewPCG(3, 3))
	d.NoiseSD = make([]float64, 50)
	for i := range d.NoiseSD {
		d.NoiseSD[i] = math.Exp(0.5 * rng.NormFloat64())
	}
	s := quickSettings("collapsed")
	s.EvaluateEvery, s.Refine, s.Inducing = 1, 0, 50
	tr := trainerOn(t, 1, nil, d, s, "SE")
	next(t, tr)
	densities, err := tr.leaveOneOut(context.Background(), []string{"SE"})
	if err != nil {
		t.Fatal(err)
	}
	p, raw, noise, err := tr.Solution("SE")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []int{0, 17, 42} {
		n := 49
		var at []int
		for i := range 50 {
			if i != row {
				at = append(at, i)
			}
		}
		cov, k, y := mat.NewSymDense(n, nil), mat.NewVecDense(n, nil), mat.NewVecDense(n, nil)
		for a, i := range at {
			for b := a; b < n; b++ {
				cov.SetSym(a, b, p.Eval(raw, d.X[i:i+1], d.X[at[b]:at[b]+1], a == b))
			}
			cov.SetSym(a, a, cov.At(a, a)+noise/tr.weighing.of(i))
			k.SetVec(a, p.Eval(raw, d.X[row:row+1], d.X[i:i+1], false))
			y.SetVec(a, d.Y[i])
		}
		var ch mat.Cholesky
		ch.Factorize(cov)
		var s mat.VecDense
		if err := ch.SolveVecTo(&s, k); err != nil {
			t.Fatal(err)
		}
		mean := mat.Dot(&s, y)
		v := p.Eval(raw, d.X[row:row+1], d.X[row:row+1], true) - mat.Dot(&s, k) + noise/tr.weighing.of(row)
		want := -0.5 * (math.Log(2*math.Pi*v) + (d.Y[row]-mean)*(d.Y[row]-mean)/v)
		if got := densities["SE"][row]; math.Abs(got-want) > 1e-4 {
			t.Errorf("row %d: %.6f, %.6f by dense matrices", row, got, want)
		}
	}
}

// Noise by levels of an input is found where the rows have it, and predicted.
func TestNoiseByLevels(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	d := Training{Dim: 2, NoiseBy: 2}
	for i := range 200 {
		x, level := 4*rng.Float64()-2, float64(i%2)
		d.X = append(d.X, x, level)
		d.Y = append(d.Y, math.Sin(2*x)+[]float64{0.1, 0.5}[i%2]*rng.NormFloat64())
	}
	s := quickSettings("collapsed")
	s.EvaluateEvery, s.Refine, s.Inducing, s.Likelihood = 1, 2, 30, gaussianLikelihood
	space := candidates(t, "SE[x1]")
	tr, err := New(context.Background(), onCPU(1), d, space, []string{"x1", "x2"}, s)
	if err != nil {
		t.Fatal(err)
	}
	train(t, tr)
	p, err := tr.Predict(context.Background(), []float64{0, 0, 0, 1, 0, 5}, PredictOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for row, want := range []float64{0.1, 0.5} {
		_, of := p.Moments(row, false)
		_, with := p.Moments(row, true)
		if sd := math.Sqrt(with - of); math.Abs(sd/want-1) > 0.2 {
			t.Errorf("level %d: noise of sd %.3f, made with %.1f", row, sd, want)
		}
	}
	if p.NoiseScale[2] <= p.NoiseScale[0] || p.NoiseScale[2] >= p.NoiseScale[1] {
		t.Errorf("factors of the noise %v: a level that no row has lies between", p.NoiseScale)
	}
}

// Machines that do a run's units have the weights of its rows.
func TestCrewsHaveTheWeights(t *testing.T) {
	d, _ := spoilt(5, 120, 12)
	d.NoiseSD = make([]float64, 120)
	for i := range d.NoiseSD {
		d.NoiseSD[i] = 1 + float64(i%2)
	}
	for _, optimizer := range []string{"collapsed", "natural"} {
		s := quickSettings(optimizer)
		s.EvaluateEvery, s.Refine, s.Inducing, s.Likelihood, s.Steps, s.Starts = 0.5, 2, 12, autoLikelihood, 4, 2
		here := trainerOn(t, 1, nil, d, s, "SE", "LIN+SE")
		want := train(t, here)
		if here.weighing.model.Normal() {
			t.Errorf("%s: no outliers are found", optimizer)
		}
		tr, _ := crewed(t, 1, 1, false, d, s, "SE", "LIN+SE")
		if got := train(t, tr); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: another run, where a machine does its units", optimizer)
		}
	}
}
