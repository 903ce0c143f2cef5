package vbks

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"example.com/kestrel/vbks/params"
)

// smoothAndRough are n rows of sin x with noise, and of sin x with a function of so short a
// length in the place of most of the noise.
func smoothAndRough(t *testing.T, n int, length float64) (smooth, rough Training) {
	t.Helper()
	rng := rand.New(rand.NewPCG(8, 15))
	smooth = Training{Dim: 1, X: make([]float64, n), Y: make([]float64, n)}
	cov := mat.NewSymDense(n, nil)
	for i := range n {
		smooth.X[i] = 10 * rng.Float64()
	}
	for i := range n {
		for j := range i + 1 {
			d := (smooth.X[i] - smooth.X[j]) / length
			cov.SetSym(i, j, math.Exp(-d*d/2))
		}
		cov.SetSym(i, i, 1.01)
	}
	var chol mat.Cholesky
	if !chol.Factorize(cov) {
		t.Fatal("not positive definite")
	}
	var root mat.TriDense
	chol.LTo(&root)
	z := mat.NewVecDense(n, nil)
	for i := range n {
		z.SetVec(i, rng.NormFloat64())
	}
	var f mat.VecDense
	f.MulVec(&root, z)
	rough = Training{Dim: 1, X: smooth.X, Y: make([]float64, n)}
	for i, x := range smooth.X {
		smooth.Y[i] = math.Sin(x) + 0.5*rng.NormFloat64()
		rough.Y[i] = math.Sin(x) + 0.5*f.AtVec(i)
	}
	return smooth, rough
}

// Where noise is a function, what each kernel is heard to be worth is its log evidence at
// the hyperparameters that come with it, far above the bounds of few inducing inputs for a
// kernel that can be that rough and no further below its optimum than the steps leave.
func TestHear(t *testing.T) {
	const n, length = 160, 0.05
	_, d := smoothAndRough(t, n, length)
	s := quickSettings("collapsed")
	s.Inducing, s.FirstInducing, s.MostInducing, s.Refine, s.AllRows, s.Steps, s.Starts = 0, 8, 1000, 0, 1000, 30, 6
	s.ThetaPrior = false
	tr := trainerOn(t, 2, nil, d, s, "LIN", "SE", "SE+SE", "LIN+SE")
	for !tr.Done() && tr.rough == 0 {
		next(t, tr)
	}
	if !tr.nextRough() {
		t.Fatalf("all rows do not come next: rungs %v, M = %d", tr.rungs, tr.m)
	}
	heard := map[string]float64{}
	for _, k := range tr.kernels {
		if k.heard.X == nil {
			t.Fatalf("%s was not heard", k.id)
		}
		heard[k.id] = k.heard.Value
		if k.id == "LIN" { // nothing of it can be rough: it is as it was
			if k.heard.Value != k.elbo || !slices.Equal(k.heard.X, k.state.Free) {
				t.Errorf("LIN is heard as %g at %v, its local ELBO is %g at %v", k.heard.Value, k.heard.X, k.elbo, k.state.Free)
			}
			continue
		}
		raw, noise := params.Raw(k.program, k.heard.X, tr.floor)
		want := naiveExact(k.program, raw, noise, tr.data.X, tr.data.Y, 1)
		for i, v := range k.heard.X { // the prior and the walls
			p := &k.prior
			want -= p.prec[i] * (v - p.mean[i]) * (v - p.mean[i]) / 2
			if over := math.Max(math.Max(v-p.hi[i], p.lo[i]-v), 0); over > 0 {
				want -= tr.wall * over * over
			}
		}
		if p := k.prior.prec; slices.Max(p) > 0 {
			t.Fatalf("%s has a prior, whose constants this test does not know", k.id)
		}
		if math.Abs(k.heard.Value-want) > 1e-6*math.Abs(want) {
			t.Errorf("%s is heard as %.6f, its log evidence there is %.6f", k.id, k.heard.Value, want)
		}
	}
	if heard["SE+SE"] < tr.kernels[2].elbo+10 {
		t.Errorf("SE+SE is heard as %.1f, its local ELBO was %.1f", heard["SE+SE"], tr.kernels[2].elbo)
	}
	// Both go on from there: none ends below it.
	for !tr.Done() {
		next(t, tr)
	}
	for _, k := range tr.kernels {
		if k.status == Live && k.elbo < heard[k.id]-1e-6 {
			t.Errorf("%s ends at %.3f, it was heard as %.3f", k.id, k.elbo, heard[k.id])
		}
		if k.heard.X != nil {
			t.Errorf("%s is still heard, when all rows have come", k.id)
		}
	}
	if gap := tr.kernels[2].elbo - heard["SE+SE"]; gap > 2*heardNats {
		t.Errorf("SE+SE ends %.1f nats above what it was heard as", gap)
	}
}

// A kernel with much more noise than the best one calls for all rows where it is about as
// good once it is heard, and not where it is far behind then, too.
func TestOthersAreHeard(t *testing.T) {
	_, d := smoothAndRough(t, 160, 0.05)
	s := quickSettings("collapsed")
	s.Inducing, s.FirstInducing, s.MostInducing, s.Refine, s.AllRows, s.Steps, s.Starts = 0, 8, 1000, 0, 1000, 30, 6
	tr := trainerOn(t, 2, nil, d, s, "LIN", "SE+SE")
	for !tr.Done() && tr.rough == 0 {
		next(t, tr)
	}
	for _, c := range []struct {
		name        string
		ahead       float64 // the best one, of the other when that is heard
		times       float64 // its noise, of the other's
		wanted, any bool
	}{
		{"as good", 1, 0.1, true, true},
		{"far behind", 2 * loudNats, 0.1, false, true},
		{"as little noise", 1, 0.9, false, false},
	} {
		r, err := tr.newRound(tr.evaluation + 1)
		if err != nil {
			t.Fatal(err)
		}
		for i, k := range tr.kernels {
			r.outcomes[i].State, r.outcomes[i].ELBO = k.state, k.elbo
			r.outcomes[i].Heard = solution{}
		}
		r.outcomes[0].ELBO = tr.kernels[1].heard.Value + c.ahead
		_, noise := params.Raw(tr.kernels[1].program, tr.kernels[1].state.Free, tr.floor)
		if err := r.hearOthers(context.Background(), 0, c.times*noise); err != nil {
			t.Fatal(err)
		}
		r.close()
		if heard := r.outcomes[1].Heard.X != nil; heard != c.any {
			t.Errorf("%s: heard: %v", c.name, heard)
		}
		if r.unresolved != c.wanted || len(r.remarks) > 0 != c.wanted {
			t.Errorf("%s: all rows come next: %v, %v", c.name, r.unresolved, r.remarks)
		}
	}
}

// What was heard decides which kernels go on, and is what those left out keep their gaps by.
func TestHeardDecides(t *testing.T) {
	s := quickSettings("collapsed")
	s.Inducing, s.FirstInducing, s.MostInducing, s.AllRows = 0, 8, 1000, 1000
	var exprs []string
	for _, a := range []string{"SE", "LIN", "PER", "RQ", "MATERN12", "MATERN32"} {
		for _, b := range []string{"SE", "LIN", "PER", "RQ", "MATERN12", "MATERN32"} {
			exprs = append(exprs, a+"*"+b+"+LIN")
		}
	}
	exprs = slices.Compact(exprs)
	var space []string
	seen := map[string]bool{}
	for _, e := range candidates(t, exprs...) {
		if id := e.Expr.Canonical().ID(); !seen[id] {
			seen[id] = true
			space = append(space, id)
		}
	}
	d, _ := smoothAndRough(t, 900, 0.05)
	tr := trainerOn(t, 1, nil, d, s, space...)
	tr.rows, tr.evaluation, tr.rough, tr.rungs, tr.rung = 900, 3, 2, []int{8, 16, 900}, 1
	for i, k := range tr.kernels {
		free := make([]float64, len(k.program.Free)+1)
		k.rows, k.state = tr.rows, &State{Free: free, Factor: 1}
		k.elbo, k.bounds = -1000+50*float64(i), &Evidence{Lower: -900 + 50*float64(i), Upper: float64(10 * i)}
		k.heard = solution{X: free, Value: 500 - 50*float64(i)} // the other way round
	}
	stay := tr.finalists()
	if len(stay) < fewLive || len(stay) == len(tr.kernels) {
		t.Fatalf("%d of %d kernels go on", len(stay), len(tr.kernels))
	}
	for i := range tr.kernels {
		if stay[i] != (i < len(stay)) {
			t.Errorf("kernel %d of %d goes on: %v, %d do", i, len(tr.kernels), stay[i], len(stay))
		}
	}
	tr.leave()
	best, last := tr.kernels[0], tr.kernels[len(tr.kernels)-1]
	last.status, last.left = Pruned, 900
	best.elbo = 700
	elbo, low, high, ok := tr.standing(last)
	if want := 700 - 50*float64(len(tr.kernels)-1); !ok || math.Abs(elbo-want) > 1e-9 || low != 0 || high != 0 {
		t.Errorf("what was left out stands at %g with slack %g to %g (%v), want %g without", elbo, low, high, ok, want)
	}
	if got := tr.driftThen(last); got != heardNats {
		t.Errorf("the error of its gap is %g, want %g", got, heardNats)
	}
}

// A kernel whose own solution leads nowhere is heard as what its kin have found and it can represent: it
// would be left out for it.
func TestHeardIsPassedOn(t *testing.T) {
	_, d := smoothAndRough(t, 160, 0.05)
	s := quickSettings("collapsed")
	s.Inducing, s.FirstInducing, s.MostInducing, s.Refine, s.AllRows, s.Steps, s.Starts = 0, 8, 1000, 0, 1000, 30, 6
	s.ThetaPrior = false // a shape more would cost something
	tr := trainerOn(t, 2, nil, d, s, "SE+SE", "RQ+SE", "RQ+RQ", "LIN")
	for !tr.Done() && tr.rough == 0 {
		next(t, tr)
	}
	r, err := tr.newRound(tr.evaluation + 1)
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	for i, k := range tr.kernels {
		r.outcomes[i].State, r.outcomes[i].ELBO = k.state, k.elbo
		if k.id != "SE+SE" && k.id != "LIN" { // both leaves are constants that explain nothing
			free := slices.Clone(k.state.Free)
			for j, q := range k.program.Free {
				switch k.program.Params[q].Name {
				case "variance":
					free[j] = -8
				case "lengthscale":
					free[j] = 6
				}
			}
			r.outcomes[i].State = &State{Free: free, Factor: k.state.Factor}
			r.outcomes[i].ELBO = -1e6
		}
	}
	if err := r.hear(t.Context(), []int{0, 1, 2, 3}); err != nil {
		t.Fatal(err)
	}
	best := r.outcomes[0].Heard.Value
	for i := 1; i <= 2; i++ { // RQ+RQ is next to RQ+SE only, two steps away
		if v := r.outcomes[i].Heard.Value; v < best-heardNats {
			t.Errorf("%s is heard as %.1f, SE+SE, which it contains, as %.1f", tr.kernels[i].id, v, best)
		}
	}
	if v := r.outcomes[3].Heard.Value; v != tr.kernels[3].elbo {
		t.Errorf("LIN is heard as %.1f, it was %.1f", v, tr.kernels[3].elbo)
	}
}
