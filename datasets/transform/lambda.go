package transform

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// The λ that are tried, and how fine; at most so many rows decide. Below 0 there is
// no mean of y, see Moments: of kernels averaged the least likely one, if it is vague
// enough, would make it infinite.
const (
	leastLambda, mostLambda = 0.0, 2.0
	steps                   = 100 // of 1: λ is found to a hundredth
	coarse                  = 10  // hundredths, of the first pass
	mostRows                = 20_000
)

// Powers y^λ beyond these leave too few digits in y^λ − 1, or are too large.
const leastPower, mostPower = 1e-8, 1e100

// Lambda returns the λ of a Box–Cox transform of targets y > 0 at inputs x, row-major
// with dim columns, in the order of the first: that with the greatest likelihood
//
//	−m/2 log RSS(λ)/m + (λ − 1) Σ log y
//
// (Box and Cox, 1964, section 3). With one input, RSS is that of the differences
// between neighbours about their mean: a random walk with drift, whose neighbours
// differ by what scatters and not by the trend. With several it is that of a
// regression on the inputs. λ is a multiple of 0.01 from 0 to 2; where it makes no
// difference, 1.
func Lambda(x, y []float64, dim int) float64 {
	if n := len(y); n > mostRows { // evenly taken
		tx, ty := make([]float64, 0, mostRows*dim), make([]float64, mostRows)
		for i := range ty {
			r := i * n / mostRows
			ty[i] = y[r]
			tx = append(tx, x[r*dim:(r+1)*dim]...)
		}
		x, y = tx, ty
	}
	logs := make([]float64, len(y)) // of y over its geometric mean, which only keeps numbers small
	level, least, most := 0.0, math.Inf(1), math.Inf(-1)
	for i, v := range y {
		logs[i] = math.Log(v)
		level += logs[i] / float64(len(y))
		least, most = min(least, logs[i]), max(most, logs[i])
	}
	for i := range logs {
		logs[i] -= level
	}
	rss, first := differences, 1
	if dim > 1 {
		rss, first = onInputs(x, dim), 0
	}
	m, jacobian := float64(len(y)-first), 0.0
	for _, l := range logs[min(first, len(logs)):] {
		jacobian += l
	}
	z := make([]float64, len(y))
	likelihood := func(k int) float64 {
		lambda := float64(k) / steps
		for _, l := range []float64{least, most} {
			if p := math.Exp(lambda * (l + level)); p < leastPower || p > mostPower {
				return math.Inf(-1)
			}
		}
		for i, l := range logs {
			if z[i] = l; k != 0 {
				z[i] = math.Expm1(lambda*l) / lambda
			}
		}
		s := rss(z)
		if !(s > 0) || math.IsInf(s, 1) {
			return math.Inf(-1)
		}
		return -m/2*math.Log(s/m) + (lambda-1)*jacobian
	}
	best, top := steps, likelihood(steps)
	try := func(k int) {
		if l := likelihood(k); l > top {
			best, top = k, l
		}
	}
	low, high := int(leastLambda*steps), int(mostLambda*steps)
	for k := low; k <= high; k += coarse {
		try(k)
	}
	about := best
	for k := max(low, about-coarse+1); k < min(high, about+coarse); k++ {
		try(k)
	}
	return float64(best) / steps
}

// differences is the sum of the squares of the differences between neighbours about
// their mean.
func differences(z []float64) float64 {
	if len(z) < 3 {
		return 0
	}
	mean := (z[len(z)-1] - z[0]) / float64(len(z)-1)
	sum := 0.0
	for i := 1; i < len(z); i++ {
		d := z[i] - z[i-1] - mean
		sum += d * d
	}
	return sum
}

// onInputs is the sum of the squares that a regression on the inputs, each as it
// is and squared, leaves.
func onInputs(x []float64, dim int) func(z []float64) float64 {
	n, columns := len(x)/dim, 1+2*dim
	if n <= columns {
		return func([]float64) float64 { return 0 }
	}
	a := mat.NewDense(n, columns, nil)
	for i := range n {
		a.Set(i, 0, 1)
	}
	for j := range dim {
		low, high := math.Inf(1), math.Inf(-1)
		for i := range n {
			low, high = min(low, x[i*dim+j]), max(high, x[i*dim+j])
		}
		for i := range n {
			u := 0.0
			if high > low {
				u = 2*(x[i*dim+j]-low)/(high-low) - 1
			}
			a.Set(i, 1+2*j, u)
			a.Set(i, 2+2*j, u*u)
		}
	}
	// An orthonormal basis once, by the singular values so that columns may depend on
	// each other; each λ then costs a product.
	var svd mat.SVD
	if !svd.Factorize(a, mat.SVDThin) {
		return func([]float64) float64 { return 0 }
	}
	var u mat.Dense
	svd.UTo(&u)
	rank := svd.Rank(1e-10)
	basis := u.Slice(0, n, 0, rank)
	return func(z []float64) float64 {
		v := mat.NewVecDense(n, z)
		var coefficients, fitted mat.VecDense
		coefficients.MulVec(basis.T(), v)
		fitted.MulVec(basis, &coefficients)
		fitted.SubVec(v, &fitted)
		return mat.Dot(&fitted, &fitted)
	}
}
