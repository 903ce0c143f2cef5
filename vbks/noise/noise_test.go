package noise

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"

	"example.com/kestrel/vbks/mixture"
)

// hills are rows of a smooth function with noise, some of them far off.
func hills(rng *rand.Rand, n int, outliers float64) (x, y []float64) {
	for i := range n {
		x = append(x, 10*float64(i)/float64(n))
		e := 0.3 * rng.NormFloat64()
		if rng.Float64() < outliers {
			e *= 4
		}
		y = append(y, math.Sin(x[i])+e)
	}
	return x, y
}

// posterior are mean and variance of f with covariance exp(−(x−x′)²/2) at rows of noise
// variances, by dense matrices.
func posterior(x, y, noise []float64) (mean, variance []float64) {
	n := len(x)
	k, with := mat.NewSymDense(n, nil), mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			k.SetSym(i, j, math.Exp(-(x[i]-x[j])*(x[i]-x[j])/2))
			with.SetSym(i, j, k.At(i, j))
		}
		with.SetSym(i, i, k.At(i, i)+noise[i])
	}
	var ch mat.Cholesky
	if !ch.Factorize(with) {
		panic("not positive definite")
	}
	var alpha mat.VecDense
	var gain mat.Dense
	if err := ch.SolveVecTo(&alpha, mat.NewVecDense(n, y)); err != nil {
		panic(err)
	}
	if err := ch.SolveTo(&gain, k); err != nil {
		panic(err)
	}
	for i := range n {
		m, v := 0.0, k.At(i, i)
		for j := range n {
			m += k.At(i, j) * alpha.AtVec(j)
			v -= k.At(i, j) * gain.At(j, i)
		}
		mean, variance = append(mean, m), append(variance, v)
	}
	return mean, variance
}

// textbookEM is the mean-field EM algorithm of a Gaussian process with Student noise as it
// stands in textbooks: the update of ν by the equation of its derivative.
func textbookEM(x, y []float64, steps int) (nu, s2 float64, w []float64) {
	n := len(x)
	nu, s2 = 4, 0.2
	noise := make([]float64, n)
	w = make([]float64, n)
	for i := range w {
		w[i] = 1
	}
	for range steps {
		for i := range noise {
			noise[i] = s2 / w[i]
		}
		mean, variance := posterior(x, y, noise)
		logs, sum := 0.0, 0.0
		for i := range w {
			m2 := (y[i]-mean[i])*(y[i]-mean[i]) + variance[i]
			a, b := (nu+1)/2, (nu+m2/s2)/2
			w[i] = a / b
			logs += (mathext.Digamma(a) - math.Log(b) - w[i]) / float64(n)
			sum += w[i] * m2 / float64(n)
		}
		s2 = sum
		slope := func(v float64) float64 { return 1 + math.Log(v/2) - mathext.Digamma(v/2) + logs }
		lo, hi := 0.1, 1e4
		for range 100 {
			if mid := math.Sqrt(lo * hi); slope(mid) > 0 {
				lo = mid
			} else {
				hi = mid
			}
		}
		nu = math.Sqrt(lo * hi)
	}
	return nu, s2, w
}

// The steps here and those of the textbook, which only the equation of ν tells apart, end
// at the same place.
func TestStepsEndWhereTheTextbookDoes(t *testing.T) {
	x, y := hills(rand.New(rand.NewPCG(1, 2)), 60, 0.1)
	nu, s2, w := textbookEM(x, y, 1000)
	f := Begin(Model{Nu: 10}, Rows{}, len(x))
	f.Noise = 0.5
	noise := make([]float64, len(x))
	for range 300 {
		for i := range noise {
			noise[i] = f.Noise / f.Weights[i]
		}
		mean, variance := posterior(x, y, noise)
		for i := range mean {
			mean[i] = y[i] - mean[i]
		}
		f.Step(Rows{}, mean, variance)
	}
	if math.Abs(f.Nu/nu-1) > 0.01 || math.Abs(f.Noise*f.Factor/s2-1) > 1e-3 {
		t.Errorf("ν %.4f and σ² %.6f, the textbook's EM algorithm has %.4f and %.6f", f.Nu, f.Noise*f.Factor, nu, s2)
	}
	logs := 0.0
	for i := range w {
		if got := f.Weights[i] * f.Factor; math.Abs(got/w[i]-1) > 5e-3 {
			t.Errorf("weight %d is %.5f, not %.5f", i, got, w[i])
		}
		logs += math.Log(f.Weights[i])
	}
	if math.Abs(logs) > 1e-9 {
		t.Errorf("the logarithms of the weights sum to %g", logs)
	}
}

func TestTailsAreStudents(t *testing.T) {
	for _, nu := range []float64{2.5, 3, 4.5, 10, 60, 200} {
		m := &Model{Nu: nu, Factor: 1}
		p := &mixture.Prediction{IDs: []string{"k"}, Weights: []float64{1}, Noise: []float64{2}, Mean: [][]float64{{1}}, Var: [][]float64{{0}}}
		m.Put(p, []float64{0}, nil, 1)
		want := distuv.StudentsT{Mu: 1, Sigma: math.Sqrt2, Nu: nu}
		for _, at := range []float64{-20, -4, 0.5, 1, 2, 3, 6, 12} {
			if got, want := p.CDF(0, at, true), want.CDF(at); math.Abs(got-want) > 1e-3 {
				t.Errorf("ν = %g: P(y < %g) = %.6f, Student's t has %.6f", nu, at, got, want)
			}
		}
		for _, q := range []float64{0.025, 0.1, 0.25, 0.9, 0.975} {
			if got, want := p.Quantile(0, q, true), want.Quantile(q); math.Abs(got-want) > 0.01*math.Abs(want-1) {
				t.Errorf("ν = %g: quantile %g is %.4f, Student's t has %.4f", nu, q, got, want)
			}
		}
		if _, v := p.Moments(0, false); v != 0 {
			t.Errorf("f has noise: %g", v)
		}
	}
}

// Gain against distributions: among normal errors chance gives less than Enough, and
// outliers more.
func TestGain(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	falsely := 0
	for range 300 {
		z := make([]float64, 200)
		for i := range z {
			z[i] = 3 * rng.NormFloat64()
		}
		nats, _ := Gain(z)
		if nats > Enough(len(z)) {
			falsely++
		}
		for i := 0; i < len(z); i += 20 {
			z[i] *= 10
		}
		if nats, nu := Gain(z); nats < Enough(len(z)) || nu > 6 {
			t.Errorf("outliers of ten standard deviations: %.1f nats for ν = %.1f", nats, nu)
		}
	}
	if falsely > 0 {
		t.Errorf("%d of 300 sets of normal errors are taken for outliers", falsely)
	}
	// Of Student's t errors, its own degrees of freedom.
	z := make([]float64, 20000)
	for i := range z {
		g := distuv.Gamma{Alpha: 2, Beta: 2, Src: rng}
		z[i] = rng.NormFloat64() / math.Sqrt(g.Rand())
	}
	if _, nu := Gain(z); math.Abs(nu-4) > 0.4 {
		t.Errorf("ν = %.2f of errors with 4", nu)
	}
}

// Of pure noise by levels the factors are the variances', beside each other.
func TestLevels(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	n := 3000
	values, d := make([]float64, n), make([]float64, n)
	for i := range d {
		values[i] = []float64{-1, 0.5, 2}[i%3]
		d[i] = []float64{1, 2, 4}[i%3] * rng.NormFloat64()
	}
	m := Model{Factor: 1}
	rows := Rows{Level: m.Find(1, values)}
	f := Begin(m, rows, n)
	f.Noise = 1
	for range 20 {
		f.Step(rows, d, make([]float64, n))
	}
	at := func(v float64) float64 {
		s, ok := f.ScaleAt([]float64{7, v}, 0)
		if !ok {
			t.Errorf("level %g is not known", v)
		}
		return s * f.Noise
	}
	for v, want := range map[float64]float64{-1: 1, 0.5: 4, 2: 16} {
		if got := at(v); math.Abs(got/want-1) > 0.15 {
			t.Errorf("level %g has the variance %.2f, drawn with %g", v, got, want)
		}
	}
	if s, ok := f.ScaleAt([]float64{7, 3}, 0); ok || s != f.Factor {
		t.Errorf("a level that no row has: %g, %v", s, ok)
	}
	// A weight makes of each row one of σ_n².
	for i := range 3 {
		if got := f.Noise / f.Weights[i]; math.Abs(got/at(values[i])-1) > 1e-9 {
			t.Errorf("row %d has the variance %g, its level %g", i, got, at(values[i]))
		}
	}
}

func TestRelative(t *testing.T) {
	known, unit := Relative([]float64{1, 2, 4, 100}, 3)
	if math.Abs(unit-4) > 1e-12 || math.Abs(known[0]-0.25) > 1e-12 || math.Abs(known[3]-2500) > 1e-9 {
		t.Errorf("%v in %g", known, unit)
	}
	m := Model{Factor: 1, Unit: unit}
	f := Begin(m, Rows{Known: known}, 3)
	for i, sd := range []float64{1, 2, 4} {
		if s, _ := m.ScaleAt(nil, sd*sd); math.Abs(s*f.Weights[i]-1) > 1e-12 {
			t.Errorf("row %d: factor %g, weight %g", i, s, f.Weights[i])
		}
	}
}

func TestCheckRefuses(t *testing.T) {
	for _, m := range []Model{
		{}, {Factor: math.NaN()}, {Factor: 1, Nu: 1}, {Factor: 1, Nu: 1e9}, {Factor: 1, Outliers: 2}, {Factor: 1, Unit: -1},
		{Factor: 1, Column: 2, Levels: []Level{{0, 1}}}, {Factor: 1, Levels: []Level{{0, 1}, {0, 1}}}, {Factor: 1, Levels: []Level{{0, -1}}},
	} {
		if m.Check(2) == nil {
			t.Errorf("%+v is taken", m)
		}
	}
	if err := (&Model{Factor: 2, Nu: 3, Column: 1, Levels: []Level{{0, 1}, {1, 2}}}).Check(2); err != nil {
		t.Error(err)
	}
}
