package vbks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"example.com/kestrel/internal/must"
	"example.com/kestrel/internal/thorough"
	"example.com/kestrel/vbks/params"
)

// stream is a series whose rows behind the first ones, which come in any order, lie beyond
// them.
func stream(n, first int) Training {
	d := trainingSeries(17, n)
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(d.X[a], d.X[b]) })
	rand.New(rand.NewPCG(1, 1)).Shuffle(first, func(i, j int) { order[i], order[j] = order[j], order[i] })
	out := Training{Dim: 1, First: first, Begin: first}
	for _, i := range order {
		out.X, out.Y = append(out.X, d.X[i]), append(out.Y, d.Y[i])
	}
	return out
}

// Rows behind are taken in as further evaluations: the first ones stay those that priors
// are of, all are seen at the end, each local ELBO is what dense algebra finds of all
// rows there, and the best is as good as from the beginning with all rows.
func TestGrowTakesAllRowsIn(t *testing.T) {
	thorough.Unraced(t)
	t.Parallel()
	for _, optimizer := range []string{"collapsed", "natural"} {
		for _, inducing := range []int{12, 0} {
			s := quickSettings(optimizer)
			s.Inducing, s.EvaluateEvery, s.Refine, s.NoiseFloor, s.Steps, s.Starts = inducing, 0.2, 1, 1e-3, 20, 2
			s.FirstInducing, s.MostInducing = 8, 20
			data := stream(80, 60)
			tr := trainerOn(t, 2, nil, data, s, fourKernels[1:]...)
			before := train(t, tr)
			if last := before[len(before)-1]; last.RowsSeen != 60 || last.Proportion != 1 {
				t.Fatalf("%d rows seen, %v, before", last.RowsSeen, last.Proportion)
			}
			priors := append([]prior(nil), tr.kernels[1].prior)
			must.OK(t, tr.Grow(80))
			if tr.Done() || tr.Planned() < len(before)+2+1 {
				t.Errorf("%s: %d evaluations are planned after %d", optimizer, tr.Planned(), len(before))
			}
			after := train(t, tr)
			var seen []int
			for i := range after {
				checkEvaluation(t, &after[i])
				seen = append(seen, after[i].RowsSeen)
			}
			if !slices.Equal(seen[:3], []int{76, 80, 80}) || after[0].Proportion != 76./80 || after[0].Index != len(before)+1 {
				t.Errorf("%s: rows seen %v, first %v", optimizer, seen, after[0].Proportion)
			}
			if !reflect.DeepEqual(priors[0], tr.kernels[1].prior) {
				t.Error("the priors have changed")
			}
			if most := slices.Max(tr.inducing); most < 0.9*slices.Max(data.X) || most < 1.05*slices.Max(data.X[:60]) {
				t.Errorf("%s: inducing inputs up to %v, the inputs up to %v", optimizer, most, slices.Max(data.X))
			}
			last := after[len(after)-1]
			for i, k := range tr.kernels {
				if last.Kernels[i].Status != Live {
					continue
				}
				raw, noise := params.Raw(k.program, k.state.Free, tr.floor)
				want := naiveCollapsed(k.program, raw, noise, data.X, data.Y, tr.inducing, 1, tr.jitter) + logThetaPrior(k.state.Free, k.prior)
				if math.Abs(last.Kernels[i].ELBO-want) > 1e-4 {
					t.Errorf("%s, M = %d, %s: local ELBO %v, by dense algebra %v", optimizer, tr.m, k.id, last.Kernels[i].ELBO, want)
				}
			}
			data.Begin = 0
			scratch := trainerOn(t, 2, nil, data, s, fourKernels[1:]...)
			all := train(t, scratch)
			best := func(e *Evaluation) float64 { return e.Kernels[e.Leader()].ELBO }
			if grown, anew := best(&last), best(&all[len(all)-1]); last.Inducing == all[len(all)-1].Inducing && grown < anew-1 {
				t.Errorf("%s, M = %d: the best local ELBO is %v, from the beginning with all rows %v", optimizer, last.Inducing, grown, anew)
			}
		}
	}
}

// A trainer that has been told of more rows is the same from a checkpoint, before and
// after it takes them in, twice over; orders between leave them announced; and an
// evaluation that is cancelled leaves no trace.
func TestGrowIsKept(t *testing.T) {
	thorough.Unraced(t)
	thorough.AnyInstructions(t)
	t.Parallel()
	for _, optimizer := range optimizers {
		s := quickSettings(optimizer)
		s.Inducing, s.FirstInducing, s.Steps = 0, 6, 5
		data := stream(70, 40)
		tr := trainerOn(t, 2, nil, data, s, fourKernels...)
		train(t, tr)
		for _, rows := range []int{55, 70} {
			must.OK(t, tr.Grow(rows))
			same(t, optimizer+" told", resumed(t, tr, s), tr)
			e, err := tr.Prune([]string{"PER"})
			must.OK(t, err)
			if e.Proportion != 1 {
				t.Errorf("%s: pruned at %v of the rows", optimizer, e.Proportion)
			}
			_, err = tr.Restore([]string{"PER"})
			must.OK(t, err)
			same(t, optimizer+" told, restored", resumed(t, tr, s), tr)
			was := snapshotOf(tr)
			ctx, cancel := context.WithCancel(t.Context())
			tr.SetGate(func(context.Context) error { cancel(); return ctx.Err() })
			if _, err := tr.Next(ctx); !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			tr.SetGate(nil)
			if now := snapshotOf(tr); !reflect.DeepEqual(now, was) {
				t.Errorf("%s: an evaluation that was cancelled has left a trace", optimizer)
			}
			for !tr.Done() {
				other := resumed(t, tr, s)
				next(t, tr)
				next(t, other)
				same(t, optimizer, other, tr)
			}
			if tr.Last().RowsSeen != rows {
				t.Errorf("%s: %d of %d rows seen", optimizer, tr.Last().RowsSeen, rows)
			}
		}
		if err := tr.Grow(70); err == nil {
			t.Error("grown to what there is")
		}
	}
	tr := trainerOn(t, 1, nil, stream(50, 40), quickSettings("collapsed"), "SE")
	if err := tr.Grow(50); err == nil {
		t.Error("grown before the first evaluation")
	}
}

// Kernels that were left out on the ladder take part again, and so do not those that the
// user has pruned; rows that are not there yet when others come are not lost.
func TestGrowBeginsTheLadderAgain(t *testing.T) {
	thorough.AnyInstructions(t)
	s := quickSettings("collapsed")
	s.Inducing, s.FirstInducing, s.MostInducing, s.Steps, s.NoiseFloor = 0, 4, 32, 5, 1e-4
	data := stream(60, 40)
	space := []string{"SE", "LIN+SE", "PER", "LIN", "RQ", "MATERN12", "LIN+RQ", "MATERN32", "CONST"}
	tr := trainerOn(t, 2, nil, data, s, space...)
	next(t, tr)
	_, err := tr.Prune([]string{"CONST"})
	must.OK(t, err)
	train(t, tr)
	out := 0
	for _, k := range tr.kernels {
		if k.left > 0 {
			out++
		}
	}
	if out == 0 || tr.rung == 0 {
		t.Fatalf("rung %d, %d kernels left out: the test says little", tr.rung, out)
	}
	must.OK(t, tr.Grow(60))
	e := next(t, tr)
	if tr.rung != 0 || e.Inducing != 4 {
		t.Errorf("rung %d, M = %d", tr.rung, e.Inducing)
	}
	for i, k := range tr.kernels {
		if want := map[bool]Status{true: Pruned, false: Live}[k.id == "CONST"]; e.Kernels[i].Status != want {
			t.Errorf("%s is %s", k.id, e.Kernels[i].Status)
		}
	}
	if !slices.ContainsFunc(e.Notices, func(n Notice) bool {
		return n.Text == fmt.Sprintf("evaluation %d takes in rows behind the 40 that there were: 60 in all; "+
			"%d kernels that were left out take part again", e.Index, out) || out == 1
	}) {
		t.Errorf("%+v", e.Notices)
	}
	// In the middle of the stream.
	data.Begin = 40
	tr = trainerOn(t, 1, nil, data, quickSettings("collapsed"), "SE", "LIN+SE")
	next(t, tr)
	must.OK(t, tr.Grow(60))
	var seen []int
	for _, e := range train(t, tr) {
		seen = append(seen, e.RowsSeen)
	}
	if !slices.Equal(seen, []int{34, 54, 60}) {
		t.Errorf("rows seen %v", seen)
	}
}

// Levels with a length each are those of the first rows; a row of another level has nothing in common with any.
func TestLevelsAreThoseOfTheBeginning(t *testing.T) {
	data := Training{Dim: 2, First: 30, Begin: 30}
	for i := range 40 {
		x, level := float64(i%7)/3, float64(i%3)
		if i >= 30 {
			level = 3
		}
		data.X, data.Y = append(data.X, x, level), append(data.Y, x+level)
	}
	if l := data.Levels(1); !slices.Equal(l, []float64{0, 1, 2}) {
		t.Errorf("levels %v", l)
	}
	tr := trainerOn(t, 1, nil, data, quickSettings("collapsed"), "SE[1]+CAT[2;ard]", "SE[1]+CAT[2]")
	next(t, tr)
	must.OK(t, tr.Grow(40))
	train(t, tr)
	p, _, _, err := tr.Solution("SE[1]+CAT[2;ard]")
	must.OK(t, err)
	if in := p.Instrs[1]; !slices.Equal(in.Levels, []float64{0, 1, 2}) || in.NumScale != 3 {
		t.Errorf("after more rows %+v", in)
	}
}
