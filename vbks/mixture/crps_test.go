package mixture

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/integrate/quad"

	"example.com/kestrel/scoring"
)

// The definitions: the integral of the squared distance to the target's step, and twice
// that of the pinball loss over all quantiles.
func TestCRPSIsBothIntegrals(t *testing.T) {
	p := &Prediction{IDs: []string{"a", "b", "c", "d"}, Weights: []float64{.5, .3, .2, 0}, Noise: []float64{.3, .1, 1, 1},
		Mean: [][]float64{{0}, {4}, {-1}, {900}}, Var: [][]float64{{.2}, {0}, {3}, {1}}}
	for _, y := range []float64{-30, -1, .7, 4, 25} {
		square := func(above float64) func(float64) float64 {
			return func(t float64) float64 { d := p.CDF(0, t, true) - above; return d * d }
		}
		want := quad.Fixed(square(0), -40, y, 2000, quad.Legendre{}, 0) + quad.Fixed(square(1), y, 40, 2000, quad.Legendre{}, 0)
		got := p.components().crps(0, y)
		if math.Abs(got-want) > 1e-9 {
			t.Errorf("CRPS of %v is %v, by quadrature %v", y, got, want)
		}
		pinball, n := 0.0, 20000
		for i := range n {
			prob := (float64(i) + 0.5) / float64(n)
			q := p.Quantile(0, prob, true)
			pinball += 2 * max(prob*(y-q), (1-prob)*(q-y)) / float64(n)
		}
		if math.Abs(got-pinball) > 1e-3 {
			t.Errorf("CRPS of %v is %v, twice the mean pinball loss %v", y, got, pinball)
		}
	}
}

// One component is a normal; without variance the score is the absolute error; points
// of weight w_i have the energy form Σ w|y − x| − ½ ΣΣ w w |x − x'|.
func TestCRPSLimits(t *testing.T) {
	one := &Prediction{IDs: []string{"a"}, Weights: []float64{1}, Noise: []float64{.75},
		Mean: [][]float64{{10, 2}}, Var: [][]float64{{.25, -1e-18}}}
	s, err := one.Score([]float64{8, 2.5})
	if want := (scoring.CRPS(8, 10, 1) + scoring.CRPS(2.5, 2, math.Sqrt(.75))) / 2; err != nil || math.Abs(s.CRPS-want) > 1e-14 {
		t.Errorf("%v, want %v (%v)", s.CRPS, want, err)
	}
	const z = 1.959963984540054
	if want := (2*z + 40*(2-z) + 2*z*math.Sqrt(.75)) / 2; math.Abs(s.Interval-want) > 1e-9 {
		t.Errorf("interval score %v, want %v", s.Interval, want)
	}
	points := column([]float64{.5, .3, .2}, make([]float64, 3), []float64{5, -2, 9}, make([]float64, 3))
	if got, want := points.components().crps(0, 1), .5*4+.3*3+.2*8-(.15*7+.1*4+.06*11); math.Abs(got-want) > 1e-14 {
		t.Errorf("points: %v, want %v", got, want)
	}
	// Equal components are one.
	same := column([]float64{.2, .8}, []float64{1, 1}, []float64{3, 3}, []float64{3, 3})
	if math.Abs(same.components().crps(0, 4)-scoring.CRPS(4, 3, 2)) > 1e-14 {
		t.Error("two equal components are not one")
	}
}

// The score is proper: over targets drawn from the prediction it is less than that of
// one that is off.
func TestCRPSIsProper(t *testing.T) {
	p, y := mixtureSamples(4000)
	right, err := p.Score(y)
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(q *Prediction){
		"sure":   func(q *Prediction) { q.Noise = []float64{.01, .2, .05} },
		"unsure": func(q *Prediction) { q.Noise = []float64{4, 9, 6} },
		"one":    func(q *Prediction) { q.Weights = []float64{1, 0, 0} },
	} {
		q := *p
		change(&q)
		if wrong, err := q.Score(y); err != nil || wrong.CRPS <= right.CRPS || wrong.Interval <= right.Interval {
			t.Errorf("%s: CRPS %v, interval score %v, of the truth %v, %v (%v)", name, wrong.CRPS, wrong.Interval, right.CRPS, right.Interval, err)
		}
	}
}

// Of the lognormal distribution the CRPS is known (Baran and Lerch 2015, appendix):
//
//	y (2Φ(z) − 1) − 2 exp(μ + σ²/2) (Φ(z − σ) + Φ(σ/√2) − 1),   z = (log y − μ)/σ.
func TestMappedCRPS(t *testing.T) {
	cdf := func(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }
	const mean, sd = 0.4, 0.7
	p := &Prediction{IDs: []string{"a"}, Weights: []float64{1}, Noise: []float64{0.09},
		Mean: [][]float64{{mean}}, Var: [][]float64{{sd*sd - 0.09}}}
	for _, y := range []float64{1e-9, 0.2, 1.5, 4, 40, 5000} {
		z := (math.Log(y) - mean) / sd
		want := y*(2*cdf(z)-1) - 2*math.Exp(mean+sd*sd/2)*(cdf(z-sd)+cdf(sd/math.Sqrt2)-1)
		s, err := p.In(expUnits{linearUnits{0, 1}}).Score([]float64{y})
		if err != nil || math.Abs(s.CRPS-want) > 2e-4*want {
			t.Errorf("y = %v: CRPS %v, want %v, %v", y, s.CRPS, want, err)
		}
	}
}
