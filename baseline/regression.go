package baseline

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// Regression predicts the targets at rows of inputs, in any order, from training rows:
// x and at are rows x dim.
type Regression struct {
	Name    string                                                        // for tables
	Label   string                                                        // for people
	About   string                                                        // what it does, for who has not heard of it
	Predict func(x []float64, dim int, y, at []float64) ([]Normal, error) // one for each row of at
}

// Regressions are the methods for targets that any number of inputs explain.
func Regressions() []Regression {
	return []Regression{
		{"mean", "mean of the training rows", "the same number for every row", Mean},
		{"lsq", "linear least squares", "a straight line in every input, added up", LeastSquares},
	}
}

// Mean predicts the mean ȳ of the n training targets whatever the inputs,
//
//	ȳ,   sd σ√(1 + 1/n),   σ² = Σ (y_i − ȳ)²/(n − 1)
//
// Errors: fewer than two rows; values that are not finite.
func Mean(_ []float64, dim int, y, at []float64) ([]Normal, error) {
	return leastSquares(nil, 0, y, nil, len(at)/dim)
}

// mostInputs is for how many inputs least squares are tried.
const mostInputs = 200

// LeastSquares predicts by a linear function of the inputs and a constant, of the least
// sum of squared errors,
//
//	ȳ + wᵀz,   sd σ√(1 + 1/n + zᵀ(ZᵀZ)⁺z),   w = (ZᵀZ)⁺Zᵀy,   σ² = Σ e²/(n − 1 − rank Z)
//
// with z the inputs less their means over their standard deviations. The pseudo-inverse
// leaves out what is constant or a sum of other inputs. Errors: no more rows than
// coefficients, too many inputs, values that are not finite.
func LeastSquares(x []float64, dim int, y, at []float64) ([]Normal, error) {
	if dim > mostInputs {
		return nil, errTooMany()
	}
	return leastSquares(x, dim, y, at, len(at)/dim)
}

func errTooMany() error { return fmt.Errorf("there are more than %d inputs", mostInputs) }

// leastSquares is LeastSquares at n rows, without inputs Mean.
func leastSquares(x []float64, dim int, y, at []float64, n int) ([]Normal, error) {
	rows := float64(len(y))
	mean := 0.0
	for _, v := range y {
		mean += v / rows
	}
	z := make([]float64, dim)
	standardise := standardiser(x, dim, z)
	products, cross := make([]float64, dim*dim), make([]float64, dim)
	for i, v := range y {
		standardise(x[i*dim : (i+1)*dim])
		for j, a := range z {
			cross[j] += a * (v - mean)
			for k, b := range z[:j+1] {
				products[j*dim+k] += a * b
			}
		}
	}
	inverse, rank, err := pseudoInverse(products, dim)
	if err != nil {
		return nil, err
	}
	free := len(y) - 1 - rank
	if free < 1 {
		return nil, errors.New("there are no more training rows than coefficients")
	}
	w := make([]float64, dim)
	for j := range w {
		w[j] = dot(inverse[j*dim:(j+1)*dim], cross)
	}
	square := 0.0
	for i, v := range y {
		standardise(x[i*dim : (i+1)*dim])
		e := v - mean - dot(w, z)
		square += e * e / float64(free)
	}
	out := make([]Normal, n)
	for i := range out {
		standardise(at[i*dim : (i+1)*dim])
		spread := 1 + 1/rows
		for j, a := range z {
			spread += a * dot(inverse[j*dim:(j+1)*dim], z)
		}
		out[i] = Normal{mean + dot(w, z), math.Sqrt(square * spread)}
		if v := out[i].Mean + out[i].SD; math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, errors.New("a value is not finite")
		}
	}
	return out, nil
}

// standardiser returns what puts a row into z less the means of rows of inputs, over their
// standard deviations; inputs that do not vary become 0.
func standardiser(x []float64, dim int, z []float64) func(row []float64) {
	shift, scale := make([]float64, dim), make([]float64, dim)
	rows := float64(len(x)) / float64(max(1, dim))
	for i := 0; i < len(x); i += dim {
		for j := range dim {
			shift[j] += x[i+j] / rows
		}
	}
	for i := 0; i < len(x); i += dim {
		for j := range dim {
			d := x[i+j] - shift[j]
			scale[j] += d * d / rows
		}
	}
	for j, v := range scale {
		if scale[j] = math.Sqrt(v); scale[j] <= 1e-12*math.Abs(shift[j]) { // the rounding of a constant
			scale[j] = math.Inf(1)
		}
	}
	return func(row []float64) {
		for j, v := range row {
			z[j] = (v - shift[j]) / scale[j]
		}
	}
}

func dot(a, b []float64) (sum float64) {
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}

// pseudoInverse is that of a symmetric matrix, of which the lower triangle is read, and its
// rank: eigenvalues below 1e-12 of the greatest count as 0.
func pseudoInverse(lower []float64, dim int) (inverse []float64, rank int, err error) {
	if dim == 0 {
		return nil, 0, nil
	}
	s := mat.NewSymDense(dim, nil)
	for j := range dim {
		for k := range j + 1 {
			s.SetSym(j, k, lower[j*dim+k])
		}
	}
	for _, v := range lower {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, 0, errors.New("a value is not finite")
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(s, true) {
		return nil, 0, errors.New("the inputs have no principal axes")
	}
	values := eigen.Values(nil) // ascend
	var axes mat.Dense
	eigen.VectorsTo(&axes)
	inverse = make([]float64, dim*dim)
	for a, v := range values {
		if v <= 1e-12*values[dim-1] {
			continue
		}
		rank++
		for j := range dim {
			for k := range dim {
				inverse[j*dim+k] += axes.At(j, a) * axes.At(k, a) / v
			}
		}
	}
	return inverse, rank, nil
}
