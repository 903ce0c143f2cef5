package kernelspace

import (
	"math"
	"testing"
)

// At the prior means a kernel has the variance of the targets where each
// column is at its root mean square, however amplitudes are shared out.
func TestPriorMeansGiveTargetVariance(t *testing.T) {
	x := []float64{1950, 0.3, 7}
	s := Scales{Span: []float64{12, 1.1, 20}, Spacing: []float64{0.1, 0.01, 1}, RMS: x, YVar: 6.25e6}
	for _, e := range testSpace(t) {
		for _, opt := range []Options{{Dim: 1}, {Dim: 3}, {Dim: 3, ARD: true}} {
			p := compile(t, e, opt)
			theta := make([]float64, len(p.Params))
			for i := range theta {
				mean, sd := p.Prior(i, s)
				theta[i] = math.Exp(mean)
				lo, hi := p.Bounds(i, s)
				if !p.Params[i].Free {
					if mean != 0 || !math.IsInf(sd, 1) || lo != 0 || hi != 0 {
						t.Fatalf("%s: fixed %+v has prior %g, %g and bounds %g, %g", e, p.Params[i], mean, sd, lo, hi)
					}
					continue
				}
				near, broad := 1.0, 1.5 // a period's bounds may be no wider than its prior
				switch p.Params[i].Name {
				case "period":
					near = 0
				case "origin":
					near, broad = 0.8, 0.5
				}
				if !(sd >= broad) || !(lo < mean-near*sd && mean+near*sd < hi) || math.IsInf(hi-lo, 0) {
					t.Errorf("%s: %+v has prior %g, %g, bounds %g to %g", e, p.Params[i], mean, sd, lo, hi)
				}
			}
			if got := p.Eval(theta, x[:opt.Dim], x[:opt.Dim], true); relative(got, s.YVar, 0) > 1e-9 {
				t.Errorf("%s, %+v: k(x,x) = %g, want %g", e, opt, got, s.YVar)
			}
		}
	}
}

func TestBoundsAndPriorsFollowTheData(t *testing.T) {
	s := Scales{Span: []float64{100}, Spacing: []float64{0.01}, YVar: 9}
	log := math.Log
	for _, c := range []struct {
		expr, name   string
		lo, hi, mean float64
	}{
		{"SE", "variance", log(9e-8), log(9e8), log(9)},
		{"SE", "lengthscale", log(0.0005), log(1e5), log(30)},
		{"PER", "period", log(0.02), log(1000), log(math.Sqrt2)}, // geometric mean of 0.02 and 100
		{"PER", "lengthscale", log(0.01), log(100), 0},
		{"RQ", "alpha", log(0.01), log(1e4), 0},
		{"LIN", "variance", log(9e-8 / 2500), log(9e8 / 2500), log(9. / 2500)}, // RMS is span/2
	} {
		p := compile(t, parse(t, c.expr), Options{Dim: 1})
		for i, q := range p.Params {
			if q.Name != c.name {
				continue
			}
			lo, hi := p.Bounds(i, s)
			mean, _ := p.Prior(i, s)
			if math.Abs(lo-c.lo)+math.Abs(hi-c.hi)+math.Abs(mean-c.mean) > 1e-9 {
				t.Errorf("%s %s: %g to %g about %g; want %g to %g about %g", c.expr, c.name, lo, hi, mean, c.lo, c.hi, c.mean)
			}
		}
	}
}

// A constant column, constant targets or missing scales give no NaN.
func TestDegenerateScales(t *testing.T) {
	for _, s := range []Scales{
		{},
		{Span: []float64{0, 0}, Spacing: []float64{0, math.NaN()}, RMS: []float64{0, 0}, YVar: 0},
		{Span: []float64{math.Inf(1), 1}, Spacing: []float64{5, 5}, YVar: math.NaN()},
	} {
		for _, e := range testSpace(t) {
			p := compile(t, e, Options{Dim: 2, ARD: true})
			for _, i := range p.Free {
				lo, hi := p.Bounds(i, s)
				mean, sd := p.Prior(i, s)
				if !(lo < mean && mean < hi && sd > 0) || math.IsInf(lo, 0) || math.IsInf(hi, 0) || math.IsInf(sd, 0) {
					t.Fatalf("%s, %+v: %+v: %g to %g about %g ± %g", e, s, p.Params[i], lo, hi, mean, sd)
				}
			}
		}
	}
}

// The scaled parameters are those of the same kernel on the data themselves.
func TestScaleGivesSameKernel(t *testing.T) {
	r := newRand(10)
	const yScale = 283
	for _, c := range []struct {
		opt    Options
		xScale []float64
	}{
		{Options{Dim: 1}, []float64{1e3}},
		{Options{Dim: 3}, []float64{0.02, 0.02, 0.02}},
		{Options{Dim: 3, ARD: true}, []float64{0.02, 7, 1e3}},
	} {
		for _, e := range testSpace(t) {
			p := compile(t, e, c.opt)
			theta := randomTheta(r, p)
			scaled := make([]float64, len(theta))
			for i := range theta {
				if !p.Params[i].Free {
					theta[i] = 1
				}
				scaled[i] = theta[i] * p.Scale(i, c.xScale, yScale)
				if p.Params[i].Name == "place" {
					scaled[i] = RawPlace(PlaceOf(theta[i]) * p.Scale(i, c.xScale, yScale))
				}
			}
			rows := randomRows(r, 3, p.Dim)
			data := make([][]float64, len(rows))
			for i := range rows {
				for d, v := range rows[i] {
					data[i] = append(data[i], v*c.xScale[d])
				}
			}
			for i := range rows {
				for j := range rows {
					want := yScale * yScale * p.Eval(theta, rows[i], rows[j], i == j)
					if got := p.Eval(scaled, data[i], data[j], i == j); relative(got, want, 1) > 1e-9 {
						t.Fatalf("%s, %+v: %g in data units, want %g", e, c.opt, got, want)
					}
				}
			}
		}
	}
	p := compile(t, parse(t, "SE+LIN"), Options{Dim: 2})
	if s := p.Scale(1, []float64{1, 2}, 3); !math.IsNaN(s) {
		t.Errorf("one length scale for columns of different scales: %g", s)
	}
}

func TestUnit(t *testing.T) {
	for _, c := range []struct {
		expr, y string
		x       []string
		opt     Options
		want    []string
	}{
		{"PER+LIN", "MWh", []string{"days"}, Options{Dim: 1}, []string{"MWh²", "", "days", "MWh²/days²", ""}},
		{"PER*LIN*RQ", "MWh", []string{"days"}, Options{Dim: 1}, []string{"MWh²", "", "days", "1/days²", "", "", "days", ""}},
		{"(SE+RQ)*(WN+CONST)", "K", []string{"s"}, Options{Dim: 1}, []string{"K²", "s", "K²", "s", "", "", ""}},
		{"SE+POLY2", "m/s", []string{"km", "km"}, Options{Dim: 2}, []string{"(m/s)²", "km", "(m/s)²", "km", ""}},
		{"SE+LIN", "K", []string{"km", "s"}, Options{Dim: 2}, []string{"K²", Standardised, Standardised, ""}},
		{"SE+LIN", "K", []string{"km", "s"}, Options{Dim: 2, ARD: true}, []string{"K²", "km", "s", "K²", "km", "s"}},
		{"RW+SE*IRW", "K", []string{"m/s"}, Options{Dim: 1}, []string{"K²/(m/s)", "m/s", "K²", "m/s", "1/(m/s)³", "m/s"}},
		{"PER+LIN", "", nil, Options{Dim: 1}, []string{"", "", "", "", ""}},
	} {
		p := compile(t, parse(t, c.expr), c.opt)
		for i, want := range c.want {
			if got := p.Unit(i, c.x, c.y); got != want {
				t.Errorf("%s: unit of %s of leaf %d is %q, want %q", c.expr, p.Params[i].Name, p.Params[i].Leaf, got, want)
			}
		}
	}
}
