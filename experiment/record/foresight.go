package record

import (
	"math"
	"slices"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks"
)

// foresight is what a run's config says of the work of its evaluations.
type foresight struct {
	known    bool // else they count as equal
	onCard   bool
	oneInput bool
	settings vbks.Settings
	weights  string // of predictions
	rows     int    // that evaluations go through, see stand
	all      int
	kernels  int // at first
	rungs    []int

	compared, inducing int // by the evaluation before

	began   []string // kernels, those that have come while the space grew not among them
	columns []string
	late    int // kernels that come in a space that grows, 0: not known yet
}

// foresee reads what is known of a run. Of one whose config cannot be read that is nothing.
func foresee(s *Start) foresight {
	if s.Config == "" || s.Data == nil || s.Data.Train < 1 || len(s.Kernels) == 0 {
		return foresight{}
	}
	c, err := config.OfRun(s.Config, EventsFile)
	if err != nil {
		return foresight{}
	}
	f := foresight{known: true, onCard: s.DeviceKind == "cuda", settings: c.Settings, weights: c.Settings.Weights, rows: s.Data.Train,
		all:     s.Data.Train,
		kernels: len(s.Kernels), oneInput: len(s.Inputs()) == 1}
	for i := range s.Kernels {
		f.began = append(f.began, s.Kernels[i].ID)
	}
	for _, in := range s.Inputs() {
		f.columns = append(f.columns, in.Name)
	}
	f.rungs = f.settings.Rungs(f.rows, f.kernels)
	return f
}

// stand takes in whether an evaluation is one of those in which the space grows on some of the rows first.
func (f *foresight) stand(e *Evaluation) {
	rows := f.all
	if e.Front != nil && e.Front.Rows > 0 {
		rows = e.Front.Rows
	} else if e.Front == nil && e.RowsSeen <= f.rows { // an order has made it of the one before
		rows = f.rows
	}
	if rows != f.rows {
		f.rows, f.rungs, f.late = rows, f.settings.Rungs(rows, f.kernels), 0
	}
}

// rung is the place of a number of inducing inputs among the rungs, the last one for one
// that is not among them: then nothing is known of further ones.
func (f *foresight) rung(m int) int {
	if i := slices.Index(f.rungs, m); i >= 0 {
		return i
	}
	return max(0, len(f.rungs)-1)
}

// made is the work of an evaluation that has been made, and of the scores of the one before. Where it compares with more
// inducing inputs than that one, forecasts of its kernels from rolling origins had a say in which go on.
func (f *foresight) made(e *Evaluation) float64 {
	if !f.known {
		return 1
	}
	f.grows(e)
	f.stand(e)
	at := f.rung(e.Inducing)
	work := f.settings.Foreseen(vbks.Prospect{Rows: f.rows, Seen: e.RowsSeen, First: f.kernels, Kernels: e.Live(), Close: e.near(),
		Rung: at, Rungs: len(f.rungs), Inducing: e.Inducing, Last: e.Planned-e.Index <= len(f.rungs)-1-at,
		OnCard: f.onCard, OneInput: f.oneInput})
	if e.Index > 1 {
		work += f.settings.ForeseenScores(f.rows, e.RowsSeen, e.averaged(f.weights, vbks.BriefWeight), e.Inducing)
	}
	if f.inducing > 0 && e.Inducing > f.inducing {
		work += f.settings.ForeseenOrigins(f.rows, f.compared, f.inducing)
	}
	f.compared, f.inducing = e.Live(), e.Inducing
	if e.Index >= e.Planned {
		work += f.fromOrigins(e.Live(), e.Inducing)
	}
	return work
}

// fromOrigins is what weights and a calibration from rolling origins take, which the last evaluation ends with.
func (f *foresight) fromOrigins(kernels, inducing int) float64 {
	return f.settings.ForeseenOrigins(f.rows, kernels, inducing) + f.settings.ForeseenCalibration(f.rows, kernels, inducing)
}

// coming are the kernels and inducing inputs of the evaluation that follows e, if it follows.
func (f *foresight) coming(e *Evaluation) (kernels, inducing int) {
	at := f.rung(e.Inducing)
	if at+1 < len(f.rungs) && e.Planned-e.Index <= len(f.rungs)-1-at { // rungs come last
		return f.stay(e.Live(), f.rungs[at+1]), f.rungs[at+1]
	}
	return e.Live(), e.Inducing
}

// grows takes in that a space grows, if by an order: evidence is integrated then.
func (f *foresight) grows(e *Evaluation) {
	f.settings.Growth.On = f.settings.Growth.On || e.Front != nil
}

// growth is how many more evaluations are likely to be made behind e because the space grows: neighbours that wait, and those of
// kernels that will lead, come as there is room, half of those that are compared at a time.
func (f *foresight) growth(e *Evaluation) int {
	if e.Front == nil || e.Front.Over {
		return 0
	}
	if f.late == 0 {
		f.late = f.comers()
	}
	at := max(1, f.settings.GrowLive(f.rows, f.rows, f.rungs[0], e.Inducing)/2)
	left := max(0, len(f.began)+f.late-e.Front.Tried)
	if e.RowsSeen == f.rows { // before, many wait that will not come
		left = max(left, e.Front.Waiting)
	}
	return (left + at - 1) / at
}

// comers is about how many kernels come while the space grows, 0 where that is not known.
func (f *foresight) comers() int {
	var space []kernelspace.Expr
	for _, id := range f.began {
		if e, err := kernelspace.Parse(id); err == nil {
			space = append(space, e.Canonical())
		}
	}
	if len(space) == 0 {
		return 0
	}
	late, _, err := f.settings.Growth.Late(space, f.columns, f.rows)
	if err != nil {
		return 0
	}
	return late
}

// planned is an evaluation that may come, or several alike, and how likely that is.
type planned struct{ work, times, chance float64 }

// wholeEvaluations are made on all rows as a rule after a space has grown on some of them.
const wholeEvaluations = 4

// mostForeseen is how many of more evaluations are weighed.
const mostForeseen = 100

// ahead are the evaluations that are planned behind e, and what the predictions take that follow.
func (f *foresight) ahead(e *Evaluation, fall float64) (all []planned, scores float64) {
	left := e.Planned - e.Index
	if !f.known {
		if left > 0 {
			all = []planned{{1, 1, 1}, {1, float64(left - 1), 1}}
		}
		return all, 0
	}
	f.stand(e)
	at := f.rung(e.Inducing)
	climbs := max(0, min(left, len(f.rungs)-1-at)) // these come last
	f.grows(e)
	if more := f.growth(e); more > 0 {
		arrive := 0 // evaluations until all rows are in use
		if step := f.settings.EvaluateEvery * float64(f.all); e.RowsSeen < f.rows && step > 0 {
			arrive = int(math.Ceil(float64(f.rows-e.RowsSeen)/step - 1e-9))
		}
		left = max(left, arrive+more+climbs)
	}
	next := vbks.Prospect{Rows: f.rows, Seen: e.RowsSeen, First: f.kernels, Kernels: e.Live(), Close: e.near(),
		Rung: at, Rungs: len(f.rungs), Inducing: e.Inducing, OnCard: f.onCard, OneInput: f.oneInput}
	averaged, brief := e.averaged(f.weights, vbks.AveragedWeight), e.averaged(f.weights, vbks.BriefWeight)
	one := func() float64 {
		return f.settings.Foreseen(next) + f.settings.ForeseenScores(f.rows, next.Seen, brief, next.Inducing)
	}
	for made, stride := 0, 1; made < left-climbs; made += stride {
		if made == 1 { // the next one is weighed alone
			stride = 1 + (left-climbs-2)/mostForeseen
		}
		stride = min(stride, left-climbs-made)
		seen := float64(e.RowsSeen) + float64(made+stride)*f.settings.EvaluateEvery*float64(f.all)
		next.Seen, next.Last = int(min(float64(f.rows), seen)+0.5), made+stride == left-climbs
		all = append(all, planned{one(), float64(stride), 1})
	}
	if f.rows < f.all { // then on all of them
		next.Rows, next.Seen, next.Inducing, next.Last = f.all, f.all, f.all, false
		next.Rung = len(f.settings.Rungs(f.all, f.kernels)) - 1
		next.Rungs = next.Rung + 1
		work := f.settings.Foreseen(next)
		whole := *f
		whole.rows = f.all
		return append(all, planned{work, 1, 1}, planned{work, wholeEvaluations - 1, 1}),
			f.settings.ForeseenScores(f.all, f.all, averaged, f.all) + whole.fromOrigins(next.Kernels, f.all)
	}
	scores = f.settings.ForeseenScores(f.rows, f.rows, averaged, next.Inducing)
	for chance := 1.0; climbs > 0; climbs-- {
		chosen := f.settings.ForeseenOrigins(f.rows, next.Kernels, next.Inducing) // as in made
		next.Seen, next.Last = f.rows, true
		next.Rung++
		next.Inducing = f.rungs[next.Rung]
		next.Kernels = f.stay(next.Kernels, next.Inducing)
		next.Close, averaged = min(next.Close, next.Kernels), min(averaged, next.Kernels)
		if chance = f.chance(e, at, next.Rung, chance, fall); chance == 1 {
			scores = f.settings.ForeseenScores(f.rows, f.rows, averaged, next.Inducing)
		}
		all = append(all, planned{chosen + one(), 1, chance})
	}
	if origins := f.fromOrigins(next.Kernels, next.Inducing); len(all) == 1 {
		all[0].work += origins
	} else if left > 0 {
		scores += origins
	}
	return all, scores
}

const (
	// decides is the slack of bounds, nats, from which on more inducing inputs are tried.
	decides = 1
	// What twice as many inducing inputs make of slack: half of it, where functions are rough, and hardly anything,
	// where they are smooth.
	usualFall, leastFall = 1.0 / 8, 1.0 / 2
)

// closing is how the slack of bounds falls with the inducing inputs, by the last two rungs.
type closing struct {
	inducing, before int
	slack, was       float64
}

// take takes an evaluation in.
func (c *closing) take(e *Evaluation) {
	slack, known := e.open()
	if !known {
		return
	}
	if e.Inducing != c.inducing {
		c.before, c.was = c.inducing, c.slack
	}
	c.inducing, c.slack = e.Inducing, slack
}

// fall is what twice as many inducing inputs make of slack.
func (c *closing) fall() float64 {
	if c.before < 1 || c.inducing <= c.before || !(c.was > 0) || !(c.slack < c.was) {
		return usualFall
	}
	return min(leastFall, math.Pow(c.slack/c.was, 1/math.Log2(float64(c.inducing)/float64(c.before))))
}

// chance is how likely a rung is to be come to of a run that has made e on another: the next one is where
// all kernels are compared with more inducing inputs in any case; further ones are where the slack
// asks for them, if it is known, and each half as often as the one before, if it is not.
func (f *foresight) chance(e *Evaluation, at, rung int, before, fall float64) float64 {
	if at == 0 && rung == 1 && f.rows <= f.settings.AllRows {
		return before
	}
	slack, known := e.open()
	if e.Planned-e.Index > len(f.rungs)-1-at || !known { // bounds are looked at when a rung has come to its end
		if rung == at+1 {
			return before
		}
		return before / 2
	}
	slack *= math.Pow(fall, math.Log2(float64(f.rungs[rung-1])/float64(f.rungs[at])))
	if slack <= decides {
		return 0
	}
	return before
}

// stay is how many of so many live kernels are likely to be compared with m inducing inputs: where
// bounds tell nothing more may stay, up to twice as many.
func (f *foresight) stay(live, m int) int {
	n := f.settings.RungKernels(f.rows, f.kernels, live, m)
	if e, err := f.settings.Effort(f.rows); err == nil && e.Exact() {
		return min(live, n+n/2)
	}
	return n
}

// open is the widest slack of kernels that bounds do not tell from the leader, and whether it is known of all.
func (e *Evaluation) open() (slack float64, known bool) {
	for i := range e.Kernels {
		k := &e.Kernels[i]
		if k.Status != vbks.Live || k.Fit == nil || k.Fit.Apart {
			continue
		}
		own, bounded := k.Fit.bounded()
		if !bounded {
			return 0, false
		}
		slack, known = max(slack, own), true
	}
	return slack, known
}

// near counts the kernels that are compared and close to the best.
func (e *Evaluation) near() (n int) {
	best := math.Inf(-1)
	e.fits(func(f *Fit) { best = max(best, f.Worth()) })
	e.fits(func(f *Fit) {
		if f.Worth() >= best-vbks.IntegralNats {
			n++
		}
	})
	return n
}

// averaged counts the kernels over whose hyperparameters predictions are averaged, those of a weight and more.
func (e *Evaluation) averaged(weights string, least float64) (n int) {
	best, sum := math.Inf(-1), 0.0
	e.fits(func(f *Fit) { best = max(best, f.Worth()) })
	weight := func(f *Fit) float64 {
		if weights == vbks.TemperedWeights {
			return math.Exp((f.Worth() - best) / vbks.Tempering)
		}
		return max(0, float64(f.Posterior))
	}
	e.fits(func(f *Fit) { sum += weight(f) })
	e.fits(func(f *Fit) {
		if weight(f) >= least*sum {
			n++
		}
	})
	return n
}

// fits are what is known of the kernels that are compared.
func (e *Evaluation) fits(visit func(f *Fit)) {
	for i := range e.Kernels {
		if k := &e.Kernels[i]; k.Status == vbks.Live && k.Fit != nil {
			visit(k.Fit)
		}
	}
}

// Live counts the kernels that are compared.
func (e *Evaluation) Live() (n int) {
	for i := range e.Kernels {
		if e.Kernels[i].Status == vbks.Live {
			n++
		}
	}
	return n
}
