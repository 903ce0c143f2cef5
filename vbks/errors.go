package vbks

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"example.com/kestrel/vbks/belief"
)

// pastELBO is a local ELBO of an evaluation.
type pastELBO struct {
	evaluation, rows int
	elbo             float64 // with the mode's volume, as bounds
	inducing         int
	bounds           *Evidence // on the log evidence; nil where there are none
	windows          bool      // elbo is the log evidence by windows
}

// worth is what the belief takes for the log evidence: the local ELBO, or what windows of neighbours say, and the log
// volume of its mode where that counts.
func (k *kernel) worth() float64 {
	if k.seenNearby(k.rows) {
		return k.nearby.Nats + k.volume
	}
	return k.elbo + k.volume
}

// rememberedELBOs are as many as the last two innovations need.
const rememberedELBOs = 3

// remember keeps the local ELBO of an evaluation with so many inducing inputs. What
// is there is not modified.
func (k *kernel) remember(evaluation, inducing int) {
	past := append([]pastELBO{{evaluation, k.rows, k.worth(), inducing, k.bounds.with(k.volume), k.seenNearby(k.rows)}}, k.past...)
	k.past = past[:min(len(past), rememberedELBOs)]
}

// innovation is what an evaluation has changed in the gap to another kernel beyond
// what more rows do alone, with which a gap grows in proportion, and beyond what
// bounds had left open where more inducing inputs have made them closer. at counts
// evaluations back from the last one.
func (k *kernel) innovation(other *kernel, at int) (nats float64, ok bool) {
	if len(k.past) < at+2 || len(other.past) < at+2 {
		return 0, false
	}
	now, before := k.past[at], k.past[at+1]
	otherNow, otherBefore := other.past[at], other.past[at+1]
	if otherNow.evaluation != now.evaluation || otherBefore.evaluation != before.evaluation || now.evaluation != before.evaluation+1 {
		return 0, false
	}
	if now.windows != before.windows || otherNow.windows != otherBefore.windows {
		return 0, false
	}
	if closer, ok := k.closer(other, at); ok && !now.windows {
		low, high := now.between(&otherNow)
		lowBefore, highBefore := before.between(&otherBefore)
		return (math.Max(0, low-highBefore) - math.Max(0, lowBefore-high)) * closer, true
	}
	return now.elbo - otherNow.elbo - float64(now.rows)/float64(before.rows)*(before.elbo-otherBefore.elbo), true
}

// closer is by what factor the evaluation at has made two kernels' bounds closer than
// they were; false where it had no more inducing inputs, or bounds do not tell.
func (k *kernel) closer(other *kernel, at int) (factor float64, ok bool) {
	now, before, otherNow, otherBefore := &k.past[at], &k.past[at+1], &other.past[at], &other.past[at+1]
	if now.inducing == before.inducing || !now.placed(otherNow) || before.bounds == nil || otherBefore.bounds == nil {
		return 1, false
	}
	return now.closer(before, otherNow, otherBefore), true
}

// closer is by what factor more inducing inputs have made two kernels' bounds closer than
// they were, those within settledNats being close. What optima of a loose bound were off
// by they are off by no more where it is close: as much less as it leaves open less.
func (p *pastELBO) closer(before, other, otherBefore *pastELBO) float64 {
	open := func(a, b *pastELBO) float64 { return math.Max(settledNats, a.bounds.Slack()+b.bounds.Slack()) }
	return math.Min(1, open(p, other)/open(before, otherBefore))
}

// placed reports whether bounds say of two kernels which is better, or all that more
// inducing inputs could.
func (p *pastELBO) placed(other *pastELBO) bool {
	a, b := p.bounds, other.bounds
	return a != nil && b != nil && (a.Tight && b.Tight || a.below(b) || b.below(a))
}

// between says where the gap to another kernel lies.
func (p *pastELBO) between(other *pastELBO) (low, high float64) {
	return p.bounds.Lower - other.bounds.Upper, p.bounds.Upper - other.bounds.Lower
}

// drift is the standard deviation of what search and data still move in the gap to
// another kernel: the larger innovation of the last two, whatever it came from:
// rows, better hyperparameters, more inducing inputs, another sample; once two
// evaluations are of all rows, of these alone. Of a kernel without history, while data
// still arrive, the gap may close altogether.
func (k *kernel) drift(other *kernel, all bool) float64 {
	last, ok := k.innovation(other, 0)
	if !ok {
		if all {
			return 0
		}
		return math.Abs(k.worth() - other.worth())
	}
	before, ok := k.innovation(other, 1)
	// What came with the last rows is over where another evaluation of all of them
	// has confirmed it.
	if ok && all && k.past[1].rows == k.rows && k.past[2].rows < k.rows {
		before = 0
	}
	if closer, closed := k.closer(other, 0); ok && closed { // what was found at loose bounds is off by less, too
		before *= closer
	}
	return math.Max(math.Abs(last), math.Abs(before))
}

// usualDrift is the drift, while data arrive, of kernels that have come late: the middle one of
// those that were there before, beside the best of these. Late kernels have no history, but
// the others tell what search and data still move; the gap, which may be the very reason
// why they have come, says nothing of that.
func (t *Trainer) usualDrift(members []int) (nats float64, known bool) {
	if t.expansion.grammar == nil || t.rows == t.wanted() {
		return 0, false
	}
	var best *kernel
	var others []float64
	for pass := range 2 {
		for _, i := range members {
			switch k := t.kernels[i]; {
			case !k.current(t.rows) || len(k.past) < 2:
			case pass == 0 && (best == nil || k.worth() > best.worth()):
				best = k
			case pass == 1 && k != best:
				others = append(others, k.drift(best, false))
			}
		}
	}
	if len(others) == 0 {
		return 0, false
	}
	slices.Sort(others)
	return others[len(others)/2], true
}

// overturned is the probability that another kernel leads in the next evaluation,
// by Laplace's rule of succession: one that has led s of them in a row is overturned
// with probability 1/(s + 2). No error of a single evaluation says that much: what
// makes leaders fall is that another kernel's optimum is found, with more rows as
// without. Once all data are in use, one more evaluation with the same leader
// settles it, unless more inducing inputs are to come and bounds leave open what these
// will say; a run that begins so has nothing to go by. How often a leader has held with
// as many inducing inputs says nothing of how it fares with more: of that the rungs
// speak on which it has led.
func (t *Trainer) overturned(leader string) float64 {
	held, rungs := 1, 1
	if leader == t.led {
		held += t.evaluation - t.since
		rungs += min(t.rung, t.evaluation-t.since) // an evaluation is made on each but the first
	}
	switch {
	case t.widens(leader):
		return 1 / float64(min(held, rungs)+2)
	case t.rows == t.wanted() && (held > 1 || t.evaluation == 1):
		return 0
	}
	return 1 / float64(held+2)
}

// widens reports whether more inducing inputs are planned, from which a kernel's local
// ELBO may move by more than its bounds tell.
func (t *Trainer) widens(id string) bool {
	if !t.settings.autoInducing() || t.told || t.rung+1 >= len(t.rungs) || t.recalls() {
		return false
	}
	i := slices.IndexFunc(t.kernels, func(k *kernel) bool { return k.id == id })
	return i < 0 || !t.kernels[i].seenNearby(t.rows) && (t.kernels[i].bounds == nil || t.kernels[i].bounds.Slack() > settledNats)
}

// slack says between which numbers of nats above the local ELBO the log evidence
// lies. Bounds from the trace are far too wide above, where they are not tight: of
// what they allow the belief takes as much above Lower as is known to be below.
func (k *kernel) slack() (low, high float64) {
	switch b := k.bounds; {
	case k.seenNearby(k.rows):
		return -k.nearby.Low, k.nearby.High
	case b == nil:
		return 0, 0
	case b.Tight:
		return b.Lower - k.elbo, b.Upper - k.elbo
	default:
		return 0, 2 * (b.Lower - k.elbo)
	}
}

// middle is that of what is known of the log evidence.
func (k *kernel) middle() float64 {
	low, high := k.slack()
	return k.worth() + (low+high)/2
}

// rungEnd is where a kernel stood when a rung was left.
type rungEnd struct {
	evaluation   int     // the last one on the rung
	elbo, middle float64 // with the volume of the mode of then
	drift        float64 // the error of its gap to the best one, without slack
	sampled      float64 // of that what came from a sample of the rows
}

// end finds where a kernel stood after an evaluation that was the last on its rung.
func (k *kernel) end(evaluation int) (rungEnd, bool) {
	if k == nil {
		return rungEnd{}, false
	}
	i := slices.IndexFunc(k.ends, func(e rungEnd) bool { return e.evaluation == evaluation })
	if i < 0 {
		return rungEnd{}, false
	}
	return k.ends[i], true
}

// leave writes down where the kernels stand that were compared on a rung.
func (t *Trainer) leave() {
	var best *kernel
	for _, k := range t.kernels {
		if k.current(t.rows) && (best == nil || k.middle() > best.middle()) {
			best = k
		}
	}
	for _, k := range t.kernels {
		if !k.current(t.rows) {
			continue
		}
		end := rungEnd{evaluation: t.evaluation, elbo: k.worth(), middle: k.middle()}
		if k != best {
			end.sampled = belief.PairedSE(k.terms, best.terms, t.rows)
			end.drift = math.Hypot(k.drift(best, t.rows == t.wanted()), end.sampled)
		}
		if t.nextRough() && k.heard.X != nil { // what else is known of it is of fewer inducing inputs
			heard := k.heard.Value + k.volume
			end, k.bounds = rungEnd{t.evaluation, heard, heard, heardNats, 0}, nil
		}
		k.ends = append(slices.Clip(k.ends), end)
	}
}

// members are the places of the kernels that the belief is over: those up to date,
// and those that the ladder has left out.
func (t *Trainer) members() (out []int) {
	for i, k := range t.kernels {
		if _, _, _, ok := t.standing(k); ok {
			out = append(out, i)
		}
	}
	return out
}

// standing is what the belief takes for a kernel's local ELBO, with its volume, and its slack. One
// that was left out has moved as those have that were compared with it then, see moved. Where that is not known
// it stays as far behind the foremost of those that still are compared: with more inducing inputs all gain, and what
// is known is its gap. That is the larger of the gaps in local ELBOs and between
// the middles of what bounds allow.
func (t *Trainer) standing(k *kernel) (elbo, low, high float64, ok bool) {
	low, high = k.slack()
	if k.current(t.rows) {
		return k.worth(), low, high, true
	}
	if k.left == 0 {
		return 0, 0, 0, false
	}
	if top, known := t.nearest(); known && k.seenNearby(t.rows) {
		return top - k.nearby.behind + k.volume, -k.nearby.Low, k.nearby.High, true
	}
	own := k.ends[len(k.ends)-1]
	if m, known := t.moved(own.evaluation); known && !t.goesThrough() {
		return own.elbo + m.elbo, m.middle - m.elbo, m.middle - m.elbo, true
	}
	var then, now struct{ elbo, middle float64 }
	for _, c := range t.kernels {
		was, compared := c.end(own.evaluation)
		if !compared || !c.current(t.rows) {
			continue
		}
		if !ok {
			then.elbo, then.middle, now.elbo, now.middle, ok = was.elbo, was.middle, c.worth(), c.middle(), true
		}
		then.elbo, then.middle = math.Max(then.elbo, was.elbo), math.Max(then.middle, was.middle)
		now.elbo, now.middle = math.Max(now.elbo, c.worth()), math.Max(now.middle, c.middle())
	}
	behind := then.middle - own.middle
	elbo = now.elbo - math.Max(behind, then.elbo-own.elbo)
	middle, half := now.middle-behind, (high-low)/2
	return elbo, middle - half - elbo, middle + half - elbo, ok
}

// seenNearby reports whether log evidence by windows of so many rows is known.
func (k *kernel) seenNearby(rows int) bool { return k.nearby != nil && k.nearby.seen == rows }

// nearest is the best log evidence by windows of those that are compared.
func (t *Trainer) nearest() (nats float64, known bool) {
	for _, k := range t.kernels {
		if k.current(t.rows) && k.seenNearby(t.rows) && (!known || k.nearby.Nats > nats) {
			nats, known = k.nearby.Nats, true
		}
	}
	return nats, known
}

// driftThen is the error of what standing says of a kernel that was left out, but for slack; 0 for others. Where it is
// not known how others have moved it is what seemed to move its gap then, and where every step is of all rows no more
// than that: without noise a gap has moved by hundreds of nats up to then, and those that went on have moved by a few since.
func (t *Trainer) driftThen(k *kernel) float64 {
	if k.current(t.rows) || len(k.ends) == 0 || k.seenNearby(t.rows) {
		return 0
	}
	end := k.ends[len(k.ends)-1]
	m, known := t.moved(end.evaluation)
	switch {
	case !known:
		return end.drift
	case t.goesThrough():
		return math.Min(end.drift, math.Hypot(m.spread, end.sampled))
	default:
		return math.Hypot(m.sd, end.sampled)
	}
}

// goesThrough reports whether every step is of all rows.
func (t *Trainer) goesThrough() bool {
	e, err := t.settings.Effort(t.rows)
	return err != nil || e.Exact()
}

// movement is by how much kernels have moved, in the mean, from their local ELBO of then to that of now and to the
// middle of what is known of their log evidence now, and how far another one's middle may be from that; spread is as sd, of
// the movement from one middle to the other, for where bounds of then count.
type movement struct{ elbo, middle, sd, spread float64 }

// leastMoved is the least of a movement's sd: kernels that contain each other move alike, two of them hardly differ.
const leastMoved = 1

// moved is what has become since an evaluation, the last one on a rung, of the N kernels that went on to the next
// one: of those that were left out later by what moved the best one since, too. With v_k from then to now another one
// has moved by v̄ ± sd,
//
//	sd² = Σ(v_k − v̄)²/(N−1) · (1 + 1/N) · (N+1)/(N−1)
//
// the second factor for the mean, the third, since s is of few, about as wide as Student's t of N−1 degrees of freedom
// is where it holds two thirds. Bounds of then do not count: they are close for a few kernels only, and where few
// inducing inputs take a function for noise they say nothing of what more will find. It is not known where fewer than
// two went on.
func (t *Trainer) moved(since int) (m movement, known bool) {
	best, last := (*kernel)(nil), 0
	for _, k := range t.kernels { // the best of then of those that have gone furthest
		then, ok := k.end(since)
		if !ok || !k.current(t.rows) {
			continue
		}
		was, _ := best.end(since)
		if at := k.ends[len(k.ends)-1].evaluation; at > last || at == last && then.elbo > was.elbo {
			best, last = k, at
		}
	}
	if best == nil {
		return m, false
	}
	var elbos, middles, between []float64
	for _, k := range t.kernels {
		then, ok := k.end(since)
		if !ok {
			continue
		}
		if k.current(t.rows) {
			elbos, middles = append(elbos, k.worth()-then.elbo), append(middles, k.middle()-then.elbo)
			between = append(between, k.middle()-then.middle)
			continue
		}
		end := k.ends[len(k.ends)-1]
		if of, ok := best.end(end.evaluation); ok && end.evaluation > since {
			v := end.elbo - then.elbo - of.elbo
			elbos, middles = append(elbos, v+best.worth()), append(middles, v+best.middle())
			between = append(between, end.middle-then.middle-of.middle+best.middle())
		}
	}
	n := float64(len(elbos))
	if n < 2 {
		return m, false
	}
	another := func(v []float64) (mean, sd float64) {
		mean, variance := stat.MeanVariance(v, nil)
		return mean, math.Max(leastMoved, math.Sqrt(variance*(1+1/n)*(n+1)/(n-1)))
	}
	m.elbo = stat.Mean(elbos, nil)
	m.middle, m.sd = another(middles)
	_, m.spread = another(between)
	return m, true
}

// errors are the local ELBOs, with volumes, of the kernels that the belief is over, and their
// errors; where these are to be ignored, those of sampling alone.
func (t *Trainer) errors(members []int) *belief.Errors {
	e := &belief.Errors{
		Rows: t.rows, Number: t.evaluation,
		Terms: make([][]float64, len(members)), Low: make([]float64, len(members)), High: make([]float64, len(members)),
	}
	for j, i := range members {
		k := t.kernels[i]
		elbo, low, high, _ := t.standing(k)
		e.IDs, e.ELBO, e.LogPrior = append(e.IDs, k.id), append(e.ELBO, elbo), append(e.LogPrior, k.logPrior)
		e.Terms[j] = k.terms
		if t.settings.integrates() {
			e.Low[j], e.High[j] = low, high
		}
	}
	if t.settings.integrates() {
		usual, known := t.usualDrift(members)
		e.Drift = func(j, best int) float64 {
			a, b := t.kernels[members[j]], t.kernels[members[best]]
			if known && a.current(t.rows) && b.current(t.rows) && min(len(a.past), len(b.past)) < 2 {
				return usual
			}
			if a.current(t.rows) && b.current(t.rows) {
				return a.drift(b, t.rows == t.wanted())
			}
			return math.Max(t.driftThen(a), t.driftThen(b))
		}
	}
	return e
}

// anchor makes local ELBOs that were estimated comparable with one that has been
// made exact since, that of kernel b, of which the same rows gave an estimate in the
// same way: what that is off by the others are, too, but for the gap.
//
//	𝓛_j = 𝓛̂_j + (𝓛_b − 𝓛̂_b)
//
// Row by row likewise, so that the sampling error of j is that of its gap to b.
func anchor(outcomes, estimated []outcome, at []int, b int) {
	of, was := &outcomes[b], &estimated[b]
	for _, j := range at {
		f := &outcomes[j]
		f.ELBO = estimated[j].ELBO + (of.ELBO - was.ELBO)
		f.Terms = slices.Clone(estimated[j].Terms)
		floats.Sub(f.Terms, was.Terms)
		if of.Terms != nil {
			floats.Add(f.Terms, of.Terms)
		}
	}
}
