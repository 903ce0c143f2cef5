package belief

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"example.com/kestrel/internal/guard"
)

func randomProblem(k int) *problem {
	rng := rand.New(rand.NewPCG(11, uint64(k)))
	p := &problem{k: k, s: 1.7}
	for i := range k {
		p.ids = append(p.ids, string(rune('a'+i)))
		p.gain = append(p.gain, -4*rng.Float64())
		p.prior = append(p.prior, rng.NormFloat64())
	}
	return p
}

func TestBeliefSamples(t *testing.T) {
	p := randomProblem(3)
	const n = 1001
	eta := p.samples(n, 5)
	for j := range 3 {
		var mean, variance, fourth float64
		for i := range n {
			v := eta[i*3+j]
			mean += v / n
			variance += v * v / n
			fourth += v * v * v * v / n
			if v != -eta[(n-1-i)*3+j] {
				t.Fatalf("sample %d is not mirrored", i)
			}
		}
		if math.Abs(mean) > 1e-12 || math.Abs(variance-1) > 0.02 || math.Abs(fourth-3) > 0.4 {
			t.Errorf("column %d: mean %v, variance %v, fourth moment %v", j, mean, variance, fourth)
		}
	}
	// A kernel keeps its numbers when another goes.
	q := &problem{k: 2, ids: []string{"a", "c"}}
	other := q.samples(n, 5)
	for i := range n {
		if other[i*2+1] != eta[i*3+2] {
			t.Fatal("the samples of a kernel depend on the other kernels")
		}
	}
}

func TestBeliefDiagonalGradient(t *testing.T) {
	p := randomProblem(5)
	eta := p.samples(64, 1)
	rng := rand.New(rand.NewPCG(1, 1))
	x := make([]float64, 10)
	for i := range x {
		x[i] = 0.7 * rng.NormFloat64()
	}
	grad := make([]float64, 10)
	p.diagonal(eta, x, grad)
	for i := range x {
		const h = 1e-5
		up, down := slices.Clone(x), slices.Clone(x)
		up[i] += h
		down[i] -= h
		want := (p.diagonal(eta, up, nil) - p.diagonal(eta, down, nil)) / (2 * h)
		if math.Abs(grad[i]-want) > 1e-8*(1+math.Abs(want)) {
			t.Errorf("∂J/∂x[%d] = %v, finite differences %v", i, grad[i], want)
		}
	}
}

// Both objectives agree where the covariance is diagonal, and the averages of
// ∇φ and ∇²φ are the derivatives of the average of φ by the mean.
func TestBeliefFullDerivatives(t *testing.T) {
	p := randomProblem(40) // more than a block of the product with C
	rng := rand.New(rand.NewPCG(2, 1))
	eta := p.samples(33, 1)
	x := make([]float64, 80)
	mean, chol := make([]float64, 40), make([]float64, 1600)
	for i := range 40 {
		x[i], x[40+i] = 0.5*rng.NormFloat64(), 0.3*rng.NormFloat64()
		mean[i] = p.prior[i] + math.Sqrt(p.s)*x[i]
		chol[i*40+i] = math.Sqrt(p.s) * math.Exp(x[40+i])
	}
	w := p.newWorkspace(eta)
	if got, want := w.value(mean, chol), p.diagonal(eta, x, nil); math.Abs(got-want) > 1e-10*math.Abs(want) {
		t.Errorf("J = %v in the full family, %v in the diagonal", got, want)
	}
	for i := range 40 {
		for j := range i {
			chol[i*40+j] = 0.1 * rng.NormFloat64()
		}
	}
	// KL against its definition.
	var prior, q mat.Cholesky
	sigma := covarianceOf(chol, 40)
	ident := mat.NewSymDense(40, nil)
	for i := range 40 {
		ident.SetSym(i, i, p.s)
	}
	if !prior.Factorize(ident) || !q.Factorize(sigma) {
		t.Fatal("not positive definite")
	}
	value := w.value(mean, chol)
	kl := 0.5 * (prior.LogDet() - q.LogDet() - 40 + mat.Trace(sigma)/p.s + math.Pow(floats.Distance(mean, p.prior, 2), 2)/p.s)
	if got := floats.Sum(w.phi)/33 - value; math.Abs(got-kl) > 1e-10*kl {
		t.Errorf("KL = %v, want %v", got, kl)
	}
	// φ against a naive evaluation.
	for s := range 33 {
		var num, den float64
		for i := range 40 {
			g := mean[i]
			for j := range i + 1 {
				g += chol[i*40+j] * eta[s*40+j]
			}
			num += math.Exp(g) * p.gain[i]
			den += math.Exp(g)
		}
		if math.Abs(w.phi[s]-num/den) > 1e-10 {
			t.Fatalf("φ of sample %d is %v, want %v", s, w.phi[s], num/den)
		}
	}
	w.derivatives()
	gradient, hessian := slices.Clone(w.gradient), slices.Clone(w.hessian)
	const h = 1e-5
	average := func() float64 { w.value(mean, chol); return floats.Sum(w.phi) / 33 }
	for i := range 40 {
		old := mean[i]
		mean[i] = old + h
		up := average()
		w.derivatives()
		upGradient := slices.Clone(w.gradient)
		mean[i] = old - h
		down := average()
		w.derivatives()
		mean[i] = old
		if want := (up - down) / (2 * h); math.Abs(gradient[i]-want) > 1e-8 {
			t.Errorf("E ∂φ/∂g[%d] = %v, finite differences %v", i, gradient[i], want)
		}
		for j := range 40 {
			if want := (upGradient[j] - w.gradient[j]) / (2 * h); math.Abs(hessian[i*40+j]-want) > 1e-8 {
				t.Errorf("E ∂²φ/∂g[%d]∂g[%d] = %v, finite differences %v", i, j, hessian[i*40+j], want)
			}
		}
	}
}

// quadratureJ is the total ELBO of two kernels with local ELBOs 0 and −gap, as
// a function of mean and variance of d = g_1 − g_2 ~ N(μ, v) with prior
// N(0, 2s); the sum of g keeps its prior. The expectation of the logistic
// function is a dense sum.
func quadratureJ(gap, s, mu, v float64) float64 {
	const h = 0.01
	expected := 0.0
	for z := -9.0; z <= 9; z += h {
		d := mu + math.Sqrt(v)*z
		expected += h * math.Exp(-0.5*z*z) / math.Sqrt(2*math.Pi) * -gap / (1 + math.Exp(d))
	}
	return expected - 0.5*((v+mu*mu)/(2*s)-1-math.Log(v/(2*s)))
}

func TestBeliefTwoKernels(t *testing.T) {
	for _, s := range []float64{0.5, 10} {
		for _, gap := range []float64{0.5, 4, 60} {
			b := mustFit(t, []float64{-gap, 0}, nil, Options{PriorVariance: s, Seed: 1}, nil, "", []string{"a", "b"})
			// The best on a grid.
			best := math.Inf(-1)
			for i := range 40 {
				mu := float64(i) * 0.2
				for j := range 25 {
					best = max(best, quadratureJ(gap, s, mu, 2*s*math.Pow(1.15, float64(j-20))))
				}
			}
			sigma := b.Covariance()
			v := sigma.At(0, 0) + sigma.At(1, 1) - 2*sigma.At(0, 1)
			exact := quadratureJ(gap, s, b.Mean[1]-b.Mean[0], v)
			if exact < best-0.01 {
				t.Errorf("s=%g gap=%g: J = %.5f by quadrature, the grid's best is %.5f", s, gap, exact, best)
			}
			if math.Abs(b.Objective-exact) > 0.02 {
				t.Errorf("s=%g gap=%g: J = %.5f from samples, %.5f by quadrature", s, gap, b.Objective, exact)
			}
			// The direction that the data say nothing about keeps its prior.
			if sum := sigma.At(0, 0) + sigma.At(1, 1) + 2*sigma.At(0, 1); math.Abs(sum-2*s) > 0.02*s {
				t.Errorf("s=%g gap=%g: variance of g_1 + g_2 is %v, want %v", s, gap, sum, 2*s)
			}
		}
	}
}

// At the optimum the precision is I/s − E ∇²φ (Price's theorem): checked on
// samples that the fit has not seen.
func TestBeliefStationary(t *testing.T) {
	elbo := []float64{0, -2, -5, -9}
	ids := []string{"a", "b", "c", "d"}
	b := mustFit(t, elbo, nil, Options{PriorVariance: 2, Seed: 1}, nil, "", ids)
	p := &problem{k: 4, ids: ids, gain: elbo, prior: make([]float64, 4), s: 2}
	w := p.newWorkspace(p.samples(20000, 99))
	w.value(b.Mean, b.Chol)
	w.derivatives()
	var precision mat.Dense
	if err := precision.Inverse(b.Covariance()); err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		if want := 2 * w.gradient[i]; math.Abs(b.Mean[i]-want) > 0.05 {
			t.Errorf("mean %d is %.3f, want s E ∂φ = %.3f", i, b.Mean[i], want)
		}
		for j := range 4 {
			want := -w.hessian[i*4+j]
			if i == j {
				want += 0.5
			}
			if math.Abs(precision.At(i, j)-want) > 0.05 {
				t.Errorf("precision %d, %d is %.3f, want %.3f", i, j, precision.At(i, j), want)
			}
		}
	}
}

// However far the best are ahead, no ascent is begun twice at one place.
func TestBeliefStartsDiffer(t *testing.T) {
	for _, ahead := range []float64{0, 1, 1000} {
		elbo, ids := oneAhead(12, ahead, 4)
		p := &problem{k: 12, ids: ids, gain: elbo, prior: make([]float64, 12), s: 10}
		all := p.starts(nil)
		for i, a := range all {
			for _, b := range all[:i] {
				if floats.Distance(a.x, b.x, math.Inf(1)) < 1e-9 {
					t.Errorf("%v nats ahead: %s and %s begin at one place", ahead, b.name, a.name)
				}
			}
		}
	}
}

// The full family contains the diagonal one.
func TestBeliefRefineImproves(t *testing.T) {
	elbo, ids := oneAhead(12, 100, 0)
	p := &problem{k: 12, ids: ids, gain: elbo, prior: make([]float64, 12), s: 10}
	eta := p.samples(1000, 1)
	for _, x := range [][]float64{make([]float64, 24), p.starts(nil)[1].x} {
		fit := fitted{mean: make([]float64, 12), chol: make([]float64, 144)}
		for i := range 12 {
			fit.mean[i] = math.Sqrt(10) * x[i]
			fit.chol[i*13] = math.Sqrt(10) * math.Exp(x[12+i])
		}
		before := p.diagonal(eta, x, nil)
		p.refine(&fit, eta)
		if fit.value < before || math.Abs(p.newWorkspace(eta).value(fit.mean, fit.chol)-fit.value) > 1e-9 {
			t.Errorf("J went from %v to %v", before, fit.value)
		}
	}
}

// A mistake in an ascent is an error: the belief over kernels has no kernel that
// could fail.
func TestBeliefAscentRecovers(t *testing.T) {
	b := &problem{k: 2, ids: []string{"a", "b"}, gain: []float64{0}, prior: make([]float64, 2), s: 1}
	var caught *guard.PanicError
	if _, err := b.ascendDiagonal(b.samples(8, 1), make([]float64, 4), 5); !errors.As(err, &caught) {
		t.Errorf("got %v", err)
	}
}
