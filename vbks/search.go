package vbks

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sort"

	"kestrel/vbks/random"
)

// Numbers that steer the search for good hyperparameters; docs/architecture.md
// has the reasons.
const (
	screenRows      = 256  // rows on which fresh starts are first tried
	screenSteps     = 5    // L-BFGS iterations there
	draftSteps      = 12   // further ones for the third that did best
	stageSteps      = 12   // iterations on all rows before a start must look promising
	promising       = 40.0 // nats that a start may be behind then
	transplantSlack = 30.0 // nats that a transplant may be behind the present solution
	scoutFewest     = 10   // live kernels that the scout is still enlarged for
	scoutKernels    = 144  // and those for which it has
	scoutRows       = 768  // so many rows
	scoutInducing   = 64   // and so many inducing inputs
	maxFactor       = 1e4  // of the jitter's escalation
)

// starts returns the number of fresh starts of this evaluation: all while data
// are few and at the end, half of them between.
func (r *round) starts() int {
	p := float64(r.n) / float64(r.data.Rows())
	if p >= 0.3 && p < 1 {
		return (r.settings.Starts + 1) / 2
	}
	return r.settings.Starts
}

// searching reports whether this evaluation looks for other solutions at all:
// always where the bound on all rows is the local ELBO; for the stochastic
// optimisers, whose solutions move on in between, at evaluations 1, 2, 4, 8, ...,
// once all data are in use, and after a change of the inducing inputs.
func (r *round) searching() bool {
	if r.exact || r.number&(r.number-1) == 0 || r.n == r.data.Rows() && r.Trainer.rows < r.n {
		return true
	}
	return slices.ContainsFunc(r.live, func(k int) bool {
		s := r.kernels[k].state
		return s != nil && s.Mean == nil
	})
}

// draft is a fresh start after some iterations on few rows.
type draft struct {
	x     []float64
	value float64 // on those rows
	label string
}

// search finds hyperparameters for the kernels of a unit: from the last
// optimum and from fresh starts.
func (r *round) search(ctx context.Context, w *worker, unit []int) error {
	if err := r.load(w.bound.group, unit); err != nil {
		return err
	}
	stop := func() error { return r.step(ctx) }
	rows, err := w.points(r.train, r.rows)
	if err != nil {
		return err
	}
	screen, err := w.points(r.train, r.screen)
	if err != nil {
		return err
	}
	onRows := w.bound.boundObjective(rows, r.rows.yy, stop)
	onScreen := w.bound.boundObjective(screen, r.screen.yy, stop)

	if err := r.resume(ctx, unit, onRows); err != nil {
		return err
	}
	drafts, err := r.freshStarts(ctx, unit, onScreen)
	if err != nil {
		return err
	}
	if err := r.polish(ctx, unit, drafts, onRows); err != nil {
		return err
	}
	for i, k := range unit {
		if r.best[k].x != nil || r.failure[k] != "" {
			continue
		}
		if r.factor[k] < maxFactor {
			// No start could be evaluated: more jitter, once per evaluation and kept.
			r.factor[k] *= 10
			if err := r.search(ctx, w, []int{k}); err != nil {
				return err
			}
			if err := r.load(w.bound.group, unit); err != nil {
				return err
			}
			continue
		}
		var tried []float64
		if len(drafts[i]) > 0 {
			tried = drafts[i][0].x
		}
		r.failure[k] = r.describeFailure(k, tried)
	}
	return nil
}

// resume takes the kernels of a unit up where they were: optimised further on
// all rows, or only valued where the stochastic optimiser will take them
// further.
func (r *round) resume(ctx context.Context, unit []int, onRows objective) error {
	lastSteps := r.settings.Steps
	if !r.exact {
		lastSteps = 0
	}
	var sub []int
	var runs []*ascent
	for i, k := range unit {
		if s := r.kernels[k].state; s != nil {
			sub, runs = append(sub, i), append(runs, &ascent{start: s.Free})
		}
	}
	if err := r.climb(ctx, unit, sub, runs, lastSteps, onRows); err != nil {
		return err
	}
	for i, a := range runs {
		r.offer(unit[sub[i]], a, "last")
	}
	return nil
}

// freshStarts makes the fresh starts of the kernels of a unit, optimised a little on a
// few rows: for each kernel, the best first.
func (r *round) freshStarts(ctx context.Context, unit []int, onScreen objective) ([][]draft, error) {
	all := make([]int, len(unit))
	for i := range unit {
		all[i] = i
	}
	drafts := make([][]draft, len(unit))
	for s := range r.starts() {
		runs := make([]*ascent, len(unit))
		labels := make([]string, len(unit))
		for i, k := range unit {
			rng := random.Stream(r.settings.Seed, r.kernels[k].id, r.number<<10+s)
			labels[i] = "fresh"
			switch {
			case s%3 == 1 && r.best[k].x != nil:
				runs[i] = &ascent{start: r.drawer.shake(r.kernels[k].program, r.best[k].x, rng)}
				labels[i] = "shaken"
			case s%3 == 2 && len(r.donors) > 0:
				runs[i] = &ascent{start: r.drawer.recombine(r.kernels[k].program, r.donors, rng)}
				labels[i] = "recombined"
			default:
				number := s
				if r.number > 1 && s == 0 && r.number%4 != 0 {
					number = -1 // the middling start has been tried
				}
				runs[i] = &ascent{start: r.drawer.draw(r.kernels[k].program, rng, number)}
			}
		}
		if err := r.climb(ctx, unit, all, runs, screenSteps, onScreen); err != nil {
			return nil, err
		}
		for i, a := range runs {
			if a.x != nil {
				drafts[i] = append(drafts[i], draft{a.x, a.value, labels[i]})
			}
		}
	}
	// A third of them, at least three, go on: most starts show early what they
	// are worth.
	most := 0
	for i := range drafts {
		sortDrafts(drafts[i])
		drafts[i] = drafts[i][:min(len(drafts[i]), max(3, (r.starts()+2)/3))]
		most = max(most, len(drafts[i]))
	}
	for place := range most {
		sub, runs := ascents(drafts, place)
		if err := r.climb(ctx, unit, sub, runs, draftSteps, onScreen); err != nil {
			return nil, err
		}
		for j, i := range sub {
			if d := &drafts[i][place]; runs[j].x != nil && runs[j].value > d.value {
				d.x, d.value = runs[j].x, runs[j].value
			}
		}
	}
	for i := range drafts {
		sortDrafts(drafts[i])
	}
	return drafts, nil
}

// ascents makes an ascent from the draft at a place of every member that has so
// many.
func ascents(drafts [][]draft, place int) (sub []int, runs []*ascent) {
	for i := range drafts {
		if place < len(drafts[i]) {
			sub, runs = append(sub, i), append(runs, &ascent{start: drafts[i][place].x})
		}
	}
	return sub, runs
}

// sortDrafts puts the best first.
func sortDrafts(d []draft) {
	sort.SliceStable(d, func(a, b int) bool { return d[a].value > d[b].value })
}

// polish optimises the best draft of every kernel on all rows.
func (r *round) polish(ctx context.Context, unit []int, drafts [][]draft, onRows objective) error {
	sub, runs := ascents(drafts, 0)
	if err := r.staged(ctx, unit, sub, runs, onRows); err != nil {
		return err
	}
	for i, a := range runs {
		k := unit[sub[i]]
		slack := 0.0
		if !r.exact && r.best[k].x != nil && r.kernels[k].state != nil {
			slack = 5 // a restart forgets q(v): it must be worth it
		}
		if a.x != nil && a.value > r.valueOf(k)+slack {
			r.offer(k, a, drafts[sub[i]][0].label)
		}
	}
	return nil
}

// describeFailure says why no bound could be computed, with the
// hyperparameters tried.
func (r *round) describeFailure(k int, x []float64) string {
	kern := r.kernels[k]
	if x == nil {
		x = r.drawer.draw(kern.program, random.Stream(r.settings.Seed, kern.id, r.number<<10), 0)
	}
	return fmt.Sprintf("%s: k(Z,Z) is not positive definite or the bound is not finite, even with %g times the jitter, e.g. at %s",
		kern.id, r.factor[k], r.formatParams(kern, x))
}

// formatParams lists a kernel's hyperparameters on one line.
func (t *Trainer) formatParams(k *kernel, x []float64) string {
	raw, noise := rawParams(k.program, x, t.floor)
	s := ""
	for _, i := range k.program.Free {
		p := k.program.Params[i]
		s += fmt.Sprintf("%s[%d].%s=%.4g ", p.Base, p.Leaf+1, p.Name, raw[i])
	}
	return s + fmt.Sprintf("noise=%.4g", noise)
}

// climb runs ascents; with 0 steps it only values the starts.
func (r *round) climb(ctx context.Context, unit, sub []int, runs []*ascent, steps int, obj objective) error {
	if len(sub) == 0 {
		return nil
	}
	if steps > 0 {
		for i, a := range runs {
			a.scale = r.strides(r.kernels[unit[sub[i]]].program, a.start)
		}
		if err := ascend(ctx, r.gate, sub, runs, steps, obj); err != nil {
			return err
		}
		for i, a := range runs {
			r.breaks(unit[sub[i]], a, a.start)
		}
		return nil
	}
	return value(sub, runs, obj)
}

// breaks marks a kernel failed if a mistake of the program ended its ascent; free
// is where that began.
func (r *round) breaks(k int, a *ascent, free []float64) {
	if a.broken == nil || r.failure[k] != "" {
		return
	}
	r.failure[k] = fmt.Sprintf("%v, optimising from %s", a.broken, r.formatParams(r.kernels[k], free))
	r.broken[k] = a.broken
}

// staged runs ascents on all rows, giving up after a few iterations those that
// are far behind their kernel's best.
func (r *round) staged(ctx context.Context, unit, sub []int, runs []*ascent, obj objective) error {
	for i, a := range runs {
		a.against(&r.best[unit[sub[i]]])
	}
	if err := r.climb(ctx, unit, sub, runs, min(stageSteps, r.settings.Steps), obj); err != nil {
		return err
	}
	var again []int
	var rest []*ascent
	for i, a := range runs {
		if a.x != nil && !a.hopeless() && a.value > r.valueOf(unit[sub[i]])-promising {
			a.start = a.x
			again, rest = append(again, sub[i]), append(rest, a)
		}
	}
	if r.settings.Steps <= stageSteps {
		return nil
	}
	return r.climb(ctx, unit, again, rest, r.settings.Steps-stageSteps, obj)
}

// valueOf returns the value of a kernel's best solution so far.
func (r *round) valueOf(k int) float64 {
	if r.best[k].x == nil {
		return math.Inf(-1)
	}
	return r.best[k].value
}

// offer takes an ascent's result if it is the kernel's best.
func (r *round) offer(k int, a *ascent, source string) {
	if a.x == nil || a.value <= r.valueOf(k) {
		return
	}
	r.best[k] = solution{x: a.x, value: a.value, source: source, fresh: true}
}

// value evaluates the bound at the starts, without gradients.
func value(sub []int, runs []*ascent, obj objective) error {
	xs := make([][]float64, len(sub))
	for i, a := range runs {
		xs[i] = a.start
	}
	if err := obj.eval(sub, xs); err != nil {
		return err
	}
	for i, k := range sub {
		v, ok, err := obj.result(k, nil)
		if err != nil {
			return err
		}
		runs[i].evals++
		if ok {
			runs[i].x, runs[i].value = slices.Clone(xs[i]), v
		}
	}
	return nil
}
