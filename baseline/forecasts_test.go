package baseline

import (
	"encoding/json"
	"math"
	"os"
	"testing"
)

// reference is what statsforecast prints (testdata/forecasts.py).
type reference struct {
	Naive, SNaive, Drift struct{ Mean, SD []float64 }
	Theta                struct {
		Mean, Index        []float64
		Alpha, Level       float64
		Seasonal, Additive bool
	}
	ETS []struct {
		Mean, SD, Start        []float64
		AICc, Alpha, Beta, Phi float64
	}
}

// references calls a function with each series of testdata/forecasts.py, made by the
// same formulas, and what follows.
func references(t *testing.T, with func(t *testing.T, season int, y []float64, r *reference)) {
	t.Helper()
	text, err := os.ReadFile("testdata/forecasts.json")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*reference{}
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	noise := func(t int) float64 { return float64((t*7919+t*t*104729)%1009)/1009 - 0.5 }
	walk := 0.0
	for name, c := range map[string]struct {
		season, n int
		of        func(t int) float64
	}{
		"trend": {1, 40, func(t int) float64 { return 50 + 1.5*float64(t) + 8*noise(t) }},
		"quarters": {4, 60, func(t int) float64 {
			return (100+2*float64(t))*[...]float64{1.1, 0.94, 0.88, 1.08}[t%4] + 10*noise(t)
		}},
		"walk": {1, 80, func(t int) float64 { walk += noise(t); return 500 + 10*walk }},
		"months": {12, 96, func(t int) float64 {
			return 100*math.Exp(0.01*float64(t))*(1+0.3*math.Sin(math.Pi*float64(t)/6)) + 12*noise(t)
		}},
		"signs": {12, 84, func(t int) float64 { return 20*math.Sin(math.Pi*float64(t)/6) + 0.2*float64(t) + 8*noise(t) - 5 }},
	} {
		y := make([]float64, c.n)
		for i := range y {
			y[i] = c.of(i)
		}
		t.Run(name, func(t *testing.T) { with(t, c.season, y, all[name]) })
	}
}

// steps are n inputs from a first one.
func steps(first float64, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = first + float64(i)
	}
	return x
}

func near(t *testing.T, what string, got []Normal, mean, sd []float64, factor, tolerance float64) {
	t.Helper()
	size := 0.0
	for _, m := range mean {
		size = max(size, math.Abs(m))
	}
	for h := range mean {
		if math.Abs(got[h].Mean-mean[h]) > tolerance*size || sd != nil && math.Abs(got[h].SD/sd[h]/factor-1) > tolerance {
			t.Fatalf("%s, %d ahead: %+v, want %v ± %v times %v", what, h+1, got, mean, sd, factor)
		}
	}
}

func TestNaiveForecastsAreThoseOfStatsforecast(t *testing.T) {
	references(t, func(t *testing.T, season int, y []float64, r *reference) {
		s, err := NewSeries(steps(3, len(y)), y)
		if err != nil {
			t.Fatal(err)
		}
		at := steps(3+float64(len(y)), len(r.Naive.Mean))
		n := float64(len(y))
		for _, c := range []struct {
			name   string
			of     func(*Series, int, []float64) ([]Normal, error)
			want   struct{ Mean, SD []float64 }
			factor float64
		}{
			{"naive", Naive, r.Naive, 1},
			{"drift", Drift, r.Drift, math.Sqrt((n - 1) / (n - 2))}, // it divides by n − 1, FPP3 by n − 2
			{"seasonal", SeasonalNaive, r.SNaive, 1},
		} {
			got, err := c.of(s, season, at)
			if err != nil && c.want.Mean != nil {
				t.Errorf("%s: %v", c.name, err)
			} else if err == nil {
				near(t, c.name, got, c.want.Mean, c.want.SD, c.factor, 1e-9)
			}
		}
	})
}

// Its STM has the same model, but another criterion (the first three errors are left
// out), coarse steps and α from 0.1: with its α and level the forecasts are the same, and
// ours have no more squared errors and are within a few per cent.
func TestThetaIsThatOfStatsforecast(t *testing.T) {
	references(t, func(t *testing.T, season int, y []float64, r *reference) {
		a := seasonal(y, season)
		if (a.index != nil) != r.Theta.Seasonal || a.additive != r.Theta.Additive {
			t.Fatalf("season %v, additive %v, want %v, %v", a.index != nil, a.additive, r.Theta.Seasonal, r.Theta.Additive)
		}
		for i, want := range r.Theta.Index {
			if got := a.index[(len(y)+i)%season]; math.Abs(got-want) > 1e-10*math.Abs(want) {
				t.Errorf("index %d is %v, want %v", i, got, want)
			}
		}
		n := len(y)
		y = a.off(y)
		theirs := thetaModel{n: n, last: smoothing{alpha: r.Theta.Alpha, level: 2 * r.Theta.Level}}
		theirs.intercept, theirs.slope = line(y)
		curved := make([]float64, n)
		for t, v := range y {
			curved[t] = 2*v - theirs.intercept - theirs.slope*float64(t+1)
		}
		theirs.squares, theirs.last = theirs.last.squares(curved)
		for h, p := range theirs.ahead(len(r.Theta.Mean)) {
			if got := a.on(n+h, p).Mean; math.Abs(got/r.Theta.Mean[h]-1) > 1e-9 {
				t.Fatalf("with its parameters, %d ahead: %v, want %v", h+1, got, r.Theta.Mean[h])
			}
		}
		s, err := NewSeries(steps(0, n), a.back(y))
		if err != nil {
			t.Fatal(err)
		}
		got, err := Theta(s, season, steps(float64(n), len(r.Theta.Mean)))
		if err != nil {
			t.Fatal(err)
		}
		near(t, "Theta", got, r.Theta.Mean, nil, 1, 0.03)
		alpha := alphaAt(minimise(1, func(u []float64) float64 { return thetaAt(y, alphaAt(u[0])).squares })[0])
		ours := thetaAt(y, alpha)
		if ours.squares > theirs.squares/4 {
			t.Errorf("squared errors %v, with its parameters %v", ours.squares, theirs.squares/4)
		}
		// The interval's law: SES with drift.
		for h, p := range ours.ahead(5) {
			if want := math.Sqrt(ours.squares / float64(n-3) * (1 + float64(h)*alpha*alpha)); math.Abs(p.SD/want-1) > 1e-12 {
				t.Errorf("%d ahead: sd %v, want %v", h+1, p.SD, want)
			}
		}
	})
}

// back puts the season on again.
func (a adjustment) back(y []float64) []float64 {
	out := make([]float64, len(y))
	for t, v := range y {
		out[t] = a.on(t, Normal{Mean: v}).Mean
	}
	return out
}

// Form 0 has no trend, 1 has one, 2 a damped one. With its parameters forecasts, AICc and, but for two degrees of freedom, standard
// deviations are the same. Ours have no greater AICc where its own keep the bounds that it
// is told, β <= α among them.
func TestETSIsThatOfStatsforecast(t *testing.T) {
	references(t, func(t *testing.T, _ int, y []float64, r *reference) {
		for form, want := range r.ETS {
			m := smoothing{alpha: want.Alpha, level: want.Start[0]}
			if form > 0 {
				m.beta, m.phi, m.slope = want.Beta, 1, want.Start[1]
			}
			if form == 2 {
				m.phi = want.Phi
			}
			n, k := float64(len(y)), []float64{3, 5, 6}[form]
			sum, last := m.squares(y)
			p := last.ahead(len(want.Mean), math.Sqrt(sum/(n-k-1)))
			if form == 2 {
				// It has φ + φ + φ² + … for φ + φ² + φ³ + … (Hyndman and Athanasopoulos, FPP3,
				// section 8.2) of the slope.
				for h := range p {
					p[h].Mean += last.slope * (m.phi - math.Pow(m.phi, float64(h+1)))
				}
			}
			near(t, "with its parameters", p, want.Mean, want.SD, 1, 1e-8)
			if aicc := n*math.Log(sum) + 2*k + 2*k*(k+1)/(n-k-1); math.Abs(aicc-want.AICc) > 1e-8*aicc {
				t.Errorf("form %d: AICc %v, want %v", form, aicc, want.AICc)
			}
			if form == 1 {
				continue // a trend without damping is not among ours
			}
			f := fit(y, form == 2)
			if got := f.sigma * f.sigma * (n - k + 1); math.Abs(f.aicc-(n*math.Log(got)+2*k+2*k*(k+1)/(n-k-1))) > 1e-9*f.aicc {
				t.Errorf("form %d: AICc %v of squared errors %v", form, f.aicc, got)
			}
			if want.Beta <= want.Alpha && f.aicc > want.AICc+1e-6 {
				t.Errorf("form %d: AICc %v, its own %v", form, f.aicc, want.AICc)
			}
			_, last = f.squares(y)
			if math.Abs(f.aicc-want.AICc) < 1e-3 { // the same optimum
				near(t, "the same optimum", last.ahead(len(want.Mean), f.sigma), want.Mean, want.SD, math.Sqrt((n-k-1)/(n-k+1)), 3e-3)
			}
		}
	})
}
