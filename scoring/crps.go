// Package scoring says what predictions are worth against what came: scores of
// whole distributions, which only the true one makes least in the mean, and errors of
// points in units in which series can be averaged over.
package scoring

import "math"

// AbsNormal returns E|X| of X ~ N(mean, sd²), sd >= 0,
//
//	A(μ, σ) = μ erf(μ/(σ√2)) + σ √(2/π) exp(−μ²/2σ²),
//
// of which the CRPS of mixtures of normals is made (Grimit et al. 2006, "The
// continuous ranked probability score for circular variables and its application to
// mesoscale forecast ensemble verification", equation 5). A(μ, 0) = |μ|.
func AbsNormal(mean, sd float64) float64 {
	if sd == 0 {
		return math.Abs(mean)
	}
	z := mean / sd
	if q := z * z; q < 1 { // most kernels agree: without erf and exp
		sum := 0.0
		for k := len(absSeries) - 1; k >= 0; k-- {
			sum = sum*q + absSeries[k]
		}
		return sd * math.Sqrt(2/math.Pi) * sum
	}
	return mean*math.Erf(z/math.Sqrt2) + sd*math.Sqrt(2/math.Pi)*math.Exp(-0.5*z*z)
}

// absSeries are the coefficients of the power series of √(π/2) A(z, 1) in z²,
//
//	1 + Σ_{k>0} (−1)^{k+1} z^{2k} / (2^k k! (2k − 1)),
//
// so many that the rest is below 1e-16 for |z| < 1.
var absSeries = func() (c [14]float64) {
	c[0] = 1
	term := 1.0
	for k := 1; k < len(c); k++ {
		term /= -2 * float64(k)
		c[k] = -term / float64(2*k-1)
	}
	return c
}()

// CRPS returns the continuous ranked probability score of N(mean, sd²), sd >= 0,
// for a target y, in the unit of y; less is better:
//
//	∫ (F(t) − 1{y ≤ t})² dt = A(y − μ, σ) − σ/√π
//
// (Gneiting and Raftery 2007, equation 21). With sd = 0 it is the absolute error.
func CRPS(y, mean, sd float64) float64 {
	return max(0, AbsNormal(y-mean, sd)-sd/math.Sqrt(math.Pi))
}
