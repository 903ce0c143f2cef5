package secant

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"example.com/kestrel/internal/must"
)

// climb is Newton on a quadric from the origin, with the curvature there times a factor, squared, in the place of its own.
func climb(t *testing.T, q quadric, factor float64, steps int, enough float64) (best []float64, value, gain float64, evals int) {
	t.Helper()
	n := q.a.SymmetricDim()
	var chol mat.Cholesky
	if !chol.Factorize(q.a) {
		t.Fatal("not positive definite")
	}
	covariance := mat.NewSymDense(n, nil)
	must.OK(t, chol.InverseTo(covariance))
	if !chol.Factorize(covariance) {
		t.Fatal("not positive definite")
	}
	var l mat.TriDense
	chol.LTo(&l)
	c := make([]float64, n*n)
	for i := range n {
		for j := range i + 1 {
			c[i*n+j] = factor * l.At(i, j)
		}
	}
	best, value, gain, err := Newton(make([]float64, n), c, steps, enough, func(x, grad []float64) (float64, bool, error) {
		evals++
		v, g := q.at(x)
		copy(grad, g)
		return v, true, nil
	})
	must.OK(t, err)
	return best, value, gain, evals
}

// With the curvature itself a step goes to the optimum, 0; with one that is off by factors of 4 either way it takes some
// more, and what is still expected is what is missing, as the curvature that the steps show is the true one.
func TestNewton(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 4))
	for range 20 {
		q := newQuadric(6, 300, rng)
		for i := range q.c {
			q.c[i] *= 0.1 // nearer than a step may go
		}
		if _, value, gain, evals := climb(t, q, 1, 5, 1e-6); math.Abs(value) > 1e-9 || gain > 1e-9 || evals != 2 {
			t.Errorf("with the curvature: value %g, %g expected, %d evaluations", value, gain, evals)
		}
		for _, factor := range []float64{0.5, 2} {
			_, value, gain, _ := climb(t, q, factor, 8, 1e-3)
			if value < -0.01 || gain > 0.01 {
				t.Errorf("with curvature off by %g: value %g, %g expected", factor, value, gain)
			}
		}
	}
}

// A curvature that says nothing, as of directions that it takes for flat, leads astray at first; what is found there
// tells how far to go.
func TestNewtonAstray(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 5))
	for range 20 {
		q := newQuadric(4, 10, rng)
		start, _ := q.at(make([]float64, 4))
		if _, value, _, evals := climb(t, q, 40, 4, 1e-3); value < start/10 || evals > 4*tries+1 {
			t.Errorf("from %g to %g in %d evaluations", start, value, evals)
		}
	}
}

// Where a function cannot be computed nothing is returned; where it cannot on the way there is what was found before.
func TestNewtonWithout(t *testing.T) {
	one := []float64{1}
	nothing := func(x, grad []float64) (float64, bool, error) { return 0, false, nil }
	if best, _, _, err := Newton([]float64{0}, one, 3, 0, nothing); best != nil || err != nil {
		t.Error(best, err)
	}
	broken := errors.New("broken")
	fails := func(x, grad []float64) (float64, bool, error) { return 0, true, broken }
	if _, _, _, err := Newton([]float64{0}, one, 3, 0, fails); !errors.Is(err, broken) {
		t.Error(err)
	}
	best, value, gain, err := Newton([]float64{0}, one, 3, 0, func(x, grad []float64) (float64, bool, error) {
		grad[0] = 1
		return x[0], x[0] == 0, nil
	})
	if err != nil || len(best) != 1 || best[0] != 0 || value != 0 || gain != 0.5 {
		t.Error(best, value, gain, err)
	}
}
