package vbks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"example.com/kestrel/device"
	"example.com/kestrel/internal/guard"
	"example.com/kestrel/vbks/local"
	"example.com/kestrel/vbks/mixture"
	"example.com/kestrel/vbks/random"
	"example.com/kestrel/vbks/stacking"
)

// What the weights of a prediction may be; TemperedWeights are those of forecasts, see Tempering,
// OriginsWeights those of long series, see foresee.
const (
	bayesWeights    = "bayes"
	TemperedWeights = "tempered"
	looWeights      = "loo"
	OriginsWeights  = "origins"
	evenWeights     = "even" // of kernels that are to be compared; not for settings
)

// Tempering is by how many nats of local ELBO weights of "tempered" fall to 1/e. The
// belief is over which kernel the data were drawn from, and none of them is true: for
// forecasts of the M3 competition's series, a horizon before their training parts end,
// exp(ELBO/10) is better than the belief, and than weights from some rolling origins.
const Tempering = 10

// tempered is the weight of a kernel so many nats above the best one.
func tempered(above float64) float64 { return math.Exp(above / Tempering) }

// Negligible is the part of all weights below which a kernel is left out.
const Negligible = 1e-9

// WeightNames lists what Settings.Weights may be; what "auto" is the data say.
func WeightNames() []string {
	return []string{"auto", "posterior", bayesWeights, TemperedWeights, looWeights, OriginsWeights}
}

// PredictOptions say over which kernels to average.
type PredictOptions struct {
	Top     int      // the highest-ranked kernels; 0: all live ones
	Weights string   // one of WeightNames; "" and "auto" are "posterior"
	IDs     []string // these kernels instead
	// NoiseSD has the standard deviations of the noise at the rows, as Training.NoiseSD; 0 or
	// nil: not known.
	NoiseSD []float64
	// Brief averages over the hyperparameters of fewer kernels, of weight BriefWeight: for what is looked at in
	// passing, since it takes as much as the search does.
	Brief bool
}

// Weights names what PredictOptions.Weights stand for after this run: "loo" are the
// belief's where rows cannot be left out in closed form.
func (t *Trainer) Weights(asked string) string {
	if asked == looWeights && !t.settings.leavesOut(t.data.Rows()) {
		return "posterior"
	}
	return asked
}

// chosen returns the kernels to predict with and their weights, best first; those of
// "loo" weigh must have found, else they are the belief's. Those whose weight could not
// change any figure (below Negligible) are left out, unless they are named.
func (t *Trainer) chosen(o PredictOptions) (kernels []int, weights []float64, err error) {
	if t.last == nil {
		return nil, nil, fmt.Errorf("there is no evaluation yet")
	}
	for _, id := range o.IDs {
		if !slices.ContainsFunc(t.kernels, func(k *kernel) bool { return k.id == id }) {
			return nil, nil, fmt.Errorf("kernel %s is not in the space", id)
		}
	}
	var all []weighed
	for i := range t.last.Kernels {
		res := &t.last.Kernels[i]
		if res.Status == Live && (o.IDs == nil || slices.Contains(o.IDs, res.ID)) {
			kernels = append(kernels, i)
			posterior, bayes, worth := t.inAverage(i)
			w := weighed{rank: res.Rank, posterior: posterior, bayes: bayes, worth: worth, loo: posterior}
			if t.weighed == t.last {
				w.loo = t.stacked[i]
			}
			if t.foreseen == t.last {
				w.origins, w.foreseen = t.ahead[i], true
			}
			all = append(all, w)
		}
	}
	if len(kernels) == 0 {
		return nil, nil, fmt.Errorf("no live kernel to predict with")
	}
	order, weights := weigh(all, o)
	for i, j := range order {
		order[i] = kernels[j]
	}
	return order, weights, nil
}

// weighed is what the weight of a kernel in a prediction comes from.
type weighed struct {
	rank                    int
	posterior, bayes, worth float64 // worth in nats
	loo                     float64 // the posterior where weigh has not found it
	origins                 float64 // where foreseen
	foreseen                bool    // from rolling origins; else "origins" is "tempered"
}

// weigh returns the places of those that are averaged over, and their weights, as
// chosen says.
func weigh(all []weighed, o PredictOptions) (order []int, weights []float64) {
	top := math.Inf(-1)
	for i := range all {
		order = append(order, i)
		top = math.Max(top, all[i].worth)
	}
	weight := func(i int) float64 {
		switch {
		case o.Weights == bayesWeights:
			return all[i].bayes
		case o.Weights == OriginsWeights && all[i].foreseen:
			return all[i].origins
		case o.Weights == TemperedWeights || o.Weights == OriginsWeights:
			return tempered(all[i].worth - top)
		case o.Weights == evenWeights:
			return 1
		case o.Weights == looWeights:
			return all[i].loo
		}
		return all[i].posterior
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(weight(b), weight(a)), all[a].rank-all[b].rank)
	})
	if o.Top > 0 && len(order) > o.Top {
		order = order[:o.Top]
	}
	normalised := func() []float64 {
		total, out := 0.0, make([]float64, len(order))
		for _, i := range order {
			total += weight(i)
		}
		for j, i := range order {
			if out[j] = 1 / float64(len(order)); total > 0 {
				out[j] = weight(i) / total
			}
		}
		return out
	}
	weights = normalised()
	n := len(order)
	for n > 1 && o.IDs == nil && weights[n-1] < Negligible {
		n--
	}
	if n < len(order) { // those left out count for nothing, so that they need not be known
		order = order[:n]
		weights = normalised()
	}
	return order, weights
}

// Predict computes the predictive belief at the rows of x (row-major,
// standardised) under the last evaluation. Kernels whose weight could not
// change any figure (below Negligible) are left out. Standard deviations have the factor
// of Calibrate. Without IDs rows among those known may be predicted by neighbours, see Local.
func (t *Trainer) Predict(ctx context.Context, x []float64, o PredictOptions) (*mixture.Prediction, error) {
	c, err := t.Calibrate(ctx)
	if err == nil {
		err = t.weigh(ctx, o)
	}
	if err != nil {
		return nil, err
	}
	p, err := t.predict(ctx, x, o)
	if err != nil {
		return nil, err
	}
	if c != nil {
		p.Widen(c.Factor)
	}
	if o.IDs == nil {
		about, err := t.Local(ctx)
		if err == nil && about != nil {
			err = about.Predict(p, x, t.dim)
		}
		if err != nil {
			return nil, fmt.Errorf("predictions by neighbours: %w", err)
		}
	}
	return p, nil
}

// leastDense is how many rows there are at least for "auto" to try neighbours: of fewer
// the kernels resolve all that there is.
const leastDense = 2000

// Local finds, after the last planned evaluation, what predicts the rows that lie among
// those known, in the place of an average over kernels; nil: the average does. It is a
// model of its own, of all training rows, which the belief over kernels knows nothing of.
// There is none where it cannot be fitted. With "auto" it predicts as far from the rows
// known as it surely is better than the kernels are on rows that it holds out, as these are without
// them, see rival; that is decided once, of the kernels that there then are.
func (t *Trainer) Local(ctx context.Context) (*local.Part, error) {
	asked := cmp.Or(t.settings.Local, local.None)
	switch {
	case t.predicts || t.located == t.evaluation:
		return t.local, nil
	case asked == local.None || !t.Done() || t.last == nil:
		return nil, nil
	case asked == local.Auto && (t.rows < leastDense || t.neighbourly() > MostFactors):
		return nil, nil // a model file could not keep more rows
	case t.dim > 1 && t.data.Clock == nil && t.data.Alike == nil:
		t.alone = errors.New("rows of several inputs are not asked for among those known")
		return nil, nil
	case t.weighing.model.Levels != nil || t.weighing.model.Unit > 0:
		t.alone = errors.New("they know nothing of noise that differs from row to row")
		return nil, nil
	}
	decided := asked == local.Auto && t.decided == t.evaluation
	if decided && t.within == 0 {
		t.local, t.located = nil, t.evaluation
		return nil, nil
	}
	p, err := t.neighbours(ctx)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.As(err, new(*guard.PanicError)):
		return nil, err
	case err != nil:
		p, t.alone = nil, err
	case asked == local.Neighbours:
		p.Within = p.Furthest()
	}
	if asked == local.Auto && p != nil {
		if !decided {
			if t.within, t.gained, err = t.rival(ctx, p.Checked()); err != nil {
				return nil, err
			}
			t.decided = t.evaluation
		}
		if p.Within = t.within; p.Within == 0 {
			p = nil
		}
	}
	t.local, t.located = p, t.evaluation
	return p, nil
}

// neighbours fits a local model to all training rows.
func (t *Trainer) neighbours(ctx context.Context) (p *local.Part, err error) {
	x, y, rng := t.data.X[:t.rows*t.dim], t.data.Y[:t.rows], random.Stream(t.settings.Seed, "neighbours", t.evaluation)
	if t.dim > 1 && t.data.Clock == nil {
		p = &local.Part{}
		p.Table, err = local.FitTable(ctx, x, y, t.data.Alike, rng)
		return p, err
	}
	p = &local.Part{Clock: t.data.Clock}
	p.Model, err = local.Fit(ctx, p.Clock.Times(x, t.dim), y, t.data.Seasons, rng)
	return p, err
}

// neighbourly is how many numbers the rows are that neighbours are among.
func (t *Trainer) neighbourly() int {
	if t.dim > 1 && t.data.Clock == nil {
		return (t.dim + 1) * t.rows
	}
	return 2 * t.rows
}

// rival has the kernels predict the rows that a local model was checked with, each as if it were not
// known where rows can be left out in closed form and there are not too many.
func (t *Trainer) rival(ctx context.Context, m *local.Checked) (within, nats float64, err error) {
	o := PredictOptions{Top: t.settings.Top, Weights: t.settings.Weights}
	if err := t.weigh(ctx, o); err != nil {
		return 0, 0, err
	}
	densities := make([]float64, len(m.Checks))
	kernels, weights, err := t.chosen(o)
	if err != nil {
		return 0, 0, err
	}
	if t.settings.leavesOut(t.data.Rows()) && len(kernels)*t.rows <= mostLeftOut {
		var ids []string
		for _, i := range kernels {
			ids = append(ids, t.kernels[i].id)
		}
		terms, err := t.leaveOneOut(ctx, ids)
		if err != nil {
			return 0, 0, err
		}
		some := make([]float64, len(ids))
		for i, c := range m.Checks {
			for j, id := range ids {
				some[j] = math.Log(weights[j]) + terms[id][c.Row]
			}
			densities[i] = floats.LogSumExp(some)
		}
		within, nats = m.Better(densities)
		return within, nats, nil
	}
	var x []float64
	for _, c := range m.Checks {
		x = append(x, t.data.X[c.Row*t.dim:(c.Row+1)*t.dim]...)
	}
	p, err := t.predict(ctx, x, o)
	if err != nil {
		return 0, 0, err
	}
	for i, c := range m.Checks {
		mean, v := p.Moments(i, true)
		densities[i] = distuv.Normal{Mu: mean, Sigma: math.Sqrt(v)}.LogProb(c.Y)
	}
	within, nats = m.Better(densities)
	return within, nats, nil
}

// localNext is Local for the evaluation that has just been made, which tells it.
func (t *Trainer) localNext(ctx context.Context) error {
	p, err := t.Local(ctx)
	if err == nil && p == nil && t.settings.Local == local.Neighbours && t.Done() {
		t.last.Notices = append(t.last.Notices, Notice{Text: fmt.Sprintf("predict.local: the kernels predict all rows: %v", t.alone)})
	}
	if err != nil || p == nil {
		return err
	}
	text := "rows that lie among those known are predicted from their neighbours in time"
	switch {
	case p.Table != nil:
		text = fmt.Sprintf("rows that lie among those known are predicted from the %d that they are most like", p.Table.Near)
	case len(p.Model.Reach.Lags) > 0:
		text += " and whole periods away"
	}
	if t.settings.Local == local.Auto {
		text += fmt.Sprintf(", %.3g nats a row better than the kernels on rows held out of the training rows", t.gained)
	}
	t.last.Notices = append(t.last.Notices, Notice{Text: text + "; the belief is over the kernels, which predict the other rows"})
	return nil
}

// predict is Predict without a factor.
func (t *Trainer) predict(ctx context.Context, x []float64, o PredictOptions) (*mixture.Prediction, error) {
	kernels, weights, err := t.chosen(o)
	if err != nil {
		return nil, err
	}
	p := &mixture.Prediction{
		IDs: make([]string, len(kernels)), Weights: weights, Noise: make([]float64, len(kernels)),
		Mean: make([][]float64, len(kernels)), Var: make([][]float64, len(kernels)),
	}
	for j, i := range kernels {
		p.IDs[j] = t.kernels[i].id
	}
	var averaged, plain []int
	least := AveragedWeight
	if o.Brief {
		least = BriefWeight
	}
	for j, i := range kernels {
		if weights[j] >= least && t.settings.averages(t.rows, t.data.Rows()) {
			averaged = append(averaged, i)
		} else {
			plain = append(plain, i)
		}
	}
	r := t.asking()
	for _, some := range []struct {
		kernels  []int
		averaged bool
	}{{averaged, true}, {plain, false}} {
		if len(some.kernels) == 0 {
			continue
		}
		o := r.order(phasePredict)
		o.X, o.Averaged = x, some.averaged
		if err := r.ask(ctx, o, some.kernels); err != nil {
			return nil, err
		}
	}
	for j, i := range kernels {
		t.kernels[i].spread = spread{t.evaluation, t.m, r.outcomes[i].Spread}
		got := r.outcomes[i].Prediction
		p.Mean[j], p.Var[j], p.Noise[j] = got.Mean, got.Var, got.Noise
	}
	t.weighing.model.Put(p, x, squares(o.NoiseSD), t.dim)
	return p, nil
}

// asking is a round that only predicts, under the last evaluation.
func (t *Trainer) asking() *round {
	r := &round{Trainer: t, number: t.evaluation, n: t.rows, outcomes: t.unknown(), asks: true}
	for i, k := range t.kernels {
		if s := k.predictor(); s != nil {
			r.outcomes[i].Own = s.Z
		}
		if k.spread.evaluation == t.evaluation && k.spread.inducing == t.m {
			r.outcomes[i].Spread = k.spread.of
		}
	}
	return r
}

// ask has the kernels predict at the rows of an order.
func (r *round) ask(ctx context.Context, o *order, kernels []int) error {
	if err := r.site().place(o); err != nil {
		return err
	}
	return r.each(ctx, o, r.tasks(kernels))
}

// last returns the states of the last evaluation.
func (u *unit) last() []*State {
	out := make([]*State, len(u.tasks))
	for i := range out {
		out[i] = u.tasks[i].Last
	}
	return out
}

// queried returns the rows to predict at.
func (u *unit) queried() device.Points { return device.All(u.order.at) }

// predict predicts with the kernels of a unit: mean and variance of f, and σ_n²,
// averaged over θ where it has a belief.
func (u *unit) predict() error {
	if err := u.load(u.worker.group); err != nil {
		return err
	}
	return u.optimizer.predict(u)
}

// foretell writes down what has been predicted.
func (u *unit) foretell(mean, variance [][]float64, noise []float64) {
	for i := range u.outcomes {
		u.outcomes[i].Prediction = &predicted{Mean: mean[i], Var: variance[i], Noise: noise[i]}
	}
}

// predict computes the mean and variance of f at the points x under the
// optimal q(v), after statistics, optimum and belief.
func (c *collapsed) predict(sub []int, x device.Points, stop stopped) (mean, variance [][]float64, err error) {
	ln := c.lane
	mean, variance = make([][]float64, len(sub)), make([][]float64, len(sub))
	for i := range sub {
		mean[i], variance[i] = make([]float64, x.Len()), make([]float64, x.Len())
	}
	for from := x.From; from < x.To; from += chunkRows {
		if err := stop.ask(); err != nil {
			return nil, nil, err
		}
		rows := x
		rows.From, rows.To = from, min(from+chunkRows, x.To)
		for _, part := range c.alike(sub) {
			c.project(part, rows, c.a, c.bar)
		}
		ln.KernelDiag(sub, c.ks, c.theta, rows, c.kdiag)
		ln.Predict(sub, c.a, c.bar, c.mean, c.kdiag, c.r, c.diagBar)
		for i, k := range sub {
			if err := ln.Read(c.r, k, mean[i][from-x.From:][:rows.Len()]); err != nil {
				return nil, nil, err
			}
			if err := ln.Read(c.diagBar, k, variance[i][from-x.From:][:rows.Len()]); err != nil {
				return nil, nil, err
			}
		}
	}
	return mean, variance, nil
}

// Rows returns the number of rows that predictions rest on.
func (t *Trainer) Rows() int { return t.rows }

// leavesOut reports whether rows can be left out in closed form after so many of all
// rows: q(v) is the optimum of the collapsed bound, at point estimates.
func (s Settings) leavesOut(all int) bool {
	return s.pointEstimates() && s.resolved(all) == "collapsed"
}

// leaveOneOut returns the log densities of the targets of the rows seen, in their order,
// under each of some kernels at its hyperparameters and given the rows' weights, each row
// left out: nats of the standardised targets. It needs the optimiser "collapsed" and point estimates.
func (t *Trainer) leaveOneOut(ctx context.Context, ids []string) (map[string][]float64, error) {
	return t.leaveOut(ctx, ids, 1)
}

// leaveOut is leaveOneOut where so many successive rows are left out at a time, of which each counts by
// its own density. The joint one of a block would be a product of densities given the rows before it in the block:
// mostly what neighbours tell, of which blocks are to be rid. It is, besides, by row that what is held out is scored.
func (t *Trainer) leaveOut(ctx context.Context, ids []string, block int) (map[string][]float64, error) {
	if !t.settings.leavesOut(t.data.Rows()) {
		return nil, fmt.Errorf("rows are left out in closed form only with optimise.optimizer = \"collapsed\" and point estimates")
	}
	kernels, _, err := t.chosen(PredictOptions{IDs: ids})
	if err != nil {
		return nil, err
	}
	r := t.asking()
	o := r.order(phasePredict)
	o.LeaveOut, o.Block = true, block
	if err := r.ask(ctx, o, kernels); err != nil {
		return nil, err
	}
	out := map[string][]float64{}
	for _, i := range kernels {
		p := r.outcomes[i].Prediction
		terms := make([]float64, t.rows)
		for row, y := range t.data.Y[:t.rows] {
			v := p.Var[row] + p.Noise/t.weighing.of(row)
			d := y - p.Mean[row]
			terms[row] = -(math.Log(2*math.Pi*v) + d*d/v) / 2
		}
		out[t.kernels[i].id] = terms
	}
	return out, nil
}

// fewestBlocks are left out, so that what stays is no less than what predictions will rest on.
const fewestBlocks = 5

// block is how many successive rows of so many seen are left out at a time for weights of "loo": as many as
// the gaps have that are to be filled. A single row's neighbours tell of it what they do not of a gap's middle,
// so that a rough function looks better than it is there.
func (t *Trainer) block(seen int) int {
	b, all := t.data.Gap, t.data.Rows()
	if b <= 1 {
		return 1
	}
	early := t.data.X[:seen*t.dim]
	for i := t.dim; i < len(early); i += t.dim {
		if early[i] < early[i-t.dim] { // they come in another order: a part of them has gaps of fewer rows
			b = int(math.Round(float64(b) * float64(seen) / float64(all)))
			break
		}
	}
	return max(1, min(b, seen/fewestBlocks, chunkRows))
}

// weigh finds the weights of "loo" under the last evaluation: those for which the average
// of the live kernels has the greatest log density of the rows seen, each left out; and those of "origins", see
// foresee. A trainer that only predicts keeps those that it came with.
func (t *Trainer) weigh(ctx context.Context, o PredictOptions) error {
	if o.Weights == OriginsWeights {
		return t.foresee(ctx)
	}
	if o.Weights != looWeights || t.last == nil || t.weighed == t.last || t.predicts || !t.settings.leavesOut(t.data.Rows()) {
		return nil
	}
	kernels, _, err := t.chosen(PredictOptions{})
	if err != nil {
		return err
	}
	var ids []string
	for _, i := range kernels {
		ids = append(ids, t.kernels[i].id)
	}
	densities, err := t.leaveOut(ctx, ids, t.block(t.rows))
	if err != nil {
		return err
	}
	logp := make([][]float64, len(ids))
	for j, id := range ids {
		logp[j] = densities[id]
	}
	t.stacked = make([]float64, len(t.kernels))
	for j, w := range stacking.Weights(logp) {
		t.stacked[kernels[j]] = w
	}
	t.weighed = t.last
	return nil
}
