package vbks

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
)

// Rungs rise to all rows where these are few, and end where work does; a number
// that is asked for is the only one.
func TestRungs(t *testing.T) {
	for _, c := range []struct {
		inducing, most, n int
		want              []int
	}{
		{0, 0, 30, []int{30}},
		{0, 0, 130, []int{64, 130}},
		{0, 0, 300, []int{64, 128, 300}},
		{0, 0, 1000, []int{64, 128, 256, 512, 1000}},
		{0, 200, 1000, []int{64, 128, 200}},
		{0, 40, 1000, []int{40}},
		{0, 0, 200_000, []int{64}},
		{0, 0, 1_000_000, []int{64}},
		{77, 50, 1000, []int{77}},
		{77, 0, 30, []int{30}},
	} {
		if got := (Settings{Inducing: c.inducing, MostInducing: c.most}).Rungs(c.n); !slices.Equal(got, c.want) {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// roughSeries is a random walk, which few inducing inputs do not follow.
func roughSeries(seed uint64, n int) Training {
	rng := rand.New(rand.NewPCG(seed, 3))
	d := Training{Dim: 1}
	level := 0.0
	for i := range n {
		level += rng.NormFloat64()
		d.X, d.Y = append(d.X, 4*float64(i)/float64(n)-2), append(d.Y, level)
	}
	return d
}

// The kernels of later rungs are fewer, their bounds closer, and the run ends when
// more inducing inputs could change nothing.
func TestClimbing(t *testing.T) {
	data := roughSeries(51, 150)
	s := quickSettings("collapsed")
	s.Inducing, s.EvaluateEvery, s.Refine = 0, 0.5, 0
	tr := trainerOn(t, 2, nil, data, s, "SE", "LIN", "PER", "PER+SE", "LIN+SE", "MATERN12", "RQ", "LIN+PER")
	if got := tr.Planned(); got != 3 {
		t.Fatalf("%d evaluations planned", got)
	}
	var all []Evaluation
	for !tr.Done() {
		all = append(all, *next(t, tr))
	}
	last := all[len(all)-1]
	if len(all) != tr.Planned() || last.Inducing != 150 || all[1].Inducing != 64 {
		t.Fatalf("%d of %d evaluations, with %d and %d inducing inputs", len(all), tr.Planned(), all[1].Inducing, last.Inducing)
	}
	live := 0
	for i, k := range last.Kernels {
		if k.Status != Live {
			continue
		}
		live++
		if k.Evidence == nil || k.Evidence.Slack() > all[1].Kernels[i].Evidence.Slack()+0.1 || k.Evidence.Slack() > settledNats {
			t.Errorf("%s: slack %+v, before %+v", k.ID, k.Evidence, all[1].Kernels[i].Evidence)
		}
	}
	if live < 2 || live > 6 {
		t.Errorf("%d finalists", live)
	}
}

// A climb that is interrupted leaves the trainer as it was, and a trainer that is
// resumed between rungs goes on alike.
func TestClimbingIsUndone(t *testing.T) {
	data := roughSeries(51, 150)
	s := quickSettings("collapsed")
	s.Inducing, s.EvaluateEvery, s.Refine = 0, 1, 0
	exprs := []string{"SE", "LIN", "PER", "PER+SE", "MATERN12", "RQ"}
	tr := trainerOn(t, 2, nil, data, s, exprs...)
	next(t, tr)
	if tr.told {
		t.Fatal("settled on the first rung")
	}
	arrays := tr.Checkpoint()
	ctx, cancel := context.WithCancel(t.Context())
	steps := 0
	tr.SetGate(func(context.Context) error {
		if steps++; steps == 20 {
			cancel()
		}
		return nil
	})
	if _, err := tr.Next(ctx); !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	if tr.m != 64 || tr.rung != 0 || tr.evaluation != 1 {
		t.Fatalf("M = %d on rung %d after %d evaluations", tr.m, tr.rung, tr.evaluation)
	}
	tr.SetGate(nil)
	want := next(t, tr)
	dev := onCPU(2)
	defer dev.Close()
	again, err := Resume(t.Context(), dev, data, candidates(t, exprs...), []string{"x"}, s, arrays)
	if err != nil {
		t.Fatal(err)
	}
	got := next(t, again)
	for i := range want.Kernels {
		a, b := want.Kernels[i], got.Kernels[i]
		if a.Status != b.Status || a.ELBO != b.ELBO || a.Posterior != b.Posterior {
			t.Errorf("%s: %+v, resumed %+v", a.ID, a, b)
		}
	}
	if got.Inducing != 150 || got.Index != 2 {
		t.Errorf("evaluation %d with %d inducing inputs", got.Index, got.Inducing)
	}
}
