package transform

import (
	"math"

	"gonum.org/v1/gonum/integrate/quad"
)

// What the quadratures of Moments reach and use, in standard deviations of z.
const (
	reach = 8.5  // beyond lies 2e-17 of a normal
	step  = 0.25 // of the trapezoidal rule
	nodes = 96   // of Gauss and Legendre
	// capped is where z is cut off above for a Box–Cox transform with λ < 0.
	capped = 4
)

// Moments returns mean and variance of y = Back(z) for z ~ N(mean, variance):
//
//	log     E y = exp(μ + σ²/2),  Var y = (exp σ² − 1) (E y)²
//	else    ∫ Back(μ + σu) φ(u) du, and of the square about it
//
// The integral is a sum with an even step, which for analytic functions converges
// faster than any power of the step, logit's poles at ±iπ included (Trefethen and
// Weideman, The exponentially convergent trapezoidal rule, 2014); where the edge of
// a Box–Cox transform is within reach, Gauss and Legendre's from there on, what is
// beyond being an atom at y = 0.
//
// With λ < 0 the mean does not exist for any σ > 0: the normal goes beyond where y
// is infinite. z is cut off there at μ + 4σ, which 3e-5 are above, their values
// being that of the cut; mean and variance are +∞ where y already is at the cut.
func (t Transform) Moments(mean, variance float64) (m, v float64) {
	shape := t.shape()
	switch {
	case shape == None:
		return mean, variance
	case !(variance > 0):
		return t.Back(mean), 0
	case shape == Log:
		m = math.Exp(mean + variance/2)
		if math.IsInf(m, 1) {
			return m, m
		}
		return m, m * m * math.Expm1(variance)
	}
	sd := math.Sqrt(variance)
	low, high := -reach, reach // of u = (z − μ)/σ
	smooth := true
	if edge := (t.edge() - mean) / sd; shape == BoxCox && t.Lambda > 0 {
		if edge > -reach {
			low, smooth = edge, false
		}
	} else if shape == BoxCox {
		high, smooth = capped, false
		if edge <= capped {
			return math.Inf(1), math.Inf(1)
		}
	}
	if low >= high {
		return t.Back(mean), 0 // nothing of the normal is within the range of t
	}
	var values, weights []float64
	add := func(u, w float64) {
		values = append(values, t.Back(mean+sd*u))
		weights = append(weights, w)
	}
	density := func(u float64) float64 { return math.Exp(-u*u/2) / math.Sqrt(2*math.Pi) }
	if smooth {
		for k := -int(reach / step); k <= int(reach/step); k++ {
			u := step * float64(k)
			add(u, step*density(u))
		}
	} else {
		// u = low + (high − low) s² takes the root that y has at the edge away.
		at, w := make([]float64, nodes), make([]float64, nodes)
		quad.Legendre{}.FixedLocations(at, w, 0, 1)
		for k, s := range at {
			u := low + (high-low)*s*s
			add(u, w[k]*2*s*(high-low)*density(u))
		}
	}
	if low > -reach {
		add(low, math.Erfc(-low/math.Sqrt2)/2)
	}
	if high < reach {
		add(high, math.Erfc(high/math.Sqrt2)/2)
	}
	total := 0.0
	for k, w := range weights {
		m += w * values[k]
		total += w
	}
	m /= total // 1 but for rounding
	for k, w := range weights {
		d := values[k] - m
		v += w / total * d * d
	}
	if math.IsNaN(v) || math.IsInf(m, 0) {
		return math.Inf(1), math.Inf(1)
	}
	return m, v
}
