package vbks

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"example.com/kestrel/internal/guard"
	"example.com/kestrel/vbks/belief"
	"example.com/kestrel/vbks/params"
)

// commit takes the round's results over, refits q(g) and makes the evaluation.
func (r *round) commit(ctx context.Context) (undo func(), err error) {
	t := r.Trainer
	// Nothing is changed until all that can fail has been computed.
	kernels := make([]kernel, len(t.kernels))
	for i, k := range t.kernels {
		kernels[i] = *k
	}
	var notices []Notice
	var broken []*guard.PanicError
	for _, i := range r.live {
		k, f := &kernels[i], &r.outcomes[i]
		k.left = 0
		failure := f.Failure
		if failure == "" && (f.State == nil || math.IsNaN(f.ELBO) || math.IsInf(f.ELBO, 0)) {
			failure = "no finite local ELBO"
		}
		if failure != "" {
			k.status, k.reason = Failed, failure
			notices = append(notices, Notice{Text: fmt.Sprintf("kernel %s failed: %s", k.id, failure), Kernel: k.id, Failed: true})
			if f.Mistake != nil {
				broken = append(broken, f.Mistake)
			}
			continue
		}
		if f.Factor > 1 && (k.state == nil || k.state.Factor != f.Factor) {
			notices = append(notices, Notice{Text: fmt.Sprintf("kernel %s: jitter raised %g times", k.id, f.Factor), Kernel: k.id})
		}
		k.state, k.elbo, k.terms, k.bounds, k.rows = f.State, f.ELBO, f.Terms, f.Evidence, r.n
		if k.heard = (solution{}); r.unresolved {
			k.heard = f.Heard
		}
		k.nearby, k.ahead = r.nearby[i], f.Ahead
		k.volume, k.crude = f.Volume.Nats, r.settings.laplace() && !f.Volume.Known
		k.between = [2][]float64{f.Volume.Low, f.Volume.High}
		if f.Chosen {
			k.modes = f.Modes
		}
		k.remember(r.number, r.m)
		if f.Best.Source != "" {
			k.source, k.gain = f.Best.Source, f.Best.Gain
		}
	}
	if r.number == t.recalled {
		for i := range kernels { // the others stand where they stood, and their history goes on
			if k := &kernels[i]; k.current(r.n) && !slices.Contains(r.live, i) {
				k.remember(r.number, r.m)
			}
		}
	}
	if t.compared != t.m {
		for i := range kernels { // what is known of those left out cannot be compared any more
			if k := &kernels[i]; k.status == Pruned {
				k.rows, k.terms = 0, nil
			}
		}
	}
	old := *t
	if r.tooNarrow { // what windows have said of others counts no more
		t.narrow = true
		for i := range kernels {
			kernels[i].nearby, kernels[i].ahead = nil, nil
		}
	}
	t.setKernels(kernels)
	t.evaluation, t.rows, t.compared = r.number, r.n, t.m
	var told []Notice
	if d, ok := t.dev.(interface{ Notices() []string }); ok { // what a device tells, each once
		told = plain(d.Notices())
	}
	notices = append(notices, told...)
	t.notices = append(slices.Clone(t.notices), append(r.remarks, notices...)...)
	fail := func(err error) (func(), error) {
		*t = old
		t.notices = append(slices.Clone(t.notices), told...) // which nobody tells again
		if len(broken) > 0 && ctx.Err() == nil {
			err = fmt.Errorf("%w; %w", err, broken[0])
		}
		return nil, err
	}
	if err := t.refit(ctx, true); err != nil {
		return fail(err)
	}
	if t.leader != t.led {
		t.led, t.since = t.leader, t.evaluation
	}
	t.last.Broken = broken
	if r.unresolved {
		t.rough = t.rung + 1
		t.rungs = append(slices.Clone(t.rungs[:t.rough]), r.n)
	}
	if t.expansion.blurred = r.blurred != ""; t.expansion.blurred {
		t.last.Notices = append(t.last.Notices, Notice{Text: r.blurred})
	}
	if err := t.reopen(ctx, t.last); err != nil {
		return fail(err)
	}
	t.tell(t.last, r.audibly)
	t.lookBack(t.last)
	return func() { // what has become of the lanes stays
		old.workers, old.group, old.lost = t.workers, t.group, t.lost
		old.notices = slices.Concat(old.notices, told, t.notices)
		*t = old
	}, nil
}

// setKernels replaces the kernels' content.
func (t *Trainer) setKernels(kernels []kernel) {
	t.kernels = make([]*kernel, len(kernels))
	for i := range kernels {
		t.kernels[i] = &kernels[i]
	}
}

// refit fits q(g) to the stored local ELBOs and makes the evaluation; with
// prune, kernels whose mass has been negligible for long are pruned. Where the
// context ends the error is its cause, and nothing has changed but the kernels'
// status.
func (t *Trainer) refit(ctx context.Context, prune bool) error {
	for {
		e, q, err := t.evaluate(ctx)
		if err != nil {
			return err
		}
		var drop []string
		if prune {
			drop = t.negligible(e)
			prune = false
		}
		if len(drop) == 0 {
			t.last, t.belief = e, q
			t.notices = nil
			t.leader = e.Kernels[e.Leader()].ID
			return nil
		}
		for _, k := range t.kernels {
			if slices.Contains(drop, k.id) {
				k.status, k.reason, k.left = Pruned, byBelief, 0
			}
		}
		text := fmt.Sprintf("pruned %d kernels whose posterior stayed below %g", len(drop), t.settings.AutoPruneMass)
		t.notices = append(t.notices, Notice{Text: text})
	}
}

// evaluate fits q(g) and ranks the kernels.
func (t *Trainer) evaluate(ctx context.Context) (*Evaluation, *belief.Belief, error) {
	members := t.members()
	if !slices.ContainsFunc(t.kernels, func(k *kernel) bool { return k.current(t.rows) }) {
		for _, k := range t.kernels {
			if k.status == Failed {
				return nil, nil, fmt.Errorf("every kernel failed or is pruned; %s: %s", k.id, k.reason)
			}
		}
		return nil, nil, fmt.Errorf("no kernel is left")
	}
	opts := belief.Options{
		PriorVariance: t.settings.PriorVariance, EvidenceScale: t.settings.EvidenceScale, Seed: t.settings.Seed,
	}
	unsure := t.errors(members)
	q, err := belief.Fit(ctx, unsure.ELBO, unsure.LogPrior, opts, t.belief, t.leader, unsure.IDs)
	if err != nil {
		return nil, nil, err
	}
	posterior := q.Posterior(t.settings.Samples, t.settings.Seed)
	bayes := belief.Bayes(unsure.ELBO, unsure.LogPrior, t.settings.EvidenceScale)
	believed := unsure.Ignore(posterior, bayes)
	if t.settings.integrates() {
		if believed, err = unsure.Integrate(ctx, posterior, bayes, opts); err != nil {
			return nil, nil, err
		}
		best := floats.MaxIdx(believed.Posterior)
		believed.Cap(best, 1-t.overturned(unsure.IDs[best]))
	}
	e := t.report(q)
	var places []int // in members, of the live ones
	for j, i := range members {
		res := &e.Kernels[i]
		res.Posterior, res.Bayes = believed.Posterior[j], believed.Bayes[j]
		res.PointPosterior, res.PointBayes = posterior[j], bayes[j]
		if res.Status == Live {
			places = append(places, j)
		}
	}
	live := make([]*KernelResult, len(places))
	for at, j := range places {
		live[at] = &e.Kernels[members[j]]
	}
	order := ranked(live, t.settings.resolution(), t.settings.EvidenceScale)
	for at, from := range order {
		order[at] = places[from]
	}
	places = order
	first := places[0]
	leader := t.kernels[members[first]]
	for place, j := range places {
		i := members[j]
		res := &e.Kernels[i]
		res.Rank = place + 1
		res.SE = belief.PairedSE(t.kernels[i].terms, leader.terms, t.rows)
		gap, sd := believed.Gap(j, first)
		res.Tied = math.Abs(gap) <= math.Max(1, 2*sd)
		res.Apart = res.below(&e.Kernels[members[first]])
	}
	return e, q, nil
}

// report makes an evaluation of what the kernels know of themselves: all but
// their places in the belief.
func (t *Trainer) report(q *belief.Belief) *Evaluation {
	e := &Evaluation{
		Index: t.evaluation, RowsSeen: t.rows, Proportion: float64(t.rows) / float64(t.wanted()),
		Inducing: t.compared, Kernels: make([]KernelResult, len(t.kernels)), Objective: q.Objective,
		Notices: slices.Clone(t.notices),
	}
	if t.calibrated == t.evaluation {
		e.Calibration = t.calibration
	}
	if m := t.weighing.model; !m.Plain() {
		e.Noise = &m
	}
	for i, k := range t.kernels {
		res := &e.Kernels[i]
		worth, _, _, member := t.standing(k)
		*res = KernelResult{ID: k.id, Status: k.status, Reason: k.reason, LeftOut: member && !k.current(t.rows)}
		if member && k.seenNearby(t.rows) {
			w := k.nearby.Windows
			w.Nats = worth - k.volume
			res.Windows = &w
		}
		switch {
		case k.current(t.rows):
			if t.expansion.grammar != nil {
				res.LogPrior = k.logPrior
			}
			res.ELBO, res.Volume, res.Source, res.ELBORows = k.elbo, k.volume, k.source, k.rows
			if k.terms != nil {
				res.ELBORows = len(k.terms)
			}
			res.Evidence = k.bounds
			res.Params, res.Noise, res.NoiseBetween = t.values(k)
			res.Gain, res.Flags = k.expected(), t.flags(k)
		case k.status == Live:
			res.Status, res.Reason = Pruned, "restored: takes part from the next evaluation on"
		}
	}
	return e
}

// current reports whether a kernel's local ELBO stands for the rows seen: one
// that was pruned earlier and restored must be brought up to date first.
func (k *kernel) current(rows int) bool {
	return k.status == Live && k.state != nil && k.rows == rows
}

// resolution is by how much posteriors must differ to say something for ranking. Averaged
// over errors they are of some 32 fits, and kernels that lead about as often differ by how
// far behind the others then are, which says nothing.
func (s Settings) resolution() float64 {
	if s.integrates() {
		return 0.05
	}
	return 0.01
}

// ranked orders kernels, best first, and returns their places: one stands before all whose
// posterior is less by more than the resolution, and among those whose order the posterior
// leaves open the one goes first that has the greater local ELBO, with its mode's volume
// and its prior, by which it is said to be behind; then by name.
//
// Posteriors are not rounded for that: rounding puts .124 behind .126 whatever their gaps
// say, and lets these order .126 and .174. Nor do they rank to the last digit: small ones
// would come in the order of the samples, though their gaps are known to a hundredth of a
// nat. That one stands before another goes round in no circle, since the posterior falls
// with it each time.
func ranked(kernels []*KernelResult, resolution, scale float64) []int {
	worth := func(k *KernelResult) float64 { return k.ELBO + k.Volume + scale*k.LogPrior }
	left := make([]int, len(kernels)) // by worth
	for i := range left {
		left[i] = i
	}
	slices.SortFunc(left, func(a, b int) int {
		return cmp.Or(cmp.Compare(worth(kernels[b]), worth(kernels[a])), cmp.Compare(kernels[a].ID, kernels[b].ID))
	})
	var out []int
	for len(left) > 0 {
		most := math.Inf(-1)
		for _, i := range left {
			most = max(most, kernels[i].Posterior)
		}
		at := max(0, slices.IndexFunc(left, func(i int) bool { return kernels[i].Posterior >= most-resolution }))
		out = append(out, left[at])
		left = slices.Delete(left, at, at+1)
	}
	return out
}

// values lists a kernel's hyperparameters.
func (t *Trainer) values(k *kernel) (out []ParamValue, noise float64, noiseBetween [2]float64) {
	raw, noise := params.Raw(k.program, k.predictor().Free, t.floor)
	out = make([]ParamValue, len(raw))
	for i, p := range k.program.Params {
		out[i] = ParamValue{Param: p, Value: raw[i]}
	}
	// SDs are those of q(log θ).
	if c := k.state.ThetaChol; c != nil {
		f := len(k.state.Free)
		for a, i := range k.program.Free {
			var v float64
			for b := range a + 1 {
				v += c[a*f+b] * c[a*f+b]
			}
			out[i].SD = math.Sqrt(v) * out[i].Known.Slope(math.Log(raw[i]))
		}
	}
	if k.between[0] != nil {
		low, least := params.Raw(k.program, k.between[0], t.floor)
		high, most := params.Raw(k.program, k.between[1], t.floor)
		noiseBetween = [2]float64{least, most}
		for _, i := range k.program.Free {
			out[i].Between = [2]float64{low[i], high[i]}
		}
	}
	return out, noise, noiseBetween
}

// negligible counts, for every live kernel, the evaluations in which its mass
// stayed below the limit, and names those to prune: at most half of the live
// ones at once, the lowest. With many rows a few nats per thousand decide the
// whole belief long before every kernel has found its optimum; halving lets a
// slow one catch up (sequential halving; Karnin, Koren and Somekh, ICML 2013).
func (t *Trainer) negligible(e *Evaluation) []string {
	if t.settings.AutoPruneMass <= 0 {
		return nil
	}
	live := 0
	for _, res := range e.Kernels {
		if res.Status == Live {
			live++
		}
	}
	stay := max(t.settings.AutoPruneKeep, (live+1)/2)
	var drop []string
	for i, k := range t.kernels {
		res := &e.Kernels[i]
		if res.Status != Live {
			continue
		}
		if res.Posterior >= t.settings.AutoPruneMass {
			k.low = 0
			continue
		}
		k.low++
		if k.low >= t.settings.AutoPruneWait && res.Rank > stay {
			drop = append(drop, k.id)
		}
	}
	return drop
}

// Reasons why kernels have been pruned.
const (
	ByRequest = "pruned by request" // by Prune
	byBelief  = "posterior below the limit"
)

// Prune takes kernels out of the belief and refits it from the stored local
// ELBOs, without training. They keep their state.
func (t *Trainer) Prune(ids []string) (*Evaluation, error) {
	return t.change(ids, Live, Pruned, ByRequest)
}

// Restore brings pruned kernels back, as they were. Asking again for one that
// waits for the next evaluation changes nothing.
func (t *Trainer) Restore(ids []string) (*Evaluation, error) {
	return t.change(ids, Pruned, Live, "")
}

// change moves kernels from one status to another, all or none.
func (t *Trainer) change(ids []string, from, to Status, reason string) (*Evaluation, error) {
	if t.last == nil {
		return nil, fmt.Errorf("there is no evaluation yet")
	}
	kernels := make([]kernel, len(t.kernels))
	for i, k := range t.kernels {
		kernels[i] = *k
	}
	for _, id := range ids {
		i := slices.IndexFunc(kernels, func(k kernel) bool { return k.id == id })
		if i < 0 {
			return nil, fmt.Errorf("kernel %s is not in the space", id)
		}
		if from == Pruned && kernels[i].status == Live && !kernels[i].current(t.rows) {
			continue // restored already, and shown as pruned until the next evaluation
		}
		if kernels[i].status != from {
			return nil, fmt.Errorf("kernel %s is %s, not %s", id, kernels[i].status, from)
		}
		kernels[i].status, kernels[i].reason, kernels[i].low = to, reason, 0
		if to == Pruned {
			kernels[i].left = 0
		}
	}
	old := *t
	t.setKernels(kernels)
	if err := t.refit(context.Background(), false); err != nil {
		*t = old
		return nil, err
	}
	t.judge(t.last)
	if t.recalls() {
		t.lookBack(t.last)
	}
	return t.last, nil
}

// Forecast returns q* as it would be if only the kernels of these ids stayed, in
// their order. Nothing is changed.
func (t *Trainer) Forecast(ids []string) ([]float64, error) {
	c := *t
	kernels := make([]kernel, len(t.kernels))
	places := make([]int, len(ids))
	for i, k := range t.kernels {
		kernels[i] = *k
		if !slices.Contains(ids, k.id) && k.status == Live {
			kernels[i].status = Pruned
		}
	}
	for j, id := range ids {
		places[j] = slices.IndexFunc(kernels, func(k kernel) bool { return k.id == id && k.current(t.rows) })
		if places[j] < 0 {
			return nil, fmt.Errorf("kernel %s is not live", id)
		}
	}
	c.setKernels(kernels)
	e, _, err := c.evaluate(context.Background())
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(ids))
	for j, i := range places {
		out[j] = e.Kernels[i].Posterior
	}
	return out, nil
}

// Belief returns q(g) of the last evaluation.
func (t *Trainer) Belief() *belief.Belief { return t.belief }
