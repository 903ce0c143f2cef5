package periods

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The weights are those of the periodic kernel: their series is the kernel, and at
// distance 0 they add up to 1.
func TestHarmonicsAreTheKernel(t *testing.T) {
	for _, scale := range []float64{0.3, 0.7, 1.5, 6} {
		q := CosineWeights(scale, 60)
		for _, r := range []float64{0, 0.05, 0.21, 0.5, 0.8} {
			sum := 0.0
			for h, v := range q {
				sum += v * math.Cos(2*math.Pi*float64(h)*r)
			}
			s := math.Sin(math.Pi*r) / scale
			if want := math.Exp(-2 * s * s); math.Abs(sum-want) > 1e-9 {
				t.Errorf("ℓ = %g, r = %g: %.12g, want %.12g", scale, r, sum, want)
			}
		}
	}
}

// scattered are sorted and unsorted inputs of a range.
func scattered(rng *rand.Rand, n int, span float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = span * rng.Float64()
	}
	return x
}

// saw is sharp: it has all harmonics.
func saw(phase float64) float64 { return 2*(phase-math.Floor(phase)) - 1 }

// A sharp pattern is found with its period, not half or twice of it, and with a short
// scale; a sine with a long one.
func TestShapeOfAPattern(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	x := scattered(rng, 700, 20)
	y := make([]float64, len(x))
	for _, c := range []struct {
		name   string
		period float64
		of     func(phase float64) float64
		sharp  bool
	}{
		{"saw", 1.37, saw, true},
		{"pulses", 0.83, func(p float64) float64 { return math.Exp(-40 * math.Pow(saw(p), 2)) }, true},
		{"sine", 1.91, func(p float64) float64 { return math.Sin(2 * math.Pi * p) }, false},
	} {
		for i := range y {
			y[i] = c.of(x[i]/c.period) + 0.3*rng.NormFloat64()
		}
		got := FindShaped(x, y, 0, 3, Options{})
		if len(got) == 0 || math.Abs(got[0].Period/c.period-1) > 0.005 {
			t.Fatalf("%s of period %g: %+v", c.name, c.period, got)
		}
		if sharp := got[0].Scale < 1; sharp != c.sharp {
			t.Errorf("%s: scale %g", c.name, got[0].Scale)
		}
	}
}

// A short period that hardly shows beside a slow wander is found once the wander is
// taken out.
func TestShortPeriodBesideAWander(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 9))
	x := scattered(rng, 600, 20)
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = 2*math.Sin(0.9*v) + 1.3*math.Cos(0.37*v+1) + 0.7*math.Sin(2.1*v) + 0.3*saw(v/0.31) + 0.1*rng.NormFloat64()
	}
	got := FindShaped(x, y, 20./64, 3, Options{})
	if len(got) == 0 || math.Abs(got[0].Period/0.31-1) > 0.005 {
		t.Errorf("%+v", got)
	}
}

// White noise has no period, nor have too few rows, equal inputs and constants; what
// is not finite is left out.
func TestNoShape(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	x := scattered(rng, 300, 5)
	noise, flat, equal := make([]float64, 300), make([]float64, 300), make([]float64, 300)
	for i := range noise {
		noise[i] = rng.NormFloat64()
	}
	for name, got := range map[string][]Shaped{
		"noise":  FindShaped(x, noise, 0, 3, Options{}),
		"few":    FindShaped(x[:8], noise[:8], 0, 3, Options{}),
		"flat":   FindShaped(x, flat, 0.5, 3, Options{}),
		"equal":  FindShaped(equal, noise, 0.5, 3, Options{}),
		"empty":  FindShaped(nil, nil, 0.5, 3, Options{}),
		"no end": FindShaped([]float64{1, math.NaN(), 2}, []float64{1, 2, math.Inf(1)}, 0.5, 3, Options{}),
	} {
		if len(got) > 0 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
