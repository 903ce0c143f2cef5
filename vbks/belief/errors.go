package belief

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"example.com/kestrel/vbks/random"
)

// Errors are what is not known of local ELBOs as the kernels' log evidence of the
// end of the run, in the order of IDs:
//
//   - sampling: an estimate is from some rows, the same for all kernels, so that
//     what the kernels have in common does not count;
//   - slack: the log evidence lies somewhere in [ELBO + Low, ELBO + High];
//   - drift: what search and data still move, against the best kernel.
//
// Slack and drift of two kernels are taken to be independent.
type Errors struct {
	IDs       []string
	ELBO      []float64   // nats
	LogPrior  []float64   // nil: zeros
	Terms     [][]float64 // of the ELBO, row by row; nil, all or one kernel's: of all rows
	Rows      int         // that terms stand for
	Low, High []float64   // nats
	// Drift is the standard deviation of what still moves kernel i against the best
	// one, which is the one whose log evidence is the highest in the middle.
	Drift  func(i, best int) float64
	Number int // of the evaluation: each has its own draws
}

const (
	// Errors matter to kernels that come within reachNats of the best with reachSDs
	// of the error of the gap; errors below leastNats to none.
	reachNats = 10
	reachSDs  = 4
	leastNats = tieNats
	// Kernels within a nat of each other are equal: q* of one log evidence would choose
	// one of them, so that it is averaged as if each had an error of that sd at least.
	equalSD = 0.5

	// errorDraws are those of Bayes' rule. For q* each would be a fit: there are about
	// beliefFits, fewer of many kernels, some for each kernel that leads a draw, which
	// count as often as it leads. They are over all kernels, as that without errors
	// (among few q(g) is softer), but on fewer samples.
	errorDraws    = 512
	beliefFits    = 32
	fittedKernels = 24
	fittedSamples = 128
	fittedCommon  = 512
)

// Integrated are a posterior and Bayes' rule averaged over errors: probabilities in the
// order of Errors.IDs.
type Integrated struct {
	Posterior, Bayes []float64
	errors           *Errors
	drift            []float64
}

// Gap is by how much kernel j is ahead of kernel i, in the middle of what is known,
// and the standard deviation of its error.
func (in *Integrated) Gap(i, j int) (nats, sd float64) {
	e := in.errors
	if i == j {
		return 0, 0
	}
	sampling := PairedSE(e.terms(i), e.terms(j), e.Rows)
	const twelve = 12 // variance of a uniform variable
	a, b := e.High[i]-e.Low[i], e.High[j]-e.Low[j]
	return e.middle(j) - e.middle(i),
		math.Sqrt(sampling*sampling + (a*a+b*b)/twelve + in.drift[i]*in.drift[i] + in.drift[j]*in.drift[j])
}

func (e *Errors) terms(i int) []float64 {
	if e.Terms == nil {
		return nil
	}
	return e.Terms[i]
}

func (e *Errors) logPrior(i int) float64 {
	if e.LogPrior == nil {
		return 0
	}
	return e.LogPrior[i]
}

func (e *Errors) middle(i int) float64 { return e.ELBO[i] + (e.Low[i]+e.High[i])/2 }

// PairedSE is the standard error of the difference of two local ELBOs that were
// estimated on the same rows, n being the number of rows they stand for; one without
// terms is exact:
//
//	n · sd(a_b − b_b)/√B · √(1 − B/n)
func PairedSE(a, b []float64, n int) float64 {
	rows := max(len(a), len(b))
	if rows < 2 || len(a) != len(b) && len(a) > 0 && len(b) > 0 || rows >= n {
		return 0
	}
	if len(a) == 0 {
		a, b = b, a
	}
	if len(b) == 0 {
		b = make([]float64, rows)
	}
	var mean float64
	for i := range a {
		mean += a[i] - b[i]
	}
	mean /= float64(rows)
	var ss float64
	for i := range a {
		d := a[i] - b[i] - mean
		ss += d * d
	}
	sd := math.Sqrt(ss / float64(rows-1))
	return float64(n) * sd / math.Sqrt(float64(rows)) * math.Sqrt(1-float64(rows)/float64(n))
}

// Integrate averages q* and Bayes' rule over the errors; posterior and bayes are
// those without. Where there is nothing to average Bayes' rule stays what it is, and q*
// where only one kernel might be the best: of several each has an error of equalSD at
// least. Only kernels that might be the best have errors: they share what they had
// together without. Neither the order of the kernels nor others far away matter.
// Where the context ends the error is its cause.
func (e *Errors) Integrate(ctx context.Context, posterior, bayes []float64, opts Options) (*Integrated, error) {
	out := e.Ignore(posterior, bayes)
	order, err := canonicalOrder(e.IDs)
	if err != nil {
		return nil, err
	}
	in := &integral{Errors: e, opts: opts, order: order, best: order[0], drift: out.drift}
	for _, i := range order {
		if in.score(e.middle(i), i) > in.score(e.middle(in.best), in.best) {
			in.best = i
		}
	}
	for i := range in.drift {
		if i != in.best && e.Drift != nil {
			in.drift[i] = e.Drift(i, in.best)
		}
	}
	some := false // of what Bayes' rule is to be averaged over
	for _, i := range order {
		_, sd := out.Gap(i, in.best)
		behind := in.score(e.middle(in.best), in.best) - in.score(e.middle(i), i)
		if behind > reachNats+reachSDs*sd/opts.EvidenceScale {
			continue
		}
		in.near = append(in.near, i)
		shift := e.Low[in.best] + e.High[in.best] - e.Low[i] - e.High[i]
		some = some || sd >= leastNats || math.Abs(shift)/2 >= leastNats
	}
	if len(in.near) < 2 {
		return out, nil
	}
	draws := in.draws(errorDraws)
	if some {
		in.bayes(out.Bayes, draws)
	}
	in.blur(draws)
	shares, err := in.shares(ctx, draws)
	if err != nil {
		return nil, err
	}
	total := 0.0
	for _, i := range in.near {
		total += posterior[i]
	}
	for c, i := range in.near {
		out.Posterior[i] = total * shares[c]
	}
	return out, nil
}

// Ignore leaves q* and Bayes' rule as they are; Drift is not asked for.
func (e *Errors) Ignore(posterior, bayes []float64) *Integrated {
	return &Integrated{Posterior: slices.Clone(posterior), Bayes: slices.Clone(bayes), errors: e, drift: make([]float64, len(e.IDs))}
}

// Cap leaves kernel i at most so much of both beliefs; what is above goes to the
// others, by how far behind they are as measured by the next best one, at least a
// nat: exp(−(gap − least gap)/least gap).
func (in *Integrated) Cap(i int, most float64) {
	if len(in.Posterior) < 2 {
		return
	}
	e := in.errors
	gap := make([]float64, len(in.Posterior))
	least := math.Inf(1)
	for j := range gap {
		if j != i {
			gap[j] = math.Max(0, e.middle(i)-e.middle(j))
			least = math.Min(least, gap[j])
		}
	}
	total := 0.0
	for j := range gap {
		gap[j] = math.Exp(e.logPrior(j) - (gap[j]-least)/math.Max(1, least))
		if j != i {
			total += gap[j]
		}
	}
	for _, q := range [][]float64{in.Posterior, in.Bayes} {
		above := q[i] - most
		if above <= 0 {
			continue
		}
		for j := range q {
			q[j] += above * gap[j] / total
		}
		q[i] = most
	}
}

// integral is an average over errors in the making.
type integral struct {
	*Errors
	opts  Options
	order []int // canonical
	best  int
	near  []int // kernels that might be the best, in canonical order
	drift []float64
}

// score is what a log evidence of kernel i counts.
func (in *integral) score(v float64, i int) float64 { return v/in.opts.EvidenceScale + in.logPrior(i) }

// draws draws the log evidence so often, which of other kernels than the near ones is the ELBO: antithetic,
// stratified, for each kernel by its id. Drift brings a kernel past the best one
// only as far as its sd exceeds the gap: of many kernels far behind, whose gaps are
// uncertain by as much, some would else be drawn far ahead each time, the worst the
// furthest.
func (in *integral) draws(count int) [][]float64 {
	out := make([][]float64, count)
	for d := range out {
		out[d] = slices.Clone(in.ELBO)
	}
	for _, i := range in.near {
		id := in.IDs[i]
		slack := stratified(random.Stream(in.opts.Seed, id+" slack", in.Number), count)
		drift := stratified(random.Stream(in.opts.Seed, id+" drift", in.Number), count)
		most := math.Max(in.drift[i], in.middle(in.best)-in.middle(i))
		for d := range out {
			u := distuv.UnitNormal.CDF(slack[d])
			out[d][i] += in.Low[i] + u*(in.High[i]-in.Low[i]) + math.Min(in.drift[i]*drift[d], most)
		}
	}
	in.sample(out)
	return out
}

// blur adds what makes the kernels' errors equalSD where they are less. What errors are
// larger brings a kernel up to the best one, wherever that is.
func (in *integral) blur(draws [][]float64) {
	whole := &Integrated{errors: in.Errors, drift: in.drift}
	normal := func(i int) []float64 {
		return stratified(random.Stream(in.opts.Seed, in.IDs[i]+" equal", in.Number), len(draws))
	}
	best := normal(in.best)
	for _, i := range in.near {
		z, more := best, equalSD
		if i != in.best {
			_, sd := whole.Gap(i, in.best)
			if sd < equalSD {
				z, more = normal(i), math.Sqrt(equalSD*equalSD-sd*sd)
			}
		}
		for d := range draws {
			draws[d][i] += more * z[d]
		}
	}
}

// sample adds sampling errors whose covariance over kernels is exactly the one
// that is estimated from the terms: with z_b standard normal, common to all kernels,
//
//	e_k = n √((1 − B/n)/B) (B − 1)^−½ Σ_b z_b (t_kb − mean_k)
func (in *integral) sample(out [][]float64) {
	centred := make([][]float64, len(in.near))
	most := 0
	for c, i := range in.near {
		terms := in.terms(i)
		rows, n := float64(len(terms)), float64(in.Rows)
		if len(terms) < 2 || len(terms) >= in.Rows {
			continue
		}
		centred[c] = slices.Clone(terms)
		floats.AddConst(-floats.Sum(terms)/rows, centred[c])
		floats.Scale(n*math.Sqrt((1-rows/n)/rows/(rows-1)), centred[c])
		most = max(most, len(terms))
	}
	const block = 512 // rows at a time
	half := len(out) / 2
	z := make([]float64, half*block)
	rng := random.Stream(in.opts.Seed, "rows of local ELBOs", in.Number)
	for from := 0; from < most; from += block {
		to := min(from+block, most)
		for b := range to - from {
			for d := range half {
				z[d*block+b] = rng.NormFloat64()
			}
		}
		for c, terms := range centred {
			if from >= len(terms) {
				continue
			}
			part := terms[from:min(to, len(terms))]
			for d := range half {
				v := floats.Dot(z[d*block:d*block+len(part)], part)
				out[d][in.near[c]] += v
				out[len(out)-1-d][in.near[c]] -= v
			}
		}
	}
}

// bayes averages Bayes' rule.
func (in *integral) bayes(q []float64, draws [][]float64) {
	clear(q)
	for _, draw := range draws {
		floats.Add(q, Bayes(draw, in.LogPrior, in.opts.EvidenceScale))
	}
	floats.Scale(1/float64(len(draws)), q)
}

// fit is a draw that stands for some, by the weight of these.
type fit struct {
	draw   []float64
	weight float64
}

// chosen are the draws to be fitted. Most of what differs between draws is which
// kernel leads: that is counted over all of them, so that kernels that lead about as
// often do not change places by chance.
func (in *integral) chosen(draws [][]float64) []fit {
	leads := map[int][]fit{}
	for _, draw := range draws {
		leader := in.near[0]
		for _, i := range in.near {
			// What drift has brought up to the best one is equal to it, but for rounding.
			switch more := in.score(draw[i], i) - in.score(draw[leader], leader); {
			case more > tieNats, more > -tieNats && i == in.best:
				leader = i
			}
		}
		leads[leader] = append(leads[leader], fit{draw: draw})
	}
	fits := beliefFits * fittedKernels / max(fittedKernels, len(in.IDs))
	var out []fit
	for _, i := range in.near {
		l := leads[i]
		n := min(len(l), (len(l)*fits+len(draws)-1)/len(draws)) // at least one
		for j := range n {
			f := l[j*len(l)/n]
			f.weight = float64(len(l)) / float64(n)
			out = append(out, f)
		}
	}
	return out
}

// shares averages how the near kernels divide what they have together.
func (in *integral) shares(ctx context.Context, draws [][]float64) ([]float64, error) {
	// The samples of a fit belong to the places in a draw, not to kernels: which kernel
	// is where must not matter.
	places := &problem{k: len(in.IDs), s: in.opts.PriorVariance, ctx: ctx}
	for i := range places.k {
		places.ids = append(places.ids, strconv.Itoa(i+1))
	}
	eta, common := places.samples(fittedSamples, in.opts.Seed), places.samples(fittedCommon, in.opts.Seed+1)
	chosen := in.chosen(draws)
	results := make([][]float64, len(chosen))
	fits := make([]func() error, len(chosen))
	for d := range chosen {
		fits[d] = func() (err error) {
			results[d], err = in.share(places, chosen[d].draw, eta, common)
			return err
		}
	}
	if err := together(fits...); err != nil {
		return nil, cmp.Or(places.stopped(), err)
	}
	q := make([]float64, len(in.near))
	for d, r := range results {
		for c, i := range in.near {
			q[c] += chosen[d].weight * r[i]
		}
	}
	floats.Scale(1/floats.Sum(q), q)
	return q, nil
}

// share is the posterior of all kernels for one draw of their log evidence.
func (in *integral) share(places *problem, draw, eta, common []float64) ([]float64, error) {
	if err := places.stopped(); err != nil {
		return nil, err
	}
	score := func(i int) float64 { return in.score(draw[i], i) }
	order := slices.Clone(in.order)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(score(b), score(a)) })
	p := &problem{k: places.k, ids: places.ids, s: places.s, ctx: places.ctx}
	most := floats.Max(draw)
	for _, i := range order {
		p.gain = append(p.gain, (draw[i]-most)/in.opts.EvidenceScale)
		p.prior = append(p.prior, in.logPrior(i))
	}
	best, err := p.climb(p.starts(nil), eta, common)
	if err != nil {
		return nil, err
	}
	fit := p.at(best)
	if err := p.refine(&fit, common); err != nil {
		return nil, err
	}
	w := p.newWorkspace(common)
	w.softmax(fit.mean, fit.chol)
	w.average()
	q := make([]float64, len(draw))
	for j, i := range order {
		q[i] = w.posterior[j]
	}
	// Those that drift has brought up to the best are equal to it: they share alike.
	var ties []int
	mass, top := 0.0, order[0]
	for _, i := range order {
		if in.logPrior(i) == in.logPrior(top) && score(i) >= score(top)-tieNats {
			ties = append(ties, i)
			mass += q[i]
		}
	}
	for _, i := range ties {
		q[i] = mass / float64(len(ties))
	}
	return q, nil
}
