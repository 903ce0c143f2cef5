package experiment

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"example.com/kestrel/datasets"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/prepare"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/internal/guard"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks"
	"example.com/kestrel/vbks/mixture"
)

// fake is a trainer whose evaluations consist of steps that the test lets
// happen one by one, or of none.
type fake struct {
	mu       sync.Mutex
	ids      []string
	pruned   map[string]bool
	planned  int
	index    int
	last     *vbks.Evaluation
	gate     func(context.Context) error
	progress func(vbks.Progress)
	steps    chan struct{} // nil: evaluations take no step
	passed   chan int      // receives the number of the step after the gate; nil: nobody listens
	busy     bool
	fail     func(index int) error
	broken   []*guard.PanicError   // of the next evaluation
	notices  []vbks.Notice         // of the next evaluation
	scoring  func(context.Context) // nil, or what predicting takes
	inducing int
}

func newFake(planned int, ids ...string) *fake {
	return &fake{ids: ids, planned: planned, pruned: map[string]bool{}}
}

// enter fails loudly if two goroutines use the trainer at once.
func (f *fake) enter() func() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.busy {
		panic("fake trainer used by two goroutines at once")
	}
	f.busy = true
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.busy = false
	}
}

func (f *fake) SetGate(g func(context.Context) error) { f.gate = g }

func (f *fake) SetProgress(p func(vbks.Progress)) { f.progress = p }

func (f *fake) Done() bool { return f.index >= f.planned }

func (f *fake) Planned() int { return f.planned }

func (f *fake) Inducing() int { return f.inducing }

func (f *fake) Last() *vbks.Evaluation { return f.last }

func (f *fake) Next(ctx context.Context) (*vbks.Evaluation, error) {
	defer f.enter()()
	if f.steps != nil {
		for i := range 3 {
			select {
			case <-f.steps:
			case <-ctx.Done():
			}
			if err := f.gate(ctx); err != nil {
				return nil, err
			}
			if f.passed != nil {
				f.passed <- i
			}
			f.progress(vbks.Progress{Done: i + 1, Total: 3})
		}
	} else if err := f.gate(ctx); err != nil {
		return nil, err
	}
	if f.fail != nil {
		if err := f.fail(f.index + 1); err != nil {
			return nil, err
		}
	}
	f.index++
	f.revise()
	f.last.Broken, f.broken = f.broken, nil
	f.last.Notices, f.notices = f.notices, nil
	return f.last, nil
}

// revise makes an evaluation in which the first live kernel leads.
func (f *fake) revise() {
	e := &vbks.Evaluation{Index: f.index, Proportion: min(1, float64(f.index)/10), RowsSeen: 10 * f.index}
	rank := 0
	for _, id := range f.ids {
		k := vbks.KernelResult{ID: id, Status: vbks.Live}
		if f.pruned[id] {
			k.Status = vbks.Pruned
		} else {
			rank++
			k.Rank, k.ELBO = rank, -1/float64(3*rank)
			k.Posterior, k.Bayes = 1/float64(rank*7), 1.0/3
			k.PointPosterior, k.PointBayes = 0.25, k.Bayes
			k.Params = []vbks.ParamValue{
				{Param: kernelspace.Param{Name: "variance"}, Value: 0.5}, {Param: kernelspace.Param{Name: "lengthscale"}, Value: 2},
			}
			k.Noise = 0.25
		}
		e.Kernels = append(e.Kernels, k)
	}
	f.last = e
}

func (f *fake) set(ids []string, pruned bool) (*vbks.Evaluation, error) {
	defer f.enter()()
	for _, id := range ids {
		if !slices.Contains(f.ids, id) {
			return nil, fmt.Errorf("no kernel %s", id)
		}
		f.pruned[id] = pruned
	}
	f.revise()
	return f.last, nil
}

func (f *fake) Prune(ids []string) (*vbks.Evaluation, error) { return f.set(ids, true) }

func (f *fake) Restore(ids []string) (*vbks.Evaluation, error) { return f.set(ids, false) }

func (f *fake) Reoptimize(c vbks.Change) error {
	defer f.enter()()
	if c.Rounds > 0 {
		f.planned += c.Rounds
	} else {
		f.planned = max(f.planned, f.index+1)
	}
	if c.Inducing > 0 {
		f.inducing = c.Inducing
	}
	return nil
}

func (f *fake) Predict(ctx context.Context, x []float64, o vbks.PredictOptions) (*mixture.Prediction, error) {
	defer f.enter()()
	if f.scoring != nil {
		f.scoring(ctx)
	}
	p := &mixture.Prediction{
		IDs: f.ids[:1], Weights: []float64{1}, Noise: []float64{1},
		Mean: [][]float64{make([]float64, len(x))}, Var: [][]float64{make([]float64, len(x))},
	}
	return p, f.gate(ctx)
}

func (f *fake) Checkpoint() map[string]vbks.Tensor {
	return map[string]vbks.Tensor{"run": {Shape: []int{1, 2}, Data: []float64{float64(f.index), 0.1}}}
}

// fakeRun makes a run of a fake trainer with four test rows.
func fakeRun(t *testing.T, f *fake, rec record.Recorder, change func(*config.Config)) *Run {
	t.Helper()
	c := config.Default()
	if change != nil {
		change(&c)
	}
	start := &record.Start{
		Name: "fake", Config: c.TOML(), Build: record.ReadBuild(), Data: &datasets.Summary{Name: "fake"}, Inducing: f.inducing,
		Planned: f.planned,
	}
	for _, id := range f.ids {
		start.Kernels = append(start.Kernels, record.KernelInfo{ID: id, Name: id + ", read", Weight: 1, Params: []record.ParamInfo{
			{Name: "SE.variance", Unit: "K²", Scale: 9}, {Name: "SE.lengthscale", Column: "time", Unit: "s", Scale: 10},
			{Name: "noise_variance", Unit: "K²", Scale: 9},
		}})
	}
	test := prepare.TestSet{X: []float64{1, 2, 3, 4}, Y: []float64{3, -3, 3, -3}, Dim: 1, Units: &datasets.Scaler{YScale: 3},
		Most: c.MetricRows}
	r := newRun(f, test, start, []string{"a notice"}, &c, rec)
	t.Cleanup(func() {
		if err := r.Close(); err != nil && !errors.Is(err, errClosed) {
			t.Error(err)
		}
	})
	return r
}

// settle waits for the end of a run.
func settle(t *testing.T, r *Run) Snapshot {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	s, err := r.Wait(ctx)
	must.OK(t, err)
	return s
}
