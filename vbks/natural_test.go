package vbks

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"example.com/kestrel/device"
	"example.com/kestrel/internal/thorough"
	"example.com/kestrel/vbks/params"
)

// titsias is the optimal q(v) by dense matrices: Λ = I + AAᵀ/σ², Λm = Ay/σ².
func (b *bench) titsias(t *testing.T, k int, free []float64, n int) (lambda, lambdaM []float64) {
	t.Helper()
	p, m, dim := b.programs[k], b.svgp.group.m, b.dim
	raw, noise := params.Raw(p, free, b.floor)
	row := func(a []float64, i int) []float64 { return a[i*dim : (i+1)*dim] }
	kzz := mat.NewSymDense(m, nil)
	var trace float64
	for i := range m {
		for j := i; j < m; j++ {
			kzz.SetSym(i, j, p.Eval(raw, row(b.z, i), row(b.z, j), i == j))
		}
		trace += kzz.At(i, i)
	}
	for i := range m {
		kzz.SetSym(i, i, kzz.At(i, i)+b.jitter.Relative*trace/float64(m)+b.jitter.Absolute)
	}
	var ch mat.Cholesky
	if !ch.Factorize(kzz) {
		t.Fatal("k(Z,Z) is not positive definite")
	}
	kzx := mat.NewDense(m, n, nil)
	for i := range m {
		for j := range n {
			kzx.Set(i, j, p.Eval(raw, row(b.z, i), row(b.x, j), false))
		}
	}
	var l mat.TriDense
	ch.LTo(&l)
	var a, q mat.Dense
	if err := a.Solve(&l, kzx); err != nil {
		t.Fatal(err)
	}
	q.Mul(&a, a.T())
	var ay mat.VecDense
	ay.MulVec(&a, mat.NewVecDense(n, b.y[:n]))
	for i := range m {
		for j := range m {
			v := q.At(i, j) / noise
			if i == j {
				v++
			}
			lambda = append(lambda, v)
		}
		lambdaM = append(lambdaM, ay.AtVec(i)/noise)
	}
	return lambda, lambdaM
}

// collapsedAt is Titsias' bound by dense matrices plus log p(θ).
func (b *bench) collapsedAt(k int, free []float64) float64 {
	raw, noise := params.Raw(b.programs[k], free, b.floor)
	return naiveCollapsed(b.programs[k], raw, noise, b.x, b.y, b.z, b.dim, b.jitter) + logThetaPrior(free, b.priors[k])
}

func logThetaPrior(x []float64, p prior) float64 {
	var s float64
	for i := range x {
		d := x[i] - p.mean[i]
		s += 0.5*math.Log(p.prec[i]/(2*math.Pi)) - 0.5*p.prec[i]*d*d
	}
	return s
}

// One full step of size 1 from anywhere is Titsias' optimum.
func TestNaturalStepOnAllRowsIsTheOptimum(t *testing.T) {
	x, y, z := testData(5, 50, 8, 1)
	b := newBench(t, x, y, z, 1, testSettings("natural", "point", 50), "SE+LIN", "PER*RQ")
	rng := rand.New(rand.NewPCG(1, 1))
	for k := range 2 {
		// A start that is not the prior.
		st, err := b.end(k)
		if err != nil {
			t.Fatal(err)
		}
		for i := range st.Mean {
			st.Mean[i] = rng.NormFloat64()
			st.Chol[i*len(st.Mean)+i] = 2
		}
		st.Seen, st.Rows = 50, 50
		if err := b.begin(k, st, b.programs[k].ID); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.train([]int{0, 1}, drawMinibatches(1, 1, 50, 50, 1), nil); err != nil {
		t.Fatal(err)
	}
	all := b.rows()
	est, err := b.estimate([]int{0, 1}, all, 50, nil)
	if err != nil {
		t.Fatal(err)
	}
	for k := range 2 {
		st, err := b.end(k)
		if err != nil {
			t.Fatal(err)
		}
		lambda, lambdaM := b.titsias(t, k, st.Free, 50)
		near(t, "Λ", st.Chol, lambda, 1e-9)
		near(t, "Λm", st.Mean, lambdaM, 1e-9)
		near(t, "local ELBO at the optimum", []float64{est[k].ELBO}, []float64{b.collapsedAt(k, st.Free)}, 1e-8)
	}
}

// The pass over all rows in chunks is the same optimum, in either form of q(v).
func TestExactPass(t *testing.T) {
	n := 2*passRows + 37
	x, y, z := testData(6, n, 8, 2)
	for _, optimizer := range []string{"natural", "adam"} {
		b := newBench(t, x, y, z, 2, testSettings(optimizer, "point", 32), "SE+LIN")
		if err := b.exact([]int{0}, b.rows(), sumSquares(y), nil); err != nil {
			t.Fatal(err)
		}
		lambda, lambdaM := b.titsias(t, 0, b.start(0), n)
		near(t, optimizer+" Λ", readArray(t, b.lane, b.lambda, 0), lambda, 1e-9)
		near(t, optimizer+" Λm", readArray(t, b.lane, b.lambdaM, 0), lambdaM, 1e-9)
		est, err := b.estimate([]int{0}, b.rows(), n, nil)
		if err != nil {
			t.Fatal(err)
		}
		near(t, optimizer+" bound", []float64{est[0].ELBO}, []float64{b.collapsedAt(0, b.start(0))}, 1e-8)
	}
}

// Minibatch steps at frozen θ come close to the optimum: the ELBO ends below
// Titsias' bound, and far nearer to it than it started. The bound in turn lies
// below the exact log marginal likelihood.
func TestNaturalStepsApproachTheBound(t *testing.T) {
	x, y, z := testData(7, 200, 8, 1)
	b := newBench(t, x, y, z, 1, testSettings("natural", "point", 20), "SE")
	b.frozen = true
	before, err := b.estimate([]int{0}, b.rows(), 200, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.train([]int{0}, drawMinibatches(1, 1, 200, 20, 60), nil); err != nil {
		t.Fatal(err)
	}
	after, err := b.estimate([]int{0}, b.rows(), 200, nil)
	if err != nil {
		t.Fatal(err)
	}
	top := b.collapsedAt(0, b.start(0))
	if after[0].ELBO > top+1e-8 {
		t.Errorf("ELBO %.6f above the collapsed bound %.6f", after[0].ELBO, top)
	}
	if gap := top - after[0].ELBO; gap > 5 || gap > 0.01*(top-before[0].ELBO) {
		t.Errorf("ELBO %.3f → %.3f, collapsed bound %.3f", before[0].ELBO, after[0].ELBO, top)
	}
	raw, noise := params.Raw(b.programs[0], b.start(0), b.floor)
	if exact := naiveExact(b.programs[0], raw, noise, x, y, 1) + logThetaPrior(b.start(0), b.priors[0]); top > exact {
		t.Errorf("collapsed bound %.6f above the exact %.6f", top, exact)
	}
}

// Frozen θ must not be factorised again; after θ moves it must.
func TestFrozenStepsKeepTheFactor(t *testing.T) {
	x, y, z := testData(8, 100, 6, 1)
	b := newBench(t, x, y, z, 1, testSettings("natural", "point", 10), "SE")
	b.frozen = true
	c := &countingLane{Lane: b.lane}
	b.svgp.group.lane = c
	if err := b.train([]int{0}, drawMinibatches(1, 1, 100, 10, 6), nil); err != nil {
		t.Fatal(err)
	}
	if c.factorised != 1 {
		t.Errorf("%d factorisations in 6 steps at frozen θ, want 1", c.factorised)
	}
	b.frozen = false
	c.factorised = 0
	if err := b.train([]int{0}, drawMinibatches(1, 2, 100, 10, 6), nil); err != nil {
		t.Fatal(err)
	}
	// θ moves in steps 2, 4 and 6, each with a factorisation of Λ before it;
	// L follows in steps 3 and 5.
	if c.factorised != 5 {
		t.Errorf("%d factorisations in 6 steps of which 3 move θ, want 5", c.factorised)
	}
}

type countingLane struct {
	device.Lane
	factorised int
}

func (c *countingLane) Cholesky(sub []int, a, info device.Array) {
	c.factorised++
	c.Lane.Cholesky(sub, a, info)
}

// Natural steps with Adam on θ climb: the collapsed bound at the θ reached is
// higher than at the start.
func TestNaturalMovesTheta(t *testing.T) {
	x, y, z := testData(9, 300, 10, 1)
	b := newBench(t, x, y, z, 1, testSettings("natural", "point", 30), "SE+LIN")
	b.rate = 0.05
	if err := b.train([]int{0}, drawMinibatches(1, 1, 300, 30, 200), nil); err != nil {
		t.Fatal(err)
	}
	st, err := b.end(0)
	if err != nil {
		t.Fatal(err)
	}
	if from, to := b.collapsedAt(0, b.start(0)), b.collapsedAt(0, st.Free); to < from+20 {
		t.Errorf("collapsed bound %.3f → %.3f", from, to)
	}
	if noise := b.floor + math.Exp(st.Free[len(st.Free)-1]); noise < 0.02 || noise > 0.08 {
		t.Errorf("noise variance %.4f, the data's is 0.04", noise)
	}
}

// When the number of rows grows, the data's share of Λ grows with it.
func TestRescale(t *testing.T) {
	x, y, z := testData(10, 60, 5, 1)
	doubled := append(append([]float64(nil), x...), x...)
	b := newBench(t, doubled, append(append([]float64(nil), y...), y...), z, 1, testSettings("natural", "point", 60), "SE")
	half := b.rows()
	half.To = 60
	if err := b.exact([]int{0}, half, sumSquares(y), nil); err != nil {
		t.Fatal(err)
	}
	b.rescale([]int{0}, 120)
	// The second half repeats the first, so scaling is exact.
	lambda, lambdaM := b.titsias(t, 0, b.start(0), 120)
	near(t, "Λ", readArray(t, b.lane, b.lambda, 0), lambda, 1e-9)
	near(t, "Λm", readArray(t, b.lane, b.lambdaM, 0), lambdaM, 1e-9)
}

// What an evaluation ends with: exact passes for all kernels while that is little
// work, else tuning on few rows first, and at the end passes for the best ones.
func TestEndingOfNatural(t *testing.T) {
	point, full := DefaultSettings(), DefaultSettings()
	full.Hyperparameters = "full"
	few, every := point, point
	few.Top, every.ELBORows = 40, 0
	for _, c := range []struct {
		name            string
		s               Settings
		seen, all, live int
		last            bool
		stages          int
		fitted, exact   int
	}{
		{"few rows", point, 500, 5000, 144, false, 0, 0, 144},
		{"while data arrive", point, 500_000, 1_000_000, 144, false, 0, 0, 0},
		{"all data, within bounds", point, 1_000_000, 1_000_000, 20, false, 1, 0, 20},
		{"all data, beyond", point, 1_000_000, 1_000_000, 144, false, 1, 138_888, 0},
		{"the last", point, 1_000_000, 1_000_000, 144, true, 6, 138_888, 20},
		{"as many predict", few, 1_000_000, 1_000_000, 144, true, 6, 138_888, 40},
		{"one kernel", point, 100_000_000, 100_000_000, 1, true, 5, 0, 1},
		{"two kernels", point, 100_000_000, 100_000_000, 2, true, 4, 10_000_000, 1},
		{"all rows asked for", every, 1_000_000, 1_000_000, 144, false, 1, 0, 144},
		{"beliefs in between", full, 1_000_000, 1_000_000, 10, false, 0, 0, 0},
		{"beliefs at the end", full, 1_000_000, 1_000_000, 10, true, 0, 0, 10},
		{"beliefs at the end, beyond", full, 1_000_000, 1_000_000, 144, true, 0, 0, 20},
	} {
		e := natural{most: mostExactRows}.ending(c.s, c.seen, c.all, c.live, 64, c.last)
		if len(e.Stages) != c.stages || e.Fitted != c.fitted || e.Exact != c.exact {
			t.Errorf("%s: %d stages, q(v) from %d rows, %d exact; want %d, %d, %d", c.name,
				len(e.Stages), e.Fitted, e.Exact, c.stages, c.fitted, c.exact)
		}
	}
}

// beyond lets rows times kernels count as many from so many on.
func beyond(tr *Trainer, most float64) *Trainer {
	tr.optimizer = stochastic{natural{most: most}}
	return tr
}

// Where rows and kernels are many, the last evaluation tunes all the same and makes
// the best kernels exact, by dense matrices; the others' local ELBOs come from the
// common subsample and are where an exact pass would have them, within their error.
func TestBestKernelsAreExact(t *testing.T) {
	t.Parallel()
	data := trainingSeries(33, 600)
	s := quickSettings("natural")
	s.ThetaPrior, s.Steps, s.Batch, s.Refine, s.ELBORows, s.Starts = false, 40, 3, 1, 150, 4
	space := []string{"SE", "LIN+SE", "LIN+RQ", "PER", "LIN", "PER+LIN"}
	tr := beyond(trainerOn(t, 2, nil, data, s, space...), 1300)
	var last Evaluation
	for _, e := range train(t, tr) {
		last = e
	}
	exact, sampled := 0, 0
	leader := &last.Kernels[last.Leader()]
	for i, k := range tr.kernels {
		r := &last.Kernels[i]
		raw, noise := params.Raw(k.program, k.state.Free, tr.floor)
		want := naiveCollapsed(k.program, raw, noise, data.X, data.Y, tr.inducing, 1, s.Jitter)
		switch r.ELBORows {
		case 600:
			exact++
			if math.Abs(r.ELBO-want) > 1e-8*math.Abs(want) || r.Evidence == nil || k.terms != nil || leader.ELBORows == 600 && r.SE != 0 {
				t.Errorf("%s: local ELBO %.6f ± %g, the bound is %.6f", k.id, r.ELBO, r.SE, want)
			}
		case 150:
			sampled++
			if len(k.terms) != 150 || r.Evidence != nil || !(r.SE > 0) {
				t.Errorf("%s: %d terms, an error of %g", k.id, len(k.terms), r.SE)
			}
			if math.Abs(r.ELBO-want) > 4*r.SE+8 {
				t.Errorf("%s: local ELBO %.2f ± %.2f, the bound is %.2f", k.id, r.ELBO, r.SE, want)
			}
		default:
			t.Errorf("%s: %d rows", k.id, r.ELBORows)
		}
	}
	if exact < 2 || exact > 4 || sampled == 0 || leader.ELBORows != 600 {
		t.Errorf("%d kernels are exact, %d estimates; the leader rests on %d rows", exact, sampled, leader.ELBORows)
	}
	text := fmt.Sprintf("600 rows x 6 kernels: the best %d are exact, of the others local ELBOs are estimates", exact)
	if !slices.ContainsFunc(last.Notices, func(n Notice) bool { return n.Text == text }) {
		t.Errorf("%v lacks %q", last.Notices, text)
	}
}

// Neither lanes nor batches matter to passes for some kernels, nor does a checkpoint
// in between.
func TestExactPassesForSomeKernels(t *testing.T) {
	thorough.AnyInstructions(t)
	thorough.Unraced(t)
	t.Parallel()
	data := trainingSeries(34, 120)
	for _, hyper := range []string{"point", "diagonal"} {
		s := quickSettings("natural")
		s.Hyperparameters, s.Refine, s.ELBORows, s.Steps, s.Batch = hyper, 2, 40, 3, 8
		const most = 130
		one := beyond(trainerOn(t, 1, nil, data, s, fourKernels...), most)
		some := 0
		for _, c := range []struct {
			lanes int
			wrap  func(device.Device) device.Device
		}{
			{3, nil},
			{1, func(d device.Device) device.Device { return regrouped{d, 0} }},
			{2, func(d device.Device) device.Device { return regrouped{d, 3} }},
		} {
			other := beyond(trainerOn(t, c.lanes, c.wrap, data, s, fourKernels...), most)
			train(t, other)
			if one.last == nil {
				train(t, one)
			}
			same(t, fmt.Sprintf("%s, %d lanes", hyper, c.lanes), other, one)
		}
		for i := range one.last.Kernels {
			if one.kernels[i].terms == nil {
				some++
			}
		}
		if hyper == "point" && (some == 0 || some == len(fourKernels)) {
			t.Errorf("%d kernels are exact", some)
		}
		early := beyond(trainerOn(t, 1, nil, data, s, fourKernels...), most)
		for !early.Done() {
			next(t, early)
			again := beyond(resumed(t, early, s), most)
			same(t, hyper+", resumed", again, early)
			if !again.Done() {
				train(t, again)
				same(t, hyper+", resumed and at its end", again, one)
			}
		}
	}
}
