package kernelspace

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/interp"
	"gonum.org/v1/gonum/mat"
)

// A random walk's covariance is that of the sums of independent steps, to both sides of
// the origin.
func TestRandomWalkSumsSteps(t *testing.T) {
	const h, variance = 1.7, 0.6
	x := []float64{-6.1, -3.0, -2.9, -1.6, -1.2, 0, 0.4, 3.3, 9}
	p := compile(t, parse(t, "RW"), Options{Dim: 1})
	n := len(x)
	places := append(slices.Clone(x), -h)
	slices.Sort(places)
	at := slices.Index(places, -h)
	steps := mat.NewDense(n, n, nil) // of each value, by gaps between places
	for i, v := range x {
		own := slices.Index(places, v)
		for g := min(at, own); g < max(at, own); g++ {
			steps.Set(i, g, math.Sqrt(variance*(places[g+1]-places[g])))
		}
	}
	var want mat.Dense
	want.Mul(steps, steps.T())
	for i := range x {
		for j := range x {
			if got := p.Eval([]float64{variance, h}, x[i:i+1], x[j:j+1], i == j); math.Abs(got-want.At(i, j)) > 1e-12 {
				t.Errorf("k(%g, %g) = %g, the steps have %g", x[i], x[j], got, want.At(i, j))
			}
		}
	}
}

// IRW is the double integral of RW from the origin.
func TestIntegratedRandomWalkIsIntegral(t *testing.T) {
	const h, variance, n = 0.5, 1.3, 600
	walk, integrated := compile(t, parse(t, "RW"), Options{Dim: 1}), compile(t, parse(t, "IRW"), Options{Dim: 1})
	theta := []float64{variance, h}
	for _, c := range [][2]float64{{1, 2.5}, {0.3, 0.3}, {-3, -1.1}, {2, -2}} {
		u, v := c[0]+h, c[1]+h
		sum := 0.0
		for i := range n {
			for j := range n {
				a, b := (float64(i)+0.5)/n*u-h, (float64(j)+0.5)/n*v-h
				sum += walk.Eval(theta, []float64{a}, []float64{b}, false)
			}
		}
		want := math.Abs(u*v) * sum / (n * n) // both integrals go away from the origin
		if got := integrated.Eval(theta, c[:1], c[1:], false); math.Abs(got-want) > 1e-5*(1+math.Abs(want)) {
			t.Errorf("IRW at %v is %g, the integral %g", c, got, want)
		}
	}
}

// interpolated is the posterior mean at some places without noise.
func interpolated(t *testing.T, p *Program, theta, x, y, at []float64) []float64 {
	t.Helper()
	n := len(x)
	k, weights := mat.NewSymDense(n, nil), mat.NewVecDense(n, nil)
	for i := range x {
		for j := range i + 1 {
			k.SetSym(i, j, p.Eval(theta, x[i:i+1], x[j:j+1], i == j))
		}
	}
	var chol mat.Cholesky
	if !chol.Factorize(k) {
		t.Fatal("not positive definite")
	}
	if err := chol.SolveVecTo(weights, mat.NewVecDense(n, y)); err != nil {
		t.Fatal(err)
	}
	var out []float64
	for _, v := range at {
		sum := 0.0
		for i := range x {
			sum += weights.AtVec(i) * p.Eval(theta, []float64{v}, x[i:i+1], false)
		}
		out = append(out, sum)
	}
	return out
}

// Between values a random walk goes straight on average and stays where it is behind
// the last; its integral is the natural cubic spline, where the origin is far away
// (Wahba 1978).
func TestWalksInterpolate(t *testing.T) {
	x := []float64{-1.5, -0.9, -0.2, 0.1, 0.8, 1.6}
	y := []float64{0.3, -1, 0.7, 0.9, -0.4, 0.2}
	at := []float64{-1.3, -0.7, -0.3, 0, 0.4, 0.7, 1.1, 1.5}
	walk, integrated := compile(t, parse(t, "RW"), Options{Dim: 1}), compile(t, parse(t, "IRW"), Options{Dim: 1})
	var line interp.PiecewiseLinear
	var spline interp.NaturalCubic
	if err := line.Fit(x, y); err != nil {
		t.Fatal(err)
	}
	if err := spline.Fit(x, y); err != nil {
		t.Fatal(err)
	}
	straight := interpolated(t, walk, []float64{0.8, 4}, x, y, append(at, 7))
	for i, v := range at {
		if want := line.Predict(v); math.Abs(straight[i]-want) > 1e-10 {
			t.Errorf("RW at %g: %g, the line %g", v, straight[i], want)
		}
	}
	if last := straight[len(at)]; math.Abs(last-y[len(y)-1]) > 1e-10 {
		t.Errorf("RW ends at %g", last)
	}
	// What is left of an origin at a distance falls with its inverse.
	near, far := interpolated(t, integrated, []float64{2, 200}, x, y, at), interpolated(t, integrated, []float64{2, 400}, x, y, at)
	for i, v := range at {
		got, want := 2*far[i]-near[i], spline.Predict(v)
		if math.Abs(got-want) > 1e-3 || math.Abs(far[i]-want) > 0.05 {
			t.Errorf("IRW at %g: %g, the spline %g", v, got, want)
		}
	}
	// Behind the last value it goes straight on.
	end := interpolated(t, integrated, []float64{2, 5}, x, y, []float64{2, 3, 4})
	if math.Abs(end[0]-2*end[1]+end[2]) > 1e-9 {
		t.Errorf("IRW bends behind the last value: %v", end)
	}
}

// Told as a place, an origin lies where the kernel on the data has it.
func TestOriginIsAPlace(t *testing.T) {
	const shift, scale = 1987.5, 11.
	p := compile(t, parse(t, "SE+RW"), Options{Dim: 1})
	for i, q := range p.Params {
		if q.Name != "origin" {
			continue
		}
		from, times := p.Affine(i, []float64{shift}, []float64{scale}, 3)
		place := from + times*4
		at := []float64{(place - shift) / scale}
		if k := p.Eval([]float64{0, 1, 5, 4}, at, at, false); math.Abs(k) > 1e-12 || place >= shift {
			t.Errorf("at its origin %g RW has the variance %g", place, k)
		}
		return
	}
	t.Error("no origin")
}
