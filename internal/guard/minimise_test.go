package guard

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"gonum.org/v1/gonum/optimize"
)

// valley is Rosenbrock's function as a problem.
func valley() optimize.Problem {
	return optimize.Problem{
		Func: func(x []float64) float64 {
			a, b := x[1]-x[0]*x[0], 1-x[0]
			return 100*a*a + b*b
		},
		Grad: func(dst, x []float64) {
			a, b := x[1]-x[0]*x[0], 1-x[0]
			dst[0], dst[1] = -400*a*x[0]-2*b, 200*a
		},
	}
}

// panickyLinesearcher panics at the step before which it has made so many.
type panickyLinesearcher struct {
	optimize.Bisection
	left *int
}

func (l *panickyLinesearcher) Iterate(f, g float64) (optimize.Operation, float64, error) {
	if *l.left--; *l.left < 0 {
		panic("mine")
	}
	return l.Bisection.Iterate(f, g)
}

// Whatever panics, on whichever of gonum's goroutines and when, is an error, and
// none of them is left; without a panic Minimise is optimize.Minimize.
func TestMinimiseRecovers(t *testing.T) {
	start := []float64{-1.2, 1}
	settings := func() *optimize.Settings { return &optimize.Settings{GradientThreshold: 1e-6} }
	want, err := optimize.Minimize(valley(), start, settings(), &optimize.LBFGS{Store: 5})
	if err != nil {
		t.Fatal(err)
	}
	for _, way := range []string{"none", "value", "gradient", "status", "step"} {
		for _, after := range []int{0, 1, 7} {
			synctest.Test(t, func(t *testing.T) {
				left := after
				mine := func(here string) {
					if way != here {
						return
					}
					if left--; left < 0 {
						panic("mine")
					}
				}
				p := valley()
				f, grad := p.Func, p.Grad
				p.Func = func(x []float64) float64 { mine("value"); return f(x) }
				p.Grad = func(dst, x []float64) { mine("gradient"); grad(dst, x) }
				p.Status = func() (optimize.Status, error) { mine("status"); return optimize.NotTerminated, nil }
				m := &optimize.LBFGS{Store: 5}
				if way == "step" {
					m.Linesearcher = &panickyLinesearcher{left: &left}
				}
				got, err := Minimise(p, start, settings(), m)
				if way == "none" {
					if err != nil || !slices.Equal(got.X, want.X) || got.Stats.FuncEvaluations != want.Stats.FuncEvaluations {
						t.Errorf("got %+v, %v, want %+v", got, err, want)
					}
					return
				}
				var caught *PanicError
				if !errors.As(err, &caught) || caught.Value != "mine" || !strings.Contains(string(caught.Stack), "minimise_test.go") {
					t.Errorf("%s after %d: %v", way, after, err)
				}
			})
		}
	}
	// gonum itself takes no step along a gradient whose norm overflows.
	p := optimize.Problem{
		Func: func(x []float64) float64 { return x[0] },
		Grad: func(dst, _ []float64) {
			for i := range dst {
				dst[i] = 1.7e308
			}
		},
	}
	var caught *PanicError
	_, err = Minimise(p, make([]float64, 4), settings(), &optimize.LBFGS{})
	if !errors.As(err, &caught) || !strings.Contains(string(caught.Stack), "optimize.(*Bisection).Init") {
		t.Errorf("a steep gradient: %v", err)
	}
}
