package experiment

import (
	"context"
	"slices"
	"testing"

	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/record/recordtest"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/vbks"
)

// A re-optimisation that comes while an evaluation is being scored costs it no
// row; where the inducing inputs are changed, what is known predicts nothing any
// more, and that is said.
func TestReoptimisingWhileScoring(t *testing.T) {
	for _, x := range []struct {
		what   string
		change vbks.Change
		then   func(*Run) error // right after it
		want   []string
	}{
		{"another round", vbks.Change{Rounds: 1}, nil, []string{"evaluation 1", "scores 1", "evaluation 2", "scores 2", "evaluation 3",
			"scores 3"}},
		{"other steps", vbks.Change{Steps: 9}, nil, []string{"evaluation 1", "scores 1", "evaluation 2", "scores 2"}},
		{"other inducing inputs", vbks.Change{Inducing: 7}, nil, []string{"evaluation 1", "1, no scores", "evaluation 2", "scores 2"}},
		{"as many inducing inputs", vbks.Change{Inducing: 5}, nil, []string{"evaluation 1", "scores 1", "evaluation 2", "scores 2"}},
		{"other inducing inputs, then a pruning", vbks.Change{Inducing: 7}, func(r *Run) error { return r.Prune([]string{"RQ"}) },
			[]string{"evaluation 1", "1, no scores", "pruned 1", "1, no scores", "evaluation 2", "scores 2"}},
	} {
		f, l := newFake(2, "SE", "RQ"), &recordtest.Log{}
		f.inducing = 5
		begun := make(chan struct{})
		f.scoring = func(ctx context.Context) {
			if f.index == 1 && begun != nil {
				close(begun)
				begun = nil
				<-ctx.Done()
			}
		}
		if x.then != nil { // the evaluation that follows must not come before it
			f.steps = make(chan struct{}, 9)
			for range 3 {
				f.steps <- struct{}{}
			}
		}
		wait := begun
		r := fakeRun(t, f, l, nil)
		must.OK(t, r.Start())
		<-wait
		must.OK(t, r.Reoptimize(x.change))
		if x.then != nil {
			must.OK(t, x.then(r))
			for range 3 {
				f.steps <- struct{}{}
			}
		}
		if s := settle(t, r); s.State != record.Finished {
			t.Fatalf("%s: %+v", x.what, s)
		}
		if got := l.Course(); !slices.Equal(got, x.want) {
			t.Errorf("%s: %q, want %q", x.what, got, x.want)
		}
	}
}
