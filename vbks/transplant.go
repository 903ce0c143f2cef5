package vbks

import (
	"context"

	"example.com/kestrel/vbks/starts"
)

// transplants tries the solutions of related kernels as starts, again and again
// while that changes something: once between, at most four times at the end. Sparing, it
// does so twice there, and looks only at kernels that are worse than a relative.
func (r *round) transplants(ctx context.Context, sparing bool) error {
	times := 1
	switch {
	case r.n < r.data.Rows():
	case sparing:
		times = 2
	default:
		times = 4
	}
	for time := range times {
		before := make([]solution, len(r.outcomes))
		changed := make([]bool, len(r.outcomes))
		for k := range r.outcomes {
			before[k] = r.outcomes[k].Best
		}
		for _, k := range r.live {
			best := &r.outcomes[k].Best
			changed[k] = time == 0 || best.Fresh
			best.Fresh = false
		}
		gifts := make([][]gift, len(r.kernels))
		var takers []int
		for _, k := range r.live {
			if r.outcomes[k].Failure != "" {
				continue
			}
			foremost := map[string]int{} // of the cousins with a part, the place among the gifts
			for i, rel := range r.kernels[k].kin {
				giver := before[rel.From]
				if !changed[rel.From] || giver.X == nil || time == 0 && r.stood[k] && r.stood[rel.From] {
					continue
				}
				if rel.Kind != starts.Cousin {
					gifts[k] = append(gifts[k], gift{From: i, X: giver.X, Value: giver.Value})
					continue
				}
				at, some := foremost[rel.Part]
				switch {
				case r.n < r.data.Rows():
				case !some:
					foremost[rel.Part] = len(gifts[k])
					gifts[k] = append(gifts[k], gift{From: i, X: giver.X, Value: giver.Value})
				case giver.Value > gifts[k][at].Value:
					gifts[k][at] = gift{From: i, X: giver.X, Value: giver.Value}
				}
			}
			if sparing {
				gifts[k] = betterThan(gifts[k], r.kernels[k].kin, before[k].Value)
			}
			if len(gifts[k]) > 0 {
				takers = append(takers, k)
			}
		}
		tasks := r.tasks(takers)
		for i := range tasks {
			tasks[i].Gifts = gifts[tasks[i].Kernel]
		}
		o := r.order(phaseTransplant)
		o.Time, o.Sparing = time, sparing
		if err := r.each(ctx, o, tasks); err != nil {
			return err
		}
		moved := false
		for _, k := range r.live {
			best := &r.outcomes[k].Best
			gain := best.Value - before[k].Value
			best.Fresh = gain > 0.5
			moved = moved || best.Fresh
		}
		if !moved {
			break
		}
	}
	return nil
}

// betterThan returns the best of the gifts that can be made part of what takes it and the
// best of other kinds, where they are better than that.
func betterThan(gifts []gift, kin []starts.Relation, value float64) (best []gift) {
	var part, other *gift
	for i := range gifts {
		g := &gifts[i]
		to := &other
		if kind := kin[g.From].Kind; kind == starts.Lift || kind == starts.Cousin {
			to = &part
		}
		if g.Value >= value+1 && (*to == nil || g.Value > (*to).Value) {
			*to = g
		}
	}
	for _, g := range []*gift{part, other} {
		if g != nil {
			best = append(best, *g)
		}
	}
	return best
}

// transplant values the transplants for the kernels of a unit and optimises the
// promising ones.
func (u *unit) transplant(ctx context.Context) error {
	bound := u.worker.bound
	if err := u.load(bound.group); err != nil {
		return err
	}
	rows, err := u.rows(u.order.Compared)
	if err != nil {
		return err
	}
	obj := bound.boundObjective(rows, u.order.Compared.YY, u.stop)
	plain := bound.boundValue(rows, u.order.Compared.YY, u.stop)

	type trial struct {
		run   *ascent
		label string
		quiet bool
	}
	trials := make([][]trial, len(u.tasks))
	most := 0
	for i := range u.tasks {
		m, f := u.model(i), &u.outcomes[i]
		rng := u.stream(i, 900+u.order.Time)
		for _, g := range u.tasks[i].Gifts {
			rel := m.kin[g.From]
			if !worthwhile(rel, g.Value, f.value(), u.order.Rows < u.total) {
				continue
			}
			quiet := rel.Kind == starts.Lift || rel.Kind == starts.Cousin
			all := u.drawer.Transplant(rel, u.models[rel.From].program, m.program, g.X, f.Best.X, rng)
			if u.order.Sparing && len(all) > 1 { // what changes nothing, and what the taker has, if it has
				all = append(all[:1], all[len(all)-1])
			}
			for j, x := range all {
				// The first of a lift adds what changes nothing: there the kernel is as good as what it contains.
				trials[i] = append(trials[i], trial{&ascent{start: x}, rel.Label, quiet && j == 0})
			}
		}
		most = max(most, len(trials[i]))
	}
	for j := range most {
		var sub []int
		var runs []*ascent
		for i := range trials {
			if j < len(trials[i]) {
				sub, runs = append(sub, i), append(runs, trials[i][j].run)
			}
		}
		if err := u.stop(); err != nil {
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
	for i := range trials {
		var best trial
		for _, t := range trials[i] {
			if t.quiet {
				u.outcomes[i].see(t.run)
			}
			if t.run.x != nil && (best.run == nil || t.run.value > best.run.value) {
				best = t
			}
		}
		if best.run == nil || best.run.value < u.outcomes[i].value()-transplantSlack {
			continue
		}
		best.run.start = best.run.x
		best.run.against(&u.outcomes[i].Best)
		sub, runs, labels = append(sub, i), append(runs, best.run), append(labels, best.label)
	}
	steps := u.settings.Steps
	if u.order.Sparing {
		steps = min(steps, stageSteps)
	}
	if err := u.climb(ctx, sub, runs, steps, obj); err != nil {
		return err
	}
	for j, a := range runs {
		u.outcomes[sub[j]].see(a)
		if f := &u.outcomes[sub[j]]; a.value > f.value()+u.optimizer.search().transplant {
			f.offer(a, labels[j])
		}
	}
	return nil
}

// worthwhile says whether a giver's solution can help at all: a kernel is
// hardly better than another that contains it. While rows are still to come less is tried.
func worthwhile(rel starts.Relation, giver, taker float64, early bool) bool {
	switch rel.Kind {
	case starts.Lift:
		return giver > taker-30 || !early && giver > taker-200
	case starts.Restriction:
		return giver > taker-1
	default:
		return giver > taker-30
	}
}
