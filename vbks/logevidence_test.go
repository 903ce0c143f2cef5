package vbks

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"example.com/kestrel/device"
	"example.com/kestrel/internal/thorough"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/kernelspace/kernelspacetest"
	"example.com/kestrel/vbks/params"
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

// Products with all of k(X,X) leave open the determinant only, in one matrix or
// in pieces, and the exact value stays between the bounds.
func TestTightEvidence(t *testing.T) {
	data := trainingSeries(41, 150)
	s := quickSettings("collapsed")
	s.Inducing, s.EvaluateEvery, s.Refine = 12, 1, 0
	tr := trainerOn(t, 2, nil, data, s, "SE", "PER*SE", "MATERN12", "SE+LIN", "WN+SE")
	e := next(t, tr)
	for i, k := range tr.kernels {
		r := e.Kernels[i]
		raw, noise := params.Raw(k.program, k.state.Free, tr.floor)
		exact := naiveEvidence(k.program, raw, noise, data.X, data.Y, 1) + logThetaPrior(k.state.Free, k.prior)
		if r.Evidence == nil || r.Evidence.Lower < r.ELBO-1e-9 || exact < r.Evidence.Lower-1e-6 || exact > r.Evidence.Upper+1e-6 {
			t.Errorf("%s: ELBO %v, bounds %v, exact %v", k.id, r.ELBO, r.Evidence, exact)
		}
	}
	u := newUnit(t.Context(), tr.site(), &order{Phase: phaseEvidence, Rows: 150, Tight: true}, tr.workers[0],
		[]task{{Kernel: 0, Known: outcome{State: tr.kernels[0].state, Factor: 1, Evidence: &Evidence{Lower: -1e9, Upper: 1e9}}}})
	if err := u.work(t.Context()); err != nil {
		t.Fatal(err)
	}
	got, want := *u.outcomes[0].Evidence, *e.Kernels[0].Evidence
	if math.Abs(got.Lower-want.Lower) > 0.1 || math.Abs(got.Upper-want.Upper) > 0.1 {
		t.Errorf("bounds %v, with what was known before %v", got, want)
	}
}

// Where k(X,X) is too large to be one matrix, products with it are made in pieces.
func TestTightEvidenceInPieces(t *testing.T) {
	thorough.Unraced(t)
	if testing.Short() {
		t.Skip("factorises 2,100 rows")
	}
	const n = 2100
	data := trainingSeries(42, n)
	s := quickSettings("collapsed")
	s.Inducing = 12
	tr := trainerOn(t, 1, nil, data, s, "SE+LIN")
	k := tr.kernels[0]
	free := make([]float64, len(k.program.Free)+1)
	free[len(free)-1] = -2
	raw, noise := params.Raw(k.program, free, tr.floor)
	exact := naiveEvidence(k.program, raw, noise, data.X, data.Y, 1) + logThetaPrior(free, k.prior)
	u := newUnit(t.Context(), tr.site(), &order{Phase: phaseEvidence, Rows: n, Tight: true}, tr.workers[0],
		[]task{{Kernel: 0, Known: outcome{State: &State{Free: free}, Factor: 1, Evidence: &Evidence{Lower: -1e9, Upper: 1e9}}}})
	if err := u.work(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := u.outcomes[0].Evidence; exact < got.Lower-1e-5 || exact > got.Upper+1e-5 || got.Slack() > 100 {
		t.Errorf("bounds %v, exact %v", got, exact)
	}
}
