package vbks

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distmv"
)

// thetaKL against gonum's formula for two normals.
func TestThetaKL(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	const n = 4
	p := prior{}
	mean, chol := make([]float64, n), make([]float64, n*n)
	pc := mat.NewSymDense(n, nil)
	for i := range n {
		p.mean, p.prec = append(p.mean, rng.NormFloat64()), append(p.prec, 0.2+rng.Float64())
		pc.SetSym(i, i, 1/p.prec[i])
		mean[i] = rng.NormFloat64()
		for j := range i {
			chol[i*n+j] = rng.NormFloat64()
		}
		chol[i*n+i] = 0.2 + rng.Float64()
	}
	chol[n+1] *= -1 // either sign
	c := mat.NewDense(n, n, chol)
	var s mat.SymDense
	s.SymOuterK(1, c)
	a, ok1 := distmv.NewNormal(mean, &s, nil)
	b, ok2 := distmv.NewNormal(p.mean, pc, nil)
	if !ok1 || !ok2 {
		t.Fatal("not positive definite")
	}
	want := distmv.KullbackLeibler{}.DistNormal(a, b)
	if got := thetaKL(mean, chol, p); math.Abs(got-want) > 1e-10*want {
		t.Errorf("KL %.12g, gonum %.12g", got, want)
	}
}

// The gradient by the mean and factor of q(log θ), at fixed η, against central
// differences of the sampled objective: local ELBO at mean + Cη, with its soft
// bounds, less KL[q(log θ) ‖ p(log θ)].
func TestThetaGradients(t *testing.T) {
	x, y, z := testData(14, 25, 5, 1)
	rng := rand.New(rand.NewPCG(2, 9))
	for _, hyper := range []string{"diagonal", "full"} {
		s := testSettings("adam", hyper, 25)
		// A second kernel with more parameters, so that the first is padded.
		b := newBench(t, x, y, z, 1, s, "SE+LIN", "SE+PER*RQ+LIN")
		st := b.randomState(0, rng)
		n := len(st.Free)
		st.ThetaChol = make([]float64, n*n)
		eta := make([]float64, n)
		for i := range n {
			eta[i] = rng.NormFloat64()
			if hyper == "full" {
				for j := range i {
					st.ThetaChol[i*n+j] = 0.1 * rng.NormFloat64()
				}
			}
			st.ThetaChol[i*n+i] = 0.1 + 0.1*rng.Float64()
		}
		one := []int{0}
		objective := func(grad bool) float64 {
			if err := b.begin(0, st, "k"); err != nil {
				t.Fatal(err)
			}
			b.q.sample(one, func(int) []float64 { return eta })
			b.evaluate(one, b.rows(), 25, grad)
			v, err := b.scalar(b.value, 0)
			if err != nil {
				t.Fatal(err)
			}
			return v - thetaKL(st.Free, st.ThetaChol, b.priors[0])
		}
		objective(true)
		b.q.zero(one)
		b.q.accumulate(one, 0.5) // two halves make the whole
		b.q.accumulate(one, 0.5)
		b.q.finish(one)
		gm := b.unpadded(0, readArray(t, b.lane, b.q.gradCentre, 0))
		padded := readArray(t, b.lane, b.q.gradChol, 0)
		gc := b.unpaddedSquare(padded, n)
		var total, kept float64
		for _, v := range padded {
			total += math.Abs(v)
		}
		for _, v := range gc {
			kept += math.Abs(v)
		}
		if math.Abs(total-kept) > 1e-12*total {
			t.Errorf("%s: gradient outside the kernel's own parameters", hyper)
		}
		check := func(what string, param, grad []float64, free func(i int) bool) {
			for i := range param {
				if !free(i) {
					if grad[i] != 0 {
						t.Errorf("%s: ∂/∂%s[%d] = %g, want 0", hyper, what, i, grad[i])
					}
					continue
				}
				const h = 1e-5
				was := param[i]
				param[i] = was + h
				up := objective(false)
				param[i] = was - h
				down := objective(false)
				param[i] = was
				if fd := (up - down) / (2 * h); math.Abs(fd-grad[i]) > 2e-6*(1+math.Abs(fd)) {
					t.Errorf("%s: ∂/∂%s[%d] = %.9g, differences %.9g", hyper, what, i, grad[i], fd)
				}
			}
		}
		check("mean", st.Free, gm, func(int) bool { return true })
		check("C", st.ThetaChol, gc, func(i int) bool {
			return i/n == i%n || hyper == "full" && i/n > i%n
		})
	}
}

// As C shrinks, q(log θ) becomes the point estimate: the rows' terms agree, and
// so does the gradient by the mean.
func TestNarrowThetaBeliefIsThePoint(t *testing.T) {
	x, y, z := testData(15, 40, 6, 1)
	for _, optimizer := range []string{"adam", "natural"} {
		point := newBench(t, x, y, z, 1, testSettings(optimizer, "point", 40), "SE+LIN")
		if err := point.exact([]int{0}, point.rows(), sumSquares(y), nil); err != nil {
			t.Fatal(err)
		}
		st, err := point.end(0)
		if err != nil {
			t.Fatal(err)
		}
		want, err := point.estimate([]int{0}, point.rows(), 40, nil)
		if err != nil {
			t.Fatal(err)
		}
		mean, variance, noise, err := point.predict([]int{0}, point.rows(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, hyper := range []string{"diagonal", "full"} {
			b := newBench(t, x, y, z, 1, testSettings(optimizer, hyper, 40), "SE+LIN")
			n := len(st.Free)
			narrow := &State{Free: st.Free, Mean: st.Mean, Chol: st.Chol, ThetaChol: orIdentity(nil, n, 1e-7)}
			if err := b.begin(0, narrow, "k"); err != nil {
				t.Fatal(err)
			}
			got, err := b.estimate([]int{0}, b.rows(), 40, nil)
			if err != nil {
				t.Fatal(err)
			}
			near(t, "rows", got[0].Rows, want[0].Rows, 1e-5)
			gm, gv, gn, err := b.predict([]int{0}, b.rows(), nil)
			if err != nil {
				t.Fatal(err)
			}
			near(t, "mean", gm[0], mean[0], 1e-5)
			near(t, "variance", gv[0], variance[0], 1e-5)
			near(t, "noise", gn, noise, 1e-5)
			if err := b.exact([]int{0}, b.rows(), sumSquares(y), nil); err != nil {
				t.Fatal(err)
			}
			end, err := b.end(0)
			if err != nil {
				t.Fatal(err)
			}
			near(t, "exact m", end.Mean, st.Mean, 1e-4)
		}
	}
}

// q(log θ) cannot do without a prior.
func TestThetaBeliefNeedsAPrior(t *testing.T) {
	x, y, z := testData(16, 20, 4, 1)
	b := newBench(t, x, y, z, 1, testSettings("adam", "full", 20), "SE")
	p := broad(b.programs[0])
	p.prec[1] = 0
	if err := b.adopt([]prior{p}); err == nil {
		t.Error("no error for a prior of precision 0")
	}
}
