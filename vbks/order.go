package vbks

import (
	"math"
	"slices"

	"kestrel/device"
	"kestrel/internal/guard"
	"kestrel/vbks/laplace"
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
	phaseLearn      phase = "learn"
	phaseEvidence   phase = "evidence"
	phaseIntegral   phase = "integrals over hyperparameters"
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
	Gain   float64 // in the last evaluations of the ascent that led here

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
	Tuned     *rowSet     // tune: on which hyperparameters are tuned
	Steps     int         // tune: L-BFGS iterations at most
	Further   bool        // tune: from what an earlier stage has arrived at, only
	Settled   bool        // learn: hyperparameters have been tuned, no steps follow
	Fitted    *rowSet     // learn: which q(v) is fitted to, as a sample of the rows seen; nil: none
	Estimated *rowSet     // learn: on which local ELBOs are estimated
	Pass      bool        // learn: it ends with an exact pass over all rows seen
	Tight     bool        // evidence: by products with all of k(X,X)
	Volumes   bool        // evidence: of modes, too
	Thorough  bool        // search: all depends on it
	Resumed   bool        // search: solutions are taken further, no others are looked for
	Donors    []gift      // search: the last evaluation's solutions, best first
	Sparing   bool        // transplants: only what changes nothing, and a few iterations
	Time      int         // transplants: how often there have been some in this round
	X         []float64   // predict, components: rows to predict at
	Averaged  bool        // predict, model: over hyperparameters
	Factors   bool        // model: with the factors of q(v)
	LeaveOut  bool        // predict: the rows seen in the place of X, each without itself
	at        device.Data // X on the device, see place
}

// task is what a unit reads of one kernel.
type task struct {
	Kernel int     // place in the space
	Last   *State  // at the last evaluation, nil before the first
	Known  outcome // what the phases before have found out
	Gifts  []gift  // transplants: solutions of its kin to try
}

// outcome is what a round finds out about a kernel, and all that a unit writes:
// one for each of its tasks, which begins as what was known. The zero value is
// that nothing is known.
type outcome struct {
	Best       solution
	Modes      []solution        // where else it may be large: ends of ascents on all rows, what earlier evaluations found
	Chosen     bool              // Modes are what has been integrated about
	Factor     float64           // of the jitter
	Failure    string            // why the kernel failed
	Mistake    *guard.PanicError // and whose fault it was, if the program's
	State      *State            // what the optimiser arrived at
	ELBO       float64
	Terms      []float64      // of the ELBO, row by row on the common subsample; nil if all rows were used
	Evidence   *Evidence      // nil where only an estimate is known
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
	o.Best = solution{X: a.x, Value: a.value, Source: source, Fresh: true, Gain: a.lately()}
}
