package vbks

import (
	"context"
	"fmt"

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
