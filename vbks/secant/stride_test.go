package secant

import (
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/optimize"
)

// Rosenbrock's valley in four dimensions is followed to its end, with less than two
// evaluations for each direction.
func TestStrideFollowsAValley(t *testing.T) {
	problem := optimize.Problem{
		Func: func(x []float64) (v float64) {
			for i := range len(x) - 1 {
				a, b := x[i+1]-x[i]*x[i], 1-x[i]
				v += 100*a*a + b*b
			}
			return v
		},
		Grad: func(g, x []float64) {
			clear(g)
			for i := range len(x) - 1 {
				a, b := x[i+1]-x[i]*x[i], 1-x[i]
				g[i] += -400*a*x[i] - 2*b
				g[i+1] += 200 * a
			}
		},
	}
	r, err := optimize.Minimize(problem, []float64{-1.2, 1, -1.2, 1}, &optimize.Settings{GradientThreshold: 1e-4},
		&optimize.LBFGS{Store: 12, Linesearcher: &Stride{}})
	if err != nil && !errors.Is(err, ErrStuck) {
		t.Fatal(err)
	}
	if r.F > 1e-4 && math.Abs(r.F-3.7014) > 1e-3 { // the least, or the other minimum of four dimensions
		t.Errorf("ended at %g", r.F)
	}
	if r.FuncEvaluations > 2*r.MajorIterations {
		t.Errorf("%d evaluations in %d directions", r.FuncEvaluations, r.MajorIterations)
	}
}

// A slope that is wrong does not keep it: after mostTried points it gives up, and after one
// where nothing is to be gained.
func TestStrideGivesUp(t *testing.T) {
	for _, c := range []struct {
		slope float64
		tries int
	}{{-1e9, mostTried}, {-1e-6, 1}} {
		s := &Stride{}
		s.Init(0, c.slope, 1)
		for tries := 1; ; tries++ {
			// The value rises whatever the step, the slope says that it falls.
			_, _, err := s.Iterate(1, c.slope)
			if err == nil {
				if tries > mostTried {
					t.Fatalf("slope %g: goes on after %d points", c.slope, tries)
				}
				continue
			}
			if !errors.Is(err, ErrStuck) || tries != c.tries {
				t.Errorf("slope %g: %v after %d points, want %d", c.slope, err, tries, c.tries)
			}
			break
		}
	}
}
