package vbks

import (
	"slices"
	"time"

	"example.com/kestrel/device"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/kernelspace/grow"
	"example.com/kestrel/vbks/front"
	"example.com/kestrel/vbks/local"
)

// Settings are all the choices of a run that concern the algorithm. The zero
// value is not useful; start from DefaultSettings. Lengths and variances are of the
// data as they are given, which the defaults expect to be standardised; ELBOs in nats.
type Settings struct {
	Seed uint64 // of everything random

	// Inducing inputs.
	Inducing      int     // M; more than rows becomes the number of rows, with a notice; 0: as many as it takes, see Rungs
	FirstInducing int     // where Inducing is 0: what it begins with; 0: 64, or 32 for many kernels
	MostInducing  int     // where Inducing is 0; 0: as many as there are rows, within reason
	AllRows       int     // where Inducing is 0: of up to so many rows all go on to the second rung; late ones are searched closely
	Room          int     // for so many inducing inputs there is memory, where Inducing is 0; 0: for any
	MostSeconds   float64 // where Inducing is 0: no rung is begun that would end later, in s; 0: none. By the clock
	Placement     string  // one of inducing.Methods
	Own           string  // one of OwnNames: whether the best kernels get inducing inputs of their own; "": "off"
	Windows       bool    // log evidence by windows of neighbours, where Inducing is 0 and errors are integrated over
	Bound         string  // one of BoundNames: on which "collapsed" searches hyperparameters; "": "elbo"
	// On the diagonal of k(Z,Z).
	Jitter device.Jitter

	// Optimisation.
	Optimizer       string  // one of OptimizerNames
	Hyperparameters string  // "point", "diagonal", "full"
	Evidence        string  // one of EvidenceNames: the local ELBO, with its mode's volume, integrated by draws; "": "mode"
	ThetaPrior      bool    // log p(θ) in the local ELBO ("point" only; the others always have it)
	Starts          int     // starts of each kernel at each evaluation besides its last optimum: fresh, shaken, recombined
	NoiseFloor      float64 // least σ_n², as a fraction of var(y)
	LearningRate    float64 // of Adam
	ThetaSamples    int     // samples of q(θ) for each gradient
	SharedPeriod    bool    // one period for all columns of a periodic leaf
	ARD             bool    // one length scale per column, for all leaves
	Transplants     bool    // try solutions of related kernels as starts
	Likelihood      string  // one of LikelihoodNames; "": "gaussian"
	Priors          string  // one of PriorNames; "" and "auto" are "broad"
	Growth          Growth  // of the space of kernels
	// Line is a linear mean function that all kernels have, standardised; nil: none.
	Line *kernelspace.Line

	// Schedule.
	Batch         int           // B: rows of a minibatch
	EvaluateEvery float64       // e: proportion of the rows that each evaluation adds
	Steps         int           // stochastic steps (or L-BFGS iterations) of an evaluation
	Refine        int           // evaluations at proportion 1 after all data are used
	TimeBudget    time.Duration // 0: none
	ELBORows      int           // rows of the common subsample; 0: all

	// Belief over kernels.
	PriorVariance float64 // s of p(g) = N(m0, s I)
	EvidenceScale float64 // τ: nats of local ELBO that count as one
	Samples       int     // S: of q(g)
	Errors        string  // of local ELBOs: "integrate" over them, or "ignore"
	AutoPruneMass float64 // prune kernels whose posterior stays below this, at most half of them at once; 0: never
	AutoPruneWait int     // for so many evaluations
	AutoPruneKeep int     // but keep at least so many

	// Prediction.
	Top     int    // kernels averaged over; 0: all
	Weights string // one of WeightNames; "" and "auto" are "posterior"
	// Calibrate is one of CalibrateNames; "" is "none".
	Calibrate string
	// Local is one of local.Names; "" is "none". See Trainer.Local.
	Local string
	// PredictTheta is one of PredictThetaNames: hyperparameters at their mode, or
	// averaged over; "" is "mode".
	PredictTheta string
}

// StatedShare is of the prior what kernels that are stated have together, as a rule.
const StatedShare = 0.5

// Growth says how the space of kernels grows while the run goes on: neighbours of the best
// in the grammar of its leaves enter, and the least leave.
type Growth struct {
	On     bool
	Live   int     // kernels that are compared, at most; a larger space shrinks to that
	Rows   int     // on which it grows first, see Settings.GrowRows; 0: all
	Leaves int     // of a kernel, at most; grow.UsualLeaves: or two more than the largest of the space
	Ratio  float64 // of the prior of all kernels with a leaf more to that of those with one less
	Stated float64 // share of the prior that the kernels which the space begins with have together, but for leaves; < 0: StatedShare
	Change bool    // change points, too, where the space has none
}

// Options are those of the grammar that a space over some columns grows in.
func (g *Growth) Options(columns []string) grow.Options {
	leaves := g.Leaves
	if leaves == grow.UsualLeaves {
		leaves = 0
	}
	stated := g.Stated
	if stated < 0 {
		stated = StatedShare
	}
	return grow.Options{Columns: columns, Change: g.Change, Leaves: leaves, Ratio: g.Ratio, Stated: stated}
}

// Growth ended after 16 to 32 kernels of series of 18 to 90 rows, from three or four bases, and after 40 to 160 of data sets of 500
// to 2,000 rows that were drawn from kernels of four to six leaves.
const (
	likelyLeaves = 4 // of kernels of a growing space
	unpromised   = 8 // leaders whose neighbours are tried, where it is not known what they promise
)

// likelyLeaders is of how many kernels the neighbours are tried, where it is known what they promise: the more rows, the more of them
// are in doubt.
func likelyLeaders(rows int) int {
	switch {
	case rows <= 100:
		return 1
	case rows <= 400:
		return 2
	}
	return 3
}

// Late is about how many kernels come late in a space of such kernels over some columns, of so many rows: the neighbours of a few
// leaders or, where kernels are stated, of one. Larger kernels are what its leaves make one after the other, added and multiplied.
func (g *Growth) Late(space []kernelspace.Expr, columns []string, rows int) (late int, larger []kernelspace.Expr, err error) {
	grammar, err := grow.New(space, g.Options(columns))
	if err != nil {
		return 0, nil, err
	}
	e := space[0]
	for i, kind := range grammar.Kinds() {
		if e.NumLeaves() >= min(likelyLeaves, grammar.Leaves()) {
			break
		}
		if e = kernelspace.Sum(e, kind); i%2 == 1 {
			e = kernelspace.Product(e, kind)
		}
		larger = append(larger, e)
	}
	late = min(front.Wide, len(grammar.Neighbours(e)))
	switch {
	case rows > PromisedRows:
		late *= unpromised
	case !slices.ContainsFunc(space, func(e kernelspace.Expr) bool { return grammar.Preferred(e) > 0 }): // which few neighbours make up for
		late *= likelyLeaders(rows)
	}
	return late, larger, nil
}

const (
	// With more inducing inputs fewer kernels of a growing space are compared at a time, but
	// leastLive are.
	leastLive = 8
	// A space grows with as many inducing inputs as a product of the rows seen with them takes growWork.
	growWork = 6e8
)

// GrowLive is how many kernels of a growing space are compared at a time on n of all rows with m inducing inputs: as many as
// take about as long as the most that may be do with all rows and the first inducing inputs.
func (s Settings) GrowLive(all, n, first, m int) int {
	live := s.Growth.Live
	if m <= first {
		return live
	}
	of := float64(all) * float64(first) / (float64(n) * s.Like(all, m))
	return min(live, max(leastLive, int(float64(live)*of)))
}

// GrowsWith reports whether a space may grow while its kernels are compared on n rows with m inducing inputs.
func (s Settings) GrowsWith(n, m int) bool {
	like := s.Like(n, m)
	return float64(n)*like*like <= growWork
}

// GrowRows returns on how many of n rows a space may grow before it does on all of them, where inducing inputs show too little: on
// few that can all be inducing inputs, where that would take long of all. n: it does not.
func (s Settings) GrowRows(n int) int {
	g := &s.Growth
	if !g.On || g.Rows == 0 || !s.autoInducing() || !s.Dear(n) || n <= g.Rows || n > PromisedRows || s.most(n) < n {
		return n
	}
	if e, err := s.Effort(n); err != nil || !e.Exact() {
		return n
	}
	return g.Rows
}

// dearShare of AllRows are 768, half as many again as Growth.Rows: with all of them as inducing inputs a bound takes over three times
// as long.
const dearShare = 0.75

// Dear reports whether late kernels are searched on some of n rows first, where all of them are inducing inputs.
func (s Settings) Dear(n int) bool { return float64(n) > dearShare*float64(s.AllRows) }

// DefaultSettings returns the settings that a config without further keys has.
func DefaultSettings() Settings {
	return Settings{
		Seed:            1,
		Placement:       "auto",
		Bound:           tightBound,
		Own:             autoOwn,
		Windows:         true,
		AllRows:         1024,
		Jitter:          device.Jitter{Relative: 1e-9},
		Optimizer:       "auto",
		Hyperparameters: "point",
		Evidence:        autoEvidence,
		ThetaPrior:      true,
		Starts:          4,
		NoiseFloor:      1e-6,
		LearningRate:    0.01,
		ThetaSamples:    1,
		Transplants:     true,
		Batch:           128,
		EvaluateEvery:   0.1,
		Steps:           40,
		Refine:          2,
		ELBORows:        10000,
		PriorVariance:   10,
		EvidenceScale:   1,
		Samples:         2000,
		Errors:          "integrate",
		AutoPruneWait:   3,
		AutoPruneKeep:   10,
		Weights:         "auto",
		Likelihood:      gaussianLikelihood,
		Priors:          "auto",
		Growth:          Growth{Live: 32, Rows: 512, Leaves: grow.UsualLeaves, Ratio: 0.5, Stated: -1},
		PredictTheta:    autoTheta,
		Calibrate:       CalibrateNames()[0],
		Local:           local.Auto,
	}
}

// What Likelihood may be.
const (
	autoLikelihood     = "auto"
	gaussianLikelihood = "gaussian"
)

// StudentLikelihood is the Likelihood of Student's t whatever the rows say.
const StudentLikelihood = "student"

// LikelihoodNames lists what Settings.Likelihood may be: noise is normal, or Student's t, or
// that where the rows speak for it.
func LikelihoodNames() []string {
	return []string{autoLikelihood, gaussianLikelihood, StudentLikelihood}
}

// reweighs reports whether weights of rows are looked for from evaluation to evaluation.
func (s Settings) reweighs() bool {
	return s.Likelihood == autoLikelihood || s.Likelihood == StudentLikelihood
}

// What Priors may be.
const seriesPriors = "series"

// PriorNames lists what Settings.Priors may be; what "auto" is the data say.
func PriorNames() []string { return []string{"auto", "broad", seriesPriors} }

// integrates reports whether the belief is averaged over the errors of local ELBOs.
func (s Settings) integrates() bool { return s.Errors == "integrate" }

// sampled is the size of the common subsample of n rows seen.
func (s Settings) sampled(n int) int {
	if s.ELBORows <= 0 {
		return n
	}
	return min(n, s.ELBORows)
}

// What Bound may be.
const (
	elboBound  = "elbo"
	tightBound = "tight"
)

// BoundNames lists what Settings.Bound may be.
func BoundNames() []string { return []string{elboBound, tightBound} }

// tight reports whether hyperparameters are searched on Artemev's bound.
func (s Settings) tight() bool { return s.Bound == tightBound && s.pointEstimates() }

// What Evidence may be.
const (
	modeEvidence    = "mode"
	laplaceEvidence = "laplace"
	drawsEvidence   = "draws"
	autoEvidence    = "auto"
)

// EvidenceNames lists what Settings.Evidence may be.
func EvidenceNames() []string {
	return []string{autoEvidence, drawsEvidence, laplaceEvidence, modeEvidence}
}

// evidence is what Evidence comes to with an optimizer that has bounds or not, and in a space that grows or not. Forecasts of
// series were weighed, and measured, with densities at the mode; with informative priors and few rows integrals cost
// more than they say. But where the space grows kernels have few hyperparameters or many, and what is narrow must not count
// for more than it is.
func (s Settings) evidence(bounded, grows bool) string {
	switch {
	case s.Evidence != autoEvidence:
		return s.Evidence
	case bounded && s.densities() && (grows || s.Priors != seriesPriors):
		return drawsEvidence
	}
	return modeEvidence
}

// Integrates reports whether the evidence of a space that begins so is integrated over hyperparameters where all rows are in use
// and the optimizer has bounds.
func (s Settings) Integrates() bool {
	return s.evidence(true, s.Growth.On) == drawsEvidence && s.densities()
}

// laplace reports whether local ELBOs are densities at a mode whose volume counts.
func (s Settings) laplace() bool {
	return (s.Evidence == laplaceEvidence || s.Evidence == drawsEvidence) && s.densities()
}

// densities reports whether local ELBOs are densities at a mode.
func (s Settings) densities() bool { return s.pointEstimates() && s.ThetaPrior }

// pointEstimates reports whether θ has no belief.
func (s Settings) pointEstimates() bool { return s.Hyperparameters == "point" }
