package experiment

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks"
	"example.com/kestrel/vbks/mixture"
)

// toy is a trainer that has the rules of vbks.Trainer and no arithmetic: an
// evaluation takes three steps, a prediction one.
type toy struct {
	ids     []string
	bad     string // it fails at its first evaluation
	status  map[string]vbks.Status
	rows    map[string]int
	n       int
	every   float64
	refine  int
	extra   int
	index   int
	last    *vbks.Evaluation
	gate    func(context.Context) error
	busy    sync.Mutex
	notices []vbks.Notice

	inducing int
	compared int // inducing inputs of the last evaluation
}

func newToy(ids []string, bad string, n int, every float64, refine int) *toy {
	f := &toy{ids: ids, bad: bad, n: n, every: every, refine: refine, status: map[string]vbks.Status{}, rows: map[string]int{}, inducing: 8}
	for _, id := range ids {
		f.status[id] = vbks.Live
	}
	return f
}

// alone fails loudly if two goroutines use the trainer at once.
func (f *toy) alone() func() {
	if !f.busy.TryLock() {
		panic("trainer used by two goroutines at once")
	}
	return f.busy.Unlock
}

func (f *toy) SetGate(g func(context.Context) error) { f.gate = g }

func (f *toy) SetProgress(func(vbks.Progress)) {}

func (f *toy) Last() *vbks.Evaluation { return f.last }

func (f *toy) Done() bool { return f.index >= f.Planned() }

func (f *toy) Planned() int { return int(math.Ceil(1/f.every-1e-9)) + f.refine + f.extra }

func (f *toy) Inducing() int { return f.inducing }

func (f *toy) seen(index int) int {
	return min(f.n, int(math.Ceil(float64(index)*f.every*float64(f.n)-1e-9)))
}

func (f *toy) Next(ctx context.Context) (*vbks.Evaluation, error) {
	defer f.alone()()
	for range 3 {
		if err := f.gate(ctx); err != nil {
			return nil, err
		}
	}
	f.index++
	f.notices = nil
	for _, id := range f.ids {
		if f.status[id] != vbks.Live {
			if f.compared != f.inducing {
				f.rows[id] = 0
			}
			continue
		}
		f.rows[id] = f.seen(f.index)
		if id == f.bad {
			f.status[id] = vbks.Failed
			f.notices = append(f.notices, vbks.Notice{Text: "kernel " + id + " failed: it is bad", Kernel: id, Failed: true})
		}
	}
	f.compared = f.inducing
	return f.revise()
}

// revise makes an evaluation in which the kernels have the ranks of their order.
func (f *toy) revise() (*vbks.Evaluation, error) {
	e := &vbks.Evaluation{Index: f.index, RowsSeen: f.seen(f.index), Notices: f.notices}
	e.Proportion = float64(e.RowsSeen) / float64(f.n)
	live := 0
	for _, id := range f.ids {
		k := vbks.KernelResult{ID: id, Status: f.status[id], Reason: "toy"}
		switch {
		case k.Status == vbks.Live && f.rows[id] == e.RowsSeen:
			live++
			k.Rank, k.ELBO, k.Noise, k.Reason = live, float64(-live), 1, ""
			k.Params = []vbks.ParamValue{{Param: kernelspace.Param{Name: "variance"}, Value: 1},
				{Param: kernelspace.Param{Name: "lengthscale"}, Value: 1}}
		case k.Status == vbks.Live:
			k.Status, k.Reason = vbks.Pruned, "restored"
		}
		e.Kernels = append(e.Kernels, k)
	}
	if live == 0 {
		return nil, fmt.Errorf("no kernel is left")
	}
	for i := range e.Kernels {
		if k := &e.Kernels[i]; k.Rank > 0 {
			k.Posterior = float64(2*(live-k.Rank)+1) / float64(live*live)
			k.Bayes = 1 / float64(live)
		}
	}
	f.last = e
	return e, nil
}

func (f *toy) change(ids []string, from, to vbks.Status) (*vbks.Evaluation, error) {
	defer f.alone()()
	before := map[string]vbks.Status{}
	for _, id := range f.ids {
		before[id] = f.status[id]
	}
	for _, id := range ids {
		if from == vbks.Pruned && f.status[id] == vbks.Live && f.rows[id] != f.seen(f.index) {
			continue // restored already, and shown as pruned until the next evaluation
		}
		if !slices.Contains(f.ids, id) || f.status[id] != from {
			f.status = before
			return nil, fmt.Errorf("kernel %s is not %s", id, from)
		}
		f.status[id] = to
	}
	e, err := f.revise()
	if err != nil {
		f.status = before
	}
	return e, err
}

func (f *toy) Prune(ids []string) (*vbks.Evaluation, error) {
	return f.change(ids, vbks.Live, vbks.Pruned)
}

func (f *toy) Restore(ids []string) (*vbks.Evaluation, error) {
	return f.change(ids, vbks.Pruned, vbks.Live)
}

func (f *toy) Reoptimize(c vbks.Change) error {
	defer f.alone()()
	if c.Rounds > 0 {
		f.extra += c.Rounds
	} else {
		f.extra += max(0, max(1, f.refine)-(f.Planned()-f.index))
	}
	if c.Inducing > 0 {
		f.inducing = c.Inducing
	}
	return nil
}

func (f *toy) Predict(ctx context.Context, x []float64, _ vbks.PredictOptions) (*mixture.Prediction, error) {
	defer f.alone()()
	e := f.last
	return &mixture.Prediction{
		IDs: []string{e.Kernels[e.Leader()].ID}, Weights: []float64{1}, Noise: []float64{1},
		Mean: [][]float64{make([]float64, len(x))}, Var: [][]float64{make([]float64, len(x))},
	}, f.gate(ctx)
}

func (f *toy) Checkpoint() map[string]vbks.Tensor {
	return map[string]vbks.Tensor{"run": {Shape: []int{1}, Data: []float64{float64(f.index)}}}
}
