package vbks

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"
	"gonum.org/v1/gonum/stat/distuv"
)

// tieNats is the gap between scaled local ELBOs below which two kernels count
// as tied. Optimisers do not find local ELBOs more exactly than this.
const tieNats = 0.01

// The natural-gradient steps begin within a fraction of a nat of the optimum,
// and differences of a few thousandths of a nat are below the error of J.
const (
	maxBeliefSteps = 5
	minBeliefStep  = 0.1   // shortest β tried
	minBeliefGain  = 0.003 // nats; a step that gains less is the last
)

// commonSamples is the size of the sample that starts are compared on and the
// full covariance is estimated from.
const commonSamples = 2048

// beliefProblem is the total ELBO with the kernels in canonical order.
type beliefProblem struct {
	k     int
	ids   []string
	gain  []float64 // (𝓛_i − max 𝓛)/τ: only differences matter, and J stays exact at gaps of 1e5 nats
	prior []float64 // m_0
	s     float64
}

// beliefFit is a point of the full family and its J, without the shift.
type beliefFit struct {
	mean, chol []float64
	value      float64
	start      string
}

// newBeliefProblem also returns what the constant max 𝓛/τ adds to J.
func newBeliefProblem(elbo, logPrior []float64, opts BeliefOptions, ids []string, order []int) (p *beliefProblem, shift float64) {
	k := len(ids)
	p = &beliefProblem{k: k, ids: make([]string, k), gain: make([]float64, k), prior: make([]float64, k), s: opts.PriorVariance}
	top := floats.Max(elbo)
	for i, at := range order {
		p.ids[i] = ids[at]
		p.gain[i] = (elbo[at] - top) / opts.EvidenceScale
		if logPrior != nil {
			p.prior[i] = logPrior[at]
		}
	}
	return p, top / opts.EvidenceScale
}

// single is the belief over one kernel: the prior.
func (p *beliefProblem) single() beliefFit {
	return beliefFit{mean: slices.Clone(p.prior), chol: []float64{math.Sqrt(p.s)}, start: "prior"}
}

// samples draws n standard normal vectors, n x K row-major. In each column the
// first half is a Latin hypercube sample (McKay, Beckman and Conover 1979): one
// random point in each of n/2 strata of equal probability on the positive half
// line, shuffled, with random signs; the second half mirrors it. Midpoints of the
// strata would have less variance but miss the tails, which decide E[softmax(g)_i]
// of a kernel far behind. A column depends on the kernel's id, seed and n only.
func (p *beliefProblem) samples(n int, seed uint64) []float64 {
	half := n / 2
	eta := make([]float64, n*p.k) // a middle row of zeros if n is odd
	for j, id := range p.ids {
		h := fnv.New64a()
		h.Write([]byte(id)) // never fails
		rng := rand.New(rand.NewPCG(seed, h.Sum64()))
		for i, stratum := range rng.Perm(half) {
			v := distuv.UnitNormal.Quantile(0.5 + 0.5*(float64(stratum)+rng.Float64())/float64(half))
			if rng.Uint64()&1 == 0 {
				v = -v
			}
			eta[i*p.k+j] = v
			eta[(n-1-i)*p.k+j] = -v
		}
	}
	return eta
}

// diagonal computes J on samples eta for diagonal covariances, at
// x = ((m − m_0)/√s, log(sd/√s)), 2K, where
//
//	KL = ½ Σ_i [x_i² + exp(2 x_{K+i}) − 1 − 2 x_{K+i}],
//
// and its gradient, if grad is not nil. It returns −∞ where it overflows.
func (p *beliefProblem) diagonal(eta, x, grad []float64) float64 {
	k := p.k
	root := math.Sqrt(p.s)
	mean, sd := make([]float64, k), make([]float64, k)
	kl := 0.0
	for i := range k {
		mean[i] = p.prior[i] + root*x[i]
		ratio := math.Exp(x[k+i])
		sd[i] = root * ratio
		kl += 0.5*(x[i]*x[i]+ratio*ratio-1) - x[k+i]
	}
	clear(grad)
	if math.IsInf(kl, 0) || math.IsNaN(kl) {
		return math.Inf(-1)
	}
	w := make([]float64, k)
	expected := 0.0
	n := float64(len(eta) / k)
	for ; len(eta) >= k; eta = eta[k:] {
		e := eta[:k]
		for i := range w {
			w[i] = mean[i] + sd[i]*e[i]
		}
		softmaxInPlace(w)
		phi := floats.Dot(w, p.gain)
		expected += phi
		if grad == nil {
			continue
		}
		for i, v := range w {
			d := v * (p.gain[i] - phi) // ∂φ/∂g_i
			grad[i] += d
			grad[k+i] += d * e[i]
		}
	}
	if grad != nil {
		for i := range k {
			grad[i] = grad[i]*root/n - x[i]
			ratio := sd[i] / root
			grad[k+i] = grad[k+i]*sd[i]/n - ratio*ratio + 1
		}
	}
	return expected/n - kl
}

// softmaxInPlace replaces scores by their softmax.
func softmaxInPlace(g []float64) {
	top := g[0]
	for _, v := range g[1:] {
		if v > top {
			top = v
		}
	}
	sum := 0.0
	for i, v := range g {
		v = math.Exp(v - top)
		g[i] = v
		sum += v
	}
	inv := 1 / sum
	for i := range g {
		g[i] *= inv
	}
}

// ascendDiagonal maximises J over diagonal covariances on samples eta, from x,
// which is not modified.
func (p *beliefProblem) ascendDiagonal(eta, x []float64, iterations int) ([]float64, error) {
	// The line search asks for value and gradient at the same point one after
	// the other.
	at := make([]float64, len(x))
	grad := make([]float64, len(x))
	value, known := 0.0, false
	eval := func(x []float64) {
		if known && slices.Equal(x, at) {
			return
		}
		copy(at, x)
		value, known = -p.diagonal(eta, x, grad), true
	}
	problem := optimize.Problem{
		Func: func(x []float64) float64 { eval(x); return value },
		Grad: func(dst, x []float64) {
			eval(x)
			for i, v := range grad {
				dst[i] = -v
			}
		},
	}
	// An objective known to a thousandth of a nat is below all other errors.
	settings := &optimize.Settings{
		GradientThreshold: 1e-4,
		MajorIterations:   iterations,
		FuncEvaluations:   4 * iterations,
		Converger:         &optimize.FunctionConverge{Absolute: 1e-4, Relative: 1e-5, Iterations: 3},
	}
	result, err := optimize.Minimize(problem, x, settings, &optimize.LBFGS{Store: 8})
	if result == nil {
		return nil, fmt.Errorf("vbks: belief over kernels: %w", err)
	}
	// A line search that finds no progress ends at the best point it has: that
	// is an answer, too.
	return result.X, nil
}

// beliefStart is a point to start from, in the coordinates of diagonal.
type beliefStart struct {
	name string
	x    []float64
}

// starts lists where to begin: at the last optimum, at the prior, at beliefs
// with one leader raised far enough to lead (golden values show that the mean
// must rise by log K + 1 or more), and at one in the shape of softmax(𝓛/τ),
// where kernels that are nearly as good as the best rise with it.
func (p *beliefProblem) starts(last *Belief) []beliefStart {
	var list []beliefStart
	if x := p.lastPoint(last); x != nil {
		list = append(list, beliefStart{"last", x})
	}
	list = append(list, beliefStart{"prior", make([]float64, 2*p.k)})

	k := float64(p.k)
	root := math.Sqrt(p.s)
	spread := -floats.Sum(p.gain) / k
	// Beyond log K the mean of the leader grows by about half of log gap.
	rise := math.Log(k) + 1 + 0.5*math.Log1p(spread)
	var leaders []int
	for i := range 3 {
		leader, best := 0, math.Inf(-1)
		for j, v := range p.gain {
			// The best by 𝓛/τ, by Bayes' rule, and by what raising it over the
			// others costs. They differ only where prior weights do.
			switch i {
			case 1:
				v += p.prior[j]
			case 2:
				up := rise + floats.Max(p.prior) - p.prior[j]
				v -= up * up / (2 * p.s)
			}
			if v > best {
				leader, best = j, v
			}
		}
		if slices.Contains(leaders, leader) {
			continue
		}
		leaders = append(leaders, leader)
		up := rise + floats.Max(p.prior) - p.prior[leader]
		x := make([]float64, 2*p.k)
		for j := range p.k {
			x[j] = -up / k / root
			x[p.k+j] = -0.5 * math.Ln2
		}
		x[leader] += up / root
		list = append(list, beliefStart{"leader", x})
	}

	shape := make([]float64, 2*p.k)
	near := 0
	for j, v := range p.gain {
		shape[j] = max(v, -rise) / root
		shape[p.k+j] = -0.5 * math.Ln2
		if v > -rise {
			near++
		}
	}
	if near == 1 {
		return list // the same as the leader's
	}
	floats.AddConst(-floats.Sum(shape[:p.k])/k, shape[:p.k])
	return append(list, beliefStart{"shape", shape})
}

// lastPoint maps a belief over perhaps other kernels to these: kernels that it
// does not know are as in the prior. It is nil if no kernel is known.
func (p *beliefProblem) lastPoint(last *Belief) []float64 {
	if last == nil {
		return nil
	}
	n := len(last.IDs)
	place := make(map[string]int, n)
	for i, id := range last.IDs {
		place[id] = i
	}
	x := make([]float64, 2*p.k)
	root := math.Sqrt(p.s)
	known := false
	for i, id := range p.ids {
		at, ok := place[id]
		if !ok {
			continue
		}
		mean := (last.Mean[at] - p.prior[i]) / root
		sd := math.Log(floats.Norm(last.Chol[at*n:at*n+at+1], 2) / root)
		if math.IsNaN(mean+sd) || math.IsInf(mean+sd, 0) {
			continue
		}
		x[i], x[p.k+i], known = mean, sd, true
	}
	if !known {
		return nil
	}
	return x
}

// optimise runs all starts, keeps the best and refines it in the full family.
func (p *beliefProblem) optimise(opts BeliefOptions, last *Belief, lastLeader string) (beliefFit, error) {
	eta := p.samples(opts.Samples, opts.Seed)
	common := p.samples(commonSamples, opts.Seed+1)

	var best beliefStart
	value := math.Inf(-1)
	for _, s := range p.starts(last) {
		x, err := p.ascendDiagonal(eta, s.x, 60)
		if err != nil {
			return beliefFit{}, err
		}
		if v := p.diagonal(common, x, nil); v > value {
			best, value = beliefStart{s.name, x}, v
		}
	}
	if best.x == nil {
		return beliefFit{}, fmt.Errorf("vbks: belief over kernels: %w", errNotFinite)
	}
	p.breakTie(best.x, lastLeader)

	fit := beliefFit{mean: make([]float64, p.k), chol: make([]float64, p.k*p.k), start: best.name}
	root := math.Sqrt(p.s)
	for i := range p.k {
		fit.mean[i] = p.prior[i] + root*best.x[i]
		fit.chol[i*p.k+i] = root * math.Exp(best.x[p.k+i])
	}
	p.refine(&fit, common)
	// On the samples that it was optimised on, J is too high.
	fit.value = p.newWorkspace(p.samples(commonSamples, opts.Seed+2)).value(fit.mean, fit.chol)
	return fit, nil
}

// breakTie exchanges the leader of a diagonal belief with the kernel that
// should lead among its equals: lastLeader, else the first. With equal gains
// and prior means the exchange does not alter J, and one start more for each
// kernel could only find the same optimum again, with other sampling error.
func (p *beliefProblem) breakTie(x []float64, lastLeader string) {
	leader := 0
	for i := range p.k {
		if p.prior[i]+math.Sqrt(p.s)*x[i] > p.prior[leader]+math.Sqrt(p.s)*x[leader] {
			leader = i
		}
	}
	chosen := -1
	for i := range p.k {
		if math.Abs(p.gain[i]-p.gain[leader]) > tieNats || p.prior[i] != p.prior[leader] {
			continue
		}
		if chosen < 0 || p.ids[i] == lastLeader {
			chosen = i
		}
	}
	x[leader], x[chosen] = x[chosen], x[leader]
	x[p.k+leader], x[p.k+chosen] = x[p.k+chosen], x[p.k+leader]
}

// beliefWorkspace holds samples of g and what is averaged over them.
type beliefWorkspace struct {
	p         *beliefProblem
	n         int
	eta, prob blas64.General // n x K: η; softmax(g)
	weighted  blas64.General // n x K: softmax(g)_i (gain_i − φ) = ∂φ/∂g_i
	hessian   []float64      // K x K: E ∇²φ
	gradient  []float64      // K: E ∇φ
	posterior []float64      // K: E softmax(g)
	phi       []float64      // n: φ(g)
}

func (p *beliefProblem) newWorkspace(eta []float64) *beliefWorkspace {
	n := len(eta) / p.k
	general := func(data []float64) blas64.General {
		return blas64.General{Rows: n, Cols: p.k, Stride: p.k, Data: data}
	}
	return &beliefWorkspace{
		p: p, n: n,
		eta: general(eta), prob: general(make([]float64, n*p.k)),
		gradient: make([]float64, p.k), posterior: make([]float64, p.k), phi: make([]float64, n),
	}
}

// softmax fills prob and phi for g = m + C η.
func (w *beliefWorkspace) softmax(mean, chol []float64) {
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
	for s := range w.n {
		softmaxInPlace(row(s))
		w.phi[s] = floats.Dot(row(s), w.p.gain)
	}
}

// average fills posterior.
func (w *beliefWorkspace) average() {
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
func (w *beliefWorkspace) value(mean, chol []float64) float64 {
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
func (w *beliefWorkspace) derivatives() {
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
func (p *beliefProblem) refine(fit *beliefFit, eta []float64) {
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
			return
		}
		gained := value - fit.value
		copy(fit.mean, mean)
		fit.chol, fit.value = chol, value
		precision, trial = trial, precision
		if gained < minBeliefGain {
			return
		}
	}
}
