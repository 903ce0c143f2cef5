package vbks

import (
	"context"
	"fmt"
	"math"

	"example.com/kestrel/kernelspace"
)

// optimizer is a way from the search's solutions to local ELBOs. It keeps
// nothing itself: what a kernel carries from one evaluation to the next is its
// State. To add one, implement this in a file of its name, by the help of
// stochastic where it makes steps on minibatches, and enter it in
// optimizerTable.
type optimizer interface {
	// scout says on how many of n rows seen, and with how many of m inducing
	// inputs, solutions are searched for while so many kernels are live.
	scout(live, n, m int) (rows, inducing int)
	// search says how the search treats what an earlier evaluation arrived at.
	search() searchTerms
	// complete takes the round's live kernels from what the search has found to
	// their states and local ELBOs, by phases of units.
	complete(ctx context.Context, r *round) error
	// bounded reports whether predictions need the bound that is searched on.
	bounded() bool
	// predict predicts with a unit whose kernels its worker's group is loaded
	// with, as the last evaluation left them: into outcomes.
	predict(u *unit) error
	// components adds the components of the only kernel of such a unit to out.
	components(u *unit, parts []kernelspace.Component, out []ComponentPrediction) error
	// freeze writes down what such a unit's kernels predict with: into outcomes.
	freeze(u *unit) error
	// stepping is how a learner makes steps, nil where there is none.
	stepping() rule
}

// searchTerms is how the search treats what an earlier evaluation arrived at.
type searchTerms struct {
	always              bool    // it is made at every evaluation
	further             bool    // it takes the last solutions further, which else the optimiser does
	restart, transplant float64 // nats by which a fresh start, a transplant must be better than a solution that goes on
}

// resumed returns the L-BFGS iterations that the last solutions get, of steps.
func (t searchTerms) resumed(steps int) int {
	if t.further {
		return steps
	}
	return 0
}

// namedOptimizer is an entry of optimizerTable.
type namedOptimizer struct {
	name string
	optimizer
}

func optimizerTable() []namedOptimizer {
	return []namedOptimizer{
		{"collapsed", collapsedOptimizer{}},
		{"natural", stochastic{natural{most: mostExactRows}}},
		{"adam", stochastic{adam{}}},
	}
}

// autoOptimizer leaves the choice to the number of rows.
const autoOptimizer = "auto"

// collapsedRows is the number of training rows up to which the collapsed bound
// on all of them is cheap.
const collapsedRows = 4000

// OptimizerNames lists what Settings.Optimizer may be.
func OptimizerNames() []string {
	names := []string{autoOptimizer}
	for _, o := range optimizerTable() {
		names = append(names, o.name)
	}
	return names
}

// resolved is the optimiser's name for a run of so many training rows.
func (s Settings) resolved(rows int) string {
	switch {
	case s.Optimizer != autoOptimizer:
		return s.Optimizer
	case rows <= collapsedRows:
		return "collapsed"
	}
	return "natural"
}

// optimizerOf finds an optimiser by its name.
func optimizerOf(name string) (optimizer, error) {
	for _, o := range optimizerTable() {
		if o.name == name {
			return o.optimizer, nil
		}
	}
	return nil, fmt.Errorf("optimizer %q is unknown (known: %q)", name, OptimizerNames())
}

// Effort says what an evaluation consists of beside the search, for estimates of
// its time and memory.
type Effort struct {
	settings Settings
	rule     rule // nil: nothing
}

// Effort returns what a run of so many training rows does, whose optimiser must
// be one of OptimizerNames.
func (s Settings) Effort(rows int) (Effort, error) {
	o, err := optimizerOf(s.resolved(rows))
	if err != nil {
		return Effort{}, err
	}
	return Effort{s, o.stepping()}, nil
}

// Exact reports whether the bound that is searched on is the local ELBO.
func (e Effort) Exact() bool { return e.rule == nil }

// Ending is what an evaluation ends with, beside the estimates of local ELBOs.
type Ending struct {
	Stages []TuningStage // by which hyperparameters are tuned on the collapsed bound, in the place of steps; nil: steps
	Fitted int           // rows that q(v) is fitted to then, of kernels without an exact pass; 0: it is what steps have led to
	Exact  int           // kernels, the best, that an exact pass over all rows seen is made for
}

// Ending returns what an evaluation ends with when seen of all rows have been seen
// and so many kernels are live. last is that of the run.
func (e Effort) Ending(seen, all, live, inducing int, last bool) Ending {
	if e.rule == nil {
		return Ending{}
	}
	return e.rule.ending(e.settings, seen, all, live, inducing, last)
}

const (
	// What an iteration of L-BFGS takes, in values of the bound on the same rows: its
	// evaluations, and three values for one with its gradient.
	perIteration = 1.5 * 3
	// A step that moves θ takes as much for each row of its minibatch, and for M rows.
	perStep = 3
	// An entry of k(Z,X) takes as long as so many multiplications.
	perEntry = 200
)

// rowWork is what a pass takes for a row, in multiplications and additions.
func rowWork(inducing int) float64 { return float64(inducing) * float64(inducing+perEntry) }

// Work is about what the last evaluation of so many kernels takes beside its search,
// in multiplications and additions.
func (e Effort) Work(n, live, inducing int) float64 {
	end := e.Ending(n, n, live, inducing, true)
	s, draws := e.settings, 1.0
	if !s.pointEstimates() {
		draws = thetaDraws
	}
	rows := draws*float64(n)*float64(end.Exact) + float64(end.Fitted)*float64(live-end.Exact)
	for _, stage := range end.Stages {
		rows += perIteration * float64(stage.Steps) * float64(stage.Rows) * float64(stage.Kernels)
	}
	if end.Stages == nil && e.rule != nil {
		rows += perStep * float64(s.Steps) * float64(max(1, s.ThetaSamples)) * float64(s.Batch+inducing) * float64(live)
	}
	return rows * rowWork(inducing)
}

// Moving is the share of the steps that move hyperparameters.
func (e Effort) Moving() float64 {
	if e.rule == nil {
		return 0
	}
	return e.rule.moving()
}

// Carried counts the M x M matrices that a kernel carries from one evaluation to
// the next.
func (e Effort) Carried() int {
	if e.rule == nil {
		return 0
	}
	return e.rule.carried()
}

// What an evaluation of one kernel consists of where the bound that is searched on is the
// local ELBO, in gradients of it; measured as those of estimates of a run's time.
const (
	foreseenSearch   = 90.0  // on all rows seen: the last optimum, the drafts, transplants
	foreseenAgain    = 80.0  // where solutions are only taken up with more inducing inputs
	foreseenEnd      = 1.5   // times as many once all rows are used, with volumes of modes and more drafts
	foreseenFresh    = 19.0  // on few rows, for each start
	foreseenFixed    = 8.0   // products of M x M matrices, in the place of as many times M rows
	foreseenEntry    = 100   // multiplications that an entry of a covariance takes
	foreseenWhole    = 1.2   // multiplications for each of rows³, with k(X,X) alone
	foreseenLeast    = 1.5e6 // multiplications that take as long as what does not grow with the rows
	foreseenStarts   = 1.5   // times as long with more starts once all of few rows are used
	foreseenHalf     = 0.3   // of the rows, from where half as many starts are enough
	foreseenScouting = 20.0  // where it is not, on the scout: not at every evaluation
)

// Foreseen is about what an evaluation takes that compares so many kernels on a rung with m
// inducing inputs when seen of n rows are in use. It has no unit: what it is good for
// are ratios between evaluations of one run.
func (s Settings) Foreseen(n, seen, kernels, rung, m int) float64 {
	n, seen = max(1, n), max(1, min(seen, n))
	m = max(1, min(m, n))
	kernels = max(1, kernels)
	e, err := s.Effort(n)
	if err != nil {
		return float64(kernels)
	}
	if !e.Exact() {
		steps := perStep * float64(s.Steps) * float64(min(s.Batch, seen))
		rows, scout := ScoutSize(kernels, m)
		work := float64(kernels) * (foreseenScouting*s.boundWork(n, min(rows, seen), scout) + (steps+float64(seen))*rowWork(m))
		if seen == n {
			work += e.Work(n, kernels, m)
		}
		return work
	}
	starts, search := float64(max(1, s.Starts)), foreseenSearch
	if p := float64(seen) / float64(n); p >= foreseenHalf && p < 1 {
		starts = math.Ceil(starts / 2)
	}
	if seen == n {
		search *= foreseenEnd
		if n <= s.AllRows {
			starts *= foreseenStarts
		}
	}
	if like := s.Like(n, m); rung > 1 || rung == 1 && n > s.AllRows {
		if first := float64(s.first(kernels)); like*like > searchedRung*first*first {
			starts, search = 0, foreseenAgain
		}
	}
	fresh := 0.7 * foreseenFresh * starts // of all starts some go on to drafts
	return float64(kernels) * (fresh*s.boundWork(n, min(seen, ScreenRows), m) + search*s.boundWork(n, seen, m))
}

// boundWork is what a bound with its gradient takes on some of the n rows.
func (s Settings) boundWork(n, rows, m int) float64 {
	r, z := float64(rows), float64(min(m, rows))
	if m == n && s.wholeAt(n, m) { // k(X,X) alone
		return foreseenLeast + r*r*(foreseenWhole*r+foreseenEntry)
	}
	return foreseenLeast + z*z*(r+foreseenFixed*z) + foreseenEntry*z*(r+z)
}
