package vbks

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"example.com/kestrel/kernelspace"
)

// jointSE returns log p(y, log θ) of an exact GP with the kernel SE for free
// vectors (log variance, log length scale, ρ), the last of which vary in the
// inner loops: with k/variance = UΛUᵀ, the rotated targets Uᵀy are independent
// normals of variances variance·Λ + σ_n².
func jointSE(p *kernelspace.Program, pr prior, logScale float64, x, y []float64, floor float64) func(logVar, rho float64) float64 {
	n := len(y)
	corr := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			corr.SetSym(i, j, p.Eval([]float64{1, math.Exp(logScale)}, x[i:i+1], x[j:j+1], i == j))
		}
	}
	var eigen mat.EigenSym
	eigen.Factorize(corr, true)
	var u mat.Dense
	eigen.VectorsTo(&u)
	lambda := eigen.Values(nil)
	rotated := mat.NewVecDense(n, nil)
	rotated.MulVec(u.T(), mat.NewVecDense(n, slices.Clone(y)))
	return func(logVar, rho float64) float64 {
		variance, noise := math.Exp(logVar), floor+math.Exp(rho)
		v, product := -0.5*float64(n)*math.Log(2*math.Pi), 1.0
		for i, l := range lambda {
			s := variance*max(l, 0) + noise
			v -= 0.5 * rotated.RawVector().Data[i] * rotated.RawVector().Data[i] / s
			if product *= s; i == n-1 || product < 1e-100 || product > 1e100 { // few logarithms, which take long
				v -= 0.5 * math.Log(product)
				product = 1
			}
		}
		for i, f := range []float64{logVar, logScale, rho} {
			d := f - pr.mean[i]
			v += 0.5 * (math.Log(pr.prec[i]/(2*math.Pi)) - pr.prec[i]*d*d)
		}
		return v
	}
}

// At Z = X the bound is the exact log p(y|θ). Dense quadrature gives the
// evidence ∫ p(y, log θ) and the true ELBO of what the ascent found,
// ∫ q log p(y, log θ)/q: below the evidence, little below it, and close to the
// objective, which averages over a few draws instead. Variance and length scale
// are correlated, so that a full C is better.
func TestThetaObjectiveAgainstEvidence(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(4, 12))
	x := make([]float64, 12)
	y := make([]float64, len(x))
	for i := range x {
		x[i] = -3 + 6*float64(i)/11
		y[i] = 2*math.Sin(x[i]) + 0.1*rng.NormFloat64()
	}
	const steps, width = 72, 12.0
	const cell = (width / steps) * (width / steps) * (width / steps)
	gaps := []float64{0.5, 0.15} // a diagonal C cannot follow the correlation
	var elbos [2]float64
	for i, diagonal := range []bool{true, false} {
		o := thetaBench(t, x, y, x, diagonal, "SE")
		best := o.fit(t)[0]
		mean, chol := o.unpack(best.x)
		// A grid around the mean of q holds the joint density, too.
		grid := func(entry, place int) float64 {
			return mean[entry] - width/2 + width*(float64(place)+0.5)/steps
		}
		var logs []float64
		var mass, elbo float64
		for b := range steps {
			joint := jointSE(o.bound.programs[0], o.priors[0], grid(1, b), x, y, o.bound.floor)
			for a := range steps {
				for c := range steps {
					logp := joint(grid(0, a), grid(2, c))
					logs = append(logs, logp+math.Log(cell))
					// η = C⁻¹(log θ − mean), by forward substitution.
					e0 := (grid(0, a) - mean[0]) / chol[0]
					e1 := (grid(1, b) - mean[1] - chol[3]*e0) / chol[4]
					e2 := (grid(2, c) - mean[2] - chol[6]*e0 - chol[7]*e1) / chol[8]
					logq := -1.5*math.Log(2*math.Pi) - math.Log(chol[0]*chol[4]*chol[8]) - 0.5*(e0*e0+e1*e1+e2*e2)
					q := math.Exp(logq) * cell
					mass += q
					elbo += q * (logp - logq)
				}
			}
		}
		evidence := logSum(logs)
		reported, ok, err := o.report([]int{0}, [][]float64{best.x}, o.others)
		if err != nil || !ok[0] {
			t.Fatal(ok, err)
		}
		if math.Abs(reported[0]-elbo) > 0.05 {
			t.Errorf("report %.4f, ELBO %.4f", reported[0], elbo)
		}
		t.Logf("diagonal %v: evidence %.4f, ELBO %.4f, objective %.4f, report %.4f", diagonal, evidence, elbo, best.value, reported[0])
		if math.Abs(mass-1) > 1e-3 {
			t.Fatalf("the grid holds %.6f of q", mass)
		}
		if elbo > evidence+1e-3 {
			t.Errorf("ELBO %.4f above the evidence %.4f", elbo, evidence)
		}
		if elbo < evidence-gaps[i] {
			t.Errorf("ELBO %.4f far below the evidence %.4f", elbo, evidence)
		}
		if math.Abs(best.value-elbo) > 0.15 {
			t.Errorf("objective %.4f, ELBO %.4f", best.value, elbo)
		}
		elbos[i] = elbo
	}
	if elbos[1] < elbos[0]+0.02 {
		t.Errorf("full C %.4f, diagonal C %.4f", elbos[1], elbos[0])
	}
}

func logSum(logs []float64) float64 {
	top := slices.Max(logs)
	var sum float64
	for _, v := range logs {
		sum += math.Exp(v - top)
	}
	return top + math.Log(sum)
}

// More rows make q(log θ) narrower. With many the bound is close to quadratic,
// and q's covariance is close to the inverse of the Hessian by differences.
func TestThetaBeliefNarrowsWithData(t *testing.T) {
	x, y, _ := testData(33, 160, 1, 1)
	var last []float64
	for _, n := range []int{10, 160} {
		z := x[:min(n, 40)]
		o := thetaBench(t, x[:n], y[:n], z, false, "SE")
		mean, chol := o.unpack(o.fit(t)[0].x)
		f := len(mean)
		sds := make([]float64, f)
		for i := range f {
			for _, c := range chol[i*f : i*f+i+1] {
				sds[i] = math.Hypot(sds[i], c)
			}
		}
		t.Logf("%d rows: mean %.3f, sd %.3f", n, mean, sds)
		for i, v := range sds {
			if v > 1.02/math.Sqrt(o.priors[0].prec[i]) {
				t.Errorf("%d rows: sd[%d] = %g is wider than the prior", n, i, v)
			}
			if last != nil && v > 0.6*last[i] {
				t.Errorf("%d rows: sd[%d] = %g, with 10 %g", n, i, v, last[i])
			}
		}
		last = sds
		if n < 160 {
			continue
		}
		c := o.bound
		point := c.boundObjective(o.rows, o.yy, nil)
		hessian := mat.NewDense(f, f, nil)
		for j := range f {
			const h = 1e-3
			var side [2][]float64
			for s, sign := range []float64{1, -1} {
				at := slices.Clone(mean)
				at[j] += sign * h
				side[s] = make([]float64, f)
				if err := point.eval([]int{0}, [][]float64{at}); err != nil {
					t.Fatal(err)
				}
				if _, ok, err := point.result(0, side[s]); err != nil || !ok {
					t.Fatal(ok, err)
				}
			}
			for i := range f {
				hessian.Set(i, j, -(side[0][i]-side[1][i])/(2*h))
			}
		}
		var laplace mat.Dense
		if err := laplace.Inverse(hessian); err != nil {
			t.Fatal(err)
		}
		for i := range f {
			if want := math.Sqrt(laplace.At(i, i)); math.Abs(sds[i]-want) > 0.25*want {
				t.Errorf("sd[%d] = %g, Laplace's %g", i, sds[i], want)
			}
		}
	}
}
