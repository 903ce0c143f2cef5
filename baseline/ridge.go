package baseline

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"
)

// penalties are the λ that Ridge tries, over the number of rows.
var penalties = []float64{1e-8, 1e-6, 1e-5, 1e-4, 1e-3, 3e-3, 0.01, 0.03, 0.1, 0.3, 1, 3}

// Ridge predicts by a linear function of the inputs and a constant whose weights are kept
// small (Hoerl and Kennard, Technometrics 1970),
//
//	ȳ + wᵀz,   sd σ√(1 + 1/n + zᵀAz),   A = (ZᵀZ + λI)⁻¹,   w = AZᵀ(y − ȳ),   σ² = Σ e²/(n − 1 − tr AZᵀZ)
//
// with z as LeastSquares has it. λ is the one of the least squares of rows left out,
// e_i/(1 − 1/n − z_iᵀAz_i) (Allen's PRESS, Technometrics 1974). Errors: too many inputs, fewer
// than three rows, values that are not finite.
func Ridge(x []float64, dim int, y, at []float64) ([]Normal, error) {
	n := len(y)
	switch {
	case dim > mostInputs:
		return nil, errTooMany()
	case n < 3:
		return nil, errors.New("there are fewer than three training rows")
	}
	mean := 0.0
	for _, v := range y {
		mean += v / float64(n)
	}
	z := make([]float64, dim)
	standardise := standardiser(x, dim, z)
	gram := mat.NewSymDense(dim, nil)
	for i := range n {
		standardise(x[i*dim : (i+1)*dim])
		gram.SymRankOne(gram, 1, mat.NewVecDense(dim, z))
	}
	for j := range dim {
		for k := range j + 1 {
			if v := gram.At(j, k); math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, errors.New("a value is not finite")
			}
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(gram, true) {
		return nil, errors.New("the inputs have no principal axes")
	}
	size := eigen.Values(nil)
	var axes mat.Dense
	eigen.VectorsTo(&axes)
	turn := func(row, out []float64) { // onto the axes
		standardise(row)
		mat.NewVecDense(dim, out).MulVec(axes.T(), mat.NewVecDense(dim, z))
	}
	turned, cross := make([]float64, n*dim), make([]float64, dim)
	for i, v := range y {
		turn(x[i*dim:(i+1)*dim], turned[i*dim:(i+1)*dim])
		for j, t := range turned[i*dim : (i+1)*dim] {
			cross[j] += t * (v - mean)
		}
	}
	w := make([]float64, dim)
	errorsOf := func(lambda float64) (press, square, free float64) {
		free = float64(n) - 1
		for j, d := range size {
			w[j] = cross[j] / (d + lambda)
			free -= max(0, d) / (d + lambda)
		}
		for i, v := range y {
			row := turned[i*dim : (i+1)*dim]
			e, h := v-mean-dot(w, row), 1/float64(n)
			for j, t := range row {
				h += t * t / (size[j] + lambda)
			}
			press += e / (1 - h) * e / (1 - h)
			square += e * e
		}
		return press, square, free
	}
	lambda, best := 0.0, math.Inf(1)
	for _, p := range penalties {
		l := p * float64(n)
		if press, _, free := errorsOf(l); free > 0 && press < best {
			lambda, best = l, press
		}
	}
	if math.IsInf(best, 1) {
		return nil, errors.New("a value is not finite")
	}
	_, square, free := errorsOf(lambda)
	out, row := make([]Normal, len(at)/dim), make([]float64, dim)
	for i := range out {
		turn(at[i*dim:(i+1)*dim], row)
		spread := 1 + 1/float64(n)
		for j, t := range row {
			spread += t * t / (size[j] + lambda)
		}
		out[i] = Normal{mean + dot(w, row), math.Sqrt(square / free * spread)}
	}
	return out, nil
}
