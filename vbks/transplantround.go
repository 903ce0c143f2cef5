package vbks

import (
	"context"
	"slices"

	"kestrel/vbks/random"
)

// transplants tries the solutions of related kernels as starts, again and again
// while that changes something: once between, at most four times at the end.
func (r *round) transplants(ctx context.Context) error {
	times := 1
	if r.n == r.data.Rows() {
		times = 4
	}
	for time := range times {
		before := slices.Clone(r.best)
		changed := make([]bool, len(r.kernels))
		for _, k := range r.live {
			changed[k] = time == 0 || r.best[k].fresh
			r.best[k].fresh = false
		}
		var takers []int
		for _, k := range r.live {
			for _, rel := range r.kernels[k].kin {
				if changed[rel.from] && before[rel.from].x != nil && r.failure[k] == "" {
					takers = append(takers, k)
					break
				}
			}
		}
		err := r.each(ctx, "transplants", r.costliestFirst(takers), func(ctx context.Context, w *worker, unit []int) error {
			return r.transplantUnit(ctx, w, unit, before, changed, time)
		})
		if err != nil {
			return err
		}
		moved := false
		for _, k := range r.live {
			gain := r.best[k].value - before[k].value
			r.best[k].fresh = gain > 0.5
			moved = moved || r.best[k].fresh
		}
		if !moved {
			break
		}
	}
	return nil
}

// transplantUnit values the transplants for the kernels of a unit and optimises
// the promising ones.
func (r *round) transplantUnit(ctx context.Context, w *worker, unit []int, givers []solution, changed []bool, times int) error {
	if err := r.load(w.bound.group, unit); err != nil {
		return err
	}
	rows, err := w.points(r.train, r.rows)
	if err != nil {
		return err
	}
	stop := func() error { return r.step(ctx) }
	obj := w.bound.boundObjective(rows, r.rows.yy, stop)
	plain := w.bound.boundValue(rows, r.rows.yy, stop)

	type trial struct {
		run   *ascent
		label string
	}
	trials := make([][]trial, len(unit))
	most := 0
	for i, k := range unit {
		kern := r.kernels[k]
		rng := random.Stream(r.settings.Seed, kern.id, r.number<<10+900+times)
		for _, rel := range kern.kin {
			if !changed[rel.from] || givers[rel.from].x == nil || !r.worthwhile(rel, givers[rel.from].value, r.valueOf(k)) {
				continue
			}
			for _, x := range r.drawer.transplant(rel, r.kernels[rel.from].program, kern.program, givers[rel.from].x, r.best[k].x, rng) {
				trials[i] = append(trials[i], trial{&ascent{start: x}, rel.label})
			}
		}
		most = max(most, len(trials[i]))
	}
	for j := range most {
		var sub []int
		var runs []*ascent
		for i := range unit {
			if j < len(trials[i]) {
				sub, runs = append(sub, i), append(runs, trials[i][j].run)
			}
		}
		if err := r.step(ctx); err != nil {
			return err
		}
		if err := value(sub, runs, plain); err != nil {
			return err
		}
	}
	// Only the best is optimised: the second and third hardly ever come out ahead
	// of it.
	var sub []int
	var runs []*ascent
	var labels []string
	for i, k := range unit {
		var best trial
		for _, t := range trials[i] {
			if t.run.x != nil && (best.run == nil || t.run.value > best.run.value) {
				best = t
			}
		}
		if best.run == nil || best.run.value < r.valueOf(k)-transplantSlack {
			continue
		}
		best.run.start = best.run.x
		best.run.against(&r.best[k])
		sub, runs, labels = append(sub, i), append(runs, best.run), append(labels, best.label)
	}
	if err := r.climb(ctx, unit, sub, runs, r.settings.Steps, obj); err != nil {
		return err
	}
	for j, a := range runs {
		k := unit[sub[j]]
		slack := 0.0
		if !r.exact {
			slack = 2
		}
		if a.value > r.valueOf(k)+slack {
			r.offer(k, a, labels[j])
		}
	}
	return nil
}

// worthwhile says whether a giver's solution can help at all: a kernel is
// hardly better than another that contains it.
func (r *round) worthwhile(rel relation, giver, taker float64) bool {
	switch rel.kind {
	case lift:
		return giver > taker-200
	case restriction:
		return giver > taker-1
	default:
		return giver > taker-30
	}
}
