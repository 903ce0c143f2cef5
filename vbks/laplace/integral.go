package laplace

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks/random"
)

// Density is a log density over the free vector of a kernel of which modes are known.
type Density struct {
	Program *kernelspace.Program
	Name    string // of its stream of random numbers
	Modes   []Peak // the best first; one at least
	Prior   Prior
	Dear    bool // values take long: fewer draws, and fewer looks about modes
	Times   int  // where they take no time: so many times as many draws; 0 is 1
	Sampled int  // how many draws its Sample has
}

// Prior is the normal prior that a density contains, of the entries of a free vector;
// without means and precisions they are taken for alike.
type Prior struct{ Mean, Prec []float64 }

// alike reports whether two entries have the same prior.
func (p Prior) alike(a, b int) bool {
	return p.Mean == nil || p.Mean[a] == p.Mean[b] && p.Prec[a] == p.Prec[b]
}

// Peak is a mode: where it is, the log density there, the log volume about it and the
// factor C of the normal density with its curvature, N(X, CCᵀ).
type Peak struct {
	X      []float64
	Value  float64
	Volume float64
	Chol   []float64
}

// Integral is the logarithm of the integral of a density, with its standard error
// from the draws.
type Integral struct {
	Nats, SE float64
	Draws    float64 // effective number of independent draws
	Sample   Sample
	// Low and High are, of each entry of the free vector, what 2.5 % of the mass lie below and above, by the draws,
	// also where another density stands in for the one that is meant. They are nil where there are fewer than
	// enoughDraws. Where equal terms can be exchanged they are those of the first mode's arrangement.
	Low, High []float64
}

// Values evaluates log densities, by their places, at a point each; −Inf where one
// cannot be evaluated.
type Values func(sub []int, xs [][]float64) ([]float64, error)

const (
	// Draws are made in so many rounds, at least leastDraws and drawsPerEntry for each
	// entry in a round. What a round has shown moves the next one's proposals.
	// It is followed by further ones, up to mostRounds in all, while there are not
	// enoughDraws effective ones.
	integralRounds = 3
	mostRounds     = 10
	enoughDraws    = 25
	leastDraws     = 64
	drawsPerEntry  = 8
	// Proposals are t densities with so many degrees of freedom: posteriors of
	// hyperparameters have longer tails than normal ones.
	tails = 5
	// Of each proposal's weight so much is shared evenly: a mode that has shown nothing
	// so far may have been drawn too seldom.
	evenly = 0.15
	// So much of all comes from the prior at first, where there are many draws.
	priorShare = 0.2
	// A draw with more than loneShare of the weight becomes the mean of a proposal of its own, of at
	// most mostProposals.
	loneShare     = 0.05
	mostProposals = 40
	// The curvature counts as much as so many draws for each entry.
	curvatureDraws = 2.0
	// Exchanging equal terms is looked at in so many arrangements.
	mostArrangements = 120
)

// Integrate estimates the integrals of densities by importance sampling from mixtures
// of t densities about their modes,
//
//	Z = 1/S Σ_s p(θ_s)/q(θ_s),
//
// in rounds, whose weighted draws move and stretch the mixture q of the next (population
// Monte Carlo; Cappé, Guillin, Marin and Robert 2004, J. Comput. Graph. Statist. 13). Modes that exchanging equal
// terms makes of one are proposed together: q is averaged over the arrangements. What
// can be evaluated at a time is.
func Integrate(densities []Density, values Values, seed uint64) ([]Integral, error) {
	all := make([]*integral, len(densities))
	most := 0
	for i := range densities {
		all[i] = newIntegral(&densities[i], seed)
		most = max(most, all[i].perRound)
	}
	if err := widen(all, values); err != nil {
		return nil, err
	}
	if err := free(all, values); err != nil {
		return nil, err
	}
	for _, g := range all {
		g.anything()
	}
	for round := range mostRounds {
		var now []int // those that are not known well enough
		for i, g := range all {
			if rounds, most := g.howMany(); round < rounds || round < most && (g.followed || g.result().Draws < enoughDraws*float64(g.times())) {
				g.begin()
				now = append(now, i)
			}
		}
		for d := range most {
			var sub []int
			var xs [][]float64
			for _, i := range now {
				if g := all[i]; d < g.perRound {
					sub, xs = append(sub, i), append(xs, g.draw(d))
				}
			}
			if len(sub) == 0 {
				break
			}
			got, err := values(sub, xs)
			if err != nil {
				return nil, err
			}
			for j, i := range sub {
				all[i].points, all[i].logs = append(all[i].points, xs[j]), append(all[i].logs, got[j])
			}
		}
		for _, i := range now {
			all[i].adapt()
		}
	}
	out := make([]Integral, len(all))
	for i, g := range all {
		out[i] = g.result()
		out[i].Sample = g.sample(g.Sampled)
		if out[i].Draws >= enoughDraws {
			out[i].Low, out[i].High = g.between()
		}
	}
	return out, nil
}

func (d *Density) times() int { return max(1, d.Times) }

// anything adds the prior itself to the proposals: what no mode leads to.
func (g *integral) anything() {
	f := len(g.curved[0].mean)
	p := proposal{mean: slices.Clone(g.Prior.Mean), chol: make([]float64, f*f)}
	if p.mean == nil || g.times() == 1 {
		return
	}
	for _, q := range g.curved {
		p.share += priorShare / (1 - priorShare) * q.share
	}
	for i, prec := range g.Prior.Prec {
		if prec <= 0 {
			return
		}
		p.chol[i*f+i] = 1 / math.Sqrt(prec)
	}
	p.settle()
	g.curved = append(g.curved, p)
	g.share()
}

// howMany is how many rounds there are at least and at most.
func (g *integral) howMany() (rounds, most int) {
	if g.Dear {
		return integralRounds - 1, integralRounds + 1
	}
	return integralRounds, mostRounds
}

// proposal is a t density of a mixture.
type proposal struct {
	share float64
	mean  []float64
	chol  []float64 // F x F row-major lower
	det   float64   // Σ log C_jj
	norm  float64   // logarithm of the t density's constant, without det
}

func (p *proposal) settle() {
	f := len(p.mean)
	p.det = 0
	for j := range f {
		p.det += math.Log(p.chol[j*f+j])
	}
	n := float64(f)
	a, _ := math.Lgamma((tails + n) / 2)
	b, _ := math.Lgamma(tails / 2.0)
	p.norm = a - b - n/2*math.Log(tails*math.Pi)
}

// usualEntries is up to how many entries a point needs no memory of its own.
const usualEntries = 24

// log is that of the density, without its share.
func (p *proposal) log(x []float64) float64 {
	f := len(x)
	var few [usualEntries]float64
	z := few[:]
	if f > usualEntries {
		z = make([]float64, f)
	}
	square := 0.0
	for i := range f {
		v := x[i] - p.mean[i]
		for j := range i {
			v -= p.chol[i*f+j] * z[j]
		}
		z[i] = v / p.chol[i*f+i]
		square += z[i] * z[i]
	}
	return p.norm - p.det - (tails+float64(f))/2*math.Log1p(square/tails)
}

// integral is a density with what has been drawn of it.
type integral struct {
	*Density
	rng      *rand.Rand
	perRound int
	offset   float64      // of the draws within their strata, in this round
	orders   [][]int      // arrangements of the free vector, the plain one first
	curved   []proposal   // as the curvature has them
	rounds   [][]proposal // those of every round
	points   [][]float64
	logs     []float64
	drawnAt  []float64 // log densities of their rounds' proposals at the points, which stay, as far as they have been asked for
	scratch  []float64
	followed bool // the last round has shown where else to draw
}

func newIntegral(d *Density, seed uint64) *integral {
	f := len(d.Modes[0].X)
	g := &integral{Density: d, rng: random.Stream(seed, d.Name+" integral", 0), perRound: max(leastDraws, drawsPerEntry*f) * d.times(),
		orders: Exchanges(d.Program, f, d.Prior)}
	if d.Dear {
		g.perRound /= 2
	}
	top := math.Inf(-1)
	for _, m := range d.Modes {
		top = math.Max(top, m.Value+m.Volume)
	}
	sum := 0.0
	for _, m := range d.Modes {
		p := proposal{share: math.Exp(m.Value + m.Volume - top), mean: m.X, chol: m.Chol}
		p.settle()
		g.curved = append(g.curved, p)
		sum += p.share
	}
	for i := range g.curved {
		g.curved[i].share = (1-evenly)*g.curved[i].share/sum + evenly/float64(len(g.curved))
	}
	return g
}

// factor is the lower factor of a covariance, row-major; nil where there is none.
func factor(cov *mat.SymDense) []float64 {
	var chol mat.Cholesky
	if !chol.Factorize(cov) {
		return nil
	}
	var lower mat.TriDense
	chol.LTo(&lower)
	f := cov.SymmetricDim()
	out := make([]float64, f*f)
	for i := range f {
		for j := range i + 1 {
			out[i*f+j] = lower.At(i, j)
		}
	}
	return out
}

// begin begins a round with the proposals as they are.
func (g *integral) begin() {
	g.offset = g.rng.Float64()
	if len(g.rounds) == 0 {
		g.rounds = append(g.rounds, g.curved)
	}
}

// draw makes draw d of the round; the proposals have their shares of the draws.
func (g *integral) draw(d int) []float64 {
	now := g.rounds[len(g.rounds)-1]
	at, so := 0, now[0].share
	for u := (float64(d) + g.offset) / float64(g.perRound); u > so && at < len(now)-1; {
		at++
		so += now[at].share
	}
	p := &now[at]
	f := len(p.mean)
	z := make([]float64, f)
	square := 0.0
	for i := range z {
		z[i] = g.rng.NormFloat64()
	}
	for range tails {
		v := g.rng.NormFloat64()
		square += v * v
	}
	floats.Scale(math.Sqrt(tails/square), z)
	x := make([]float64, f)
	for i := range x {
		x[i] = p.mean[i] + floats.Dot(p.chol[i*f:i*f+i+1], z[:i+1])
	}
	return x
}

// arranged is a point with its entries in another order.
func arranged(x []float64, order []int) []float64 { return arrange(make([]float64, len(x)), x, order) }

func arrange(out, x []float64, order []int) []float64 {
	for i, j := range order {
		out[i] = x[j]
	}
	return out
}

// mixture is the log density of a round's proposals at a point, over all arrangements.
func (g *integral) mixture(round []proposal, x []float64) float64 {
	logs := g.scratch[:0]
	y := make([]float64, len(x))
	for _, order := range g.orders {
		arrange(y, x, order)
		for i := range round {
			logs = append(logs, math.Log(round[i].share)+round[i].log(y))
		}
	}
	g.scratch = logs
	return floats.LogSumExp(logs) - math.Log(float64(len(g.orders)))
}

// ratios are the logarithms of p/q of all draws so far, q the mixture that each was
// drawn from: one that draws have moved is closer to them than to what they stand for.
func (g *integral) ratios() []float64 {
	out := make([]float64, len(g.points))
	for s, x := range g.points {
		if s == len(g.drawnAt) {
			g.drawnAt = append(g.drawnAt, g.mixture(g.rounds[s/g.perRound], x))
		}
		out[s] = g.logs[s] - g.drawnAt[s]
		if math.IsNaN(out[s]) {
			out[s] = math.Inf(-1)
		}
	}
	return out
}

// Truncated turns logarithms of importance ratios into weights, relative to the largest,
// none of which is above √S times their mean (Ionides 2008, J. Comput. Graph. Statist. 17):
// one draw must not move all. All are 0 where top, the largest logarithm, is infinite.
func Truncated(ratios []float64) (weights []float64, top float64) {
	top = floats.Max(ratios)
	weights = make([]float64, len(ratios))
	if math.IsInf(top, 0) {
		return weights, top
	}
	for i, r := range ratios {
		weights[i] = math.Exp(r - top)
	}
	n := float64(len(ratios))
	most := floats.Sum(weights) / n * math.Sqrt(n)
	for i, w := range weights {
		weights[i] = math.Min(w, most)
	}
	return weights, top
}

// adapt makes the next round's proposals of all draws so far.
func (g *integral) adapt() {
	now := g.rounds[len(g.rounds)-1]
	weights, top := Truncated(g.ratios())
	if math.IsInf(top, 0) {
		g.rounds = append(g.rounds, now)
		return
	}
	floats.Scale(1/floats.Sum(weights), weights)
	f := len(now[0].mean)
	type moments struct {
		weight, square float64
		mean           []float64
		second         []float64
	}
	sums := make([]moments, len(now))
	for i := range sums {
		sums[i].mean, sums[i].second = make([]float64, f), make([]float64, f*f)
	}
	var logs []float64
	var at []int
	var ys [][]float64
	for s, x := range g.points {
		if weights[s] < 1e-9 {
			continue
		}
		logs, at, ys = logs[:0], at[:0], ys[:0]
		for _, order := range g.orders {
			y := arranged(x, order)
			for i := range now {
				logs, at, ys = append(logs, math.Log(now[i].share)+now[i].log(y)), append(at, i), append(ys, y)
			}
		}
		all := floats.LogSumExp(logs)
		for j, l := range logs {
			w := weights[s] * math.Exp(l-all)
			m := &sums[at[j]]
			m.weight += w
			m.square += w * w
			floats.AddScaled(m.mean, w, ys[j])
			for a := range f {
				for b := range a + 1 {
					m.second[a*f+b] += w * ys[j][a] * ys[j][b]
				}
			}
		}
	}
	next := make([]proposal, len(now))
	for i := range now {
		m := &sums[i]
		next[i] = proposal{share: (1-evenly)*m.weight + evenly/float64(len(now)), mean: now[i].mean, chol: now[i].chol}
		if count := m.weight * m.weight / m.square; m.weight > 0 && count > float64(f) {
			g.curved[i].moved(&next[i], m.mean, m.second, m.weight, count)
		}
		next[i].settle()
	}
	total := 0.0
	for i := range next {
		total += next[i].share
	}
	for i := range next {
		next[i].share /= total
	}
	g.rounds = append(g.rounds, g.follow(next))
}

// follow adds proposals about draws that have much of the weight alone: there is more than
// proposals expect, most of the time further along a ridge. Their shape is that of the proposal which most likely
// made them (incremental mixture importance sampling; Raftery and Bao 2010, Biometrics 66).
func (g *integral) follow(now []proposal) []proposal {
	weights := g.ratios()
	top := floats.Max(weights)
	for i, r := range weights {
		weights[i] = math.Exp(r - top)
	}
	sum := floats.Sum(weights)
	last := max(0, len(weights)-g.perRound)
	out := slices.Clone(now)
	for s := last; s < len(weights); s++ {
		share := weights[s] / sum
		if share < loneShare || len(out) >= mostProposals {
			continue
		}
		x, of, best := g.points[s], 0, math.Inf(-1)
		for i := range now {
			if l := math.Log(now[i].share) + now[i].log(x); l > best {
				of, best = i, l
			}
		}
		p := proposal{share: share, mean: slices.Clone(x), chol: now[of].chol}
		p.settle()
		out = append(out, p)
		g.curved = append(slices.Clip(g.curved), p)
	}
	g.followed = len(out) > len(now)
	total := 0.0
	for i := range out {
		total += out[i].share
	}
	for i := range out {
		out[i].share /= total
	}
	return out
}

// moved sets a proposal to the mean and covariance of weighted draws, which count as
// so many, the covariance together with that of the curvature.
func (p *proposal) moved(to *proposal, mean, second []float64, weight, count float64) {
	f := len(mean)
	centre := make([]float64, f)
	floats.ScaleTo(centre, 1/weight, mean)
	prior := curvatureDraws * float64(f)
	cov := mat.NewSymDense(f, nil)
	for a := range f {
		for b := range a + 1 {
			curved := floats.Dot(p.chol[a*f:a*f+b+1], p.chol[b*f:b*f+b+1])
			drawn := second[a*f+b]/weight - centre[a]*centre[b]
			cov.SetSym(a, b, (prior*curved+count*drawn)/(prior+count))
		}
	}
	if lower := factor(cov); lower != nil {
		to.mean, to.chol = centre, lower
	}
}

// counting is the first draw that an estimate is made of: where proposals had to follow what has been
// drawn for long, the first half of the rounds has only shown where to draw.
func (g *integral) counting() int {
	least, _ := g.howMany()
	if rounds := len(g.points) / g.perRound; rounds > least {
		return rounds / 2 * g.perRound
	}
	return 0
}

// weighed are the draws that count, with their weights relative to the largest, whose logarithm is top.
func (g *integral) weighed() (points [][]float64, weights []float64, top float64) {
	first := g.counting()
	points, weights = g.points[first:], g.ratios()[first:]
	if top = floats.Max(weights); math.IsInf(top, 0) {
		return points, weights, top
	}
	for i, r := range weights {
		weights[i] = math.Exp(r - top)
	}
	return points, weights, top
}

// result is the integral by all draws that count.
func (g *integral) result() Integral {
	_, weights, top := g.weighed()
	if math.IsInf(top, 0) {
		return Integral{Nats: math.NaN(), SE: math.Inf(1)}
	}
	sum := floats.Sum(weights)
	n := float64(len(weights))
	square := floats.Dot(weights, weights)
	draws := sum * sum / square
	return Integral{Nats: top + math.Log(sum/n), SE: math.Sqrt(math.Max(0, 1/draws-1/n)), Draws: draws}
}
