package belief

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/optimize"
	"gonum.org/v1/gonum/stat/distuv"

	"example.com/kestrel/device/cpu/simd"
	"example.com/kestrel/internal/guard"
	"example.com/kestrel/vbks/random"
)

// tieNats is the gap between scaled local ELBOs below which two kernels count
// as tied. Optimisers do not find local ELBOs more exactly than this.
const tieNats = 0.01

// commonSamples is the size of the sample that starts are compared on and the
// full covariance is estimated from.
const commonSamples = 2048

// problem is the total ELBO with the kernels in canonical order.
type problem struct {
	k     int
	ids   []string
	gain  []float64 // (𝓛_i − max 𝓛)/τ: only differences matter, and J stays exact at gaps of 1e5 nats
	prior []float64 // m_0
	s     float64
	ctx   context.Context // of the call that this is for, looked at between evaluations of J; may be nil
}

// stopped is why the call is to end, nil where it goes on.
func (p *problem) stopped() error {
	if p.ctx != nil && p.ctx.Err() != nil {
		return context.Cause(p.ctx)
	}
	return nil
}

// fitted is a point of the full family and its J, without the shift.
type fitted struct {
	mean, chol []float64
	value      float64
	start      string
}

// newProblem also returns what the constant max 𝓛/τ adds to J.
func newProblem(elbo, logPrior []float64, opts Options, ids []string, order []int) (p *problem, shift float64) {
	k := len(ids)
	p = &problem{k: k, ids: make([]string, k), gain: make([]float64, k), prior: make([]float64, k), s: opts.PriorVariance}
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
func (p *problem) single() fitted {
	return fitted{mean: slices.Clone(p.prior), chol: []float64{math.Sqrt(p.s)}, start: "prior"}
}

// samples draws n standard normal vectors, n x K row-major. In each column the
// first half is a Latin hypercube sample (McKay, Beckman and Conover 1979): one
// random point in each of n/2 strata of equal probability on the positive half
// line, shuffled, with random signs; the second half mirrors it. Midpoints of the
// strata would have less variance but miss the tails, which decide E[softmax(g)_i]
// of a kernel far behind. A column depends on the kernel's id, seed and n only.
func (p *problem) samples(n int, seed uint64) []float64 {
	eta := make([]float64, n*p.k)
	for j, id := range p.ids {
		for i, v := range stratified(random.Stream(seed, id, 0), n) {
			eta[i*p.k+j] = v
		}
	}
	return eta
}

// stratified is one column of samples.
func stratified(rng *rand.Rand, n int) []float64 {
	half := n / 2
	out := make([]float64, n) // a zero in the middle if n is odd
	for i, stratum := range rng.Perm(half) {
		v := distuv.UnitNormal.Quantile(0.5 + 0.5*(float64(stratum)+rng.Float64())/float64(half))
		if rng.Uint64()&1 == 0 {
			v = -v
		}
		out[i], out[n-1-i] = v, -v
	}
	return out
}

// diagonal computes J on samples eta for diagonal covariances, at
// x = ((m − m_0)/√s, log(sd/√s)), 2K, where
//
//	KL = ½ Σ_i [x_i² + exp(2 x_{K+i}) − 1 − 2 x_{K+i}],
//
// and its gradient, if grad is not nil. It returns −∞ where it overflows.
func (p *problem) diagonal(eta, x, grad []float64) float64 {
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
	expected := 0.0
	n := float64(len(eta) / k)
	stride := k + k%2 // rows begin at multiples of 16 bytes: on that the rounding of floats.Sum depends
	block := make([]float64, max(1, fewScores/stride)*stride)
	for len(eta) >= k {
		some := block[:min(len(block), len(eta)/k*stride)]
		for row, from := 0, 0; from < len(some); row, from = row+1, from+stride {
			for i, e := range eta[row*k : (row+1)*k] {
				some[from+i] = mean[i] + sd[i]*e
			}
			clear(some[from+k : from+stride])
		}
		softmaxes(some, k, stride)
		for from := 0; from < len(some); from += stride {
			var e []float64
			w := some[from : from+k]
			e, eta = eta[:k], eta[k:]
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

// fewScores is how many scores softmaxes are taken of at a time: of a few kernels a
// softmax alone takes mostly the time to begin.
const fewScores = 512

// softmaxes replaces rows of k scores by their softmax.
func softmaxes(g []float64, k, stride int) {
	for from := 0; from < len(g); from += stride {
		row := g[from : from+k]
		top := row[0]
		for _, v := range row[1:] {
			if v > top {
				top = v
			}
		}
		for i := range row {
			row[i] -= top
		}
	}
	simd.Best().Exp(g, g) // a third of the belief's time with math.Exp
	for from := 0; from < len(g); from += stride {
		row := g[from : from+k]
		inv := 1 / floats.Sum(row)
		for i := range row {
			row[i] *= inv
		}
	}
}

// ascendDiagonal maximises J over diagonal covariances on samples eta, from x,
// which is not modified.
func (p *problem) ascendDiagonal(eta, x []float64, iterations int) ([]float64, error) {
	if err := p.stopped(); err != nil {
		return nil, err
	}
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
	objective := optimize.Problem{
		Func: func(x []float64) float64 { eval(x); return value },
		Grad: func(dst, x []float64) {
			eval(x)
			for i, v := range grad {
				dst[i] = -v
			}
		},
		Status: func() (optimize.Status, error) {
			if err := p.stopped(); err != nil {
				return optimize.Failure, err
			}
			return optimize.NotTerminated, nil
		},
	}
	// An objective known to a thousandth of a nat is below all other errors.
	settings := &optimize.Settings{
		GradientThreshold: 1e-4,
		MajorIterations:   iterations,
		FuncEvaluations:   4 * iterations,
		Converger:         &optimize.FunctionConverge{Absolute: 1e-4, Relative: 1e-5, Iterations: 3},
	}
	result, err := guard.Minimise(objective, x, settings, &optimize.LBFGS{Store: 8})
	if stop := p.stopped(); stop != nil {
		return nil, stop
	}
	if result == nil {
		return nil, fmt.Errorf("vbks: belief over kernels: %w", err)
	}
	// A line search that finds no progress ends at the best point it has: that
	// is an answer, too.
	return result.X, nil
}

// start is a point to start from, in the coordinates of diagonal.
type start struct {
	name string
	x    []float64
}

// starts lists where to begin: at the last optimum, at the prior, at beliefs
// with one leader raised far enough to lead (golden values show that the mean
// must rise by log K + 1 or more), and at one in the shape of softmax(𝓛/τ),
// where kernels that are nearly as good as the best rise with it.
func (p *problem) starts(last *Belief) []start {
	var list []start
	if x := p.lastPoint(last); x != nil {
		list = append(list, start{"last", x})
	}
	list = append(list, start{"prior", make([]float64, 2*p.k)})

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
		list = append(list, start{"leader", x})
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
	return append(list, start{"shape", shape})
}

// lastPoint maps a belief over perhaps other kernels to these: kernels that it
// does not know are as in the prior. It is nil if no kernel is known.
func (p *problem) lastPoint(last *Belief) []float64 {
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
func (p *problem) optimise(opts Options, last *Belief, lastLeader string) (fitted, error) {
	// On the samples that it was optimised on, J is too high: the last ones are for
	// its value alone.
	var eta, common, fresh []float64
	err := together(
		func() error { eta = p.samples(opts.Samples, opts.Seed); return nil },
		func() error { common = p.samples(commonSamples, opts.Seed+1); return nil },
		func() error { fresh = p.samples(commonSamples, opts.Seed+2); return nil },
	)
	if err != nil {
		return fitted{}, err
	}
	best, err := p.climb(p.starts(last), eta, common)
	if err != nil {
		return fitted{}, err
	}
	p.breakTie(best.x, lastLeader)

	fit := p.at(best)
	if err := p.refine(&fit, common); err != nil {
		return fitted{}, err
	}
	fit.value = p.newWorkspace(fresh).value(fit.mean, fit.chol)
	return fit, nil
}

// climb ascends from all starts on samples eta and returns the end that is best on
// the common sample.
func (p *problem) climb(starts []start, eta, common []float64) (start, error) {
	values := make([]float64, len(starts))
	climbs := make([]func() error, len(starts))
	for i := range starts {
		climbs[i] = func() (err error) {
			s := &starts[i]
			if s.x, err = p.ascendDiagonal(eta, s.x, 60); err == nil {
				values[i] = p.diagonal(common, s.x, nil)
			}
			return err
		}
	}
	if err := together(climbs...); err != nil {
		return start{}, cmp.Or(p.stopped(), err) // once, however many heard it
	}
	var best start
	value := math.Inf(-1)
	for i, v := range values {
		if v > value {
			best, value = starts[i], v
		}
	}
	if best.x == nil {
		return start{}, fmt.Errorf("vbks: belief over kernels: %w", errNotFinite)
	}
	return best, nil
}

// at is a diagonal point in the full family.
func (p *problem) at(s start) fitted {
	fit := fitted{mean: make([]float64, p.k), chol: make([]float64, p.k*p.k), start: s.name}
	root := math.Sqrt(p.s)
	for i := range p.k {
		fit.mean[i] = p.prior[i] + root*s.x[i]
		fit.chol[i*p.k+i] = root * math.Exp(s.x[p.k+i])
	}
	return fit
}

// breakTie exchanges the leader of a diagonal belief with the kernel that
// should lead among those with the same prior mean: lastLeader or else the first
// of those whose gain is the highest up to tieNats. The exchange alters J by
// exactly E[p_leader − p_chosen] times the difference of their gains, so it
// needs no samples, and no further starts for equally good kernels, which would
// find the same optimum again with other sampling error.
func (p *problem) breakTie(x []float64, lastLeader string) {
	leader := 0
	for i := range p.k {
		if p.prior[i]+math.Sqrt(p.s)*x[i] > p.prior[leader]+math.Sqrt(p.s)*x[leader] {
			leader = i
		}
	}
	top := math.Inf(-1)
	for i, gain := range p.gain {
		if p.prior[i] == p.prior[leader] {
			top = max(top, gain)
		}
	}
	chosen := -1
	for i, gain := range p.gain {
		if p.prior[i] != p.prior[leader] || gain < top-tieNats {
			continue
		}
		if chosen < 0 || p.ids[i] == lastLeader {
			chosen = i
		}
	}
	x[leader], x[chosen] = x[chosen], x[leader]
	x[p.k+leader], x[p.k+chosen] = x[p.k+chosen], x[p.k+leader]
}

// together runs functions on goroutines of their own, as many at a time as there
// are cores, so that those that have not begun need not hear that all is to end,
// and returns their errors, joined.
func together(fs ...func() error) error {
	errs := make([]error, len(fs))
	turns := make(chan struct{}, runtime.GOMAXPROCS(0))
	var wg sync.WaitGroup
	for i, f := range fs {
		turns <- struct{}{}
		wg.Go(func() {
			errs[i] = guard.Do(f)
			<-turns
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}
