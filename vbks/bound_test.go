package vbks

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"example.com/kestrel/device"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/kernelspace/kernelspacetest"
	"example.com/kestrel/vbks/params"
)

// testBound makes the collapsed bound of one or more kernels on random data.
func testBound(
	t testing.TB, programs []*kernelspace.Program, x, y, z []float64, dim int, j device.Jitter, floor float64, tight ...bool,
) (*collapsed, device.Points) {
	t.Helper()
	dev := onCPU(1)
	t.Cleanup(func() { dev.Close() })
	train, err := dev.NewData(x, y, dim)
	if err != nil {
		t.Fatal(err)
	}
	zd, err := dev.NewData(z, nil, dim)
	if err != nil {
		t.Fatal(err)
	}
	params := 0
	for _, p := range programs {
		params = max(params, len(p.Params)+1)
	}
	c := &common{dev: dev, train: train, z: device.All(zd), m: zd.Rows(), dim: dim, jitter: j, floor: floor, wall: 100,
		tight: len(tight) > 0 && tight[0]}
	g, err := newGroup(c, dev.Lane(0), len(programs), params)
	if err != nil {
		t.Fatal(err)
	}
	b, err := newCollapsed(g)
	if err != nil {
		t.Fatal(err)
	}
	priors := make([]prior, len(programs))
	for i, p := range programs {
		n := len(p.Free) + 1
		priors[i] = prior{mean: make([]float64, n), prec: make([]float64, n), lo: make([]float64, n), hi: make([]float64, n)}
		for k := range n {
			priors[i].lo[k], priors[i].hi[k] = -50, 50
		}
	}
	if err := g.load(programs, priors); err != nil {
		t.Fatal(err)
	}
	return b, device.All(train)
}

// naiveCollapsed is log N(y | 0, Qff + σ²I) − tr(Kff − Qff)/2σ², by dense
// matrices over all rows.
func naiveCollapsed(p *kernelspace.Program, raw []float64, noise float64, x, y, z []float64, dim int, j device.Jitter) float64 {
	titsias, _ := naiveBounds(p, raw, noise, x, y, z, dim, j)
	return titsias
}

// naiveBounds are Titsias' bound and Artemev's.
func naiveBounds(
	p *kernelspace.Program,
	raw []float64,
	noise float64,
	x, y, z []float64,
	dim int,
	j device.Jitter,
) (titsias, tight float64) {
	n, m := len(y), len(z)/dim
	row := func(a []float64, i int) []float64 { return a[i*dim : (i+1)*dim] }
	kzz := mat.NewSymDense(m, nil)
	var trace float64
	for a := range m {
		for b := a; b < m; b++ {
			kzz.SetSym(a, b, p.Eval(raw, row(z, a), row(z, b), a == b))
		}
		trace += kzz.At(a, a)
	}
	for a := range m {
		kzz.SetSym(a, a, kzz.At(a, a)+j.Absolute+j.Relative*trace/float64(m))
	}
	kzx := mat.NewDense(m, n, nil)
	for a := range m {
		for b := range n {
			kzx.Set(a, b, p.Eval(raw, row(z, a), row(x, b), false))
		}
	}
	var ch mat.Cholesky
	ch.Factorize(kzz)
	var sol, q mat.Dense
	ch.SolveTo(&sol, kzx)
	q.Mul(kzx.T(), &sol)
	cov := mat.NewSymDense(n, nil)
	var excess float64
	for a := range n {
		for b := a; b < n; b++ {
			cov.SetSym(a, b, q.At(a, b))
		}
		excess += p.Eval(raw, row(x, a), row(x, a), true) - q.At(a, a)
		cov.SetSym(a, a, q.At(a, a)+noise)
	}
	ch.Factorize(cov)
	var w mat.VecDense
	yv := mat.NewVecDense(n, append([]float64(nil), y...))
	ch.SolveVecTo(&w, yv)
	likelihood := -0.5*mat.Dot(yv, &w) - 0.5*ch.LogDet() - 0.5*float64(n)*math.Log(2*math.Pi)
	return likelihood - excess/(2*noise), likelihood - 0.5*float64(n)*math.Log(1+excess/(float64(n)*noise))
}

func randomPoints(rng *rand.Rand, n, dim int) []float64 {
	x := make([]float64, n*dim)
	for i := range x {
		x[i] = 3 * rng.NormFloat64()
	}
	return x
}

func TestCollapsedAgainstDenseMatrices(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, dim := range []int{1, 2} {
		x, z := randomPoints(rng, 60, dim), randomPoints(rng, 9, dim)
		y := make([]float64, 60)
		for i := range y {
			y[i] = math.Sin(x[i*dim]) + 0.3*rng.NormFloat64()
		}
		for _, expr := range []string{"SE", "(PER+RQ)*LIN", "PER*LIN*RQ", "LIN+SE*MATERN32", "SE+CONST+COS*MATERN52"} {
			p := kernelspacetest.Program(t, expr, kernelspace.Options{Dim: dim, ARD: dim > 1})
			for number, j := range []device.Jitter{{Absolute: 1e-6}, {Relative: 1e-4}, {Absolute: 1e-6}} {
				b, rows := testBound(t, []*kernelspace.Program{p}, x, y, z, dim, j, 1e-3, number == 2)
				free := make([]float64, len(p.Free)+1)
				for i := range free {
					free[i] = 0.5 * rng.NormFloat64()
				}
				free[len(free)-1] = math.Log(0.2)
				raw, noise := params.Raw(p, free, 1e-3)
				obj := b.boundObjective(rows, sumSquares(y), nil)
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
				want, tight := naiveBounds(p, raw, noise, x, y, z, dim, j)
				if b.tight {
					want = tight
				}
				if math.Abs(got-want) > 1e-8*(1+math.Abs(want)) {
					t.Errorf("%s, dim %d, %+v: bound %.12g, dense %.12g", expr, dim, j, got, want)
				}
				for i := range free {
					const h = 1e-5
					f := append([]float64(nil), free...)
					f[i] += h
					up := at(f, nil)
					f[i] -= 2 * h
					fd := (up - at(f, nil)) / (2 * h)
					if math.Abs(fd-grad[i]) > 1e-5*(1+math.Abs(fd)) {
						t.Errorf("%s, dim %d, %+v: ∂/∂free[%d] %.9g, differences %.9g", expr, dim, j, i, grad[i], fd)
					}
				}
			}
		}
	}
}

// With Z = X the collapsed bound is the exact log marginal likelihood.
func TestCollapsedAtAllInputsIsExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	x := randomPoints(rng, 40, 1)
	y := make([]float64, 40)
	for i := range y {
		y[i] = math.Cos(x[i]) + 0.1*rng.NormFloat64()
	}
	p := kernelspacetest.Program(t, "SE+LIN", kernelspace.Options{Dim: 1})
	b, rows := testBound(t, []*kernelspace.Program{p}, x, y, x, 1, device.Jitter{Absolute: 1e-9}, 0)
	free := []float64{0.1, -0.2, -1, math.Log(0.05)}
	raw, noise := params.Raw(p, free, 0)
	cov := mat.NewSymDense(40, nil)
	for i := range 40 {
		for j := i; j < 40; j++ {
			cov.SetSym(i, j, p.Eval(raw, x[i:i+1], x[j:j+1], i == j))
		}
		cov.SetSym(i, i, cov.At(i, i)+noise)
	}
	var ch mat.Cholesky
	ch.Factorize(cov)
	var w mat.VecDense
	yv := mat.NewVecDense(40, append([]float64(nil), y...))
	ch.SolveVecTo(&w, yv)
	want := -0.5*mat.Dot(yv, &w) - 0.5*ch.LogDet() - 20*math.Log(2*math.Pi)
	obj := b.boundValue(rows, sumSquares(y), nil)
	if err := obj.eval([]int{0}, [][]float64{free}); err != nil {
		t.Fatal(err)
	}
	got, ok, err := obj.result(0, nil)
	if err != nil || !ok || math.Abs(got-want) > 1e-5*(1+math.Abs(want)) {
		t.Errorf("collapsed %.10g, exact %.10g (%v, %v)", got, want, ok, err)
	}
}

// What is not kept of k(Z,X) is computed again, with the same result.
func TestBoundOfManyRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	const n = 3*chunkRows + 77
	x, z := randomPoints(rng, n, 1), randomPoints(rng, 7, 1)
	y := make([]float64, n)
	for i := range y {
		y[i] = math.Sin(x[i]) + 0.3*rng.NormFloat64()
	}
	p := kernelspacetest.Program(t, "PER*SE+LIN", kernelspace.Options{Dim: 1})
	free := make([]float64, len(p.Free)+1)
	var want []float64
	for _, kept := range []int{9, 4, 3, 2, 1} {
		b, rows := testBound(t, []*kernelspace.Program{p}, x, y, z, 1, device.Jitter{Relative: 1e-6}, 1e-3)
		b.kept = kept
		obj := b.boundObjective(rows, sumSquares(y), nil)
		if err := obj.eval([]int{0}, [][]float64{free}); err != nil {
			t.Fatal(err)
		}
		grad := make([]float64, len(free))
		v, ok, err := obj.result(0, grad)
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		got := append(grad, v)
		if want == nil {
			want = got
		}
		for i := range got {
			if got[i] != want[i] {
				t.Errorf("%d chunks kept: %v, all kept: %v", kept, got, want)
				break
			}
		}
		if len(b.kzx) > kept {
			t.Errorf("%d chunks where %d may be kept", len(b.kzx), kept)
		}
	}
}
