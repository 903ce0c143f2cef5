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
func (e Effort) Work(n, live, inducing int) float64 { return e.work(n, n, live, inducing, true) }

// work is that of any evaluation, when seen of all rows have been seen, but for the estimates of local ELBOs.
func (e Effort) work(seen, all, live, inducing int, last bool) float64 {
	end := e.Ending(seen, all, live, inducing, last)
	s, draws := e.settings, 1.0
	if !s.pointEstimates() {
		draws = thetaDraws
	}
	rows := draws*float64(seen)*float64(end.Exact) + float64(end.Fitted)*float64(live-end.Exact)
	for _, stage := range end.Stages {
		rows += perIteration * float64(stage.Steps) * float64(stage.Rows) * float64(stage.Kernels)
	}
	if end.Stages == nil && e.rule != nil {
		rows += perStep * float64(s.Steps) * float64(max(1, s.ThetaSamples)) * float64(min(s.Batch, seen)+inducing) * float64(live)
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
// local ELBO, in gradients of it; counted in runs of series, tables and functions drawn from kernels.
const (
	foreseenSearch   = 38.0  // on all rows seen: the last optimum, drafts that are followed, transplants
	foreseenThorough = 90.0  // where all depends on it
	foreseenKin      = 1.5   // and for each other kernel that may give its solution
	foreseenBeaten   = 0.65  // of fresh starts then: what is known is better
	foreseenAgain    = 60.0  // where solutions are only taken up with more inducing inputs
	foreseenFresh    = 19.0  // on few rows, for each start
	foreseenFixed    = 5.0   // products of M x M matrices, in the place of as many times M rows
	foreseenEntry    = 680   // multiplications that an entry of a covariance takes, with its derivatives
	foreseenWhole    = 1.0   // multiplications for each of rows³, with k(X,X) alone, of which half the entries are the others
	foreseenLeast    = 1.5e6 // multiplications that take as long as what does not grow with the rows
	foreseenHalf     = 0.3   // of the rows, from where a third of the starts are enough
	foreseenScouting = 20.0  // where it is not, on the scout: not at every evaluation
	foreseenOnCard   = 5e11  // beside steps on a card: matrices' way to the host, the belief, and that steps fill it less than passes do
	foreseenWindow   = 3.5e5 // multiplications that a row takes in a gradient of log evidence by windows
	foreseenValue    = 0.55  // a value without its gradient
	foreseenDear     = 45 + 120*foreseenValue
	foreseenModes    = 220.0                 // an integral: its modes and their curvatures
	foreseenDraws    = 400.0 * foreseenValue // and draws
	foreseenAverage  = 85.0                  // a prediction averaged over hyperparameters
)

// Prospect is an evaluation that is foreseen.
type Prospect struct {
	Rows, Seen  int // of the run, and in use
	First       int // kernels at first
	Kernels     int // that it compares
	Close       int // of these within IntegralNats of the best
	Rung, Rungs int // the place of its inducing inputs among those planned, and how many these are
	Inducing    int
	Last        bool // it is the last one planned on its rung
	OnCard      bool // computed on cards
	OneInput    bool // rows have one order
}

// Foreseen is about what an evaluation takes. It has no unit: what it is good for
// are ratios between evaluations of one run.
func (s Settings) Foreseen(p Prospect) float64 {
	p.Rows = max(1, p.Rows)
	p.Seen = max(1, min(p.Seen, p.Rows))
	p.Inducing = max(1, min(p.Inducing, p.Rows))
	p.Kernels = max(1, p.Kernels)
	p.First = max(p.First, p.Kernels)
	e, err := s.Effort(p.Rows)
	if err != nil {
		return float64(p.Kernels)
	}
	if p.OneInput && p.Rung == 0 && p.Last && p.Seen == p.Rows {
		apart := p
		apart.OneInput = false
		return s.Foreseen(apart) + foreseenWindow*s.WindowRows(p.Rows, p.Kernels)
	}
	if !e.Exact() {
		rows, scout := ScoutSize(p.Kernels, p.Inducing)
		each := foreseenScouting*s.boundWork(p.Rows, min(rows, p.Seen), scout) + float64(s.sampled(p.Seen))*rowWork(p.Inducing)
		if p.OnCard {
			each += foreseenOnCard
		}
		return float64(p.Kernels)*each + e.work(p.Seen, p.Rows, p.Kernels, p.Inducing, p.Last)
	}
	starts, search := float64(max(1, s.Starts)), foreseenSearch
	all, again := p.Seen == p.Rows, !s.foreseenInFull(&p)
	switch {
	case again:
		starts, search = 0, foreseenAgain
	case all && !s.foreseenLater(&p):
		starts, search = foreseenBeaten*starts, foreseenThorough+foreseenKin*float64(p.Kernels)
	case !all && float64(p.Seen) >= foreseenHalf*float64(p.Rows):
		starts = math.Ceil(starts / 3)
	}
	work := foreseenFresh*starts*s.boundWork(p.Rows, min(p.Seen, ScreenRows), p.Inducing) + search*s.boundWork(p.Rows, p.Seen, p.Inducing)
	return float64(p.Kernels)*work + s.foreseenIntegrals(&p, again)
}

// foreseenInFull reports whether kernels are searched for in full without a scout, as Trainer.researches has it.
func (s Settings) foreseenInFull(p *Prospect) bool {
	like, first := s.Like(p.Rows, p.Inducing), float64(min(p.Rows, s.first(p.First)))
	return p.Rung == 0 || p.Rung == 1 && p.Rows <= s.AllRows ||
		float64(p.Kernels)*like*like <= searchedRung*float64(p.First)*first*first
}

// foreseenLater reports whether all kernels are searched for again with more inducing inputs.
func (s Settings) foreseenLater(p *Prospect) bool {
	return p.Rung == 0 && p.Rungs > 1 && p.Kernels > 1 && p.Rows <= s.AllRows
}

// foreseenIntegrals is what the integrals over hyperparameters take, 0 where there are none.
func (s Settings) foreseenIntegrals(p *Prospect, again bool) float64 {
	workOf := func(m int) float64 { like := s.Like(p.Rows, m); return float64(p.Rows) * like * like }
	work, kernels := workOf(p.Inducing), float64(p.Close)
	heavy := work > integralWork
	switch {
	case !s.Integrates() || p.Seen < p.Rows:
		return 0
	case heavy && (work > lastWork || p.Rung+1 < p.Rungs || !p.Last):
		return 0
	case !heavy && again && p.Kernels > integralKernels:
		return 0
	case s.foreseenLater(p):
		return kernels * foreseenDear * s.boundWork(p.Rows, p.Rows, p.Inducing)
	}
	brief := 0.0
	if heavy {
		kernels = math.Min(kernels, closeKernels)
		brief = math.Max(0, kernels-briefAfter)
	}
	on, corrected := p.Inducing, 0.0
	for _, m := range standIns {
		if workOf(m)*standGain <= work {
			on, corrected = m, standDraws*foreseenValue*s.boundWork(p.Rows, p.Rows, p.Inducing)
			break
		}
	}
	times := math.Max(1, math.Min(mostTimes, math.Floor(drawnWork/workOf(on))))
	one := (foreseenModes+foreseenDraws*times)*s.boundWork(p.Rows, p.Rows, on) + corrected
	return (kernels-brief)*one + brief*foreseenDear*s.boundWork(p.Rows, p.Rows, p.Inducing)
}

// WindowRows is of about how many rows, one after the other, gradients of log evidence by windows are computed in a run of n
// rows of one input, for so many kernels at first; 0 where there is none.
func (s Settings) WindowRows(n, kernels int) (rows float64) {
	if rungs := s.Rungs(n, kernels); !s.windowed() || s.Growth.On || rungs[len(rungs)-1] >= n {
		return 0
	}
	left := kernels
	for level := nextLevel(0, n); ; level = nextLevel(level, n) {
		times := 10.0
		if level == nextLevel(0, n) {
			times = 25 // with values and kin
		} else {
			if level == n && n >= curvedTimes*windowBlock*windowInducing {
				times = 5 // by Newton's steps
			}
			_, most := windowMost(level, n)
			left = min(left, most)
		}
		if rows += times * float64(left) * float64(level); level == n {
			return rows
		}
	}
}

// ForeseenScores is about what predictions take after so many of all rows, averaged over the hyperparameters of so many
// kernels: those of AveragedWeight and more, and of BriefWeight where further evaluations follow. Its unit is that
// of Foreseen.
func (s Settings) ForeseenScores(all, seen, kernels, inducing int) float64 {
	if e, err := s.Effort(max(1, all)); err != nil || !e.Exact() || !s.averages(seen, all) {
		return 0
	}
	return float64(kernels) * foreseenAverage * s.boundWork(all, seen, inducing)
}

// boundWork is what a bound with its gradient takes on some of the n rows, however few.
func (s Settings) boundWork(n, rows, m int) float64 {
	r, z := float64(rows), float64(m)
	if m == n && rows == n && s.wholeAt(n, m) { // k(X,X) alone
		return foreseenLeast + r*r*(foreseenWhole*r+foreseenEntry/2)
	}
	return foreseenLeast + z*z*(r+foreseenFixed*z) + foreseenEntry*z*(r+z)
}
