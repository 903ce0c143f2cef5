package inducing

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// exhausted is the share of the largest k(x,x) below which a conditional variance is
// rounding.
const exhausted = 1e-10

// Greedy picks m of the inputs whose k(x,x) are diag one after the other, each where the
// variance that those before leave is largest,
//
//	v(x) = k(x,x) − k(x,Z) k(Z,Z)⁻¹ k(Z,x),
//
// by a Cholesky factorisation of k(X,X) with pivots (Burt, Rasmussen and van der Wilk
// 2020, J. Mach. Learn. Res. 21, section 4.2). row writes k(x_i, X) to out. Of equal
// variances the first is taken. Fewer than m are picked where nothing is left, and
// rest, Σ v(x), is what has not been explained. It takes m times as many numbers as
// there are inputs.
func Greedy(m int, diag []float64, row func(i int, out []float64) error) (picked []int, rest float64, err error) {
	left := append([]float64(nil), diag...)
	least := exhausted * floats.Max(diag)
	var factor [][]float64 // rows of L⁻¹k(Z,X)
	for len(picked) < min(m, len(diag)) {
		i := floats.MaxIdx(left)
		if !(left[i] > least) {
			break
		}
		k := make([]float64, len(diag))
		if err := row(i, k); err != nil {
			return nil, 0, err
		}
		for _, f := range factor {
			floats.AddScaled(k, -f[i], f)
		}
		floats.Scale(1/math.Sqrt(left[i]), k)
		for j, v := range k {
			left[j] = math.Max(0, left[j]-v*v)
		}
		left[i] = 0
		factor, picked = append(factor, k), append(picked, i)
	}
	return picked, floats.Sum(left), nil
}
