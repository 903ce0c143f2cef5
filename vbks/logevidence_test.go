package vbks

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"kestrel/device"
	"kestrel/kernelspace"
	"kestrel/kernelspace/kernelspacetest"
	"kestrel/vbks/params"
)

// naiveEvidence is log N(y; 0, K + σ²I) by dense matrices.
func naiveEvidence(p *kernelspace.Program, raw []float64, noise float64, x, y []float64, dim int) float64 {
	n := len(y)
	row := func(i int) []float64 { return x[i*dim : (i+1)*dim] }
	cov := mat.NewSymDense(n, nil)
	for a := range n {
		for b := a; b < n; b++ {
			cov.SetSym(a, b, p.Eval(raw, row(a), row(b), a == b))
		}
		cov.SetSym(a, a, cov.At(a, a)+noise)
	}
	var ch mat.Cholesky
	ch.Factorize(cov)
	var w mat.VecDense
	yv := mat.NewVecDense(n, append([]float64(nil), y...))
	if err := ch.SolveVecTo(&w, yv); err != nil {
		return math.NaN()
	}
	return -0.5*mat.Dot(yv, &w) - 0.5*ch.LogDet() - 0.5*float64(n)*math.Log(2*math.Pi)
}

// The exact value lies between the bounds, which close in on it as inducing
// inputs are added, and meet it where they are all of the rows.
func TestEvidenceBounds(t *testing.T) {
	const n = 90
	rng := rand.New(rand.NewPCG(4, 9))
	x, y := make([]float64, n), make([]float64, n)
	for i := range n {
		x[i] = 6*float64(i)/n - 3
		y[i] = math.Sin(3*x[i]) + 0.3*x[i] + 0.2*rng.NormFloat64()
	}
	for _, id := range []string{"SE", "PER+LIN", "MATERN12", "RQ*PER"} {
		p := kernelspacetest.Program(t, id, kernelspace.Options{Dim: 1})
		free := make([]float64, len(p.Free)+1)
		for i := range free {
			free[i] = 0.3 * rng.NormFloat64()
		}
		free[len(free)-1] = -2.5
		raw, noise := params.Raw(p, free, 1e-6)
		want := naiveEvidence(p, raw, noise, x, y, 1)
		last := math.Inf(1)
		for _, m := range []int{5, 15, 45, n} {
			z := make([]float64, m)
			for i := range z {
				z[i] = x[i*n/m]
			}
			b, rows := testBound(t, []*kernelspace.Program{p}, x, y, z, 1, device.Jitter{Relative: 1e-10}, 1e-6)
			b.setFree(0, free)
			sub := []int{0}
			if err := b.statistics(sub, rows, false, nil); err != nil {
				t.Fatal(err)
			}
			e, err := newEvidencer(b.group)
			if err != nil {
				t.Fatal(err)
			}
			elbo, bounds, err := e.of(sub, b.q, b.b, b.sumDiag, n, sumSquares(y))
			if err != nil {
				t.Fatal(err)
			}
			lower, upper := bounds[0].Lower, bounds[0].Upper
			titsias := naiveCollapsed(p, raw, noise, x, y, z, 1, device.Jitter{Relative: 1e-10})
			if math.Abs(elbo[0]-titsias) > 1e-7*math.Abs(titsias) {
				t.Errorf("%s, M = %d: ELBO %v, by dense matrices %v", id, m, elbo[0], titsias)
			}
			small := 1e-6 * math.Abs(want)
			if lower < elbo[0]-small || lower > want+small || upper < want-small {
				t.Errorf("%s, M = %d: ELBO %v, %v to %v, exact %v", id, m, elbo[0], lower, upper, want)
			}
			if slack := bounds[0].Slack(); slack > last+small {
				t.Errorf("%s, M = %d: slack %v, with fewer %v", id, m, slack, last)
			} else {
				last = slack
			}
		}
		if last > 1e-3 {
			t.Errorf("%s: slack %v with all rows as inducing inputs", id, last)
		}
	}
}
