package baseline

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"example.com/kestrel/internal/must"
)

// Of many rows and little noise there is next to no penalty: least squares.
func TestRidgeOfManyRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	var x, y []float64
	for range 400 {
		a, b := 10+3*rng.NormFloat64(), rng.Float64()
		x, y = append(x, a, b, 7), append(y, 2*a-5*b+1+1e-3*rng.NormFloat64())
	}
	at := []float64{12, 0.5, 7, -4, 2, 7}
	got, err := Ridge(x, 3, y, at)
	must.OK(t, err)
	want, err := LeastSquares(x, 3, y, at)
	must.OK(t, err)
	for i := range want {
		if math.Abs(got[i].Mean-want[i].Mean) > 1e-3 || math.Abs(got[i].SD/want[i].SD-1) > 0.02 {
			t.Errorf("row %d: %+v, least squares %+v", i, got[i], want[i])
		}
	}
}

// Few rows and many inputs: the penalty is that of the least squared errors when rows are left out
// one after the other and all is fitted anew, and the prediction solves the normal equations.
func TestRidgeByLeavingOut(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 3))
	const n, dim = 24, 9
	x, y := make([]float64, n*dim), make([]float64, n)
	for i := range n {
		for j := range dim {
			x[i*dim+j] = rng.NormFloat64()
		}
		y[i] = x[i*dim] + 0.8*rng.NormFloat64()
	}
	at := x[:dim]
	solve := func(rows []int, lambda float64, at []float64) float64 {
		// Standardised by all rows, as the closed form has it, with a constant that is not penalised.
		z := make([]float64, dim)
		standardise := standardiser(x, dim, z)
		a, b := mat.NewSymDense(dim+1, nil), mat.NewVecDense(dim+1, nil)
		full := func(row []float64) *mat.VecDense {
			standardise(row)
			return mat.NewVecDense(dim+1, append(slices.Clone(z), 1))
		}
		for _, r := range rows {
			v := full(x[r*dim : (r+1)*dim])
			a.SymRankOne(a, 1, v)
			b.AddScaledVec(b, y[r], v)
		}
		for j := range dim {
			a.SetSym(j, j, a.At(j, j)+lambda)
		}
		var w mat.VecDense
		must.OK(t, w.SolveVec(a, b))
		return mat.Dot(&w, full(at))
	}
	var all []int
	for i := range n {
		all = append(all, i)
	}
	best, least := 0.0, math.Inf(1)
	for _, p := range penalties {
		press := 0.0
		for i := range n {
			rest := slices.Delete(slices.Clone(all), i, i+1)
			e := y[i] - solve(rest, p*n, x[i*dim:(i+1)*dim])
			press += e * e
		}
		if press < least {
			best, least = p*n, press
		}
	}
	got, err := Ridge(x, dim, y, at)
	must.OK(t, err)
	if want := solve(all, best, at); math.Abs(got[0].Mean-want) > 1e-9 || best == penalties[0]*n {
		t.Errorf("%v, by leaving out (λ = %v) %v", got[0].Mean, best, want)
	}
	if _, err := Ridge(x[:2*dim], dim, y[:2], at); err == nil {
		t.Error("two rows")
	}
	if _, err := Ridge([]float64{1, math.NaN(), 3}, 1, []float64{1, 2, 3}, []float64{1}); err == nil {
		t.Error("an input that is no number")
	}
}
