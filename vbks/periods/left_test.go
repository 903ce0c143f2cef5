package periods

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// rough is the covariance exp(−r/length) plus noise of some inputs, and its factor.
func rough(x []float64, length, noise float64) (*mat.SymDense, *mat.TriDense) {
	cov := mat.NewSymDense(len(x), nil)
	for i := range x {
		for j := range i {
			cov.SetSym(i, j, math.Exp(-math.Abs(x[i]-x[j])/length))
		}
		cov.SetSym(i, i, 1+noise)
	}
	var chol mat.Cholesky
	chol.Factorize(cov)
	var lower mat.TriDense
	chol.LTo(&lower)
	return cov, &lower
}

func draw(rng *rand.Rand, lower *mat.TriDense) []float64 {
	n, _ := lower.Dims()
	z := mat.NewVecDense(n, nil)
	for i := range n {
		z.SetVec(i, rng.NormFloat64())
	}
	out := mat.NewVecDense(n, nil)
	out.MulVec(lower, z)
	return out.RawVector().Data
}

// A sinusoid far below a rough function is found in what that leaves, where the
// periodogram of the series shows others before it: its period, its mean square, and
// its gain, which is that of generalised least squares.
func TestLeftBesideARoughFunction(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 1))
	x := scattered(rng, 400, 20)
	const period, square = 0.237, 0.02
	cov, lower := rough(x, 1, 0.01)
	for trial := range 5 {
		y := draw(rng, lower)
		for i := range y {
			y[i] += math.Sqrt(2*square) * math.Sin(2*math.Pi*x[i]/period+float64(trial))
		}
		if first := Find(x, y, Options{}); len(first) > 0 && math.Abs(first[0].Period/period-1) < 0.02 {
			t.Errorf("trial %d: the periodogram shows it, too", trial)
		}
		got := Left(t.Context(), x, y, rootOf(cov), 3, false, 1)
		if len(got) == 0 || math.Abs(got[0].Period/period-1) > 0.005 {
			t.Fatalf("trial %d: %+v", trial, got)
		}
		if ratio := got[0].Square / square; ratio < 0.6 || ratio > 1.7 {
			t.Errorf("trial %d: mean square %.4g of %.4g", trial, got[0].Square, square)
		}
		if gain := generalised(x, y, cov, got[0].Period); math.Abs(got[0].Gain/gain-1) > 0.35 {
			t.Errorf("trial %d: gain %.1f, by least squares %.1f", trial, got[0].Gain, gain)
		}
	}
}

// generalised is what a cosine and a sine of a period gain by generalised least squares,
// ½ bᵀA⁻¹b with b = CᵀK⁻¹y and A = CᵀK⁻¹C.
func generalised(x, y []float64, cov *mat.SymDense, period float64) float64 {
	n := len(x)
	c := mat.NewDense(n, 2, nil)
	for i, v := range x {
		c.Set(i, 0, math.Cos(2*math.Pi*v/period))
		c.Set(i, 1, math.Sin(2*math.Pi*v/period))
	}
	var solved, a, b, s, gain mat.Dense
	if err := solved.Solve(cov, c); err != nil {
		return math.NaN()
	}
	a.Mul(c.T(), &solved)
	b.Mul(solved.T(), mat.NewDense(n, 1, y))
	if err := s.Solve(&a, &b); err != nil {
		return math.NaN()
	}
	gain.Mul(b.T(), &s)
	return gain.At(0, 0) / 2
}

// Of series that the process explains alone a few in a hundred have any.
func TestLeftOfNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	x := scattered(rng, 150, 20)
	cov, lower := rough(x, 0.5, 0.05)
	some := 0
	const trials = 120
	for range trials {
		if len(Left(t.Context(), x, draw(rng, lower), rootOf(cov), 3, false, 1)) > 0 {
			some++
		}
	}
	if share := float64(some) / trials; share > 0.1 {
		t.Errorf("%d of %d", some, trials)
	}
	t.Logf("%d of %d", some, trials)
}

// Where the amplitude grows from the middle the period is found, too.
func TestLeftOfGrowingAmplitude(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 1))
	x := scattered(rng, 400, 20)
	cov, lower := rough(x, 1, 0.01)
	y := draw(rng, lower)
	const period = 0.41
	for i := range y {
		y[i] += 0.5 * (x[i]/10 - 1) * math.Cos(2*math.Pi*x[i]/period)
	}
	got := Left(t.Context(), x, y, rootOf(cov), 3, false, 1)
	if len(got) == 0 || math.Abs(got[0].Period/period-1) > 0.005 {
		t.Fatalf("%+v", got)
	}
}

// A function that repeats and is rough within its period, of which no harmonic stands
// out: an impulse narrower than rows lie apart, in noise of a greater variance.
func TestLeftOfManyHarmonics(t *testing.T) {
	rng := rand.New(rand.NewPCG(10, 1))
	const rows, period, width = 600, 0.83, 0.008
	for trial := range 3 {
		x := scattered(rng, rows, 20)
		cov, lower := rough(x, 3, 1)
		y := draw(rng, lower)
		shape := func(phase float64) (sum float64) {
			for _, at := range []float64{0.1, 0.33, 0.4, 0.75} {
				d := phase - at
				sum += 6 * math.Exp(-d*d/2/(width*width)) * math.Cos(10*at)
			}
			return sum
		}
		for i, v := range x {
			y[i] += shape(v/period - math.Floor(v/period))
		}
		got := Left(t.Context(), x, y, rootOf(cov), 3, false, 1)
		if len(got) == 0 || math.Abs(got[0].Period/period-1) > 0.002 || got[0].Harmonics < 8 {
			t.Errorf("trial %d: %+v", trial, got)
		}
		t.Logf("%+v", got)
	}
}

// Of α alone, its expectation estimated from neighbouring frequencies, the same is found, at even steps and uneven ones; of
// series that the process explains alone a few in a hundred have any, though α is far from white.
func TestStanding(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 1))
	const period, square, trials = 0.61, 0.1, 40
	some := 0
	for trial := range trials {
		x := scattered(rng, 400, 20)
		if trial%2 == 0 {
			for i := range x {
				x[i] = float64(i) / 20
			}
		}
		cov, lower := rough(x, 1, 0.05)
		var chol mat.Cholesky
		chol.Factorize(cov)
		standing := func(y []float64) []Sinusoid {
			var alpha mat.VecDense
			if err := chol.SolveVecTo(&alpha, mat.NewVecDense(len(y), y)); err != nil {
				t.Fatal(err)
			}
			return Standing(x, alpha.RawVector().Data, 3)
		}
		y := draw(rng, lower)
		if len(standing(y)) > 0 {
			some++
		}
		for i := range y {
			y[i] += math.Sqrt(2*square) * math.Sin(2*math.Pi*x[i]/period+float64(trial))
		}
		got := standing(y)
		if len(got) == 0 || math.Abs(got[0].Period/period-1) > 0.015 {
			t.Errorf("trial %d: %+v", trial, got)
			continue
		}
		if ratio := got[0].Square / square; ratio < 0.3 || ratio > 3 {
			t.Errorf("trial %d: mean square %.4g of %.4g", trial, got[0].Square, square)
		}
		if gain := generalised(x, y, cov, got[0].Period); math.Abs(got[0].Gain/gain-1) > 0.6 {
			t.Errorf("trial %d: gain %.1f, by least squares %.1f", trial, got[0].Gain, gain)
		}
	}
	if some > trials/8 {
		t.Errorf("%d of %d", some, trials)
	}
	t.Logf("%d of %d", some, trials)
}

// rootOf is U of K = UᵀU.
func rootOf(cov *mat.SymDense) *mat.TriDense {
	var chol mat.Cholesky
	chol.Factorize(cov)
	var u mat.TriDense
	chol.UTo(&u)
	return &u
}
