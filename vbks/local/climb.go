package local

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/optimize"

	"example.com/kestrel/internal/guard"
)

// unsure is the standard deviation of the logarithm of a hyperparameter about where the
// search begins: enough to go anywhere, and to hold what the rows do not tell.
const unsure = 3.0

// climb takes hyperparameters uphill from where they begin: value returns the objective, with its
// derivatives in grad. Errors: what value says but that a covariance is singular, which is a place to go back from.
func climb(ctx context.Context, begin []float64, value func(theta, grad []float64) (float64, error), iterations int) ([]float64, error) {
	at, grad, last := []float64(nil), make([]float64, len(begin)), 0.0
	var failed error
	look := func(theta []float64) {
		if slices.Equal(theta, at) {
			return
		}
		at = append(at[:0], theta...)
		v, err := value(theta, grad)
		if err != nil && err != errSingular {
			failed = err
		}
		if err != nil || math.IsNaN(v) {
			v = math.Inf(-1)
			clear(grad)
		}
		for i := range theta {
			d := (theta[i] - begin[i]) / unsure
			v -= 0.5 * d * d
			grad[i] -= d / unsure
		}
		last = -v
	}
	result, err := guard.Minimise(optimize.Problem{
		Func: func(theta []float64) float64 { look(theta); return last },
		Grad: func(g, theta []float64) {
			look(theta)
			for i := range g {
				g[i] = -grad[i]
			}
		},
		Status: func() (optimize.Status, error) {
			if ctx.Err() != nil || failed != nil {
				return optimize.Failure, cmp.Or(failed, context.Cause(ctx))
			}
			return optimize.NotTerminated, nil
		},
	}, begin, &optimize.Settings{
		MajorIterations: iterations, FuncEvaluations: 3 * iterations,
		Converger: &optimize.FunctionConverge{Absolute: 0.05, Iterations: 4},
	}, &optimize.LBFGS{})
	switch {
	case ctx.Err() != nil || failed != nil:
		return nil, cmp.Or(failed, context.Cause(ctx))
	case result == nil:
		return nil, err
	case math.IsInf(result.F, 0) || math.IsNaN(result.F): // a line search that ends early has still climbed
		return nil, errors.New("no hyperparameters can be computed")
	}
	return slices.Clone(result.X), nil
}
