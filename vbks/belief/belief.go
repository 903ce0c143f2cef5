// Package belief finds q(g), the Gaussian belief over the scores of kernels, from
// their local ELBOs, and what follows from it: the kernel posterior, and how
// similar kernels are.
package belief

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Options are the choices of Fit.
type Options struct {
	PriorVariance float64 // s > 0
	EvidenceScale float64 // τ > 0
	Samples       int     // fixed samples that the belief is optimised on, 2 to 512; 0: 512
	Seed          uint64  // of the samples
}

// mostSamples is the largest number of samples to optimise on: more cost
// time and change little, because the starts are compared on a larger sample.
const mostSamples = 512

// Belief is the Gaussian belief over the kernels' scores,
//
//	q(g) = N(m_g, C_g C_gᵀ),   p(k_i given g) = softmax(g)_i,
//
// Teng, Chen, Zhang and Low (AAAI 2020), section "Variational Bayesian kernel
// selection". Entries are in the order of IDs.
type Belief struct {
	IDs       []string  // of the K live kernels
	Mean      []float64 // m_g, K
	Chol      []float64 // C_g, K x K row-major, lower triangular
	Objective float64   // total ELBO J at the optimum, nats, an estimate from samples
	Start     string    // which start led here: "last", "prior", "leader", "shape"
}

// Fit maximises the total ELBO over q(g) = N(m_g, C_g C_gᵀ),
//
//	J = Σ_i E_q(g)[softmax(g)_i] 𝓛_i/τ − KL[q(g) ‖ N(m_0, s I)],
//
// the paper's equation for 𝓛(q) with the local ELBOs 𝓛_i at their optimum.
// elbo holds 𝓛_i in nats and logPrior m_0, the logarithms of the prior weights
// (nil: zeros), in the order of ids, the live kernels. last, nil at first, is
// the previous optimum, perhaps over other kernels; lastLeader the kernel that
// was ranked first, "" if none.
//
// J has several local optima: the belief of one leader, for each of several
// good kernels, and often one near the prior. So a diagonal C_g is optimised
// first, by L-BFGS on antithetic, stratified fixed samples, from several
// starts, and the starts' ends are compared on a larger common sample. The
// full factor is found from the best by natural-gradient steps: at a
// stationary point (theorems of Bonnet and of Price)
//
//	Σ⁻¹ = I/s − E_q[∇²φ],   m − m_0 = s E_q[∇φ],   φ(g) = Σ_i softmax(g)_i 𝓛_i/τ
//
// which gives Σ from K(K+1)/2 averages over a large sample. L-BFGS on the entries
// of C_g would have 10,440 unknowns at K = 144 and fit the noise of a few hundred
// samples. A step is taken only if it increases J.
//
// Where kernels are equal to the leader within a hundredth of a nat, the last
// leader wins, else the one whose id sorts first: their optima are equal, and
// the samples must not decide. Everything is computed in the order of the ids
// sorted, with a stream of random numbers for each id: the result does not
// depend on the order of the arguments, and equal arguments give equal results.
// Where the context ends the error is its cause.
func Fit(ctx context.Context, elbo, logPrior []float64, opts Options, last *Belief, lastLeader string, ids []string) (*Belief, error) {
	if err := check(elbo, logPrior, opts, ids); err != nil {
		return nil, err
	}
	order, err := canonicalOrder(ids)
	if err != nil {
		return nil, err
	}
	p, shift := newProblem(elbo, logPrior, opts, ids, order)
	p.ctx = ctx
	if opts.Samples == 0 {
		opts.Samples = mostSamples
	}
	var fit fitted
	if p.k == 1 {
		fit = p.single()
	} else if fit, err = p.optimise(opts, last, lastLeader); err != nil {
		return nil, err
	}

	b := &Belief{IDs: slices.Clone(ids), Mean: make([]float64, p.k), Objective: fit.value + shift, Start: fit.start}
	for i, at := range order {
		b.Mean[at] = fit.mean[i]
	}
	b.Chol, err = permutedFactor(fit.chol, order)
	if err != nil {
		return nil, fmt.Errorf("vbks: belief over kernels: %w", err)
	}
	return b, nil
}

func check(elbo, logPrior []float64, opts Options, ids []string) error {
	switch {
	case len(ids) == 0:
		return errors.New("vbks: belief over no kernels")
	case len(elbo) != len(ids):
		return fmt.Errorf("vbks: %d local ELBOs for %d kernels", len(elbo), len(ids))
	case logPrior != nil && len(logPrior) != len(ids):
		return fmt.Errorf("vbks: %d prior weights for %d kernels", len(logPrior), len(ids))
	case !(opts.PriorVariance > 0) || math.IsInf(opts.PriorVariance, 0):
		return fmt.Errorf("vbks: prior variance %v of the belief is not positive and finite", opts.PriorVariance)
	case !(opts.EvidenceScale > 0) || math.IsInf(opts.EvidenceScale, 0):
		return fmt.Errorf("vbks: evidence scale %v is not positive and finite", opts.EvidenceScale)
	case opts.Samples < 0 || opts.Samples == 1 || opts.Samples > mostSamples:
		return fmt.Errorf("vbks: %d samples for the belief, want 2 to %d", opts.Samples, mostSamples)
	}
	for i, v := range elbo {
		if v /= opts.EvidenceScale; math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("vbks: local ELBO of %s is %v", ids[i], elbo[i])
		}
	}
	for i, v := range logPrior {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("vbks: logarithm of the prior weight of %s is %v", ids[i], v)
		}
	}
	return nil
}

// canonicalOrder returns the positions of ids in sorted order.
func canonicalOrder(ids []string) ([]int, error) {
	order := make([]int, len(ids))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		switch {
		case ids[a] < ids[b]:
			return -1
		case ids[a] > ids[b]:
			return 1
		}
		return 0
	})
	for i := 1; i < len(order); i++ {
		if id := ids[order[i]]; id == ids[order[i-1]] {
			return nil, fmt.Errorf("vbks: kernel %s occurs twice in the belief", id)
		}
	}
	return order, nil
}

// permutedFactor takes the factor of a covariance whose row i belongs at
// place to[i], and returns the factor of the covariance so rearranged.
func permutedFactor(chol []float64, to []int) ([]float64, error) {
	k := len(to)
	if slices.IsSorted(to) {
		return slices.Clone(chol), nil
	}
	sigma := covarianceOf(chol, k)
	moved := mat.NewSymDense(k, nil)
	for i := range k {
		for j := i; j < k; j++ {
			moved.SetSym(to[i], to[j], sigma.At(i, j))
		}
	}
	return lowerFactor(moved)
}

// covarianceOf computes C Cᵀ.
func covarianceOf(chol []float64, k int) *mat.SymDense {
	sigma := mat.NewSymDense(k, nil)
	for i := range k {
		for j := 0; j <= i; j++ {
			sigma.SetSym(i, j, floats.Dot(chol[i*k:i*k+j+1], chol[j*k:j*k+j+1]))
		}
	}
	return sigma
}

var (
	errNotPositive = errors.New("covariance is not positive definite")
	errNotFinite   = errors.New("total ELBO is not finite at any start")
)

// lowerFactor returns the lower Cholesky factor, row-major.
func lowerFactor(sigma *mat.SymDense) ([]float64, error) {
	var c mat.Cholesky
	if !c.Factorize(sigma) {
		return nil, errNotPositive
	}
	k := sigma.SymmetricDim()
	l := make([]float64, k*k)
	c.LTo(mat.NewTriDense(k, mat.Lower, l))
	return l, nil
}

// Covariance returns cov(g) = C_g C_gᵀ under q(g), K x K in the order of IDs.
func (b *Belief) Covariance() *mat.SymDense { return covarianceOf(b.Chol, len(b.IDs)) }

// Posterior returns the kernel posterior, in the order of IDs, from samples
// of q(g),
//
//	q*(k_i) = (1/S) Σ_s softmax(g⁽ˢ⁾)_i
//
// (the paper's Monte Carlo estimate, S = 2000 there). The samples are fixed by
// seed, antithetic and stratified in each coordinate, which has less error
// than independent ones. samples must be positive. The entries sum to 1.
func (b *Belief) Posterior(samples int, seed uint64) []float64 {
	if samples <= 0 {
		panic("vbks: number of samples of the kernel posterior is not positive")
	}
	k := len(b.IDs)
	q := make([]float64, k)
	if k == 1 {
		q[0] = 1
		return q
	}
	// In canonical order, so that the order of the kernels does not matter.
	order, err := canonicalOrder(b.IDs)
	if err != nil {
		panic("vbks: a kernel occurs twice in a belief")
	}
	ids := make([]string, k)
	mean := make([]float64, k)
	to := make([]int, k)
	for i, at := range order {
		ids[i], mean[i], to[at] = b.IDs[at], b.Mean[at], i
	}
	chol, err := permutedFactor(b.Chol, to)
	if err != nil {
		panic("vbks: factor of the belief's covariance is singular")
	}
	p := &problem{k: k, ids: ids, gain: make([]float64, k), prior: make([]float64, k), s: 1}
	w := p.newWorkspace(p.samples(samples, seed))
	w.softmax(mean, chol)
	w.average()
	for i, at := range order {
		q[at] = w.posterior[i]
	}
	floats.Scale(1/floats.Sum(q), q)
	return q
}

// Bayes returns Bayes' rule on the local ELBOs,
//
//	softmax(𝓛_i/τ + m_0i),
//
// in the order of elbo; logPrior may be nil. Kernels with 𝓛 = −∞ or prior
// weight 0 get 0. If none is left, or a value is NaN, all entries are NaN.
func Bayes(elbo, logPrior []float64, tau float64) []float64 {
	q := make([]float64, len(elbo))
	for i, v := range elbo {
		q[i] = v / tau
		if logPrior != nil {
			q[i] += logPrior[i]
		}
	}
	if len(q) == 0 {
		return q
	}
	top := floats.Max(q)
	sum := 0.0
	for i, v := range q {
		q[i] = math.Exp(v - top)
		sum += q[i]
	}
	floats.Scale(1/sum, q)
	return q
}
