package vbks

import (
	"bytes"
	"context"
	"encoding/gob"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"example.com/kestrel/internal/thorough"
	"example.com/kestrel/kernelspace"
)

// resumed makes a trainer from the checkpoint of another, through bytes, so that
// no memory is shared.
func resumed(t testing.TB, tr *Trainer, s Settings) *Trainer {
	t.Helper()
	var space []Candidate
	for _, k := range tr.kernels {
		space = append(space, Candidate{Expr: k.expr, Weight: 1})
	}
	dev := onCPU(1)
	t.Cleanup(func() { dev.Close() })
	out, err := Resume(context.Background(), dev, tr.all, space, []string{"x", "w"}[:tr.dim], s, filed(tr.Checkpoint()))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// filed returns arrays as a file has them, which share no memory with the given ones.
func filed(arrays map[string]Tensor) map[string]Tensor {
	out := map[string]Tensor{}
	for name, a := range arrays {
		out[name] = Tensor{Shape: a.Shape, Data: slices.Concat(slices.Collect(a.Pieces())...)}
	}
	return out
}

// copied returns arrays that share no memory with the given ones.
func copied(t testing.TB, arrays map[string]Tensor) map[string]Tensor {
	t.Helper()
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(arrays); err != nil {
		t.Fatal(err)
	}
	var out map[string]Tensor
	if err := gob.NewDecoder(&b).Decode(&out); err != nil {
		t.Fatal(err)
	}
	return out
}

// same fails the test unless two trainers know the same and predict the same,
// bit for bit.
func same(t *testing.T, what string, got, want *Trainer) {
	t.Helper()
	a, b := snapshotOf(got), snapshotOf(want)
	if !reflect.DeepEqual(a, b) {
		for name := range b.Tensors {
			if !reflect.DeepEqual(a.Tensors[name], b.Tensors[name]) {
				t.Errorf("%s: array %s differs: %v, want %v", what, name, a.Tensors[name], b.Tensors[name])
			}
		}
		if a.Last != nil && b.Last != nil {
			t.Log(firstDifference([]Evaluation{*a.Last}, []Evaluation{*b.Last}))
		}
		t.Fatalf("%s: not the same state", what)
	}
	if got.Done() != want.Done() || got.Planned() != want.Planned() || got.Settings() != want.Settings() {
		t.Fatalf("%s: not the same schedule or settings", what)
	}
	if want.Last() == nil {
		return
	}
	x := make([]float64, 14*want.dim)
	for i := range x {
		x[i] = -3 + 6*float64(i)/float64(len(x))
	}
	for _, o := range []PredictOptions{{}, {Top: 2, Weights: "bayes"}} {
		p, err := want.Predict(context.Background(), x, o)
		if err != nil {
			t.Fatal(err)
		}
		q, err := got.Predict(context.Background(), x, o)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(p, q) {
			t.Fatalf("%s: not the same predictions", what)
		}
	}
}

// k12 is the paper's space of 12 kernels.
func k12(t testing.TB) []string {
	t.Helper()
	set, err := kernelspace.Set("K12")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range set {
		out = append(out, e.ID())
	}
	return out
}

// A trainer made from a checkpoint goes on bit for bit as the one that wrote
// it: predictions, pruning, restoring, re-optimising, further evaluations.
func TestResumeGoesOnAlike(t *testing.T) {
	thorough.AnyInstructions(t)
	thorough.Unraced(t)
	t.Parallel()
	data := trainingSeries(11, 90)
	for _, optimizer := range optimizers {
		for _, hyper := range []string{"point", "diagonal"} {
			what := optimizer + " " + hyper
			s := quickSettings(optimizer)
			s.Hyperparameters, s.Steps, s.Starts, s.ELBORows, s.Refine = hyper, 4, 1, 50, 1
			s.AutoPruneMass, s.AutoPruneWait, s.AutoPruneKeep = 1e-3, 2, 4
			if hyper == "point" {
				s.Errors = "integrate"
			}
			space := k12(t)
			if optimizer != "collapsed" {
				space = space[:6]
			}
			if hyper == "diagonal" {
				space = space[:4]
			}
			tr := trainerOn(t, 2, nil, data, s, space...)
			same(t, what+" before the first evaluation", resumed(t, tr, s), tr)
			next(t, tr)
			other := resumed(t, tr, s)
			same(t, what+" after one evaluation", other, tr)
			next(t, tr)
			next(t, other)
			same(t, what+" going on", other, tr)

			other = resumed(t, tr, s)
			ids := []string{tr.kernels[1].id, tr.kernels[2].id}
			for _, x := range []*Trainer{tr, other} {
				if _, err := x.Prune(live(x, ids)); err != nil {
					t.Fatal(err)
				}
			}
			same(t, what+" pruned", other, tr)
			other = resumed(t, tr, s)
			same(t, what+" resumed pruned", other, tr)
			next(t, tr)
			next(t, other)
			for _, x := range []*Trainer{tr, other} {
				if _, err := x.Restore(ids); err != nil {
					t.Fatal(err)
				}
				if err := x.Reoptimize(Change{Steps: 5, Inducing: 10, Batch: 20, Rounds: 2}); err != nil {
					t.Fatal(err)
				}
			}
			same(t, what+" re-optimised", other, tr)
			same(t, what+" resumed re-optimised", resumed(t, tr, s), tr)
			next(t, tr)
			next(t, other)
			same(t, what+" going on with more inducing inputs", other, tr)
		}
	}
}

// live returns those of ids that are live.
func live(t *Trainer, ids []string) []string {
	var out []string
	for _, k := range t.kernels {
		if k.status == Live && slices.Contains(ids, k.id) {
			out = append(out, k.id)
		}
	}
	return out
}

// What a trainer has given away as a checkpoint is never written to again.
func TestCheckpointStaysAsItIs(t *testing.T) {
	thorough.AnyInstructions(t)
	data := trainingSeries(12, 60)
	for _, optimizer := range optimizers {
		s := quickSettings(optimizer)
		s.Hyperparameters, s.ELBORows = "diagonal", 15
		tr := trainerOn(t, 1, nil, data, s, fourKernels...)
		var given, want []map[string]Tensor
		keep := func() {
			given = append(given, tr.Checkpoint())
			want = append(want, copied(t, given[len(given)-1]))
		}
		keep()
		for range 2 {
			next(t, tr)
			keep()
		}
		if _, err := tr.Prune([]string{"PER"}); err != nil {
			t.Fatal(err)
		}
		keep()
		if err := tr.Reoptimize(Change{Inducing: 9, Rounds: 2}); err != nil {
			t.Fatal(err)
		}
		keep()
		next(t, tr)
		if !reflect.DeepEqual(copied(t, given[0]), want[0]) || !reflect.DeepEqual(given, want) {
			t.Errorf("%s: an array was changed later", optimizer)
		}
	}
}

// A kernel that fails at its first evaluation has no state; it stays failed.
func TestResumeWithAFailedKernel(t *testing.T) {
	data := trainingSeries(13, 60)
	s := quickSettings("collapsed")
	tr := trainerOn(t, 1, nil, data, s, fourKernels...)
	next(t, tr)
	k := *tr.kernels[0]
	k.status, k.reason, k.state = Failed, "SE: it – would not", nil
	tr.kernels[0] = &k
	if err := tr.refit(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	other := resumed(t, tr, s)
	same(t, "with a failed kernel", other, tr)
	if got := other.Last().Kernels[0]; got.Status != Failed || got.Reason != k.reason {
		t.Errorf("the failed kernel is %+v", got)
	}
}

// Resuming makes neither inducing inputs nor a periodogram until they are
// needed.
func TestResumeIsLazy(t *testing.T) {
	data := trainingSeries(14, 300)
	s := quickSettings("natural")
	s.Inducing = 70 // more than the scout has
	tr := trainerOn(t, 1, nil, data, s, "SE")
	next(t, tr)
	other := resumed(t, tr, s)
	same(t, "asked", other, tr)
	if other.drawer != nil || other.scout != nil || other.workers[0].bound != nil {
		t.Error("a trainer that is only asked has made what searches need")
	}
	next(t, tr)
	next(t, other)
	same(t, "going on", other, tr)
}

func TestResumeErrors(t *testing.T) {
	data, s := trainingSeries(15, 40), quickSettings("natural")
	tr := trainerOn(t, 1, nil, data, s, "SE", "LIN")
	next(t, tr)
	whole := tr.Checkpoint()
	for _, c := range []struct {
		what, want string
		change     func(a map[string]Tensor, d *Training, s *Settings, exprs *[]string)
	}{
		{"no array", "array format is missing", func(a map[string]Tensor, _ *Training, _ *Settings, _ *[]string) { clear(a) }},
		{"other format", "array format: version 1", func(a map[string]Tensor, _ *Training, _ *Settings, _ *[]string) {
			a["format"] = Tensor{Data: []float64{1}}
		}},
		{"other optimiser", `"natural point", the settings say "adam point"`,
			func(_ map[string]Tensor, _ *Training, s *Settings, _ *[]string) { s.Optimizer = "adam" }},
		{"another kernel", "array kernels: number 2 is LIN, in the space it is RQ",
			func(_ map[string]Tensor, _ *Training, _ *Settings, e *[]string) { *e = []string{"SE", "RQ"} }},
		{"fewer kernels", "array kernels: 2 kernels, the space has 1",
			func(_ map[string]Tensor, _ *Training, _ *Settings, e *[]string) { *e = []string{"SE"} }},
		{"fewer rows", "array run: of 40 training rows, the data have 30", func(_ map[string]Tensor, d *Training, _ *Settings, _ *[]string) {
			d.X, d.Y = d.X[:30], d.Y[:30]
		}},
		{"other rows", "array run: the noise floor", func(_ map[string]Tensor, d *Training, _ *Settings, _ *[]string) {
			d.Y = append([]float64{9}, d.Y[1:]...)
		}},
		{"other M", "array z has 8 numbers where 7 fit", func(a map[string]Tensor, _ *Training, _ *Settings, _ *[]string) {
			run := slices.Clone(a["run"].Data)
			run[2] = 7
			a["run"] = Tensor{Data: run}
		}},
		{"M out of range", "array run: 1e+09 is not a whole number from 1 to 40",
			func(a map[string]Tensor, _ *Training, _ *Settings, _ *[]string) {
				run := slices.Clone(a["run"].Data)
				run[2] = 1e9
				a["run"] = Tensor{Data: run}
			}},
		{"q(v) of another M", "array kernel/1/chol has 49 numbers where 64 fit",
			func(a map[string]Tensor, _ *Training, _ *Settings, _ *[]string) {
				a["kernel/1/chol"] = Tensor{Data: make([]float64, 49)}
			}},
		{"no free vector", "array kernel/0/free is missing",
			func(a map[string]Tensor, _ *Training, _ *Settings, _ *[]string) { delete(a, "kernel/0/free") }},
		{"half of q(v)", "kernel/0/mean and kernel/0/chol one is missing",
			func(a map[string]Tensor, _ *Training, _ *Settings, _ *[]string) { delete(a, "kernel/0/mean") }},
		{"not a number", "array kernel/0/free holds numbers that are not finite",
			func(a map[string]Tensor, _ *Training, _ *Settings, _ *[]string) {
				a["kernel/0/free"] = Tensor{Data: []float64{0, math.NaN(), 0}}
			}},
		{"an unknown status", "array kernel/0/status: 3 is not a whole number from 0 to 2",
			func(a map[string]Tensor, _ *Training, _ *Settings, _ *[]string) {
				v := slices.Clone(a["kernel/0/status"].Data)
				v[6] = 3
				a["kernel/0/status"] = Tensor{Data: v}
			}},
		{"a belief over others", "array belief/kernels", func(a map[string]Tensor, _ *Training, _ *Settings, _ *[]string) {
			a["belief/kernels"] = Tensor{Data: []float64{0}}
			a["belief/mean"], a["belief/chol"] = a["belief/kernels"], Tensor{Data: []float64{1}}
		}},
		{"no rank", "array kernel/1/result is missing",
			func(a map[string]Tensor, _ *Training, _ *Settings, _ *[]string) { delete(a, "kernel/1/result") }},
		{"a longer free vector", "array kernel/0/free has 3 numbers where 4 fit",
			func(_ map[string]Tensor, d *Training, s *Settings, _ *[]string) {
				// Under ARD SE has a length scale for each of two columns.
				two := trainerOn(t, 1, nil, Training{X: append(slices.Clone(d.X), d.X...), Y: d.Y, Dim: 2}, *s, "SE", "LIN")
				*d, s.ARD = two.data, true
			}},
	} {
		arrays, d, settings, exprs := maps.Clone(whole), data, s, []string{"SE", "LIN"}
		c.change(arrays, &d, &settings, &exprs)
		if d.Dim == 2 {
			arrays["z"] = Tensor{Data: make([]float64, 16)}
		}
		dev := onCPU(1)
		_, err := Resume(context.Background(), dev, d, candidates(t, exprs...), []string{"x", "w"}[:d.Dim], settings, arrays)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v, want one line that names %q", c.what, err, c.want)
		}
		dev.Close()
	}
	for name := range whole {
		arrays := maps.Clone(whole)
		if strings.HasSuffix(name, "_m1") || strings.HasSuffix(name, "_m2") || strings.HasSuffix(name, "/source") ||
			strings.HasSuffix(name, "/terms") || strings.HasSuffix(name, "/evidence") || strings.HasSuffix(name, "/gain") ||
			strings.HasSuffix(name, "/tight") || strings.HasSuffix(name, "/past") || strings.HasSuffix(name, "/point") ||
			name == "evaluation/inducing" || name == "belief/start" || name == "belief/since" {
			continue // may be missing
		}
		delete(arrays, name)
		dev := onCPU(1)
		if _, err := Resume(context.Background(), dev, data, candidates(t, "SE", "LIN"), []string{"x"}, s, arrays); err == nil {
			t.Errorf("resumed without %s", name)
		}
		dev.Close()
	}
}

func TestSolution(t *testing.T) {
	tr := trainerOn(t, 1, nil, trainingSeries(16, 40), quickSettings("collapsed"), "SE", "LIN")
	if _, _, _, err := tr.Solution("SE"); err == nil {
		t.Error("a solution before the first evaluation")
	}
	e := next(t, tr)
	for i, k := range e.Kernels {
		p, theta, noise, err := tr.Solution(k.ID)
		if err != nil {
			t.Fatal(err)
		}
		if p.ID != k.ID || noise != k.Noise || len(theta) != len(k.Params) {
			t.Errorf("%s: noise %v of %d parameters", k.ID, noise, len(theta))
		}
		for j, v := range e.Kernels[i].Params {
			if theta[j] != v.Value {
				t.Errorf("%s: %s is %v, want %v", k.ID, v.Name, theta[j], v.Value)
			}
		}
	}
	if _, _, _, err := tr.Solution("nosuch"); err == nil || !strings.Contains(err.Error(), "nosuch") {
		t.Error(err)
	}
}

// What is still to be told is told by the resumed trainer's next evaluation.
func TestResumeKeepsNotices(t *testing.T) {
	s := quickSettings("collapsed")
	s.Inducing = 60
	tr := trainerOn(t, 1, nil, trainingSeries(17, 30), s, "SE")
	other := resumed(t, tr, s)
	same(t, "with a notice", other, tr)
	if e := next(t, other); len(e.Notices) != 1 || !strings.Contains(e.Notices[0].Text, "60 inducing inputs") {
		t.Errorf("notices %+v", e.Notices)
	}
	next(t, tr)
	same(t, "told", resumed(t, other, s), tr)

	tr.notices = []Notice{{Text: "a"}, {Text: "b", Kernel: "SE"}, {Text: "c", Kernel: "SE", Failed: true}}
	same(t, "about a kernel", resumed(t, tr, s), tr)
	arrays := copied(t, tr.Checkpoint())
	resume := func() (*Trainer, error) {
		dev := onCPU(1)
		t.Cleanup(func() { dev.Close() })
		return Resume(t.Context(), dev, tr.data, candidates(t, "SE"), []string{"x"}, s, arrays)
	}
	arrays["notices/kernels"].Data[2] = 1
	if _, err := resume(); err == nil || !strings.Contains(err.Error(), "array notices/kernels: 1 is not a whole number from -1 to 0") {
		t.Errorf("a notice about a kernel that is not there: %v", err)
	}
	delete(arrays, "notices/kernels") // as earlier versions did not write it
	old, err := resume()
	if err != nil {
		t.Fatal(err)
	}
	if want := []Notice{{Text: "a"}, {Text: "b"}, {Text: "c"}}; !slices.Equal(old.notices, want) {
		t.Errorf("notices %+v, want %+v", old.notices, want)
	}
	// A text of several lines comes back as several notices about the same.
	tr.notices = []Notice{{Text: "c\nd", Kernel: "SE", Failed: true}}
	want := []Notice{{Text: "c", Kernel: "SE", Failed: true}, {Text: "d", Kernel: "SE", Failed: true}}
	if got := resumed(t, tr, s).notices; !slices.Equal(got, want) {
		t.Errorf("notices %+v, want %+v", got, want)
	}
}
