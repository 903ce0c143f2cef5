package starts_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks/params"
)

// evidence is log p(y|θ), of dense matrices, for one input.
func evidence(t *testing.T, p *kernelspace.Program, free, x, y []float64, floor float64) float64 {
	t.Helper()
	raw, noise := params.Raw(p, free, floor)
	n := len(y)
	cov := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			cov.SetSym(i, j, p.Eval(raw, x[i:i+1], x[j:j+1], i == j))
		}
		cov.SetSym(i, i, cov.At(i, i)+noise)
	}
	var chol mat.Cholesky
	if !chol.Factorize(cov) {
		t.Fatal("not positive definite")
	}
	v := mat.NewVecDense(n, y)
	var alpha mat.VecDense
	if err := chol.SolveVecTo(&alpha, v); err != nil {
		t.Fatal(err)
	}
	return -0.5*mat.Dot(v, &alpha) - 0.5*chol.LogDet() - 0.5*float64(n)*math.Log(2*math.Pi)
}
