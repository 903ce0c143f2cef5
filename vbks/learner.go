package vbks

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"

	"example.com/kestrel/device"
	"example.com/kestrel/vbks/pace"
	"example.com/kestrel/vbks/random"
)

const (
	// thetaDraws is the number of fixed draws from q(log θ), in antithetic
	// pairs, over which estimates and predictions are averaged.
	thetaDraws = 16
	// passRows is the least number of rows taken at a time in passes over many.
	passRows = 256
)

var errDiverged = errors.New("the hyperparameters or q(v) are no longer finite")

// learner takes the kernels of a group through stochastic steps. It is made
// once for a group; for each set of kernels the group is loaded with, the calls
// are
//
//	adopt, begin for every member, (train | exact | estimate | predict)*, end
//
// A member that fails numerically is tried again with ten times the jitter, up
// to maxFactor, from where it stood before the call, and then given up: err
// tells why, later calls pass over it, and the others never notice.
type learner struct {
	*svgp
	rule    rule
	batch   int
	seed    uint64
	rate    float64
	samples int  // of q(log θ), for each gradient
	every   int  // natural: steps of which one moves θ
	frozen  bool // θ stays as it is

	q       *thetaBelief // nil for point estimates
	priors  []prior
	members []member
	held    []*State // by member: of whose q(v) and moments the arrays are; nil: of none that the host has

	lambda, lambdaM device.Array // Λ, Λm
	target          device.Array // M x 1, scratch
	sumDiag         device.Array // Σ k(x,x) of an exact pass
	sumM, sumC      device.Array // gradients summed over samples of θ
	failed          device.Array // not 0 once a factorisation has failed

	stride, strideChol device.Array // see strides

	open *evidencer // nil until there is an exact pass

	stale, moving, resting []int     // scratch of refresh and naturalStep
	pace                   pace.Pace // of steps one by one
	leaps                  pace.Pace // of several at once

	freeMoments, meanMoments, cholMoments, thetaMoments moments
}

// member is what the host knows of a kernel in the group.
type member struct {
	name       string
	err        error
	steps      int // of Adam
	seen, rows float64
	rng        *rand.Rand // draws from q(log θ)
	current    bool       // θ and L belong to the free vector
	settled    *settled   // by an exact pass at these hyperparameters
	began      *State     // that it still is in; nil: it has gone on since
}

// settled is what an exact pass makes known of a point estimate.
type settled struct {
	elbo   float64 // the local ELBO at the optimal q(v)
	bounds Evidence
}

// newLearner adds to a group the buffers of the stochastic optimisers, for
// minibatches of at most batch rows.
func newLearner(g *group, batch int, s Settings) (*learner, error) {
	o, err := optimizerOf(s.Optimizer)
	if err != nil {
		return nil, err
	}
	rule := o.stepping()
	if rule == nil {
		return nil, fmt.Errorf("optimizer %q is not stochastic", s.Optimizer)
	}
	sv, err := newSVGP(g, max(batch, passRows))
	if err != nil {
		return nil, err
	}
	sv.precision = rule.byPrecision()
	l := &learner{leaps: pace.SeveralAtOnce(), svgp: sv, rule: rule, batch: batch, seed: s.Seed, rate: s.LearningRate,
		samples: max(s.ThetaSamples, 1), every: thetaEvery, held: make([]*State, g.capacity)}
	if !s.pointEstimates() {
		if l.q, err = newThetaBelief(g, s.Hyperparameters == "diagonal"); err != nil {
			return nil, err
		}
		sv.thetaPrec = l.q.flat
	}
	al := &allocator{g: g}
	m, f := g.m, g.frees
	l.lambda, l.lambdaM, l.target = al.array(m, m), al.array(m, 1), al.array(m, 1)
	l.failed, l.sumDiag = al.array(1, 1), al.array(1, 1)
	l.freeMoments = al.moments(1, f)
	l.stride = al.array(1, f)
	if l.q != nil {
		l.thetaMoments = al.moments(f, f)
		l.strideChol = al.array(f, f)
	}
	rule.allocate(l, al)
	return l, al.err
}

// adopt takes up the kernels that the group has been loaded with, whose priors
// are given.
func (l *learner) adopt(priors []prior) error {
	l.priors = priors
	l.members = make([]member, len(priors))
	f := l.ks.Free()
	l.freeMoments.reshape(1, f)
	l.stride.Reshape(1, f)
	if l.q == nil {
		return nil
	}
	l.thetaMoments.reshape(f, f)
	l.strideChol.Reshape(f, f)
	return l.q.adopt(priors)
}

func (m moments) reshape(rows, cols int) {
	m.first.Reshape(rows, cols)
	m.second.Reshape(rows, cols)
}

// err says why member k has been given up, nil if it has not.
func (l *learner) err(k int) error { return l.members[k].err }

// attempt does the work for the members still live, and again, with the
// jitter escalated, for those that failed in it.
func (l *learner) attempt(sub []int, work func(sub []int) error) error {
	sub = l.live(sub)
	for len(sub) > 0 {
		l.lane.Fill(sub, l.failed, 0)
		if err := work(sub); err != nil {
			return err
		}
		bad, err := l.broken(sub)
		if err != nil {
			return err
		}
		sub = sub[:0:0]
		for _, k := range bad {
			ok, err := l.escalate(k)
			if err != nil {
				return err
			}
			if ok {
				sub = append(sub, k)
			}
		}
	}
	return nil
}

// live returns the members of sub that have not been given up.
func (l *learner) live(sub []int) []int {
	var out []int
	for _, k := range sub {
		if l.members[k].err == nil {
			out = append(out, k)
		}
	}
	return out
}

// note remembers a failed factorisation until broken looks.
func (l *learner) note(sub []int) { l.lane.AddScaled(sub, l.failed, 1, l.info) }

// broken returns the members whose factorisations failed or whose numbers are
// not finite.
func (l *learner) broken(sub []int) ([]int, error) {
	var bad []int
	m, f := make([]float64, l.m), make([]float64, l.ks.Free())
	mean, free := l.rule.location(l), l.free
	if l.q != nil {
		free = l.q.centre
	}
	for _, k := range sub {
		failed, err := l.scalar(l.failed, k)
		if err != nil {
			return nil, err
		}
		if err := l.lane.Read(mean, k, m); err != nil {
			return nil, err
		}
		if err := l.lane.Read(free, k, f); err != nil {
			return nil, err
		}
		if failed != 0 || !finite(m) || !finite(f) {
			bad = append(bad, k)
		}
	}
	return bad, nil
}

func finite(x []float64) bool {
	for _, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}

// escalate multiplies a member's jitter by ten; false if it has had the most.
func (l *learner) escalate(k int) (bool, error) {
	factor, err := l.scalar(l.factor, k)
	if err != nil {
		return false, err
	}
	m := &l.members[k]
	m.current = false
	if factor >= maxFactor {
		failed, err := l.scalar(l.failed, k)
		if err != nil {
			return false, err
		}
		cause := errDiverged
		if failed != 0 {
			cause = errors.New("k(Z,Z) is not positive definite")
		}
		m.err = fmt.Errorf("%s: %w, even with %g times the jitter", l.programs[k].ID, cause, factor)
		return false, nil
	}
	l.lane.Write(l.factor, k, []float64{10 * factor})
	return true, nil
}

// refresh makes θ and L those of the free vectors, or of a fresh sample of
// q(log θ), where they are not already.
func (l *learner) refresh(sub []int) {
	stale := l.stale[:0]
	for _, k := range sub {
		if !l.members[k].current {
			stale = append(stale, k)
		}
	}
	l.stale = stale
	if len(stale) == 0 {
		return
	}
	if l.q != nil {
		l.resample(stale)
		return
	}
	l.factorise(stale)
	l.note(stale)
	for _, k := range stale {
		l.members[k].current = true
	}
}

// resample draws θ from q(log θ), each member from its own stream.
func (l *learner) resample(sub []int) {
	l.q.sample(sub, l.eta)
	l.factorise(sub)
	l.note(sub)
	for _, k := range sub {
		l.members[k].current = true
	}
}

// eta draws what a member's next sample of θ is made of.
func (l *learner) eta(k int) []float64 {
	eta := make([]float64, l.freeLen(k))
	for i := range eta {
		eta[i] = l.members[k].rng.NormFloat64()
	}
	return eta
}

// outdate says that the free vectors have changed.
func (l *learner) outdate(sub []int) {
	if l.frozen {
		return
	}
	for _, k := range sub {
		l.members[k].current = false
	}
}

// draws returns the number of θ that estimates are averaged over.
func (l *learner) draws() int {
	if l.q == nil {
		return 1
	}
	return thetaDraws
}

// take sets θ and L to the point estimate or to fixed draw i of q(log θ).
func (l *learner) take(sub []int, i int) {
	if l.q == nil {
		l.refresh(sub)
		return
	}
	l.q.sample(sub, func(k int) []float64 {
		rng := random.Stream(l.seed, l.members[k].name+" draws", i/2)
		eta := make([]float64, l.freeLen(k))
		for j := range eta {
			eta[j] = rng.NormFloat64()
			if i%2 == 1 {
				eta[j] = -eta[j]
			}
		}
		return eta
	})
	l.factorise(sub)
	l.note(sub)
	for _, k := range sub {
		l.members[k].current = false
	}
}

// chunks cuts points into parts that the buffers hold.
func (l *learner) chunks(x device.Points) iter.Seq[device.Points] {
	return func(yield func(device.Points) bool) {
		for from := x.From; from < x.To; from += l.svgp.rows {
			part := x
			part.From, part.To = from, min(from+l.svgp.rows, x.To)
			if !yield(part) {
				return
			}
		}
	}
}

// train makes the steps of the minibatches for the members sub. stop is asked
// before every step, or as many as the lane makes at once; where it ends the training,
// its error is returned and the members stand as the last complete step left them.
func (l *learner) train(sub []int, b *minibatches, stop stopped) error {
	if b.size > l.svgp.rows {
		return fmt.Errorf("a minibatch of %d rows where the learner was made for %d", b.size, l.batch)
	}
	var index device.Index
	if b.rows != nil {
		var err error
		if index, err = l.lane.NewIndex(b.rows); err != nil {
			return err
		}
		defer l.lane.Free(index)
	}
	before := map[int]*State{}
	for _, k := range l.live(sub) {
		before[k] = l.members[k].began
		if before[k] != nil {
			continue
		}
		st, err := l.end(k)
		if err != nil {
			return err
		}
		before[k] = st
	}
	again := false
	return l.attempt(sub, func(sub []int) error {
		if again {
			if err := l.restore(sub, before); err != nil {
				return err
			}
		}
		again = true
		l.changes(sub)
		for _, k := range sub {
			m := &l.members[k]
			m.rng = random.Stream(l.seed, m.name+" samples", b.number)
			// A sample of θ left from before must not decide how it goes on.
			m.current = m.current && l.q == nil
		}
		l.rule.begin(l, sub, float64(b.n))
		err := l.steps(sub, b, index, stop)
		if err == nil {
			return nil
		}
		// An interrupted training must not leave a member broken.
		if bad, readErr := l.broken(sub); readErr == nil && len(bad) > 0 {
			return errors.Join(err, l.restore(bad, before))
		}
		return err
	})
}

// steps is train's loop.
func (l *learner) steps(sub []int, b *minibatches, index device.Index, stop stopped) error {
	by, size := &l.pace, 1
	for t := 0; t < b.steps; t += size {
		if err := stop.ask(); err != nil {
			return err
		}
		x, skip := device.Points{Data: l.common.train, To: b.n}, 0
		if index != nil {
			x = device.Points{Data: l.common.train, Index: index, From: t * b.size, To: (t + 1) * b.size}
			skip = b.size
		}
		if size = l.leaps.Next(b.steps - t); l.rule.several(l, sub, x, skip, float64(b.n), t, size) {
			by = &l.leaps
		} else {
			size = 1
			l.single(sub, x, float64(b.n), t)
		}
		if err := by.Made(l.lane, size); err != nil {
			return err
		}
	}
	return by.Wait(l.lane)
}

// single makes step t, one that may be like others.
func (l *learner) single(sub []int, x device.Points, n float64, t int) {
	defer device.Repeats(l.lane, x)()
	l.rule.step(l, sub, x, n, t)
}

// restore puts members back to where they were, but for their jitter.
func (l *learner) restore(sub []int, before map[int]*State) error {
	for _, k := range sub {
		factor, err := l.scalar(l.factor, k)
		if err != nil {
			return err
		}
		st := *before[k]
		st.Factor = factor
		if err := l.begin(k, &st, l.members[k].name); err != nil {
			return err
		}
	}
	return nil
}
