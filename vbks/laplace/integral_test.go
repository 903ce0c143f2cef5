package laplace

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"example.com/kestrel/kernelspace"
	"example.com/kestrel/kernelspace/kernelspacetest"
)

// logNormal is the log density of N(mean, diag(sd²)).
func logNormal(x, mean, sd []float64) float64 {
	v := 0.0
	for i := range x {
		z := (x[i] - mean[i]) / sd[i]
		v -= z*z/2 + math.Log(sd[i]) + math.Log(2*math.Pi)/2
	}
	return v
}

// peakAt is a mode as its finder would tell it, with widths that may be wrong.
func peakAt(x, sd []float64, value float64) Peak {
	f := len(x)
	chol := make([]float64, f*f)
	volume := float64(f) / 2 * math.Log(2*math.Pi)
	for i, s := range sd {
		chol[i*f+i] = s
		volume += math.Log(s)
	}
	return Peak{X: x, Value: value, Volume: volume, Chol: chol}
}

// A posterior as those of parts that explain nothing: any amplitude below some is as good,
// so that the prior alone says how much there is, far from the mode at the edge, and any
// length above some. The integral is a product of those by quadrature.
func TestIntegralOfPlateaus(t *testing.T) {
	p := kernelspacetest.Program(t, "SE", kernelspace.Options{Dim: 1})
	var prior Prior
	var mode, widths []float64
	want := 0.0
	edges := []float64{-5, -4, -6, 3, 4} // the first three bound from above
	one := func(i int, v float64) float64 {
		if i > 2 {
			v = -v
		}
		edge := edges[i]
		if i > 2 {
			edge = -edge
		}
		return -v*v/18 - math.Log(3) - math.Log(2*math.Pi)/2 - 4*math.Log1p(math.Exp(2*(v-edge)))
	}
	for i := range edges {
		sum, best, at := 0.0, math.Inf(-1), 0.0
		for v := -30.0; v < 30; v += 1e-3 {
			l := one(i, v)
			sum += math.Exp(l) * 1e-3
			if l > best {
				best, at = l, v
			}
		}
		want += math.Log(sum)
		const h = 1e-3
		curvature := (2*one(i, at) - one(i, at-h) - one(i, at+h)) / (h * h)
		prior.Mean, prior.Prec = append(prior.Mean, 0), append(prior.Prec, 1/9.)
		mode, widths = append(mode, at), append(widths, 1/math.Sqrt(curvature))
	}
	log := func(x []float64) float64 {
		sum := 0.0
		for i, v := range x {
			sum += one(i, v)
		}
		return sum
	}
	mean := 0.0
	const seeds = 10
	for seed := range uint64(seeds) {
		got, err := Integrate([]Density{{Program: p, Name: "plateau", Prior: prior, Modes: []Peak{peakAt(mode, widths, log(mode))}}},
			func(_ []int, xs [][]float64) ([]float64, error) { return []float64{log(xs[0])}, nil }, seed)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(got[0].Nats-want) > .15 {
			t.Errorf("%+v, want %.3f", got[0], want)
		}
		mean += got[0].Nats / seeds
	}
	if math.Abs(mean-want) > .05 {
		t.Errorf("%.3f on average, want %.3f", mean, want)
	}
}

// The integrals of densities that are known: one normal mode, also with a curvature
// that is off, two modes far from each other of which one is small but wide, a mode
// whose tail the curvature does not show, and a ridge that is bent.
func TestIntegralsOfKnownDensities(t *testing.T) {
	p := kernelspacetest.Program(t, "SE", kernelspace.Options{Dim: 1})
	a, b := []float64{0, 1, 2}, []float64{6, -5, 2}
	narrow, wide := []float64{.1, .2, .1}, []float64{1, 2, 1.5}
	for _, c := range []struct {
		name  string
		modes []Peak
		log   func(x []float64) float64
		want  float64
		nats  float64
	}{
		{"normal", []Peak{peakAt(a, wide, 0)}, func(x []float64) float64 { return 3 + logNormal(x, a, wide) }, 3, .15},
		{"curvature off", []Peak{peakAt(a, []float64{.6, 3, 1}, 0)}, func(x []float64) float64 { return logNormal(x, a, wide) }, 0, .2},
		{"two modes", []Peak{
			peakAt(a, narrow, logNormal(a, a, narrow)),
			peakAt(b, wide, math.Log(3)+logNormal(b, b, wide)),
		}, func(x []float64) float64 {
			return floats.LogSumExp([]float64{logNormal(x, a, narrow), math.Log(3) + logNormal(x, b, wide)})
		}, math.Log(4), .2},
		{"a half-line", []Peak{peakAt(a, []float64{2, 2, 1}, 0)}, func(x []float64) float64 { // logistic to the left, wide and flat
			return logNormal(x, []float64{-1, 1, 2}, []float64{3, 2, 1}) - math.Log1p(math.Exp(4*x[0]))
		}, math.Log(halfLine()), .3},
		{"bent", []Peak{peakAt(a, []float64{1, .5, 1}, 0)}, func(x []float64) float64 {
			return logNormal([]float64{x[0], x[1] - x[0]*x[0]/2, x[2]}, a, []float64{1, .5, 1})
		}, 0, .35},
	} {
		for i := range c.modes {
			c.modes[i].Value = c.log(c.modes[i].X)
		}
		for seed := range uint64(3) {
			got, err := Integrate([]Density{{Program: p, Name: c.name, Modes: c.modes}}, func(_ []int, xs [][]float64) ([]float64, error) {
				return []float64{c.log(xs[0])}, nil
			}, seed)
			if err != nil {
				t.Fatal(err)
			}
			if g := got[0]; math.Abs(g.Nats-c.want) > c.nats || g.Draws < 5 || !(g.SE > 0) {
				t.Errorf("%s: %+v, want %.3f", c.name, g, c.want)
			}
		}
	}
}

// halfLine is ∫ N(x; −1, 9)/(1 + exp 4x) dx by the midpoint rule.
func halfLine() float64 {
	sum, h := 0.0, 0.001
	for x := -30.0; x < 10; x += h {
		m := x + h/2
		sum += h * math.Exp(-(m+1)*(m+1)/18) / (3 * math.Sqrt(2*math.Pi)) / (1 + math.Exp(4*m))
	}
	return sum
}

// Of two equal terms one mode is enough for the integral over both arrangements, apart
// or not, and several densities at a time do not disturb each other.
func TestIntegralOverArrangements(t *testing.T) {
	p := kernelspacetest.Program(t, "PER+PER", kernelspace.Options{Dim: 1})
	sd := []float64{.3, .4, .2, .3, .4, .2, .5}
	var densities []Density
	var logs []func(x []float64) float64
	for _, apart := range []float64{5, .3, 0} {
		one := []float64{0, 1, 2, apart, 1 + apart, 2 - apart, 0}
		other := []float64{apart, 1 + apart, 2 - apart, 0, 1, 2, 0}
		log := func(x []float64) float64 {
			return floats.LogSumExp([]float64{logNormal(x, one, sd), logNormal(x, other, sd)})
		}
		densities = append(densities, Density{Program: p, Name: "PER+PER", Modes: []Peak{peakAt(one, sd, log(one))}})
		logs = append(logs, log)
	}
	got, err := Integrate(densities, func(sub []int, xs [][]float64) ([]float64, error) {
		out := make([]float64, len(sub))
		for j, i := range sub {
			out[j] = logs[i](xs[j])
		}
		return out, nil
	}, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i, g := range got {
		if math.Abs(g.Nats-math.Log(2)) > .3 {
			t.Errorf("%d: %+v, want log 2", i, g)
		}
	}
}

// What cannot be evaluated anywhere has no integral.
func TestNoIntegral(t *testing.T) {
	p := kernelspacetest.Program(t, "LIN", kernelspace.Options{Dim: 1})
	got, err := Integrate([]Density{{Program: p, Name: "LIN", Modes: []Peak{peakAt([]float64{0, 0}, []float64{1, 1}, 0)}}},
		func(_ []int, _ [][]float64) ([]float64, error) { return []float64{math.Inf(-1)}, nil }, 1)
	if err != nil || !math.IsNaN(got[0].Nats) || got[0].Draws != 0 {
		t.Errorf("%+v, %v", got, err)
	}
}

// Kernels are what they were with their free vector in every order that is told, and
// there are as many orders as there are ways to exchange equal terms.
func TestExchangesLeaveTheKernel(t *testing.T) {
	for expr, want := range map[string]int{
		"SE": 1, "PER+SE": 1, "PER+PER": 2, "PER*PER": 2, "SE+SE+SE": 6, "PER+PER+SE": 2, "LIN*RQ+LIN": 1,
		"PER*SE+PER*SE": 2, "CP(SE,SE)": 1, "SE+SE+PER+PER": 4,
	} {
		p := kernelspacetest.Program(t, expr, kernelspace.Options{Dim: 1})
		f := len(p.Free) + 1
		orders := Exchanges(p, f, Prior{})
		if len(orders) != want {
			t.Errorf("%s: %d orders, want %d: %v", expr, len(orders), want, orders)
		}
		x := make([]float64, f)
		for i := range x {
			x[i] = .1 + .37*float64(i)
		}
		dense := func(free []float64) *mat.Dense {
			raw := make([]float64, len(p.Params))
			for j := range raw {
				raw[j] = 1
			}
			for i, j := range p.Free {
				raw[j] = math.Exp(free[i] / 3)
			}
			out := mat.NewDense(4, 4, nil)
			for a := range 4 {
				for b := range 4 {
					out.Set(a, b, p.Eval(raw, []float64{float64(a)*1.3 - 2}, []float64{float64(b)*.7 - 1}, false))
				}
			}
			return out
		}
		for _, order := range orders {
			if slices.Contains(order, -1) || order[f-1] != f-1 {
				t.Errorf("%s: order %v", expr, order)
			}
			if !mat.EqualApprox(dense(arranged(x, order)), dense(x), 1e-10) {
				t.Errorf("%s: order %v is another kernel", expr, order)
			}
		}
	}
}

// The estimate is not off in the mean, however many entries there are: draws are not
// weighed with proposals that were fitted to them.
func TestIntegralIsUnbiased(t *testing.T) {
	p := kernelspacetest.Program(t, "RQ+RQ*PER+LIN", kernelspace.Options{Dim: 1})
	for _, f := range []int{3, 9} {
		at, sd := make([]float64, f), ones(f, 1)
		var mean float64
		const streams = 60
		for seed := range uint64(streams) {
			d := Density{Program: p, Name: "unbiased", Modes: []Peak{peakAt(at, sd, logNormal(at, at, sd))}}
			got, err := Integrate([]Density{d}, func(_ []int, xs [][]float64) ([]float64, error) {
				return []float64{logNormal(xs[0], at, sd)}, nil
			}, seed)
			if err != nil {
				t.Fatal(err)
			}
			mean += math.Exp(got[0].Nats) / streams
		}
		if math.Abs(mean-1) > .05 {
			t.Errorf("%d entries: %.3f in the mean, want 1", f, mean)
		}
	}
}

// Equal terms whose priors differ, as those of two seasons, are not exchanged; and
// where there are too many orders only the plain one is looked at.
func TestExchangesNeedEqualPriors(t *testing.T) {
	p := kernelspacetest.Program(t, "PER*PER", kernelspace.Options{Dim: 1})
	f := len(p.Free) + 1
	prior := Prior{Mean: make([]float64, f), Prec: ones(f, 1)}
	if n := len(Exchanges(p, f, prior)); n != 2 {
		t.Errorf("%d orders, want 2", n)
	}
	m := mode(t, "PER*PER", []float64{0, 1, 2, 1, -4, 0}, 1)
	h := mat.NewDiagDense(f, ones(f, 1))
	for i, j := range p.Free {
		if p.Params[j].Name == "period" {
			prior.Mean[i] = float64(i)
		}
	}
	if n := len(Exchanges(p, f, prior)); n != 1 {
		t.Errorf("other periods: %d orders, want 1", n)
	}
	if m.Mean = prior.Mean; newCurvature(&m).arrangements(h) != 1 {
		t.Error("other periods: there is more than one arrangement")
	}
	p = kernelspacetest.Program(t, "SE+SE+SE+SE+SE+SE", kernelspace.Options{Dim: 1})
	if n := len(Exchanges(p, len(p.Free)+1, Prior{})); n != 1 {
		t.Errorf("of 720 orders %d, want 1", n)
	}
}

// Equal terms of which different things are known are not exchanged.
func TestWhatIsKnownIsNotExchanged(t *testing.T) {
	p := kernelspacetest.Program(t, "PER+PER", kernelspace.Options{Dim: 1})
	for _, c := range []struct {
		first, second kernelspace.Known
		want          int
	}{
		{kernelspace.Known{}, kernelspace.Known{}, 2},
		{kernelspace.Known{How: kernelspace.Fixed, Value: 2}, kernelspace.Known{}, 1},
		{kernelspace.Known{How: kernelspace.Fixed, Value: 2}, kernelspace.Known{How: kernelspace.Fixed, Value: 2}, 2},
		{kernelspace.Known{How: kernelspace.Bounded, High: 2}, kernelspace.Known{How: kernelspace.Bounded, High: 3}, 1},
		{kernelspace.Known{How: kernelspace.Bounded, High: 2}, kernelspace.Known{How: kernelspace.Bounded, High: 2}, 2},
	} {
		known := make([]kernelspace.Known, len(p.Params)+1)
		known[2], known[5] = c.first, c.second
		q, err := p.Know(known)
		if err != nil {
			t.Fatal(err)
		}
		if got := Exchanges(q, len(q.Free)+1, Prior{}); len(got) != c.want {
			t.Errorf("%v and %v: %v, want %d", c.first, c.second, got, c.want)
		}
	}
}

// A leaf that the data show as much as not: its period fits noise by some nats in a hundredth
// of what the prior allows, as long as it has an amplitude; without one it may be anything. The
// integral over the amplitude and the period is by quadrature, those of the others are 1.
func TestIntegralOfHiddenLeaf(t *testing.T) {
	p := kernelspacetest.Program(t, "SE+PER", kernelspace.Options{Dim: 1})
	f := len(p.Free) + 1 // and the noise
	at := func(base, name string) int {
		for i, j := range p.Free {
			if p.Params[j].Base == base && p.Params[j].Name == name {
				return i
			}
		}
		t.Fatal(base, name)
		return 0
	}
	amplitude, period := at("PER", "variance"), at("PER", "period")
	const where, width, worse = 0.7, 0.01, 60.0
	for _, gain := range []float64{1, 4, 7} {
		like := func(a, v float64) float64 {
			shown := 1 / (1 + math.Exp(-4*(a+1)))
			z := (v - where) / width
			return shown * ((gain+worse)*math.Exp(-z*z/2) - worse)
		}
		normal := func(v float64) float64 { return -v*v/2 - math.Log(2*math.Pi)/2 }
		sum := 0.0
		for a := -8.0; a < 8; a += 0.01 {
			for v := -6.0; v < 6; v += 0.05 {
				if math.Abs(v-where) > 0.2 {
					sum += math.Exp(normal(a)+normal(v)+like(a, v)) * 0.01 * 0.05
				}
			}
			for v := where - 0.2; v < where+0.2; v += 0.001 {
				sum += math.Exp(normal(a)+normal(v)+like(a, v)) * 0.01 * 0.001
			}
		}
		want := math.Log(sum)
		prior := Prior{Mean: make([]float64, f), Prec: make([]float64, f)}
		mode, widths := make([]float64, f), make([]float64, f)
		for i := range f {
			prior.Prec[i], widths[i] = 1, 1
		}
		mode[amplitude], mode[period], widths[period] = 0.3, where, width/math.Sqrt(gain+worse)
		log := func(x []float64) float64 {
			l := like(x[amplitude], x[period])
			for _, v := range x {
				l += normal(v)
			}
			return l
		}
		mean := 0.0
		const seeds = 8
		for seed := range uint64(seeds) {
			got, err := Integrate([]Density{{Program: p, Name: "hidden", Prior: prior, Modes: []Peak{peakAt(mode, widths, log(mode))}}},
				func(_ []int, xs [][]float64) ([]float64, error) { return []float64{log(xs[0])}, nil }, seed)
			if err != nil {
				t.Fatal(err)
			}
			mean += got[0].Nats / seeds
			t.Logf("gain %v, seed %d: %.3f, %.0f draws", gain, seed, got[0].Nats, got[0].Draws)
		}
		if math.Abs(mean-want) > 0.15 {
			t.Errorf("gain %v: %.3f on average, want %.3f", gain, mean, want)
		}
	}
}
