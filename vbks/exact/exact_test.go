package exact

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"example.com/kestrel/device/cpu"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/kernelspace/kernelspacetest"
	"example.com/kestrel/vbks/params"
)

// points are n rows of dim columns and targets.
func points(n, dim int) (x, y []float64) {
	rng := rand.New(rand.NewPCG(4, uint64(n)))
	for range n {
		s := 0.0
		for range dim {
			x = append(x, 3*rng.NormFloat64())
			s += math.Sin(x[len(x)-1])
		}
		y = append(y, s+0.3*rng.NormFloat64())
	}
	return x, y
}

// naive is log N(y; 0, K + σ²I) by the formulas of kernelspace and gonum.
func naive(p *kernelspace.Program, raw []float64, noise float64, x, y []float64) float64 {
	n := len(y)
	at := func(i int) []float64 { return x[i*p.Dim : (i+1)*p.Dim] }
	k := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			k.SetSym(i, j, p.Eval(raw, at(i), at(j), i == j))
		}
		k.SetSym(i, i, k.At(i, i)+noise)
	}
	var c mat.Cholesky
	var w mat.VecDense
	if !c.Factorize(k) || c.SolveVecTo(&w, mat.NewVecDense(n, y)) != nil {
		return math.NaN()
	}
	return -0.5*mat.Dot(mat.NewVecDense(n, y), &w) - 0.5*c.LogDet() - 0.5*float64(n)*math.Log(2*math.Pi)
}

// logPrior is written out anew: independent normals of log θ and ρ, and 50 nats for
// each squared logarithm beyond the bounds.
func logPrior(free, mean, sd, lo, hi []float64, with bool) (sum float64) {
	for i, x := range free {
		if with {
			z := (x - mean[i]) / sd[i]
			sum -= z*z/2 + math.Log(sd[i]) + math.Log(2*math.Pi)/2
		}
		out := math.Max(0, math.Max(lo[i]-x, x-hi[i]))
		sum -= 50 * out * out
	}
	return sum
}

func ready(t *testing.T, p *kernelspace.Program, x, y []float64, o Options) *Kernel {
	t.Helper()
	rows, err := New(cpu.New(cpu.Options{Lanes: 1}), x, y, p.Dim, o)
	must.OK(t, err)
	k, err := rows.Kernel(p)
	must.OK(t, err)
	return k
}

// Value and gradient, with prior and without, against dense formulas and finite
// differences.
func TestEvidence(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		expr string
		dim  int
		n    int
	}{
		{"SE+LIN", 1, 25}, {"PER*LIN*RQ", 1, 40}, {"(PER+RQ)*LIN", 1, 70}, {"MATERN32*SE+WN", 2, 30}, {"PER+PER*SE", 2, 33},
	} {
		p := kernelspacetest.Program(t, c.expr, kernelspace.Options{Dim: c.dim})
		x, y := points(c.n, c.dim)
		for at, o := range []Options{{NoiseFloor: 1e-4, ThetaPrior: true}, {}, {ThetaPrior: true}} {
			k := ready(t, p, x, y, o)
			mean, sd, lo, hi := k.Prior(p)
			free := make([]float64, len(mean))
			for i := range free {
				free[i] = mean[i] + 0.5*rng.NormFloat64()
			}
			if at == 2 {
				free[len(free)-1] = hi[len(free)-1] + 0.3 // beyond a soft bound
			}
			grad := make([]float64, len(free))
			got, ok, err := k.eval(free, grad)
			if err != nil || !ok {
				t.Fatal(c.expr, ok, err)
			}
			raw, noise := params.Raw(p, free, k.floor)
			want := naive(p, raw, noise, x, y) + logPrior(free, mean, sd, lo, hi, o.ThetaPrior)
			if math.Abs(got-want) > 1e-7*(1+math.Abs(want)) {
				t.Errorf("%s, %+v: %v, want %v", c.expr, o, got, want)
			}
			if plain, ok, err := k.At(free); plain != got || !ok || err != nil {
				t.Errorf("%s: %v without gradient, %v with", c.expr, plain, got)
			}
			for i := range free {
				const h = 1e-5
				at := func(d float64) float64 {
					moved := append([]float64(nil), free...)
					moved[i] += d
					v, _, err := k.At(moved)
					must.OK(t, err)
					return v
				}
				if slope := (at(h) - at(-h)) / (2 * h); math.Abs(slope-grad[i]) > 1e-4*(1+math.Abs(slope)) {
					t.Errorf("%s, %+v: gradient[%d] = %v, by differences %v", c.expr, o, i, grad[i], slope)
				}
			}
		}
	}
}

// A matrix that rounding makes indefinite gets jitter, as little as it takes, and
// its share of the gradient; one that is not of numbers has no evidence.
func TestEvidenceWithoutNoise(t *testing.T) {
	p := kernelspacetest.Program(t, "SE", kernelspace.Options{Dim: 1})
	x, y := points(60, 1)
	k := ready(t, p, x, y, Options{})
	free := k.Free([]float64{1, 20}, 0)
	free[2] = -80
	grad := make([]float64, len(free))
	v, ok, err := k.eval(free, grad)
	if err != nil || !ok || math.IsNaN(v) {
		t.Fatal(v, ok, err)
	}
	jitter, ok, err := k.factorise(free, 0)
	if err != nil || !ok || jitter.Relative < leastJitter || jitter.Relative > 1e-9 {
		t.Errorf("jitter %v, %v, %v", jitter, ok, err)
	}
	if v, ok, err = k.At([]float64{math.NaN(), 0, 0}); ok || err != nil {
		t.Error(v, ok, err)
	}
	if _, v, err = k.Climb(t.Context(), []float64{math.NaN(), 0, 0}); !math.IsNaN(v) || err != nil {
		t.Error(v, err)
	}
}

// A climb comes to where the gradient is nothing, from far off, too, and ends with
// its context.
func TestClimb(t *testing.T) {
	p := kernelspacetest.Program(t, "SE+LIN", kernelspace.Options{Dim: 1})
	x, y := points(80, 1)
	k := ready(t, p, x, y, Options{NoiseFloor: 1e-6, ThetaPrior: true})
	near := k.Free([]float64{1, 1, 0.1, 1}[:len(p.Params)], 0.1)
	_, top, err := k.Climb(t.Context(), near)
	must.OK(t, err)
	far := append([]float64(nil), near...)
	for i := range far {
		far[i]++
	}
	start, _, err := k.At(far)
	must.OK(t, err)
	_, again, err := k.Climb(t.Context(), far)
	if err != nil || math.Abs(again-top) > 0.01 || !(top > start+1) {
		t.Errorf("from %v: %v, want %v, %v", start, again, top, err)
	}
	stop := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stop)
	if _, _, err := k.Climb(ctx, near); !errors.Is(err, stop) {
		t.Error(err)
	}
}

// What unit vectors are turned into has k(X,X) as its second moments.
func TestDraw(t *testing.T) {
	p := kernelspacetest.Program(t, "PER*SE+LIN", kernelspace.Options{Dim: 1})
	const n = 20
	x, _ := points(n, 1)
	k := ready(t, p, x, nil, Options{})
	raw, _ := params.Raw(p, make([]float64, len(p.Free)+1), 0)
	moments := mat.NewDense(n, n, nil)
	for i := range n {
		z := make([]float64, n)
		z[i] = 1
		f, ok, err := k.Draw(make([]float64, len(p.Free)+1), z)
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		var outer mat.Dense
		outer.Outer(1, mat.NewVecDense(n, f), mat.NewVecDense(n, f))
		moments.Add(moments, &outer)
	}
	for i := range n {
		for j := range n {
			want := p.Eval(raw, x[i:i+1], x[j:j+1], i == j)
			if got := moments.At(i, j); math.Abs(got-want) > 1e-6*(1+math.Abs(want)) {
				t.Fatalf("(%d, %d): %v, want %v", i, j, got, want)
			}
		}
	}
}
