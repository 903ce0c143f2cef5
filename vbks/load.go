package vbks

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"example.com/kestrel/device"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks/belief"
	"example.com/kestrel/vbks/front"
	"example.com/kestrel/vbks/noise"
	"example.com/kestrel/vbks/params"
)

// Resume makes a trainer that stands where another one stood when Checkpoint
// returned the arrays: it predicts and goes on bit for bit as that would have.
// The other arguments are as New had them; what Reoptimize changed since is in
// the arrays. These are not modified and must not be afterwards.
//
// It costs little as long as the trainer is only asked: the search for periods
// is left until Next needs it. A time budget counts anew, MostSeconds does not.
//
// Errors: arrays that are missing, damaged or not of these kernels, rows or
// settings, which are named.
func Resume(
	ctx context.Context, dev device.Device, data Training, space []Candidate, columns []string, s Settings, arrays map[string]Tensor,
) (*Trainer, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	l := &loader{arrays: arrays}
	t, err := newTrainer(dev, data.of(arrays), space, columns, s)
	if err != nil {
		return nil, err
	}
	l.run(t)
	l.weights(t)
	for i := range t.kernels {
		if l.err == nil && t.evaluation > 0 {
			l.kernel(t, i)
		}
	}
	if t.evaluation > 0 && l.err == nil {
		l.belief(t)
	}
	if t.evaluation > 0 && l.err == nil {
		l.last(t)
	}
	t.notices = l.notices(t, "notices")
	if l.err != nil {
		return nil, l.err
	}
	if err := t.lay(t.inducing); err != nil {
		return nil, err
	}
	if err := t.makeWorkers(); err != nil {
		return nil, fmt.Errorf("memory for the kernels: %w", err)
	}
	return t, nil
}

// Solution returns a kernel with its hyperparameters at the last evaluation
// that it took part in, standardised: the raw parameters of the program, or the
// means of their logarithms under q(log θ) as exponentials, and σ_n².
func (t *Trainer) Solution(id string) (p *kernelspace.Program, theta []float64, noise float64, err error) {
	i, err := t.solved(id)
	if err != nil {
		return nil, nil, 0, err
	}
	k := t.kernels[i]
	theta, noise = params.Raw(k.program, k.state.Free, t.floor)
	return k.program, theta, noise, nil
}

// solved finds a kernel that has a solution.
func (t *Trainer) solved(id string) (int, error) {
	i := slices.IndexFunc(t.kernels, func(k *kernel) bool { return k.id == id })
	switch {
	case i < 0:
		return 0, fmt.Errorf("kernel %s is not in the space", id)
	case t.kernels[i].status == Failed:
		return 0, fmt.Errorf("kernel %s has failed: %s", id, t.kernels[i].reason)
	case t.kernels[i].state == nil:
		return 0, fmt.Errorf("kernel %s has no solution yet", id)
	}
	return i, nil
}

// ErrCheckpoint is below Resume's errors that are about the arrays.
var ErrCheckpoint = errors.New("checkpoint")

// loader takes arrays out of a checkpoint. After its first error, which it
// keeps, it returns zeros.
type loader struct {
	arrays map[string]Tensor
	err    error
}

func (l *loader) fail(format string, args ...any) {
	if l.err == nil {
		l.err = fmt.Errorf("%w: "+format, append([]any{ErrCheckpoint}, args...)...)
	}
}

// numbers returns an array of the given length, of any length if it is
// negative.
func (l *loader) numbers(name string, length int) []float64 {
	t, ok := l.arrays[name]
	size := len(t.Data)
	switch {
	case !ok:
		l.fail("array %s is missing", name)
	case length >= 0 && size != length:
		l.fail("array %s has %d numbers where %d fit", name, size, length)
	case !finite(t.Data):
		l.fail("array %s holds numbers that are not finite", name)
	}
	if l.err != nil {
		return make([]float64, runFields) // what callers index
	}
	return t.Data
}

// optional is numbers, nil if the array is not there.
func (l *loader) optional(name string, length int) []float64 {
	if _, ok := l.arrays[name]; !ok || l.err != nil {
		return nil
	}
	return l.numbers(name, length)
}

// whole returns a number that must be whole and in [least, most].
func (l *loader) whole(name string, v float64, least, most int) int {
	if !(v >= float64(least) && v <= float64(most)) || v != math.Trunc(v) {
		l.fail("array %s: %v is not a whole number from %d to %d", name, v, least, most)
		return least
	}
	return int(v)
}

// text returns a text, "" if it is not there.
func (l *loader) text(name string) string {
	var b strings.Builder
	for _, v := range l.optional(name, -1) {
		b.WriteByte(byte(l.whole(name, v, 0, 255)))
	}
	return b.String()
}

// lines returns the lines of a text, nil if it is not there.
func (l *loader) lines(name string) []string {
	if s := l.text(name); s != "" {
		return strings.Split(s, "\n")
	}
	return nil
}

// notices returns the notices of a text, one a line. In a checkpoint of an earlier
// version none is about a kernel.
func (l *loader) notices(t *Trainer, name string) []Notice {
	out := plain(l.lines(name))
	name += "/kernels"
	about := l.optional(name, 2*len(out))
	if l.err != nil || about == nil {
		return out
	}
	for i := range out {
		if k := l.whole(name, about[2*i], -1, len(t.kernels)-1); k >= 0 {
			out[i].Kernel = t.kernels[k].id
		}
		out[i].Failed = about[2*i+1] != 0
	}
	return out
}

// run loads what is not a kernel's.
func (l *loader) run(t *Trainer) {
	if _, ok := l.arrays["format"]; !ok {
		l.fail("array format is missing; an older version of the program wrote it")
	}
	formats := []float64{checkpointFormat, ownFormat, weightFormat, grownFormat, lowerFormat}
	if v := l.numbers("format", 1)[0]; l.err == nil && !slices.Contains(formats, v) {
		age := "an older"
		if v > lowerFormat {
			age = "a newer"
		}
		l.fail("array format: version %v, known is %d; %s version of the program wrote it, which can use it", v, lowerFormat, age)
	}
	if got, want := l.text("optimizer"), t.settings.Optimizer+" "+t.settings.Hyperparameters; got != want {
		l.fail("array optimizer: of optimiser and hyperparameters %q, the settings say %q", got, want)
	}
	ids := l.lines("kernels")
	l.expansion(t, ids)
	if len(ids) != len(t.kernels) {
		l.fail("array kernels: %d kernels, the space has %d", len(ids), len(t.kernels))
	}
	for i, id := range ids {
		if l.err == nil && id != t.kernels[i].id {
			l.fail("array kernels: number %d is %s, in the space it is %s", i+1, id, t.kernels[i].id)
		}
	}
	n := t.data.Rows()
	if v := l.optional("apart", 1); v != nil {
		t.apart = l.whole("apart", v[0], n+1, t.all.Rows())
	}
	v := l.numbers("run", runFields)
	if l.err == nil && v[4] != float64(n) {
		l.fail("array run: of %v training rows, the data have %d", v[4], n)
	}
	// The floor is a share of the targets' variance.
	if l.err == nil && math.Abs(v[3]-t.floor) > 1e-9*t.floor {
		l.fail("array run: the noise floor was %v, with these data and settings it is %v", v[3], t.floor)
	}
	const most, mostRungs = math.MaxInt32, 64
	whole := func(i, least, most int) int { return l.whole("run", v[i], least, most) }
	t.evaluation, t.rows = whole(0, 0, most), whole(1, 0, n)
	t.m, t.floor, t.extra = whole(2, 1, n), v[3], whole(5, -mostRungs, most)
	t.settings.Steps, t.settings.Batch, t.settings.Inducing = whole(6, 0, most), whole(7, 0, most), whole(8, 0, most)
	if i := whole(9, -1, len(t.kernels)-1); i >= 0 && l.err == nil {
		t.leader = t.kernels[i].id
	}
	t.inducing = l.numbers("z", t.m*t.dim)
	if v := l.optional("grown", growthFields); v != nil {
		whole := func(i, least, most int) int { return l.whole("grown", v[i], least, most) }
		t.grown = growth{whole(0, 1, t.evaluation), whole(1, 1, t.rows), whole(2, 1, t.all.Rows()), whole(3, n, t.all.Rows())}
	}
	known := max(n, t.grown.rows)
	t.rungs = t.settings.Rungs(known, t.atFirst())
	if v := l.optional("rung", 2); v != nil && t.settings.autoInducing() {
		anywhere := t.settings
		anywhere.Room = 0
		rungs := anywhere.Rungs(known, t.atFirst())
		if v := l.optional("rough", 1); v != nil {
			t.rough = l.whole("rough", v[0], 1, len(rungs)-1)
			rungs = append(slices.Clone(rungs[:t.rough]), known)
			t.rungs = rungs
		}
		if v := l.optional("again", 1); v != nil {
			t.again = l.whole("again", v[0], 1, len(rungs))
			rungs = append(slices.Clone(rungs[:t.again]), t.m)
			t.rungs = rungs
		}
		t.rung, t.told = l.whole("rung", v[0], 0, len(rungs)-1), v[1] != 0
		if t.rung >= len(t.rungs) { // another machine had more room
			t.rungs = rungs[:t.rung+1]
		}
	}
	if v := l.optional("neighbours", 2); v != nil {
		if !(v[1] >= 0) || math.IsInf(v[1], 1) {
			l.fail("array neighbours: %v is no distance", v[1])
			return
		}
		t.decided, t.within = l.whole("neighbours", v[0], 1, math.MaxInt32), v[1]
	}
	if v := l.optional("calibration", 4); v != nil {
		if !(v[1] > 0 && v[1] < math.MaxInt32) {
			l.fail("array calibration: %v is no factor", v[1])
			return
		}
		t.calibrated = l.whole("calibration", v[0], 1, math.MaxInt32)
		t.calibration = &Calibration{v[1], l.whole("calibration", v[2], 1, mostOrigins), l.whole("calibration", v[3], 1, t.data.Rows())}
	}
	t.narrow = l.optional("narrow", 1) != nil
	if v := l.optional("spent", 1); v != nil {
		if !(v[0] >= 0 && v[0] < math.MaxInt32) {
			l.fail("array spent: %v is no time", v[0])
			return
		}
		t.spent = time.Duration(math.Round(v[0] * float64(time.Second))) // cut off, a nanosecond would be lost
	}
}

// weights loads those of the rows.
func (l *loader) weights(t *Trainer) {
	v := l.optional("noise", noiseFields)
	if v == nil {
		return
	}
	m := t.weighing.model
	m.Factor, m.Outliers, m.Tail = v[0], v[1], noise.Tail{Nu: v[3], Share: v[4], Ratio: v[5]}
	levels := l.optional("noise/levels", -1)
	if len(levels)%2 != 0 || (len(levels) > 0) != (len(m.Levels) > 0) || (v[2] > 0) != (m.Unit > 0) {
		l.fail("array noise: it is not of these data and settings")
	}
	for ; len(levels) > 1; levels = levels[2:] { // rows that came since may have brought others
		if i := slices.IndexFunc(m.Levels, func(o noise.Level) bool { return o.Value == levels[0] }); i >= 0 {
			m.Levels[i].Factor = levels[1]
		} else {
			l.fail("array noise/levels: %v is no level of these data", levels[0])
		}
	}
	weights := l.numbers("noise/weights", t.data.Rows())
	if err := m.Check(t.dim); err != nil || l.err == nil && !positive(weights) {
		l.fail("array noise: %v, or weights that are not above 0", err)
	}
	if l.err != nil {
		return
	}
	t.weighing.model = m
	if err := t.setWeights(weights); err != nil {
		l.fail("array noise/weights: %v", err)
	}
}

// kernel loads kernel i.
func (l *loader) kernel(t *Trainer, i int) {
	k := t.kernels[i]
	name := func(part string) string { return fmt.Sprintf("kernel/%d/%s", i, part) }
	v := l.numbers(name("status"), statusFields)
	whole := func(i, most int) int { return l.whole(name("status"), v[i], 0, most) }
	k.elbo, k.rows = v[0], whole(5, t.rows)
	k.status, k.low = statuses()[whole(6, len(statuses())-1)], whole(7, math.MaxInt32)
	k.reason, k.source = l.text(name("reason")), l.text(name("source"))
	k.terms = l.optional(name("terms"), -1)
	if k.terms != nil && len(k.terms) > k.rows {
		l.fail("array %s has %d numbers, for %d rows", name("terms"), len(k.terms), k.rows)
	}
	if v := l.optional(name("gain"), 1); v != nil {
		k.gain = v[0]
	}
	if v := l.optional(name("modes"), -1); v != nil {
		f := len(k.program.Free) + 1
		each := f + f*f + 1
		if len(v)%each != 0 || len(v) > mostModes*each {
			l.fail("array %s has %d numbers, for modes of %d", name("modes"), len(v), each)
		} else {
			for ; len(v) > 0; v = v[each:] {
				k.modes = append(k.modes, solution{X: v[:f:f], Chol: v[f : f+f*f : f+f*f], Volume: v[f+f*f]})
			}
		}
	}
	if v := l.optional(name("volume"), volumeFields); v != nil {
		k.volume, k.crude = v[0], v[1] != 0
	}
	if v := l.optional(name("between"), 2*(len(k.program.Free)+1)); v != nil {
		f := len(v) / 2
		k.between = [2][]float64{v[:f:f], v[f:]}
	}
	if v := l.optional(name("evidence"), 2); v != nil {
		_, tight := l.arrays[name("tight")]
		k.bounds = &Evidence{v[0], v[1], tight}
	}
	for v := l.optional(name("past"), -1); len(v) > 0 && l.err == nil; v = v[pastFields:] {
		if len(v) < pastFields {
			l.fail("array %s ends within an evaluation", name("past"))
			break
		}
		p := pastELBO{
			evaluation: l.whole(name("past"), v[0], 1, t.evaluation), rows: l.whole(name("past"), v[1], 1, t.rows), elbo: v[2],
			inducing: l.whole(name("past"), v[3], 1, t.data.Rows()),
		}
		if known := l.whole(name("past"), v[4], pastUnbounded, pastTight); known != pastUnbounded {
			p.bounds = &Evidence{v[5], v[6], known == pastTight}
		}
		k.past = append(k.past, p)
	}
	for i, v := range l.optional(name("looked"), len(k.past)) {
		k.past[i].windows = v != 0
	}
	if v := l.optional(name("windows"), windowsFields+len(k.program.Free)+1); v != nil {
		rows, seen := l.whole(name("windows"), v[3], 1, t.data.Rows()), l.whole(name("windows"), v[5], 1, t.data.Rows())
		k.nearby = &nearby{Windows{v[0], v[1], v[2], rows}, v[windowsFields:], v[4], seen, l.whole(name("windows"), v[6], 1, t.data.Rows())}
	}
	for v := l.optional(name("ends"), -1); len(v) > 0 && l.err == nil; v = v[endFields:] {
		if len(v) < endFields {
			l.fail("array %s ends within a rung", name("ends"))
			break
		}
		k.ends = append(k.ends, rungEnd{l.whole(name("ends"), v[0], 1, t.evaluation), v[1], v[2], v[3], 0})
	}
	for i, v := range l.optional(name("sampled"), len(k.ends)) {
		k.ends[i].sampled = v
	}
	if v := l.optional(name("heard"), 2+len(k.program.Free)); v != nil {
		k.heard = solution{X: v[1:], Value: v[0]}
	}
	if v := l.optional(name("left"), 1); v != nil {
		if k.left = l.whole(name("left"), v[0], 1, t.data.Rows()); len(k.ends) == 0 {
			l.fail("array %s is missing", name("ends"))
		}
	}
	if _, ok := l.arrays[name("free")]; !ok && k.status == Failed {
		return // at its first evaluation
	}
	s := &State{Factor: v[1], Steps: whole(2, math.MaxInt32), Rows: v[3], Seen: v[4]}
	rule := t.optimizer.stepping()
	for _, p := range s.parts(len(k.program.Free)+1, t.m) {
		size := 1
		for _, n := range p.shape {
			size *= n
		}
		if !p.lower || len(l.arrays[name(p.name)].Data) != triangle(t.m) { // whole, as older programs wrote it
			*p.data = l.optional(name(p.name), size)
		} else if v := l.numbers(name(p.name), triangle(t.m)); l.err == nil {
			// Λ is symmetric, a factor and its moments are triangles.
			*p.data = unpackLower(v, t.m, p.data == &s.Chol && rule != nil && rule.byPrecision())
		}
	}
	s.Z = l.optional(name("z"), t.m*t.dim)
	if s.Free == nil {
		l.fail("array %s is missing", name("free"))
	}
	if (s.Mean == nil) != (s.Chol == nil) {
		l.fail("of arrays %s and %s one is missing", name("mean"), name("chol"))
	}
	k.state = s
	mean := l.optional(name("ahead_mean"), t.m)
	if mean == nil || l.err != nil {
		return
	}
	if k.nearby == nil {
		l.fail("array %s is missing", name("windows"))
		return
	}
	rows := float64(k.nearby.seen)
	k.ahead = &State{Free: k.nearby.x, Factor: s.Factor, Mean: mean, Rows: rows, Seen: rows, Z: l.numbers(name("ahead_z"), t.m*t.dim)}
	if whole := len(l.arrays[name("ahead_chol")].Data) == t.m*t.m; whole {
		k.ahead.Chol = l.numbers(name("ahead_chol"), t.m*t.m)
	} else if v := l.numbers(name("ahead_chol"), triangle(t.m)); l.err == nil {
		k.ahead.Chol = unpackLower(v, t.m, true)
	}
}

// belief loads q(g), which is over the kernels that are up to date or were left out.
func (l *loader) belief(t *Trainer) {
	places := l.numbers("belief/kernels", -1)
	k := len(places)
	b := &belief.Belief{
		Mean: l.numbers("belief/mean", k), Chol: l.numbers("belief/chol", k*k),
		Objective: l.numbers("belief/objective", 1)[0], Start: l.text("belief/start"),
	}
	var members []float64
	for _, i := range t.members() {
		members, b.IDs = append(members, float64(i)), append(b.IDs, t.kernels[i].id)
	}
	if !slices.Equal(places, members) {
		l.fail("array belief/kernels: it is over the kernels %v, but those up to date are %v", places, members)
	}
	t.belief, t.led, t.since = b, t.leader, t.evaluation
	if v := l.optional("belief/since", 2); v != nil {
		t.led = t.kernels[l.whole("belief/since", v[0], 0, len(t.kernels)-1)].id
		t.since = l.whole("belief/since", v[1], 0, t.evaluation)
	}
}

// last makes the last evaluation anew.
func (l *loader) last(t *Trainer) {
	t.notices = l.notices(t, "evaluation/notices")
	t.compared = t.m
	if v := l.optional("evaluation/inducing", 1); v != nil {
		t.compared = l.whole("evaluation/inducing", v[0], 1, t.data.Rows())
	}
	e := t.report(t.belief)
	for i := range e.Kernels {
		r := &e.Kernels[i]
		if r.LeftOut {
			v := l.numbers(fmt.Sprintf("kernel/%d/share", i), shareFields)
			r.Posterior, r.Bayes, r.PointPosterior, r.PointBayes = v[0], v[1], v[2], v[3]
		}
		if r.Status != Live {
			continue
		}
		name := fmt.Sprintf("kernel/%d/result", i)
		v := l.numbers(name, resultFields)
		r.Posterior, r.Bayes, r.SE, r.Tied = v[0], v[1], v[2], v[4] != 0
		r.Rank = l.whole(name, v[3], 1, len(e.Kernels))
		r.PointPosterior, r.PointBayes = r.Posterior, r.Bayes
		if v := l.optional(fmt.Sprintf("kernel/%d/point", i), pointFields); v != nil {
			r.PointPosterior, r.PointBayes = v[0], v[1]
		}
	}
	leader := e.Leader()
	if leader < 0 {
		l.fail("arrays kernel/.../result: no kernel is ranked first")
		return
	}
	for i := range e.Kernels {
		e.Kernels[i].Apart = e.Kernels[i].Rank > 0 && e.Kernels[i].below(&e.Kernels[leader])
	}
	t.judge(e)
	t.last = e
}

// Inputs returns the inducing inputs, M x Dim, standardised; they are not to be changed.
func (t *Trainer) Inputs() []float64 { return t.inducing }

// OwnInputs returns those that a kernel has of its own, nil where it has those of all.
func (t *Trainer) OwnInputs(id string) []float64 {
	if i, err := t.solved(id); err == nil {
		return t.kernels[i].state.Z
	}
	return nil
}

// expansion loads how the space grows, and makes the kernels of these ids.
func (l *loader) expansion(t *Trainer, ids []string) {
	v := l.optional("growth", growingFields)
	if v == nil {
		return
	}
	x := &t.expansion
	if x.grammar == nil {
		if err := t.expand(); err != nil {
			l.fail("array growth: %v", err)
			return
		}
	}
	x.on, x.over = v[0] != 0, v[1] != 0
	x.blurred = l.optional("growth/blurred", 1) != nil
	if ended := l.optional("growth/ended", 1); ended != nil {
		x.ended = l.whole("growth/ended", ended[0], 0, math.MaxInt32)
	}
	lines := l.lines("growth/passed")
	var err error
	if x.passed, err = front.ParsePassed(lines, l.optional("growth/passed/scores", len(lines))); err != nil {
		l.fail("array growth/passed: %v", err)
		return
	}
	tried := l.lines("growth/tried")
	rows := l.optional("growth/rows", len(tried))
	if (len(tried) > 0) != (rows != nil) {
		l.fail("of arrays growth/tried and growth/rows one is missing")
		return
	}
	x.tried = front.Tried{}
	for i, id := range tried {
		x.tried[id] = l.whole("growth/rows", rows[i], 0, front.Forever)
	}
	space := make([]Candidate, len(ids))
	for i, id := range ids {
		if space[i], err = t.candidate(id); err != nil {
			l.fail("array kernels: number %d: %v", i+1, err)
			return
		}
	}
	kernels, err := t.compile(space)
	if err != nil {
		l.fail("array kernels: %v", err)
		return
	}
	t.kernels = kernels
	t.assume(kernels)
}

// candidate is that of the space that the run began with, or one that has come since.
func (t *Trainer) candidate(id string) (Candidate, error) {
	if at := slices.IndexFunc(t.space, func(c Candidate) bool { return c.Expr.ID() == id }); at >= 0 {
		return t.space[at], nil
	}
	e, err := kernelspace.Parse(id)
	return Candidate{Expr: e}, err
}
