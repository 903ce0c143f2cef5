package vbks

import (
	"context"
	"math"
	"slices"
	"testing"

	"example.com/kestrel/internal/thorough"
)

// In a growing space a solution from which no more is expected is taken as it is, on the same rows, unless it is not worth what
// it was; climbed further it would gain next to nothing. Other kernels are taken further, and so is everything once more rows come.
func TestSolutionsStandWhileASpaceGrows(t *testing.T) {
	thorough.AnyInstructions(t)
	t.Parallel()
	s := growingSettings("collapsed")
	s.Starts, s.AllRows, s.EvaluateEvery = 1, 60, .5
	tr := trainerOn(t, 1, nil, trainingSeries(1, 60), s, growingFrom...)
	var stood, moved []string
	tr.crew = crewFunc(func(ctx context.Context, p *Phase) error {
		for _, task := range p.tasks {
			k := tr.kernels[task.Kernel]
			switch o := p.order; {
			case o.Phase != phaseSearch:
			case o.Valued:
				stood = append(stood, k.id)
				if k.gain > .1 || k.gain <= 0 || k.past[0].rows != o.Rows || k.past[0].evaluation+1 != o.Number || !tr.growing() {
					t.Errorf("%s stands: %g nats are expected, %+v", k.id, k.gain, k.past[0])
				}
			case o.Resumed:
				moved = append(moved, k.id)
			}
		}
		return lanes{}.Each(ctx, p)
	})
	many, odd := 0, false
	for !tr.Done() {
		before, rows := map[string]kernel{}, tr.rows
		for _, k := range tr.kernels {
			before[k.id] = *k
		}
		stood, moved = nil, nil
		changed := ""
		if tr.evaluation > 3 && !odd && tr.growing() {
			i := slices.IndexFunc(tr.kernels, func(k *kernel) bool {
				return k.status == Live && k.source == sourceLast && k.gain > 0 && k.gain < stoodNats && k.past[0].rows == tr.data.Rows()
			})
			if i >= 0 { // as if rows had counted for more
				odd, changed = true, tr.kernels[i].id
				tr.kernels[i].elbo++
			}
		}
		next(t, tr)
		if tr.rows != rows && len(stood) > 0 {
			t.Errorf("%v stand though rows have come", stood)
		}
		if changed != "" && !(slices.Contains(stood, changed) && slices.Contains(moved, changed)) {
			t.Errorf("%s is not worth what it was; %v stand, %v are climbed", changed, stood, moved)
		}
		for _, id := range stood {
			was := before[id]
			if id == changed {
				continue
			}
			many++
			if slices.Contains(moved, id) {
				t.Errorf("%s stands and is climbed", id)
			}
			i := slices.IndexFunc(tr.kernels, func(k *kernel) bool { return k.id == id })
			if i < 0 { // it has left
				continue
			}
			k := tr.kernels[i]
			moved := k.gain != was.gain || !slices.Equal(k.state.Free, was.state.Free) || math.Abs(k.elbo-was.elbo) > stoodSlack
			if k.source == sourceLast && moved {
				t.Errorf("%s stands at %g, %v, after %g, %v", id, k.elbo, k.state.Free, was.elbo, was.state.Free)
			}
			all, err := tr.Climb(t.Context(), id, nil, 60)
			if err != nil {
				t.Fatal(err)
			}
			if all[0].Value > k.elbo+.5 {
				t.Errorf("%s stands at %g, from which a climb leads to %g", id, k.elbo, all[0].Value)
			}
		}
	}
	if many < 5 || !odd {
		t.Errorf("%d have stood, one that had changed: %v", many, odd)
	}
}

// What would be tried anew is what makes the difference: gain that is expected, other rows or inducing inputs, a gap in between, a
// solution of a relative's.
func TestWhatStands(t *testing.T) {
	thorough.AnyInstructions(t)
	t.Parallel()
	s := growingSettings("collapsed")
	s.Starts, s.AllRows, s.EvaluateEvery = 1, 60, .5
	tr := trainerOn(t, 1, nil, trainingSeries(1, 60), s, growingFrom...)
	for !tr.Done() {
		next(t, tr)
		r, err := tr.newRound(tr.evaluation + 1)
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(r.live, func(k int) bool {
			return r.stands(k) && len(r.kernels[k].past) > 1 && r.kernels[k].source == sourceLast
		})
		if i < 0 {
			r.close()
			continue
		}
		defer r.close()
		at := r.live[i]
		for what, change := range map[string]func(k *kernel){
			"gain": func(k *kernel) { k.gain = .2 }, "nothing known": func(k *kernel) { k.gain = 0 }, "rows": func(k *kernel) { k.past[0].rows-- },
			"inducing inputs": func(k *kernel) { k.past[0].inducing-- }, "evaluation": func(k *kernel) { k.past[0].evaluation-- },
			"relative": func(k *kernel) { k.source = "SE" }, "no past": func(k *kernel) { k.past = nil },
		} {
			was := r.kernels[at]
			copied := *was
			copied.past = slices.Clone(was.past)
			change(&copied)
			r.kernels[at] = &copied
			if r.stands(at) {
				t.Errorf("%s stands with another %s", was.id, what)
			}
			r.kernels[at] = was
		}
		return
	}
	t.Error("no kernel stands")
}
