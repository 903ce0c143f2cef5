package vbks

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
)

// Tensor is a named array of a checkpoint, row-major.
type Tensor struct {
	Shape []int     // sizes, of which Pieces has the product
	Data  []float64 // the last index runs fastest
	// Lower: Data is a square matrix, of which only the lower triangle counts, row by row: of M
	// rows Shape is M(M+1)/2. Where it is read from a file Data is no more than that.
	Lower bool
}

// checkpointFormat is the version of what Checkpoint returns, ownFormat where kernels have
// inducing inputs of their own, weightFormat where rows have weights and grownFormat where the
// space grows, which older programs would overlook; lowerFormat where matrices are lower
// triangles, which they could not read.
const checkpointFormat, ownFormat, weightFormat, grownFormat, lowerFormat = 2, 3, 4, 5, 6

// Status of a kernel as a number in a checkpoint: its place in this list.
func statuses() []Status { return []Status{Live, Pruned, Failed} }

// These are the lengths of "run", "kernel/i/status", "result", "point", of a row of
// "past" and of "ends", of "share" and of "volume".
const (
	runFields    = 10
	statusFields = 8
	resultFields = 5
	pointFields  = 2
	pastFields   = 7
	endFields    = 4
	shareFields  = 4
	volumeFields = 2
	growthFields = 4
	noiseFields  = 6

	growingFields = 2
	windowsFields = 7 // of "windows", before the free vector
)

// What is known of the log evidence in a row of "past".
const (
	pastUnbounded = iota
	pastBounded
	pastTight
)

// Checkpoint returns everything that the trainer has learned, by name; Resume
// makes a trainer of it. Texts are arrays of the numbers of their UTF-8 bytes.
//
//	format              2; 3 where a kernel has inducing inputs of its own, 4 where rows have weights, 5 where the
//	                    space grows; 6 where a kernel has matrices of M x M, whatever else there is
//	run                 evaluation, rows seen, M, noise floor, training rows, evaluations
//	                    added by Reoptimize, steps, batch, inducing inputs asked for (0:
//	                    "auto"), place of the leader in the space (−1: none)
//	rough               the rung that all rows came on before their turn; not there: none
//	again               how often M had been raised before the evaluation that kernels come back for which were
//	                    left out; not there: there is none
//	rung                where M is chosen by itself: how often it has been raised, 1 if it need not be again
//	apart               where the space grows on the first rows: up to which row it takes the others in when it has;
//	                    those of "run" are the first until then
//	grown               where rows were added behind, or the first wait for the others: after which evaluation the last time, rows seen then,
//	                    rows that each evaluation adds since, rows known since, of which those beyond the
//	                    training rows of "run" are taken in by the next evaluation
//	growth              where kernels come and go: 1 if they still do, 1 if there is no more to try
//	growth/passed       text: neighbours that there was no room for of all rows, their parents and the steps from there, one a
//	                    line, sorted, by tabs; not there if there are none
//	growth/passed/scores of each of these its parent's score with its own prior, and what it loses
//	growth/tried        text: ids of the kernels that have left, one a line, sorted; not there if none has
//	growth/rows         on how many rows each of these was compared
//	noise               where rows have weights: factor of σ_n² for rows to come, share of rows that count for
//	                    little, unit of the variances known beforehand (0: none are), degrees of freedom (0: not
//	                    Student's t), share of outliers, ratio of their variance (0: there are none)
//	noise/levels        L x 2: values of the input whose levels have a noise of their own, standardised, and
//	                    the factors of its variance; not there where there are none
//	noise/weights       N: of the training rows
//	neighbours          where Settings.Local is "auto": of which evaluation, how far from the rows known
//	                    neighbours predict; 0: nowhere
//	calibration 4       with Settings.Calibrate: of which evaluation, factor, origins, rows behind them
//	narrow 1            there where windows of neighbours do not see what matters
//	spent               with Settings.MostSeconds: seconds that evaluations have taken
//	optimizer           text: the optimiser, a space, the form of q(log θ)
//	kernels             text: the ids of the space, one a line
//	z                   M x D: inducing inputs, standardised
//	notices             text: what the next evaluation will tell, one a line; not there if empty
//	notices/kernels     for each line, the place in the space of the kernel that it is about (−1: none),
//	                    and 1 if that kernel has failed; not there if none is about a kernel
//	evaluation/notices  text: what the last one told
//	evaluation/notices/kernels
//	evaluation/inducing M at the last one; not there before this was told
//	belief/kernels      places in the space of the K kernels that q(g) is over
//	belief/mean         K
//	belief/chol         K x K
//	belief/objective    1
//	belief/start        text
//	belief/since        place of the kernel that led after the last evaluation, and the evaluation from which
//	                    on it did; not there before this was told
//
// and for the kernel at place i of the space, where there is such a thing,
//
//	kernel/i/status     local ELBO, jitter factor, steps of Adam, rows that Λ stands for and
//	                    rests on, rows that the ELBO stands for (0: of another M), 0, 1 or 2
//	                    for live, pruned or failed, evaluations of negligible mass
//	kernel/i/result     q*, Bayes' rule, paired standard error, rank, 1 if tied with the leader
//	kernel/i/point      q* and Bayes' rule without the errors of local ELBOs; not there where they are ignored
//	kernel/i/past       P x 7: of the last ones, newest first: evaluation, rows seen, local ELBO, M, 1
//	                    and the bounds on the log evidence, 2 where they are tight, zeros without; ELBO
//	                    and bounds with the volume
//	kernel/i/ends       E x 4: where it stood when rungs were left that it had taken part in, oldest
//	                    first: evaluation, local ELBO, middle of what bounds allow, error of its gap;
//	                    the first two with the volume
//	kernel/i/sampled    E: of these errors what came from a sample of the rows; not there where it is none
//	kernel/i/windows    log evidence by windows of neighbours, how far below and above it may be, rows that it was last
//	                    computed from, gap to the best, rows that had been seen, inducing inputs beside, free vector; not there
//	                    where windows say nothing
//	kernel/i/ahead_mean, ahead_chol, ahead_z  Λm and Λ of the q(v) that it predicts with, at the free vector of "windows",
//	                    where that is so, as "mean" and "chol", and inducing inputs
//	kernel/i/looked     P: 1 where the local ELBO in a row of "past" is that; not there where none is
//	kernel/i/left       M of the rung that it was left out of, until it takes part again
//	kernel/i/share      of one left out: q*, Bayes' rule, and both without the errors of local ELBOs
//	kernel/i/reason     text: why it failed or was pruned
//	kernel/i/source     text: where its solution came from
//	kernel/i/terms      the terms of the local ELBO on the common subsample
//	kernel/i/gain       of the ascent that led to its solution, in its last evaluations, nats; not there if 0
//	kernel/i/modes      D, F+F²+1: points that its density is integrated about, the
//	                    factors of the covariances there, log volumes; not there where it is not
//	kernel/i/volume     log volume of its mode, 1 if that is the prior's for want of curvature; not there
//	                    where the belief does not count it
//	kernel/i/evidence   lower and upper bound on the log evidence at its hyperparameters
//	kernel/i/tight      1 if these are from products with all of k(X,X); else not there
//	kernel/i/free       logarithms of the free hyperparameters and ρ, σ_n² = floor + exp ρ
//	kernel/i/mode       F: the mode that a belief of the collapsed bound is about
//	kernel/i/theta_chol F x F, factor of q(log θ)
//	kernel/i/z          M x D: inducing inputs of its own, standardised; not there where it has those of all
//	kernel/i/mean, chol q(v): m and C ("adam"), Λm and Λ ("natural"); of the matrices the lower triangles, row by row
//	kernel/i/..._m1, _m2 moments of Adam; those of C are such triangles, too
//
// No other wall time is part of it. The arrays may share memory with the
// trainer, which never writes into them.
func (t *Trainer) Checkpoint() map[string]Tensor {
	out := map[string]Tensor{}
	add := func(name string, data []float64, shape ...int) {
		if data == nil {
			return
		}
		if shape == nil {
			shape = []int{len(data)}
		}
		out[name] = Tensor{Shape: shape, Data: data}
	}
	text := func(name, s string) {
		if s != "" {
			add(name, textNumbers(s))
		}
	}
	ids := make([]string, len(t.kernels))
	for i, k := range t.kernels {
		ids[i] = k.id
	}
	told := func(name string, notices []Notice) {
		var lines []string
		var about []float64
		some := false
		for _, n := range notices {
			place, failed := slices.Index(ids, n.Kernel), 0.0
			if n.Failed {
				failed = 1
			}
			for line := range strings.SplitSeq(n.Text, "\n") {
				lines, about = append(lines, line), append(about, float64(place), failed)
			}
			some = some || place >= 0
		}
		text(name, strings.Join(lines, "\n"))
		if some {
			add(name+"/kernels", about, len(lines), 2)
		}
	}
	format := float64(checkpointFormat)
	if slices.ContainsFunc(t.kernels, func(k *kernel) bool { return k.state != nil && k.state.Z != nil }) {
		format = ownFormat
	}
	if t.weighing.weights != nil {
		format = weightFormat
		m := &t.weighing.model
		add("noise", []float64{m.Factor, m.Outliers, m.Unit, m.Nu, m.Share, m.Ratio})
		add("noise/weights", t.weighing.weights)
		var levels []float64
		for _, l := range m.Levels {
			levels = append(levels, l.Value, l.Factor)
		}
		add("noise/levels", levels, len(m.Levels), 2)
	}
	if t.expansion.grammar != nil {
		format = grownFormat
		t.expansion.save(add, text)
	}
	if slices.ContainsFunc(t.kernels, func(k *kernel) bool { return k.state != nil && k.state.Chol != nil }) {
		format = lowerFormat
	}
	add("format", []float64{format})
	add("run", []float64{
		float64(t.evaluation), float64(t.rows), float64(t.m), t.floor, float64(t.data.Rows()), float64(t.extra),
		float64(t.settings.Steps), float64(t.settings.Batch), float64(t.settings.Inducing),
		float64(slices.Index(ids, t.leader)),
	})
	if t.apart > 0 {
		add("apart", []float64{float64(t.apart)})
	}
	if g := &t.grown; g.rows > 0 {
		add("grown", []float64{float64(g.evaluation), float64(g.seen), float64(g.step), float64(g.rows)})
	}
	if t.settings.autoInducing() {
		told := 0.0
		if t.told {
			told = 1
		}
		add("rung", []float64{float64(t.rung), told})
		if t.rough > 0 {
			add("rough", []float64{float64(t.rough)})
		}
		if t.again > 0 {
			add("again", []float64{float64(t.again)})
		}
	}
	if t.narrow {
		add("narrow", []float64{1})
	}
	if t.settings.MostSeconds > 0 {
		add("spent", []float64{t.spent.Seconds()})
	}
	if t.decided == t.evaluation && t.evaluation > 0 {
		add("neighbours", []float64{float64(t.decided), t.within})
	}
	if c := t.calibration; c != nil && t.calibrated == t.evaluation {
		add("calibration", []float64{float64(t.calibrated), c.Factor, float64(c.Origins), float64(c.Rows)})
	}
	text("optimizer", t.settings.Optimizer+" "+t.settings.Hyperparameters)
	text("kernels", strings.Join(ids, "\n"))
	add("z", t.inducing, t.m, t.dim)
	told("notices", t.notices)
	if b := t.belief; b != nil {
		k := len(b.Mean)
		places := make([]float64, k)
		for i, id := range b.IDs {
			places[i] = float64(slices.Index(ids, id))
		}
		add("belief/kernels", places)
		add("belief/mean", b.Mean)
		add("belief/chol", b.Chol, k, k)
		add("belief/objective", []float64{b.Objective})
		text("belief/start", b.Start)
		add("belief/since", []float64{float64(slices.Index(ids, t.led)), float64(t.since)})
	}
	if t.last != nil {
		told("evaluation/notices", t.last.Notices)
		add("evaluation/inducing", []float64{float64(t.last.Inducing)})
	}
	for i, k := range t.kernels {
		name := func(part string) string { return fmt.Sprintf("kernel/%d/%s", i, part) }
		if k.state == nil && k.status == Live {
			continue
		}
		s := k.state
		if s == nil {
			s = &State{}
		}
		add(name("status"), []float64{
			k.elbo, s.Factor, float64(s.Steps), s.Rows, s.Seen, float64(k.rows),
			float64(slices.Index(statuses(), k.status)), float64(k.low),
		})
		text(name("reason"), k.reason)
		text(name("source"), k.source)
		add(name("terms"), k.terms)
		if k.gain != 0 {
			add(name("gain"), []float64{k.gain})
		}
		if t.settings.laplace() {
			crude := 0.0
			if k.crude {
				crude = 1
			}
			add(name("volume"), []float64{k.volume, crude})
		}
		if low := k.between[0]; low != nil {
			add(name("between"), slices.Concat(low, k.between[1]), 2, len(low))
		}
		if len(k.modes) > 0 {
			var modes []float64
			for _, m := range k.modes {
				modes = slices.Concat(modes, m.X, m.Chol, []float64{m.Volume})
			}
			add(name("modes"), modes)
		}
		if k.bounds != nil {
			add(name("evidence"), []float64{k.bounds.Lower, k.bounds.Upper})
			if k.bounds.Tight {
				add(name("tight"), []float64{1})
			}
		}
		var past, looked []float64
		for _, p := range k.past {
			at := 0.0
			if p.windows {
				at = 1
			}
			looked = append(looked, at)
			known, b := pastUnbounded, Evidence{}
			if p.bounds != nil {
				known, b = pastBounded, *p.bounds
			}
			if b.Tight {
				known = pastTight
			}
			past = append(past, float64(p.evaluation), float64(p.rows), p.elbo, float64(p.inducing), float64(known), b.Lower, b.Upper)
		}
		add(name("past"), past, len(k.past), pastFields)
		if slices.Contains(looked, 1) {
			add(name("looked"), looked)
		}
		var ends, sampled []float64
		for _, e := range k.ends {
			ends, sampled = append(ends, float64(e.evaluation), e.elbo, e.middle, e.drift), append(sampled, e.sampled)
		}
		add(name("ends"), ends, len(k.ends), endFields)
		if slices.ContainsFunc(sampled, func(v float64) bool { return v != 0 }) {
			add(name("sampled"), sampled)
		}
		if k.heard.X != nil {
			add(name("heard"), append([]float64{k.heard.Value}, k.heard.X...))
		}
		if n := k.nearby; n != nil {
			add(name("windows"), append([]float64{n.Nats, n.Low, n.High, float64(n.Rows), n.behind, float64(n.seen), float64(n.m)}, n.x...))
		}
		if k.ahead != nil {
			add(name("ahead_mean"), k.ahead.Mean)
			add(name("ahead_z"), k.ahead.Z, t.m, t.dim)
			out[name("ahead_chol")] = lowerOf(k.ahead.Chol, t.m)
		}
		if k.left > 0 {
			add(name("left"), []float64{float64(k.left)})
		}
		if t.last != nil && t.last.Kernels[i].LeftOut {
			r := &t.last.Kernels[i]
			add(name("share"), []float64{r.Posterior, r.Bayes, r.PointPosterior, r.PointBayes})
		}
		if t.last != nil && t.last.Kernels[i].Status == Live {
			r := &t.last.Kernels[i]
			tied := 0.0
			if r.Tied {
				tied = 1
			}
			add(name("result"), []float64{r.Posterior, r.Bayes, r.SE, float64(r.Rank), tied})
			if t.settings.integrates() {
				add(name("point"), []float64{r.PointPosterior, r.PointBayes})
			}
		}
		add(name("z"), s.Z, len(s.Z)/t.dim, t.dim)
		for _, p := range s.parts(len(k.program.Free)+1, t.m) {
			if p.lower && *p.data != nil {
				out[name(p.name)] = lowerOf(*p.data, t.m)
			} else {
				add(name(p.name), *p.data, p.shape...)
			}
		}
	}
	return out
}

// statePart is one array of a state.
type statePart struct {
	name  string
	data  *[]float64
	shape []int // where there is any
	lower bool  // kept as its lower triangle
}

// parts lists the arrays of a state of f free parameters and m inducing inputs
// with their names in a checkpoint.
func (s *State) parts(f, m int) []statePart {
	vector := func(name string, to *[]float64, shape ...int) statePart { return statePart{name, to, shape, false} }
	square := func(name string, to *[]float64) statePart { return statePart{name, to, []int{m, m}, true} }
	return []statePart{
		vector("free", &s.Free, f), vector("mode", &s.Mode, f), vector("free_m1", &s.FreeM1, f), vector("free_m2", &s.FreeM2, f),
		vector("theta_chol", &s.ThetaChol, f, f), vector("theta_chol_m1", &s.ThetaCholM1, f, f), vector("theta_chol_m2", &s.ThetaCholM2, f, f),
		vector("mean", &s.Mean, m), vector("mean_m1", &s.MeanM1, m), vector("mean_m2", &s.MeanM2, m),
		square("chol", &s.Chol), square("chol_m1", &s.CholM1), square("chol_m2", &s.CholM2),
	}
}

// textNumbers returns the bytes of a text as numbers.
func textNumbers(s string) []float64 {
	out := make([]float64, len(s))
	for i := range len(s) {
		out[i] = float64(s[i])
	}
	return out
}

// lowerOf is the lower triangle of an m x m matrix, without copying it.
func lowerOf(matrix []float64, m int) Tensor {
	return Tensor{Shape: []int{triangle(m)}, Data: matrix, Lower: true}
}

// triangle is how many numbers a triangle of m rows has, with the diagonal.
func triangle(m int) int { return m * (m + 1) / 2 }

// Pieces are the numbers of the array, in their order.
func (t Tensor) Pieces() iter.Seq[[]float64] {
	return func(yield func([]float64) bool) {
		if !t.Lower {
			yield(t.Data)
			return
		}
		m := int(math.Sqrt(float64(len(t.Data))))
		for i := range m {
			if !yield(t.Data[i*m : i*m+i+1]) {
				return
			}
		}
	}
}

// Len is how many they are.
func (t Tensor) Len() int {
	n := len(t.Data)
	if t.Lower {
		n = triangle(int(math.Sqrt(float64(n))))
	}
	return n
}

// unpackLower makes an m x m matrix of its lower triangle: a symmetric one, or with zeros above.
func unpackLower(packed []float64, m int, symmetric bool) []float64 {
	out := make([]float64, m*m)
	for i := range m {
		copy(out[i*m:i*m+i+1], packed[triangle(i):])
		if !symmetric {
			continue
		}
		for j := range i {
			out[j*m+i] = out[i*m+j]
		}
	}
	return out
}
