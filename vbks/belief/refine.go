package belief

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// The natural-gradient steps begin within a fraction of a nat of the optimum,
// and differences of a hundredth of a nat are below the error of J.
const (
	maxBeliefSteps = 5
	minBeliefStep  = 0.1  // shortest β tried
	minBeliefGain  = 0.01 // nats; a step that gains less is the last
)

// workspace holds samples of g and what is averaged over them.
type workspace struct {
	p         *problem
	n         int
	eta, prob blas64.General // n x K: η; softmax(g)
	weighted  blas64.General // n x K: softmax(g)_i (gain_i − φ) = ∂φ/∂g_i
	hessian   []float64      // K x K: E ∇²φ
	gradient  []float64      // K: E ∇φ
	posterior []float64      // K: E softmax(g)
	phi       []float64      // n: φ(g)
}

func (p *problem) newWorkspace(eta []float64) *workspace {
	n := len(eta) / p.k
	general := func(data []float64) blas64.General {
		return blas64.General{Rows: n, Cols: p.k, Stride: p.k, Data: data}
	}
	return &workspace{
		p: p, n: n,
		eta: general(eta), prob: general(make([]float64, n*p.k)),
		gradient: make([]float64, p.k), posterior: make([]float64, p.k), phi: make([]float64, n),
	}
}

// softmax fills prob and phi for g = m + C η.
func (w *workspace) softmax(mean, chol []float64) {
	k := w.p.k
	// The second half of the samples mirrors the first, and C is triangular:
	// of the product with C the first half is computed, in blocks of columns.
	half := (w.n + 1) / 2
	const block = 36
	for from := 0; from < k; from += block {
		to := min(from+block, k)
		eta := blas64.General{Rows: half, Cols: to, Stride: k, Data: w.eta.Data}
		c := blas64.General{Rows: to - from, Cols: to, Stride: k, Data: chol[from*k:]}
		out := blas64.General{Rows: half, Cols: to - from, Stride: k, Data: w.prob.Data[from:]}
		blas64.Gemm(blas.NoTrans, blas.Trans, 1, eta, c, 0, out)
	}
	row := func(s int) []float64 { return w.prob.Data[s*k : (s+1)*k] }
	for s := range w.n / 2 {
		floats.SubTo(row(w.n-1-s), mean, row(s))
	}
	for s := range half {
		floats.Add(row(s), mean)
	}
	softmaxes(w.prob.Data, k, k)
	for s := range w.n {
		w.phi[s] = floats.Dot(row(s), w.p.gain)
	}
}

// average fills posterior.
func (w *workspace) average() {
	k := w.p.k
	clear(w.posterior)
	for s := range w.n {
		floats.Add(w.posterior, w.prob.Data[s*k:(s+1)*k])
	}
	floats.Scale(1/float64(w.n), w.posterior)
}

// value computes J at (m, C) for the full family, with
//
//	KL = ½ [(|C|² + |m − m_0|²)/s − K + K log s] − Σ_i log C_ii,
//
// −∞ where it is not finite.
func (w *workspace) value(mean, chol []float64) float64 {
	p := w.p
	w.softmax(mean, chol)
	kl := 0.5 * (floats.Dot(chol, chol)/p.s + float64(p.k)*(math.Log(p.s)-1))
	for i := range p.k {
		d := mean[i] - p.prior[i]
		kl += 0.5*d*d/p.s - math.Log(chol[i*p.k+i])
	}
	v := floats.Sum(w.phi)/float64(w.n) - kl
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return math.Inf(-1)
	}
	return v
}

// derivatives fills gradient and hessian with the averages of
//
//	∂φ/∂g_i       = p_i (𝓛_i − φ)
//	∂²φ/∂g_i∂g_j  = δ_ij p_i (𝓛_i − φ) − p_i p_j (𝓛_i + 𝓛_j − 2φ)
//
// for the samples that value was last called for.
func (w *workspace) derivatives() {
	k := w.p.k
	if w.hessian == nil {
		w.weighted = w.prob
		w.weighted.Data = make([]float64, w.n*k)
		w.hessian = make([]float64, k*k)
	}
	clear(w.gradient)
	for s := range w.n {
		prob, d := w.prob.Data[s*k:(s+1)*k], w.weighted.Data[s*k:(s+1)*k]
		for i, v := range prob {
			d[i] = v * (w.p.gain[i] - w.phi[s])
		}
		floats.Add(w.gradient, d)
	}
	inv := 1 / float64(w.n)
	floats.Scale(inv, w.gradient)
	h := blas64.General{Rows: k, Cols: k, Stride: k, Data: w.hessian}
	blas64.Gemm(blas.Trans, blas.NoTrans, -inv, w.weighted, w.prob, 0, h)
	for i := range k {
		for j := range i {
			v := h.Data[i*k+j] + h.Data[j*k+i]
			h.Data[i*k+j], h.Data[j*k+i] = v, v
		}
		h.Data[i*k+i] = 2*h.Data[i*k+i] + w.gradient[i]
	}
}

// refine improves a belief in the full family by natural-gradient steps of
// size β (Khan and Rue 2023, "The Bayesian learning rule", section 3),
//
//	Λ ← (1 − β) Λ + β (I/s − E_q[∇²φ]),   Λ = Σ⁻¹
//	m ← m + β Σ (E_q[∇φ] − (m − m_0)/s)   with the new Σ,
//
// where β is halved until Λ is positive definite and J on the samples eta
// increases. It sets the value of fit.
func (p *problem) refine(fit *fitted, eta []float64) error {
	k := p.k
	w := p.newWorkspace(eta)
	fit.value = w.value(fit.mean, fit.chol)

	// The start is diagonal.
	precision, trial := mat.NewSymDense(k, nil), mat.NewSymDense(k, nil)
	for i := range k {
		precision.SetSym(i, i, 1/(fit.chol[i*k+i]*fit.chol[i*k+i]))
	}
	sigma := mat.NewSymDense(k, nil)
	mean, gradient := make([]float64, k), make([]float64, k)
	var factor mat.Cholesky
	beta := 1.0
	for range maxBeliefSteps {
		if err := p.stopped(); err != nil {
			return err
		}
		w.derivatives()
		for i, m := range fit.mean {
			gradient[i] = w.gradient[i] - (m-p.prior[i])/p.s
		}
		var value float64
		var chol []float64
		for ; beta >= minBeliefStep; beta /= 2 {
			for i := range k {
				for j := i; j < k; j++ {
					v := -w.hessian[i*k+j]
					if i == j {
						v += 1 / p.s
					}
					trial.SetSym(i, j, (1-beta)*precision.At(i, j)+beta*v)
				}
			}
			if !factor.Factorize(trial) || factor.InverseTo(sigma) != nil {
				continue
			}
			var err error
			if chol, err = lowerFactor(sigma); err != nil {
				continue
			}
			for i := range k {
				mean[i] = fit.mean[i]
				for j, g := range gradient {
					mean[i] += beta * sigma.At(i, j) * g
				}
			}
			if value = w.value(mean, chol); value > fit.value {
				break
			}
		}
		if beta < minBeliefStep {
			return nil
		}
		gained := value - fit.value
		copy(fit.mean, mean)
		fit.chol, fit.value = chol, value
		precision, trial = trial, precision
		if gained < minBeliefGain {
			return nil
		}
	}
	return nil
}
