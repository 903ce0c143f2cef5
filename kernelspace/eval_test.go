package kernelspace

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// positiveSemidefinite checks the smallest eigenvalue against rounding.
func positiveSemidefinite(t *testing.T, what string, k [][]float64) {
	t.Helper()
	n := len(k)
	s := mat.NewSymDense(n, nil)
	for i := range k {
		for j := range i + 1 {
			if k[i][j] != k[j][i] {
				t.Fatalf("%s is not symmetric: %g, %g", what, k[i][j], k[j][i])
			}
			s.SetSym(i, j, k[i][j])
		}
	}
	var eig mat.EigenSym
	if !eig.Factorize(s, false) {
		t.Fatalf("%s: no eigenvalues", what)
	}
	v := eig.Values(nil)
	if v[0] < -1e-12*v[n-1]*float64(n) || !(v[n-1] > 0) {
		t.Errorf("%s: eigenvalues from %g to %g", what, v[0], v[n-1])
	}
}

func TestLeavesAndPairsArePSD(t *testing.T) {
	r := newRand(8)
	leaves := allBases(t)
	exprs := append([]Expr(nil), leaves...)
	for i, a := range leaves {
		for _, b := range leaves[i:] {
			exprs = append(exprs, Sum(a, b), Product(a, b))
		}
	}
	for _, e := range exprs {
		for _, opt := range []Options{{Dim: 1}, {Dim: 3, ARD: true}} {
			p := compile(t, e, opt)
			rows := randomRows(r, 20, p.Dim)
			positiveSemidefinite(t, e.String(), p.Matrix(randomTheta(r, p), rows, nil))
		}
	}
}

// near compares two kernels, each a base kernel with its raw parameters, at
// random rows no further apart than a few units.
func near(t *testing.T, a string, thetaA []float64, b string, thetaB []float64, tolerance float64) {
	t.Helper()
	p, q := compile(t, parse(t, a), Options{Dim: 1}), compile(t, parse(t, b), Options{Dim: 1})
	x := randomRows(newRand(9), 12, 1)
	ka, kb := p.Matrix(thetaA, x, nil), q.Matrix(thetaB, x, nil)
	for i := range ka {
		for j := range ka[i] {
			if math.Abs(ka[i][j]-kb[i][j]) > tolerance {
				t.Fatalf("%s%v is %g, %s%v is %g at a distance of %g", a, thetaA, ka[i][j], b, thetaB, kb[i][j], x[i][0]-x[j][0])
			}
		}
	}
}

func TestLimits(t *testing.T) {
	// RQ tends to SE as α grows; the error falls as 1/α.
	near(t, "RQ", []float64{1.3, 0.7, 1e3}, "SE", []float64{1.3, 0.7}, 1e-3)
	near(t, "RQ", []float64{1.3, 0.7, 1e9}, "SE", []float64{1.3, 0.7}, 1e-8)
	// sin(πd/p) ≈ πd/p: PER of a long period is SE of length scale ℓp/2π.
	near(t, "PER", []float64{1.3, 2 * math.Pi / 1e5, 1e5}, "SE", []float64{1.3, 1}, 1e-7)
	// RQ with α = 1 is 1/(1 + r²/2), checked at r = 2 in closed form below.
	// COS of an infinite period and SE of an infinite length are constant.
	near(t, "COS", []float64{1.3, 1e9}, "CONST", []float64{1.3}, 1e-12)
	near(t, "SE", []float64{1.3, 1e9}, "CONST", []float64{1.3}, 1e-12)
	// SE of vanishing length is white noise.
	near(t, "SE", []float64{1.3, 1e-9}, "WN", []float64{1.3}, 1e-12)
	// POLY's offset 0 leaves LIN to a power.
	near(t, "POLY3", []float64{1.3, 2, 0}, "LIN*LIN*LIN", []float64{1.3, 2, 1, 2, 1, 2}, 1e-9)
	near(t, "POLY2", []float64{1, 1, 2}, "LIN*LIN+LIN+CONST", []float64{1, 1, 1, 1, 4, 1, 4}, 1e-9)
	near(t, "(LIN+CONST)*(LIN+CONST)", []float64{1, 1, 2, 1, 1, 2}, "POLY2", []float64{1, 1, 2}, 1e-9)
	// 2cos²(a) = 1 + cos(2a)
	near(t, "COS*COS", []float64{2, 3, 1, 3}, "CONST+COS", []float64{1, 1, 1.5}, 1e-12)
}

// Matérn 1/2, 3/2, 5/2 are smoother in this order: with h the distance,
// 1 − k falls as h for 1/2 and as h² for the others, with slopes known from
// their series; k(h) at large h is ordered, too.
func TestMaternSeries(t *testing.T) {
	x, y := []float64{0}, []float64{1e-4}
	for _, c := range []struct {
		base         string
		power, slope float64
	}{
		{"MATERN12", 1, 1}, {"MATERN32", 2, 3. / 2}, {"MATERN52", 2, 5. / 6}, {"SE", 2, 1. / 2}, {"RQ", 2, 1. / 2},
	} {
		p := compile(t, parse(t, c.base), Options{Dim: 1})
		theta := []float64{1, 1, 1.7}[:len(p.Params)]
		got := (1 - p.Eval(theta, x, y, false)) / math.Pow(1e-4, c.power)
		if relative(got, c.slope, 0) > 1e-3 {
			t.Errorf("%s: slope %g, want %g", c.base, got, c.slope)
		}
	}
}

// Matérn of order ν has spectral density ∝ (2ν/ℓ² + ω²)^−(ν+1/2), so that its
// integral over the line is that density at 0:
//
//	∫ k(r) dr = 2 √π Γ(ν+1/2)/Γ(ν) · ℓ/√(2ν)
//
// (Rasmussen and Williams 2006, equation 4.15, at s = 0).
func TestMaternIntegral(t *testing.T) {
	for _, c := range []struct {
		base string
		nu   float64
	}{{"MATERN12", 0.5}, {"MATERN32", 1.5}, {"MATERN52", 2.5}} {
		p := compile(t, parse(t, c.base), Options{Dim: 1})
		const l, h, n = 0.8, 1e-3, 60_000
		sum := 0.5
		for i := 1; i < n; i++ {
			sum += p.Eval([]float64{1, l}, []float64{0}, []float64{h * float64(i)}, false)
		}
		got := 2 * h * sum
		want := 2 * math.Sqrt(math.Pi) * math.Gamma(c.nu+0.5) / math.Gamma(c.nu) * l / math.Sqrt(2*c.nu)
		if relative(got, want, 0) > 1e-6 {
			t.Errorf("%s: integral %g, want %g", c.base, got, want)
		}
	}
}

func TestKnownValues(t *testing.T) {
	for _, c := range []struct {
		expr  string
		opt   Options
		theta []float64
		x, y  []float64
		want  float64
	}{
		{"SE", Options{Dim: 2}, []float64{2, 5}, []float64{0, 0}, []float64{3, 4}, 2 * math.Exp(-0.5)},
		{"SE", Options{Dim: 2, ARD: true}, []float64{2, 3, 2}, []float64{0, 0}, []float64{3, 4}, 2 * math.Exp(-2.5)},
		{"SE[2]", Options{Dim: 2}, []float64{2, 4}, []float64{0, 0}, []float64{3, 4}, 2 * math.Exp(-0.5)},
		{"RQ", Options{Dim: 1}, []float64{3, 1, 1}, []float64{0}, []float64{2}, 1},
		{"RQ", Options{Dim: 1}, []float64{1, 1, 2}, []float64{0}, []float64{2}, 0.25},
		{"LIN", Options{Dim: 2}, []float64{3, 2}, []float64{1, 2}, []float64{3, 5}, 9.75},
		{"LIN", Options{Dim: 2, ARD: true}, []float64{3, 1, 2}, []float64{1, 2}, []float64{3, 5}, 16.5},
		{"PER", Options{Dim: 1}, []float64{2, 1, 4}, []float64{1}, []float64{2}, 2 * math.Exp(-1)},
		{"PER", Options{Dim: 1}, []float64{2, 1, 4}, []float64{1}, []float64{9}, 2},
		{"PER", Options{Dim: 2}, []float64{1, 2, 2, 4}, []float64{0, 0}, []float64{1, 2}, math.Exp(-1)},
		{"PER", Options{Dim: 2, SharedPeriod: true}, []float64{1, 1, 4}, []float64{0, 0}, []float64{2, 1}, math.Exp(-3)},
		{"COS", Options{Dim: 1}, []float64{2, 3}, []float64{0}, []float64{1}, -1},
		{"POLY2", Options{Dim: 1}, []float64{2, 1, 3}, []float64{1}, []float64{2}, 50},
		{"POLY4", Options{Dim: 1}, []float64{2, 2, 1}, []float64{2}, []float64{2}, 32},
		{"MATERN12", Options{Dim: 1}, []float64{2, 3}, []float64{0}, []float64{3}, 2 * math.Exp(-1)},
		{"MATERN32", Options{Dim: 1}, []float64{1, math.Sqrt(3)}, []float64{0}, []float64{2}, 3 * math.Exp(-2)},
		{"MATERN52", Options{Dim: 1}, []float64{1, math.Sqrt(5)}, []float64{0}, []float64{3}, 7 * math.Exp(-3)},
		{"(SE+CONST)*WN", Options{Dim: 1}, []float64{2, 1, 3, 4}, []float64{7}, []float64{7}, 0},
	} {
		p := compile(t, parse(t, c.expr), c.opt)
		if got := p.Eval(c.theta, c.x, c.y, false); relative(got, c.want, 1) > 1e-14 {
			t.Errorf("%s%v (%v, %v) = %g, want %g", c.expr, c.theta, c.x, c.y, got, c.want)
		}
	}
	p := compile(t, parse(t, "(SE+CONST)*WN"), Options{Dim: 1})
	if got := p.Eval([]float64{2, 1, 3, 4}, []float64{7}, []float64{7}, true); got != 20 {
		t.Errorf("white noise on the diagonal: %g, want 20", got)
	}
}

func TestMatrixWhiteNoise(t *testing.T) {
	p := compile(t, parse(t, "WN"), Options{Dim: 1})
	x := [][]float64{{1}, {1}, {2}}
	same, other := p.Matrix([]float64{3}, x, nil), p.Matrix([]float64{3}, x, x)
	for i := range x {
		for j := range x {
			want := 0.0
			if i == j {
				want = 3 // by row number, not by value
			}
			if same[i][j] != want || other[i][j] != 0 {
				t.Errorf("%d, %d: %g and %g", i, j, same[i][j], other[i][j])
			}
		}
	}
}
