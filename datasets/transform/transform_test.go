package transform

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/integrate/quad"
)

// some are transforms of all shapes.
func some() []Transform {
	all := []Transform{{}, {Name: Log}, {Name: Logit, High: 1}, {Name: Logit, Low: -20, High: 100}}
	for _, lambda := range []float64{-1, -0.3, 0, 0.01, 0.5, 1, 1.7, 2} {
		all = append(all, Transform{Name: BoxCox, Lambda: lambda})
	}
	return all
}

func (t Transform) String() string {
	return fmt.Sprintf("%s %v [%v, %v]", t.Name, t.Lambda, t.Low, t.High)
}

// inside are targets that a transform takes.
func (t Transform) inside() []float64 {
	if t.Name == Logit {
		var out []float64
		for _, u := range []float64{1e-6, 0.1, 0.5, 0.9, 1 - 1e-6} {
			out = append(out, t.Low+u*(t.High-t.Low))
		}
		return out
	}
	return []float64{1e-3, 0.2, 1, 3, 50}
}

// Back undoes Forward, and the slope is the derivative of Forward, by differences.
func TestThereAndBack(t *testing.T) {
	for _, tr := range some() {
		for _, y := range tr.inside() {
			z := tr.Forward(y)
			if got := tr.Back(z); math.Abs(got-y) > 1e-11*(1+math.Abs(y)+tr.High-tr.Low) {
				t.Errorf("%v: %v comes back as %v", tr, y, got)
			}
			h := 1e-5 * math.Min(1, y)
			if tr.Name == Logit {
				h = 1e-4 * min(y-tr.Low, tr.High-y)
			}
			if got, want := math.Exp(tr.LogSlope(y)), (tr.Forward(y+h)-tr.Forward(y-h))/(2*h); math.Abs(got/want-1) > 1e-6 {
				t.Errorf("%v: slope %v at %v, differences give %v", tr, got, y, want)
			}
		}
	}
}

// What lies beyond the domain has density 0 and stands beyond all others; values
// beyond the range go to the edge.
func TestEdges(t *testing.T) {
	inf := math.Inf(1)
	log, up, down := Transform{Name: Log}, Transform{Name: BoxCox, Lambda: 0.5}, Transform{Name: BoxCox, Lambda: -0.5}
	logit := Transform{Name: Logit, Low: 2, High: 4}
	for _, c := range []struct {
		got, want float64
	}{
		{log.Forward(0), -inf}, {log.Forward(-3), -inf}, {log.LogSlope(0), -inf}, {log.Back(-inf), 0},
		{up.Forward(-1), -inf}, {up.Forward(0), -2}, {up.LogSlope(0), -inf}, {up.Back(-2), 0}, {up.Back(-9), 0},
		{down.Forward(0), -inf}, {down.Back(2), inf}, {down.Back(7), inf}, {down.Back(-inf), 0},
		{logit.Forward(2), -inf}, {logit.Forward(1), -inf}, {logit.Forward(4), inf}, {logit.Forward(5), inf},
		{logit.Back(-inf), 2}, {logit.Back(inf), 4}, {logit.LogSlope(4), -inf},
	} {
		if c.got != c.want {
			t.Errorf("%v, want %v", c.got, c.want)
		}
	}
	if !math.IsNaN(log.Forward(math.NaN())) || log.Takes(0) || !log.Takes(1e-300) || logit.Takes(4) || !(Transform{}).Takes(-1) {
		t.Error("wrong ends")
	}
}

// Box and Cox with λ = 0 is the logarithm, what is near it is near that; with λ = 1
// it is y but for a shift.
func TestBoxCoxLimits(t *testing.T) {
	zero, near, one := Transform{Name: BoxCox}, Transform{Name: BoxCox, Lambda: 1e-9}, Transform{Name: BoxCox, Lambda: 1}
	log := Transform{Name: Log}
	for _, y := range []float64{0.01, 1, 30} {
		if zero.Forward(y) != log.Forward(y) || zero.LogSlope(y) != log.LogSlope(y) {
			t.Errorf("λ = 0 at %v is not the logarithm", y)
		}
		if got := near.Forward(y); math.Abs(got-math.Log(y)) > 1e-7 {
			t.Errorf("λ = 1e-9 at %v: %v", y, got)
		}
		if got := one.Forward(y); math.Abs(got-(y-1)) > 1e-14*y || one.LogSlope(y) != 0 {
			t.Errorf("λ = 1 at %v: %v", y, got)
		}
	}
	for _, variance := range []float64{0, 0.3} {
		am, av := zero.Moments(0.4, variance)
		bm, bv := log.Moments(0.4, variance)
		if am != bm || av != bv {
			t.Error("λ = 0 has other moments than the logarithm")
		}
		// Far from the edge the moments of λ → 0 are the lognormal's, by quadrature.
		if m, v := near.Moments(0.4, variance); math.Abs(m/bm-1) > 1e-7 || math.Abs(v-bv) > 1e-7 {
			t.Errorf("λ = 1e-9: %v, %v; log %v, %v", m, v, bm, bv)
		}
		if m, v := one.Moments(20, variance); math.Abs(m-21) > 1e-12 || math.Abs(v-variance) > 1e-12 {
			t.Errorf("λ = 1: %v, %v of N(20, %v)", m, v, variance)
		}
	}
}

// The density of y that the slope gives integrates to 1, but for what the normal has
// beyond the range of a Box–Cox transform.
func TestDensitiesIntegrateToOne(t *testing.T) {
	mean, sd := 0.3, 0.6
	phi := func(z float64) float64 {
		return math.Exp(-0.5*(z-mean)*(z-mean)/sd/sd) / sd / math.Sqrt(2*math.Pi)
	}
	for _, tr := range some() {
		mu := mean
		density := func(y float64) float64 { return phi(tr.Forward(y)) * math.Exp(tr.LogSlope(y)) }
		// In pieces between quantiles of y, so that each is smooth.
		sum := 0.0
		for k := -8.0; k < 8; k += 0.25 {
			a, b := tr.Back(mu+k*sd), tr.Back(mu+(k+0.25)*sd)
			if math.IsInf(b, 1) { // a tail that falls like a power
				from := a
				sum += quad.Fixed(func(u float64) float64 { return density(from/u) * from / u / u }, 0, 1, 200, nil, 0)
				break
			}
			sum += quad.Fixed(density, a, b, 40, nil, 0)
		}
		missing := 0.0
		if e := tr.edge(); tr.Lambda > 0 {
			missing = math.Erfc((mu-e)/sd/math.Sqrt2) / 2
		} else if tr.Lambda < 0 {
			missing = math.Erfc((e-mu)/sd/math.Sqrt2) / 2
		}
		if math.Abs(sum+missing-1) > 2e-6 {
			t.Errorf("%v: the density integrates to %v, beyond the range is %v", tr, sum, missing)
		}
	}
}

// Moments by quadrature are those of draws, within their standard error, and the
// lognormal's are its closed forms; quantiles are the draws' order statistics.
func TestMomentsAndDraws(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const n = 100_000
	z := make([]float64, n)
	for i := range z {
		z[i] = rng.NormFloat64()
	}
	for _, tr := range some() {
		for _, c := range []struct{ mean, sd float64 }{{0.4, 0.2}, {-1, 0.7}, {-1.5, 2}} {
			if tr.Lambda < 0 && tr.edge() < c.mean+(capped+1)*c.sd {
				continue // has no mean
			}
			m, v := tr.Moments(c.mean, c.sd*c.sd)
			sum, squares := 0.0, 0.0
			y := make([]float64, n)
			for i, u := range z {
				y[i] = tr.Back(c.mean + c.sd*u)
				sum += y[i]
				squares += (y[i] - m) * (y[i] - m)
			}
			if off := (sum/n - m) / math.Sqrt(v/n); math.Abs(off) > 4 {
				t.Errorf("%v, %v: mean %v, of draws %v: %.1f standard errors", tr, c, m, sum/n, off)
			}
			tolerance := 0.03
			if tr.shape() == Log || tr.Lambda == 0.01 || tr.Lambda < 0 {
				tolerance = 0.4 // heavy tails: the fourth moment
			}
			if v2 := squares / n; math.Abs(v2/v-1) > tolerance {
				t.Errorf("%v, %v: variance %v, of draws %v", tr, c, v, v2)
			}
			slices.Sort(y)
			for _, p := range []struct{ prob, u float64 }{{0.025, -1.959963984540054}, {0.5, 0}, {0.9, 1.2815515655446004}} {
				// Between the order statistics that are four standard errors away.
				at, off := p.prob*n, 4*math.Sqrt(n*p.prob*(1-p.prob))
				if q := tr.Back(c.mean + c.sd*p.u); q < y[int(at-off)] || q > y[int(at+off)] {
					t.Errorf("%v, %v: quantile %v is %v, of draws %v", tr, c, p.prob, q, y[int(at)])
				}
			}
		}
	}
	m, v := Transform{Name: Log}.Moments(1.2, 0.5)
	if want := math.Exp(1.45); math.Abs(m/want-1) > 1e-15 || math.Abs(v/(want*want*(math.Sqrt(math.E)-1))-1) > 1e-14 {
		t.Errorf("lognormal: %v, %v", m, v)
	}
}

// The quadratures against closed forms: λ = 1/2 is a square with a kink at the edge,
// λ = 1 a normal cut off at 0, a tight logit its value, a wide one a step.
func TestMomentsInClosedForm(t *testing.T) {
	phi := func(u float64) float64 { return math.Exp(-u*u/2) / math.Sqrt(2*math.Pi) }
	above := func(u float64) float64 { return math.Erfc(u/math.Sqrt2) / 2 }
	for _, mean := range []float64{-5, -2.5, -1.2, 0.3, 4} {
		const sd = 0.7
		// E max(0, s + σu) and of its square, s = 1 + μ.
		s := 1 + mean
		one := s*above(-s/sd) + sd*phi(s/sd)
		two := (s*s+sd*sd)*above(-s/sd) + s*sd*phi(s/sd)
		m, v := Transform{Name: BoxCox, Lambda: 1}.Moments(mean, sd*sd)
		if math.Abs(m-one) > 1e-12 || math.Abs(v-(two-one*one)) > 1e-11 {
			t.Errorf("λ = 1 at %v: %v, %v, want %v, %v", mean, m, v, one, two-one*one)
		}
		// λ = 1/2: y = (1 + z/2)² above −2; with s = 1 + μ/2, σ/2.
		h, r := 1+mean/2, sd/2
		square := (h*h+r*r)*above(-h/r) + h*r*phi(h/r)
		if m, _ := (Transform{Name: BoxCox, Lambda: 0.5}).Moments(mean, sd*sd); math.Abs(m-square) > 1e-11 {
			t.Errorf("λ = 1/2 at %v: %v, want %v", mean, m, square)
		}
	}
	logit := Transform{Name: Logit, Low: 0, High: 1}
	if m, _ := logit.Moments(1, 1e-10); math.Abs(m-1/(1+math.Exp(-1))) > 1e-9 {
		t.Errorf("tight logit: %v", m)
	}
	// By symmetry, and E(logistic) at μ and −μ adding up to 1.
	a, va := logit.Moments(0.8, 2)
	b, vb := logit.Moments(-0.8, 2)
	if math.Abs(a+b-1) > 1e-13 || math.Abs(va-vb) > 1e-13 {
		t.Errorf("logit: %v + %v, %v, %v", a, b, va, vb)
	}
	// A composite rule a hundred times as fine.
	want := 0.0
	for k := -60_000; k <= 60_000; k++ {
		u := float64(k) * 1e-4
		want += 1e-4 * phi(u) / (1 + math.Exp(-0.8-math.Sqrt2*u))
	}
	if math.Abs(a-want) > 1e-8 {
		t.Errorf("logit: %v, by a fine rule %v", a, want)
	}
	if m, v := (Transform{Name: BoxCox, Lambda: -1}).Moments(0.9, 1); !math.IsInf(m, 1) || !math.IsInf(v, 1) {
		t.Errorf("λ = −1 beyond its range: %v, %v", m, v)
	}
}

func TestNew(t *testing.T) {
	for _, name := range Names() {
		if tr, err := New(name, nil); err != nil || (name == None || name == Auto) != tr.Identity() {
			t.Errorf("%s: %v, %v", name, tr, err)
		}
	}
	if tr, err := New(Logit, []float64{0, 100}); err != nil || tr.High != 100 {
		t.Errorf("%v, %v", tr, err)
	}
	if _, err := New("logarithm", nil); err == nil {
		t.Error("an unknown name")
	}
	for _, b := range [][]float64{{}, {1}, {2, 2}, {3, 1}, {0, math.NaN()}, {math.Inf(-1), 0}} {
		if _, err := New(Logit, b); err == nil {
			t.Errorf("bounds %v", b)
		}
	}
}
