package datasets

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"example.com/kestrel/kernelspace"
)

// supportJitter, times the mean diagonal, is added to the covariance of the
// support values.
const supportJitter = 1e-9

// paperKernels are the true kernels of Teng et al. (2020), appendix "Composite
// Kernels", with their hyperparameters by base kernel: each occurs once.
func paperKernels() map[string]map[string]float64 {
	return map[string]map[string]float64{
		"PER*LIN*RQ": {
			"PER variance": .01, "PER lengthscale": 1, "PER period": 2 * math.Pi,
			"RQ variance": .01, "RQ lengthscale": 8, "RQ alpha": 1,
			"LIN variance": 1, "LIN lengthscale": 3,
		},
		"(PER+RQ)*LIN": {
			"PER variance": .01, "PER lengthscale": 2, "PER period": 2 * math.Pi,
			"RQ variance": .01, "RQ lengthscale": 3, "RQ alpha": 1,
			"LIN variance": 1, "LIN lengthscale": 5,
		},
	}
}

// compile parses a kernel over one input.
func compile(text string) (*kernelspace.Program, error) {
	e, err := kernelspace.Parse(text)
	if err != nil {
		return nil, err
	}
	return kernelspace.Compile(e, kernelspace.Options{Dim: 1})
}

// trueKernel compiles the kernel of a Spec and finds its hyperparameters.
func trueKernel(s *Spec) (*kernelspace.Program, []float64, error) {
	p, err := compile(s.Kernel)
	if err != nil {
		return nil, nil, fmt.Errorf("data.kernel: %w", err)
	}
	if s.Params != nil {
		if len(s.Params) != len(p.Params) {
			var names []string
			for _, q := range p.Params {
				names = append(names, q.Base+" "+q.Name)
			}
			return nil, nil, fmt.Errorf("data.params: %d given, but %s has %d: %s", len(s.Params), s.Kernel, len(names), strings.Join(names, ", "))
		}
		theta := slices.Clone(s.Params)
		for i, v := range theta {
			if p.Params[i].Name == "place" && !math.IsNaN(v) { // of a change point, as it is
				v = kernelspace.RawPlace(v)
				theta[i] = v
			}
			if !(v > 0) || math.IsInf(v, 1) {
				return nil, nil, fmt.Errorf("data.params: the %s of %s is %v; it must be positive and finite", p.Params[i].Name, p.Params[i].Base, v)
			}
		}
		return p, theta, nil
	}
	theta := make([]float64, len(p.Params))
	for i := range theta {
		theta[i] = 1
	}
	for text, values := range paperKernels() {
		paper, err := compile(text)
		if err != nil {
			return nil, nil, err
		}
		if paper.ID != p.ID {
			continue
		}
		for i, q := range p.Params {
			theta[i] = values[q.Base+" "+q.Name]
		}
	}
	return p, theta, nil
}

// draw is a function drawn from a Gaussian process: the predictive mean given
// its values at the support inputs.
type draw struct {
	kernel          func(x, y float64, same bool) float64
	support, values []float64
	weights         []float64 // (K + εI)⁻¹ values
}

// newDraw samples the values f = Lz at the support inputs from the full
// process, LLᵀ = K + εI, and solves for the weights L⁻ᵀz.
func newDraw(kernel func(x, y float64, same bool) float64, support []float64, rng *rand.Rand) (*draw, error) {
	n := len(support)
	k := mat.NewSymDense(n, nil)
	trace := 0.0
	for i, x := range support {
		for j, y := range support[:i+1] {
			k.SetSym(i, j, kernel(x, y, i == j))
		}
		trace += k.At(i, i)
	}
	for i := range n {
		k.SetSym(i, i, k.At(i, i)+supportJitter*trace/float64(n))
	}
	var chol mat.Cholesky
	if !(trace > 0) || math.IsInf(trace, 1) || !chol.Factorize(k) {
		return nil, fmt.Errorf("its covariance at %s is not positive definite", plural(n, "support input"))
	}
	var l mat.TriDense
	chol.LTo(&l)
	z := mat.NewVecDense(n, nil)
	for i := range n {
		z.SetVec(i, rng.NormFloat64())
	}
	f, w := mat.NewVecDense(n, nil), mat.NewVecDense(n, nil)
	f.MulVec(&l, z)
	if err := w.SolveVec(l.TTri(), z); err != nil {
		if _, ok := err.(mat.Condition); !ok { // ill conditioned is what the jitter is for
			return nil, err
		}
	}
	return &draw{kernel, support, f.RawVector().Data, w.RawVector().Data}, nil
}

// mean returns the predictive mean at x.
func (d *draw) mean(x float64) float64 {
	sum := 0.0
	for i, u := range d.support {
		sum += d.kernel(x, u, false) * d.weights[i]
	}
	return sum
}

func uniform(rng *rand.Rand, n int, low, high float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = low + (high-low)*rng.Float64()
	}
	return x
}

// generate makes a synthetic dataset as Teng et al. (2020), section 5.1:
// inputs uniform on [Low, High], Support values sampled from the process with
// the true kernel, outputs the predictive mean at other inputs. The first
// Outputs rows are for training, further ones for testing: they do not change
// the training rows.
func generate(ctx context.Context, s *Spec) (*Dataset, error) {
	p, theta, err := trueKernel(s)
	if err != nil {
		return nil, err
	}
	var a, b [1]float64
	kernel := func(x, y float64, same bool) float64 {
		a[0], b[0] = x, y
		return p.Eval(theta, a[:], b[:], same)
	}
	support := uniform(newRand(s.Seed, streamSupport), s.Support, s.Low, s.High)
	f, err := newDraw(kernel, support, newRand(s.Seed, streamFunction))
	if err != nil {
		return nil, fmt.Errorf("data.kernel %s: %w", s.Kernel, err)
	}
	test := s.TestRows
	if test == 0 {
		test = int(math.Round(s.TestFraction * float64(s.Outputs)))
	}
	x := uniform(newRand(s.Seed, streamOutputs), s.Outputs, s.Low, s.High)
	x = append(x, uniform(newRand(s.Seed, streamTestOutputs), test, s.Low, s.High)...)
	y := make([]float64, len(x))
	for i, v := range x {
		if i&0xff == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		y[i] = f.mean(v)
	}
	d := &Dataset{
		Name: s.Name, Source: s.Source, Dim: 1, X: x, Y: y, Rows: len(x),
		Inputs: []Column{{Name: "x"}}, Target: Column{Name: "y"},
		Kernel: p.ID, Params: theta,
	}
	if d.Name == "" {
		d.Name = p.ID
	}
	for r := range y {
		if r < s.Outputs {
			d.Train = append(d.Train, int32(r))
		} else {
			d.Test = append(d.Test, int32(r))
		}
	}
	if s.Noise > 0 {
		_, sd := meanSD(d.Train, y, 1, 0)
		addNoise(y[:s.Outputs], s.Noise*sd, newRand(s.Seed, streamNoise))
		addNoise(y[s.Outputs:], s.Noise*sd, newRand(s.Seed, streamTestNoise))
	}
	d.SHA256 = hashNumbers(x, y)
	d.order(s)
	return d, d.checkTarget()
}

func addNoise(y []float64, sd float64, rng *rand.Rand) {
	for i := range y {
		y[i] += sd * rng.NormFloat64()
	}
}

// hashNumbers returns the SHA-256 of the numbers as little-endian float64s.
func hashNumbers(slices ...[]float64) string {
	h := sha256.New()
	var b [8]byte
	for _, s := range slices {
		for _, v := range s {
			binary.LittleEndian.PutUint64(b[:], math.Float64bits(v))
			h.Write(b[:])
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}
