package vbks

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"example.com/kestrel/device"
	"example.com/kestrel/internal/guard"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks/laplace"
	"example.com/kestrel/vbks/params"
	"example.com/kestrel/vbks/random"
	"example.com/kestrel/vbks/starts"
)

// What a unit of work needs is a site, an order and tasks, and what it makes of
// them are outcomes. A site any machine makes for itself that has the run's
// config and data. Orders, tasks and outcomes are plain values, exported field
// by field, so that they can be encoded without loss: a unit may be carried out
// wherever there is a site.

// phase is a part of a round that is done kernel by kernel; its name is shown.
type phase string

const (
	phaseSearch     phase = "optimise"
	phaseTransplant phase = "transplants"
	phaseTheta      phase = "beliefs over hyperparameters"
	phaseTune       phase = "tune"
	phaseOwn        phase = "inducing inputs"
	phaseLearn      phase = "learn"
	phaseEvidence   phase = "evidence"
	phaseHear       phase = "rough functions"
	phaseWindows    phase = "windows"
	phaseIntegral   phase = "integrals over hyperparameters"
	phaseSpread     phase = "spread of hyperparameters"
	phasePredict    phase = "predict"
	phaseComponents phase = "components"
	phaseFreeze     phase = "model"
)

// solution is a point that a kernel's optimisation has reached.
type solution struct {
	X      []float64
	Value  float64 // bound on the round's rows
	Source string
	Fresh  bool    // changed since relatives last saw it
	Gain   float64 // that is still expected, in nats, of all rows seen; gainUnknown where nothing says

	// Of a mode whose surroundings are known: the factor of its curvature's covariance and log volume.
	Chol   []float64
	Volume float64
	Stale  bool // of an earlier evaluation: its value is not known
}

// gift is a solution that a kernel offers to others.
type gift struct {
	From  int // place in the space of its kernel; of a transplant, in the taker's kin
	X     []float64
	Value float64
}

// order is what the units of a phase have in common. They read it only.
type order struct {
	Phase  phase
	Number int // of the evaluation
	Rows   int // seen

	Screen    *rowSet     // search: on which fresh starts are tried
	Compared  *rowSet     // search, transplants: on which hyperparameters are compared
	Part      *rowSet     // search: on which a late one explores; nil: on all that are compared
	Curved    *rowSet     // search, evidence: which tell the curvature of solutions; nil: none do
	Least     float64     // search: what begins with less on all rows after that part is not climbed there; evidence: has no volume
	Tuned     *rowSet     // tune, own inputs: on which hyperparameters are tuned
	Moved     *rowSet     // own inputs: on which they are found
	Steps     int         // tune, own inputs: L-BFGS iterations at most
	Further   bool        // tune: from what an earlier stage has arrived at, only
	Settled   bool        // learn: hyperparameters have been tuned, no steps follow
	Fitted    *rowSet     // learn: which q(v) is fitted to, as a sample of the rows seen; nil: none
	Estimated *rowSet     // learn: on which local ELBOs are estimated
	Pass      bool        // learn: it ends with an exact pass over all rows seen
	Tight     bool        // evidence: by products with all of k(X,X)
	Volumes   bool        // evidence: of modes, too
	Dear      bool        // integrals: sparing with values
	Heavy     bool        // integrals: about fewer modes
	Thorough  bool        // search: all depends on it
	Late      bool        // of a thorough one: it goes on from what another has found, without fresh starts
	Resumed   bool        // search: solutions are taken further, no others are looked for
	Valued    bool        // search: solutions are valued, and nothing else is done
	Rough     bool        // search: what solutions take for noise may be a rough function
	Donors    []gift      // search: the last evaluation's solutions, best first
	Sparing   bool        // transplants: only what changes nothing, and a few iterations
	Time      int         // transplants: how often there have been some in this round
	Near      []int       // hear, windows: rows with their neighbours; windows, nil: all that have been seen
	Inducing  int         // windows: beside so many inducing inputs, twice as many where they are wide
	Again     bool        // windows: from what an earlier stage has found
	Wide      bool        // windows: what that is worth by wider ones
	Belief    bool        // windows: q(v) there
	X         []float64   // predict, components: rows to predict at
	Averaged  bool        // predict, model: over hyperparameters
	Factors   bool        // model: with the factors of q(v)
	LeaveOut  bool        // predict: the rows seen in the place of X, each without itself
	Block     int         // and without so many about it, in the order of the first input; 0, 1: itself alone
	at        device.Data `wire:"-"` // X on the device, see place
	windowed  windowRows  `wire:"-"` // likewise
}

// draws reports whether the order's units make starts.
func (o *order) draws() bool {
	switch o.Phase {
	case phaseSearch, phaseTransplant, phaseHear, phaseWindows:
		return true
	case phaseTune:
		return !o.Further
	}
	return false
}

// task is what a unit reads of one kernel.
type task struct {
	Kernel int     // place in the space
	Last   *State  // at the last evaluation, nil before the first
	Known  outcome // what the phases before have found out
	Gifts  []gift  // transplants, hear: solutions of its kin to try
	// Integrals: the volume that the last evaluation has found, if that may still hold.
	Integrated laplace.Volume
	Again      bool
	Brief      bool // integrals: not the foremost, sparing with values that are much work
}

// outcome is what a round finds out about a kernel, and all that a unit writes:
// one for each of its tasks, which begins as what was known. The zero value is
// that nothing is known.
type outcome struct {
	Best       solution
	Modes      []solution        // where else it may be large: ends of ascents on all rows, what earlier evaluations found
	Chosen     bool              // Modes are what has been integrated about
	Own        []float64         // inducing inputs of its own, M x D; nil: those of all
	Factor     float64           // of the jitter
	Failure    string            // why the kernel failed
	Mistake    *guard.PanicError // and whose fault it was, if the program's
	State      *State            // what the optimiser arrived at
	ELBO       float64
	Terms      []float64      // of the ELBO, row by row on the common subsample; nil if all rows were used
	Evidence   *Evidence      // nil where only an estimate is known
	Heard      solution       // where all rows come early: what its noise is as a rough function, on all of them
	Ahead      *State         // what it predicts with in the place of State, where that is so
	Windowed   windowAscent   // what windows of neighbours say
	Volume     laplace.Volume // of the mode, where that counts
	Prediction *predicted
	Spread     *Spread       // of hyperparameters about the state; nil until asked for
	Frozen     []FrozenState // what a model has of it
}

// predicted is what a kernel predicts at an order's X.
type predicted struct {
	Mean, Var  []float64 // of f
	Noise      float64   // σ_n²
	Components []ComponentPrediction
}

// value is that of the best solution so far.
func (o *outcome) value() float64 {
	if o.Best.X == nil {
		return math.Inf(-1)
	}
	return o.Best.Value
}

// see keeps the end of an ascent, which may be another mode.
func (o *outcome) see(a *ascent) {
	if a.x != nil {
		o.Modes = append(slices.Clip(o.Modes), solution{X: a.x, Value: a.value})
	}
}

// offer takes an ascent's result if it is the kernel's best.
func (o *outcome) offer(a *ascent, source string) {
	if a.x == nil || a.value <= o.value() {
		return
	}
	o.Best = solution{X: a.x, Value: a.value, Source: source, Fresh: true, Gain: a.further()}
}

// model is what is known of a kernel of the space before any data.
type model struct {
	id       string
	expr     kernelspace.Expr
	program  *kernelspace.Program
	prior    prior
	logPrior float64 // m₀
	kin      []starts.Relation
}

// site is what a machine has of a run whatever the phase: data and inducing
// inputs on the device, the kernels compiled, how starts are drawn. Units read
// it only. Between evaluations it changes where Reoptimize changes the settings or
// the inducing inputs; the bound that a worker searches on follows, besides, the
// number of live kernels.
type site struct {
	*common
	settings  Settings
	optimizer optimizer
	models    []*model
	drawer    *starts.Drawer
	total     int       // training rows
	x, y      []float64 // inputs, weighted targets
	weights   []float64 // of rows; nil: 1
	shared    []float64 // inducing inputs of all kernels
	guesses   map[string][]float64
	gate      gate
}

// site returns the trainer's own, as the run is.
func (t *Trainer) site() *site {
	s := &site{common: &t.common, settings: t.settings, optimizer: t.optimizer, drawer: t.drawer,
		total: t.data.Rows(), x: t.data.X, y: t.weighing.y, weights: t.weighing.weights,
		shared: t.inducing, guesses: t.data.Guesses, gate: t.gate}
	for _, k := range t.kernels {
		s.models = append(s.models, k.model)
	}
	return s
}

// place puts what an order brings with it on the device.
func (s *site) place(o *order) (err error) {
	if o.Phase == phasePredict && !o.LeaveOut || o.Phase == phaseComponents {
		o.at, err = s.dev.NewData(o.X, nil, s.dim)
	}
	if o.Phase == phaseWindows {
		o.windowed, err = s.windowRows(o)
	}
	return err
}

// step is called between the steps of every optimisation.
func (s *site) step(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	if s.gate != nil {
		return s.gate(ctx)
	}
	return nil
}

// formatParams lists a kernel's hyperparameters on one line.
func (s *site) formatParams(m *model, x []float64) string {
	raw, noise := params.Raw(m.program, x, s.floor)
	text := ""
	for _, i := range m.program.Free {
		p := m.program.Params[i]
		text += fmt.Sprintf("%s[%d].%s=%.4g ", p.Base, p.Leaf+1, p.Name, raw[i])
	}
	return text + fmt.Sprintf("noise=%.4g", noise)
}

// unit is the work of a phase for some kernels, on one worker.
type unit struct {
	*site
	order    *order
	worker   *worker
	tasks    []task
	outcomes []outcome // in the order of tasks
	stop     stopped
}

// newUnit makes a unit whose outcomes are what is known.
func newUnit(ctx context.Context, s *site, o *order, w *worker, tasks []task) *unit {
	u := &unit{site: s, order: o, worker: w, tasks: tasks, outcomes: make([]outcome, len(tasks))}
	for i := range tasks {
		u.outcomes[i] = tasks[i].Known
		if st := u.outcomes[i].State; st != nil {
			copied := *st // its slices are replaced, never written into
			u.outcomes[i].State = &copied
		}
	}
	u.stop = func() error { return s.step(ctx) }
	return u
}

// doHere does a unit's work on its own worker.
func doHere(ctx context.Context, u *unit) error { return u.work(ctx) }

// work does what the order says.
func (u *unit) work(ctx context.Context) error {
	defer device.Occupy(u.worker.lane)()
	switch u.order.Phase {
	case phaseSearch:
		return u.search(ctx)
	case phaseTransplant:
		return u.transplant(ctx)
	case phaseTheta:
		return u.widen(ctx)
	case phaseTune:
		return u.tune(ctx)
	case phaseOwn:
		return u.ownInputs(ctx)
	case phaseLearn:
		return u.learn()
	case phaseEvidence:
		return u.evidence()
	case phaseHear:
		return u.hear(ctx)
	case phaseWindows:
		return u.windows(ctx)
	case phaseIntegral:
		return u.integrals(ctx)
	case phaseSpread:
		return u.widths()
	case phasePredict:
		return u.predict()
	case phaseComponents:
		return u.components()
	case phaseFreeze:
		return u.freeze()
	}
	return fmt.Errorf("%q is no phase of a round", u.order.Phase)
}

// model returns that of member i.
func (u *unit) model(i int) *model { return u.models[u.tasks[i].Kernel] }

// all returns the members.
func (u *unit) all() []int {
	out := make([]int, len(u.tasks))
	for i := range out {
		out[i] = i
	}
	return out
}

// priors returns those of the members.
func (u *unit) priors() []prior {
	out := make([]prior, len(u.tasks))
	for i := range out {
		out[i] = u.model(i).prior
	}
	return out
}

// load gives a group of the worker the unit's kernels.
func (u *unit) load(g *group) error {
	programs := make([]*kernelspace.Program, len(u.tasks))
	for i := range programs {
		programs[i] = u.model(i).program
	}
	if err := g.load(programs, u.priors()); err != nil {
		return err
	}
	for i := range u.outcomes {
		g.lane.Write(g.factor, i, []float64{u.outcomes[i].Factor})
	}
	if g != u.worker.group { // the scout
		return nil
	}
	return g.put(u.outcomes[0].Own)
}

// rows returns a choice of rows on the worker's lane.
func (u *unit) rows(s *rowSet) (device.Points, error) { return u.worker.points(u.train, s) }

// seen returns all rows that have been seen.
func (u *unit) seen() device.Points { return device.Points{Data: u.train, To: u.order.Rows} }

// seenYY is Σ y² of these.
func (u *unit) seenYY() float64 { return sumSquares(u.y[:u.order.Rows]) }

// stream returns the random numbers of member i for one purpose of the
// evaluation.
func (u *unit) stream(i, purpose int) *rand.Rand {
	return random.Stream(u.settings.Seed, u.model(i).id, u.order.Number<<10+purpose)
}

// describeFailure says why no bound could be computed for member i, with the
// hyperparameters tried.
func (u *unit) describeFailure(i int, x []float64) string {
	m := u.model(i)
	if x == nil {
		x = u.drawer.Draw(m.program, u.stream(i, 0), 0)
	}
	return fmt.Sprintf("%s: k(Z,Z) is not positive definite or the bound is not finite, even with %g times the jitter, e.g. at %s",
		m.id, u.outcomes[i].Factor, u.formatParams(m, x))
}

// scanned reports whether many values are worth their time: in a thorough search of few kernels on few rows, or of late ones.
func (u *unit) scanned() bool {
	return u.thorough() && u.fewRows() && len(u.models) <= fewLive
}

// cheap reports whether more ascents than one of a kind are worth theirs: where bounds take next to nothing besides.
func (u *unit) cheap() bool {
	m := float64(u.drawer.Inducing)
	return u.scanned() && float64(u.total)*m*m <= cheapWork
}

// fewRows reports whether the search is one on which all depends, of few rows, be it that solutions are only taken up, or of
// late kernels.
func (u *unit) fewRows() bool {
	return u.order.Thorough && u.optimizer.search().always && (u.total <= u.settings.AllRows || u.order.Late)
}

// thorough reports whether the search is one on which all depends.
func (u *unit) thorough() bool {
	return u.order.Thorough && !u.order.Resumed && u.optimizer.search().always
}
