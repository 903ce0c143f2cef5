// Package vbks is variational Bayesian kernel selection for sparse Gaussian
// process regression (Teng, Chen, Zhang and Low, AAAI 2020): the local ELBO of
// every kernel and its gradients, the optimisers, the belief q(g) over kernels,
// and prediction by averaging over kernels. It knows no files and no screens:
// numbers come in as slices, standardised, and go out as plain structs.
package vbks

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"example.com/kestrel/device"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/kernelspace/grow"
	"example.com/kestrel/vbks/belief"
	"example.com/kestrel/vbks/inducing"
	"example.com/kestrel/vbks/local"
	"example.com/kestrel/vbks/pace"
	"example.com/kestrel/vbks/params"
	"example.com/kestrel/vbks/starts"
)

// Trainer optimises all kernels of a space and the belief over them, one
// evaluation after another. It is not safe for concurrent use; its gate and
// progress functions are called from its workers.
type Trainer struct {
	common
	settings  Settings
	optimizer optimizer          // that of the settings
	data      Training           // the rows that are known
	all       Training           // and those that Grow may announce
	apart     int                // rows that are taken in as soon as the space has grown on the first of them; 0: it does not
	inducing  []float64          // Z, row-major
	weighing  weighing           // of these
	scales    kernelspace.Scales // of the rows that are known
	first     kernelspace.Scales // of Training.First
	drawer    *starts.Drawer     // nil until something is searched for
	kernels   []*kernel
	columns   []string    // names of the inputs
	space     []Candidate // that the run began with
	expansion expansion   // of the kernels since
	scout     *common     // what solutions are searched on, nil until then; &common itself where that is the local ELBO
	scouted   []float64   // its inducing inputs, nil where they are the run's own
	workers   []*worker
	lost      map[int]bool // lanes that do not work any more
	group     int          // most kernels that a worker takes at a time
	elboRows  []int32

	evaluation int    // of the last one, 0 before the first
	extra      int    // evaluations at proportion 1 asked for by Reoptimize, less those that were the first of a rung while the space grew
	grown      growth // the last one, zero before
	rungs      []int  // numbers of inducing inputs, one after the other
	rung       int    // place in them
	rough      int    // the one that all rows came early on, for what fewer took for noise; 0: none
	again      int    // the one that brings back what was left out, with as many inducing inputs as the one before; 0: none
	recalled   int    // the evaluation on it, which only these take part in
	told       bool   // more inducing inputs could change nothing
	asked      string // Settings.Evidence, which the settings have resolved
	narrow     bool   // windows of neighbours do not see what matters, and are not asked any more
	rows       int    // seen so far
	compared   int    // inducing inputs of the last evaluation
	belief     *belief.Belief
	leader     string
	led        string // leads since the evaluation since, whatever orders have made of it
	since      int
	last       *Evaluation
	notices    []Notice

	calibration *Calibration // of predictions after the evaluation calibrated; nil: none
	calibrated  int

	local   *local.Part // of the evaluation located; nil: none
	located int
	alone   error   // why there is none, where none could be fitted
	gained  float64 // by local, in nats a row of what was held out for it
	within  float64 // what "auto" has decided after the evaluation decided: Part.Within, 0: no neighbours
	decided int

	predicts     bool        // and nothing else: what calibrates it and weighs its kernels is known
	uncalibrated string      // then Uncalibrated
	stacked      []float64   // weights of "loo", by kernel
	weighed      *Evaluation // that they are of
	ahead        []float64   // weights of "origins", by kernel
	foreseen     *Evaluation // that they are of
	foresaw      int         // origins that they are from

	spent time.Duration

	gate     gate
	held     *pace.Pauses // nil where time does not matter
	progress func(Progress)
	perform  func(context.Context, *unit) error // does a unit's work: here, unless a test sees to it
	crew     Crew                               // carries units out; nil: the lanes
	states   *states                            // that have names, where there is a crew
}

// kernel is one candidate and what is known of it.
type kernel struct {
	*model

	status  Status
	reason  string
	source  string
	rows    int          // seen when its local ELBO was estimated
	state   *State       // nil before the first evaluation
	ahead   *State       // that it predicts with in its place, see adopt; nil: none
	elbo    float64      // local ELBO at the last evaluation
	terms   []float64    // its terms row by row on the common subsample; nil if all rows were used
	gain    float64      // that is still expected of its hyperparameters, nats; gainUnknown where nothing says
	volume  float64      // log volume of the mode, nats, where the belief counts it
	crude   bool         // no curvature could be had: its volume is the prior's, or, far behind, that of others
	between [2][]float64 // of its free vector, entry by entry, what it lies between with 95 % of the belief; nil where no draws tell
	bounds  *Evidence    // on the log evidence at its hyperparameters; nil where only an estimate is known
	nearby  *nearby      // what windows of neighbours say of its log evidence; nil: nothing
	low     int          // consecutive evaluations below the mass for pruning
	past    []pastELBO   // the last ones, of the present first
	ends    []rungEnd    // of the rungs that it has taken part in and the run has left, oldest first
	heard   solution     // where all rows come next, early: what its noise is as a rough function
	left    int          // inducing inputs of the rung that it was left out of, until it takes part again; 0: it was not
	modes   []solution   // of its density, as far as they have been looked for; the best first
	spread  spread       // of its hyperparameters, as predictions last needed it
}

// spread is a kernel's Spread of an evaluation, with some number of inducing inputs.
type spread struct {
	evaluation, inducing int
	of                   *Spread
}

// New prepares a run: it places the data and the inducing inputs on the
// device and compiles the kernels. columns names the inputs; lanes are taken
// from the device.
func New(ctx context.Context, dev device.Device, data Training, space []Candidate, columns []string, s Settings) (*Trainer, error) {
	t, err := newTrainer(dev, data, space, columns, s)
	if err != nil {
		return nil, err
	}
	if err := t.place(ctx, t.rungs[0]); err != nil {
		return nil, err
	}
	if err := t.makeWorkers(); err != nil {
		return nil, fmt.Errorf("memory for the kernels: %w", err)
	}
	if err := t.prepareSearch(); err != nil {
		return nil, err
	}
	return t, nil
}

// newTrainer makes all of a trainer that does not depend on the inducing
// inputs.
func newTrainer(dev device.Device, data Training, space []Candidate, columns []string, s Settings) (*Trainer, error) {
	if rows := data.Rows(); data.First == 0 && data.Begin == 0 && s.GrowRows(rows) < rows { // it may know fewer for a while
		data.First = rows
	}
	all := data
	data = data.known()
	n := data.Rows()
	if n == 0 || data.Dim == 0 || len(data.X) != n*data.Dim {
		return nil, errors.New("no training rows")
	}
	if len(space) == 0 {
		return nil, errors.New("the kernel space is empty")
	}
	t := &Trainer{settings: s, data: data, all: all, perform: doHere}
	t.scales = data.scales(n)
	if of := t.priorRows(); of.deciding() == n {
		t.first = t.scales
	} else {
		t.first = of.scales(of.deciding())
	}
	t.common = common{dev: dev, dim: data.Dim, jitter: s.Jitter, wall: params.Wall, span: t.scales.Span}
	t.floor = s.NoiseFloor * t.first.YVar
	if err := t.beginWeights(); err != nil {
		return nil, err
	}
	var err error
	t.settings.Optimizer = s.resolved(max(n, all.deciding()))
	if t.optimizer, err = optimizerOf(t.settings.Optimizer); err != nil {
		return nil, err
	}
	t.tight = s.tight() && t.settings.Optimizer == "collapsed"
	t.asked = s.Evidence
	t.settings.Evidence = s.evidence(t.optimizer.bounded(), false)
	if t.settings.laplace() && !t.optimizer.bounded() {
		asked := t.settings.Evidence
		t.settings.Evidence = modeEvidence
		t.notices = append(t.notices, Notice{Text: fmt.Sprintf(
			"optimise.evidence = %q has no effect with optimise.optimizer = %q, which the number of rows asks for",
			asked, t.settings.Optimizer)})
	}
	if s.Weights == looWeights && !t.settings.leavesOut(n) {
		t.notices = append(t.notices, Notice{Text: fmt.Sprintf(
			"predict.weights = %q is \"posterior\" with optimise.optimizer = %q and hyperparameters = %q", looWeights, t.settings.Optimizer,
			s.Hyperparameters)})
	} else if b := t.block(n); b > 1 && s.Weights == looWeights {
		t.notices = append(t.notices, Notice{Text: fmt.Sprintf(
			"predict.weights = %q: rows are left out in blocks of %d, as long as the gaps", looWeights, b)})
	}
	t.elboRows = permutation(n, s.Seed)
	t.columns, t.space = columns, space
	t.rungs = s.Rungs(n, t.atFirst())
	if !s.autoInducing() {
		t.rungs[0] = s.Inducing // more than there are rows is told when they are placed
	}
	if t.kernels, err = t.compile(space); err == nil && s.Growth.On {
		err = t.expand()
	}
	if err != nil {
		return nil, err
	}
	t.notices = append(t.notices, t.raised()...)
	return t, nil
}

// raised says that a stated kernel has more leaves than a growing space is to have, which are as many then.
func (t *Trainer) raised() []Notice {
	g, most := t.expansion.grammar, t.settings.Growth.Leaves
	if g == nil || g.Leaves() <= most || most == grow.UsualLeaves {
		return nil
	}
	return []Notice{{Text: fmt.Sprintf("kernels.grow_leaves = %d is less than a stated kernel has: kernels have up to %d", most, g.Leaves())}}
}

// atFirst is the number of kernels by which inducing inputs are chosen.
func (t *Trainer) atFirst() int {
	if g := &t.settings.Growth; g.On {
		return max(len(t.space), g.Live)
	}
	return len(t.space)
}

// wanted is the number of rows that are to be in use in the end.
func (t *Trainer) wanted() int { return max(t.data.Rows(), t.apart) }

// priorRows are those which priors are of, and what they are of.
func (t *Trainer) priorRows() Training {
	if t.all.First > 0 {
		return t.all
	}
	return t.data
}

// prepareSearch makes what only the search for hyperparameters needs, where it
// is not there yet: the candidate periods and the scout. A trainer that is
// only asked does without.
func (t *Trainer) prepareSearch() error {
	t.readyDrawer()
	t.drawer.Inducing = t.m
	if t.scout != nil {
		if _, m := t.scoutSize(0); t.scout.m == m {
			return nil
		}
		t.scout = nil
		for _, w := range t.workers {
			w.bound = nil
		}
	}
	scout, err := t.newScout()
	if err != nil {
		return err
	}
	t.scout = scout
	if err := t.searchWorkers(); err != nil {
		t.scout = nil
		return fmt.Errorf("memory for the search: %w", err)
	}
	return nil
}

// readyDrawer makes what draws starts, which knows the candidate periods.
func (t *Trainer) readyDrawer() {
	if t.drawer == nil {
		x, y := t.ordinary(t.data.deciding())
		t.drawer = starts.NewDrawer(x, y, t.dim, starts.Options{
			Inducing: t.m, Floor: t.floor, Scales: t.first, Seed: t.settings.Seed, Calendar: t.settings.Priors == seriesPriors,
		})
	}
}

// perCycle is the number of inducing inputs for each cycle of the shortest
// candidate period from which on evenly spaced ones see its shape; fewer alias
// with it.
const perCycle = 3

// placement is how m inducing inputs are placed. Where that is left to the program
// and there is one column, it depends on how many cycles there are, not on how many
// rows: by "quantiles" with enough for each cycle, else "jittered".
func (t *Trainer) placement(m int) string {
	if t.settings.Placement != "auto" || t.dim != 1 {
		return t.settings.Placement
	}
	t.readyDrawer()
	if p := t.drawer.ShortestPeriod(0); p > 0 && float64(m)*p < perCycle*t.scales.Span[0] {
		return "jittered"
	}
	return "quantiles"
}

// scoutSize returns the rows, of n seen, and the inducing inputs that solutions
// are searched with.
func (t *Trainer) scoutSize(n int) (rows, m int) {
	live := 0
	for _, k := range t.kernels {
		if k.status == Live {
			live++
		}
	}
	return t.optimizer.scout(live, n, t.m)
}

// newScout returns what solutions are searched on: the run's own inducing
// inputs, or for the stochastic optimisers fewer.
func (t *Trainer) newScout() (*common, error) {
	_, m := t.scoutSize(0)
	if t.scouted = nil; m == t.m {
		return &t.common, nil
	}
	z, _, err := t.inputs(m)
	if err != nil {
		return nil, err
	}
	return t.scoutOn(z)
}

// scoutOn is the scout with these inducing inputs.
func (t *Trainer) scoutOn(z []float64) (*common, error) {
	d, err := t.dev.NewData(z, nil, t.data.Dim)
	if err != nil {
		return nil, err
	}
	scout := t.common
	scout.z, scout.m, scout.whole = device.All(d), d.Rows(), 0
	t.scouted = z
	return &scout, nil
}

// inputs are m inducing inputs, on levels where some kernel takes a column as such.
func (t *Trainer) inputs(m int) (z []float64, notices []string, err error) {
	var levels []int
	for _, k := range t.kernels {
		for _, in := range params.Leaves(k.program) {
			if in.Op.ByLevel() {
				levels = append(levels, in.Cols...)
			}
		}
	}
	slices.Sort(levels)
	z, notices, err = inducing.Place(t.data.X, t.data.Dim, m, t.placement(m), t.settings.Seed)
	return inducing.OnLevels(z, t.data.X, t.data.Dim, slices.Compact(levels)), notices, err
}

// place chooses the inducing inputs.
func (t *Trainer) place(ctx context.Context, m int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	z, notices, err := t.inputs(m)
	if err != nil {
		return err
	}
	t.notices = append(t.notices, plain(notices)...)
	return t.lay(z)
}

// compile makes kernels of candidates, which are each other's kin.
func (t *Trainer) compile(space []Candidate) ([]*kernel, error) {
	var total float64
	seen := map[string]bool{}
	exprs := make([]kernelspace.Expr, len(space))
	for i, c := range space {
		exprs[i] = c.Expr.Canonical()
		if id := exprs[i].ID(); seen[id] {
			return nil, fmt.Errorf("kernel %s appears twice in the space", id)
		}
		seen[exprs[i].ID()] = true
		w := c.weight()
		if !(w > 0) || math.IsInf(w, 0) {
			return nil, fmt.Errorf("kernel %s: prior weight %g is not positive", exprs[i].ID(), w)
		}
		total += w
	}
	kin := starts.Kinship(exprs)
	kernels := make([]*kernel, len(space))
	for i, e := range exprs {
		p, err := space[i].Program(kernelspace.Options{
			Columns: t.columns, Dim: t.dim, ARD: t.settings.ARD, SharedPeriod: t.settings.SharedPeriod, Line: t.settings.Line,
			Levels: t.priorRows().Levels,
		})
		if err != nil {
			return nil, fmt.Errorf("kernel %s: %w", e.ID(), err)
		}
		kernels[i] = &kernel{status: Live, model: &model{
			id: e.ID(), expr: e, program: p, kin: kin[i],
			prior:    t.prior(p, t.first),
			logPrior: math.Log(space[i].weight() / total),
		}}
	}
	return kernels, nil
}

// prior returns the prior that is asked for and the soft bounds of a kernel's free
// vector.
// Without a prior (theta_prior = false with point estimates) its precision is 0.
func (t *Trainer) prior(p *kernelspace.Program, s kernelspace.Scales) prior {
	of := params.Prior
	if t.settings.Priors == seriesPriors {
		of = params.SeriesPrior
	}
	mean, sd, lo, hi := of(p, s, t.floor)
	prec := make([]float64, len(sd))
	if t.settings.ThetaPrior || !t.settings.pointEstimates() {
		for i, w := range sd {
			prec[i] = 1 / (w * w)
		}
	}
	return prior{mean: mean, prec: prec, lo: lo, hi: hi}
}

// SetGate sets a function that the workers call before every step: it blocks
// while the run is paused and returns an error to end the evaluation.
func (t *Trainer) SetGate(g func(context.Context) error) {
	t.gate, t.held = g, nil
	if g != nil && t.settings.MostSeconds > 0 { // a pause does not count
		t.held = &pace.Pauses{}
		t.gate = t.held.Watch(g)
	}
}

// SetProgress sets a function that is told how far an evaluation has come. It
// must be safe for concurrent use.
func (t *Trainer) SetProgress(f func(Progress)) { t.progress = f }

// Settings returns the settings in force, with "auto" resolved.
func (t *Trainer) Settings() Settings { return t.settings }

// Inducing returns the inducing inputs' number.
func (t *Trainer) Inducing() int { return t.m }

// Last returns the last evaluation, nil before the first.
func (t *Trainer) Last() *Evaluation { return t.last }

// schedule returns the number of rows that evaluation i has seen.
func (t *Trainer) schedule(i int) int {
	if g := &t.grown; i > g.evaluation && g.rows > 0 {
		return min(g.rows, g.seen+(i-g.evaluation)*g.step)
	}
	n := t.data.Rows()
	return min(n, int(math.Ceil(float64(i)*t.settings.EvaluateEvery*float64(n)-1e-9)))
}

// Planned returns the number of evaluations planned in all.
func (t *Trainer) Planned() int {
	rung := len(t.rungs) - 1
	if t.told {
		rung = t.rung
	}
	return t.rounds() + rung
}

// Done reports whether all planned evaluations have been made or the time
// budget is spent.
func (t *Trainer) Done() bool {
	if t.settings.TimeBudget > 0 && t.spent >= t.settings.TimeBudget {
		return true
	}
	return t.evaluation >= t.Planned()
}

// Next makes the next evaluation. If it returns an error the trainer is as it
// was before the call.
func (t *Trainer) Next(ctx context.Context) (*Evaluation, error) {
	began, held := time.Now(), t.held.Length()
	undo, err := t.moveOn(ctx)
	if err == nil {
		var before func()
		if before, err = t.evaluateNext(ctx); err == nil {
			took := time.Since(began) - (t.held.Length() - held)
			t.spent += took
			t.limit(t.last, took)
			t.conclude(t.last)
			t.last.Entered, t.last.Left = t.expansion.entered, t.expansion.left
			if t.last.Front = t.expansion.standing(t.kernels); t.last.Front != nil && t.apart > 0 {
				t.last.Front.Rows = t.data.Rows()
			}
			if err = t.spreadNext(ctx); err == nil {
				err = t.foreseeNext(ctx)
			}
			if err == nil {
				err = t.calibrateNext(ctx)
			}
			if err == nil {
				err = t.localNext(ctx)
			}
			if err != nil {
				before()
			}
		}
		if err != nil {
			err = joined(err, undo())
		}
	}
	if err != nil {
		return nil, err
	}
	return t.last, nil
}

// evaluateNext is Next on the rung that the trainer stands on, as far as nothing follows
// from it. It returns how to undo it.
func (t *Trainer) evaluateNext(ctx context.Context) (undo func(), err error) {
	if err := t.prepareSearch(); err != nil {
		return nil, err
	}
	r, err := t.newRound(t.evaluation + 1)
	if err != nil {
		return nil, err
	}
	defer r.close()
	if err := r.run(ctx); err != nil {
		return nil, err
	}
	return r.commit(ctx)
}

// Reoptimize lets the surviving kernels go on from where they are, with what
// the change asks for. If it returns an error nothing is changed.
func (t *Trainer) Reoptimize(c Change) error {
	undo := func() error { return nil }
	if c.Grow != "" {
		var err error
		if undo, err = t.regrow(c.Grow == GrowOn); err != nil {
			return err
		}
	}
	if c.Inducing > 0 && (c.Inducing != t.m || t.settings.autoInducing()) {
		if c.Inducing != t.m {
			if err := t.reinduce(c.Inducing); err != nil {
				return joined(err, undo())
			}
		}
		if t.settings.Inducing = t.m; t.apart > 0 { // of all rows they may be as many as asked for
			t.settings.Inducing = max(t.m, min(c.Inducing, t.apart))
		}
		t.extra += t.rung // the evaluations of rungs that were climbed stay counted
		t.rungs, t.rung, t.rough, t.again, t.told = []int{min(t.settings.Inducing, t.data.Rows())}, 0, 0, 0, false
	}
	if c.Steps > 0 {
		t.settings.Steps = c.Steps
	}
	if c.Batch > 0 {
		t.settings.Batch = c.Batch
	}
	t.spent = 0
	if c.Rounds > 0 {
		t.extra += c.Rounds
		return nil
	}
	if rounds, left := max(1, t.settings.Refine), t.Planned()-t.evaluation; left < rounds {
		t.extra += rounds - left
	}
	return nil
}

// reinduce moves to another number of inducing inputs: hyperparameters stay,
// q(v) starts anew. If it returns an error the inducing inputs are those of
// before.
func (t *Trainer) reinduce(m int) error {
	before, inducing := t.common, t.inducing
	if err := t.place(context.Background(), m); err != nil {
		return err
	}
	t.scout = nil
	err := t.makeWorkers()
	if err == nil {
		err = t.prepareSearch()
	}
	if err != nil {
		asked := t.m
		t.common, t.inducing, t.scout = before, inducing, nil
		return errors.Join(fmt.Errorf("memory for %d inducing inputs: %w", asked, err), t.makeWorkers())
	}
	for _, k := range t.kernels {
		if k.ahead = nil; k.state != nil {
			k.state = k.state.unplaced()
		}
	}
	return nil
}
