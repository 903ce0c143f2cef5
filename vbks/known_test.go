package vbks

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"gonum.org/v1/gonum/floats"

	"example.com/kestrel/device"
	"example.com/kestrel/internal/thorough"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks/params"
)

// stating gives candidates what is known of parameters by name, "SE.lengthscale" or
// "noise", standardised.
func stating(t testing.TB, space []Candidate, dim int, known map[string]kernelspace.Known) []Candidate {
	t.Helper()
	out := slices.Clone(space)
	for i := range out {
		p, err := out[i].Program(kernelspace.Options{Dim: dim})
		if err != nil {
			t.Fatal(err)
		}
		out[i].Known = make([]kernelspace.Known, len(p.Params)+1)
		for j, q := range p.Params {
			if q.Free {
				out[i].Known[j] = known[q.Base+"."+q.Name]
			}
		}
		out[i].Known[len(p.Params)] = known["noise"]
	}
	return out
}

func fixedAt(v float64) kernelspace.Known {
	return kernelspace.Known{How: kernelspace.Fixed, Value: v}
}

func boundedBy(low, high float64) kernelspace.Known {
	return kernelspace.Known{How: kernelspace.Bounded, Low: math.Log(low), High: math.Log(high)}
}

// law is between what a hyperparameter must be.
type law struct{ low, high float64 }

func (l law) holds(v float64) bool { return v >= l.low*(1-1e-12) && v <= l.high*(1+1e-12) }

// watchfulDevice looks at the hyperparameters of every kernel matrix that is computed.
type watchfulDevice struct {
	device.Device
	laws    map[string]law // by base kernel and name, "noise"
	looked  atomic.Int64
	broken  sync.Map // what was seen
	noNoise func(*kernelspace.Program) bool
}

func (d *watchfulDevice) Lane(i int) device.Lane {
	return &watchfulLane{Lane: d.Device.Lane(i), device: d, of: map[device.Kernels][]*kernelspace.Program{}}
}

type watchfulLane struct {
	device.Lane
	device *watchfulDevice
	of     map[device.Kernels][]*kernelspace.Program
}

func (l *watchfulLane) NewKernels(programs []*kernelspace.Program) (device.Kernels, error) {
	ks, err := l.Lane.NewKernels(programs)
	l.of[ks] = programs
	return ks, err
}

func (l *watchfulLane) Kernel(sub []int, ks device.Kernels, theta device.Array, a, b device.Points, out device.Array) {
	raw := make([]float64, ks.Params())
	for _, k := range sub {
		if err := l.Read(theta, k, raw); err != nil {
			panic(err)
		}
		l.device.looked.Add(1)
		p := l.of[ks][k]
		look := func(name string, v float64) {
			if rule, ok := l.device.laws[name]; ok && !rule.holds(v) {
				l.device.broken.Store(fmt.Sprintf("%s: %s is %v", p.ID, name, v), true)
			}
		}
		for i, q := range p.Params {
			look(q.Base+"."+q.Name, raw[i])
		}
		if !l.device.noNoise(p) {
			look("noise", raw[len(raw)-1])
		}
	}
	l.Lane.Kernel(sub, ks, theta, a, b, out)
}

// What is fixed or bounded stays so in every kernel matrix that any path of the trainer
// computes, and in all that it reports, keeps and freezes.
func TestKnownHyperparametersStayOnEveryPath(t *testing.T) {
	thorough.AnyInstructions(t)
	thorough.Unraced(t)
	t.Parallel()
	kernels := []string{"SE", "LIN+RQ", "PER*SE", "PER+RQ", "CP(LIN,SE)"}
	known := map[string]kernelspace.Known{
		"PER.period": fixedAt(2.5), "SE.lengthscale": boundedBy(0.4, 0.7), "RQ.alpha": boundedBy(0.5, 0.9), "LIN.variance": fixedAt(0.2),
		"CP.place": boundedBy(kernelspace.RawPlace(-1), kernelspace.RawPlace(0.5)),
	}
	data := stream(66, 60)
	ctx := context.Background()
	for i, c := range []struct{ optimizer, hyperparameters, evidence string }{
		{"collapsed", "point", drawsEvidence}, {"collapsed", "full", modeEvidence}, {"natural", "point", modeEvidence},
		{"adam", "diagonal", modeEvidence},
	} {
		known["noise"] = boundedBy(0.15, 0.3) // drawn with 0.09: it pushes against the bound
		if i%2 == 1 {
			known["noise"] = fixedAt(0.2)
		}
		s := quickSettings(c.optimizer)
		s.Hyperparameters, s.Evidence, s.Inducing = c.hyperparameters, c.evidence, 0
		s.FirstInducing, s.MostInducing, s.AllRows, s.Calibrate, s.PredictTheta = 8, 16, 1000, autoCalibration, laplaceTheta
		s.Bound = tightBound
		d := &watchfulDevice{Device: onCPU(1), laws: map[string]law{}, noNoise: func(p *kernelspace.Program) bool {
			return !slices.Contains(kernels, p.ID) // of a component
		}}
		defer d.Close()
		for name, k := range known {
			if d.laws[name] = (law{k.Value, k.Value}); k.How == kernelspace.Bounded {
				d.laws[name] = law{math.Exp(k.Low), math.Exp(k.High)}
			}
		}
		space := stating(t, candidates(t, kernels...), 1, known)
		tr, err := New(ctx, d, data, space, []string{"x"}, s)
		if err != nil {
			t.Fatal(err)
		}
		what := strings.Join([]string{c.optimizer, c.hyperparameters, c.evidence}, " ")
		check := func(e *Evaluation) {
			t.Helper()
			for _, k := range e.Kernels {
				if k.Status == Failed {
					t.Errorf("%s: %s has failed: %s", what, k.ID, k.Reason)
				}
				if k.Status != Live {
					continue
				}
				if !d.laws["noise"].holds(k.Noise) {
					t.Errorf("%s: %s has the noise %v", what, k.ID, k.Noise)
				}
				for _, v := range k.Params {
					if rule, ok := d.laws[v.Base+"."+v.Name]; ok && v.Free && !rule.holds(v.Value) {
						t.Errorf("%s: %s has %s.%s = %v", what, k.ID, v.Base, v.Name, v.Value)
					}
				}
			}
		}
		for !tr.Done() {
			check(next(t, tr))
		}
		if err := tr.Grow(66); err != nil {
			t.Fatal(err)
		}
		for !tr.Done() {
			check(next(t, tr))
		}
		var some []string
		for _, k := range tr.Last().Kernels {
			if k.Status == Live && k.Rank > 1 {
				some = append(some, k.ID)
			}
		}
		if _, err := tr.Prune(some[:1]); err != nil {
			t.Fatal(err)
		}
		if _, err := tr.Restore(some[:1]); err != nil {
			t.Fatal(err)
		}
		if err := tr.Reoptimize(Change{Inducing: 12, Rounds: 1}); err != nil {
			t.Fatal(err)
		}
		check(next(t, tr))
		again, err := Resume(ctx, d, data, space, []string{"x"}, s, copied(t, tr.Checkpoint()))
		if err != nil {
			t.Fatal(err)
		}
		if err := again.Reoptimize(Change{Rounds: 1}); err != nil {
			t.Fatal(err)
		}
		check(next(t, again))
		longer := data
		more := trainingSeries(5, 20)
		longer.First, longer.Begin = 0, 0
		longer.X, longer.Y = slices.Concat(data.X, more.X), slices.Concat(data.Y, more.Y)
		refit, err := again.Refit(ctx, d, longer, PredictOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, tr := range []*Trainer{again, refit} {
			if _, err := tr.Predict(ctx, []float64{-3, 0, 5}, PredictOptions{}); err != nil {
				t.Fatal(err)
			}
			if _, err := tr.Components(ctx, "PER+RQ", []float64{0, 1}); err != nil {
				t.Fatal(err)
			}
			f, err := tr.Freeze(ctx, FreezeOptions{MostFactors: 1 << 20})
			if err != nil {
				t.Fatal(err)
			}
			for _, k := range f.Kernels {
				for _, st := range k.States {
					for j, q := range k.Program.Params {
						if rule, ok := d.laws[q.Base+"."+q.Name]; ok && q.Free && !rule.holds(st.Theta[j]) {
							t.Errorf("%s: a state of %s has %s.%s = %v", what, k.Program.ID, q.Base, q.Name, st.Theta[j])
						}
					}
					if !d.laws["noise"].holds(st.Noise) {
						t.Errorf("%s: a state of %s has the noise %v", what, k.Program.ID, st.Noise)
					}
				}
			}
		}
		d.broken.Range(func(k, _ any) bool {
			t.Errorf("%s: %v", what, k)
			return true
		})
		if d.looked.Load() < 1000 {
			t.Errorf("%s: only %d looks", what, d.looked.Load())
		}
	}
}

// The objective's gradient by a bounded, an expected and an open entry, and by the noise's,
// with the priors of these, is that of differences.
func TestGradientOfWhatIsKnown(t *testing.T) {
	x, y, z := testData(3, 40, 7, 1)
	for _, noise := range []kernelspace.Known{{}, fixedAt(0.1), boundedBy(0.02, 0.4), {How: kernelspace.Expected, Mean: -2, SD: 0.3}} {
		space := stating(t, candidates(t, "PER*SE+RQ"), 1, map[string]kernelspace.Known{
			"PER.period": boundedBy(1.5, 9), "PER.lengthscale": fixedAt(1.3), "SE.lengthscale": {How: kernelspace.Expected, Mean: 0.4, SD: 0.5},
			"RQ.variance": boundedBy(0.1, 0.5), "noise": noise,
		})
		p, err := space[0].Program(kernelspace.Options{Dim: 1})
		if err != nil {
			t.Fatal(err)
		}
		b, rows := testBound(t, []*kernelspace.Program{p}, x, y, z, 1, device.Jitter{Relative: 1e-8}, 1e-4)
		scales := kernelspace.Scales{Span: []float64{6}, Spacing: []float64{0.1}, YVar: 0.5}
		mean, sd, lo, hi := params.Prior(p, scales, 1e-4)
		pr := prior{mean: mean, prec: make([]float64, len(sd)), lo: lo, hi: hi}
		for i, w := range sd {
			pr.prec[i] = 1 / (w * w)
		}
		if err := b.group.load([]*kernelspace.Program{p}, []prior{pr}); err != nil {
			t.Fatal(err)
		}
		b.lane.Write(b.factor, 0, []float64{1})
		obj := b.boundObjective(rows, sumSquares(y), nil)
		at := func(f, grad []float64) float64 {
			if err := obj.eval([]int{0}, [][]float64{f}); err != nil {
				t.Fatal(err)
			}
			v, ok, err := obj.result(0, grad)
			if err != nil || !ok {
				t.Fatal(ok, err)
			}
			return v
		}
		free := []float64{0.3, -0.7, 0.2, 0.9, 0.1, -0.4, -1.1}[:len(p.Free)+1]
		grad := make([]float64, len(free))
		value := at(free, grad)
		raw, s2 := params.Raw(p, free, 1e-4)
		want, _ := naiveBounds(p, raw, s2, x, y, z, 1, device.Jitter{Relative: 1e-8})
		for i := range free {
			d := (free[i] - mean[i]) / sd[i]
			want -= d*d/2 + math.Log(sd[i]) + math.Log(2*math.Pi)/2
		}
		if math.Abs(value-want) > 1e-6*(1+math.Abs(want)) {
			t.Errorf("noise %v: objective %v, by dense matrices and the priors %v", noise.How, value, want)
		}
		for i := range free {
			const h = 1e-5
			up, down := slices.Clone(free), slices.Clone(free)
			up[i] += h
			down[i] -= h
			if fd := (at(up, nil) - at(down, nil)) / (2 * h); math.Abs(fd-grad[i]) > 1e-5*(1+math.Abs(fd)) {
				t.Errorf("noise %v: ∂/∂free[%d] %.9g, differences %.9g", noise.How, i, grad[i], fd)
			}
		}
	}
}

// Where all but a bounded length scale is fixed, noise and all, the evidence is an integral
// of one dimension, which quadrature knows; where that is fixed, too, it is the density of
// the rows, whatever the form of q(θ).
func TestEvidenceOfWhatIsLeft(t *testing.T) {
	t.Parallel()
	data := trainingSeries(7, 30)
	low, high := 0.5, 3.0
	likelihood := func(l float64) float64 {
		p, err := candidates(t, "SE")[0].Program(kernelspace.Options{Dim: 1})
		if err != nil {
			t.Fatal(err)
		}
		return naiveExact(p, []float64{0.8, l}, 0.1, data.X, data.Y, 1)
	}
	var logs []float64
	const steps, wide = 600, 9.0
	for i := range steps {
		u := wide * (2*(float64(i)+0.5)/steps - 1)
		l := math.Exp(math.Log(low) + math.Log(high/low)/(1+math.Exp(-u)))
		logs = append(logs, likelihood(l)-u*u/(2*1.7*1.7)-math.Log(1.7)-math.Log(2*math.Pi)/2+math.Log(2*wide/steps))
	}
	want := floats.LogSumExp(logs)
	run := func(hyperparameters, evidence string, length kernelspace.Known) *KernelResult {
		s := quickSettings("collapsed")
		s.Inducing, s.EvaluateEvery, s.Hyperparameters, s.Evidence, s.AllRows, s.Steps = 30, 1, hyperparameters, evidence, 100, 60
		s.Jitter = device.Jitter{Relative: 1e-10}
		dev := onCPU(1)
		defer dev.Close()
		space := stating(t, candidates(t, "SE"), 1, map[string]kernelspace.Known{
			"SE.variance": fixedAt(0.8), "SE.lengthscale": length, "noise": fixedAt(0.1)})
		tr, err := New(context.Background(), dev, data, space, []string{"x"}, s)
		if err != nil {
			t.Fatal(err)
		}
		return &train(t, tr)[0].Kernels[0]
	}
	for evidence, off := range map[string]float64{laplaceEvidence: 0.1, drawsEvidence: 0.03} {
		if r := run("point", evidence, boundedBy(low, high)); math.Abs(r.ELBO+r.Volume-want) > off {
			t.Errorf("%s: evidence %v, by quadrature %v", evidence, r.ELBO+r.Volume, want)
		}
	}
	plain := likelihood(1.2)
	for _, hyperparameters := range []string{"point", "diagonal", "full"} {
		evidence := modeEvidence
		if hyperparameters == "point" {
			evidence = laplaceEvidence
		}
		r := run(hyperparameters, evidence, fixedAt(1.2))
		if math.Abs(r.ELBO+r.Volume-plain) > 2e-3 {
			t.Errorf("all fixed, %s: evidence %v, the density of the rows is %v", hyperparameters, r.ELBO+r.Volume, plain)
		}
	}
}
