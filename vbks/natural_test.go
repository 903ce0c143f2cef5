package vbks

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"kestrel/device"
	"kestrel/vbks/params"
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

// What is left out where rows and kernels are too many is said, with how many
// kernels there may be.
func TestLeftOut(t *testing.T) {
	if text := (natural{}).leftOut(1_000_000, 20); text != "" {
		t.Error(text)
	}
	text := (natural{}).leftOut(1_000_000, 144)
	for _, want := range []string{"1000000 rows x 144 kernels", "best 20 kernels"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q lacks %q", text, want)
		}
	}
}
