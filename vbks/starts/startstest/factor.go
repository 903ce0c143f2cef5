package startstest

import (
	"testing"

	"gonum.org/v1/gonum/mat"

	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks/starts"
)

// Factor is a starts.Factor, entry by entry.
func Factor(t *testing.T) starts.Factor {
	return func(x []float64, p *kernelspace.Program, raw []float64, noise float64) (*mat.TriDense, error) {
		t.Helper()
		n := len(x) / p.Dim
		row := func(i int) []float64 { return x[i*p.Dim : (i+1)*p.Dim] }
		cov := mat.NewSymDense(n, nil)
		for i := range n {
			for j := range i {
				cov.SetSym(i, j, p.Eval(raw, row(i), row(j), false))
			}
			cov.SetSym(i, i, p.Eval(raw, row(i), row(i), true)+noise)
		}
		var chol mat.Cholesky
		if !chol.Factorize(cov) {
			return nil, nil
		}
		var u mat.TriDense
		chol.UTo(&u)
		return &u, nil
	}
}

// Values is k(X,X), entry by entry.
func Values() starts.Values {
	return func(x []float64, p *kernelspace.Program, raw []float64) ([]float64, error) {
		n := len(x) / p.Dim
		out := make([]float64, n*n)
		for i := range n {
			for j := range n {
				out[i*n+j] = p.Eval(raw, x[i*p.Dim:(i+1)*p.Dim], x[j*p.Dim:(j+1)*p.Dim], i == j)
			}
		}
		return out, nil
	}
}
