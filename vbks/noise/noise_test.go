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

// iterate makes steps of a fit, each with what f leaves of y by dense matrices.
func iterate(f Fit, x, y []float64, times int) Fit {
	noise := make([]float64, len(x))
	for range times {
		for i := range noise {
			noise[i] = f.Noise / f.Weights[i]
		}
		mean, variance := posterior(x, y, noise)
		for i := range mean {
			mean[i] = y[i] - mean[i]
		}
		f.Step(Rows{}, mean, variance)
	}
	return f
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
	f := Begin(Model{Tail: Tail{Nu: 10}}, Rows{}, len(x))
	f.Noise = 0.5
	f = iterate(f, x, y, 300)
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
		m := &Model{Tail: Tail{Nu: nu}, Factor: 1}
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

// Best against distributions: chance makes no outliers of normal errors, and those that
// there are are found with their numbers.
func TestBest(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	falsely := 0
	for range 60 {
		z := make([]float64, 200)
		for i := range z {
			z[i] = 3 * rng.NormFloat64()
		}
		if _, nats := Best(z, false); nats > 0 {
			falsely++
		}
		for i := 0; i < len(z); i += 20 {
			z[i] = 30 * float64(1-2*rng.IntN(2))
		}
		tail, nats := Best(z, false)
		if nats < 0 || tail.Ratio == 0 || tail.Share < 0.03 || tail.Share > 0.1 || tail.Ratio < 30 || tail.Ratio > 300 {
			t.Errorf("1 of 20 rows ten standard deviations off: %.1f nats for %+v", nats, tail)
		}
		if tail, _ := Best(z, true); tail.Nu == 0 {
			t.Errorf("asked for Student's t, got %+v", tail)
		}
	}
	if falsely > 0 {
		t.Errorf("%d of 60 sets of normal errors are taken for outliers", falsely)
	}
	// Of Student's t errors, its own degrees of freedom.
	z := make([]float64, 4096)
	for i := range z {
		g := distuv.Gamma{Alpha: 2, Beta: 2, Src: rng}
		z[i] = rng.NormFloat64() / math.Sqrt(g.Rand())
	}
	if tail, _ := Best(z, false); math.Abs(tail.Nu-4) > 0.8 {
		t.Errorf("%+v of errors with 4 degrees of freedom", tail)
	}
}

// The parts of a tail, its density and its weight are of one distribution: the weight is
// that of its score, −2 d log p/de.
func TestTailsAreConsistent(t *testing.T) {
	for _, tail := range []Tail{{}, {Nu: 2.5}, {Nu: 8}, {Nu: 200}, {Share: 0.05, Ratio: 100}, {Share: 0.2, Ratio: 9}} {
		if err := tail.check(); err != nil {
			t.Error(err)
		}
		for _, e := range []float64{0.01, 0.5, 2, 9, 40, 150} {
			const h = 1e-5
			slope := -2 * (tail.logDensity(e*(1+h)) - tail.logDensity(e*(1-h))) / (2 * h * e)
			if math.Abs(slope-tail.weight(e)) > 1e-5 {
				t.Errorf("%+v at %g: weight %.7f, by differences %.7f", tail, e, tail.weight(e), slope)
			}
			parts := tail.Parts()
			if parts == nil {
				parts = []mixture.Part{{Share: 1, Factor: 1}}
			}
			sum := 0.0
			for _, q := range parts {
				sum += q.Share * math.Exp(-e/2/q.Factor) / math.Sqrt(2*math.Pi*q.Factor)
			}
			if want := math.Exp(tail.logDensity(e)); want > 1e-9 && math.Abs(sum/want-1) > 0.02 {
				t.Errorf("%+v at %g: density %.3g, of its parts %.3g", tail, e, want, sum)
			}
		}
	}
}

// Far out a mixture is its wider normal, however far: its density is never 0 or infinite.
func TestTailsFarOut(t *testing.T) {
	for _, tail := range []Tail{{Share: 0.05, Ratio: 100}, {Share: 0.2, Ratio: 9}} {
		for _, e := range []float64{1e3, 1e5, 1e8} {
			want := math.Log(tail.Share) - 0.5*(math.Log(2*math.Pi*tail.Ratio)+e/tail.Ratio)
			if got := tail.logDensity(e); !(math.Abs(got-want) <= 1e-12*math.Abs(want)) {
				t.Errorf("%+v at %g: log density %v, of the wider normal %v", tail, e, got, want)
			}
		}
	}
}

// textbookMixture is the EM algorithm of two normals with the same process.
func textbookMixture(x, y []float64, steps int) (share, ratio, s2 float64) {
	n := len(x)
	share, ratio, s2 = 0.1, 20, 0.2
	noise := make([]float64, n)
	for i := range noise {
		noise[i] = s2
	}
	normal := func(square, v float64) float64 { return math.Exp(-square/2/v) / math.Sqrt(v) }
	for range steps {
		mean, variance := posterior(x, y, noise)
		p, wide, squares, sum := make([]float64, n), 0.0, 0.0, 0.0
		for i := range p {
			m2 := (y[i]-mean[i])*(y[i]-mean[i]) + variance[i]
			a, b := share*normal(m2, ratio*s2), (1-share)*normal(m2, s2)
			p[i] = a / (a + b)
			wide, squares = wide+p[i], squares+p[i]*m2
			sum += (1 - p[i] + p[i]/ratio) * m2 / float64(n)
		}
		share, ratio, s2 = wide/float64(n), squares/wide/s2, sum
		for i := range noise {
			noise[i] = s2 / (1 - p[i] + p[i]/ratio)
		}
	}
	return share, ratio, s2
}

func TestStepsOfTwoNormalsEndWhereTheTextbookDoes(t *testing.T) {
	x, y := hills(rand.New(rand.NewPCG(1, 3)), 60, 0)
	for i := 5; i < 60; i += 12 {
		y[i] += 3
	}
	share, ratio, s2 := textbookMixture(x, y, 500)
	f := Begin(Model{Tail: Tail{Share: 0.05, Ratio: 25}}, Rows{}, len(x))
	f.Noise = 0.5
	f = iterate(f, x, y, 200)
	if math.Abs(f.Share/share-1) > 0.01 || math.Abs(f.Ratio/ratio-1) > 0.02 || math.Abs(f.Noise*f.Factor/s2-1) > 2e-3 {
		t.Errorf("%+v and σ² %.6f, the textbook's EM algorithm has %.4f, %.3f and %.6f", f.Tail, f.Noise*f.Factor, share, ratio, s2)
	}
	if want := 5.0 / 60; math.Abs(f.Outliers-want) > 1e-9 {
		t.Errorf("%.3f of the rows are outliers, made %.3f", f.Outliers, want)
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
		{}, {Factor: math.NaN()}, {Factor: 1, Tail: Tail{Nu: 1}}, {Factor: 1, Tail: Tail{Nu: 1e9}}, {Factor: 1, Tail: Tail{Share: 0.1}},
		{Factor: 1, Outliers: 2}, {Factor: 1, Unit: -1},
		{Factor: 1, Column: 2, Levels: []Level{{0, 1}}}, {Factor: 1, Levels: []Level{{0, 1}, {0, 1}}}, {Factor: 1, Levels: []Level{{0, -1}}},
	} {
		if m.Check(2) == nil {
			t.Errorf("%+v is taken", m)
		}
	}
	if err := (&Model{Factor: 2, Tail: Tail{Nu: 3}, Column: 1, Levels: []Level{{0, 1}, {1, 2}}}).Check(2); err != nil {
		t.Error(err)
	}
}

// Draws of the noise have the distribution functions that they are called by, within five
// standard errors.
func TestDraw(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	student := distuv.StudentsT{Sigma: 1, Nu: 3}
	for what, c := range map[string]struct {
		tail Tail
		want func(x float64) float64
	}{
		"normal":    {Tail{}, distuv.UnitNormal.CDF},
		"Student's": {Tail{Nu: 3}, student.CDF},
		"outliers": {Tail{Share: 0.2, Ratio: 25}, func(x float64) float64 {
			return 0.8*distuv.UnitNormal.CDF(x) + 0.2*distuv.UnitNormal.CDF(x/5)
		}},
	} {
		const draws = 40000
		points, below := []float64{-6, -2, -0.5, 1, 4}, make([]int, 5)
		for range draws {
			v := math.Sqrt(c.tail.Draw(rng)) * rng.NormFloat64()
			for i, x := range points {
				if v < x {
					below[i]++
				}
			}
		}
		for i, x := range points {
			want := c.want(x)
			if got := float64(below[i]) / draws; math.Abs(got-want) > 5*math.Sqrt(want*(1-want)/draws)+1e-9 {
				t.Errorf("%s: %v of the draws are below %v, want %v", what, got, x, want)
			}
		}
	}
}
