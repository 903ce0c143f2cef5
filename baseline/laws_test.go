package baseline

import (
	"math"
	"math/rand/v2"
	"testing"

	"example.com/kestrel/internal/thorough"
)

// Targets drawn from what a method supposes are predicted as well as it says: squared
// errors over variances are 1 in the mean, and 95 % of the targets are in the interval.
func TestPredictionsAreCalibrated(t *testing.T) {
	thorough.Unraced(t)
	rng := rand.New(rand.NewPCG(3, 4))
	const n, most = 120, 6
	// walk draws at inputs, ascending.
	walk := func(x []float64, drift float64) []float64 {
		y := make([]float64, len(x))
		for i := 1; i < len(x); i++ {
			d := x[i] - x[i-1]
			y[i] = y[i-1] + drift*d + math.Sqrt(d)*rng.NormFloat64()
		}
		return y
	}
	irregular := func() []float64 {
		x := make([]float64, n+most)
		for i := 1; i < len(x); i++ {
			x[i] = x[i-1] + 0.1 + rng.ExpFloat64()
		}
		return x
	}
	smooth := func(alpha, slope float64, season []float64) []float64 {
		y := make([]float64, n+most)
		level := 100.0
		for i := range y {
			e := rng.NormFloat64()
			y[i] = (level + slope + e) * season[i%len(season)]
			level += slope + alpha*e
		}
		return y
	}
	flat := []float64{1}
	for _, c := range []struct {
		name      string
		of        func(*Series, int, []float64) ([]Normal, error)
		season    int
		draw      func() (x, y []float64)
		inside    bool // rows are left out within, not at the end
		tolerance float64
	}{
		{"naive", Naive, 0, func() (x, y []float64) { x = irregular(); return x, walk(x, 0) }, false, 0.1},
		{"drift", Drift, 0, func() (x, y []float64) { x = irregular(); return x, walk(x, 0.5) }, false, 0.1},
		{"drift by steps", Drift, 0, func() (x, y []float64) { x = steps(5, n+most); return x, walk(x, 0.5) }, false, 0.1},
		{"seasonal naive", SeasonalNaive, 4, func() (x, y []float64) {
			y = make([]float64, n+most)
			for i := range y {
				if y[i] = rng.NormFloat64(); i >= 4 {
					y[i] += y[i-4]
				}
			}
			return steps(0, len(y)), y
		}, false, 0.1},
		{"Theta", Theta, 0, func() (x, y []float64) { return steps(0, n+most), smooth(0.4, 0.3, flat) }, false, 0.25},
		{"seasonal Theta", Theta, 4, func() (x, y []float64) {
			return steps(0, n+most), smooth(0.4, 0.3, []float64{1.2, 0.9, 0.8, 1.1})
		}, false, 0.4},
		{"ETS", ETS, 0, func() (x, y []float64) { return steps(0, n+most), smooth(0.4, 0, flat) }, false, 0.25},
		{"interpolation", Interpolate, 0, func() (x, y []float64) { x = irregular(); return x, walk(x, 0) }, true, 0.15},
		{"phases", PhaseMean, 4, func() (x, y []float64) {
			y = make([]float64, n+most)
			for i := range y {
				y[i] = float64(i%4) + rng.NormFloat64()
			}
			return steps(-7, len(y)), y
		}, true, 0.1},
	} {
		series := 250.0
		if c.name == "ETS" {
			series = 60 // slow
		}
		squares, covered := 0.0, 0.0
		for range int(series) {
			x, y := c.draw()
			from := n
			if c.inside {
				from = 50
			}
			trainX, trainY := append(append([]float64{}, x[:from]...), x[from+most:]...), append(append([]float64{}, y[:from]...), y[from+most:]...)
			s, err := NewSeries(trainX, trainY)
			if err != nil {
				t.Fatal(err)
			}
			p, err := c.of(s, c.season, x[from:from+most])
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			score, err := Scored(p, y[from:from+most])
			if err != nil {
				t.Fatal(err)
			}
			covered += score.Coverage[2] / series
			for h, p := range p {
				z := (y[from+h] - p.Mean) / p.SD
				squares += z * z / (most * series)
			}
		}
		if math.Abs(squares-1) > c.tolerance || math.Abs(covered-0.95) > 0.03 {
			t.Errorf("%s: squared errors are %v of the variances, %v of the targets are covered", c.name, squares, covered)
		}
	}
}

// Rows and inputs may come in any order; other units of the input change nothing, and
// those of the target what they should.
func TestPredictionsKeepUnits(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	const n = 48
	x, y := steps(0, n), make([]float64, n)
	for i := range y {
		y[i] = 50 + 0.4*float64(i) + 9*math.Sin(math.Pi*float64(i)/6) + 2*rng.NormFloat64()
	}
	ahead, within := []float64{n + 2, n, n + 13}, []float64{7, 21.5, 3}
	check := func(m Method, at []float64) {
		want, err := m.Predict(series(t, x, y), 12, at)
		if err != nil {
			t.Errorf("%s: %v", m.Name, err)
			return
		}
		order := rng.Perm(n)
		x2, y2, at2 := make([]float64, n), make([]float64, n), make([]float64, len(at))
		for i, from := range order {
			x2[i], y2[i] = 86400*x[from]-1e6, 1e-3*y[from]
		}
		for i := range at {
			at2[i] = 86400*at[len(at)-1-i] - 1e6
		}
		got, err := m.Predict(series(t, x2, y2), 12, at2)
		if err != nil {
			t.Errorf("%s: %v", m.Name, err)
			return
		}
		for i, w := range want {
			if g := got[len(at)-1-i]; math.Abs(1e3*g.Mean/w.Mean-1) > 1e-5 || math.Abs(1e3*g.SD/w.SD-1) > 1e-5 {
				t.Errorf("%s: %+v, in other units %+v", m.Name, w, g)
			}
		}
	}
	for _, m := range Forecasts() {
		check(m, ahead)
	}
	check(Fillings()[0], within)
	check(Fillings()[1], []float64{7, 21, 3})
}

// A line is interpolated and continued exactly, a season found again.
func TestPredictionsOfWhatIsCertain(t *testing.T) {
	x, y := steps(3, 40), make([]float64, 40)
	for i := range y {
		y[i] = 100 + 2.5*x[i]
	}
	s := series(t, x, y)
	if p, err := Drift(s, 0, []float64{50}); err != nil || math.Abs(p[0].Mean-225) > 1e-9 || p[0].SD > 1e-9 {
		t.Errorf("drift: %v, %v", p, err)
	}
	// The naive forecast knows parts of a step.
	if p, err := Naive(s, 0, []float64{42.5, 44}); err != nil || p[0].Mean != 205 || math.Abs(p[1].SD/p[0].SD-2) > 1e-12 {
		t.Errorf("naive: %v, %v", p, err)
	}
	// Theta has half the slope: the curved series is the line, of which smoothing keeps
	// the last value.
	if p, err := Theta(s, 0, []float64{50}); err != nil || math.Abs(p[0].Mean-(225+205)/2.) > 1e-3 {
		t.Errorf("Theta: %v, %v", p, err)
	}
	p, err := Interpolate(s, 0, []float64{7.25, 10})
	if err != nil || math.Abs(p[0].Mean-118.125) > 1e-12 || p[0].SD > 1e-9 || p[1].Mean != 125 {
		t.Errorf("interpolation: %v, %v", p, err)
	}
	for i := range y {
		y[i] = 7 + []float64{1, 5, -3}[i%3]
	}
	for _, m := range Forecasts() {
		if m.Name == "naive" || m.Name == "drift" {
			continue
		}
		p, err := m.Predict(series(t, x, y), 3, steps(43, 6))
		for h, p := range p {
			if want := 7 + []float64{1, 5, -3}[(40+h)%3]; math.Abs(p.Mean-want) > 0.03*want {
				t.Errorf("%s: %v, want %v", m.Name, p, want)
			}
		}
		if err != nil {
			t.Error(err)
		}
	}
	p, err = PhaseMean(series(t, append(x[:9:9], x[12:]...), append(y[:9:9], y[12:]...)), 3, []float64{13, 1, 50})
	if err != nil || p[0] != (Normal{12, 0}) || p[1] != (Normal{12, 0}) || p[2] != (Normal{4, 0}) {
		t.Errorf("phases: %v, %v", p, err)
	}
}

// Scores of draws from the predictions are what they are in the mean: E CRPS = σ/√π,
// E |y − μ| = σ√(2/π), E NLPD = ½ log 2πeσ²; and a certain prediction has its error.
func TestScored(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	const n, sd = 40000, 3.0
	p, y := make([]Normal, n), make([]float64, n)
	for i := range p {
		p[i] = Normal{float64(i % 7), sd}
		y[i] = p[i].Mean + sd*rng.NormFloat64()
	}
	s, err := Scored(p, y)
	if err != nil || s.Rows != n {
		t.Fatal(s, err)
	}
	const z, density = 1.959963984540054, 0.05844507 // φ(z)
	for name, c := range map[string][2]float64{
		"CRPS": {s.CRPS, sd / math.Sqrt(math.Pi)}, "MAE": {s.MAE, sd * math.Sqrt(2/math.Pi)}, "RMSE": {s.RMSE, sd},
		"NLPD": {s.NLPD, 0.5 * math.Log(2*math.Pi*math.E*sd*sd)}, "coverage": {s.Coverage[2], 0.95},
		"of 80 %": {s.Coverage[1], 0.8}, "of 50 %": {s.Coverage[0], 0.5},
		"interval": {s.Interval, 2 * sd * density / 0.025}, // 2zσ and 80σ(φ(z) − z/40)
	} {
		if math.Abs(c[0]/c[1]-1) > 0.02 {
			t.Errorf("%s %v, want %v", name, c[0], c[1])
		}
	}
	s, err = Scored([]Normal{{1, 0}, {2, 0}}, []float64{1, 5})
	want := Score{RMSE: 3 / math.Sqrt2, MAE: 1.5, NLPD: math.Inf(1), CRPS: 1.5, Interval: 60, Rows: 2, Coverage: [3]float64{.5, .5, .5}}
	if err != nil ||
		math.Abs(s.Interval-60) > 1e-9 || math.Abs(s.RMSE-want.RMSE) > 1e-12 || s.CRPS != want.CRPS || s.NLPD != want.NLPD ||
		s.Coverage != want.Coverage || s.MAE != want.MAE {
		t.Errorf("%+v, want %+v (%v)", s, want, err)
	}
}
