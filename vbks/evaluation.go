package vbks

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"example.com/kestrel/internal/guard"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks/local"
	"example.com/kestrel/vbks/noise"
	"example.com/kestrel/vbks/params"
)

// Status is what has become of a kernel.
type Status string

const (
	Live   Status = "live"   // it takes part
	Pruned Status = "pruned" // taken out, or left out; it can be restored, by belief only until a growing space lets it leave
	Failed Status = "failed" // it cannot be computed
)

// Candidate is a kernel of the space with its prior weight.
type Candidate struct {
	Expr   kernelspace.Expr // made canonical
	Weight float64          // relative to the others', positive and finite; 0, not stated, is 1
	// Known is what is known beforehand of each raw parameter of the canonical
	// expression, in standardised units, and last of the noise's variance; nil: nothing.
	Known []kernelspace.Known
}

func (c Candidate) weight() float64 {
	if c.Weight == 0 {
		return 1
	}
	return c.Weight
}

// Program compiles the candidate for inputs, with what is known of its hyperparameters.
func (c Candidate) Program(o kernelspace.Options) (*kernelspace.Program, error) {
	p, err := kernelspace.Compile(c.Expr.Canonical(), o)
	if err == nil && c.Known != nil {
		p, err = p.Know(c.Known)
	}
	return p, err
}

// Training is what a trainer learns from: rows in the order of the stream,
// standardised. The slices are not modified.
type Training struct {
	X   []float64 // N x Dim, row-major
	Y   []float64 // N
	Dim int       // number of inputs

	Seasons []float64 // of a series in time: periods that the calendar knows, in units of X, the shortest first
	Cycle   float64   // of a series in time: a period that the values show and the calendar does not know, in units of X; 0: none
	// Gap is how many successive rows, in the order of the first input, are to be predicted as a rule
	// that lie between rows which are known; 0, 1: single ones, or no order says what lies between.
	Gap   int
	Clock *local.Clock // of several inputs, of which the first is time and the others are made of it; nil: none
	// Alike says, of several inputs whose rows are asked for among those known, which are levels of a
	// category; nil: they are not asked for so.
	Alike []bool
	Truth string // id of the kernel that they were drawn from, "" if not known: what comes out is held against it
	// Guesses are free vectors that the search begins from, too, by kernel: of studies that
	// know more than the data say.
	Guesses map[string][]float64

	NoiseSD []float64 // N, above 0: the noise's standard deviation in each row but for a common factor; nil: not known
	NoiseBy int       // 1 + the input whose values have noise of their own; 0: none

	First int // rows, the first ones, that priors, the noise's floor and candidate periods are of; 0: all
	Begin int // rows, the first ones, that there are at the beginning; Grow announces others. 0: all
}

// Rows returns N.
func (d Training) Rows() int { return len(d.Y) }

// Levels are the values of an input in the rows that priors are of, as kernelspace.Options has them:
// rows that come later add none.
func (d Training) Levels(column int) (levels []float64) {
	seen := map[float64]bool{}
	for r := range d.deciding() {
		if v := d.X[r*d.Dim+column]; !seen[v] {
			seen[v] = true
			if levels = append(levels, v); len(levels) > kernelspace.MaxLevels {
				break
			}
		}
	}
	slices.Sort(levels)
	return levels
}

// Evaluation is what is known after a round: every kernel's local ELBO and the
// belief over them.
type Evaluation struct {
	Index      int            // counted from 1
	Proportion float64        // of the training rows seen
	RowsSeen   int            // training rows, the first of the stream
	Inducing   int            // M
	Kernels    []KernelResult // every kernel of the space, in its order
	Objective  float64        // total ELBO at the optimum of q(g), nats
	// Calibration is of predictions after it, see Trainer.Calibrate; nil: none
	Calibration *Calibration
	Noise       *noise.Model        // how that of rows differs; nil: it is normal, equal in all
	Entered     []Entered           // kernels that have come with it, where the space grows; not part of a checkpoint
	Left        []string            // ids of those that have gone with it, likewise
	Front       *Front              // where a space that grows stands, likewise
	Notices     []Notice            // what the user should know, once
	Broken      []*guard.PanicError // why kernels have failed for which the program is to blame; not part of a checkpoint
}

// Front is where a space that grows stands.
type Front struct {
	Leaders int     `json:"leaders"` // whose neighbours are tried
	Waiting int     `json:"waiting"` // of these neighbours, those that there was no room for
	Tried   int     `json:"tried"`   // kernels, with those that are compared
	Of      float64 `json:"of"`      // kernels of the grammar
	Over    bool    `json:"over"`    // no kernel is left to try

	Rows   int `json:"rows,omitempty"`   // on which it grows until none is left, before it does on all; 0: on all
	Leaves int `json:"leaves,omitempty"` // of a kernel of the grammar, at most
	Beyond int `json:"beyond,omitempty"` // neighbours that are not tried, since others of the same kernel promise more
}

// standing is where the space stands, nil where it does not grow.
func (x *expansion) standing(kernels []*kernel) *Front {
	if x.grammar == nil || !x.on {
		return nil
	}
	f := &Front{Leaders: x.planned.Leaders, Waiting: x.planned.Waiting, Tried: len(x.tried), Over: x.over, Leaves: x.grammar.Leaves(),
		Beyond: x.planned.Beyond}
	for _, k := range kernels {
		if _, again := x.tried[k.id]; !again {
			f.Tried++
		}
	}
	f.Of, _ = new(big.Float).SetInt(x.grammar.Count()).Float64()
	return f
}

// Entered is a kernel that was not in the space before an evaluation.
type Entered struct {
	Candidate
	Parent   string  // id of the kernel whose neighbour it is
	Step     string  // from there, as in "add PER"
	LogPrior float64 // over the grammar
}

// Notice is something that the user should know.
type Notice struct {
	Text   string // one line
	Kernel string // id of the kernel that it is about, "" for none
	Failed bool   // that kernel has failed
}

// plain makes notices that are about no kernel.
func plain(texts []string) (notices []Notice) {
	for _, s := range texts {
		notices = append(notices, Notice{Text: s})
	}
	return notices
}

// Leader returns the index of the kernel ranked first, −1 if none is live.
func (e *Evaluation) Leader() int {
	for i := range e.Kernels {
		if e.Kernels[i].Rank == 1 {
			return i
		}
	}
	return -1
}

// KernelResult is one kernel in an Evaluation. The numbers are meaningful for
// live kernels only, but what is believed also for those left out.
type KernelResult struct {
	ID                         string       // canonical expression
	Status                     Status       // whether it takes part
	Reason                     string       // why it failed, with its hyperparameters
	LeftOut                    bool         // not compared with so many inducing inputs: believed in as it was
	Posterior                  float64      // q*(k), averaged over the errors of local ELBOs
	Bayes                      float64      // softmax(𝓛/τ + m₀), likewise
	PointPosterior, PointBayes float64      // of the local ELBOs as they are: the paper's
	ELBO                       float64      // local ELBO of the standardised targets, nats
	Volume                     float64      // log volume of its mode, which the belief adds; 0 where it does not
	LogPrior                   float64      // over the grammar, where the space grows; 0 where it does not
	ELBORows                   int          // rows that it was computed from: all seen, or the common subsample
	SE                         float64      // paired standard error of the gap to the leader, from sampling alone, nats
	Rank                       int          // 1 is the highest posterior; 0 if not live
	Tied                       bool         // equal to the leader within one nat or twice the error of the gap
	Evidence                   *Evidence    // nil where the local ELBO is an estimate
	Windows                    *Windows     // of kernels left out, too; nil where windows say nothing
	Apart                      bool         // told apart: its upper bound, or windows', lies below the leader's lower one
	Params                     []ParamValue // one for each of the program's, as it predicts with
	Gain                       float64      // that is still expected of its hyperparameters, nats; -1 where nothing says
	Flags                      []Flag       // what its user should look at
	Noise                      float64      // σ_n² of the standardised targets
	NoiseBetween               [2]float64   // as ParamValue.Between
	Source                     string       // where the solution came from: "last", "fresh", "SE*LIN" (a transplant)
}

// below reports whether the evidence is known to be less than another one's.
func (k *KernelResult) below(other *KernelResult) bool {
	if a, b := k.Windows, other.Windows; a != nil && b != nil {
		return a.Nats+a.High+k.Volume < b.Nats-b.Low+other.Volume
	}
	return k.Evidence.with(k.Volume).below(other.Evidence.with(other.Volume))
}

// ParamValue is a hyperparameter's value in the units of the standardised data.
type ParamValue struct {
	kernelspace.Param
	Value float64 // positive: a variance, a length, a period, or a shape
	SD    float64 // of its logarithm under q(θ); 0 for point estimates
	// Between is what it lies between with 95 % of the belief, 0 and 0 where no draws tell.
	Between [2]float64
}

// Progress is told between evaluations, from the worker goroutines.
type Progress struct {
	Done, Total int    // kernels finished in the current phase
	Phase       string // such as "optimise", "transplants"

	Kernels []KernelProgress // in the space's order
}

// KernelProgress is how far an evaluation has come with a kernel.
type KernelProgress struct {
	Stage Stage
	Bound float64 // that has been reached on the rows that kernels are compared on, nats: it may still rise; NaN before
}

// Stage is where a kernel stands in a phase of an evaluation.
type Stage string

const (
	Idle    Stage = ""        // it takes no part, or not yet
	Queued  Stage = "queued"  // no worker has taken it up
	Working Stage = "working" // one is at it
	Through Stage = "through" // the phase is done with it
)

// What Change.Grow may be.
const (
	GrowOn  = "on"
	GrowOff = "off"
)

// Change is what a re-optimisation may alter; zero fields stay as they are.
type Change struct {
	Steps    int    // steps of an evaluation
	Inducing int    // M
	Batch    int    // rows of a minibatch
	Grow     string `json:",omitempty"` // whether the space grows from here on: GrowOn, GrowOff; "": as before
	Rounds   int    // evaluations at proportion 1 beyond those planned; 0: at least as many as Settings.Refine are made, at least 1
}

// Flag is something about a kernel's solution that its user should look at. None
// changes a rank: a period of the whole range may be a true one.
type Flag string

const (
	PeriodOnce   Flag = "period seen less than twice" // more than half of the inputs' range
	PeriodsEqual Flag = "two periods are equal"       // within samePeriods
	IdleSummand  Flag = "a summand explains nothing"  // less than idleShare of the noise
	NoiseAtFloor Flag = "noise at its floor"          // within flooredBy of it
	StillMoving  Flag = "not converged"               // by more than movingNats
	NotTheTruth  Flag = "known truth is not first"    // of drawn data, see Training.Truth
)

const (
	samePeriods = 0.01 // relative difference of periods that are one
	idleShare   = 0.01 // of the noise variance, below which a summand explains nothing
	flooredBy   = 1.5  // noise variances up to so many times the floor are held by it
	movingNats  = 0.05 // that are still expected of an ascent, which is told within a factor of some 10
	flaggedRows = 64   // on which the variance of a summand is taken
)

// gainUnknown stands for what is still expected of hyperparameters where nothing says.
const gainUnknown = -1

// flags looks at what a kernel has arrived at.
func (t *Trainer) flags(k *kernel) (out []Flag) {
	raw, noise := params.Raw(k.program, k.predictor().Free, t.floor)
	once, equal := false, false
	for i, p := range k.program.Params {
		if p.Name != "period" {
			continue
		}
		once = once || 2*raw[i] > t.spanOf(p.Column)
		for j, q := range k.program.Params[:i] {
			near := math.Abs(math.Log(raw[i]/raw[j])) < samePeriods
			equal = equal || q.Name == "period" && q.Column == p.Column && near && p.Free && q.Free
		}
	}
	if once {
		out = append(out, PeriodOnce)
	}
	if equal {
		out = append(out, PeriodsEqual)
	}
	if t.idle(k.program, raw, noise) {
		out = append(out, IdleSummand)
	}
	stated := k.program.Noise.How == kernelspace.Fixed || k.program.Noise.How == kernelspace.Bounded
	if noise < flooredBy*t.floor && !stated {
		out = append(out, NoiseAtFloor)
	}
	if gain := k.expected(); gain > movingNats || gain == gainUnknown || k.crude {
		out = append(out, StillMoving)
	}
	return out
}

// expected is what is still expected of the hyperparameters that a kernel predicts with, nats; gainUnknown where nothing says.
func (k *kernel) expected() float64 {
	if k.ahead != nil {
		return k.nearby.High - k.nearby.Low
	}
	return k.gain
}

// spanOf is the range of a column, or the largest where a parameter is of all.
func (t *Trainer) spanOf(column int) (span float64) {
	for d, s := range t.scales.Span {
		if column < 0 || column == d {
			span = math.Max(span, s)
		}
	}
	return span
}

// idle reports whether one of several summands has next to no variance on the rows.
func (t *Trainer) idle(p *kernelspace.Program, raw []float64, noise float64) bool {
	parts, err := p.Own().Components()
	if err != nil || len(parts) < 2 {
		return false
	}
	n := t.data.Rows()
	for i := range parts {
		c := &parts[i]
		theta := c.Theta(raw)
		sum := 0.0
		rows := min(flaggedRows, n)
		for r := range rows {
			at := r * n / rows
			x := t.data.X[at*t.dim : (at+1)*t.dim]
			sum += c.Program.Eval(theta, x, x, true)
		}
		if sum/float64(rows) < idleShare*noise {
			return true
		}
	}
	return false
}

// conclude says what should be known of the leader at the end.
func (t *Trainer) conclude(e *Evaluation) {
	leader, truth := t.judge(e)
	if leader < 0 || e.Index < t.Planned() {
		return
	}
	// Whoever expects a period to come again should know that the data do not show it
	// twice.
	if id := e.Kernels[leader].ID; slices.Contains(e.Kernels[leader].Flags, PeriodOnce) {
		e.Notices = append(e.Notices, Notice{Text: fmt.Sprintf("%s has a %s", id, PeriodOnce), Kernel: id})
	}
	if truth >= 0 {
		e.Notices = append(e.Notices, Notice{Text: t.missed(e, leader, truth), Kernel: e.Kernels[truth].ID})
	}
}

// judge finds the leader, and flags it at the end where the kernel that the data
// were drawn from is in the space and another one; truth is −1 where that is not so.
func (t *Trainer) judge(e *Evaluation) (leader, truth int) {
	leader = e.Leader()
	truth = slices.IndexFunc(e.Kernels, func(k KernelResult) bool { return k.ID == t.data.Truth })
	if leader < 0 || truth == leader || e.Index < t.Planned() {
		return leader, -1
	}
	if truth >= 0 {
		k := &e.Kernels[leader]
		k.Flags = append(slices.Clip(k.Flags), NotTheTruth)
	}
	return leader, truth
}

// missed says where the true kernel is that does not lead.
func (t *Trainer) missed(e *Evaluation, leader, truth int) string {
	r, k := &e.Kernels[truth], t.kernels[truth]
	text := fmt.Sprintf("the data were drawn from %s, which ", r.ID)
	apart := func(gap float64) string {
		if gap < 0 {
			return fmt.Sprintf("%.1f nats ahead by its local ELBO", -gap)
		}
		return fmt.Sprintf("%.1f nats behind", gap)
	}
	switch {
	case r.Status == Live:
		text += "is " + apart(t.kernels[leader].worth()-k.worth())
		if r.Tied {
			text += ", equal within the errors"
		}
	case r.LeftOut:
		text += fmt.Sprintf("was left out at M = %d", k.left)
		own := k.ends[len(k.ends)-1]
		if was, ok := t.kernels[leader].end(own.evaluation); ok {
			text += fmt.Sprintf(", %s then", apart(was.elbo-own.elbo))
		}
	default:
		text += fmt.Sprintf("is %s: %s", r.Status, r.Reason)
	}
	return text
}

// bestWorth is what the best kernel is worth of those that are up to date.
func (t *Trainer) bestWorth() float64 {
	best := math.Inf(-1)
	for _, k := range t.kernels {
		if k.current(t.rows) {
			best = max(best, k.worth())
		}
	}
	return best
}

// What a kernel with a leaf or two more pays for them, nats, whatever the number of rows.
const leafNats = 5

// undecided reports whether a kernel that n' of n rows put behind may be as good once all are there: it is behind by no more than the
// missing rows' share of what its leaves cost.
//
//	behind ≤ leafNats·(1 − n'/n)
//
// What it explains grows with the rows, and what it pays for that does not.
func (t *Trainer) undecided(k *kernel) bool {
	if t.apart == 0 || t.rows < t.data.Rows() || !k.current(t.rows) {
		return false
	}
	return t.bestWorth()-k.worth() <= leafNats*(1-float64(t.rows)/float64(t.apart))
}
