package vbks

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"example.com/kestrel/device"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks/noise"
	"example.com/kestrel/vbks/params"
	"example.com/kestrel/vbks/random"
	"example.com/kestrel/vbks/starts"
)

// rowSet is a choice of training rows: the first N, or those listed.
type rowSet struct {
	N    int
	Rows []int32 // nil: the first N
	YY   float64 // Σ y², of weighted targets
}

// spreadRows takes at most count rows, evenly from the first n.
func (t *Trainer) spreadRows(n, count int) *rowSet {
	if n <= count {
		return &rowSet{N: n, YY: sumSquares(t.weighing.y[:n])}
	}
	s := &rowSet{N: count, Rows: make([]int32, count)}
	for i := range s.Rows {
		j := int(float64(i) * float64(n) / float64(count))
		s.Rows[i] = int32(j)
		s.YY += t.weighing.y[j] * t.weighing.y[j]
	}
	return s
}

// elboSample is the common subsample of the first n rows: those of a fixed
// permutation that have been seen, at most ELBORows.
func (t *Trainer) elboSample(n int) *rowSet {
	count := t.settings.sampled(n)
	if count == n {
		return &rowSet{N: n}
	}
	s := &rowSet{N: count}
	for _, i := range t.elboRows {
		if int(i) < n {
			s.Rows = append(s.Rows, i)
			if len(s.Rows) == count {
				break
			}
		}
	}
	return s
}

// tuneSample is the last rows of the permutation whose first are what local
// ELBOs are estimated on, so that the two have none in common where there are
// enough.
func (t *Trainer) tuneSample(count int) *rowSet {
	n := t.data.Rows()
	if count >= n {
		return &rowSet{N: n, YY: sumSquares(t.weighing.y[:n])}
	}
	s := &rowSet{N: count, Rows: t.elboRows[n-count:]}
	for _, i := range s.Rows {
		s.YY += t.weighing.y[i] * t.weighing.y[i]
	}
	return s
}

// sumSquares is Σ y².
func sumSquares(y []float64) (yy float64) {
	for _, v := range y {
		yy += v * v
	}
	return yy
}

// permutation is the fixed order in which rows are taken for the common
// subsample of the ELBO estimates.
func permutation(n int, seed uint64) []int32 {
	p := make([]int32, n)
	for i := range p {
		p[i] = int32(i)
	}
	random.Stream(seed, "elbo rows", 0).Shuffle(n, func(i, j int) { p[i], p[j] = p[j], p[i] })
	return p
}

// minibatches are the rows of a number of steps, the same for all kernels.
type minibatches struct {
	number int     // names the evaluation
	n      int     // rows that have been seen
	size   int     // rows of a batch: at most n
	steps  int     // number of batches
	rows   []int32 // steps x size; nil: every batch is all n rows
}

// drawMinibatches draws steps batches of distinct rows from the first n. They
// depend on the seed and the evaluation's number only.
func drawMinibatches(seed uint64, number, n, size, steps int) *minibatches {
	b := &minibatches{number: number, n: n, size: min(size, n), steps: steps}
	if b.size == n {
		return b
	}
	d := newBatchDrawer(seed, number, n, b.size, steps)
	d.draw(steps)
	b.rows = d.rows
	return b
}

// batchDrawer draws lists of minibatches, batch by batch and one list after
// another into the same memory.
type batchDrawer struct {
	seed           uint64
	n, size, steps int
	number         int // of the list
	rng            *rand.Rand
	taken          []uint32 // the last batch that has each row; nil: there are too many
	batch          uint32
	has            map[int]bool // the rows of the batch, then
	rows           []int32
}

// countedRows is the number of rows up to which each has a place of its own: every
// unit draws batches, and millions of places would be given up each time.
const countedRows = 1 << 18

// newBatchDrawer begins the list with a number.
func newBatchDrawer(seed uint64, number, n, size, steps int) *batchDrawer {
	d := &batchDrawer{seed: seed, n: n, size: size, steps: steps, rows: make([]int32, 0, steps*size)}
	if n <= countedRows {
		d.taken = make([]uint32, n)
	} else {
		d.has = make(map[int]bool, size)
	}
	d.begin(number)
	return d
}

// begin starts the list with a number.
func (d *batchDrawer) begin(number int) {
	d.number = number
	d.rng = random.Stream(d.seed, "minibatches", d.number)
	d.rows = d.rows[:0]
}

// next starts the list after it.
func (d *batchDrawer) next() { d.begin(d.number + 1) }

// draw adds so many batches to the list, by Floyd's algorithm.
func (d *batchDrawer) draw(count int) {
	for range count {
		if d.batch++; d.batch == 0 { // every number has been used
			clear(d.taken)
			d.batch = 1
		}
		clear(d.has)
		for j := d.n - d.size; j < d.n; j++ {
			r := d.rng.IntN(j + 1)
			if d.takes(r) {
				r = j
				d.takes(r)
			}
			d.rows = append(d.rows, int32(r))
		}
	}
}

// takes puts a row into the batch and reports whether it was there already.
func (d *batchDrawer) takes(r int) (was bool) {
	if d.taken == nil {
		was = d.has[r]
		d.has[r] = true
		return was
	}
	was = d.taken[r] == d.batch
	d.taken[r] = d.batch
	return was
}

// weighing is how much the rows that are known count. What has weights w_i of geometric
// mean 1 is
//
//	√w_i y_i = √w_i f(x_i) + ε_i,   ε_i ~ N(0, σ_n²),
//
// which is all that bounds, gradients, q(v) and predictions know of them: the device has
// the factors √w_i with the inputs. The weights are the same for all kernels, whose local
// ELBOs are then of the same rows and comparable, and are as densities those of the rows
// themselves.
type weighing struct {
	model   noise.Model
	rows    noise.Rows // what is known beforehand of all rows that there may be
	weights []float64  // of the rows that are known; nil: all are 1
	y       []float64  // targets times the roots of the weights
}

// of is the weight of a row.
func (w *weighing) of(row int) float64 {
	if w.weights == nil {
		return 1
	}
	return w.weights[row]
}

// weighted places rows with weights (nil: 1) on a device, and returns their targets times
// the roots of these.
func weighted(dev device.Device, x, y, weights []float64, dim int) (device.Data, []float64, error) {
	var roots []float64
	if weights != nil {
		roots, y = make([]float64, len(weights)), slices.Clone(y)
		for i, w := range weights {
			roots[i] = math.Sqrt(w)
			y[i] *= roots[i]
		}
	}
	d, err := device.NewScaled(dev, x, y, roots, dim)
	return d, y, err
}

// setWeights gives the rows that are known their weights, all 1 where they are nil.
func (t *Trainer) setWeights(weights []float64) error {
	train, y, err := weighted(t.dev, t.data.X, t.data.Y, weights, t.dim)
	if err != nil {
		return err
	}
	t.train, t.weighing.weights, t.weighing.y = train, weights, y
	return nil
}

// beginWeights gives the rows the weights that are known beforehand.
func (t *Trainer) beginWeights() error {
	w := &t.weighing
	w.model = noise.Model{Factor: 1}
	switch sds := t.all.NoiseSD; {
	case sds == nil:
	case len(sds) != t.all.Rows() || !positive(sds):
		return fmt.Errorf("standard deviations of the noise: %d for %d rows, or some that are not above 0", len(sds), t.all.Rows())
	default:
		w.rows.Known, w.model.Unit = noise.Relative(sds, t.all.deciding())
	}
	if c := t.all.NoiseBy - 1; c >= 0 {
		values := make([]float64, t.all.Rows())
		for i := range values {
			values[i] = t.all.X[i*t.dim+c]
		}
		w.rows.Level = w.model.Find(c, values)
	}
	return t.setWeights(t.weightsOfAll())
}

// weightsOfAll are those of the rows that are known: which they have, and what is known
// beforehand of the others; nil where all are 1.
func (t *Trainer) weightsOfAll() []float64 {
	w := &t.weighing
	if w.model.Plain() {
		return nil
	}
	n := t.data.Rows()
	of := noise.Begin(w.model, w.rows, n).Weights
	for i := len(w.weights); i < n; i++ {
		of[i] /= w.model.Factor
	}
	copy(of, w.weights)
	return of
}

// ordinary are the first n rows but for outliers, which look like periods to a periodogram.
func (t *Trainer) ordinary(n int) (x, y []float64) {
	if t.weighing.model.Normal() {
		return t.data.X[:n*t.dim], t.data.Y[:n]
	}
	for i := range n {
		at, v := t.data.X[i*t.dim:(i+1)*t.dim], 0.0
		if t.data.NoiseSD != nil {
			v = t.data.NoiseSD[i] * t.data.NoiseSD[i]
		}
		if scale, _ := t.weighing.model.ScaleAt(at, v); !t.weighing.model.Outlying(scale, t.weighing.of(i)) {
			x, y = append(x, at...), append(y, t.data.Y[i])
		}
	}
	return x, y
}

const (
	// Steps for the noise end when no weight moves by more than settledWeight of it, after
	// mostWeighings, or when they have taken so many multiplications and additions.
	settledWeight = 0.01
	mostWeighings = 25
	mostWeighed   = 2e10
	// keptNats is how far below what speaks for outliers they are kept where they have been found.
	keptNats = 3
)

// reweigh finds, before the next evaluation, the weights of the rows seen from what the
// leader of the last one leaves of them, at its hyperparameters but for σ_n²: whether they
// speak for outliers, and then by steps of noise.Fit, each with q(f) anew. It returns how
// to undo it.
func (t *Trainer) reweigh(ctx context.Context) (undo func(), err error) {
	none := func() {}
	if t.last == nil || t.last.Leader() < 0 || !t.settings.reweighs() && t.weighing.rows.Level == nil {
		return none, nil
	}
	if _, ok := t.dev.(device.Scaler); !ok {
		return none, nil
	}
	before, train, drawer, notices := t.weighing, t.train, t.drawer, t.notices
	undo = func() { t.weighing, t.train, t.drawer, t.notices = before, train, drawer, notices }
	leader := t.last.Leader()
	state := t.kernels[leader].state.unplaced()
	program := t.kernels[leader].program
	raw, s2 := params.Raw(program, state.Free, t.floor)
	fit := noise.Fit{Model: before.model, Noise: s2, Weights: slices.Clone(before.weights)}
	if fit.Weights == nil {
		fit.Weights = slices.Repeat([]float64{1}, t.data.Rows())
	}
	known := t.weighing.rows
	left, variance, err := t.residuals(ctx, leader, state)
	if err != nil {
		return none, err
	}
	outliers := false
	if t.settings.reweighs() {
		student := t.settings.Likelihood == StudentLikelihood
		tail, gain := noise.Best(fit.Standardised(known, left, variance), student)
		enough := 0.0
		if !fit.Normal() { // not now this and now that
			enough = -keptNats
		}
		switch outliers = student || gain > enough; {
		case !outliers:
			fit.Tail = noise.Tail{}
		case fit.Normal() || (fit.Nu > 0) != (tail.Nu > 0):
			fit.Tail = tail
		}
	}
	if !outliers && before.model.Normal() && known.Level == nil {
		return none, nil
	}
	most := min(mostWeighings, max(3, int(mostWeighed/(float64(t.rows)*float64(t.m)*float64(t.m)))))
	for range most {
		was := slices.Clone(fit.Weights)
		fit.Step(known, left, variance)
		moved := 0.0
		for i, w := range fit.Weights {
			moved = math.Max(moved, math.Abs(math.Log(w/was[i])))
		}
		t.weighing.model = fit.Model
		weights := fit.Weights
		if fit.Plain() {
			weights, t.weighing.model = nil, noise.Model{Factor: 1}
		}
		if err = t.setWeights(slices.Clone(weights)); err != nil || moved < settledWeight {
			break
		}
		state.Free = params.Free(program, raw, fit.Noise, t.floor)
		if left, variance, err = t.residuals(ctx, leader, state); err != nil {
			break
		}
		_, fit.Noise = params.Raw(program, state.Free, t.floor)
	}
	if err != nil {
		undo()
		return none, err
	}
	t.drawer = nil
	if was := before.model.Tail; was.Normal() == outliers || (was.Nu > 0) != (t.weighing.model.Nu > 0) {
		text := "the rows do not speak for outliers any more: noise is normal"
		if outliers {
			text = "noise has heavy tails: " + t.weighing.model.String()
		}
		t.notices = append(t.notices[:len(t.notices):len(t.notices)], Notice{Text: text})
	}
	return undo, nil
}

// residuals are what a kernel at a state leaves of the targets of the rows seen, and the
// variance of f there.
func (t *Trainer) residuals(ctx context.Context, kernel int, st *State) (left, variance []float64, err error) {
	r := t.asking()
	defer r.close()
	r.outcomes[kernel].Own = st.Z
	o := r.order(phasePredict)
	o.X = t.data.X[:t.rows*t.dim]
	if err := r.site().place(o); err != nil {
		return nil, nil, err
	}
	tasks := r.tasks([]int{kernel})
	tasks[0].Last = st
	if err := r.each(ctx, o, tasks); err != nil {
		return nil, nil, err
	}
	p := r.outcomes[kernel].Prediction
	left = slices.Clone(t.data.Y[:t.rows])
	for i := range left {
		left[i] -= p.Mean[i]
	}
	if !finite(left) || !finite(p.Var) {
		return nil, nil, fmt.Errorf("weights of rows: kernel %s cannot be evaluated at its hyperparameters", t.kernels[kernel].id)
	}
	return left, p.Var, nil
}

// weightsFor are the weights of other rows, by what is known of them beforehand and what
// the leader says of them; nil where all are 1.
func (t *Trainer) weightsFor(ctx context.Context, data Training) ([]float64, error) {
	m := &t.weighing.model
	if m.Plain() {
		return nil, nil
	}
	leader := t.last.Leader()
	p, err := t.predict(ctx, data.X, PredictOptions{IDs: []string{t.kernels[leader].id}, NoiseSD: data.NoiseSD})
	if err != nil {
		return nil, err
	}
	out := make([]float64, data.Rows())
	for i := range out {
		out[i] = m.Weight(p.NoiseScale[i], p.Noise[0], data.Y[i]-p.Mean[0][i], p.Var[0][i])
	}
	return out, nil
}

// squares of standard deviations, nil where there are none.
func squares(sds []float64) []float64 {
	if sds == nil {
		return nil
	}
	out := make([]float64, len(sds))
	for i, s := range sds {
		out[i] = s * s
	}
	return out
}

// positive reports whether all numbers are finite and above 0.
func positive(x []float64) bool {
	for _, v := range x {
		if !(v > 0) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}

// growth is how rows behind those that there were are taken in: after an evaluation
// that had seen so many, each further one adds step until there are no more.
type growth struct {
	evaluation, seen, step int
	rows                   int // known since; 0: there has been none
}

// holds reports whether inducing inputs that show too little of so many rows are no reason for more of them, but for fewer rows.
func (t *Trainer) holds(seen int) bool {
	n := t.data.Rows()
	free := t.settings.autoInducing() && t.settings.MostSeconds == 0 && t.apart == 0 && t.grown.rows == 0
	return free && seen <= t.settings.AllRows && t.settings.GrowRows(n) < n
}

// heldRows is on how many then.
func (t *Trainer) heldRows(seen int) int { return max(seen, t.settings.GrowRows(t.data.Rows())) }

// holdBack lets the space go on growing on so few rows that all can be inducing inputs, until no neighbour is left to try: on
// those that have been seen, if these are not fewer than settings say. If it returns an error nothing is changed.
func (t *Trainer) holdBack() (undo func() error, err error) {
	undo = t.keep()
	all, m, asked := t.data.Rows(), t.m, t.extra+t.rung
	rows := t.heldRows(t.rows)
	t.apart = all
	t.grown = growth{evaluation: t.evaluation, seen: t.rows, rows: rows, step: int(math.Ceil(t.settings.EvaluateEvery*float64(all) - 1e-9))}
	if err := t.know(rows); err != nil {
		return nil, joined(err, undo())
	}
	t.rungs = t.settings.Rungs(rows, t.atFirst())
	t.rung = max(0, slices.IndexFunc(t.rungs, func(next int) bool { return next > m }))
	if t.growsWhole() && t.schedule(t.evaluation+1) == rows {
		t.rung = len(t.rungs) - 1
	}
	t.extra, t.again, t.rough, t.told, t.drawer = asked-t.rung, 0, 0, false, nil
	t.expansion.blurred = false
	if err := t.reinduce(t.rungs[t.rung]); err != nil {
		return nil, joined(err, undo())
	}
	return undo, nil
}

// takeRest takes all rows in after the space has grown on the first of them, or is to grow no more, all as inducing inputs.
// Kernels that these say are far behind leave, and what has been tried is not tried again, unless it is undecided. If it returns an
// error nothing is changed.
func (t *Trainer) takeRest() (undo func() error, err error) {
	undo = t.keep()
	x, best := &t.expansion, t.bestWorth()
	stay := make([]*kernel, 0, len(t.kernels))
	for _, k := range t.kernels {
		if t.growing() && k.current(t.rows) && k.worth() < best-FarNats {
			x.tried, x.left = x.tried.Leave(k.id, t.rows), append(slices.Clip(x.left), k.id)
		} else {
			stay = append(stay, k)
		}
	}
	t.kernels = stay
	x.tried, x.blurred = x.tried.Settle(t.rows, t.apart), false
	t.relate()
	t.grown = growth{evaluation: t.evaluation, seen: t.rows, rows: t.apart, step: t.apart - t.rows}
	asked := t.extra + t.rung
	t.rungs = t.settings.Rungs(t.grown.rows, t.atFirst())
	t.rung = len(t.rungs) - 1
	for !t.growing() && t.rung > 0 && t.rungs[t.rung] > t.m { // the ladder says who goes on
		t.rung--
	}
	t.extra, t.again, t.rough, t.told = asked-t.rung, 0, 0, false
	why := fmt.Sprintf("the space of kernels grows no more on %d rows", t.rows)
	if t.growing() {
		why = fmt.Sprintf("of %d rows the space of kernels has grown, %d tried", t.rows, t.expansion.standing(t.kernels).Tried)
	}
	if err := t.takeIn(why); err != nil {
		return nil, joined(err, undo())
	}
	return undo, nil
}

// know makes the first n rows of all those that there are known.
func (t *Trainer) know(n int) error {
	t.data = t.all.UpTo(n)
	if err := t.setWeights(t.weightsOfAll()); err != nil {
		return err
	}
	t.scales = t.data.scales(n)
	t.span = t.scales.Span
	t.elboRows = permutation(n, t.settings.Seed)
	return nil
}

// UpTo are the first n rows.
func (d Training) UpTo(n int) Training {
	d.X, d.Y = d.X[:n*d.Dim:n*d.Dim], d.Y[:n:n]
	if d.NoiseSD != nil {
		d.NoiseSD = d.NoiseSD[:n:n]
	}
	return d
}

// known are the rows that there are at the beginning.
func (d Training) known() Training {
	if d.Begin > 0 && d.Begin < d.Rows() && len(d.X) == d.Rows()*d.Dim {
		return d.UpTo(d.Begin)
	}
	return d
}

// of are the rows that a checkpoint knows, which are fewer where the data may grow.
func (d Training) of(arrays map[string]Tensor) Training {
	run := arrays["run"].Data
	if apart := d.apart(arrays); apart > 0 && len(run) == runFields && run[4] >= 1 && run[4] < float64(apart) {
		if d.Begin = int(run[4]); d.First == 0 {
			d.First = apart
		}
	} else if d.First > 0 && len(run) == runFields && run[4] >= float64(d.First) && run[4] <= float64(d.Rows()) {
		d.Begin = int(run[4])
	}
	return d
}

// apart is up to which row a run takes rows in by itself that stands where a checkpoint says; 0: it does not.
func (d Training) apart(arrays map[string]Tensor) int {
	if v := arrays["apart"].Data; len(v) == 1 && v[0] > 1 && v[0] <= float64(d.Rows()) {
		return int(v[0])
	}
	return 0
}

// deciding is the number of rows that priors and the like are of.
func (d Training) deciding() int {
	if d.First > 0 {
		return min(d.First, d.Rows())
	}
	return d.Rows()
}

// scales are those of the first n rows.
func (d Training) scales(n int) kernelspace.Scales {
	s := starts.Summarise(d.X[:n*d.Dim], d.Y[:n], d.Dim)
	s.Seasons, s.Cycle = d.Seasons, d.Cycle
	return s
}
