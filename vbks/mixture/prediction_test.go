package mixture

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// column makes a prediction for one row.
func column(weights, noise, mean, variance []float64) *Prediction {
	p := &Prediction{Weights: weights, Noise: noise}
	for i := range weights {
		p.IDs = append(p.IDs, string(rune('a'+i)))
		p.Mean = append(p.Mean, []float64{mean[i]})
		p.Var = append(p.Var, []float64{variance[i]})
	}
	return p
}

func threeKernels() *Prediction {
	return column([]float64{0.5, 0.2, 0.3}, []float64{0.3, 0.1, 1}, []float64{-1, 4, 0.5}, []float64{0.5, 0.04, 2})
}

func TestMixtureSingleIsNormal(t *testing.T) {
	p := threeKernels()
	for k := range 3 {
		s := p.Single(k)
		if s.IDs[0] != p.IDs[k] || s.Weights[0] != 1 {
			t.Fatalf("single %d is %+v", k, s)
		}
		checkNormal(t, s, distuv.Normal{Mu: p.Mean[k][0], Sigma: math.Sqrt(p.Var[k][0] + p.Noise[k])})
	}
}

func TestMixtureIdenticalComponents(t *testing.T) {
	p := column([]float64{0.2, 0.7, 0.1}, []float64{1, 1, 1}, []float64{3, 3, 3}, []float64{3, 3, 3})
	checkNormal(t, p, distuv.Normal{Mu: 3, Sigma: 2})
}

func checkNormal(t *testing.T, p *Prediction, want distuv.Normal) {
	t.Helper()
	mean, variance := p.Moments(0, true)
	if math.Abs(mean-want.Mu) > 1e-14 || math.Abs(variance-want.Variance()) > 1e-13 {
		t.Errorf("moments %v, %v, want %v, %v", mean, variance, want.Mu, want.Variance())
	}
	for _, z := range []float64{-30, -3, -1, 0, 0.5, 2, 6} {
		x := want.Mu + z*want.Sigma
		if got := p.CDF(0, x, true); math.Abs(got-want.CDF(x)) > 1e-14 {
			t.Errorf("F(%v) = %v, want %v", x, got, want.CDF(x))
		}
		if got := p.LogDensity(0, x); math.Abs(got-want.LogProb(x)) > 1e-11 {
			t.Errorf("log p(%v) = %v, want %v", x, got, want.LogProb(x))
		}
	}
	for _, prob := range []float64{1e-12, 0.025, 0.5, 0.9, 0.975} {
		if got := p.Quantile(0, prob, true); math.Abs(got-want.Quantile(prob)) > 1e-8 {
			t.Errorf("quantile %v = %v, want %v", prob, got, want.Quantile(prob))
		}
	}
}

func TestMixtureMomentsByIntegration(t *testing.T) {
	p := threeKernels()
	const h = 1e-3
	var total, first, second float64
	for x := -25.0; x < 25; x += h {
		d := h * math.Exp(p.LogDensity(0, x))
		total += d
		first += d * x
		second += d * x * x
		// The density is the derivative of the distribution function.
		if slope := (p.CDF(0, x+h, true) - p.CDF(0, x-h, true)) / 2; math.Abs(slope-d) > 1e-7 {
			t.Fatalf("at %v: density %v, slope of F %v", x, d/h, slope/h)
		}
	}
	mean, variance := p.Moments(0, true)
	if math.Abs(total-1) > 1e-10 || math.Abs(first-mean) > 1e-9 || math.Abs(second-first*first-variance) > 1e-8 {
		t.Errorf("integral %v, mean %v, variance %v, want 1, %v, %v", total, first, second-first*first, mean, variance)
	}
	fMean, fVariance := p.Moments(0, false)
	noise := 0.5*0.3 + 0.2*0.1 + 0.3*1
	if fMean != mean || math.Abs(variance-fVariance-noise) > 1e-14 {
		t.Errorf("variance of y less that of f is %v, want %v", variance-fVariance, noise)
	}
}

func TestMixtureQuantile(t *testing.T) {
	p := threeKernels()
	before := math.Inf(-1)
	for i := range 200 {
		prob := (float64(i) + 0.5) / 200
		for _, ofY := range []bool{false, true} {
			x := p.Quantile(0, prob, ofY)
			if got := p.CDF(0, x, ofY); math.Abs(got-prob) > 1e-12 {
				t.Errorf("F(quantile %v) = %v", prob, got)
			}
			if ofY {
				if x < before {
					t.Errorf("quantile %v = %v is below an earlier one, %v", prob, x, before)
				}
				before = x
			}
		}
	}
	if lo, hi := p.Quantile(0, 0, true), p.Quantile(0, 1, true); !math.IsInf(lo, -1) || !math.IsInf(hi, 1) {
		t.Errorf("quantiles 0 and 1 are %v, %v", lo, hi)
	}
	defer func() {
		if recover() == nil {
			t.Error("no panic for a probability of 1.5")
		}
	}()
	p.Quantile(0, 1.5, true)
}

func TestMixtureExtremes(t *testing.T) {
	// Point masses.
	p := column([]float64{0.5, 0.3, 0.2}, make([]float64, 3), []float64{5, -2, 9}, make([]float64, 3))
	for prob, want := range map[float64]float64{0: -2, 0.1: -2, 0.29: -2, 0.31: 5, 0.79: 5, 0.81: 9, 1: 9} {
		if got := p.Quantile(0, prob, true); math.Abs(got-want) > 1e-9 {
			t.Errorf("point masses: quantile %v = %v, want %v", prob, got, want)
		}
	}
	for x, want := range map[float64]float64{-2.1: 0, -2: 0.3, 4.9: 0.3, 5: 0.8, 9: 1} {
		if got := p.CDF(0, x, true); math.Abs(got-want) > 1e-15 {
			t.Errorf("point masses: F(%v) = %v, want %v", x, got, want)
		}
	}
	if !math.IsInf(p.LogDensity(0, 5), 1) || !math.IsInf(p.LogDensity(0, 6), -1) {
		t.Error("density of point masses is not infinite or zero")
	}

	// Far apart and thin.
	p = column([]float64{0.4, 0.6}, make([]float64, 2), []float64{-1e150, 1e150}, []float64{1e-300, 1e-300})
	for prob, want := range map[float64]float64{0.2: -1e150, 0.7: 1e150} {
		if got := p.Quantile(0, prob, true); math.Abs(got/want-1) > 1e-9 {
			t.Errorf("far apart: quantile %v = %v, want %v", prob, got, want)
		}
	}
	mean, variance := p.Moments(0, true)
	if math.Abs(mean/2e149-1) > 1e-12 || math.Abs(variance/9.6e299-1) > 1e-12 {
		t.Errorf("far apart: moments %v, %v", mean, variance)
	}

	// Thin components and an offset that swallows the variance when squared.
	p = column([]float64{0.5, 0.5}, make([]float64, 2), []float64{1e9, 1e9 + 2}, []float64{1e-300, 1e-300})
	if _, variance := p.Moments(0, true); variance != 1 {
		t.Errorf("variance under an offset is %v, want 1", variance)
	}

	// A slightly negative variance is rounding.
	p = column([]float64{1}, []float64{0.25}, []float64{0}, []float64{-1e-17})
	if _, variance := p.Moments(0, true); variance != 0.25 {
		t.Errorf("variance %v, want .25", variance)
	}
}

func TestMixturelogDensityDoesNotUnderflow(t *testing.T) {
	p := column([]float64{0.9, 0.1}, []float64{1e-2, 1e-2}, []float64{0, 1}, []float64{0, 0})
	// At 1000 the second component decides: 999 away with variance .01.
	want := math.Log(0.1) - 0.5*(math.Log(2*math.Pi*0.01)+999*999/0.01)
	if got := p.LogDensity(0, 1000); math.Abs(got/want-1) > 1e-14 {
		t.Errorf("log p = %v, want %v", got, want)
	}
	p = column([]float64{1}, []float64{0}, []float64{3}, []float64{1e-300})
	if got, want := p.LogDensity(0, 3), -0.5*(math.Log(2*math.Pi)+math.Log(1e-300)); math.Abs(got-want) > 1e-9 {
		t.Errorf("log p = %v, want %v", got, want)
	}
	// A kernel of weight 0 does not count, however well it fits.
	p = column([]float64{1, 0}, []float64{1, 0}, []float64{0, 7}, []float64{0, 0})
	if got, want := p.LogDensity(0, 7), distuv.UnitNormal.LogProb(7); math.Abs(got-want) > 1e-12 {
		t.Errorf("log p = %v, want %v", got, want)
	}
}

func TestPredictionCheck(t *testing.T) {
	if err := threeKernels().Check(); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(*Prediction){
		"empty":    func(p *Prediction) { *p = Prediction{} },
		"weights":  func(p *Prediction) { p.Weights = p.Weights[:2] },
		"negative": func(p *Prediction) { p.Weights[0] = -1 },
		"nan":      func(p *Prediction) { p.Weights[1] = math.NaN() },
		"massless": func(p *Prediction) { clear(p.Weights) },
		"noise":    func(p *Prediction) { p.Noise[1] = math.NaN() },
		"rows":     func(p *Prediction) { p.Var[2] = nil },
		"mean":     func(p *Prediction) { p.Mean[2][0] = math.Inf(1) },
		"variance": func(p *Prediction) { p.Var[2][0] = math.NaN() },
	} {
		p := threeKernels()
		spoil(p)
		if p.Check() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// Widening stretches the distribution about its mean: every quantile is as many times as
// far from it, the mean stays, and a kernel alone keeps its own mean.
func TestWiden(t *testing.T) {
	for _, ofY := range []bool{false, true} {
		before, after := threeKernels(), threeKernels()
		const c = 1.7
		after.Widen(c)
		mean, variance := before.Moments(0, ofY)
		m, v := after.Moments(0, ofY)
		if math.Abs(m-mean) > 1e-14 || math.Abs(v-c*c*variance) > 1e-13 {
			t.Errorf("moments %v, %v become %v, %v", mean, variance, m, v)
		}
		for _, prob := range []float64{0.01, 0.3, 0.5, 0.8, 0.999} {
			q := before.Quantile(0, prob, ofY)
			if got := after.Quantile(0, prob, ofY); math.Abs(got-(mean+c*(q-mean))) > 1e-8 {
				t.Errorf("quantile %v is %v, want %v", prob, got, mean+c*(q-mean))
			}
		}
		for k := range 3 {
			a, b := before.Single(k), after.Single(k)
			m, v := a.Moments(0, ofY)
			if n, w := b.Moments(0, ofY); math.Abs(m-n) > 1e-14 || math.Abs(w-c*c*v) > 1e-13 {
				t.Errorf("kernel %d alone: %v, %v become %v, %v", k, m, v, n, w)
			}
		}
		after.Widen(1 / c)
		if got, want := after.Quantile(0, 0.9, ofY), before.Quantile(0, 0.9, ofY); math.Abs(got-want) > 1e-8 {
			t.Errorf("there and back: %v, not %v", got, want)
		}
	}
}
