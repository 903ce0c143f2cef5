package datasets

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// The paper's kernels, written out from its appendix.
func paperPER(x, y, l float64) float64 {
	s := math.Sin((x - y) / 2)
	return .01 * math.Exp(-2*s*s/(l*l))
}
func paperRQ(x, y, l float64) float64  { return .01 / (1 + (x-y)*(x-y)/(2*l*l)) }
func paperLIN(x, y, l float64) float64 { return x * y / (l * l) }

func paperProduct(x, y float64) float64 {
	return paperPER(x, y, 1) * paperLIN(x, y, 3) * paperRQ(x, y, 8)
}
func paperSum(x, y float64) float64 {
	return (paperPER(x, y, 2) + paperRQ(x, y, 3)) * paperLIN(x, y, 5)
}

// TestTrueKernelIsThePapers checks the default hyperparameters in every order
// of writing.
func TestTrueKernelIsThePapers(t *testing.T) {
	for text, want := range map[string]func(x, y float64) float64{
		"PER*LIN*RQ": paperProduct, "RQ*PER*LIN": paperProduct, "LIN*(RQ*PER)": paperProduct,
		"(PER+RQ)*LIN": paperSum, "LIN*(RQ+PER)": paperSum, "LIN * (PER + RQ)": paperSum,
	} {
		p, theta, err := trueKernel(&Spec{Kernel: text})
		if err != nil {
			t.Fatal(err)
		}
		for x := -10.0; x < 10; x += 1.7 {
			for y := -9.5; y < 10; y += 2.3 {
				got := p.Eval(theta, []float64{x}, []float64{y}, false)
				if w := want(x, y); math.Abs(got-w) > 1e-14*(1+math.Abs(w)) {
					t.Fatalf("%s: k(%v, %v) = %v, want %v", text, x, y, got, w)
				}
			}
		}
	}
}

func paperDraw(t *testing.T, k func(x, y float64) float64, support []float64, seed uint64) *draw {
	t.Helper()
	f, err := newDraw(func(x, y float64, _ bool) float64 { return k(x, y) }, support, newRand(seed, streamFunction))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestDrawCovariance checks the law of the values at fixed support inputs: over
// many seeds their second moments are the kernel's.
func TestDrawCovariance(t *testing.T) {
	support := []float64{-9, -4, 1, 2, 7.5}
	const draws = 4000
	n := len(support)
	moment := make([]float64, n*n)
	for seed := range uint64(draws) {
		f := paperDraw(t, paperSum, support, seed)
		for i := range n {
			for j := range n {
				moment[i*n+j] += f.values[i] * f.values[j] / draws
			}
		}
	}
	for i, x := range support {
		for j, y := range support {
			// The variance of a product of two Gaussians with zero mean.
			k := paperSum(x, y)
			sd := math.Sqrt((paperSum(x, x)*paperSum(y, y) + k*k) / draws)
			if d := math.Abs(moment[i*n+j] - k); d > 5*sd {
				t.Errorf("cov f(%v) f(%v) = %g, want %g ± %g", x, y, moment[i*n+j], k, sd)
			}
		}
	}
}

// TestDrawInterpolates checks that the predictive mean takes the sampled
// values at the support inputs, and that it solves the normal equations.
func TestDrawInterpolates(t *testing.T) {
	for name, k := range map[string]func(x, y float64) float64{"product": paperProduct, "sum": paperSum} {
		support := uniform(newRand(1, streamSupport), 256, -10, 10)
		f := paperDraw(t, k, support, 1)
		trace, sq := 0.0, 0.0
		for i, x := range support {
			trace += k(x, x) / 256
			sq += f.values[i] * f.values[i] / 256
		}
		for i, x := range support {
			if d := math.Abs(f.mean(x) - f.values[i]); d > 1e-3*math.Sqrt(sq) {
				t.Errorf("%s: the mean at support input %d is off by %g of %g", name, i, d, math.Sqrt(sq))
			}
			// (K + εI) w = f, row by row.
			if d := math.Abs(f.mean(x) + supportJitter*trace*f.weights[i] - f.values[i]); d > 1e-9*math.Sqrt(sq) {
				t.Errorf("%s: equation %d is off by %g", name, i, d)
			}
		}
	}
}

func synthetic(kernel string, seed uint64) Spec {
	return Spec{Source: "synthetic", Kernel: kernel, Seed: seed}
}

func TestSyntheticIsReproducible(t *testing.T) {
	s := synthetic("PER*LIN*RQ", 5)
	s.Support = 40
	a, b := mustLoad(t, s), mustLoad(t, s)
	if !equalFloats(a.X, b.X) || !equalFloats(a.Y, b.Y) || !slices.Equal(a.Train, b.Train) || a.SHA256 != b.SHA256 {
		t.Error("the same seed gives other data")
	}
	s.Seed = 6
	if c := mustLoad(t, s); c.SHA256 == a.SHA256 || c.X[0] == a.X[0] || slices.Equal(c.Train, a.Train) {
		t.Error("another seed gives the same data")
	}
	if a.N() != 1000 || len(a.Train) != 1000 || len(a.Params) == 0 {
		t.Errorf("%d rows, %q", a.N(), a.Kernel)
	}
	// Test rows and noise leave the rest alone.
	s.Seed, s.TestRows = 5, 200
	c := mustLoad(t, s)
	checkPartition(t, c, 1000, 200)
	if !equalFloats(c.X[:1000], a.X) || !equalFloats(c.Y[:1000], a.Y) || !slices.Equal(c.Train, a.Train) {
		t.Error("test rows change the training rows")
	}
	s.Noise = .1
	d := mustLoad(t, s)
	if !equalFloats(d.X, c.X) || equalFloats(d.Y, c.Y) || !slices.Equal(d.Train, c.Train) {
		t.Error("noise changes more than the targets")
	}
}

// TestSyntheticInputsAreUniform is a Kolmogorov-Smirnov test of the inputs of
// several seeds, and of their independence from seed to seed.
func TestSyntheticInputsAreUniform(t *testing.T) {
	var all []float64
	for seed := range uint64(20) {
		for _, stream := range []uint64{streamSupport, streamOutputs, streamTestOutputs} {
			all = append(all, uniform(newRand(seed, stream), 500, -10, 10)...)
		}
	}
	n := len(all)
	lag := 0.0
	for i := 500; i < n; i++ {
		lag += all[i] * all[i-500] / (100. / 3) / float64(n-500)
	}
	if math.Abs(lag) > 4/math.Sqrt(float64(n)) {
		t.Errorf("neighbouring streams correlate: %g", lag)
	}
	slices.Sort(all)
	ks := 0.0
	for i, x := range all {
		u := (x + 10) / 20
		if u < 0 || u >= 1 {
			t.Fatalf("x = %v", x)
		}
		ks = max(ks, math.Abs(u-float64(i)/float64(n)), math.Abs(u-float64(i+1)/float64(n)))
	}
	if limit := 1.95 / math.Sqrt(float64(n)); ks > limit { // p = .001
		t.Errorf("Kolmogorov-Smirnov distance %g > %g", ks, limit)
	}
}

func TestSyntheticNoise(t *testing.T) {
	s := synthetic("(PER+RQ)*LIN", 3)
	s.TestRows, s.Support = 1000, 40
	clean := mustLoad(t, s)
	s.Noise = .1
	noisy := mustLoad(t, s)
	_, sd := meanSD(clean.Train, clean.Y, 1, 0)
	for name, rows := range map[string][]int32{"training": clean.Train, "test": clean.Test} {
		e := make([]float64, clean.N())
		for i := range e {
			e[i] = noisy.Y[i] - clean.Y[i]
		}
		mean, noise := meanSD(rows, e, 1, 0)
		if math.Abs(noise/sd-.1) > .01 || math.Abs(mean/sd) > .01 { // ± 4 standard errors
			t.Errorf("%s noise has mean %g and sd %g, in sds of y", name, mean/sd, noise/sd)
		}
	}
	if a, b := noisy.Y[0]-clean.Y[0], noisy.Y[1000]-clean.Y[1000]; math.Abs(a-b) < 1e-9*sd {
		t.Error("training and test rows have the same noise")
	}
	if clean.Y[clean.Train[0]] == noisy.Y[clean.Train[0]] {
		t.Error("no noise")
	}
}

func TestSyntheticOtherKernels(t *testing.T) {
	s := synthetic("SE", 1)
	s.Params, s.Support, s.Outputs, s.Low, s.High = []float64{4, .5}, 50, 70, 2, 3
	d := mustLoad(t, s)
	if d.N() != 70 || slices.Min(d.X) < 2 || slices.Max(d.X) >= 3 || !equalFloats(d.Params, s.Params) {
		t.Errorf("%d rows, params %v", d.N(), d.Params)
	}
	s.TestFraction = .1
	checkPartition(t, mustLoad(t, s), 70, 7)
	if d := mustLoad(t, synthetic("SE+LIN", 1)); !equalFloats(d.Params, []float64{1, 1, 1, 1}) {
		t.Errorf("defaults %v", d.Params)
	}
}

func TestSyntheticErrors(t *testing.T) {
	for want, s := range map[string]Spec{
		"data.kernel is missing":                    {},
		"data.kernel: ":                             {Kernel: "PER*(LIN"},
		"data.params: 1 given, but SE has 2: SE va": {Kernel: "SE", Params: []float64{1}},
		"data.params: the lengthscale of SE is -1;": {Kernel: "SE", Params: []float64{1, -1}},
		"noise = -1: must be finite and not negat":  {Kernel: "SE", Noise: -1},
		"low = 3, high = 2: the range of the input": {Kernel: "SE", Low: 3, High: 2},
	} {
		s.Source = "synthetic"
		if _, err := Load(t.Context(), s); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
