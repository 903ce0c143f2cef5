package prepare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/words"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks"
	"example.com/kestrel/vbks/cost"
)

// workload is how much a run will compute.
type workload struct {
	config    *config.Config
	effort    vbks.Effort // of its optimiser
	kernels   int
	begin     int // those that a space begins with which grows
	rows, dim int
	late      int                    // kernels that come with all rows in use, where its space grows
	sharp     int                    // inducing inputs that these may have, 0: those of all kernels
	whole     bool                   // which they have from the beginning
	inducing  int                    // of all kernels
	rungs     []int                  // and of the best, one after the other
	most      int                    // inducing inputs of the last rung
	scout     int                    // inducing inputs that are searched with
	programs  []*kernelspace.Program // some of the space's, from simple to costly
	relations float64                // of a kernel to others of the space
	params    float64                // hyperparameters of a kernel
}

func newWorkload(c *config.Config, space []vbks.Candidate, rows, dim int) (*workload, error) {
	s := &c.Settings
	effort, err := s.Effort(rows)
	if err != nil {
		return nil, err
	}
	w := &workload{config: c, effort: effort, kernels: len(space), rows: rows, dim: dim}
	if s.Growth.On {
		w.begin, w.kernels = w.kernels, max(w.kernels, s.Growth.Live)
		space = w.grow(space)
	}
	w.climb(s)
	w.most = w.last()
	if s.Growth.On && effort.Exact() { // one that samples rows stays on its first
		w.sharpen(s)
	}
	if w.scout = w.inducing; !effort.Exact() {
		_, w.scout = vbks.ScoutSize(w.kernels, w.inducing)
	}
	sorted := slices.Clone(space)
	slices.SortStableFunc(sorted, func(a, b vbks.Candidate) int { return cmp.Compare(crudeCost(a.Expr), crudeCost(b.Expr)) })
	n := min(sampledKernels, len(sorted))
	for i := range n {
		e := sorted[(2*i+1)*len(sorted)/(2*n)].Expr
		p := compileLoosely(e, s.ARD, s.SharedPeriod, dim)
		w.programs = append(w.programs, p)
		w.params += float64(len(p.Free)+1) / float64(n)
		for _, other := range space {
			if related(e, other.Expr) {
				w.relations += 1 / float64(n)
			}
		}
	}
	return w, nil
}

// climb sets the numbers of inducing inputs.
func (w *workload) climb(s *vbks.Settings) {
	rungs := s.Rungs(w.rows, w.kernels)
	w.inducing, w.rungs = rungs[0], rungs[1:]
}

// last is the number of inducing inputs that the run ends with.
func (w *workload) last() int {
	if len(w.rungs) > 0 {
		return w.rungs[len(w.rungs)-1]
	}
	return w.inducing
}

// with is the workload of a run that ends with at most m inducing inputs.
func (w *workload) with(m int) *workload {
	out, s := *w, w.config.Settings
	if s.Inducing > 0 {
		s.Inducing = m
	} else {
		s.Room = m
	}
	out.climb(&s)
	return &out
}

// room is the number of inducing inputs that "auto" has memory for, 0 where there
// is no limit. Errors: the number asked for, or a single one, takes more.
func room(c *config.Config, space []vbks.Candidate, rows, dim, lanes int) (int, error) {
	if c.MostMemory == 0 {
		return 0, nil
	}
	w, err := newWorkload(c, space, rows, dim)
	if err != nil {
		return 0, err
	}
	limit := int64(c.MostMemory) * 1e6
	if w.bytes(lanes) <= limit {
		return 0, nil
	}
	fits := sort.Search(w.last(), func(i int) bool { return w.with(i+1).bytes(lanes) > limit })
	switch {
	case fits == 0:
		return 0, fmt.Errorf("sparse.most_memory = %d is too little: with one inducing input this run takes about %s", c.MostMemory,
			words.Megabytes(w.with(1).bytes(lanes)))
	case c.Settings.Inducing > 0:
		return 0, fmt.Errorf("sparse.inducing = %d takes about %s, more than sparse.most_memory = %d; at most %d fit", c.Settings.Inducing,
			words.Megabytes(w.bytes(lanes)), c.MostMemory, fits)
	}
	return fits, nil
}

// Memory is what a run takes whose space has been told to grow, 0 where that is not known.
func Memory(s *record.Start) int64 {
	if s.Config == "" || s.Data == nil {
		return 0
	}
	c, err := config.OfRun(s.Config, record.EventsFile)
	if err != nil {
		return 0
	}
	c.Settings.Growth.On = true
	space, err := c.Kernels.Candidates()
	if err != nil {
		return 0
	}
	rows, dim, lanes := s.Data.Train, len(s.Inputs()), max(1, s.Lanes)
	if c.Settings.Room, err = room(&c, space, rows, dim, lanes); err != nil {
		return 0
	}
	w, err := newWorkload(&c, space, rows, dim)
	if err != nil {
		return 0
	}
	return w.bytes(lanes)
}

// crudeCost orders kernels by what their leaves take.
func crudeCost(e kernelspace.Expr) (cost float64) {
	for _, l := range e.Leaves() {
		switch l.Base() {
		case "LIN", "CONST", "WN", "CP":
			cost += 0.3
		case "RQ", "PER":
			cost += 2
		default:
			cost++
		}
	}
	return cost
}

// fewLevels stand for those of a column that is not known.
var fewLevels = []float64{0, 1, 2, 3, 4, 5, 6, 7}

// compileLoosely compiles a kernel where the columns' names are not known: one
// that names some acts on all.
func compileLoosely(e kernelspace.Expr, ard, shared bool, dim int) *kernelspace.Program {
	columns := make([]string, dim)
	for i := range columns {
		columns[i] = fmt.Sprintf("x%d", i+1)
	}
	o := kernelspace.Options{Columns: columns, Dim: dim, ARD: ard, SharedPeriod: shared, Levels: func(int) []float64 { return fewLevels }}
	if p, err := kernelspace.Compile(e.Canonical(), o); err == nil {
		return p
	}
	var bases []string
	for _, l := range e.Leaves() {
		if l.IsLeaf() {
			bases = append(bases, l.Base())
		}
	}
	for _, text := range []string{strings.Join(bases, "*"), "SE"} {
		if e, err := kernelspace.Parse(text); err == nil {
			if p, err := kernelspace.Compile(e.Canonical(), o); err == nil {
				return p
			}
		}
	}
	panic("experiment: the kernel SE cannot be compiled")
}

// related says whether two kernels differ in one leaf: in what it is, or in
// that it is there.
func related(a, b kernelspace.Expr) bool {
	count := map[string]int{}
	for _, l := range a.Leaves() {
		count[l.ID()]++
	}
	for _, l := range b.Leaves() {
		count[l.ID()]--
	}
	more, less := 0, 0
	for _, n := range count {
		more, less = more+max(n, 0), less-min(n, 0)
	}
	return max(more, less) == 1 || more+less == 0 && a.ID() != b.ID()
}

// plannedEvaluations are made on the first rung.
func plannedEvaluations(s *vbks.Settings) int {
	return int(math.Ceil(1/s.EvaluateEvery-1e-9)) + s.Refine
}

// mostCounted bounds how many evaluations are added up one by one.
const mostCounted = 100_000

// seconds adds up the evaluations. search is what the kernels cost where
// solutions are searched for, full on the inducing inputs of all kernels, wide on
// those of the last rung.
func (w *workload) seconds(search, full, wide cost.Bound) float64 {
	c, s := w.config, &w.config.Settings
	n := w.rows
	planned, rungs := plannedEvaluations(s), w.rungs
	further := w.further()
	if c.Evaluations > 0 {
		further = min(further, max(0, c.Evaluations-planned))
		rungs = rungs[:min(len(rungs), max(0, c.Evaluations-planned-further))]
		planned = min(planned, c.Evaluations)
	}
	if !w.effort.Exact() { // all live kernels take steps in those, too
		planned += further
	}
	alive := float64(w.kernels)
	total := 3e-5 * float64(min(n, 20_000)*w.dim) // periods and inducing inputs
	before := 0
	for t := 1; t <= min(planned, mostCounted); t++ {
		seen := min(n, int(math.Ceil(float64(t)*s.EvaluateEvery*float64(n)-1e-9)))
		if s.AutoPruneMass > 0 && t > s.AutoPruneWait {
			alive = max(alive/2, min(alive, float64(s.AutoPruneKeep)))
		}
		each := 0.0
		if alive = w.grown(alive, t); w.effort.Exact() {
			each = w.exactly(search, full, t, seen)
		} else {
			if t&(t-1) == 0 || seen == n && before < n {
				each = w.scouting(search, t, seen, alive, w.inducing)
			}
			each += w.learning(full, seen, alive, w.inducing, t == planned)
		}
		before = seen
		total += overhead*alive*each + beliefSeconds(w.kernels)
	}
	total *= max(1, float64(planned)/mostCounted)
	if w.dim == 1 {
		total += overhead * perWindow * full.RowGrad * s.WindowRows(n, int(math.Ceil(alive)))
	}
	total += w.growing(search, full, wide, planned, further)
	// A run that knows enough leaves rungs out; this is all of them.
	left, on := int(math.Ceil(alive)), full
	for i, m := range rungs {
		chosen := overhead * float64(left) * w.foreseeing(on, left) // forecasts have a say in which go on
		left = s.RungKernels(n, w.kernels, left, m)
		if m <= w.sharp { // it has grown with them
			continue
		}
		t, wide := planned+i+1, w.between(full, wide, max(w.inducing, int(s.Like(n, m))))
		each := 0.0
		if w.effort.Exact() {
			each = w.exactly(wide, wide, t, n)
		} else {
			each = w.scouting(search, t, n, float64(left), m) + w.learning(wide, n, float64(left), m, true)
		}
		more := chosen + overhead*float64(left)*each + beliefSeconds(w.kernels)
		if s.MostSeconds > 0 && total+more > s.MostSeconds {
			break
		}
		total += more
		on = wide
	}
	total += overhead * (float64(left)*w.foreseeing(on, left) + float64(w.predicting(left))*w.calibrating(on))
	if s.TimeBudget > 0 {
		total = min(total, s.TimeBudget.Seconds())
	}
	return total
}

// foreseeing is the time of one kernel's forecasts from rolling origins, where so many are weighed by them. Inducing inputs
// are as many for a row as k has.
func (w *workload) foreseeing(k cost.Bound, kernels int) (seconds float64) {
	s := &w.config.Settings
	if s.Weights != vbks.OriginsWeights || kernels < 2 {
		return 0
	}
	return w.forecasting(k, vbks.Origins(w.rows))
}

// predicting is how many of the kernels that are left predictions are made with, at most.
func (w *workload) predicting(left int) int {
	if top := w.config.Settings.Top; top > 0 {
		return min(left, top)
	}
	return left
}

// calibrating is the time of one kernel's forecasts that intervals are calibrated by, where they are.
func (w *workload) calibrating(k cost.Bound) (seconds float64) {
	if w.config.Settings.ForeseenCalibration(w.rows, 1, w.inducing) == 0 {
		return 0
	}
	return w.forecasting(k, vbks.CalibrationOrigins(w.rows))
}

func (w *workload) forecasting(k cost.Bound, origins []vbks.Origin) (seconds float64) {
	s := &w.config.Settings
	for _, o := range origins {
		fewer := float64(o.Past) / float64(w.rows)
		one := k.Value(o.Ahead)
		switch {
		case !w.effort.Exact():
			estimated := o.Past
			if s.ELBORows > 0 {
				estimated = min(o.Past, s.ELBORows)
			}
			one += k.Value(o.Past) + k.Value(estimated)
		case s.Hyperparameters == "point":
			one += vbks.RefitGradients * k.Gradient(o.Past)
		}
		seconds += fewer * fewer * one
	}
	return seconds
}

// between is what kernels cost with m inducing inputs, if with those of all kernels
// they cost first and with those of the last rung last: in between as a power of m.
func (w *workload) between(first, last cost.Bound, m int) cost.Bound {
	share := math.Log(float64(m)/float64(w.inducing)) / math.Log(float64(w.most)/float64(w.inducing))
	power := func(a, b float64) float64 { return a * math.Pow(b/a, share) }
	return cost.Bound{
		Fixed: power(first.Fixed, last.Fixed), FixedGrad: power(first.FixedGrad, last.FixedGrad),
		Row: power(first.Row, last.Row), RowGrad: power(first.RowGrad, last.RowGrad),
	}
}

// exactly is the time of one kernel's evaluation where the bound that is searched
// on is the local ELBO.
func (w *workload) exactly(search, full cost.Bound, t, seen int) float64 {
	each := w.searching(search, t, seen, seen)
	if w.config.Settings.Hyperparameters != "point" {
		each += perBelief * max(thetaDraws, 2*w.params) * full.Gradient(seen)
	}
	return each
}

// scouting is the time of one kernel's search on the scout.
func (w *workload) scouting(search cost.Bound, t, seen int, alive float64, inducing int) float64 {
	rows, m := vbks.ScoutSize(int(math.Ceil(alive)), inducing)
	f := float64(m) / float64(w.scout)
	return w.searching(search, t, seen, min(seen, rows)) * f * f
}

// searching is the time of one kernel's search on so many rows.
func (w *workload) searching(k cost.Bound, t, seen, rows int) float64 {
	s := &w.config.Settings
	starts := float64(s.Starts)
	if p := float64(seen) / float64(w.rows); p >= 0.3 && p < 1 {
		starts = math.Ceil(starts / 2)
	}
	drafts := min(starts, max(3, math.Ceil(starts/3)))
	values := 0.0
	if s.Transplants {
		values = 3 * math.Pow(w.relations, 0.6) // of transplants, without gradient: not all are tried
	}
	all := perSearch + perTransplant*values
	if t == 1 {
		all = perSearch
	}
	if w.effort.Exact() && seen == w.rows {
		all *= atTheEnd
		thorough := perDraft*drafts + perThorough // on all rows, too
		if seen <= s.AllRows {
			starts *= thoroughStarts
		}
		if s.Integrates() {
			values += perIntegral
		}
		all += thorough / 2 // of some of the evaluations with all rows
	}
	all *= math.Pow(min(1, float64(s.Steps)/40), 0.4)
	return (perStart*starts+perDraft*drafts)*k.Gradient(min(rows, vbks.ScreenRows)) + all*k.Gradient(rows) + values*k.Value(rows)
}

// learning is the time of one kernel's stochastic steps and estimate.
func (w *workload) learning(k cost.Bound, seen int, alive float64, inducing int, last bool) float64 {
	s := &w.config.Settings
	draws, samples := 1.0, 1.0
	if s.Hyperparameters != "point" {
		draws, samples = thetaDraws, float64(max(1, s.ThetaSamples))
	}
	estimated := seen
	if s.ELBORows > 0 {
		estimated = min(seen, s.ELBORows)
	}
	live := int(math.Ceil(alive))
	end := w.effort.Ending(seen, w.rows, live, inducing, last)
	share := float64(end.Exact) / float64(live)
	t := share * draws * k.Value(seen)
	for _, stage := range end.Stages {
		t += perTuning * float64(stage.Steps) * k.Gradient(stage.Rows) * float64(stage.Kernels) / float64(live)
	}
	if end.Stages != nil && end.Exact == live {
		return t
	}
	if end.Stages != nil {
		t += k.Value(end.Fitted)
	} else {
		batch := min(s.Batch, seen)
		move := w.effort.Moving()
		t += float64(s.Steps) * samples * (move*1.5*k.Gradient(batch) + (1-move)*k.Value(batch))
	}
	return t + 1.5*draws*k.Value(estimated)
}

// beliefSeconds is the time of q(g), which one core makes.
func beliefSeconds(kernels int) float64 { return 2e-3 * float64(kernels) }

// bytes is the memory of a run: what lanes hold, what kernels carry from one
// evaluation to the next, the data, and the program with its garbage.
func (w *workload) bytes(lanes int) int64 {
	const word, chunk = 8, 1024
	m := w.last()
	left := w.kernels // at the end
	if w.config.Settings.AutoPruneMass > 0 {
		left = min(left, w.config.Settings.AutoPruneKeep)
	}
	held, scout := w.rows, m // of k(Z,X), for the gradient
	if !w.effort.Exact() {
		held, scout = vbks.ScoutSize(left, m)
	}
	held = vbks.KeptRows(held, scout)
	chunks := (held + chunk - 1) / chunk
	tape := min(64<<20, 3*word*int(w.params)*scout*min(chunk, held))
	lane := chunks*(word*scout*chunk+tape) + 2*word*scout*chunk + 12*word*m*m
	states := 0
	if !w.effort.Exact() {
		lane += 4 * word * m * max(w.config.Settings.Batch, vbks.ScreenRows)
		if w.effort.Ending(w.rows, w.rows, left, m, false).Stages != nil {
			lane += word * m * (vbks.KeptRows(w.rows, m) + chunk)
		}
		w.eachRung(func(m, kernels int) { states = max(states, 3*word*m*m*w.effort.Carried()*kernels) })
	}
	data := 6*word*w.rows*(w.dim+1) + 3000*min(w.rows, 20_000)*w.dim // periodograms
	return int64(25e6) + int64(lanes*lane+states+data)*3/2
}

// eachRung visits the numbers of inducing inputs with those of the kernels that carry matrices of
// such a size: those of a rung, the others none any more.
func (w *workload) eachRung(visit func(m, kernels int)) {
	kernels := w.kernels
	for i, m := range slices.Concat([]int{w.inducing}, w.rungs) {
		if i > 0 {
			kernels = w.config.Settings.RungKernels(w.rows, w.kernels, kernels, m)
		}
		visit(m, kernels)
	}
}
