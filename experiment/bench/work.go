package bench

import (
	_ "embed"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"

	"example.com/kestrel/device"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks"
)

// benchWork is a size of problem that is timed: M inducing inputs, minibatches
// of B rows out of N.
type benchWork struct {
	name    string
	m, b, n int
	one     string // the kernel of "one"
	first   string // the first B rows of the data, as CSV; "" where no other program is compared with
}

// The first rows are those of the Python programs that the benchmark is
// compared with, NumPy's default generator with seed 1, so that the ELBO at the
// start can be compared; all others are drawn here from the same distribution.
//
//go:embed rows1000.csv
var benchRows1000 string

//go:embed rows20000.csv
var benchRows20000 string

func benchWorks() []benchWork {
	return []benchWork{
		{"a", 16, 32, 1000, "(PER+RQ)*LIN", benchRows1000},
		{"b", 200, 128, 20000, "PER*RQ+SE", benchRows20000},
		{"c", 800, 128, 20000, "PER*RQ+SE", benchRows20000},
		{"d", 500, 128, 500, "PER*RQ+SE", ""},
		{"e", 256, 128, 2000, "PER*RQ+SE", ""},
	}
}

// Names of what can be timed.

func benchWorkNames() []string {
	var names []string
	for _, w := range benchWorks() {
		names = append(names, w.name)
	}
	return names
}

func benchKernelNames() []string { return []string{"one", "k12", "k144"} }

func benchStepNames() []string {
	return []string{"adam", "theta", "frozen", "posterior", "predict", boundStep}
}

// boundStep is the name of the collapsed bound with its gradient, on all rows.
const boundStep = "bound"

const (
	benchRate     = 1e-3 // of Adam
	benchNoise    = 0.1  // σ_n² at the start
	benchPredicts = 20000
)

func findBenchWork(name string) (benchWork, error) {
	for _, w := range benchWorks() {
		if w.name == name {
			return w, nil
		}
	}
	return benchWork{}, fmt.Errorf("--work %q: must be %s", name, alternatives(benchWorkNames()))
}

func alternatives(names []string) string {
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

func checkBenchStep(name string) error {
	if !slices.Contains(benchStepNames(), name) {
		return fmt.Errorf("--step %q: must be %s", name, alternatives(benchStepNames()))
	}
	return nil
}

// kernels returns the kernels of a list by its name, or of expressions
// separated by semicolons.
func (w benchWork) kernels(name string) ([]kernelspace.Expr, error) {
	switch strings.ToLower(name) {
	case "one":
		return config.ParseAll([]string{w.one})
	case "k12", "k144":
		return kernelspace.Set(name)
	}
	exprs, err := config.ParseAll(strings.Split(name, ";"))
	if err != nil {
		return nil, fmt.Errorf("--kernels %q: must be %s, or expressions separated by semicolons: %w", name, alternatives(benchKernelNames()),
			err)
	}
	return exprs, nil
}

// data draws x uniformly from [−10, 10] and y = sin x · (1 + x/10) + 0.1 ε.
func (w benchWork) data() (x, y []float64, err error) {
	for _, line := range strings.Split(strings.TrimSpace(w.first), "\n")[1:] {
		a, b, _ := strings.Cut(line, ",")
		u, err1 := strconv.ParseFloat(a, 64)
		v, err2 := strconv.ParseFloat(b, 64)
		if err := errors.Join(err1, err2); err != nil {
			return nil, nil, err
		}
		x, y = append(x, u), append(y, v)
	}
	rng := rand.New(rand.NewPCG(1, uint64(w.n)))
	for len(x) < w.n {
		u := 20*rng.Float64() - 10
		x, y = append(x, u), append(y, math.Sin(u)*(1+0.1*u)+0.1*rng.NormFloat64())
	}
	return x, y, nil
}

// freeEveryAmplitude makes a program's parameters those of the peers: every
// leaf has a free variance, also within products, LIN has no length scale, and
// α of RQ is 1. It returns the raw parameters at the start: variances 0.5, of
// LIN 0.1, periods 6, else 1.
func freeEveryAmplitude(p *kernelspace.Program) []float64 {
	start := make([]float64, len(p.Params))
	p.Free = nil
	for i := range p.Params {
		q := &p.Params[i]
		fixedScale := q.Name == "lengthscale" && !q.Free
		start[i], q.Free = 1, true
		switch {
		case q.Name == "alpha" || fixedScale:
			q.Free = false
		case q.Name == "variance" && q.Base == "LIN":
			start[i] = 0.1
		case q.Name == "variance":
			start[i] = 0.5
		case q.Name == "period":
			start[i] = 6
		}
		if q.Free {
			p.Free = append(p.Free, i)
		}
	}
	return start
}

// setup is what vbks needs to know of a workload.
func (w benchWork) setup(kind vbks.StepKind, exprs []kernelspace.Expr) (vbks.StepSetup, error) {
	x, y, err := w.data()
	if err != nil {
		return vbks.StepSetup{}, err
	}
	s := vbks.StepSetup{
		Kind: kind, X: x, Y: y, Dim: 1,
		Noise: benchNoise, Batch: w.b, Jitter: device.Jitter{Absolute: 1e-6}, Rate: benchRate, Seed: 1,
		Mean: make([]float64, w.m), Chol: make([]float64, w.m*w.m),
	}
	if s.Z = x; w.m < w.n {
		s.Z = floats.Span(make([]float64, w.m), -9.97, 9.97)
	}
	if kind == vbks.StepPredict {
		s.Test = floats.Span(make([]float64, benchPredicts), -10, 10)
	}
	for j := range w.m {
		s.Mean[j] = 0.3 * math.Sin(float64(j+1))
		s.Chol[j*w.m+j] = 0.8
		if j > 0 {
			s.Chol[j*w.m+j-1] = 0.1
		}
	}
	for _, e := range exprs {
		p, err := kernelspace.Compile(e, kernelspace.Options{Dim: 1})
		if err != nil {
			return s, err
		}
		s.Theta = append(s.Theta, freeEveryAmplitude(p))
		s.Programs = append(s.Programs, p)
	}
	return s, nil
}
