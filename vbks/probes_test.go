package vbks

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"example.com/kestrel/internal/thorough"
	"example.com/kestrel/vbks/params"
)

// The tridiagonal matrices that conjugate gradients leave enclose uᵀ log(H) u, where H = Q̂^−½ K̂ Q̂^−½ by dense matrices
// and u is the direction of Q̂^−½ z: the closer the more steps there are, and but for rounding where they are as many
// as H has different eigenvalues.
func TestLanczosOfAProbe(t *testing.T) {
	const n, m = 24, 3
	rng := rand.New(rand.NewPCG(8, 4))
	random := func(r, c int) *mat.Dense {
		out := mat.NewDense(r, c, nil)
		for i := range r {
			for j := range c {
				out.Set(i, j, rng.NormFloat64())
			}
		}
		return out
	}
	root := func(a mat.Matrix, f func(float64) float64) *mat.Dense {
		s := mat.NewSymDense(n, nil)
		for i := range n {
			for j := range i + 1 {
				s.SetSym(i, j, a.At(i, j))
			}
		}
		var eigen mat.EigenSym
		if !eigen.Factorize(s, true) {
			t.Fatal("no eigenvalues")
		}
		var v, scaled, out mat.Dense
		eigen.VectorsTo(&v)
		values := eigen.Values(nil)
		for i := range values {
			values[i] = f(values[i])
		}
		scaled.Mul(&v, mat.NewDiagDense(n, values))
		out.Mul(&scaled, v.T())
		return &out
	}
	low, more := random(n, m), random(n, 6)
	var q, k, h, rest mat.Dense
	q.Mul(low, low.T())
	rest.Mul(more, more.T())
	for i := range n {
		q.Set(i, i, q.At(i, i)+0.7)
	}
	k.Add(&q, &rest)
	inverse := root(&q, func(v float64) float64 { return 1 / math.Sqrt(v) })
	h.Product(inverse, &k, inverse)
	logH := root(&h, math.Log)

	z := random(n, 1)
	var u, lu mat.VecDense
	u.MulVec(inverse, z.ColView(0))
	lu.MulVec(logH, &u)
	want := mat.Dot(&u, &lu) / mat.Dot(&u, &u)

	// Conjugate gradients on Kx = z with Q as preconditioner, as in a textbook.
	var solver mat.LU
	solver.Factorize(&q)
	apply := func(r *mat.VecDense) *mat.VecDense {
		var out mat.VecDense
		if err := solver.SolveVecTo(&out, false, r); err != nil {
			t.Fatal(err)
		}
		return &out
	}
	r := mat.VecDenseCopyOf(z.ColView(0))
	s := apply(r)
	p, rs := mat.VecDenseCopyOf(s), mat.Dot(r, s)
	var l lanczos
	open := math.Inf(1)
	for step := range 6 { // H has seven different eigenvalues, of which the rule of Gauss and Radau has 1 from the beginning
		var kp mat.VecDense
		kp.MulVec(&k, p)
		alpha := rs / mat.Dot(p, &kp)
		r.AddScaledVec(r, -alpha, &kp)
		s = apply(r)
		before := rs
		rs = mat.Dot(r, s)
		l.alpha, l.beta = append(l.alpha, alpha), append(l.beta, rs/before)
		p.AddScaledVec(s, rs/before, p)
		least, most := l.logs()
		if least > want+1e-12 || most < want-1e-12 || most-least >= open || least == 0 {
			t.Errorf("%d steps: %v to %v, by dense matrices %v", step+1, least, most, want)
		}
		if open = most - least; step == 5 && (math.Abs(least-want) > 1e-9*want || most-want > 1e-4*want) {
			t.Errorf("all steps: %v to %v, by dense matrices %v", least, most, want)
		}
	}
}

// Where the trace leaves tens and hundreds of nats open, of rough functions with few inducing inputs, probes leave a few, and the
// exact value lies between: of kernels and draws of hyperparameters, with so little noise, too, that the steps of
// Lanczos are too few. Of rows that are all gone through at every step bounds are what they were.
func TestProbesCloseIn(t *testing.T) {
	thorough.Unraced(t)
	const n = 400
	data := trainingSeries(43, n)
	bounds := func(optimizer string, seed uint64, id string, draw int, logNoise float64) (e Evidence, exact float64) {
		s := quickSettings(optimizer)
		s.Inducing, s.Seed = 12, seed
		tr := trainerOn(t, 1, nil, data, s, id)
		k := tr.kernels[0]
		rng := rand.New(rand.NewPCG(uint64(draw), 17))
		free := make([]float64, len(k.program.Free)+1)
		for i := range free {
			free[i] = 0.3 * rng.NormFloat64()
			if id == "RW" { // whose origin is before the rows
				free[i] += k.prior.mean[i]
			}
		}
		free[len(free)-1] = logNoise
		raw, noise := params.Raw(k.program, free, tr.floor)
		exact = naiveEvidence(k.program, raw, noise, data.X, data.Y, 1) + logThetaPrior(free, k.prior)
		u := newUnit(t.Context(), tr.site(), &order{Phase: phaseEvidence, Rows: n, Number: draw, Tight: true}, tr.workers[0],
			[]task{{Kernel: 0, Known: outcome{State: &State{Free: free}, Factor: 1, Evidence: &Evidence{Lower: -1e9, Upper: 1e9}}}})
		if err := u.work(t.Context()); err != nil {
			t.Fatal(err)
		}
		return *u.outcomes[0].Evidence, exact
	}
	var ratios []float64
	for _, id := range []string{"MATERN12", "RW", "SE", "PER+MATERN12", "MATERN32*LIN"} {
		for draw, logNoise := range []float64{-2.5, -2.5, -7, -9} {
			e, exact := bounds("natural", uint64(draw+1), id, draw, logNoise)
			if exact < e.Lower-1e-6 || exact > e.Upper+1e-6 {
				t.Errorf("%s: exact %v, bounds %v", id, exact, e)
			}
			wide, _ := bounds("collapsed", uint64(draw+1), id, draw, logNoise)
			if exact < wide.Lower-1e-6 || exact > wide.Upper+1e-6 || logNoise > -5 && e.Slack() > wide.Slack() {
				t.Errorf("%s: exact %v, bounds %v, with probes %v", id, exact, wide, e)
			}
			if wide.Slack() > 20 && logNoise > -5 {
				ratios = append(ratios, e.Slack()/wide.Slack())
			}
		}
	}
	if len(ratios) < 4 || floats.Sum(ratios)/float64(len(ratios)) > 0.5 {
		t.Errorf("slack with probes over that without: %.3f", ratios)
	}
	t.Logf("slack with probes over that without: %.3f", ratios)
}
