package inducing

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"example.com/kestrel/internal/must"
	"example.com/kestrel/kernelspace"
)

// conditional is k(x,x) − k(x,Z)k(Z,Z)⁻¹k(Z,x) of all inputs, by dense algebra.
func conditional(k mat.Symmetric, z []int) []float64 {
	n := k.SymmetricDim()
	out := make([]float64, n)
	if len(z) == 0 {
		for j := range n {
			out[j] = k.At(j, j)
		}
		return out
	}
	kzz, kzx := mat.NewDense(len(z), len(z), nil), mat.NewDense(len(z), n, nil)
	for a, i := range z {
		for b, j := range z {
			kzz.Set(a, b, k.At(i, j))
		}
		for j := range n {
			kzx.Set(a, j, k.At(i, j))
		}
	}
	var solved mat.Dense
	if err := solved.Solve(kzz, kzx); err != nil {
		panic(err)
	}
	for j := range n {
		out[j] = k.At(j, j)
		for a := range z {
			out[j] -= kzx.At(a, j) * solved.At(a, j)
		}
	}
	return out
}

// Each pick is where the variance left is largest, found by trying all of a small set.
func TestGreedyByEnumeration(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	for _, text := range []string{"MATERN32", "PER*SE+LIN", "RQ"} {
		e, err := kernelspace.Parse(text)
		must.OK(t, err)
		p, err := kernelspace.Compile(e, kernelspace.Options{Dim: 1})
		must.OK(t, err)
		raw := make([]float64, len(p.Params))
		for i := range raw {
			raw[i] = 0.5 + rng.Float64()
		}
		const n, m = 40, 7
		x := make([]float64, n)
		for i := range x {
			x[i] = 6*rng.Float64() - 3
		}
		k := mat.NewSymDense(n, nil)
		diag := make([]float64, n)
		for i := range n {
			for j := i; j < n; j++ {
				k.SetSym(i, j, p.Eval(raw, x[i:i+1], x[j:j+1], i == j))
			}
			diag[i] = k.At(i, i)
		}
		before := slices.Clone(diag)
		picked, rest, err := Greedy(m, diag, func(i int, out []float64) error {
			for j := range out {
				out[j] = k.At(i, j)
			}
			return nil
		})
		if err != nil || len(picked) != m || !slices.Equal(diag, before) {
			t.Fatal(text, picked, err)
		}
		sum := 0.0
		for s := range m + 1 {
			v := conditional(k, picked[:s])
			best := slices.Max(v)
			if s < m && v[picked[s]] < best-1e-9 {
				t.Errorf("%s: pick %d leaves %g where %g is left elsewhere", text, s, v[picked[s]], best)
			}
			sum = 0
			for _, w := range v {
				sum += w
			}
		}
		if math.Abs(rest-sum) > 1e-8 {
			t.Errorf("%s: %g is left, want %g", text, rest, sum)
		}
	}
}

// What repeats is picked once, and a kernel of finite rank is exhausted.
func TestGreedyEnds(t *testing.T) {
	x := []float64{1, 1, -2, 0.5, 0.5, 3}
	row := func(i int, out []float64) error { // rank 2
		for j := range out {
			out[j] = 1 + x[i]*x[j]
		}
		return nil
	}
	diag := make([]float64, len(x))
	for i := range x {
		diag[i] = 1 + x[i]*x[i]
	}
	picked, rest, err := Greedy(6, diag, row)
	if err != nil || !slices.Equal(picked, []int{5, 2}) || rest > 1e-9 {
		t.Error(picked, rest, err)
	}
	broken := errors.New("broken")
	if _, _, err := Greedy(2, diag, func(int, []float64) error { return broken }); !errors.Is(err, broken) {
		t.Error(err)
	}
}
